/* SPDX-License-Identifier: GPL-2.0-only */
/* Statistics that the kernel's block layer keeps for a device: /sys/dev/block/N:M/stat. */
#ifndef AFTL_BLOCK_LAYER_H
#define AFTL_BLOCK_LAYER_H

#include "dm-device.h"

/**
 * struct block_layer - statistics of the kernel's block layer since the device was created
 * @reads: completed reads @read_sectors: in sectors of 512 bytes
 * @read_ms: sum of their response times
 * @writes: completed writes @write_sectors: in sectors of 512 bytes
 * @write_ms: sum of their response times
 * @busy_ms: time with a request in flight
 */
struct block_layer {
	u64 reads;
	u64 read_sectors;
	u64 read_ms;
	u64 writes;
	u64 write_sectors;
	u64 write_ms;
	u64 busy_ms;
};

int __must_check block_layer_get_io_counts(const struct dm_device *device,
					   struct block_layer *counts, struct aftl_error *error);

/* Subtract the statistics @before from @now. */
void block_layer_subtract_earlier_counts(struct block_layer *now, const struct block_layer *before);

#endif
