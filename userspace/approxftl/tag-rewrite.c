// SPDX-License-Identifier: GPL-2.0-only
/*
 * "approxftl tag --rewrite": store the data of a file again.
 *
 * The pages are made dirty as by a write through a mapping, but without changing them. So no
 * data are copied, concurrent writes to the file are preserved, and the content is intact
 * whenever a signal or a power failure ends the command. Holes stay holes. Extents shared with
 * a clone become private, as after any write.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "complain.h"
#include "tag-verbs.h"

/* Bytes to store at a time. */
#define PIECE (8 << 20)

/* Ignore a fault beyond the current end of the file, which may have shrunk. */
static int get_rewrite_error_unless_file_shrank(int fd, off_t end)
{
	int error = errno;
	struct stat status;

	if (error != EFAULT)
		return -error;
	if (fstat(fd, &status))
		return -errno;
	return status.st_size < end ? 0 : -EIO;
}

static int rewrite_file_bytes_through_mmap(int fd, off_t offset, size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	int ret = 0;

	if (memory == MAP_FAILED)
		return -errno;
	if (madvise(memory, bytes, MADV_POPULATE_WRITE))
		ret = get_rewrite_error_unless_file_shrank(fd, offset + (off_t)bytes);
	if (msync(memory, bytes, MS_SYNC) && !ret)
		ret = -errno;
	munmap(memory, bytes);
	return ret;
}

static void print_rewrite_progress(const struct device_options *options, off_t done, off_t end)
{
	static time_t told;
	time_t now = time(NULL);

	if (now == told || !isatty(STDERR_FILENO))
		return;
	told = now;
	fprintf(stderr, "%s: %lld of %lld MiB are stored again\n", options->words[0],
		(long long)done >> 20, (long long)end >> 20);
}

/* Find the first byte of the file from @at on that is in no hole; -ENXIO if there is none. */
static int find_next_data_extent_of_file(int fd, off_t *at, off_t *end)
{
	off_t page = sysconf(_SC_PAGESIZE);
	off_t data = lseek(fd, *at, SEEK_DATA);
	off_t hole;

	if (data < 0)
		return -errno;
	hole = lseek(fd, data, SEEK_HOLE);
	if (hole < 0)
		return -errno;
	*at = data / page * page;
	*end = hole;
	return 0;
}

static int rewrite_data_extent(const struct device_options *options, int fd, off_t at, off_t end)
{
	int ret = 0;

	while (!ret && at < end) {
		off_t bytes = min(end - at, (off_t)PIECE);

		ret = rewrite_file_bytes_through_mmap(fd, at, bytes);
		at += bytes;
		print_rewrite_progress(options, at, end);
	}
	return ret;
}

static int rewrite_data_extents_of_range(const struct device_options *options, int fd, off_t at,
					 off_t end)
{
	off_t data_end = end;
	int ret = 0;

	while (!ret && at < end) {
		ret = find_next_data_extent_of_file(fd, &at, &data_end);
		if (!ret && at < end)
			ret = rewrite_data_extent(options, fd, at, min(data_end, end));
		at = data_end;
	}
	return ret == -ENXIO ? 0 : ret;
}

int rewrite_range_of_file(const struct device_options *options, int fd, off_t offset, off_t length)
{
	struct stat status;
	off_t end;
	int ret;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	end = length == APPROXFTL_TO_END || length > status.st_size - offset ? status.st_size :
									      offset + length;
	ret = rewrite_data_extents_of_range(options, fd, offset, end);
	if (!ret && fsync(fd))
		ret = -errno;
	return ret;
}
