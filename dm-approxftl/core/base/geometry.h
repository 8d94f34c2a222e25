/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shape of the device, derived once from the configuration.
 *
 * A LUN is what works on its own: a die, or a plane if planes are independent.
 * Pages of a block count layer by layer, word line by word line, bit by bit; in
 * a wide block (planes working in lock step) each of those positions holds one
 * page per plane, next to each other.
 */
#ifndef AFTL_GEOMETRY_H
#define AFTL_GEOMETRY_H

#include "core/base/params.h"

/**
 * struct aftl_geometry - sizes that everything else is computed from
 * @channels: buses
 * @luns: independent units of the whole device; LUN n is on bus n % channels
 * @blocks_per_lun: blocks of one LUN, bad ones included
 * @blocks: all blocks
 * @layers: layers of a block
 * @word_lines: word lines of a layer
 * @word_line_pages: pages programmed into one word line (bits x wide planes)
 * @pages: pages of a block
 * @program_pages: pages that one program operation writes
 * @page_bytes: flash page
 * @unit_bytes: mapping unit
 * @page_units: mapping units in a page
 * @block_ppns: mapping units in a block
 * @ppns: mapping units of the whole media
 * @units: mapping units that the host sees
 * @unit_bits: bits in a mapping unit
 * @allocation_order: how LUNs follow each other: of each of channels, chips, dies and planes how many
 *	there are and how far they are apart, the fastest first
 * @planes_wide: pages that one position of a wide block holds
 * @passes: programs of a word line that is used to the full
 * @trans_pages: pieces of the map, each of which has a slot; 0: the map has none, it is in memory
 * @trans_page_shift: units whose entries are in one of them, as a power of two
 * @superblock_luns: LUNs whose blocks of one number are a superblock; 0: there are none
 * @zones: zones of the device; 0: it has none
 * @zone_units: mapping units from one zone to the next
 * @zone_capacity: of these, how many can be written
 * @zone_luns: LUNs that a zone is striped over
 * @zone_blocks: blocks that a zone has in each of them
 * @plp_entries: of a write buffer that survives power loss, units that a volume has a place for
 */
struct aftl_geometry {
	u32 channels;
	u32 luns;
	u32 blocks_per_lun;
	u32 blocks;
	u32 layers;
	u32 word_lines;
	u32 word_line_pages;
	u32 pages;
	u32 program_pages;
	u32 page_bytes;
	u32 unit_bytes;
	u32 page_units;
	u32 block_ppns;
	u32 ppns;
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

/* Bytes of an entry of the map on flash. */
#define AFTL_L2P_ENTRY_BYTES 4

/* Most bits in a cell. */
#define AFTL_BITS_MAX 4

/* Most mapping units that one program may carry. */
#define AFTL_PROGRAM_UNITS_MAX 64

/**
 * aftl_geometry_init() - derive the shape, or say why there is none
 * @geo: shape of the device
 * @config: configuration
 * @error: takes the sentence on failure
 */
int __must_check aftl_geometry_init(struct aftl_geometry *geo, const struct aftl_config *config,
				    struct aftl_error *error);

/**
 * aftl_check_program_passes() - can word lines be programmed as often as @config says?
 * @config: configuration
 * @error: takes the sentence if they cannot
 */
int __must_check aftl_check_program_passes(const struct aftl_config *config, struct aftl_error *error);

/* Units and sheets: all that has a slot. */
static inline u32 aftl_mapped_lpns(const struct aftl_geometry *geo)
{
	return geo->units + geo->trans_pages;
}

static inline u32 aftl_program_units(const struct aftl_geometry *geo)
{
	return geo->program_pages * geo->page_units;
}

/* The LUN at a position of the order "stripe", which begins anew after the last. */
static inline u32 aftl_allocation_order_lun(const struct aftl_geometry *geo, u32 position)
{
	u32 lun = 0;
	u32 i = 0;

	while (position && i < ARRAY_SIZE(geo->allocation_order)) {
		u32 next = position / geo->allocation_order[i].count;

		lun += (position - next * geo->allocation_order[i].count) * geo->allocation_order[i].stride;
		position = next;
		i++;
	}
	return lun;
}

/* Word line of @page, counted through the block. */
static inline u32 aftl_word_line(const struct aftl_geometry *geo, u32 page)
{
	return page / geo->word_line_pages;
}

static inline u32 aftl_layer(const struct aftl_geometry *geo, u32 page)
{
	return aftl_word_line(geo, page) / geo->word_lines;
}

/* First page of word line @word_line of @layer. */
static inline u32 aftl_word_line_page(const struct aftl_geometry *geo, u32 layer, u32 word_line)
{
	return (layer * geo->word_lines + word_line) * geo->word_line_pages;
}

/* Program steps of a block: a page, or a word line in one-shot programming. */
static inline u32 aftl_block_program_steps(const struct aftl_geometry *geo)
{
	return geo->pages / geo->program_pages;
}

/*
 * Colour of @page on the checkerboard over layer and position in the layer.
 * Counting both, not pages, is what keeps vertical neighbours apart when a layer
 * has an even number of positions.
 */
static inline bool aftl_checkerboard_colour(const struct aftl_geometry *geo, u32 page, bool flip)
{
	u32 positions = geo->word_lines * geo->word_line_pages / geo->program_pages;
	u32 turn = page / geo->program_pages;

	return (turn / positions + turn % positions + flip) & 1;
}

#endif
