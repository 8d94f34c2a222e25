// SPDX-License-Identifier: GPL-2.0-only
/*
 * Process variation of 3D NAND: draws the traits of layers and word lines from the seed.
 */
#include "core/nand/oob.h"
#include "core/base/random.h"
#include "core/base/table-lookup.h"
#include "core/nand/layer-variation.h"

/*
 * Half-width of the variation among blocks, among the layers of a block relative to the physics
 * tables, and among the word lines of a layer, in 1/256.
 */
#define BLOCK_SPREAD 26
#define LAYER_SPREAD 8
#define LINE_SPREAD 2

/* Errors of a misprogrammed word line relative to the others of its layer. */
#define ODD_ERRORS 3

/* Seeds of draws, so that the traits of blocks, layers and word lines are not correlated. */
enum draw {
	DRAW_BLOCK = 0xb10c,
	DRAW_LAYER = 0x1a7e,
	DRAW_LINES = 0xbad,
};

static u64 draw_process_variation_number(const struct aftl_chip *chip, u32 purpose, u64 what)
{
	return aftl_hash64_pair(chip->config->seed ^ purpose, what);
}

/* A random factor of 1 +- @width / 256, in 1/256. */
static u32 draw_factor_around_one_q8(u64 draw, u32 width)
{
	return 256 - width + (u32)aftl_map_random_to_range(draw, 2 * width + 1);
}

static u32 compute_bit_errors_of_layer(const struct aftl_chip *chip, const struct aftl_block *block,
				       u32 point, u64 layer)
{
	struct aftl_axis_point wear = aftl_axis_position(aftl_rber_pe_axis, AFTL_RBER_PE_POINTS,
							 block->erases);
	u64 errors = aftl_interpolate_entries(aftl_cube_ep1_q12[wear.index][point],
					      aftl_cube_ep1_q12[wear.index + 1][point],
					      wear.fraction);
	u64 draw = draw_process_variation_number(chip, DRAW_BLOCK,
						 aftl_block_index(chip->media, block));

	errors *= draw_factor_around_one_q8(draw, BLOCK_SPREAD);
	draw = draw_process_variation_number(chip, DRAW_LAYER, layer);
	errors *= draw_factor_around_one_q8(draw, LAYER_SPREAD);
	return min_t(u64, errors >> 16, 0xffff);
}

static void compute_process_variation_of_layer(const struct aftl_chip *chip,
					       const struct aftl_block *block, u32 layer,
					       u64 number, struct aftl_layer_traits *seen)
{
	u32 point = layer * AFTL_LAYER_POINTS / chip->media->geo->layers;

	*seen = (struct aftl_layer_traits){
		.number = number + 1,
		.erases = block->erases,
		.errors = compute_bit_errors_of_layer(chip, block, point, number),
		.early = aftl_cube_early_verifies[point],
		.lines = draw_process_variation_number(chip, DRAW_LINES,
						       (u64)block->erases << 32 ^ number),
	};
}

static const struct aftl_layer_traits *get_layer_traits(struct aftl_chip *chip,
							const struct aftl_block *block,
							u32 word_line)
{
	const struct aftl_geometry *geo = chip->media->geo;
	u32 layer = word_line / geo->word_lines;
	u64 number = (u64)aftl_block_index(chip->media, block) * geo->layers + layer;
	struct aftl_layer_traits *seen =
		&chip->seen[(u32)number * 0x9e3779b1U >> (32 - AFTL_LAYER_CACHE_BITS)];

	if (seen->number != number + 1 || seen->erases != block->erases)
		compute_process_variation_of_layer(chip, block, layer, number, seen);
	return seen;
}

/* The parameter misprograms is the share of word lines that differ from their layer. */
static bool is_word_line_misprogrammed(const struct aftl_chip *chip, u64 line)
{
	u64 rate = chip->config->misprograms;

	return unlikely(rate) && aftl_map_random_to_range(line, 1000000000) * 1000 < rate;
}

/* A misprogrammed word line has no verifies that start too early. */
struct aftl_word_line_traits aftl_word_line_get_traits(struct aftl_chip *chip,
						       const struct aftl_block *block, u32 page)
{
	u32 word_line = aftl_word_line_of_page(chip->media->geo, page);
	const struct aftl_layer_traits *seen = get_layer_traits(chip, block, word_line);
	u64 line = aftl_hash64(seen->lines ^ word_line);
	u32 errors = (seen->errors * draw_factor_around_one_q8(line << 32, LINE_SPREAD)) >> 8;

	if (is_word_line_misprogrammed(chip, line))
		return (struct aftl_word_line_traits){ .errors = errors * ODD_ERRORS };
	return (struct aftl_word_line_traits){ .errors = errors, .early = seen->early };
}

static u32 get_voltage_margin_at_table_index_mv(u32 index)
{
	return aftl_cube_start_mv[index] + aftl_cube_final_mv[index];
}

/* Factor on the errors if @mv of margin are given up, by interpolation in cubeFTL's tables. */
u16 aftl_get_error_factor_of_margin_loss(u32 mv)
{
	u32 index = 0;
	u32 tenths_q8;

	if (!mv)
		return AFTL_NO_GROWTH;
	while (index < AFTL_CUBE_MARGIN_POINTS - 1 &&
	       get_voltage_margin_at_table_index_mv(index + 1) <= mv)
		index++;
	tenths_q8 = (AFTL_CUBE_MARGIN_FIRST + index) << 8;
	if (index < AFTL_CUBE_MARGIN_POINTS - 1)
		tenths_q8 += ((mv - get_voltage_margin_at_table_index_mv(index)) << 8) /
			     (get_voltage_margin_at_table_index_mv(index + 1) -
			      get_voltage_margin_at_table_index_mv(index));
	return (u16)tenths_q8;
}
