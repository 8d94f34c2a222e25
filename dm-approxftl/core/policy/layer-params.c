// SPDX-License-Identifier: GPL-2.0-only
/*
 * cubeFTL: packed results of leader word lines, ISPP parameters of their followers, and tables of
 * read references.
 */
#include "core/nand/physics-tables.h"
#include "core/policy/layer-params.h"

/* A word line is misprogrammed if it has over this many times the errors of its layer's leader. */
#define BAD_FACTOR 2

static u32 get_block_index_for_read_reference(const struct aftl_policy *policy,
					      const struct aftl_block *block)
{
	return aftl_block_index(aftl_policy_media(policy), block);
}

/* Packed result of a leader word line: 12 bits for its errors / 16, 4 for its early verifies. */
#define SHOWN_STEP 16U
#define SHOWN_ERRORS 0x0fffU
#define SHOWN_EARLY_SHIFT 12

u16 aftl_encode_leader_program_result(const struct aftl_program_result *outcome)
{
	u32 errors = min(DIV_ROUND_UP(outcome->errors, SHOWN_STEP), SHOWN_ERRORS);

	return (u16)(outcome->early << SHOWN_EARLY_SHIFT | errors);
}

static u32 get_error_count_of_leader(u16 shown)
{
	return (shown & SHOWN_ERRORS) * SHOWN_STEP;
}

/* Interpolate a voltage in @table, which has an entry for each tenth of the spare margin. */
static u16 interpolate_voltage_by_spare_margin_mv(const u16 *table, u32 tenths_q8)
{
	u32 index = tenths_q8 >> 8;

	if (index < AFTL_CUBE_MARGIN_FIRST)
		return 0;
	index -= AFTL_CUBE_MARGIN_FIRST;
	if (index >= AFTL_CUBE_MARGIN_POINTS - 1)
		return table[AFTL_CUBE_MARGIN_POINTS - 1];
	return table[index] + (((table[index + 1] - table[index]) * (tenths_q8 & 0xff)) >> 8);
}

struct aftl_ispp aftl_get_follower_ispp(u16 shown)
{
	u32 tenths_q8 = AFTL_CUBE_EP1_MAX_Q12 * 2560 / max(get_error_count_of_leader(shown), 1U);

	return (struct aftl_ispp){
		.start_mv = interpolate_voltage_by_spare_margin_mv(aftl_cube_start_mv, tenths_q8),
		.final_mv = interpolate_voltage_by_spare_margin_mv(aftl_cube_final_mv, tenths_q8),
		.skip = shown >> SHOWN_EARLY_SHIFT,
	};
}

u16 aftl_vertftl_get_voltage_reduction_mv(const struct aftl_policy *policy, u32 page)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);

	return aftl_cube_vert_mv[aftl_layer_of_page(geo, page) * AFTL_LAYER_POINTS / geo->layers];
}

/*
 * A word line that uses its spare margin has less than BAD_FACTOR times the errors of its leader.
 * If the leader's result is unknown (0), the word line does not count as misprogrammed.
 */
bool aftl_is_word_line_misprogrammed(u16 shown, const struct aftl_program_result *outcome)
{
	return shown && outcome->errors > BAD_FACTOR * get_error_count_of_leader(shown);
}

u16 *aftl_layer_read_ref_ptr(const struct aftl_policy *policy, u16 *references,
			     const struct aftl_block *block, u32 page)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);

	return &references[(size_t)get_block_index_for_read_reference(policy, block) * geo->layers +
			   aftl_layer_of_page(geo, page)];
}
