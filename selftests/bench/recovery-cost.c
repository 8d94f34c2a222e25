// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the recovery of a volume after a crash. The volume is in memory and has been written
 * completely, unit by unit in an order drawn from a seed. A read ends as late as on a device that
 * serves one read at a time at 2 GB/s.
 *
 *	recovery-cost BLOCKS
 *
 * BLOCKS blocks of 16 MiB on each of four LUNs. Prints the bytes of flash, the processor time and
 * the elapsed time of the recovery in nanoseconds, and the bytes that it reads.
 */
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "core-memory.h"
#include "core/base/random.h"
#include "core/persist/volume.h"

/* Time in picoseconds in which the simulated backing device reads a byte. */
#define READ_PS 500

/* The volume: its contents and their size, bytes read so far, and end time of the last read. */
static struct {
	u8 *bytes;
	u64 size;
	u64 read;
	u64 due_ns;
} disk;

static u64 read_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

static void exit_with_error(const char *why)
{
	fprintf(stderr, "recovery-cost: %s\n", why);
	exit(1);
}

/* Return the time at which the read ends, cast to the pointer that identifies the read. */
static void *begin_simulated_read(void *host, u64 offset, void *bytes, u32 size)
{
	(void)host;
	if (offset + size > disk.size)
		exit_with_error("a read that cannot be");
	memcpy(bytes, disk.bytes + offset, size);
	disk.read += size;
	disk.due_ns = max(disk.due_ns, read_clock_ns(CLOCK_MONOTONIC)) + (u64)size * READ_PS / 1000;
	return (void *)(uintptr_t)disk.due_ns;
}

static int end_simulated_read(void *host, void *begun)
{
	u64 ns = (uintptr_t)begun;
	struct timespec until = { .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };

	(void)host;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	return 0;
}

static int read_simulated_disk(void *host, u64 offset, void *bytes, u32 size)
{
	return end_simulated_read(host, begin_simulated_read(host, offset, bytes, size));
}

static int write_simulated_disk(void *host, u64 offset, const void *bytes, u32 size)
{
	(void)host;
	if (offset + size > disk.size)
		return -EIO;
	memcpy(disk.bytes + offset, bytes, size);
	return 0;
}

static int flush_simulated_disk(void *host)
{
	(void)host;
	return 0;
}

static const struct aftl_host_ops ops = { .alloc = core_memory_alloc, .free = core_memory_free };

static const struct aftl_backing medium = {
	.bytes = 1ULL << 50,
	.read = read_simulated_disk,
	.begin_read = begin_simulated_read,
	.end_read = end_simulated_read,
	.write = write_simulated_disk,
	.flush = flush_simulated_disk,
	.alloc = core_memory_alloc,
	.free = core_memory_free,
};

static void set_test_volume_size(struct aftl_volume_header *super, struct aftl_geometry *geo,
				 const char *blocks)
{
	const char *const pairs[] = {
		"channels", "1", "chips", "4", "planes", "1", "bits", "1", "layers", "64",
		"word_lines", "16", "page", "16KiB", "unit", "4KiB", "errors", "off", "op", "10",
		"blocks", blocks,
	};
	struct aftl_error error = { "" };
	u32 i;

	if (aftl_profile_load(&super->config, "demo", &error))
		exit_with_error(error.text);
	for (i = 0; i < ARRAY_SIZE(pairs); i += 2)
		if (aftl_param_set(&super->config, pairs[i], pairs[i + 1], &error))
			exit_with_error(error.text);
	memcpy(super->uuid, "one to be found!", AFTL_UUID_BYTES);
	scnprintf(super->policy, sizeof(super->policy), "baseline");
	scnprintf(super->profile, sizeof(super->profile), "demo");
	if (aftl_volume_header_set_layout(super, geo, &error))
		exit_with_error(error.text);
}

static u32 *draw_unit_order(u32 units)
{
	u32 *order = malloc((size_t)units * sizeof(*order));
	u32 i;

	for (i = 0; order && i < units; i++) {
		u32 other = (u32)(aftl_hash64(i) % (i + 1));

		order[i] = order[other];
		order[other] = i;
	}
	return order;
}

static int fill_test_volume(struct aftl_volume *volume, const struct aftl_geometry *geo)
{
	u32 *order = draw_unit_order(geo->units);
	int ret = order ? 0 : -ENOMEM;
	u32 page;
	u32 i;

	for (page = 0; !ret && page < geo->units / geo->page_units; page++) {
		struct aftl_spare spare = {
			.attr = aftl_page_attr(AFTL_PRECISE, AFTL_MODE_NORMAL, 0),
			.mapped = (u16)((1U << geo->page_units) - 1),
		};

		for (i = 0; i < geo->page_units; i++)
			spare.word[i] = to_lpn(order[page * geo->page_units + i]);
		ret = aftl_volume_record_program(volume, page, &spare);
	}
	free(order);
	return ret ? ret : aftl_volume_commit(volume);
}

static void recover_volume_and_print_times(const struct aftl_volume_header *super)
{
	u64 elapsed_ns = read_clock_ns(CLOCK_MONOTONIC);
	u64 cpu_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct aftl_error error = { "" };
	struct aftl_recovery recovery;
	struct aftl_volume *volume;
	struct aftl *ftl = NULL;

	disk.read = 0;
	if (aftl_volume_open(&volume, &medium, &error) ||
	    aftl_volume_load(volume, aftl_policy_find(super->policy), &super->config, &ops, NULL,
			     false, &ftl, &recovery, &error))
		exit_with_error(error.text);
	elapsed_ns = read_clock_ns(CLOCK_MONOTONIC) - elapsed_ns;
	cpu_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	if (recovery.closed || recovery.mapped_units < aftl_volume_geometry(volume)->units - 3)
		exit_with_error("not all was found");
	aftl_destroy(ftl);
	aftl_volume_free(volume);
	printf("%llu %llu %llu\n", (unsigned long long)cpu_ns, (unsigned long long)elapsed_ns,
	       (unsigned long long)disk.read);
}

int main(int argc, char **argv)
{
	struct aftl_volume_header super = { .generation = 0 };
	struct aftl_error error = { "" };
	struct aftl_volume *volume;
	struct aftl_geometry geo;

	if (argc != 2)
		exit_with_error("usage: recovery-cost BLOCKS");
	set_test_volume_size(&super, &geo, argv[1]);
	disk.size = super.layout.data * AFTL_FRAME_BYTES;
	disk.bytes = calloc(1, disk.size);
	if (!disk.bytes)
		exit_with_error("not enough memory");
	prctl(PR_SET_TIMERSLACK, 1);
	if (aftl_volume_format(&medium, &super, &error) ||
	    aftl_volume_open(&volume, &medium, &error))
		exit_with_error(error.text);
	if (fill_test_volume(volume, &geo))
		exit_with_error("it cannot be filled");
	aftl_volume_free(volume);
	printf("%llu ", (unsigned long long)geo.ppns * geo.unit_bytes);
	recover_volume_and_print_times(&super);
	free(disk.bytes);
	return 0;
}
