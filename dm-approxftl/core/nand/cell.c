// SPDX-License-Identifier: GPL-2.0-only
/*
 * The error model: raw bit error rates from the threshold voltage tables or from constants, and the
 * bit errors of one read.
 */
#include "core/nand/bit-flips.h"
#include "core/nand/cell.h"
#include "core/base/random.h"
#include "core/base/table-lookup.h"
#include "core/nand/chip.h"
#include "core/nand/program-order.h"
#include "core/nand/valid-bits.h"
#include "core/nand/read-disturb.h"

/* Extra errors of an over-programmed word line, in halves of the number that ECC corrects. */
#define OVERPROGRAMMED_ERRORS_HALVES 3

static u64 interpolate_rber_by_age(const u64 *row, struct aftl_axis_point hours)
{
	return aftl_interpolate_entries(row[hours.index], row[hours.index + 1], hours.fraction);
}

static u64 interpolate_rber_by_wear(const u64 (*rows)[AFTL_RBER_HOUR_POINTS],
				    struct aftl_axis_point wear, struct aftl_axis_point hours)
{
	return aftl_interpolate_entries(interpolate_rber_by_age(rows[wear.index], hours),
					interpolate_rber_by_age(rows[wear.index + 1], hours),
					wear.fraction);
}

static struct aftl_axis_point rber_wear_axis_point(u32 erases)
{
	return aftl_axis_position(aftl_rber_pe_axis, AFTL_RBER_PE_POINTS, erases);
}

static struct aftl_axis_point rber_age_axis_point(u64 hours)
{
	return aftl_axis_position(aftl_rber_hour_axis, AFTL_RBER_HOUR_POINTS, hours);
}

static u64 interpolate_rber_of_curve_q40(u32 curve, u32 disturb_mv, u32 erases, u64 hours)
{
	struct aftl_axis_point disturb = aftl_axis_position(aftl_rber_disturb_axis,
							    AFTL_RBER_DISTURB_POINTS, disturb_mv);
	struct aftl_axis_point wear = rber_wear_axis_point(erases);
	struct aftl_axis_point age = rber_age_axis_point(hours);
	const u64 (*low)[AFTL_RBER_HOUR_POINTS] = aftl_rber_q40[curve][disturb.index];
	const u64 (*high)[AFTL_RBER_HOUR_POINTS] = aftl_rber_q40[curve][disturb.index + 1];

	return aftl_interpolate_entries(interpolate_rber_by_wear(low, wear, age),
					interpolate_rber_by_wear(high, wear, age),
					disturb.fraction);
}

/*
 * RBER that a page gains because it was programmed without retention margins (TVR). The tables for
 * these pages were computed without interference from neighbours.
 */
static u64 compute_rber_without_margins_q40(const struct aftl_cell *cell, u32 erases, u64 hours)
{
	struct aftl_axis_point wear = rber_wear_axis_point(erases);
	struct aftl_axis_point age = rber_age_axis_point(hours);

	return interpolate_rber_by_wear(aftl_tvr_rber_q40[cell->tvr], wear, age) -
	       interpolate_rber_by_wear(aftl_tvr_rber_q40[AFTL_TVR_MARGIN_POINTS - 1], wear, age);
}

static u64 find_poisson_quantile(u64 lambda_q32, u32 column)
{
	u32 low = 0;
	u32 high = AFTL_POISSON_ROWS - 1;
	u64 base;
	u64 span;
	u64 from;

	if (lambda_q32 >= (u64)aftl_poisson_lambda_q8[high] << 24)
		lambda_q32 = ((u64)aftl_poisson_lambda_q8[high] << 24) - 1;
	while (high - low > 1) {
		u32 middle = (low + high) / 2;

		if (lambda_q32 >= (u64)aftl_poisson_lambda_q8[middle] << 24)
			low = middle;
		else
			high = middle;
	}
	base = (u64)aftl_poisson_lambda_q8[low] << 24;
	span = aftl_poisson_lambda_q8[high] - aftl_poisson_lambda_q8[low];
	from = aftl_poisson_count_q8[low][column];
	return (from << 24) +
	       div64_u64((aftl_poisson_count_q8[high][column] - from) * (lambda_q32 - base), span);
}

/* Round an expected number of errors up or down, at random by the lower half of @draw. */
static u32 round_errors_randomly(u64 expected_q32, u64 draw)
{
	return (u32)((expected_q32 + (draw & U32_MAX)) >> 32);
}

u32 aftl_poisson_draw(u64 lambda_q32, u64 draw)
{
	return round_errors_randomly(find_poisson_quantile(lambda_q32, draw >> 58), draw);
}

static u64 compute_mean_errors_q32(u64 rber_q40, u32 bits)
{
	return (rber_q40 * bits) >> 8;
}

static u64 convert_error_rate_to_q40(u64 rate)
{
	return div64_u64(rate << 24, 1000000000000ULL >> 16);
}

static u8 select_standard_rber_curve(u64 bits)
{
	if (bits == AFTL_BITS_MAX)
		return AFTL_RBER_QLC;
	return bits == 3 ? AFTL_RBER_TLC : AFTL_RBER_MLC_PRECISE;
}

static void init_rber_curves(struct aftl_cell *cell, const struct aftl_config *config)
{
	static const u8 curve[AFTL_MODES] = {
#define MODE(name, word, bits, program, share, read, curve, rate) \
		[AFTL_MODE_##name] = AFTL_RBER_##curve,
#include "core/base/mode-list.h"
#undef MODE
	};
	bool levels = aftl_read_time_depends_on_errors(config);
	u8 standard = levels ? AFTL_RBER_MLC_MEDIUM : select_standard_rber_curve(config->bits);
	u32 mode;

	for (mode = 0; mode < AFTL_MODES; mode++)
		cell->curve[mode] = curve[mode] == AFTL_RBER_STANDARD ? standard : curve[mode];
	cell->usual = levels ? AFTL_RBER_MLC_MEDIUM : AFTL_RBER_MLC_PRECISE;
	if (levels)
		cell->curve[AFTL_MODE_COARSE] = AFTL_RBER_MLC_COARSE;
}

/* RBER of fine ISPP steps, relative to medium ones, on new flash by the tables; in 2^-20. */
static u64 get_fine_to_medium_rber_ratio_q20(void)
{
	return div64_u64(aftl_rber_q40[AFTL_RBER_MLC_FINE][0][0][0] << 20,
			 aftl_rber_q40[AFTL_RBER_MLC_MEDIUM][0][0][0]);
}

/*
 * The parameter "rber" is the rate of medium ISPP steps. The rates of fine and coarse steps follow
 * from it by the ratios of the RBER that each number of sensing levels can decode.
 */
static void init_rber_of_constant_model(struct aftl_cell *cell, const struct aftl_config *config)
{
	u64 rate = convert_error_rate_to_q40(config->rber);
	u64 *rber = cell->rber_q40;

	rber[AFTL_RATE_PRECISE] = rate;
	rber[AFTL_RATE_APPROX] = convert_error_rate_to_q40(config->rber_approx);
	rber[AFTL_RATE_COARSE] = rate;
	rber[AFTL_RATE_FINE] = rate;
	if (!aftl_read_time_depends_on_errors(config))
		return;
	rate <<= 20;
	rate = div64_u64(rate, aftl_sense_limit_q40[1]);
	rber[AFTL_RATE_COARSE] = (rate * aftl_sense_limit_q40[2]) >> 20;
	rber[AFTL_RATE_FINE] = (rate * aftl_sense_limit_q40[0]) >> 20;
}

static void init_poisson_quantiles(struct aftl_cell *cell)
{
	u32 column;
	u32 rate;

	cell->clean = cell->model == AFTL_CELL_CONSTANT;
	for (rate = 0; rate < AFTL_RATES; rate++) {
		u64 lambda =
			compute_mean_errors_q32(cell->rber_q40[rate], cell->media->geo->unit_bits);
		u64 *row = cell->quantile_q32[rate];

		for (column = 0; column < AFTL_POISSON_COLUMNS; column++)
			row[column] = find_poisson_quantile(lambda, column);
		cell->clean &= rate == AFTL_RATE_APPROX ||
			       row[AFTL_POISSON_COLUMNS - 1] >> 32 < cell->correctable;
	}
}

void aftl_cell_init(struct aftl_cell *cell, const struct aftl_media *media,
		    const struct aftl_config *config)
{
	*cell = (struct aftl_cell){
		.media = media,
		.model = config->cell_model,
		.seed = aftl_hash64(config->seed),
		.correctable = (u32)(config->ecc_bits * media->geo->unit_bytes / 1024),
		.lent = (u32)div64_u64(config->ecc_bits * media->geo->unit_bytes / 1024 *
				       config->ecc_lent, 10000),
		.levels = (u32)config->ecc_levels,
		.tvr = aftl_retention_margin_to_index(config->tvr_margin),
	};
	init_rber_curves(cell, config);
	init_rber_of_constant_model(cell, config);
	init_poisson_quantiles(cell);
}

/* With IPS a word line disturbs neighbours when it gets its remaining bits, not its SLC bit. */
static u32 find_position_in_in_place_switch_order(const struct aftl_media *media,
						  const struct aftl_block *block, u32 step)
{
	const struct aftl_geometry *geo = media->geo;
	u32 window = step / (AFTL_SWITCH_LAYERS * geo->word_lines);
	u16 attr = aftl_block_page_attr(media, block, step * geo->program_pages);

	return (2 * window + (aftl_page_mode(attr) == AFTL_MODE_SWITCHED)) *
		       aftl_count_program_steps_per_block(geo) + step;
}

/*
 * Position of @step in the program order of its block. A step with a later position disturbs the
 * cells of earlier ones. For the order LEADER_FIRST the page number is used as an approximation.
 */
static u32 find_position_in_program_order(const struct aftl_media *media,
					  const struct aftl_block *block, u32 step)
{
	const struct aftl_geometry *geo = media->geo;

	if (unlikely(block->order == AFTL_ORDER_SWITCHED))
		return find_position_in_in_place_switch_order(media, block, step);
	if (block->order == AFTL_ORDER_TWO_PASS &&
	    aftl_get_checkerboard_colour_of_page(geo, step * geo->program_pages,
						 aftl_first_checkerboard_colour(block)))
		return step + aftl_count_program_steps_per_block(geo);
	return step;
}

static u32 compute_vth_shift_by_neighbour(const struct aftl_media *media,
					  const struct aftl_block *block, u32 victim, u32 neighbour,
					  u32 direction)
{
	const struct aftl_geometry *geo = media->geo;
	u16 attr = aftl_block_page_attr(media, block, neighbour * geo->program_pages);

	if (!(attr & AFTL_PAGE_PROGRAMMED) ||
	    find_position_in_program_order(media, block, neighbour) <
		    find_position_in_program_order(media, block, victim))
		return 0;
	return aftl_disturb_mv[direction][aftl_page_has_low_top_voltage(attr)];
}

/* In SLC mode a word line has one page, so the horizontal neighbour is one word line away. */
static u32 count_program_steps_to_next_word_line(const struct aftl_geometry *geo,
						 const struct aftl_block *block)
{
	return block->bits == 1 ? geo->word_line_pages / geo->program_pages : 1;
}

u32 aftl_compute_page_disturbance_mv(const struct aftl_media *media, const struct aftl_block *block,
				     u32 page)
{
	const struct aftl_geometry *geo = media->geo;
	u32 positions = aftl_count_program_steps_per_block(geo) / geo->layers;
	u32 step = page / geo->program_pages;
	u32 column = step % positions;
	u32 apart = count_program_steps_to_next_word_line(geo, block);
	u32 mv = 0;

	if (column >= apart)
		mv += compute_vth_shift_by_neighbour(media, block, step, step - apart, 0);
	if (column + apart < positions)
		mv += compute_vth_shift_by_neighbour(media, block, step, step + apart, 0);
	if (step >= positions)
		mv += compute_vth_shift_by_neighbour(media, block, step, step - positions, 1);
	if (step + positions < aftl_count_program_steps_per_block(geo))
		mv += compute_vth_shift_by_neighbour(media, block, step, step + positions, 1);
	return mv;
}

/* Scale an RBER by the factor of the page's layer, from the tables; planar blocks do not vary. */
static u64 scale_rber_by_layer(const struct aftl_geometry *geo, u64 rber_q40, u32 page)
{
	u32 point = aftl_layer_of_page(geo, page) * AFTL_LAYER_POINTS / geo->layers;

	if (geo->layers == 1)
		return min(rber_q40, 1ULL << 39);
	return min((rber_q40 * aftl_layer_factor_q8[point]) >> 8, 1ULL << 39);
}

/*
 * RBER of a program with a larger or smaller ISPP step, or with a lower top voltage. The tables for
 * such programs were computed for MLC: their difference from the MLC standard program is added,
 * except for fine steps, which reduce the errors in proportion. The result grows with age, and a
 * shorter program never has fewer errors.
 */
static u64 compute_ispp_rber_q40(const struct aftl_cell *cell, u32 mode, u64 standard,
				 u32 disturb_mv, u32 erases, u64 hours)
{
	u64 rber = interpolate_rber_of_curve_q40(cell->curve[mode], disturb_mv, erases, hours);
	u64 usual;
	u64 more;

	if (mode == AFTL_MODE_FINE)
		return min(standard, cell->usual == AFTL_RBER_MLC_MEDIUM ?
				     rber : (standard * get_fine_to_medium_rber_ratio_q20()) >> 20);
	usual = interpolate_rber_of_curve_q40(cell->usual, disturb_mv, erases, hours);
	more = rber > usual ? rber - usual : 0;
	if (unlikely(mode == AFTL_MODE_ROUGH)) {
		rber = interpolate_rber_of_curve_q40(cell->curve[AFTL_MODE_COARSE], disturb_mv,
						     erases, hours);
		more += rber > usual ? rber - usual : 0;
	}
	return standard + more;
}

/* AFTL_MODE_REDUCED is ApproxFTL's mode in approximate pages and TVR's mode in precise ones. */
static bool page_has_nondefault_ispp(u16 attr)
{
	u32 mode = aftl_page_mode(attr);

	return mode == AFTL_MODE_COARSE || mode == AFTL_MODE_FINE ||
	       aftl_page_has_low_top_voltage(attr);
}

static u32 select_rber_curve(const struct aftl_cell *cell, u16 attr)
{
	if (aftl_get_reprogram_count_of_page(attr))
		return AFTL_RBER_TLC_REPROGRAM;
	return page_has_nondefault_ispp(attr) || aftl_page_is_short_lived(attr) ?
		       cell->curve[AFTL_MODE_NORMAL] : cell->curve[aftl_page_mode(attr)];
}

static u64 voltage_model_rber_q40(const struct aftl_cell *cell, const struct aftl_block *block,
				  u32 page, u64 hour)
{
	u16 attr = aftl_block_page_attr(cell->media, block, page);
	u64 hours = aftl_page_age_hours(cell->media, block, page, hour);
	u32 disturb_mv = aftl_compute_page_disturbance_mv(cell->media, block, page);
	u64 rber = interpolate_rber_of_curve_q40(select_rber_curve(cell, attr), disturb_mv,
						 block->erases, hours);

	if (page_has_nondefault_ispp(attr))
		rber = compute_ispp_rber_q40(cell, aftl_page_mode(attr), rber, disturb_mv,
					     block->erases, hours);
	else if (aftl_page_is_short_lived(attr))
		rber += compute_rber_without_margins_q40(cell, block->erases, hours);
	rber += aftl_read_disturb_rber(block, cell->media->geo->pages);
	return scale_rber_by_layer(cell->media->geo, rber, page);
}

static enum aftl_rate page_error_rate(u16 attr)
{
	static const u8 rate[AFTL_MODES] = {
#define MODE(name, word, bits, program, share, read, curve, rate) \
		[AFTL_MODE_##name] = AFTL_RATE_##rate,
#include "core/base/mode-list.h"
#undef MODE
	};

	if (aftl_page_class(attr) == AFTL_APPROX)
		return AFTL_RATE_APPROX;
	return rate[aftl_page_mode(attr)];
}

u64 aftl_cell_rber_q40(const struct aftl_cell *cell, const struct aftl_block *block, u32 page,
		       u64 hour)
{
	u16 attr = aftl_block_page_attr(cell->media, block, page);
	u64 rber;

	if (cell->model != AFTL_CELL_CONSTANT)
		return voltage_model_rber_q40(cell, block, page, hour);
	rber = cell->rber_q40[page_error_rate(attr)];
	/* The constant model ignores age, so add errors for missing retention margins (TVR). */
	if (unlikely(aftl_page_is_short_lived(attr)))
		rber += compute_rber_without_margins_q40(cell, block->erases,
							 aftl_page_age_hours(cell->media, block,
									     page, hour));
	return rber;
}

/* Random number of a ppn's program: the same for all reads, so that they see the same errors. */
static u64 draw_page_program_errors(const struct aftl_cell *cell, const struct aftl_block *block,
				    aftl_ppn_t ppn, u16 attr)
{
	u64 programs = (u64)block->erases << 2 | aftl_get_reprogram_count_of_page(attr);

	return aftl_hash64(cell->seed ^ (programs << 32 | from_ppn(ppn)));
}

static u32 draw_raw_bit_errors(const struct aftl_cell *cell, const struct aftl_block *block,
			       aftl_ppn_t ppn, u16 attr, u64 hour)
{
	const struct aftl_geometry *geo = cell->media->geo;
	u64 draw = draw_page_program_errors(cell, block, ppn, attr);
	u32 page = aftl_page_in_block(geo, aftl_page_of_ppn(cell->media, ppn));
	u64 rber;

	if (cell->model == AFTL_CELL_CONSTANT && likely(!aftl_page_is_short_lived(attr)))
		return round_errors_randomly(cell->quantile_q32[page_error_rate(attr)][draw >> 58],
					     draw);
	rber = aftl_cell_rber_q40(cell, block, page, hour);
	return aftl_poisson_draw(compute_mean_errors_q32(rber, geo->unit_bits), draw);
}

/* Each extra sensing level raises the number of bits that ECC corrects by a quarter (assumed). */
static u32 count_sensing_levels_for_raw_errors(const struct aftl_cell *cell, u32 raw, u32 reach)
{
	u32 step = max(cell->correctable / 4, 1U);

	return raw <= reach ? 0 : DIV_ROUND_UP(raw - reach, step);
}

/* Return true if an approximate page of the same block stores parity of this precise page. */
static bool page_has_parity_in_approximate_page(const struct aftl_media *media,
						const struct aftl_block *block, u32 page)
{
	u32 lender = page + aftl_count_pages_of_first_block_half(media->geo);

	return lender < media->geo->pages &&
	       aftl_page_mode(aftl_block_page_attr(media, block, lender)) ==
		       AFTL_MODE_LENDING;
}

/* Reading the lent parity costs as much as one sensing level. */
static u32 count_extra_sensing_levels(const struct aftl_cell *cell, const struct aftl_block *block,
				      u32 page, u32 raw)
{
	u32 levels = count_sensing_levels_for_raw_errors(cell, raw, cell->correctable);

	if (likely(!page_has_parity_in_approximate_page(cell->media, block, page)))
		return levels;
	return min(levels, 1 + count_sensing_levels_for_raw_errors(cell, raw,
								   cell->correctable + cell->lent));
}

struct aftl_errors aftl_cell_read_errors(const struct aftl_cell *cell, aftl_ppn_t ppn, u64 hour)
{
	const struct aftl_block *block = aftl_block_of_ppn(cell->media, ppn);

	return aftl_cell_read_errors_of_data(cell, block, ppn, aftl_ppn_attr(cell->media, ppn),
					     aftl_oob_origin(cell->media, block, ppn), hour);
}

struct aftl_errors aftl_cell_read_errors_of_data(const struct aftl_cell *cell,
						 const struct aftl_block *block, aftl_ppn_t ppn,
						 u16 attr, struct aftl_origin origin, u64 hour)
{
	const struct aftl_media *media = cell->media;
	struct aftl_errors errors = { 0 };

	errors.raw = draw_raw_bit_errors(cell, block, ppn, attr, hour);
	if (unlikely(aftl_page_is_overprogrammed(attr)))
		errors.raw += cell->correctable * OVERPROGRAMMED_ERRORS_HALVES / 2;
	errors.flips = origin.inherited;
	if (aftl_page_class(attr) == AFTL_APPROX) {
		errors.flips += errors.raw;
	} else if (unlikely(errors.raw > cell->correctable)) {
		u32 page = aftl_page_in_block(media->geo, aftl_page_of_ppn(media, ppn));

		errors.levels = count_extra_sensing_levels(cell, block, page, errors.raw);
		errors.lost = errors.levels > cell->levels;
	}
	errors.flips = min(errors.flips, media->geo->unit_bits);
	/* After the coarse pass only, the states overlap so far that no ECC recovers the data. */
	errors.lost |= origin.inherited == AFTL_INHERITED_LOST || aftl_page_is_foggy(attr);
	return errors;
}

u32 aftl_compute_extra_sensing_levels(const struct aftl_cell *cell, const struct aftl_block *block,
				      u32 page, u64 hour)
{
	u32 first = from_ppn(aftl_page_ppn(cell->media, block, page));
	u32 levels = 0;
	u32 i;

	if (!aftl_has_error_model(cell->media))
		return 0;
	for (i = first; i < first + cell->media->geo->page_units; i++)
		if (aftl_ppn_is_valid(cell->media, to_ppn(i)))
			levels = max(levels, aftl_cell_read_errors(cell, to_ppn(i), hour).levels);
	return min(levels, cell->levels);
}

/*
 * A keyed permutation of the bit numbers below unit_bits, a power of two: multiplying by an odd
 * number, adding, and shifting with xor are invertible modulo a power of two.
 */
u64 aftl_compute_key_of_bit_flips(const struct aftl_cell *cell, aftl_lpn_t lpn, u16 generation)
{
	return aftl_hash64(cell->seed ^ ((u64)generation << 32 | from_lpn(lpn)));
}

u32 aftl_get_bit_flip_position_by_key(const struct aftl_geometry *geo, u64 key, u32 index)
{
	u32 mask = geo->unit_bits - 1;
	u32 half = fls64(mask) / 2;
	u32 x = index;
	u32 round;

	for (round = 0; round < 3; round++) {
		x = (x * ((u32)key | 1) + (u32)(key >> 32)) & mask;
		x ^= x >> half;
		key = aftl_hash64(key);
	}
	return x;
}

u32 aftl_get_bit_flip_position(const struct aftl_cell *cell, aftl_lpn_t lpn, u16 generation,
			       u32 index)
{
	u64 key = aftl_compute_key_of_bit_flips(cell, lpn, generation);

	return aftl_get_bit_flip_position_by_key(cell->media->geo, key, index);
}
