/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks that say of themselves what they are.
 *
 * A block is cells of 64 bytes. Each begins with the block's name and a checksum of that; its other
 * half follows from the name and the cell's place. So a name can be told of any cell, torn blocks
 * are known, and bits that have flipped can be counted.
 */
#ifndef AFTL_BLOCK_CONTENT_H
#define AFTL_BLOCK_CONTENT_H

#include "aftl-host.h"

/**
 * struct block_name - what a block says
 * @device: that it was written to, by one run
 * @unit: where
 * @generation: number of the request that wrote it
 * @seed: of the run
 */
struct block_name {
	u64 device;
	u64 unit;
	u32 generation;
	u32 seed;
};

enum block_kind {
	BLOCK_ZEROES,
	BLOCK_WHOLE,
	BLOCK_TORN,
	BLOCK_FOREIGN,
};

/**
 * struct block_found - what is in a block
 * @kind: whole: as @name says, but for @flips; torn: of several blocks, or damaged
 * @name: of the block, or of its beginning
 * @other: of what follows from @torn_at on, if @other_known
 * @torn_at: the first byte that is not what @name says
 * @flips: bits of a whole block, or of zeroes, that are not as written; ones of a foreign block
 */
struct block_found {
	enum block_kind kind;
	struct block_name name;
	struct block_name other;
	bool other_known;
	u32 torn_at;
	u32 flips;
};

void block_fill(void *data, u32 bytes, const struct block_name *name);

/**
 * block_read() - what is in @data
 * @flips: so many bits of a block may have flipped, of zeroes that were written, too
 */
struct block_found block_read(const void *data, u32 bytes, u32 flips);

#endif
