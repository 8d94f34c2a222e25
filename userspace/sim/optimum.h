/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The offline optimum to compare policies with: the programs that a device needs if it knows all
 * future writes, between a proven lower bound and the programs of an offline collector.
 *
 * The offline device is one pool of blocks. It chooses where the data lie at the start, may write
 * to any number of open blocks, and programs nothing but data: no real device has more freedom.
 */
#ifndef SIM_OPTIMUM_H
#define SIM_OPTIMUM_H

#include "core/ftl/ftl.h"

/* An operation is the number of its unit, with these flags in the upper bits. */
#define OPTIMUM_DISCARD 0x80000000U
#define OPTIMUM_KEPT 0x40000000U
#define OPTIMUM_UNIT (OPTIMUM_KEPT - 1)

/* Largest number of operations. Their index is the time of the model, and U32_MAX means "never". */
#define OPTIMUM_OPS_MAX (U32_MAX - 1)

/**
 * struct optimum_stream - writes and discards of units, in the order of arrival
 * @ops: unit and flags of each; optimum_count_flash_programs() sets OPTIMUM_KEPT
 * @count: number of operations
 * @begin: first operation that counts; earlier operations only decide which units have data at the
 *	start
 * @filled: number of first units that have data before the first operation
 */
struct optimum_stream {
	u32 *ops;
	u64 count;
	u64 begin;
	u32 filled;
};

/**
 * struct optimum_device - sizes of the device
 * @blocks: number of blocks
 * @block_units: units of a block
 * @units: logical units
 * @buffer_units: units of the write buffer, 0: none
 */
struct optimum_device {
	u32 blocks;
	u32 block_units;
	u32 units;
	u32 buffer_units;
};

/**
 * struct optimum - lower bound of the programmed units, and the units that the offline collector
 * programs
 * @writes: units that the host writes
 * @kept: writes that a write buffer can hold until they are overwritten or the stream ends, the
 *	largest number
 * @relocated: units that the offline collector relocates; U64_MAX: the spare space is too small
 * @erases: blocks that the offline collector erases
 * @levels: levels of windows of its best schedule
 * @windows: number of windows of each level
 * @window: operations in a window of the first level
 */
struct optimum {
	u64 writes;
	u64 kept;
	u64 relocated;
	u64 erases;
	u32 levels;
	u32 windows;
	u32 window;
};

/* Return the lower bound of the number of programmed units. */
static inline u64 optimum_get_min_programmed_units(const struct optimum *optimum)
{
	return optimum->writes - optimum->kept;
}

/* Return the number of units that the offline collector programs. */
static inline u64 optimum_get_offline_programmed_units(const struct optimum *optimum)
{
	return optimum->relocated == U64_MAX ?
		       U64_MAX :
		       optimum_get_min_programmed_units(optimum) + optimum->relocated;
}

/**
 * optimum_count_flash_programs() - compute the lower bound and run the offline collector
 * @device: sizes of the device
 * @stream: operations, which the caller frees
 * @pause: called now and then; an error number ends the search. May be NULL.
 * @optimum: receives the result
 *
 * Return: 0, -ENOMEM, or the error number of @pause
 */
int optimum_count_flash_programs(const struct optimum_device *device, struct optimum_stream *stream,
				 int (*pause)(void), struct optimum *optimum);

#endif
