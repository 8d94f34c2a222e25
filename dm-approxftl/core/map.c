// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logical unit to slot, and what a change of it means for the blocks.
 */
#include "device.h"

static void invalidate(struct aftl *ftl, aftl_slot_t slot, u32 class)
{
	struct aftl_block *block = aftl_slot_block(&ftl->media, slot);
	struct aftl_lun *lun = aftl_block_lun(ftl, block);

	aftl_slot_clear_valid(&ftl->media, slot);
	block->valid_approx -= class == AFTL_APPROX;
	lun->valid--;
	aftl_supply_shrink(ftl, lun, block);
	if (ftl->type->invalidated)
		ftl->type->invalidated(ftl->policy, block,
				       aftl_slot_device_page(&ftl->media, slot) % ftl->geo.pages);
}

void aftl_map_set(struct aftl *ftl, aftl_unit_t unit, aftl_slot_t slot, u32 class)
{
	struct aftl_block *block = aftl_slot_block(&ftl->media, slot);
	aftl_slot_t former;

	if (aftl_map_get(ftl, unit, &former))
		invalidate(ftl, former, aftl_map_class(ftl, unit));
	ftl->map[from_unit(unit)] = class << AFTL_SLOT_BITS | (from_slot(slot) + 1);
	aftl_slot_set_valid(&ftl->media, slot);
	block->valid++;
	block->valid_approx += class == AFTL_APPROX;
	aftl_block_lun(ftl, block)->valid++;
}

bool aftl_map_clear(struct aftl *ftl, aftl_unit_t unit)
{
	aftl_slot_t former;

	if (!aftl_map_get(ftl, unit, &former))
		return false;
	invalidate(ftl, former, aftl_map_class(ftl, unit));
	ftl->map[from_unit(unit)] = 0;
	return true;
}
