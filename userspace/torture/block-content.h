/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Self-describing blocks.
 *
 * A block consists of cells of 64 bytes. The first half of a cell is the block's name and a
 * checksum of it; the second half is computed from the name and the cell's position. So each cell
 * identifies the block, torn blocks are detected, and flipped bits can be counted.
 */
#ifndef AFTL_BLOCK_CONTENT_H
#define AFTL_BLOCK_CONTENT_H

#include "aftl-host.h"

/**
 * struct block_name - identity of a block
 * @device: random number of the device, drawn for one run
 * @unit: unit number
 * @generation: number of the request that wrote the block
 * @seed: seed of the run
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
 * struct block_found - result of reading a block
 * @kind: BLOCK_WHOLE: as written except for @flips; BLOCK_TORN: mixed from several blocks, or
 *	damaged
 * @name: name of the block, or of its first part
 * @other: name of the part from @torn_at on, if @other_known
 * @torn_at: the first byte that differs from block @name
 * @flips: number of bits that differ from block @name (or from zeroes); number of ones in a
 *	foreign block
 */
struct block_found {
	enum block_kind kind;
	struct block_name name;
	struct block_name other;
	bool other_known;
	u32 torn_at;
	u32 flips;
};

void block_fill_content(void *data, u32 bytes, const struct block_name *name);

/**
 * block_read() - identify the block in @data
 * @flips: maximum number of flipped bits in a valid block, also in a block of zeroes
 */
struct block_found block_read(const void *data, u32 bytes, u32 flips);

#endif
