// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it takes to find a volume again after a crash: one in memory that has been written all over,
 * unit by unit in an order that a seed draws.
 *
 *	recovery-cost BLOCKS
 *
 * of 16 MiB, on each of four LUNs. Prints the bytes of its flash, the nanoseconds of the processor
 * that recovery takes, without the copies that stand for reading, and the bytes that it reads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core-memory.h"
#include "core/base/random.h"
#include "core/keep/volume.h"

/**
 * struct memory_medium - the tables; there are no data
 * @bytes: of the volume, from its beginning on
 * @size: how many
 * @read: how many were read
 * @read_ns: processor time of that
 */
struct memory_medium {
	u8 *bytes;
	u64 size;
	u64 read;
	u64 read_ns;
};

static struct memory_medium disk;

static u64 processor_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

static int medium_read(void *host, u64 offset, void *bytes, u32 size)
{
	u64 begin = processor_ns();

	(void)host;
	if (offset + size > disk.size)
		return -EIO;
	memcpy(bytes, disk.bytes + offset, size);
	disk.read += size;
	disk.read_ns += processor_ns() - begin;
	return 0;
}

static int medium_write(void *host, u64 offset, const void *bytes, u32 size)
{
	(void)host;
	if (offset + size > disk.size)
		return -EIO;
	memcpy(disk.bytes + offset, bytes, size);
	return 0;
}

static int medium_flush(void *host)
{
	(void)host;
	return 0;
}

static const struct aftl_host_ops ops = { .alloc = core_memory_alloc, .free = core_memory_free };

static const struct aftl_medium medium = {
	.bytes = 1ULL << 50,
	.read = medium_read,
	.write = medium_write,
	.flush = medium_flush,
	.alloc = core_memory_alloc,
	.free = core_memory_free,
};

static void give_up(const char *why)
{
	fprintf(stderr, "recovery-cost: %s\n", why);
	exit(1);
}

static void shape(struct aftl_superblock *super, struct aftl_geometry *geo, const char *blocks)
{
	const char *const pairs[] = {
		"channels", "1", "chips", "4", "planes", "1", "bits", "1", "layers", "64",
		"word_lines", "16", "page", "16KiB", "unit", "4KiB", "errors", "off", "op", "10",
		"blocks", blocks,
	};
	struct aftl_error error = { "" };
	u32 i;

	if (aftl_profile_load(&super->config, "demo", &error))
		give_up(error.text);
	for (i = 0; i < ARRAY_SIZE(pairs); i += 2)
		if (aftl_param_set(&super->config, pairs[i], pairs[i + 1], &error))
			give_up(error.text);
	memcpy(super->uuid, "one to be found!", AFTL_UUID_BYTES);
	scnprintf(super->policy, sizeof(super->policy), "baseline");
	scnprintf(super->profile, sizeof(super->profile), "demo");
	if (aftl_superblock_lay_out(super, geo, &error))
		give_up(error.text);
}

static u32 *any_order(u32 units)
{
	u32 *order = malloc((size_t)units * sizeof(*order));
	u32 i;

	for (i = 0; order && i < units; i++) {
		u32 other = (u32)(aftl_mix(i) % (i + 1));

		order[i] = order[other];
		order[other] = i;
	}
	return order;
}

static int fill(struct aftl_volume *volume, const struct aftl_geometry *geo)
{
	u32 *order = any_order(geo->units);
	int ret = order ? 0 : -ENOMEM;
	u32 page;
	u32 i;

	for (page = 0; !ret && page < geo->units / geo->page_units; page++) {
		struct aftl_spare spare = {
			.attr = aftl_page_attr(AFTL_PRECISE, AFTL_MODE_NORMAL, 0),
			.mapped = (u16)((1U << geo->page_units) - 1),
		};

		for (i = 0; i < geo->page_units; i++)
			spare.word[i] = to_unit(order[page * geo->page_units + i]);
		ret = aftl_volume_program(volume, page, &spare);
	}
	free(order);
	return ret ? ret : aftl_volume_commit(volume);
}

static u64 recover(const struct aftl_superblock *super)
{
	struct aftl_error error = { "" };
	struct aftl_recovery recovery;
	struct aftl_volume *volume;
	struct aftl *ftl = NULL;
	u64 begin = processor_ns();

	disk.read = 0;
	disk.read_ns = 0;
	if (aftl_volume_open(&volume, &medium, &error) ||
	    aftl_volume_load(volume, aftl_policy_find(super->policy), &super->config, &ops, NULL,
			     false, &ftl, &recovery, &error))
		give_up(error.text);
	begin = processor_ns() - begin - disk.read_ns;
	if (recovery.closed || recovery.mapped_units < aftl_volume_geometry(volume)->units - 3)
		give_up("not all was found");
	aftl_destroy(ftl);
	aftl_volume_release(volume);
	return begin;
}

int main(int argc, char **argv)
{
	struct aftl_superblock super = { .generation = 0 };
	struct aftl_error error = { "" };
	struct aftl_volume *volume;
	struct aftl_geometry geo;

	if (argc != 2)
		give_up("usage: recovery-cost BLOCKS");
	shape(&super, &geo, argv[1]);
	disk.size = super.layout.data * AFTL_FRAME_BYTES;
	disk.bytes = calloc(1, disk.size);
	if (!disk.bytes)
		give_up("not enough memory");
	if (aftl_volume_format(&medium, &super, &error) ||
	    aftl_volume_open(&volume, &medium, &error))
		give_up(error.text);
	if (fill(volume, &geo))
		give_up("it cannot be filled");
	aftl_volume_release(volume);
	printf("%llu ", (unsigned long long)geo.slots * geo.unit_bytes);
	printf("%llu ", (unsigned long long)recover(&super));
	printf("%llu\n", (unsigned long long)disk.read);
	free(disk.bytes);
	return 0;
}
