/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Geometry of the device, derived once from the parameters.
 *
 * A LUN executes commands independently: a die, or a plane if planes are independent. Pages of a
 * block are numbered layer by layer, word line by word line, bit by bit. In a wide block (planes in
 * lock step) each position holds one page of each plane, one after the other.
 */
#ifndef AFTL_GEOMETRY_H
#define AFTL_GEOMETRY_H

#include "core/base/params.h"

/**
 * struct aftl_geometry - sizes of the device
 * @channels: number of channels
 * @luns: LUNs of the device; LUN n is on channel n % channels
 * @blocks_per_lun: blocks of a LUN, including bad ones
 * @blocks: blocks of the device
 * @layers: layers of a block
 * @super_layers: layers of a super layer
 * @word_lines: word lines of a layer
 * @word_line_pages: pages of a word line (bits per cell x wide planes)
 * @pages: pages of a block
 * @program_pages: pages that one program command writes
 * @layer_steps: program steps of a layer: pages, or word lines with one-shot programming
 * @program_pages_inverse: for aftl_divide() by @program_pages
 * @layer_steps_inverse: for aftl_divide() by @layer_steps
 * @page_bytes: bytes of a flash page
 * @unit_bytes: bytes of a mapping unit, which is the size of a logical page
 * @page_units: mapping units in a flash page, a power of two
 * @page_unit_shift: binary logarithm of @page_units
 * @block_ppns: mapping units in a block
 * @ppns: mapping units of the flash array
 * @pages_inverse: for aftl_divide() by @pages
 * @blocks_per_lun_inverse: for aftl_divide() by @blocks_per_lun
 * @units: logical pages that the host sees
 * @unit_bits: bits of a mapping unit
 * @allocation_order: count and stride of channels, chips, dies and planes in the order in which
 *	writes are distributed over LUNs, the fastest first
 * @planes_wide: pages at one position of a wide block
 * @passes: program passes of a word line that uses all bits per cell
 * @trans_pages: translation pages of the L2P table on flash; 0: the whole table is in memory
 * @trans_page_shift: logical pages of a translation page, as a power of two
 * @superblock_luns: LUNs whose blocks of one number form a superblock; 0: no superblocks
 * @zones: number of zones; 0: not a zoned device
 * @zone_units: mapping units from one zone to the next
 * @zone_capacity: writable mapping units of a zone
 * @zone_luns: LUNs that a zone is striped over
 * @zone_blocks: blocks of a zone in each of these LUNs
 * @plp_entries: units of the write buffer that a volume can store, if the buffer survives power
 *	loss
 */
struct aftl_geometry {
	u32 channels;
	u32 luns;
	u32 blocks_per_lun;
	u32 blocks;
	u32 layers;
	u32 super_layers;
	u32 word_lines;
	u32 word_line_pages;
	u32 pages;
	u32 program_pages;
	u32 layer_steps;
	u64 program_pages_inverse;
	u64 layer_steps_inverse;
	u32 page_bytes;
	u32 unit_bytes;
	u32 page_units;
	u32 page_unit_shift;
	u32 block_ppns;
	u32 ppns;
	u64 pages_inverse;
	u64 blocks_per_lun_inverse;
	u32 units;
	u32 unit_bits;
	u32 planes_wide;
	u32 passes;
	u32 trans_pages;
	u32 trans_page_shift;
	u32 superblock_luns;
	u32 zones;
	u32 zone_units;
	u32 zone_capacity;
	u32 zone_luns;
	u32 zone_blocks;
	u32 plp_entries;
	struct {
		u32 count;
		u32 stride;
	} allocation_order[4];
};

/* Bytes of an L2P entry in a translation page. */
#define AFTL_L2P_ENTRY_BYTES 4

/* Largest number of bits per cell. */
#define AFTL_BITS_MAX 4

/* Largest number of mapping units in one program. */
#define AFTL_PROGRAM_UNITS_MAX 64

/**
 * aftl_geometry_init() - derive the geometry from the parameters
 * @geo: takes the geometry
 * @config: parameters
 * @error: takes the message on failure
 *
 * Return: 0, or -EINVAL with a message.
 */
int __must_check aftl_geometry_init(struct aftl_geometry *geo, const struct aftl_config *config,
				    struct aftl_error *error);

/**
 * aftl_check_two_pass_program_params() - check the parameters of coarse and fine program passes
 * @config: parameters
 * @error: takes the message on failure
 *
 * Return: 0, or -EINVAL with a message.
 */
int __must_check aftl_check_two_pass_program_params(const struct aftl_config *config,
						    struct aftl_error *error);

/* Number of logical pages and translation pages: each can be mapped to a ppn. */
static inline u32 aftl_count_mappable_pages(const struct aftl_geometry *geo)
{
	return geo->units + geo->trans_pages;
}

static inline u32 aftl_units_per_program(const struct aftl_geometry *geo)
{
	return geo->program_pages * geo->page_units;
}

/* Program steps of a block: pages, or word lines with one-shot programming. */
static inline u32 aftl_count_program_steps_per_block(const struct aftl_geometry *geo)
{
	return geo->pages / geo->program_pages;
}

#endif
