// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core-memory.h"
#include "interruption.h"
#include "medium-file.h"

/* Read or write all bytes of a range of the medium; continue after a signal or a short transfer. */
int medium_file_transfer_bytes(struct medium_file *file, u64 offset, void *bytes, u32 size,
			       bool write)
{
	offset += file->base;
	while (size) {
		ssize_t part = write ? pwrite(file->fd, bytes, size, (off_t)offset) :
				       pread(file->fd, bytes, size, (off_t)offset);

		if (is_stop_requested())
			return -EINTR;
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return part ? -errno : -EIO;
		offset += (u64)part;
		bytes = (u8 *)bytes + part;
		size -= (u32)part;
		file->whole->moved += (u64)part;
	}
	progress_report(&file->whole->progress, file->whole->moved);
	return 0;
}

static int read_medium_for_core(void *host, u64 offset, void *bytes, u32 size)
{
	return medium_file_transfer_bytes(host, offset, bytes, size, false);
}

/* Let the kernel start to read a range of the medium into the page cache. */
static void *prefetch_medium_for_core(void *host, u64 offset, void *bytes, u32 size)
{
	const struct medium_file *file = host;

	(void)bytes;
	posix_fadvise(file->fd, (off_t)(file->base + offset), size, POSIX_FADV_WILLNEED);
	return NULL;
}

static int write_medium_for_core(void *host, u64 offset, const void *bytes, u32 size)
{
	struct medium_file *file = host;

	file->whole->write_failure =
		medium_file_transfer_bytes(file, offset, (void *)(uintptr_t)bytes, size, true);
	return file->whole->write_failure;
}

static int flush_medium_for_core(void *host)
{
	struct medium_file *file = host;

	file->whole->write_failure = fdatasync(file->fd) ? -errno : 0;
	return file->whole->write_failure;
}

static int report_medium_open_error(struct aftl_error *error, const char *path, int code)
{
	if (code == EBUSY)
		return aftl_fail(error, -EBUSY,
				 "%.160s is in use: it is mounted, or the store of a device",
				 path);
	if (code == EROFS)
		return aftl_fail(error, -EROFS, "%.160s is read-only", path);
	return aftl_fail(error, -code, "%.160s: %s", path, strerror(code));
}

/*
 * Check the block device and drop its page cache, which is stale if an emulated device, which
 * bypasses the page cache, has written to it. Return: 0 or a negative error number.
 */
static int check_block_device_of_medium(struct medium_file *file, bool write)
{
	int read_only;

	if (ioctl(file->fd, BLKGETSIZE64, &file->size) ||
	    ioctl(file->fd, BLKSSZGET, &file->sector) ||
	    ioctl(file->fd, BLKROGET, &read_only))
		return -errno;
	if (write && read_only)
		return -EROFS;
	if (ioctl(file->fd, BLKFLSBUF, 0) && errno != EACCES && errno != EPERM)
		return -errno;
	return 0;
}

static int open_medium_path(struct medium_file *file, int flags, struct aftl_error *error)
{
	struct stat info;
	int code = 0;

	/* For a block device, O_EXCL fails if the device is in use. */
	if (!stat(file->path, &info) && S_ISBLK(info.st_mode))
		flags |= O_EXCL;
	file->fd = open(file->path, flags | O_CLOEXEC, 0666);
	if (file->fd < 0 || fstat(file->fd, &info))
		return report_medium_open_error(error, file->path, errno);
	file->device = S_ISBLK(info.st_mode);
	file->size = (u64)info.st_size;
	if (file->device)
		code = -check_block_device_of_medium(file, (flags & O_ACCMODE) != O_RDONLY);
	else if (!S_ISREG(info.st_mode))
		code = ENOTBLK;
	else if (flock(file->fd, ((flags & O_ACCMODE) == O_RDONLY ? LOCK_SH : LOCK_EX) | LOCK_NB))
		code = errno == EWOULDBLOCK ? EBUSY : 0;
	if (code)
		return report_medium_open_error(error, file->path, code);
	file->medium.bytes = file->size - file->size % AFTL_FRAME_BYTES;
	return 0;
}

static int open_medium(struct medium_file *file, const char *path, int flags,
		       struct aftl_error *error)
{
	int ret;

	*file = (struct medium_file){
		.medium = {
			.host = file,
			.read = read_medium_for_core,
			.begin_read = prefetch_medium_for_core,
			.write = write_medium_for_core,
			.flush = flush_medium_for_core,
			.alloc = core_memory_alloc,
			.free = core_memory_free,
		},
		.whole = file,
		.path = path,
		.sector = 1,
		.fd = -1,
	};
	ret = open_medium_path(file, flags, error);
	if (ret)
		medium_file_close(file);
	return ret;
}

int medium_file_open(struct medium_file *file, const char *path, bool write,
		     struct aftl_error *error)
{
	return open_medium(file, path, write ? O_RDWR : O_RDONLY, error);
}

int medium_file_create(struct medium_file *file, const char *path, struct aftl_error *error)
{
	int ret = open_medium(file, path, O_RDWR | O_CREAT | O_EXCL, error);

	file->made = !ret;
	return ret;
}

int medium_file_extend(struct medium_file *file, u64 bytes, struct aftl_error *error)
{
	if (ftruncate(file->fd, (off_t)bytes))
		return report_medium_open_error(error, file->path, errno);
	file->medium.bytes = bytes;
	file->size = bytes;
	return 0;
}

void medium_file_init_part_at_offset(struct medium_file *part, const struct medium_file *whole,
				     u64 base)
{
	*part = *whole;
	part->medium.host = part;
	part->medium.bytes -= min(base, part->medium.bytes);
	part->base = base;
}

void medium_file_close(struct medium_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}
