// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdlib.h>

#include "account.h"
#include "core/base/table-lookup.h"
#include "core/nand/layer-variation.h"

/* Standard program time of profile "demo", by which times of other program modes are scaled. */
#define DEMO_NS 700000

/* Reduce a lower bound of a time a little, because the core rounds tables and quotients. */
#define ROUNDING 10000

/* FULL_WEAR: wear by a full erase; MOST_ERRORS: above it, cells exceed their target V_th. */
#define FULL_WEAR 10000
#define MOST_ERRORS (6472 * 9 / 8)
#define NO_GROWTH 2560
#define STEP_MV 117
#define MOST_LOOPS 4
#define ALL_MARGINS 16

/* Age of data, and erase count of their block, at which a page needs its retention margin. */
#define YEAR_HOURS 8760
#define WORN 3000

/* Widest voltage swing among all programs of a block since its erase. */
enum account_swing { SWING_NONE, SWING_LOW_TOP, SWING_NO_MARGINS, SWING_FULL };

/**
 * struct account_block - account of a block since its last erase
 * @swing: enum account_swing, widest voltage swing of a program since the erase
 * @flip: flip bit (ApproxFTL: which page colour is approximate) at the first program
 * @gentle: the policy's last answer whether to erase at low voltage
 * @erasing: an erase is in progress
 * @reads: read count of the block at the last read event
 * @wear: wear of the block before the erase in progress
 * @due_wear: least wear that the erase must add
 * @due_ns: least time that the erase must take
 */
struct account_block {
	u8 swing;
	bool begun;
	bool flip;
	bool gentle;
	bool erasing;
	u32 reads;
	u32 wear;
	u32 due_wear;
	u64 due_ns;
};

/**
 * struct account_page - the last program of a page
 * @turn: number of this program, counted over all programs of the device; 0: erased
 * @attr: attributes that the program stored in the OOB metadata
 */
struct account_page {
	u32 turn;
	u16 attr;
};

/* A program command and the class of its data. */
struct command {
	const struct aftl_placement *place;
	u32 class;
	bool again;
};

static __printf(2, 3) void complain(struct account *account, const char *format, ...)
{
	va_list args;

	if (account->wrong[0])
		return;
	va_start(args, format);
	vsnprintf(account->wrong, sizeof(account->wrong), format, args);
	va_end(args);
}

static const struct aftl_config *account_config(const struct account *account)
{
	return &account->ftl->config;
}

static struct account_block *account_of_block(const struct account *account, u32 block)
{
	return &account->blocks[block];
}

static struct account_page *page_at(const struct account *account, u32 block, u32 page)
{
	return &account->pages[block * account->ftl->geo.pages + page];
}

static u64 subtract_rounding_error(u64 value)
{
	return value - value / ROUNDING;
}

bool account_open_device(struct account *account, struct aftl *ftl)
{
	*account = (struct account){ .ftl = ftl };
	account->blocks = calloc(ftl->geo.blocks, sizeof(*account->blocks));
	account->pages = calloc((size_t)ftl->geo.blocks * ftl->geo.pages, sizeof(*account->pages));
	return account->blocks && account->pages;
}

void account_close_device(struct account *account)
{
	free(account->blocks);
	free(account->pages);
	account->blocks = NULL;
	account->pages = NULL;
	account->ftl = NULL;
}

static void add_operation_to_account(const struct account *account, struct account_sum *sum, u64 ns)
{
	sum->count++;
	sum->ns += ns;
	sum->pj += ns * account_config(account)->energy / 1000;
}

/* Neighbours of a page: previous and next in its layer, same position in adjacent layers. */

struct neighbour {
	u32 page;
	u32 direction;
};

static u32 find_neighbour_pages(const struct aftl_geometry *geo, u32 page,
				struct neighbour found[4])
{
	u32 step = geo->program_pages;
	u32 layer = geo->pages / geo->layers;
	u32 count = 0;

	if (page % layer >= step)
		found[count++] = (struct neighbour){ page - step, 0 };
	if (page % layer + step < layer)
		found[count++] = (struct neighbour){ page + step, 0 };
	if (page >= layer)
		found[count++] = (struct neighbour){ page - layer, 1 };
	if (page + layer < geo->pages)
		found[count++] = (struct neighbour){ page + layer, 1 };
	return count;
}

static u32 count_programmed_neighbours(const struct account *account, u32 block, u32 page, u32 *all)
{
	struct neighbour found[4];
	u32 programmed = 0;
	u32 i;

	*all = find_neighbour_pages(&account->ftl->geo, page, found);
	for (i = 0; i < *all; i++)
		programmed += page_at(account, block, found[i].page)->turn != 0;
	return programmed;
}

/* Return true for a page that a checkerboard block (ApproxFTL) programs in its second phase. */
static bool is_page_programmed_in_second_phase(const struct account *account, u32 block,
					       u32 page)
{
	const struct aftl_geometry *geo = &account->ftl->geo;
	u32 layer = geo->pages / geo->layers;

	return (page / layer + page % layer / geo->program_pages +
		account_of_block(account, block)->flip) % 2;
}

static bool page_mode_lowers_top_voltage(u16 attr)
{
	u32 mode = aftl_page_mode(attr);

	return (mode == AFTL_MODE_REDUCED || mode == AFTL_MODE_ROUGH) &&
	       aftl_page_class(attr) == AFTL_APPROX;
}

/* Programs */

/* Program time of a mode: as the profile sets it, else scaled from the time in profile "demo". */
static u64 find_configured_program_ns(const struct aftl_config *config, u32 at, u64 demo_ns)
{
	u64 own = aftl_param_get(config, at);

	if (own && own != aftl_core_params[at].standard)
		return own;
	return config->program * demo_ns / DEMO_NS;
}

static u64 compute_program_ns_of_mode(const struct aftl_config *config, u32 mode)
{
	switch (mode) {
	case AFTL_MODE_REDUCED:
		return find_configured_program_ns(config, AFTL_PARAM_AT(program_reduced), 437500);
	case AFTL_MODE_BETWEEN:
		return find_configured_program_ns(config, AFTL_PARAM_AT(program_between), 532000);
	case AFTL_MODE_AFTER:
		return find_configured_program_ns(config, AFTL_PARAM_AT(program_after), 469000);
	case AFTL_MODE_COARSE:
		return find_configured_program_ns(config, AFTL_PARAM_AT(program_coarse), 466667);
	case AFTL_MODE_FINE:
		return find_configured_program_ns(config, AFTL_PARAM_AT(program_fine), 933000);
	case AFTL_MODE_ROUGH:
		return compute_program_ns_of_mode(config, AFTL_MODE_REDUCED) *
		       compute_program_ns_of_mode(config, AFTL_MODE_COARSE) / config->program;
	case AFTL_MODE_MLC:
		return config->program_mlc;
	case AFTL_MODE_SLC:
		return config->program_slc;
	case AFTL_MODE_TLC:
		return config->program_tlc;
	case AFTL_MODE_FOGGY:
		return config->program_foggy;
	}
	return config->program;
}

static bool mode_uses_fewer_bits_than_cell(u32 mode)
{
	return mode == AFTL_MODE_SLC || mode == AFTL_MODE_MLC || mode == AFTL_MODE_TLC;
}

static bool mode_has_no_retention_margins(u32 mode, u32 class)
{
	return mode == AFTL_MODE_REDUCED && class == AFTL_PRECISE;
}

static u64 get_page_read_ns(const struct aftl_config *config, u64 ns)
{
	return ns ? ns : config->read;
}

static u32 convert_vth_margin_to_sixteenths(const struct aftl_config *config)
{
	return (config->tvr_margin * ALL_MARGINS + 5000) / 10000;
}

/* Error rate of a page with attributes @attr after a year of retention in a worn block. */
static u64 page_error_rate_after_year(const struct account *account,
				      const struct aftl_placement *place, u16 attr)
{
	struct aftl *ftl = account->ftl;
	u16 *at = aftl_page_attr_ptr(&ftl->media,
				     aftl_page_number_in_device(&ftl->media, place->block,
								place->page));
	u32 erases = place->block->erases;
	u16 kept = *at;
	u64 rate;

	*at = attr;
	place->block->erases = WORN;
	rate = aftl_cell_rber_q40(&ftl->cell, place->block, place->page,
				  aftl_device_age_hours(ftl) + YEAR_HOURS);
	place->block->erases = erases;
	*at = kept;
	return rate;
}

/*
 * Return true if precise data have no more errors in this program mode than in the normal mode: the
 * mode then must not be faster.
 */
static bool mode_adds_no_errors(const struct account *account, const struct command *command)
{
	const struct aftl_placement *place = command->place;

	if (command->class != AFTL_PRECISE ||
	    (place->mode != AFTL_MODE_COARSE && place->mode != AFTL_MODE_REDUCED))
		return false;
	if (!account_config(account)->errors)
		return true;
	if (place->mode == AFTL_MODE_REDUCED &&
	    convert_vth_margin_to_sixteenths(account_config(account)) == ALL_MARGINS)
		return false;
	return page_error_rate_after_year(account, place,
					  aftl_page_attr(AFTL_PRECISE, place->mode, 0)) ==
	       page_error_rate_after_year(account, place,
					  aftl_page_attr(AFTL_PRECISE, AFTL_MODE_NORMAL, 0));
}

/* Program time of a page by its position: the first page of a word line may be faster. */
static u64 adjust_program_ns_to_page(const struct account *account, u64 ns, u32 mode, u32 page)
{
	const struct aftl_config *config = account_config(account);
	const struct aftl_geometry *geo = &account->ftl->geo;

	if (!config->program_fast || config->one_shot || mode_uses_fewer_bits_than_cell(mode) ||
	    page % geo->word_line_pages >= geo->planes_wide)
		return ns;
	return ns * config->program_fast / config->program;
}

static u64 adjust_program_ns_to_wear(const struct account *account, u64 ns, u32 erases)
{
	struct aftl_axis_point at;
	u64 before;
	u64 after;

	if (!account_config(account)->wear_times)
		return ns;
	at = aftl_axis_position(aftl_tvr_wear_axis, AFTL_TVR_WEAR_POINTS, erases);
	before = aftl_tvr_program_wear_q16[at.index];
	after = aftl_tvr_program_wear_q16[at.index + 1];
	return ns * (before * (65536 - at.fraction) + after * at.fraction) >> 32;
}

/* Return the number of ISPP steps of a program: of a whole word line or of one page. */
static u32 count_ispp_steps(const struct account *account, u32 page, u32 kept)
{
	const struct aftl_geometry *geo = &account->ftl->geo;

	if (geo->program_pages == geo->word_line_pages)
		return aftl_tvr_steps[0][kept] + aftl_tvr_steps[1][kept];
	return aftl_tvr_steps[page % geo->word_line_pages >= geo->planes_wide][kept];
}

static u64 adjust_program_ns_to_vth_margins(const struct account *account, u64 ns, u32 page)
{
	u32 kept = convert_vth_margin_to_sixteenths(account_config(account));

	return ns * count_ispp_steps(account, page, kept) /
	       count_ispp_steps(account, page, ALL_MARGINS);
}

static u32 sum_omitted_ispp_voltage_mv(const struct aftl_ispp *ispp)
{
	return (u32)ispp->start_mv + ispp->final_mv;
}

static bool are_ispp_steps_default(const struct aftl_ispp *ispp)
{
	return !sum_omitted_ispp_voltage_mv(ispp) && !ispp->skip;
}

/* Scale a program time by the ISPP loops and verifies that are skipped. */
static u64 adjust_program_ns_to_skipped_ispp(u64 ns, const struct aftl_ispp *ispp)
{
	const u32 *loops = aftl_cube_program_ns[min_t(u32, ispp->skip, MOST_LOOPS)];
	u32 mv = min_t(u32, sum_omitted_ispp_voltage_mv(ispp), MOST_LOOPS * STEP_MV);
	u32 whole = min_t(u32, mv / STEP_MV, MOST_LOOPS - 1);
	u64 tenth_ns = loops[whole] * (u64)STEP_MV -
		       (loops[whole] - loops[whole + 1]) * (u64)(mv - whole * STEP_MV);

	return ns * tenth_ns / STEP_MV / aftl_cube_program_ns[0][0];
}

/* Followers (cubeFTL) take time program_follower only if ISPP takes at most 10 % longer. */
static u64 limit_program_ns_of_follower_word_line(const struct aftl_config *config, u64 standard_ns,
						  u64 ns)
{
	u64 told_ns = standard_ns * config->program_follower / config->program;

	return config->program_follower && ns * 10 <= told_ns * 11 ? min(ns, told_ns) : ns;
}

/* Return true if the program overshoots: its ISPP steps skip needed verifies or exceed margins. */
static bool program_overshoots_target_states(const struct account *account,
					     const struct aftl_placement *place)
{
	bool guarded = place->mode == AFTL_MODE_NORMAL || place->mode == AFTL_MODE_FOLLOWER;
	u32 mv = sum_omitted_ispp_voltage_mv(&place->ispp);
	struct aftl_program_result shown;

	if (are_ispp_steps_default(&place->ispp))
		return false;
	shown = aftl_chip_monitor(&account->ftl->chip, place->block, place->page);
	return (mv && !guarded) || place->ispp.skip > shown.early ||
	       (mv && (u64)shown.errors * aftl_get_error_factor_of_margin_loss(mv) / NO_GROWTH >
			      MOST_ERRORS);
}

static u64 compute_program_ns_lower_bound(const struct account *account,
					  const struct command *command)
{
	const struct aftl_config *config = account_config(account);
	const struct aftl_placement *place = command->place;
	u32 mode = place->mode;
	bool no_margins = mode_has_no_retention_margins(mode, command->class);
	bool nothing = mode_adds_no_errors(account, command);
	u64 standard_ns;
	u64 ns;

	if (command->again && place->block->order == AFTL_ORDER_SUPER_LAYER)
		return config->reprogram;
	ns = compute_program_ns_of_mode(config, no_margins || nothing ? AFTL_MODE_NORMAL : mode);
	ns = adjust_program_ns_to_wear(account,
				       adjust_program_ns_to_page(account, ns, mode, place->page),
				       place->block->erases);
	if (no_margins && !nothing)
		ns = adjust_program_ns_to_vth_margins(account, ns, place->page);
	standard_ns = ns;
	ns = adjust_program_ns_to_skipped_ispp(ns, &place->ispp);
	if (mode == AFTL_MODE_FOLLOWER)
		ns = limit_program_ns_of_follower_word_line(config, standard_ns, ns);
	/* An in-place switch of a word line first senses the bit that the cells store. */
	if (mode == AFTL_MODE_SWITCHED)
		ns += get_page_read_ns(config, config->read_slc);
	/* Without an error model the chip detects an overshoot at once and repeats the program. */
	if (!config->errors && program_overshoots_target_states(account, place))
		ns += standard_ns;
	return ns;
}

static void check_ispp_steps(struct account *account, const struct aftl_placement *place, u16 attr)
{
	if (are_ispp_steps_default(&place->ispp))
		return;
	if (place->ispp.skip > MOST_LOOPS ||
	    sum_omitted_ispp_voltage_mv(&place->ispp) > MOST_LOOPS * STEP_MV ||
	    mode_uses_fewer_bits_than_cell(place->mode))
		complain(account,
			 "mode %u: %u mV given up and %u fewer verifies are more than allowed",
			 place->mode, sum_omitted_ispp_voltage_mv(&place->ispp), place->ispp.skip);
	if (program_overshoots_target_states(account, place) && !aftl_page_is_overprogrammed(attr))
		complain(account,
			 "mode %u: %u mV given up and %u fewer verifies must overshoot, and do not",
			 place->mode, sum_omitted_ispp_voltage_mv(&place->ispp), place->ispp.skip);
}

/* Only a fine pass or a reprogram of a super layer may program a page again. */
static void check_page_may_be_programmed_again(struct account *account,
					       const struct aftl_placement *place,
					       u16 before)
{
	u32 order = place->block->order;
	bool fine = order == AFTL_ORDER_FOGGY_FINE && aftl_page_mode(before) == AFTL_MODE_FOGGY &&
		    place->mode == AFTL_MODE_NORMAL;
	bool replaced = order == AFTL_ORDER_SUPER_LAYER && place->mode == AFTL_MODE_MLC &&
			aftl_page_mode(before) == AFTL_MODE_MLC;

	if ((!fine && !replaced) || !are_ispp_steps_default(&place->ispp))
		complain(account,
			 "page %u: mode %u, %u mV given up, order %u may not program a page again",
			 place->page, place->mode, sum_omitted_ispp_voltage_mv(&place->ispp),
			 order);
}

/* Only a programmed precise page half a block earlier may use a page's ECC parity bits. */
static void check_page_may_store_ecc_parity(struct account *account,
					    const struct aftl_placement *place,
					    u32 block, u32 class)
{
	const struct aftl_geometry *geo = &account->ftl->geo;
	u32 steps = geo->pages / geo->program_pages;
	u32 half = (steps + steps % 2) / 2 * geo->program_pages;

	if (place->mode != AFTL_MODE_LENDING)
		return;
	if (class != AFTL_APPROX || place->page < half || place->block->bits ||
	    place->block->order != AFTL_ORDER_SEQUENTIAL ||
	    !page_at(account, block, place->page - half)->turn ||
	    aftl_page_class(page_at(account, block, place->page - half)->attr) != AFTL_PRECISE)
		complain(account,
			 "page %u of class %u lends, but half a block before is no precise page",
			 place->page, class);
}

static u32 count_programmed_pages(const struct account *account, u32 block, u32 first, u32 end)
{
	u32 pages = 0;

	for (; first < end; first++)
		pages += page_at(account, block, first)->turn != 0;
	return pages;
}

/*
 * Check the order of in-place switching: all word lines of two layers get one bit per cell, then
 * their other bits. Layers below must be full, layers above empty.
 */
static void check_word_line_switch_order(struct account *account,
					 const struct aftl_placement *place,
					 u32 block)
{
	const struct aftl_geometry *geo = &account->ftl->geo;
	u32 line = geo->word_line_pages;
	u32 wide = line / 3;
	u32 layers = 2 * geo->pages / geo->layers;
	u32 first = place->page / layers * layers;
	u32 end = min(first + layers, geo->pages);
	u32 lines = (end - first) / line;
	u32 before = (place->page - first) / line;
	bool rest = place->page % line;
	u32 there = rest ? lines * wide + before * (line - wide) : before * wide;

	if (place->mode != (rest ? AFTL_MODE_SWITCHED : AFTL_MODE_SLC) ||
	    account_config(account)->bits != 3 || geo->program_pages != line ||
	    place->page % line != (rest ? wide : 0) ||
	    place->pages != (rest ? line - wide : wide) || !are_ispp_steps_default(&place->ispp) ||
	    count_programmed_pages(account, block, 0, first) != first ||
	    count_programmed_pages(account, block, first, end) != there ||
	    count_programmed_pages(account, block, end, geo->pages))
		complain(account,
			 "mode %u: %u pages from %u are neither pass of an in-place switch",
			 place->mode, place->pages, place->page);
}

/* Only approximate data may be programmed with coarse steps to a low top voltage. */
static void check_coarse_program(struct account *account, const struct aftl_placement *place,
				 u32 class)
{
	if (place->mode == AFTL_MODE_ROUGH && class != AFTL_APPROX)
		complain(account, "page %u of class %u: only approximate data may have mode rough",
			 place->page, class);
}

/* Check that the page may be programmed in its mode, whose margins may be smaller than usual. */
static void check_mode_of_page(struct account *account, const struct aftl_placement *place,
			       u32 block)
{
	u32 order = place->block->order;
	u32 around;
	u32 programmed = count_programmed_neighbours(account, block, place->page, &around);
	bool second = is_page_programmed_in_second_phase(account, block, place->page);

	if (place->mode == AFTL_MODE_AFTER && programmed < around)
		complain(account, "page %u: mode \"after\" needs %u programmed neighbours, has %u",
			 place->page, around, programmed);
	if (place->mode == AFTL_MODE_BETWEEN && !second)
		complain(account, "page %u: mode \"between\" needs a page of the second colour",
			 place->page);
	if (order == AFTL_ORDER_TWO_PASS && programmed != (second ? around : 0))
		complain(account,
			 "page %u: colour 0 needs no neighbour, colour 1 all: %u has %u of %u",
			 place->page, second, programmed, around);
	if (place->mode == AFTL_MODE_MLC && !place->block->bits &&
	    (account_config(account)->bits < 3 || order != AFTL_ORDER_SUPER_LAYER))
		complain(account,
			 "page %u: mode mlc needs a super layer of 3 bits per cell; the device has %llu bits, program order %u",
			 place->page, (unsigned long long)account_config(account)->bits, order);
	if (order == AFTL_ORDER_SWITCHED)
		check_word_line_switch_order(account, place, block);
	else if (place->mode == AFTL_MODE_SWITCHED)
		complain(account,
			 "page %u: mode \"switched\" needs a block of order \"switched\", not %u",
			 place->page, order);
}

static enum account_swing command_voltage_swing(const struct account *account,
						const struct command *command)
{
	if (command->place->mode == AFTL_MODE_ROUGH)
		return SWING_LOW_TOP;
	if (command->place->mode != AFTL_MODE_REDUCED || mode_adds_no_errors(account, command))
		return SWING_FULL;
	return command->class == AFTL_APPROX ? SWING_LOW_TOP : SWING_NO_MARGINS;
}

static void record_last_program_of_page(struct account *account, const struct command *command,
					u32 block, u16 attr)
{
	const struct aftl_placement *place = command->place;
	struct account_block *mine = account_of_block(account, block);
	u8 swing = command_voltage_swing(account, command);
	u32 i;

	mine->swing = max(mine->swing, swing);
	for (i = place->page; i < place->page + place->pages; i++)
		*page_at(account, block, i) = (struct account_page){ account->turns, attr };
	/* An in-place switch programs the cells of the stored page again. */
	for (i = 1; place->mode == AFTL_MODE_SWITCHED && i <= place->pages / 2; i++)
		page_at(account, block, place->page - i)->turn = account->turns;
}

static void check_program_event(struct account *account, const struct aftl_array_event *event)
{
	const struct aftl_placement *place = &account->ftl->luns[event->lun].work.placement;
	const struct account_page *page = page_at(account, event->block, event->page);
	const struct aftl_media *media = &account->ftl->media;
	u16 attr = aftl_block_page_attr(media, &media->blocks[event->block], event->page);
	struct command command = { place, aftl_page_class(attr), page->turn != 0 };
	struct account_block *mine = account_of_block(account, event->block);
	u64 least = subtract_rounding_error(compute_program_ns_lower_bound(account, &command));

	if (!mine->begun)
		mine->flip = place->block->flip;
	mine->begun = true;
	account->turns++;
	if (aftl_page_mode(attr) != place->mode)
		complain(account, "page programmed in mode %u, but mode %u in its OOB metadata",
			 place->mode, aftl_page_mode(attr));
	if (event->array_ns < least)
		complain(account,
			 "mode %u, class %u, %u mV, %u fewer verifies: %llu ns, needs %llu",
			 place->mode, command.class, sum_omitted_ispp_voltage_mv(&place->ispp),
			 place->ispp.skip, (unsigned long long)event->array_ns,
			 (unsigned long long)least);
	check_ispp_steps(account, place, attr);
	if (command.again)
		check_page_may_be_programmed_again(account, place, page->attr);
	else
		check_mode_of_page(account, place, event->block);
	check_page_may_store_ecc_parity(account, place, event->block, command.class);
	check_coarse_program(account, place, command.class);
	record_last_program_of_page(account, &command, event->block, attr);
	add_operation_to_account(account, &account->programs, least);
}

/* Erases */

static u64 compute_erase_ns_by_wear(const struct account *account, u32 erases)
{
	u64 ns = account_config(account)->erase;
	struct aftl_axis_point at = aftl_axis_position(aftl_tvr_wear_axis, AFTL_TVR_WEAR_POINTS,
						       erases);
	u64 before = aftl_tvr_erase_ns[0][at.index] + aftl_tvr_erase_ns[1][at.index];
	u64 after = aftl_tvr_erase_ns[0][at.index + 1] + aftl_tvr_erase_ns[1][at.index + 1];
	u64 new = aftl_tvr_erase_ns[0][0] + aftl_tvr_erase_ns[1][0];

	if (!account_config(account)->wear_times)
		return ns;
	return ns * (before + (((after - before) * at.fraction) >> 16)) / new;
}

static u32 compute_wear_of_full_voltage_erase(const struct account *account, u8 swing)
{
	u32 kept = convert_vth_margin_to_sixteenths(account_config(account));

	return swing == SWING_NO_MARGINS ?
		       (u32)(FULL_WEAR * 65536ULL / aftl_tvr_endurance_q16[kept]) : FULL_WEAR;
}

/* A shallow erase suffices after programs to low top voltages; other programs need a full erase. */
static void check_erase_event(struct account *account, const struct aftl_array_event *event)
{
	const struct aftl_block *block = &account->ftl->media.blocks[event->block];
	struct account_block *mine = account_of_block(account, event->block);
	bool enough = mine->gentle && mine->swing <= SWING_LOW_TOP;

	mine->wear = block->wear;
	mine->due_wear = mine->gentle ? (u32)account_config(account)->wear_low : 0;
	mine->due_wear += enough ? 0 : compute_wear_of_full_voltage_erase(account, mine->swing);
	mine->due_ns = subtract_rounding_error(compute_erase_ns_by_wear(account, block->erases));
	mine->due_ns *= mine->gentle && !enough ? 2 : 1;
	mine->erasing = true;
	if (event->array_ns < mine->due_ns)
		complain(account, "an erase takes %llu ns, expected %llu",
			 (unsigned long long)event->array_ns, (unsigned long long)mine->due_ns);
}

void account_shallow_erase(struct account *account, const struct aftl_block *block, bool gentle)
{
	account_of_block(account, aftl_block_index(&account->ftl->media, block))->gentle = gentle;
}

void account_block_erased(struct account *account, aftl_ppn_t first)
{
	u32 number = from_ppn(first) / account->ftl->geo.block_ppns;
	const struct aftl_block *block = &account->ftl->media.blocks[number];
	struct account_block *mine = account_of_block(account, number);

	if (mine->erasing && block->wear < (u64)mine->wear + mine->due_wear)
		complain(account, "%s erase after voltage swing %u: wear grows by %u, expected %u",
			 mine->gentle ? "shallow" : "full", mine->swing, block->wear - mine->wear,
			 mine->due_wear);
	if (mine->erasing) {
		account->wear += mine->due_wear;
		add_operation_to_account(account, &account->erases, mine->due_ns);
	}
	*mine = (struct account_block){ 0 };
	memset(page_at(account, number, 0), 0,
	       account->ftl->geo.pages * sizeof(*account->pages));
}

/* Reads */

/* Return true if the page was programmed faster than in normal mode. */
static bool was_page_programmed_in_fast_mode(u16 attr)
{
	u32 mode = aftl_page_mode(attr);

	return mode == AFTL_MODE_COARSE || mode == AFTL_MODE_REDUCED ||
	       mode == AFTL_MODE_BETWEEN || mode == AFTL_MODE_AFTER ||
	       mode == AFTL_MODE_FOLLOWER || mode == AFTL_MODE_SWITCHED ||
	       mode == AFTL_MODE_ROUGH;
}

/* Return the attributes that a page would have after a program in normal mode. */
static u16 page_attributes_in_normal_mode(u16 attr)
{
	return aftl_page_attr(aftl_page_class(attr), AFTL_MODE_NORMAL, 0) |
	       (attr & AFTL_PAGE_OVERPROGRAMMED);
}

static u64 compute_page_error_rate(const struct account *account, u32 block, u32 page, u16 attr)
{
	struct aftl *ftl = account->ftl;
	u16 *at = aftl_page_attr_ptr(&ftl->media, block * ftl->geo.pages + page);
	u16 kept = *at;
	u64 rate;

	*at = attr;
	rate = aftl_cell_rber_q40(&ftl->cell, &ftl->media.blocks[block], page,
				  aftl_device_age_hours(ftl));
	*at = kept;
	return rate;
}

static u32 compute_page_errors(const struct account *account, u32 block, u32 page, u16 attr)
{
	struct aftl *ftl = account->ftl;
	aftl_ppn_t ppn = aftl_page_ppn(&ftl->media, &ftl->media.blocks[block], page);
	u16 *at = aftl_page_attr_ptr(&ftl->media, block * ftl->geo.pages + page);
	u16 kept = *at;
	u32 errors;

	*at = attr;
	errors = aftl_cell_read_errors(&ftl->cell, ppn, aftl_device_age_hours(ftl)).raw;
	*at = kept;
	return errors;
}

static void check_page_errors(struct account *account, u32 block, u32 page, u16 attr)
{
	u64 relaxed = compute_page_error_rate(account, block, page, attr);
	u64 usual = compute_page_error_rate(account, block, page,
					    page_attributes_in_normal_mode(attr));

	account->relaxed++;
	if (relaxed < usual)
		complain(account, "error rate of mode %u, class %u: %llu / 2^40, expected %llu",
			 aftl_page_mode(attr), aftl_page_class(attr), (unsigned long long)relaxed,
			 (unsigned long long)usual);
	if (!aftl_get_reprogram_count_of_page(attr) && aftl_has_error_model(&account->ftl->media) &&
	    compute_page_errors(account, block, page, attr) <
		    compute_page_errors(account, block, page, page_attributes_in_normal_mode(attr)))
		complain(account, "mode %u, class %u has fewer errors than a normal program",
			 aftl_page_mode(attr), aftl_page_class(attr));
}

/* Return true if the neighbour was programmed after the page, so that it disturbs the page. */
static bool was_neighbour_programmed_after_page(const struct account *account, u32 block,
						u32 neighbour, u32 page)
{
	u32 turn = page_at(account, block, neighbour)->turn;

	if (account->ftl->media.blocks[block].order == AFTL_ORDER_TWO_PASS ||
	    account->ftl->media.blocks[block].order == AFTL_ORDER_SWITCHED)
		return turn > page_at(account, block, page)->turn;
	return turn && neighbour > page;
}

static void check_page_disturbance(struct account *account, u32 block, u32 page)
{
	const struct aftl_media *media = &account->ftl->media;
	u32 first = page - page % media->geo->program_pages;
	u32 told = aftl_compute_page_disturbance_mv(media, &media->blocks[block], page);
	struct neighbour found[4];
	u32 count = find_neighbour_pages(media->geo, first, found);
	u32 mv = 0;

	while (count--)
		if (was_neighbour_programmed_after_page(account, block, found[count].page, first))
			mv += aftl_disturb_mv[found[count].direction]
				[page_mode_lowers_top_voltage(page_at(account, block,
								      found[count].page)->attr)];
	if (told < mv)
		complain(account, "page %u is disturbed by %u mV, expected %u", page, told, mv);
}

/* Shortest sensing time of any page of a word line. */
static u64 shortest_configured_read_ns(const struct aftl_config *config)
{
	u64 least = min(get_page_read_ns(config, config->read_first),
			get_page_read_ns(config, config->read_last));

	return min(least, (u64)config->read);
}

/* Time of one sensing of a page with optimal read references. */
static u64 compute_page_sensing_ns(const struct account *account, u32 block, u32 page, u16 attr)
{
	const struct aftl_config *config = account_config(account);
	u64 rate;

	switch (aftl_page_mode(attr)) {
	case AFTL_MODE_MLC:
		return get_page_read_ns(config, config->read_mlc);
	case AFTL_MODE_SLC:
		return get_page_read_ns(config, config->read_slc);
	case AFTL_MODE_TLC:
		return get_page_read_ns(config, config->read_tlc);
	}
	if (!config->read_fine && !config->read_coarse)
		return shortest_configured_read_ns(config);
	rate = compute_page_error_rate(account, block, page, attr);
	if (aftl_page_class(attr) == AFTL_APPROX || rate <= aftl_sense_limit_q40[0])
		return get_page_read_ns(config, config->read_fine);
	return rate <= aftl_sense_limit_q40[1] ? shortest_configured_read_ns(config) :
						 get_page_read_ns(config, config->read_coarse);
}

/* A page must not be read like a one-bit page once a switch added bits to its cells. */
static void check_page_not_read_as_slc(struct account *account, u32 block, u32 page, u16 attr)
{
	u32 line = account->ftl->geo.word_line_pages;
	u32 last = page - page % line + line - 1;

	if (aftl_page_mode(attr) == AFTL_MODE_SLC && !account->ftl->media.blocks[block].bits &&
	    page_at(account, block, last)->turn)
		complain(account, "page %u of a switched word line is still read as SLC", page);
}

static void check_read_event(struct account *account, const struct aftl_array_event *event)
{
	const struct aftl_config *config = account_config(account);
	const struct aftl_geometry *geo = &account->ftl->geo;
	u16 attr = *aftl_page_attr_ptr(&account->ftl->media,
				       event->block * geo->pages + event->page);
	struct aftl_block *block = &account->ftl->media.blocks[event->block];
	u32 reads = block->reads;
	u64 least;

	/* The core has counted this read already, but the read disturbs only later reads. */
	block->reads = account_of_block(account, event->block)->reads;
	least = compute_page_sensing_ns(account, event->block, event->page, attr);
	if (config->read_move)
		least = min(least, (u64)config->read_move);
	block->reads = reads;
	account_of_block(account, event->block)->reads = reads;
	if (event->array_ns < least)
		complain(account, "a read in mode %u takes %llu ns, expected %llu",
			 aftl_page_mode(attr), (unsigned long long)event->array_ns,
			 (unsigned long long)least);
	add_operation_to_account(account, &account->reads, least);
	if (was_page_programmed_in_fast_mode(attr))
		check_page_errors(account, event->block, event->page, attr);
	check_page_not_read_as_slc(account, event->block, event->page, attr);
	if (!block->bits)
		check_page_disturbance(account, event->block, event->page);
}

void account_array_event(struct account *account, const struct aftl_array_event *event)
{
	if (!account->ftl)
		return;
	if (event->op == AFTL_ARRAY_PROGRAM)
		check_program_event(account, event);
	else if (event->op == AFTL_ARRAY_ERASE)
		check_erase_event(account, event);
	else if (event->op == AFTL_ARRAY_READ)
		check_read_event(account, event);
}

static void check_counter_is_at_least(struct account *account, const char *name, u64 told,
				      u64 least)
{
	if (told < least)
		complain(account, "counter %s is %llu, expected %llu", name,
			 (unsigned long long)told, (unsigned long long)least);
}

void account_check_counters(struct account *account)
{
	const struct aftl_counters *counters = &account->ftl->stats.counters;

	check_counter_is_at_least(account, "programs", counters->array_programs,
				  account->programs.count);
	check_counter_is_at_least(account, "program time", counters->array_program_ns,
				  account->programs.ns);
	check_counter_is_at_least(account, "program energy", counters->program_energy_pj,
				  account->programs.pj);
	check_counter_is_at_least(account, "erases", counters->array_erases, account->erases.count);
	check_counter_is_at_least(account, "erase time", counters->array_erase_ns,
				  account->erases.ns);
	check_counter_is_at_least(account, "erase energy", counters->erase_energy_pj,
				  account->erases.pj);
	check_counter_is_at_least(account, "read time", counters->array_read_ns, account->reads.ns);
	check_counter_is_at_least(account, "read energy", counters->read_energy_pj,
				  account->reads.pj);
	check_counter_is_at_least(account, "wear", counters->wear_sum, account->wear);
}
