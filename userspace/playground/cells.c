// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cells of a page: their threshold voltages, and the cells that crossed a read reference.
 */
#include <math.h>
#include <stdlib.h>

#include "checked-memory.h"
#include "core/base/random.h"
#include "play.h"
#include "voltages.h"

#define CROSSED ((u32)BIT(24))
#define MV_ZERO 32768

/**
 * struct look - the mapping unit whose cells are shown
 * @media: flash array
 * @block: block of the page
 * @page: page in the block
 * @ppn: physical page number of the unit
 * @attr: attributes of the page
 * @now: condition that determines the voltages
 * @errors: errors of a read of the unit
 * @key: key of the flipped positions, also the seed of the drawn voltages
 */
struct look {
	const struct aftl_media *media;
	const struct aftl_block *block;
	u32 page;
	aftl_ppn_t ppn;
	u16 attr;
	struct condition now;
	struct aftl_errors errors;
	u64 key;
};

static const struct voltages *seen;
static u32 *cells;

const double *playground_get_state_distribution(u32 state)
{
	return seen->mass[min(state, CELL_STATES_MOST - 1U)];
}

const u32 *playground_get_cell_voltages(void)
{
	return cells;
}

/*
 * Return the error curve of a page, or AFTL_RBER_CURVES if no single curve gives its errors. The
 * core has curves of modes with other steps or a lower top voltage for some types of cell only. The
 * errors of other cells in such a mode are those of the normal mode plus a difference.
 */
static u32 rber_curve_of_page(const struct aftl_cell *cell, u16 attr)
{
	u32 mode = aftl_page_mode(attr);
	u32 normal = cell->curve[AFTL_MODE_NORMAL];

	if (aftl_get_reprogram_count_of_page(attr) || aftl_page_is_short_lived(attr) ||
	    aftl_page_is_foggy(attr) || mode == AFTL_MODE_ROUGH)
		return AFTL_RBER_CURVES;
	if (mode == AFTL_MODE_COARSE || mode == AFTL_MODE_FINE || mode == AFTL_MODE_REDUCED)
		return normal != cell->usual ||
		       (mode == AFTL_MODE_FINE && normal != AFTL_RBER_MLC_MEDIUM) ?
			       AFTL_RBER_CURVES : cell->curve[mode];
	return cell->curve[mode];
}

static bool is_examined_page_programmed(const struct look *look)
{
	return look->attr & AFTL_PAGE_PROGRAMMED;
}

static bool has_examined_page_data(const struct look *look)
{
	return is_examined_page_programmed(look) && aftl_has_error_model(look->media) &&
	       from_lpn(aftl_ppn_lpn(look->media, look->ppn)) < look->media->geo->units;
}

/* Return: the number of inherited errors, whose cells were programmed to the wrong state. */
static u32 get_inherited_errors_of_page(const struct look *look)
{
	u32 errors = has_examined_page_data(look) ?
			     aftl_oob_origin(look->media, look->block, look->ppn).inherited :
			     0;

	return errors == AFTL_INHERITED_LOST ? 0 : errors;
}

static void examine_cell_page(struct look *look, u32 page, u32 slot)
{
	const struct aftl_geometry *geo = look->media->geo;

	look->page = min(page, geo->pages - 1);
	look->ppn = to_ppn(from_ppn(aftl_page_ppn(look->media, look->block, look->page)) +
			     min(slot, geo->page_units - 1));
	look->attr = aftl_block_page_attr(look->media, look->block, look->page);
	look->now = (struct condition){
		.curve = rber_curve_of_page(aftl_cell(play.drive.ftl), look->attr),
		.cycles = look->block->erases,
	};
	look->key = from_ppn(look->ppn);
	if (!is_examined_page_programmed(look))
		return;
	look->now.disturb_mv =
		aftl_compute_page_disturbance_mv(look->media, look->block, look->page);
	look->now.hours = (u32)min(aftl_page_age_hours(look->media, look->block, look->page,
						       aftl_device_age_hours(play.drive.ftl)),
				   (u64)U32_MAX);
	if (has_examined_page_data(look)) {
		const struct aftl_cell *cell = aftl_cell(play.drive.ftl);

		look->errors = aftl_cell_read_errors(cell, look->ppn,
						     aftl_device_age_hours(play.drive.ftl));
		look->key =
			aftl_compute_key_of_bit_flips(cell, aftl_ppn_lpn(look->media, look->ppn),
						      *aftl_oob_write_generation_ptr(look->media,
										     look->ppn));
	}
}

/* Map a draw to [0, 1). */
static double draw_fraction(u64 draw)
{
	return (double)(draw >> 11) / (double)(1ULL << 53);
}

/*
 * Draw a bin in [from, to), with a probability in proportion to the cells in it. @sums: cumulative
 * distribution of a state.
 */
static u32 draw_voltage_bin(const double *sums, u32 from, u32 to, u64 draw)
{
	double wanted = sums[from] + draw_fraction(draw) * (sums[to] - sums[from]);

	while (to - from > 1) {
		u32 middle = (from + to) / 2;

		if (sums[middle] <= wanted)
			from = middle;
		else
			to = middle;
	}
	return from;
}

static u32 get_read_reference_above_state(u32 state)
{
	return state + 1 < seen->count ? seen->crossings[state].reference : VOLTAGE_BINS;
}

static u32 encode_cell_word(u32 state, u32 bin)
{
	s32 mv = ((s32)bin + VOLTAGE_FIRST) * (CELL_BIN_UV / 1000);

	return (u32)(mv + MV_ZERO) | state << 16;
}

/* Draw a correctly read cell: a random state, and a voltage within the references of that state. */
static u32 draw_correct_cell_voltage(const double (*sums)[VOLTAGE_BINS + 1],
				     const struct look *look, u64 draw)
{
	u32 state = is_examined_page_programmed(look) ? draw % max(seen->count, 1U) : 0;
	u32 from = state ? seen->crossings[state - 1].reference : 0;
	u32 to = is_examined_page_programmed(look) ? get_read_reference_above_state(state) :
						      VOLTAGE_BINS;

	return encode_cell_word(state, draw_voltage_bin(sums[state], from, to, aftl_hash64(draw)));
}

/* Draw a misread cell: each state and direction with the frequency that the model gives. */
static u32 draw_misread_cell_voltage(const double (*sums)[VOLTAGE_BINS + 1], u64 draw)
{
	double left =
		draw_fraction(draw) * voltages_compute_rber(seen) * seen->count * log2(seen->count);
	const struct crossing *at = seen->crossings;
	u32 state = 0;

	while (state + 2 < seen->count && left >= at->low_high + at->high_low) {
		left -= at->low_high + at->high_low;
		at++;
		state++;
	}
	if (left < at->low_high)
		return encode_cell_word(state, draw_voltage_bin(sums[state], at->reference,
								VOLTAGE_BINS, aftl_hash64(draw))) |
		       CROSSED;
	return encode_cell_word(state + 1, draw_voltage_bin(sums[state + 1], 0, at->reference,
							    aftl_hash64(draw))) | CROSSED;
}

static void mark_misread_cells(const struct look *look)
{
	const struct aftl_geometry *geo = look->media->geo;
	u32 first = get_inherited_errors_of_page(look);
	u32 end = min(first + look->errors.raw, geo->unit_bits);

	for (u32 i = first; i < end; i++)
		cells[aftl_get_bit_flip_position_by_key(geo, look->key, i)] = CROSSED;
}

static void draw_page_cells(const struct look *look)
{
	double (*sums)[VOLTAGE_BINS + 1] = memory_alloc_zeroed(CELL_STATES_MOST, sizeof(*sums));

	for (u32 state = 0; state < seen->count; state++)
		for (u32 i = 0; i < VOLTAGE_BINS; i++)
			sums[state][i + 1] = sums[state][i] + seen->mass[state][i];
	for (u32 i = 0; i < look->media->geo->unit_bits; i++) {
		u64 draw = aftl_hash64(look->key ^ (u64)i << 32);

		if (cells[i])
			cells[i] = draw_misread_cell_voltage(sums, draw);
		else
			cells[i] = draw_correct_cell_voltage(sums, look, draw);
	}
	free(sums);
}

static void write_cells_json(struct json_writer *json, const struct look *look)
{
	const struct aftl_cell *cell = aftl_cell(play.drive.ftl);

	json_bool(json, "programmed", is_examined_page_programmed(look));
	json_u64(json, "states", seen->count);
	json_bool(json, "assigned", look->now.curve == AFTL_RBER_MLC_DELTA_B);
	json_bool(json, "constant", cell->model == AFTL_CELL_CONSTANT);
	json_u64(json, "bits", look->media->geo->unit_bits);
	json_bool(json, "data", has_examined_page_data(look));
	json_u64(json, "raw", min(look->errors.raw, look->media->geo->unit_bits));
	json_u64(json, "baked", get_inherited_errors_of_page(look));
	json_u64(json, "bins", VOLTAGE_BINS);
	json_u64(json, "bin_mv", CELL_BIN_UV / 1000);
	json_u64(json, "below_zero_mv", -VOLTAGE_FIRST * (u64)CELL_BIN_UV / 1000);
	json_u64(json, "cycles", look->now.cycles);
	json_u64(json, "hours", look->now.hours);
	json_u64(json, "disturb_mv", look->now.disturb_mv);
	json_u64(json, "states_q40", (u64)(voltages_compute_rber(seen) * (double)(1ULL << 40)));
	json_u64(json, "rber_q40",
		 !is_examined_page_programmed(look) ?
			 0 :
			 aftl_cell_rber_q40(cell, look->block, look->page,
					    aftl_device_age_hours(play.drive.ftl)));
	json_begin_inline_array(json, "references_mv");
	for (u32 i = 1; i < seen->count; i++) {
		s32 half_bins = 2 * ((s32)seen->crossings[i - 1].reference + VOLTAGE_FIRST) - 1;

		json_u64(json, NULL, (u64)max(half_bins, 0) * CELL_BIN_UV / 2000);
	}
	json_end_array(json);
}

int playground_describe_cells(u32 block, u32 page, u32 slot)
{
	const struct aftl_media *media = aftl_media(play.drive.ftl);
	struct look look = {
		.media = media,
		.block = &media->blocks[min(block, media->geo->blocks - 1)],
	};
	struct json_writer json;

	examine_cell_page(&look, page, slot);
	seen = voltages_compute_distributions(&look.now);
	cells = cells ? cells : memory_alloc_zeroed(media->geo->unit_bits, sizeof(*cells));
	memset(cells, 0, media->geo->unit_bits * sizeof(*cells));
	mark_misread_cells(&look);
	if (seen->count)
		draw_page_cells(&look);
	playground_json_begin(&json);
	write_cells_json(&json, &look);
	return playground_json_end(&json);
}
