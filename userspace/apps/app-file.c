// SPDX-License-Identifier: GPL-2.0-only
/* for O_DIRECT */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app-file.h"
#include "checked-memory.h"
#include "complain.h"
#include "exit-codes.h"

void *alloc_file_buffer(size_t bytes)
{
	void *buffer = aligned_alloc(FILE_UNIT, DIV_ROUND_UP(bytes, FILE_UNIT) * FILE_UNIT);

	if (!buffer) {
		complain_as("app", "out of memory");
		exit(EXIT_FAILED);
	}
	return memset(buffer, 0, bytes);
}

static int report_app_file_error(const struct app_file *file, int cause, const char *what,
				 struct aftl_error *error)
{
	return aftl_fail(error, -cause, "%.80s/%s: cannot %s: %s", file->place->path, file->name,
			 what, strerror(cause));
}

static int map_app_file(struct app_file *file, struct aftl_error *error)
{
	void *map;

	if (file->place->io != APP_IO_MMAP)
		return 0;
	map = mmap(NULL, file->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
	if (map == MAP_FAILED)
		return report_app_file_error(file, errno, "map", error);
	file->map = map;
	return 0;
}

/* Tag a range of the file: data written through the page cache get the class of this tag. */
static int tag_app_file_range(struct app_file *file, u64 offset, off_t length,
			      enum approxftl_class kind, struct aftl_error *error)
{
	int ret = 0;

	if (file->place->tags)
		ret = approxftl_tag(file->place->tags, file->fd, (off_t)offset, length, kind);
	if (!ret)
		return 0;
	return aftl_fail(error, ret, "%.60s/%s: %.140s", file->place->path, file->name,
			 approxftl_reason(file->place->tags));
}

static int open_and_tag_file(struct app_file *file, int flags, struct aftl_error *error)
{
	if (file->place->io == APP_IO_DIRECT)
		flags |= O_DIRECT;
	file->fd = openat(file->place->folder, file->name, flags | O_CLOEXEC, 0644);
	if (file->fd >= 0)
		return 0;
	if (errno != ENOENT)
		return report_app_file_error(file, errno, "open", error);
	return aftl_fail(error, -ENOENT, "%.80s/%s: no such file; --phase write creates it",
			 file->place->path, file->name);
}

/* Return true if this program wrote the file: other PGM files have no seed in their comments. */
static bool is_app_file_header(const struct app_file *file)
{
	char *header = alloc_file_buffer(HEADER_BYTES);
	struct aftl_error cause;
	struct app_setup setup;
	bool ours;

	ours = pread(file->fd, header, HEADER_BYTES, 0) == HEADER_BYTES &&
	       !app_header_parse(header, &setup, &cause) && setup.seed;
	free(header);
	return ours;
}

static int refuse_to_replace_file(const struct app_file *file, const char *why,
				  struct aftl_error *error)
{
	return aftl_fail(error, -EEXIST, "%.80s/%s: %s", file->place->path, file->name, why);
}

/* Truncate an existing file, if this program wrote it or may replace any file. */
static int truncate_existing_app_file(struct app_file *file, struct aftl_error *error)
{
	struct stat status;

	file->fd = openat(file->place->folder, file->name,
			  O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file->fd < 0 && errno == ELOOP)
		return refuse_to_replace_file(file, "is a link, which is not followed; remove it",
					      error);
	if (file->fd < 0)
		return report_app_file_error(file, errno, "open", error);
	if (fstat(file->fd, &status))
		return report_app_file_error(file, errno, "examine", error);
	if (!S_ISREG(status.st_mode))
		return refuse_to_replace_file(file, "is no regular file; remove it", error);
	if (status.st_size && !file->place->force && !is_app_file_header(file))
		return refuse_to_replace_file(file,
					      "is another program's; name another directory or --force",
					      error);
	return ftruncate(file->fd, 0) ? report_app_file_error(file, errno, "empty", error) : 0;
}

static int create_empty_file(struct app_file *file, struct aftl_error *error)
{
	file->fd = openat(file->place->folder, file->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
			  0644);
	if (file->fd >= 0)
		return 0;
	return errno == EEXIST ? truncate_existing_app_file(file, error) :
				 report_app_file_error(file, errno, "make", error);
}

static int allocate_file_space(struct app_file *file, struct aftl_error *error)
{
	int ret;

	if (file->place->io == APP_IO_DIRECT && fcntl(file->fd, F_SETFL, O_RDWR | O_DIRECT))
		return report_app_file_error(file, errno, "open", error);
	ret = posix_fallocate(file->fd, 0, (off_t)file->bytes);
	if (ret)
		return report_app_file_error(file, ret, "make room", error);
	if (file->kind != APPROXFTL_PRECISE)
		ret = tag_app_file_range(file, 0, APPROXFTL_TO_END, file->kind, error);
	return ret ? ret : map_app_file(file, error);
}

int app_file_create(struct app_file *file, const struct app_place *place, const char *name,
		    u64 bytes, enum approxftl_class kind, struct aftl_error *error)
{
	int ret;

	*file = (struct app_file){ place, name, -1, bytes, kind, NULL };
	ret = create_empty_file(file, error);
	if (ret)
		return ret;
	ret = allocate_file_space(file, error);
	if (ret)
		unlinkat(place->folder, name, 0);
	return ret;
}

int app_file_open(struct app_file *file, const struct app_place *place, const char *name,
		  enum approxftl_class kind, struct aftl_error *error)
{
	struct stat status;
	int ret;

	*file = (struct app_file){ place, name, -1, 0, kind, NULL };
	ret = open_and_tag_file(file, O_RDWR, error);
	if (ret)
		return ret;
	if (fstat(file->fd, &status))
		return report_app_file_error(file, errno, "examine", error);
	if (!S_ISREG(status.st_mode) || status.st_size < HEADER_BYTES)
		return aftl_fail(error, -EINVAL,
				 "%.80s/%s: no file of this program; --phase write --force makes it",
				 place->path, name);
	file->bytes = status.st_size;
	return map_app_file(file, error);
}

static int write_and_tag_bytes(struct app_file *file, const void *data, u64 offset, size_t bytes,
			       enum approxftl_class kind, struct aftl_error *error)
{
	const char *from = data;
	ssize_t done;

	while (bytes) {
		if (file->place->io == APP_IO_DIRECT && file->place->tags) {
			done = approxftl_pwrite(file->place->tags, file->fd, from, bytes,
						(off_t)offset, kind);
		} else {
			done = pwrite(file->fd, from, bytes, (off_t)offset);
			if (done < 0)
				done = -errno;
		}
		if (done <= 0)
			return report_app_file_error(file, done ? (int)-done : EIO, "write", error);
		from += done;
		offset += done;
		bytes -= done;
	}
	return 0;
}

static int check_range_within_file(const struct app_file *file, u64 offset, size_t bytes,
				   struct aftl_error *error)
{
	if (offset <= file->bytes && bytes <= file->bytes - offset)
		return 0;
	return aftl_fail(error, -EINVAL, "%.80s/%s: the file is shorter than its header says",
			 file->place->path, file->name);
}

int app_file_has_length(const struct app_file *file, u64 bytes, struct aftl_error *error)
{
	return check_range_within_file(file, bytes, 0, error);
}

static int write_file_bytes(struct app_file *file, const void *data, u64 offset, size_t bytes,
			    enum approxftl_class kind, struct aftl_error *error)
{
	int ret = check_range_within_file(file, offset, bytes, error);

	if (ret)
		return ret;
	if (!file->map)
		return write_and_tag_bytes(file, data, offset, bytes, kind, error);
	memcpy(file->map + offset, data, bytes);
	return 0;
}

int app_file_write_precise_data(struct app_file *file, const void *data, u64 offset, size_t bytes,
				struct aftl_error *error)
{
	int ret = 0;

	if (file->kind != APPROXFTL_PRECISE)
		ret = tag_app_file_range(file, offset, (off_t)bytes, APPROXFTL_PRECISE, error);
	return ret ? ret : write_file_bytes(file, data, offset, bytes, APPROXFTL_PRECISE, error);
}

int app_file_write(struct app_file *file, const void *data, u64 offset, size_t bytes,
		   struct aftl_error *error)
{
	return write_file_bytes(file, data, offset, bytes, file->kind, error);
}

int app_file_read(struct app_file *file, void *data, u64 offset, size_t bytes,
		  struct aftl_error *error)
{
	int ret = check_range_within_file(file, offset, bytes, error);
	char *to = data;

	if (!ret && file->map)
		memcpy(data, file->map + offset, bytes);
	while (!ret && !file->map && bytes) {
		ssize_t done = pread(file->fd, to, bytes, (off_t)offset);

		if (done <= 0)
			return report_app_file_error(file, done ? errno : EIO, "read", error);
		to += done;
		offset += done;
		bytes -= done;
	}
	return ret;
}

int app_file_parse_header(struct app_file *file, struct app_setup *setup, struct aftl_error *error)
{
	char *header = alloc_file_buffer(HEADER_BYTES);
	struct aftl_error cause;
	int ret = app_file_read(file, header, 0, HEADER_BYTES, error);

	if (!ret && app_header_parse(header, setup, &cause))
		ret = aftl_fail(error, -EINVAL,
				"%.80s/%s: %.90s; --phase write --force makes it anew",
				file->place->path, file->name, cause.text);
	free(header);
	return ret;
}

int app_file_sync(struct app_file *file, struct aftl_error *error)
{
	if (file->map && msync(file->map, file->bytes, MS_SYNC))
		return report_app_file_error(file, errno, "write", error);
	if (fdatasync(file->fd))
		return report_app_file_error(file, errno, "write", error);
	if (file->map && madvise(file->map, file->bytes, MADV_DONTNEED))
		return report_app_file_error(file, errno, "drop", error);
	posix_fadvise(file->fd, 0, 0, POSIX_FADV_DONTNEED);
	return 0;
}

void app_file_close(struct app_file *file)
{
	if (file->map)
		munmap(file->map, file->bytes);
	if (file->place && file->fd >= 0)
		close(file->fd);
	*file = (struct app_file){ 0 };
}
