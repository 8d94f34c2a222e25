// SPDX-License-Identifier: GPL-2.0-only
/* The layout of out-of-band (OOB) metadata, and the valid data of pages. */
#include "core/nand/oob.h"
#include "core/nand/valid-bits.h"

bool aftl_page_has_valid_data(const struct aftl_media *media, const struct aftl_block *block,
			      u32 page)
{
	u32 first = from_ppn(aftl_page_ppn(media, block, page));
	u32 i;

	for (i = 0; i < media->geo->page_units; i++)
		if (aftl_ppn_is_valid(media, to_ppn(first + i)))
			return true;
	return false;
}

u32 aftl_page_min_quality_level(const struct aftl_media *media, const struct aftl_block *block,
				u32 page)
{
	u32 slot = from_ppn(aftl_page_ppn(media, block, page));
	u32 end = slot + media->geo->page_units;
	u32 level = AFTL_LEVELS - 1;

	for (; slot < end; slot++)
		if (aftl_ppn_is_valid(media, to_ppn(slot)))
			level = min(level, aftl_ppn_quality_level(media, to_ppn(slot)));
	return level;
}

void *aftl_oob_entry_beyond_first_chunk(const struct aftl_media *media, u32 page)
{
	return aftl_chunk_entry_at(&media->oob, page, media->oob_layout.bytes);
}

void aftl_oob_layout_init(struct aftl_media *media)
{
	u32 units = media->geo->page_units;
	u32 generations = media->models_errors ? units : 0;
	/* OOB records have an even number of 16-bit values, so that they are aligned to 32 bits. */
	u32 numbers = 2 * units + 1 + generations;
	bool room = numbers % 2;

	media->oob_layout = (struct aftl_oob_layout){
		.bytes = (numbers + room) * sizeof(u16),
		.attr = 2 * units,
		.generation = 2 * units + 1,
		.hours = room ? numbers : 0,
	};
	media->oob_layout.near = 1U << aftl_get_chunk_entries_shift(media->oob_layout.bytes);
	media->oob_layout.extra = (room ? generations : generations + 1) * media->geo->pages;
}

void aftl_block_clear_oob(struct aftl_media *media, struct aftl_block *block)
{
	u32 page;

	for (page = 0; page < media->geo->pages; page++) {
		u16 *entry = aftl_oob_entry(media, aftl_page_number_in_device(media, block, page));

		entry[media->oob_layout.attr] = 0;
		if (media->oob_layout.hours)
			entry[media->oob_layout.hours] = 0;
	}
	block->programmed = 0;
	block->frontier = 0;
	block->reads = 0;
	block->opened_ns = 0;
	block->first_hour = 0;
	block->kind = 0;
	block->bits = 0;
	block->handle = 0;
	block->order = 0;
	block->note = 0;
	block->approx_only = 0;
	block->between = 0;
	block->erases++;
}
