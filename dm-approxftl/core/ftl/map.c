// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logical unit to slot, and what a change of it means for the blocks.
 */
#include "core/ftl/device.h"

static void invalidate(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
		       aftl_slot_t slot, u32 level)
{
	if (aftl_lost_in(ftl, slot)) {
		aftl_slot_clear_lost(&ftl->media, slot);
		ftl->lost_units--;
	}
	aftl_slot_clear_valid(&ftl->media, slot);
	block->valid_approx -= level != AFTL_PRECISE;
	lun->valid--;
	aftl_supply_shrink(ftl, lun, block);
	if (ftl->type->invalidated)
		ftl->type->invalidated(ftl->policy, block,
				       aftl_slot_device_page(&ftl->media, slot) % ftl->geo.pages);
}

static void set_entry(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
		      aftl_unit_t unit, aftl_slot_t slot, u32 level)
{
	*aftl_map_at(ftl, from_unit(unit)) = level << AFTL_SLOT_BITS | (from_slot(slot) + 1);
	aftl_slot_set_valid(&ftl->media, slot);
	block->valid++;
	block->valid_approx += level != AFTL_PRECISE;
	lun->valid++;
}

static bool invalidate_former(struct aftl *ftl, aftl_unit_t unit)
{
	struct aftl_block *block;
	aftl_slot_t former;

	if (!aftl_map_get(ftl, unit, &former))
		return false;
	block = aftl_slot_block(&ftl->media, former);
	invalidate(ftl, aftl_block_lun(ftl, block), block, former, aftl_map_level(ftl, unit));
	return true;
}

void aftl_map_set(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
		  aftl_unit_t unit, aftl_slot_t slot, u32 level)
{
	invalidate_former(ftl, unit);
	set_entry(ftl, lun, block, unit, slot, level);
}

void aftl_map_move(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *from,
		   aftl_slot_t former, struct aftl_block *block, aftl_unit_t unit,
		   aftl_slot_t slot, u32 level)
{
	invalidate(ftl, lun, from, former, aftl_map_level(ftl, unit));
	set_entry(ftl, lun, block, unit, slot, level);
}

bool aftl_map_clear(struct aftl *ftl, aftl_unit_t unit)
{
	if (!invalidate_former(ftl, unit))
		return false;
	*aftl_map_at(ftl, from_unit(unit)) = 0;
	return true;
}

void aftl_map_lose(struct aftl *ftl, aftl_slot_t slot)
{
	ftl->lost_units += !aftl_slot_lost(&ftl->media, slot);
	aftl_slot_set_lost(&ftl->media, slot);
}

void aftl_expect_unit(const struct aftl *ftl, u32 unit)
{
	if (unit >= ftl->geo.units)
		return;
	prefetch(aftl_map_at(ftl, unit));
	if (ftl->type->expect)
		ftl->type->expect(ftl->policy, to_unit(unit));
}

void aftl_expect_slot(const struct aftl *ftl, u32 unit, bool read)
{
	const struct aftl_media *media = &ftl->media;
	aftl_slot_t slot;

	if (unit >= ftl->geo.units || !aftl_map_get(ftl, to_unit(unit), &slot))
		return;
	if (read)
		prefetch(aftl_imprint_at(media, aftl_slot_device_page(media, slot)));
	else
		prefetch(&media->valid[from_slot(slot) / 64]);
	prefetch(aftl_slot_block(media, slot));
}

void aftl_expect_copies(const struct aftl *ftl, u32 page)
{
	u32 slot = page * ftl->geo.page_units;
	u32 end = slot + ftl->geo.page_units;

	for (; slot < end; slot++) {
		u32 unit = from_unit(aftl_unit_at(&ftl->media, to_slot(slot)));

		if (unit < ftl->geo.units)
			prefetch(aftl_map_at(ftl, unit));
	}
}
