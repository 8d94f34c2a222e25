// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quality levels: approximate data is programmed by its tolerance to errors. Level 1 skips ECC
 * only, level 2 also uses a lower top voltage, level 3 coarse ISPP steps as well. Blocks of the
 * levels 2 and 3 are erased at a lower voltage.
 *
 * Each level has blocks of its own and keeps its level when it is relocated. A page with several
 * levels, which another policy wrote, is relocated at the smallest one.
 */
#include "core/nand/valid-bits.h"
#include "core/policy/policies.h"
#include "core/policy/open-blocks.h"

#define NAMES "precise", "level_1", "level_2", "level_3"

static u32 levels_choose_stream(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	(void)policy;
	return write->level;
}

static int levels_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				const struct aftl_program_request *need,
				struct aftl_placement *placement)
{
	static const u8 modes[AFTL_LEVELS] = {
		AFTL_MODE_NORMAL, AFTL_MODE_NORMAL, AFTL_MODE_REDUCED, AFTL_MODE_ROUGH,
	};
	u32 level = aftl_normalise_quality_level(need->class, need->stream);
	int ret = aftl_open_blocks_place_program(policy, lun, need, level, placement);

	placement->mode = modes[level];
	return ret;
}

static bool levels_choose_relocation(struct aftl_policy *policy, const struct aftl_relocation *move,
				     u32 *class, u32 *stream)
{
	(void)class;
	*stream = aftl_page_min_quality_level(aftl_policy_media(policy), move->from, move->page);
	return move->pass == *stream;
}

static bool levels_allows_shallow_erase(struct aftl_policy *policy, const struct aftl_block *block)
{
	(void)policy;
	return block->kind > AFTL_APPROX && block->approx_only;
}

const struct aftl_policy_type aftl_policy_levels = {
	.name = "levels",
	.about = "approximate data by quality level: no ECC, reduced voltage, or coarse steps",
	.kinds = { NAMES },
	.streams = { NAMES },
	.open_blocks = AFTL_LEVELS,
	.reserve = AFTL_LEVELS,
	.copy_passes = AFTL_LEVELS,
	AFTL_OPEN_BLOCKS_METHODS,
	.stream = levels_choose_stream,
	.place = levels_place_program,
	.fill_run = aftl_fill_to_block_end,
	.relocate = levels_choose_relocation,
	.shallow_erase = levels_allows_shallow_erase,
};
