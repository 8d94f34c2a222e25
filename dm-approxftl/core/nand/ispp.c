// SPDX-License-Identifier: GPL-2.0-only
/*
 * Incremental step pulse programming (ISPP): which program commands a chip accepts, how long they
 * take and what monitoring shows.
 */
#include "core/nand/cell.h"
#include "core/nand/layer-variation.h"
#include "core/nand/program-order.h"
#include "core/nand/reprogram.h"

/* Tolerance in 1/8 of BER_EP1(max), the limit of errors: the word lines of a layer differ a bit. */
#define TOLERATED_EIGHTHS 1

void aftl_chip_init(struct aftl_chip *chip, const struct aftl_media *media,
		    const struct aftl_config *config)
{
	static const u32 shares[AFTL_MODES] = {
#define MODE(name, word, bits, program, share, read, curve, rate) \
		[AFTL_MODE_##name] = share,
#include "core/base/mode-list.h"
#undef MODE
	};
	u32 mode;
	u32 mv;

	*chip = (struct aftl_chip){
		.media = media,
		.config = config,
		.plain = !config->program_fast && !config->wear_times && config->passes == 1,
		.program_ns = {
#define MODE(name, word, bits, program, share, read, curve, rate) \
			[AFTL_MODE_##name] = config->program,
#include "core/base/mode-list.h"
#undef MODE
		},
	};
	for (mode = 0; mode < AFTL_MODES; mode++)
		if (!chip->program_ns[mode])
			chip->program_ns[mode] = div64_u64(config->program * shares[mode], 700000);
	if (config->program_reduced || config->program_coarse)
		chip->program_ns[AFTL_MODE_ROUGH] =
			div64_u64(chip->program_ns[AFTL_MODE_REDUCED] *
				  chip->program_ns[AFTL_MODE_COARSE], config->program);
	for (mv = 0; mv <= AFTL_MARGIN_MAX_MV; mv++)
		chip->growth[mv] = aftl_get_error_factor_of_margin_loss(mv);
}

static u32 sum_ispp_margins_mv(const struct aftl_ispp *ispp)
{
	return (u32)ispp->start_mv + ispp->final_mv;
}

static bool ispp_params_are_allowed(const struct aftl_program_command *program)
{
	const struct aftl_ispp *ispp = &program->ispp;

	return aftl_ispp_is_default(ispp) || (!aftl_mode_bits_per_cell(program->mode) &&
					      ispp->skip <= AFTL_CUBE_MAX_SKIPPED_LOOPS &&
					      sum_ispp_margins_mv(ispp) <= AFTL_MARGIN_MAX_MV);
}

/* Cells for more than two bits take MLC mode only in word lines for reprograms (ReSSD). */
static bool may_program_in_mlc_mode(const struct aftl_chip *chip,
				    const struct aftl_program_command *program)
{
	return program->block->order == AFTL_ORDER_SUPER_LAYER &&
	       program->pages <= AFTL_MLC_PAGES && chip->config->bits > 2;
}

/* Reprograms (ReSSD) use higher voltage states, with default ISPP parameters only. */
static bool is_reprogram_mode_legal(const struct aftl_chip *chip,
				    const struct aftl_program_command *program)
{
	return program->block->order != AFTL_ORDER_SUPER_LAYER ||
	       !aftl_page_is_programmed(chip->media, program->block, program->page) ||
	       (program->mode == AFTL_MODE_MLC && aftl_ispp_is_default(&program->ispp));
}

static bool is_page_programmed_in_between_mode(const struct aftl_chip *chip,
					       const struct aftl_block *block, u32 page)
{
	u16 attr = aftl_block_page_attr(chip->media, block, page);

	return attr && aftl_page_mode(attr) == AFTL_MODE_BETWEEN;
}

/*
 * Find the program steps that interfere with @page: next to it in its layer, and at the same
 * position of the layers below and above.
 */
static u32 find_interfering_pages(const struct aftl_geometry *geo, u32 page, u32 found[4])
{
	u32 layer = geo->word_lines * geo->word_line_pages;
	u32 in_layer = page % layer;
	u32 count = 0;

	if (in_layer >= geo->program_pages)
		found[count++] = page - geo->program_pages;
	if (in_layer + geo->program_pages < layer)
		found[count++] = page + geo->program_pages;
	if (page >= layer)
		found[count++] = page - layer;
	if (page + layer < geo->pages)
		found[count++] = page + layer;
	return count;
}

static bool are_interfering_pages_programmed(const struct aftl_chip *chip,
					     const struct aftl_program_command *program)
{
	u32 found[4];
	u32 count = find_interfering_pages(chip->media->geo, program->page, found);

	while (count--)
		if (!aftl_page_is_programmed(chip->media, program->block, found[count]))
			return false;
	return true;
}

static bool does_program_keep_neighbour_margins(const struct aftl_chip *chip,
						const struct aftl_program_command *program)
{
	u32 found[4];
	u32 count = find_interfering_pages(chip->media->geo, program->page, found);

	while (count--)
		if (is_page_programmed_in_between_mode(chip, program->block, found[count]))
			return false;
	return true;
}

/* Lent parity is that of a programmed precise page, half a block before the page of @program. */
static bool may_page_store_parity_of_precise_page(const struct aftl_chip *chip,
						  const struct aftl_program_command *program)
{
	const struct aftl_media *media = chip->media;
	u32 borrower = aftl_get_precise_page_of_lent_parity(media->geo, program->page);
	u16 attr;

	if (program->class != AFTL_APPROX || borrower == media->geo->pages ||
	    program->block->order != AFTL_ORDER_SEQUENTIAL)
		return false;
	attr = aftl_block_page_attr(media, program->block, borrower);
	return attr && aftl_page_class(attr) == AFTL_PRECISE;
}

/*
 * The modes of approximate pages that are programmed between and after the precise pages of a
 * checkerboard block (ApproxFTL) are legal only at the positions that the checkerboard gives them.
 */
static bool does_mode_fit_page_position(const struct aftl_chip *chip,
					const struct aftl_program_command *program)
{
	const struct aftl_block *block = program->block;

	switch (program->mode) {
	case AFTL_MODE_MLC:
		return may_program_in_mlc_mode(chip, program);
	case AFTL_MODE_SLC:
	case AFTL_MODE_TLC:
	case AFTL_MODE_FOGGY:
	case AFTL_MODE_SWITCHED:
		return false;
	case AFTL_MODE_BETWEEN:
		return block->order != AFTL_ORDER_SUPER_LAYER &&
		       aftl_get_checkerboard_colour_of_page(chip->media->geo, program->page,
							    aftl_first_checkerboard_colour(block));
	case AFTL_MODE_AFTER:
		return block->order != AFTL_ORDER_SUPER_LAYER &&
		       are_interfering_pages_programmed(chip, program);
	case AFTL_MODE_LENDING:
		return may_page_store_parity_of_precise_page(chip, program);
	case AFTL_MODE_ROUGH:
		return program->class == AFTL_APPROX;
	}
	return true;
}

/* In the order FOGGY_FINE a word line has a coarse pass first, then a fine pass. */
static bool does_mode_fit_foggy_fine_order(const struct aftl_chip *chip,
					   const struct aftl_program_command *program)
{
	bool again = aftl_page_is_programmed(chip->media, program->block, program->page);

	return program->mode == (again ? AFTL_MODE_NORMAL : AFTL_MODE_FOGGY) &&
	       aftl_ispp_is_default(&program->ispp);
}

/* In the order SWITCHED (IPS) a word line gets its SLC bit first, and its other bits later. */
static bool does_mode_fit_in_place_switch_order(const struct aftl_chip *chip,
						const struct aftl_program_command *program)
{
	bool first = aftl_is_page_programmed_in_slc_pass(chip->media->geo, program->page);

	return program->mode == (first ? AFTL_MODE_SLC : AFTL_MODE_SWITCHED) &&
	       aftl_ispp_is_default(&program->ispp);
}

bool aftl_chip_allows_program(const struct aftl_chip *chip,
			      const struct aftl_program_command *program)
{
	if (!aftl_order_allows_program(chip->media, program->block, program->page, program->pages))
		return false;
	if (unlikely(program->block->bits))
		return program->mode == aftl_block_program_mode(program->block) &&
		       ispp_params_are_allowed(program);
	if (unlikely(program->block->order == AFTL_ORDER_FOGGY_FINE))
		return does_mode_fit_foggy_fine_order(chip, program);
	if (unlikely(program->block->order == AFTL_ORDER_SWITCHED))
		return does_mode_fit_in_place_switch_order(chip, program);
	if (unlikely(program->block->between) &&
	    !aftl_does_mode_lower_top_voltage(program->mode, program->class) &&
	    !does_program_keep_neighbour_margins(chip, program))
		return false;
	if (!is_reprogram_mode_legal(chip, program))
		return false;
	if (likely(program->mode == AFTL_MODE_NORMAL && aftl_ispp_is_default(&program->ispp)))
		return true;
	return program->mode < AFTL_MODES && ispp_params_are_allowed(program) &&
	       does_mode_fit_page_position(chip, program);
}

/* Program time */

static bool is_first_page_of_word_line(const struct aftl_geometry *geo, u32 page)
{
	return page % geo->word_line_pages < geo->planes_wide;
}

/* With page-wise programming the first page of a word line has a time of its own (program_fast). */
static u64 get_mode_program_ns(const struct aftl_chip *chip, u32 mode, u32 page)
{
	const struct aftl_config *config = chip->config;
	u64 ns = chip->program_ns[mode];

	if (likely(!config->program_fast) || config->one_shot || aftl_mode_bits_per_cell(mode) ||
	    !is_first_page_of_word_line(chip->media->geo, page))
		return ns;
	return div64_u64(ns * config->program_fast, config->program);
}

/* ISPP steps that @page takes by the tables for TVR; row 0 is for the first page of a word line. */
static u32 get_ispp_steps_from_tvr_table(const struct aftl_geometry *geo, u32 page, u32 sixteenths)
{
	if (geo->word_line_pages == geo->program_pages)
		return aftl_tvr_steps[0][sixteenths] + aftl_tvr_steps[1][sixteenths];
	return aftl_tvr_steps[!is_first_page_of_word_line(geo, page)][sixteenths];
}

/* Program time without retention margins (TVR): @ns times the share of ISPP steps that remain. */
static u64 compute_program_ns_without_margins(const struct aftl_chip *chip, u64 ns, u32 page)
{
	const struct aftl_geometry *geo = chip->media->geo;
	u32 margin = aftl_retention_margin_to_index(chip->config->tvr_margin);

	return div64_u64(ns * get_ispp_steps_from_tvr_table(geo, page, margin),
			 get_ispp_steps_from_tvr_table(geo, page, AFTL_TVR_MARGIN_POINTS - 1));
}

/* Program time if ISPP parameters skip loops; a fraction of a loop counts in proportion. */
static u64 compute_program_ns_with_fewer_loops(u64 ns, const struct aftl_ispp *ispp)
{
	const u32 *loops = aftl_cube_program_ns[ispp->skip];
	u32 whole = min(sum_ispp_margins_mv(ispp) / AFTL_CUBE_STEP_MV,
			AFTL_CUBE_MAX_REMOVED_LOOPS - 1U);
	u32 rest = sum_ispp_margins_mv(ispp) - whole * AFTL_CUBE_STEP_MV;
	u32 less = (loops[whole] - loops[whole + 1]) * rest / AFTL_CUBE_STEP_MV;

	return div64_u64(ns * (loops[whole] - less), aftl_cube_program_ns[0][0]);
}

/*
 * Program time with ISPP parameters. For a follower (cubeFTL) whose time is at most 10 % longer
 * than program_follower, that parameter is the time.
 */
static u64 compute_program_ns_with_ispp(const struct aftl_chip *chip, u64 ns,
					const struct aftl_program_command *program)
{
	const struct aftl_config *config = chip->config;
	u64 own = compute_program_ns_with_fewer_loops(ns, &program->ispp);
	u64 follower = div64_u64(ns * config->program_follower, config->program);

	if (program->mode == AFTL_MODE_FOLLOWER && follower && own <= follower + follower / 10)
		return follower;
	return own;
}

/* A fast mode takes the time of a standard program where its additional errors are not modelled. */
static bool does_program_take_time_of_normal_mode(const struct aftl_config *config,
						  const struct aftl_program_command *program)
{
	bool any = config->errors == AFTL_ON;

	if (program->class != AFTL_PRECISE)
		return false;
	if (program->mode == AFTL_MODE_COARSE)
		return !any || (config->cell_model == AFTL_CELL_CONSTANT &&
				!aftl_read_time_depends_on_errors(config));
	return program->mode == AFTL_MODE_REDUCED && !any;
}

/* Program time with default ISPP parameters. */
static u64 compute_program_ns_with_default_ispp(const struct aftl_chip *chip,
						const struct aftl_program_command *program)
{
	const struct aftl_block *block = program->block;
	bool short_lived = program->mode == AFTL_MODE_REDUCED && program->class == AFTL_PRECISE;
	bool standard = short_lived || does_program_take_time_of_normal_mode(chip->config, program);
	u64 ns = get_mode_program_ns(chip, standard ? AFTL_MODE_NORMAL : program->mode,
				     program->page);

	if (program->mode == AFTL_MODE_MLC &&
	    aftl_page_is_programmed(chip->media, block, program->page))
		return chip->config->reprogram;
	if (unlikely(chip->config->wear_times))
		ns = aftl_compute_program_ns_after_wear(ns, block->erases);
	/* Before an in-place switch the chip reads the bit that the word line already stores. */
	if (unlikely(program->mode == AFTL_MODE_SWITCHED))
		ns += chip->config->read_slc ? : chip->config->read;
	if (short_lived && !does_program_take_time_of_normal_mode(chip->config, program))
		ns = compute_program_ns_without_margins(chip, ns, program->page);
	return ns;
}

/* Monitoring */

/* Return true if ISPP parameters use more margin than the word line, or the program mode, has. */
static bool do_ispp_params_exceed_margin(const struct aftl_program_command *program, u32 grown)
{
	bool guarded = program->mode == AFTL_MODE_NORMAL || program->mode == AFTL_MODE_FOLLOWER;
	u32 allowed = AFTL_CUBE_EP1_MAX_Q12 + AFTL_CUBE_EP1_MAX_Q12 * TOLERATED_EIGHTHS / 8;

	return sum_ispp_margins_mv(&program->ispp) && (!guarded || grown > allowed);
}

static void compute_program_result_reported_by_chip(struct aftl_chip *chip,
						    const struct aftl_program_command *program,
						    struct aftl_program_result *outcome)
{
	struct aftl_word_line_traits traits = aftl_word_line_get_traits(chip, program->block,
									program->page);
	u32 grown =
		traits.errors * chip->growth[sum_ispp_margins_mv(&program->ispp)] / AFTL_NO_GROWTH;
	u32 late = program->ispp.skip > traits.early ? program->ispp.skip - traits.early : 0;

	outcome->early = traits.early;
	outcome->errors = grown << late;
	outcome->overprogrammed = late || do_ispp_params_exceed_margin(program, grown);
}

void aftl_chip_program(struct aftl_chip *chip, const struct aftl_program_command *program,
		       struct aftl_program_result *outcome)
{
	bool usual = aftl_ispp_is_default(&program->ispp);
	u64 ns = compute_program_ns_with_default_ispp(chip, program);

	*outcome = (struct aftl_program_result){
		.ns = usual ? ns : compute_program_ns_with_ispp(chip, ns, program)
	};
	if (!usual || program->monitor)
		compute_program_result_reported_by_chip(chip, program, outcome);
	/* An over-programmed page costs a second program, unless errors are modelled. */
	if (unlikely(outcome->overprogrammed && chip->config->errors == AFTL_OFF))
		outcome->ns += ns;
}

struct aftl_program_result aftl_chip_monitor(struct aftl_chip *chip, const struct aftl_block *block,
					     u32 page)
{
	struct aftl_word_line_traits traits = aftl_word_line_get_traits(chip, block, page);

	return (struct aftl_program_result){ .errors = traits.errors, .early = traits.early };
}
