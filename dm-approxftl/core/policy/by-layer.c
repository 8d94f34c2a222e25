// SPDX-License-Identifier: GPL-2.0-only
#include "core/flash/physics-tables.h"
#include "core/policy/by-layer.h"
#include "core/base/random.h"
#include "core/base/table-lookup.h"

/* Blocks differ by up to so much, and layers of one block from the table; in 1/256. */
#define BLOCK_SPREAD 26
#define LAYER_SPREAD 8

/* Draws for different purposes must not be the same. */
enum draw {
	DRAW_BLOCK = 0xb10c,
	DRAW_LAYER = 0x1a7e,
	DRAW_BAD = 0xbad,
};

static u32 block_number(const struct aftl_policy *policy, const struct aftl_block *block)
{
	return aftl_block_index(aftl_policy_media(policy), block);
}

static u64 draw(const struct aftl_policy *policy, u32 purpose, u64 what)
{
	return aftl_mix2(aftl_policy_config(policy)->seed ^ purpose, what);
}

/* Anew after each erase. */
static u64 draw_program(const struct aftl_policy *policy, u32 purpose,
			const struct aftl_block *block, u32 what)
{
	u64 place = (u64)block_number(policy, block) *
			    aftl_policy_geometry(policy)->pages + what;

	return draw(policy, purpose, (u64)block->erases << 32 | place);
}

/* A factor around 1, in 1/256. */
static u32 spread_q8(u64 draw, u32 width)
{
	return 256 - width + (u32)aftl_below(draw, 2 * width + 1);
}

/* Layers of any number are stretched over the points of the tables. */
static u32 layer_point(const struct aftl_geometry *geo, u32 layer)
{
	return layer * AFTL_LAYER_POINTS / geo->layers;
}

static struct aftl_point wear_point(const struct aftl_block *block)
{
	return aftl_find_point(aftl_rber_pe_axis, AFTL_RBER_PE_POINTS, block->erases);
}

u16 aftl_layer_errors(const struct aftl_policy *policy, const struct aftl_block *block, u32 layer)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	u32 number = block_number(policy, block);
	u32 point = layer_point(geo, layer);
	struct aftl_point wear = wear_point(block);
	u64 errors = aftl_between(aftl_cube_ep1_q12[wear.index][point],
				  aftl_cube_ep1_q12[wear.index + 1][point], wear.fraction);

	errors *= spread_q8(draw(policy, DRAW_BLOCK, number), BLOCK_SPREAD);
	errors *= spread_q8(draw(policy, DRAW_LAYER, (u64)number * geo->layers + layer),
			    LAYER_SPREAD);
	return (u16)(errors >> 16);
}

/* Both voltages together. */
static u32 margin_mv(u32 index)
{
	return aftl_cube_start_mv[index] + aftl_cube_final_mv[index];
}

/* Millivolt x 256 that @errors leave to the largest errors that are allowed. */
static u32 spare_mv_q8(u32 errors)
{
	u32 tenths_q8 = AFTL_CUBE_EP1_MAX_Q12 * 2560 / errors;
	u32 index = tenths_q8 >> 8;
	u32 low;

	if (index < AFTL_CUBE_MARGIN_FIRST)
		return 0;
	index -= AFTL_CUBE_MARGIN_FIRST;
	if (index >= AFTL_CUBE_MARGIN_POINTS - 1)
		return margin_mv(AFTL_CUBE_MARGIN_POINTS - 1) << 8;
	low = margin_mv(index);
	return (low << 8) + (margin_mv(index + 1) - low) * (tenths_q8 & 0xff);
}

/* Between whole numbers of loops on a straight line. */
static u32 table_ns(u32 loops_q8)
{
	const u32 *ns = aftl_cube_program_ns[1];
	u32 whole = min(loops_q8 >> 8, AFTL_CUBE_MAX_REMOVED_LOOPS - 1U);

	return ns[whole] - (((ns[whole] - ns[whole + 1]) * (loops_q8 - (whole << 8))) >> 8);
}

u64 aftl_follower_ns(u64 leader_ns, u32 errors)
{
	u32 loops_q8 = min(spare_mv_q8(errors) / AFTL_CUBE_STEP_MV,
			   AFTL_CUBE_MAX_REMOVED_LOOPS << 8);

	return div64_u64(leader_ns * table_ns(loops_q8), aftl_cube_program_ns[0][0]);
}

u64 aftl_careful_ns(const struct aftl_policy *policy, u64 leader_ns, u32 page)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	u32 point = layer_point(geo, aftl_layer(geo, page));

	return div64_u64(leader_ns * aftl_cube_vert_program_ns[point],
			 aftl_cube_program_ns[0][0]);
}

bool aftl_came_out_bad(const struct aftl_policy *policy, const struct aftl_block *block, u32 page)
{
	u64 rate = aftl_policy_config(policy)->misprograms;

	if (likely(!rate))
		return false;
	return aftl_below(draw_program(policy, DRAW_BAD, block, page), 1000000000) * 1000 < rate;
}

u16 *aftl_references_new(struct aftl *ftl, const struct aftl_geometry *geo)
{
	return aftl_policy_alloc(ftl, aftl_reference_count(geo), sizeof(u16));
}

u16 *aftl_reference_of(const struct aftl_policy *policy, u16 *references,
		       const struct aftl_block *block, u32 page)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);

	return &references[(size_t)block_number(policy, block) * geo->layers +
			   aftl_layer(geo, page)];
}

u64 aftl_pack_u16(const u16 *values, u64 count, u64 index)
{
	u64 word = 0;
	u32 i;

	for (i = 0; i < AFTL_U16_IN_WORD && index * AFTL_U16_IN_WORD + i < count; i++)
		word |= (u64)values[index * AFTL_U16_IN_WORD + i] << (16 * i);
	return word;
}

void aftl_unpack_u16(u16 *values, u64 count, u64 index, u64 word)
{
	u32 i;

	for (i = 0; i < AFTL_U16_IN_WORD && index * AFTL_U16_IN_WORD + i < count; i++)
		values[index * AFTL_U16_IN_WORD + i] = (u16)(word >> (16 * i));
}
