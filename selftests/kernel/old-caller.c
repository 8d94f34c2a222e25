// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program from before there were quality levels, compiled with what headers said then.
 *
 *	old-caller write FILE	three MiB: approximate by ioctl, by the library, precise
 *	old-caller look FILE	each byte said and each unit stored is of one of two classes
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "old-approxftl.h"

#define MIB 1048576
#define UNIT 4096
#define ROOM 64
#define MARK 0xa5a5a5a5a5a5a5a5ULL

static int control;
static struct approxftl *library;

static void expect(bool so, const char *what)
{
	if (so)
		return;
	printf("# %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Output buffers of ioctls and library functions, with one more entry to detect overruns */
static struct extent extents[ROOM + 1];
static struct unit units[ROOM + 1];

static void mark_ends(void)
{
	extents[ROOM].offset = MARK;
	units[ROOM].offset = MARK;
}

static void check_ends(void)
{
	expect(extents[ROOM].offset == MARK && units[ROOM].offset == MARK, "written beyond");
}

/* Writing */

static void write_file(int fd)
{
	struct range range = {
		.size = 40, .fd = fd, .class = APPROXIMATE, .length = MIB, .mark = MARK,
	};
	static char data[3 * MIB];

	expect(!ioctl(control, TAG, &range) && range.mark == MARK, "TAG");
	expect(!approxftl_tag(library, fd, MIB, MIB, APPROXIMATE), "approxftl_tag");
	expect(!approxftl_tag(library, fd, 2 * MIB, MIB, PRECISE), "approxftl_tag, precise");
	memset(data, 0x5a, sizeof(data));
	expect(pwrite(fd, data, sizeof(data), 0) == sizeof(data) && !fsync(fd), "write");
}

/* Queries */

/* Return the number of bytes tagged as approximate. */
static uint64_t approximate_bytes(int count)
{
	uint64_t bytes = 0;
	int i;

	for (i = 0; i < count; i++) {
		expect(extents[i].class <= APPROXIMATE, "a range of a third class");
		bytes += extents[i].class ? extents[i].length : 0;
	}
	check_ends();
	return bytes;
}

static uint64_t said_to_ioctl(int fd)
{
	struct query query = {
		.size = 32, .fd = fd, .extents = (uintptr_t)extents, .room = ROOM, .mark = MARK,
	};

	expect(!ioctl(control, QUERY, &query) && query.mark == MARK, "QUERY");
	return approximate_bytes((int)query.count);
}

/* Number of approximate units as stored, and their flipped bits */
struct found {
	uint64_t approximate, flips;
};

static void add_units(struct found *found, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		expect(units[i].class <= NONE, "a unit of a fourth class");
		found->approximate += units[i].class == APPROXIMATE;
		found->flips += units[i].flips;
	}
	check_ends();
}

static struct found stored_by_ioctl(int fd)
{
	struct stored stored = {
		.size = 48, .fd = fd, .length = ~0ULL, .units = (uintptr_t)units, .room = ROOM,
		.mark = MARK,
	};
	struct found found = { 0 };

	do {
		expect(!ioctl(control, STORED, &stored) && stored.mark == MARK, "STORED");
		add_units(&found, (int)stored.count);
	} while (stored.cursor != ~0ULL);
	return found;
}

static struct found stored_by_library(int fd)
{
	struct found found = { 0 };
	off_t cursor = 0;

	while (cursor >= 0) {
		int count = approxftl_stored(library, fd, &cursor, -1, units, ROOM);

		expect(count >= 0, "approxftl_stored");
		add_units(&found, count);
	}
	return found;
}

static void look(int fd)
{
	struct stats stats = { .size = 112, .mark = MARK };
	struct errors errors = { .mark = MARK };
	struct found found = stored_by_ioctl(fd);
	struct found same = stored_by_library(fd);
	uint64_t said = said_to_ioctl(fd);

	expect(approximate_bytes(approxftl_query(library, fd, 0, extents, ROOM)) == said,
	       "library and ioctl differ");
	expect(!approxftl_errors(library, fd, 0, -1, &errors) && errors.mark == MARK, "errors");
	expect(!ioctl(control, STATS, &stats) && stats.mark == MARK, "STATS");
	expect(stats.by_file >= found.approximate, "fewer are counted");
	expect(found.approximate == same.approximate && found.flips == same.flips &&
	       found.approximate == errors.approximate_units &&
	       found.flips == errors.flipped_bits, "there are other classes than two");
	printf("%llu of %llu\n", (unsigned long long)found.approximate * UNIT,
	       (unsigned long long)said);
}

int main(int argc, char **argv)
{
	bool write = argc == 3 && !strcmp(argv[1], "write");
	int fd;

	expect(argc == 3, "old-caller write|look FILE");
	mark_ends();
	fd = open(argv[2], write ? O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC : O_RDONLY | O_CLOEXEC,
		  0644);
	control = open("/dev/approxftl", O_RDWR | O_CLOEXEC);
	expect(fd >= 0 && control >= 0, "open");
	expect(!approxftl_open(argv[2], 1, &library), "approxftl_open");
	if (write)
		write_file(fd);
	else
		look(fd);
	return 0;
}
