// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lying-disk.h"
#include "tap.h"

static void *require_disk_memory(void *memory)
{
	if (!memory)
		tap_bail_out("out of memory");
	return memory;
}

/* Simulated power failures, and errors that a test requests */

static int count_disk_call(struct lying_disk *disk)
{
	if (disk->off)
		return -ENODEV;
	disk->calls++;
	return disk->fail_at && disk->calls >= disk->fail_at &&
	       disk->calls - disk->fail_at <= disk->fail_again ? -EIO : 0;
}

/* Count a write or flush; if the power fails during it, the crash decides which part remains. */
static void count_disk_write_or_flush(struct lying_disk *disk)
{
	disk->off = ++disk->changes == disk->power_off_at;
}

static void remember_disk_write(struct lying_disk *disk, u64 offset, const void *bytes, u32 size)
{
	struct lying_write *write = require_disk_memory(malloc(sizeof(*write) + size));

	*write = (struct lying_write){ .offset = offset, .size = size };
	memcpy(write->bytes, bytes, size);
	if (disk->last)
		disk->last->next = write;
	else
		disk->writes = write;
	disk->last = write;
}

static struct lying_write *pop_oldest_write(struct lying_disk *disk)
{
	struct lying_write *write = disk->writes;

	disk->writes = write->next;
	if (!disk->writes)
		disk->last = NULL;
	return write;
}

static void check_disk_range(const struct lying_disk *disk, u64 offset, u32 size, u32 multiple)
{
	CHECK_MSG(offset % multiple == 0 && size % multiple == 0 && size,
		  "%u bytes at %llu are not aligned to %u", size, (unsigned long long)offset,
		  multiple);
	if (offset > disk->medium.bytes || size > disk->medium.bytes - offset)
		tap_bail_out("%u bytes at %llu: past the end of the disk", size,
			     (unsigned long long)offset);
}

static bool is_disk_range_readable(const struct lying_disk *disk, u64 offset, u32 size)
{
	return !memchr(disk->unreadable + offset / DISK_SECTOR, true, size / DISK_SECTOR);
}

int lying_disk_read(struct lying_disk *disk, u64 offset, void *bytes, u32 size)
{
	int ret = count_disk_call(disk);

	check_disk_range(disk, offset, size, DISK_SECTOR);
	if (!ret && !is_disk_range_readable(disk, offset, size))
		ret = -ENODATA;
	if (!ret)
		memcpy(bytes, disk->bytes + offset, size);
	return ret;
}

int lying_disk_write(struct lying_disk *disk, u64 offset, const void *bytes, u32 size)
{
	int ret = count_disk_call(disk);

	check_disk_range(disk, offset, size, DISK_SECTOR);
	if (ret)
		return ret;
	if (memchr(disk->unwritable + offset / DISK_SECTOR, true, size / DISK_SECTOR)) {
		memset(disk->bytes + offset, 0x5a, size);
		return -EREMOTEIO;
	}
	remember_disk_write(disk, offset, bytes, size);
	memcpy(disk->bytes + offset, bytes, size);
	memset(disk->unreadable + offset / DISK_SECTOR, false, size / DISK_SECTOR);
	count_disk_write_or_flush(disk);
	return disk->off ? -ENODEV : 0;
}

static int lying_disk_backing_read(void *host, u64 offset, void *bytes, u32 size)
{
	check_disk_range(host, offset, size, AFTL_FRAME_BYTES);
	return lying_disk_read(host, offset, bytes, size);
}

static void *lying_disk_backing_begin_read(void *host, u64 offset, void *bytes, u32 size)
{
	struct lying_disk *disk = host;
	struct lying_read *read;

	if (++disk->begun == disk->not_begun_at)
		return NULL;
	read = require_disk_memory(malloc(sizeof(*read)));
	*read = (struct lying_read){ offset, bytes, size };
	memset(bytes, 0x5a, size);
	disk->reading++;
	disk->most_reading = max(disk->most_reading, disk->reading);
	return read;
}

static int lying_disk_backing_end_read(void *host, void *begun)
{
	struct lying_read read = *(struct lying_read *)begun;
	struct lying_disk *disk = host;

	free(begun);
	disk->reading--;
	return lying_disk_backing_read(host, read.offset, read.bytes, read.size);
}

static int lying_disk_backing_write(void *host, u64 offset, const void *bytes, u32 size)
{
	check_disk_range(host, offset, size, AFTL_FRAME_BYTES);
	return lying_disk_write(host, offset, bytes, size);
}

static int lying_disk_backing_flush(void *host)
{
	struct lying_disk *disk = host;
	int ret = count_disk_call(disk);

	if (ret)
		return ret;
	if (disk->before_flush)
		disk->before_flush(disk->watcher);
	count_disk_write_or_flush(disk);
	if (disk->off)
		return -ENODEV;
	disk->flushes++;
	while (disk->writes) {
		struct lying_write *write = pop_oldest_write(disk);

		memcpy(disk->durable + write->offset, write->bytes, write->size);
		free(write);
	}
	return 0;
}

/*
 * Allocations record their size, which must be passed when they are freed. Large ones are mapped
 * pages with a guard page, because the sanitizer is slow to mark untouched megabytes.
 */

#define LARGE_BYTES (1024 * 1024)

struct header {
	size_t bytes;
	u64 pad;
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t mapped_bytes(size_t bytes)
{
	return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

/* Map zeroed pages, followed by a guard page. */
static void *map_guarded_pages(size_t bytes)
{
	char *pages = mmap(NULL, mapped_bytes(bytes) + page_bytes(), PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages, mapped_bytes(bytes), PROT_READ | PROT_WRITE))
		tap_bail_out("out of memory");
	return pages + mapped_bytes(bytes) - bytes;
}

static void unmap_guarded_pages(void *memory, size_t bytes)
{
	munmap((char *)memory + bytes - mapped_bytes(bytes), mapped_bytes(bytes) + page_bytes());
}

/* Return the size of an allocation with its header, rounded up to keep the data aligned. */
static size_t bytes_with_header(size_t bytes)
{
	return (DIV_ROUND_UP(bytes, sizeof(struct header)) + 1) * sizeof(struct header);
}

static void *lying_disk_backing_alloc(void *host, size_t bytes)
{
	struct lying_disk *disk = host;
	struct header *header;

	disk->allocations++;
	if (disk->no_memory_at && disk->allocations >= disk->no_memory_at &&
	    disk->allocations - disk->no_memory_at <= disk->no_memory_again)
		return NULL;
	header = bytes >= LARGE_BYTES ? map_guarded_pages(bytes_with_header(bytes)) :
					require_disk_memory(calloc(1, sizeof(*header) + bytes));
	header->bytes = bytes;
	disk->held++;
	disk->held_bytes += bytes;
	return header + 1;
}

static void lying_disk_backing_free(void *host, void *memory, size_t bytes)
{
	struct lying_disk *disk = host;
	struct header *header = (struct header *)memory - 1;

	if (!memory)
		return;
	CHECK_EQ(bytes, header->bytes);
	disk->held--;
	disk->held_bytes -= header->bytes;
	if (header->bytes >= LARGE_BYTES)
		unmap_guarded_pages(header, bytes_with_header(header->bytes));
	else
		free(header);
}

void lying_disk_open(struct lying_disk *disk, u64 bytes)
{
	u64 rounded = DIV_ROUND_UP(bytes, AFTL_FRAME_BYTES) * AFTL_FRAME_BYTES;

	*disk = (struct lying_disk){
		.medium = {
			.host = disk,
			.bytes = rounded,
			.read = lying_disk_backing_read,
			.begin_read = lying_disk_backing_begin_read,
			.end_read = lying_disk_backing_end_read,
			.write = lying_disk_backing_write,
			.flush = lying_disk_backing_flush,
			.alloc = lying_disk_backing_alloc,
			.free = lying_disk_backing_free,
		},
		.bytes = require_disk_memory(calloc(1, rounded)),
		.durable = require_disk_memory(calloc(1, rounded)),
		.unreadable = require_disk_memory(calloc(rounded / DISK_SECTOR, sizeof(bool))),
		.unwritable = require_disk_memory(calloc(rounded / DISK_SECTOR, sizeof(bool))),
	};
}

void lying_disk_close(struct lying_disk *disk)
{
	CHECK_EQ(disk->held, 0);
	CHECK_EQ(disk->held_bytes, 0);
	CHECK_EQ(disk->reading, 0);
	while (disk->writes)
		free(pop_oldest_write(disk));
	free(disk->bytes);
	free(disk->durable);
	free(disk->unreadable);
	free(disk->unwritable);
}

/* Crashes */

u32 lying_disk_count_writes(const struct lying_disk *disk)
{
	const struct lying_write *write;
	u32 count = 0;

	for (write = disk->writes; write; write = write->next)
		count++;
	return count;
}

/* Each sector of @write becomes durable with a chance of one half. */
static void tear_disk_write(struct lying_disk *disk, const struct lying_write *write,
			    struct aftl_random *random)
{
	u32 at;

	for (at = 0; at < write->size; at += DISK_SECTOR)
		if (aftl_random_below(random, 2))
			memcpy(disk->durable + write->offset + at, write->bytes + at, DISK_SECTOR);
}

static void make_write_durable(struct lying_disk *disk, const struct lying_write *write)
{
	memcpy(disk->durable + write->offset, write->bytes, write->size);
}

static void apply_crash_to_write(struct lying_disk *disk, const struct lying_write *write,
				 enum disk_crash crash, u32 left, struct aftl_random *random)
{
	if (crash == DISK_CRASH_ALL || (crash == DISK_CRASH_PREFIX && left > 1) ||
	    (crash == DISK_CRASH_WRITES && aftl_random_below(random, 2)))
		make_write_durable(disk, write);
	else if (crash == DISK_CRASH_SECTORS || (crash == DISK_CRASH_PREFIX && left == 1))
		tear_disk_write(disk, write, random);
}

void lying_disk_crash(struct lying_disk *disk, enum disk_crash crash, struct aftl_random *random)
{
	u32 left = (u32)aftl_random_below(random, lying_disk_count_writes(disk) + 1);

	while (disk->writes) {
		struct lying_write *write = pop_oldest_write(disk);

		apply_crash_to_write(disk, write, crash, left, random);
		left -= left > 0;
		/* Apply older writes before newer writes to the same sectors. */
		memcpy(disk->bytes + write->offset, disk->durable + write->offset, write->size);
		free(write);
	}
	disk->off = false;
	disk->power_off_at = 0;
	disk->changes = 0;
}
