// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "checked-memory.h"
#include "device-holders.h"
#include "replay-target.h"

/* Bytes at a device's start that are checked for signatures of file systems and partitions. */
#define MARKED_BYTES 65536
#define FILE_SECTOR 512

static int report_target_error(const struct target_options *options, int code, const char *what,
			       struct aftl_error *error)
{
	return aftl_fail(error, code, "%.120s: %s: %s", options->path, what, strerror(-code));
}

static int report_target_has_data(const struct target_options *options, struct aftl_error *error)
{
	return aftl_fail(error, -EEXIST,
			 "%.120s has content, which would be lost; --overwrite does it all the same",
			 options->path);
}

/* Create a file of the specified size as the target. */
static int create_target_file(const struct target_options *options, struct aftl_error *error)
{
	int fd, ret = 0;

	if (!options->size)
		return aftl_fail(error, -ENOENT,
				 "%.120s is not there; --size SIZE makes a file of that size",
				 options->path);
	fd = open(options->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return report_target_error(options, -errno, "cannot create", error);
	if (ftruncate(fd, (off_t)options->size))
		ret = report_target_error(options, -errno, "cannot give it its size", error);
	close(fd);
	return ret;
}

static int check_target_file(const struct target_options *options, const struct stat *found,
			     bool fresh, struct aftl_error *error)
{
	if (fresh)
		return 0;
	if (options->writes && found->st_size && !options->overwrite && !options->only_look)
		return report_target_has_data(options, error);
	if (options->size && options->size != (u64)found->st_size)
		return aftl_fail(error, -EINVAL,
				 "%.120s is there and has %llu bytes; --size is for new files",
				 options->path, (unsigned long long)found->st_size);
	return 0;
}

static int open_target_with_flags(const struct target_options *options, int flags)
{
	bool change = options->writes && !options->only_look;

	return open(options->path, flags | O_CLOEXEC | (change ? O_RDWR : O_RDONLY));
}

/*
 * Open the target with O_DIRECT; on file systems without it (tmpfs before Linux 6.6), use the page
 * cache.
 */
static int open_target_file(struct replay_target *target, const struct target_options *options,
			    struct aftl_error *error)
{
	target->direct = !options->buffered;
	target->fd = open_target_with_flags(options, options->buffered ? 0 : O_DIRECT);
	if (target->fd < 0 && errno == EINVAL && !options->buffered) {
		target->direct = false;
		target->fd = open_target_with_flags(options, 0);
	}
	return target->fd < 0 ? report_target_error(options, -errno, "cannot open", error) : 0;
}

static int finish_opening_target_file(struct replay_target *target,
				      const struct target_options *options,
				      struct aftl_error *error)
{
	struct stat found;

	if (fstat(target->fd, &found))
		return report_target_error(options, -errno, "cannot look at it", error);
	target->size = (u64)found.st_size;
	target->sector = FILE_SECTOR;
	return 0;
}

static int report_target_in_use(const struct target_options *options, const struct stat *found,
				struct aftl_error *error)
{
	struct dm_device device = { .major = major(found->st_rdev),
				    .minor = minor(found->st_rdev) };
	char phrase[160] = "in use";

	is_dm_device_in_use(&device, phrase, sizeof(phrase));
	return aftl_fail(error, -EBUSY, "%.60s is %.120s (--force may destroy its data)",
			 options->path, phrase);
}

static int open_target_device(struct replay_target *target, const struct target_options *options,
			      const struct stat *found, struct aftl_error *error)
{
	int flags = (options->buffered ? 0 : O_DIRECT) | (options->force ? 0 : O_EXCL);

	target->device = true;
	target->direct = !options->buffered;
	target->fd = open_target_with_flags(options, flags);
	if (target->fd < 0 && errno == EBUSY)
		return report_target_in_use(options, found, error);
	return target->fd < 0 ? report_target_error(options, -errno, "cannot open", error) : 0;
}

/* Read through a second file descriptor, because O_DIRECT may require aligned memory. */
static int check_file_system_signatures(const struct replay_target *target,
					const struct target_options *options,
					struct aftl_error *error)
{
	u8 *bytes = memory_alloc_zeroed(1, MARKED_BYTES);
	int fd = open(options->path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : pread(fd, bytes, min(target->size, (u64)MARKED_BYTES), 0);
	bool empty = !got || (got > 0 && !bytes[0] && !memcmp(bytes, bytes + 1, (size_t)got - 1));
	int ret = got < 0 ? report_target_error(options, -errno, "cannot read", error) : 0;

	if (fd >= 0)
		close(fd);
	free(bytes);
	if (ret || empty)
		return ret;
	return report_target_has_data(options, error);
}

static int finish_opening_target_device(struct replay_target *target,
					const struct target_options *options,
					struct aftl_error *error)
{
	int sector;

	if (ioctl(target->fd, BLKGETSIZE64, &target->size) ||
	    ioctl(target->fd, BLKSSZGET, &sector))
		return report_target_error(options, -errno, "cannot ask for its size", error);
	target->sector = (u32)sector;
	if (!options->writes || options->overwrite || options->only_look)
		return 0;
	return check_file_system_signatures(target, options, error);
}

static int open_existing_target(struct replay_target *target, const struct target_options *options,
				const struct stat *found, bool fresh, struct aftl_error *error)
{
	int ret;

	if (S_ISBLK(found->st_mode)) {
		ret = open_target_device(target, options, found, error);
		return ret ? ret : finish_opening_target_device(target, options, error);
	}
	if (!S_ISREG(found->st_mode))
		return aftl_fail(error, -EINVAL, "%.120s is neither a block device nor a file",
				 options->path);
	ret = check_target_file(options, found, fresh, error);
	if (!ret)
		ret = open_target_file(target, options, error);
	return ret ? ret : finish_opening_target_file(target, options, error);
}

int target_open(struct replay_target *target, const struct target_options *options,
		struct aftl_error *error)
{
	struct stat found;
	bool fresh = false;
	int ret = 0;

	*target = (struct replay_target){ .path = options->path, .fd = -1 };
	if (stat(options->path, &found) && errno == ENOENT) {
		if (options->only_look && options->size) {
			target->size = options->size;
			target->sector = FILE_SECTOR;
			target->direct = !options->buffered;
			return 0;
		}
		ret = create_target_file(options, error);
		fresh = true;
	}
	if (!ret && stat(options->path, &found))
		ret = report_target_error(options, -errno, "cannot look at it", error);
	if (!ret)
		ret = open_existing_target(target, options, &found, fresh, error);
	if (ret)
		target_close(target);
	return ret;
}

void target_close(struct replay_target *target)
{
	if (target->fd >= 0)
		close(target->fd);
	target->fd = -1;
}

static int discard_or_zero_range(const struct replay_target *target, unsigned long request,
				 int mode, u64 offset, u64 bytes)
{
	u64 range[2] = { offset, bytes };
	int ret;

	if (target->device)
		ret = ioctl(target->fd, request, range);
	else
		ret = fallocate(target->fd, mode | FALLOC_FL_KEEP_SIZE, (off_t)offset,
				(off_t)bytes);
	return ret ? -errno : 0;
}

int target_discard_range(const struct replay_target *target, u64 offset, u64 bytes)
{
	return discard_or_zero_range(target, BLKDISCARD, FALLOC_FL_PUNCH_HOLE, offset, bytes);
}

/*
 * Zero a byte range of a device by punching a hole, so that an emulated device unmaps the range.
 * BLKZEROOUT would keep the range allocated; use it only for devices that cannot unmap.
 */
int target_zero_range(const struct replay_target *target, u64 offset, u64 bytes)
{
	if (target->device && !fallocate(target->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					 (off_t)offset, (off_t)bytes))
		return 0;
	return discard_or_zero_range(target, BLKZEROOUT, FALLOC_FL_ZERO_RANGE, offset, bytes);
}
