// SPDX-License-Identifier: GPL-2.0-only
/* Preconditioning: fills a device by the transactions of normal operation, in zero device time. */
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/fill-map.h"
#include "core/ftl/fill-static.h"
#include "core/ftl/fill-window.h"
#include "core/ftl/fine-pass.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun-allocation.h"
#include "core/ftl/lun.h"
#include "core/ftl/memory.h"
#include "core/ftl/pause.h"
#include "core/ftl/policy-instance.h"
#include "core/ftl/program.h"
#include "core/ftl/relocation.h"
#include "core/ftl/superblock.h"
#include "core/ftl/translation-page.h"
#include "core/base/random.h"
#include "core/policy/ftl-policy-core.h"
#include "core/policy/ftl-policy.h"

static bool program_relocated_pages_untimed(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_placement placement;

	int units = aftl_reloc_program_gathered_pages(ftl, lun, &placement);

	if (units > 0)
		aftl_reloc_program_done(ftl, lun, &placement);
	if (ftl->foggy_blocks)
		aftl_commit_due_fine_passes_untimed(ftl, lun);
	return units >= 0;
}

static void pad_foggy_pass_untimed(struct aftl *ftl, struct aftl_lun *lun, bool moves)
{
	struct aftl_placement placement;

	if (aftl_commit_coarse_pass_of_padding(ftl, lun, moves, &placement))
		aftl_commit_due_fine_passes_untimed(ftl, lun);
}

/* Program the parity that is due in the die group of @lun. */
static void program_parity_untimed(struct aftl *ftl, const struct aftl_lun *lun)
{
	struct aftl_placement placement;
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		struct aftl_lun *parity_lun =
			aftl_lun_of_die_group(ftl, aftl_die_group_of_lun(ftl, lun), i);

		while (aftl_parity_get_next_pages_to_program(ftl, parity_lun, &placement)) {
			aftl_program_parity(ftl, parity_lun, &placement);
			aftl_parity_program_done(ftl, parity_lun);
		}
	}
}

/* Number of pages ahead for which first writes prefetch metadata. */
#define PREFETCH_DISTANCE 8U

static bool execute_reloc_steps_untimed(struct aftl *ftl, struct aftl_lun *lun)
{
	for (;;) {
		switch (aftl_reloc_next_step(ftl, lun, true)) {
		case AFTL_STEP_NONE:
			return false;
		case AFTL_STEP_COPY:
			aftl_reloc_gather_pages(ftl, lun);
			if (!program_relocated_pages_untimed(ftl, lun))
				return false;
			break;
		case AFTL_STEP_READ:
			aftl_reloc_gather_pages(ftl, lun);
			break;
		case AFTL_STEP_PROGRAM:
			if (!program_relocated_pages_untimed(ftl, lun))
				return false;
			break;
		case AFTL_STEP_FINISH:
			pad_foggy_pass_untimed(ftl, lun, true);
			break;
		case AFTL_STEP_ERASE:
			aftl_begin_block_erase(ftl, lun, lun->reloc.from);
			aftl_reloc_erase_done(ftl, lun);
			return true;
		}
	}
}

/* Empty the victim superblock in all members of the die group, then erase it in all of them. */
static bool run_superblock_gc_untimed(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 group = aftl_die_group_of_lun(ftl, lun);
	const u32 *collected = &ftl->die_groups[group].collected;
	u32 before = *collected;
	u32 round;
	u32 i;

	for (round = 0; round < 2; round++)
		for (i = 0; i < ftl->geo.superblock_luns && *collected == before; i++) {
			struct aftl_lun *member = aftl_lun_of_die_group(ftl, group, i);

			if (ftl->foggy_blocks)
				aftl_commit_due_fine_passes_untimed(ftl, member);
			execute_reloc_steps_untimed(ftl, member);
		}
	program_parity_untimed(ftl, lun);
	return *collected != before;
}

static bool run_relocation_task_untimed(struct aftl *ftl, struct aftl_lun *lun)
{
	if (likely(!ftl->geo.superblock_luns))
		return execute_reloc_steps_untimed(ftl, lun);
	return run_superblock_gc_untimed(ftl, lun);
}

/**
 * struct filler - state of preconditioning
 * @random: random number generator
 * @asks_always: stream() and place() are called for each program
 * @round: logical pages of one program in every LUN or, with a window, of one program; 0 if each
 * program is placed alone
 * @runs: by LUN: programs that follow the last one without a call of the policy
 * @need: request for the program that is being gathered
 * @payload: logical pages gathered for it
 * @map: L2P entries that are still to be stored, if the LUNs take turns
 * @fixed: state of LUNs and L2P entries, if lpns determine their LUNs
 * @window: programs and L2P entries that are still to be stored, if lpns determine their LUNs and
 * @fixed is not in use
 * @numbers: numbers of the first writes, if the policy has a clock for which they are still to be
 * stored; else it has no units
 * @ahead: from a logical page to the one whose L2P entry is prefetched meanwhile
 */
struct filler {
	struct aftl_random random;
	bool asks_always;
	u32 round;
	struct aftl_fill_run *runs;
	struct aftl_program_request need;
	struct aftl_payload payload;
	struct aftl_fill_map map;
	struct aftl_fill_static fixed;
	struct aftl_fill_window window;
	struct aftl_fill_order numbers;
	u32 ahead;
};

/* Number of logical pages between two pause() calls while numbers of first writes are stored. */
#define NUMBERS_SLICE 65536U

static void fill_begin_window(struct aftl *ftl, struct filler *filler,
			      const struct aftl_fill_order *order)
{
	aftl_fill_window_init(ftl, &filler->window, order);
	filler->round = filler->window.entries ? ftl->program_units : 0;
}

/*
 * Bring all LUNs and the L2P table up to date. If the fill has not ended, a window takes the next
 * writes.
 */
static int fill_go_on_with_window(struct aftl *ftl, struct filler *filler)
{
	struct aftl_fill_order order = filler->fixed.order;
	u32 written = filler->fixed.write;
	int ret = aftl_fill_static_end(ftl, &filler->fixed, filler->runs);

	if (written < order.units) {
		aftl_fill_order_advance_by_writes(&order, written);
		fill_begin_window(ftl, filler, &order);
	}
	return ret;
}

/*
 * Store the L2P entries of recorded rounds and, if the policy wants it, the number of the first
 * write of each logical page; in that case no further rounds are programmed.
 */
static int store_l2p_entries_recorded_by_fill(struct aftl *ftl, struct filler *filler)
{
	struct aftl_fill_order numbers = filler->numbers;
	int ret = aftl_fill_map_store_l2p_entries(ftl, &filler->map);
	u32 lpn;

	if (filler->fixed.luns)
		ret = fill_go_on_with_window(ftl, filler);
	aftl_fill_window_store_l2p_entries(ftl, &filler->window);
	if (!numbers.units)
		return ret;
	filler->round = 0;
	filler->numbers.units = 0;
	for (lpn = 0; !ret && lpn < numbers.units; lpn += NUMBERS_SLICE) {
		aftl_ftl_set_first_write_numbers(ftl->policy, to_lpn(lpn),
						 min(numbers.units - lpn, NUMBERS_SLICE), &numbers);
		ret = aftl_call_pause_callback(ftl);
	}
	return ret;
}

/* Store all L2P entries, then do a GC step. Return: 1 if GC found work, 0, or an error code. */
static int fill_relocate_for_gc(struct aftl *ftl, struct filler *filler, struct aftl_lun *lun)
{
	int ret = store_l2p_entries_recorded_by_fill(ftl, filler);

	return ret ? ret : run_relocation_task_untimed(ftl, lun);
}

static int place_fill_program_after_gc(struct aftl *ftl, struct filler *filler,
				       struct aftl_lun *lun,
				       const struct aftl_program_request *need,
				       struct aftl_placement *placement)
{
	for (;;) {
		int ret = 1;

		while (ret > 0 && aftl_gc_is_urgent(ftl, lun))
			ret = fill_relocate_for_gc(ftl, filler, lun);
		if (ret >= 0 && !aftl_program_place(ftl, lun, need, placement))
			return 0;
		if (ret >= 0)
			ret = fill_relocate_for_gc(ftl, filler, lun);
		if (ret <= 0)
			return ret ? ret : -ENOSPC;
	}
}

/* Move to the start of the payload those pages that the last program did not take. */
static void payload_drop_programmed_lpns(struct aftl_payload *payload, u32 gathered)
{
	u32 done = payload->count;

	for (payload->count = 0; payload->count < gathered - done; payload->count++) {
		payload->lpn[payload->count] = payload->lpn[done + payload->count];
		payload->origin[payload->count] = payload->origin[done + payload->count];
	}
}

/*
 * Most preconditioning programs follow the previous one in the same block. The policy need not be
 * asked for their place, and nothing is counted: the statistics start after preconditioning.
 */
static bool fill_may_place_program_without_policy(const struct aftl *ftl,
						  const struct filler *filler,
						  const struct aftl_lun *lun)
{
	const struct aftl_fill_run *run = &filler->runs[lun->index];

	return run->left && run->class == filler->need.class &&
	       run->stream == filler->need.stream &&
	       filler->payload.count == ftl->program_units && !aftl_gc_is_urgent(ftl, lun);
}

/* Return true if @placement's block takes normal and follower (cubeFTL) programs at any page. */
static bool is_single_page_placement(const struct aftl_placement *placement)
{
	return (placement->mode == AFTL_MODE_NORMAL || placement->mode == AFTL_MODE_FOLLOWER) &&
	       !placement->piggybacked && !placement->block->bits &&
	       (placement->block->order == AFTL_ORDER_SEQUENTIAL ||
		placement->block->order == AFTL_ORDER_LEADER_FIRST);
}

/* Count the programs of @lun that may follow the previous one without asking the policy. */
static u32 count_fill_programs_without_policy_call(const struct aftl *ftl,
						   const struct filler *filler,
						   const struct aftl_lun *lun)
{
	u32 used = lun->valid + lun->in_flight;

	if (aftl_gc_is_urgent(ftl, lun) || used > lun->max_valid)
		return 0;
	return min(filler->runs[lun->index].left, (lun->max_valid - used) / ftl->program_units);
}

/* Ask the policy how many programs may follow @placement without asking it again. */
static void ask_policy_how_many_programs_may_follow(struct aftl *ftl, const struct filler *filler,
						    struct aftl_lun *lun,
						    const struct aftl_placement *placement)
{
	struct aftl_block *block = placement->block;
	u32 steps = (ftl->geo.pages - block->programmed) / ftl->geo.program_pages;
	struct aftl_fill_run *run = &filler->runs[lun->index];

	if (filler->asks_always || block->state != AFTL_BLOCK_OPEN ||
	    !is_single_page_placement(placement))
		return;
	*run = (struct aftl_fill_run){
		.block = block,
		.page = placement->page + placement->pages,
		.class = filler->need.class,
		.stream = filler->need.stream,
		.mode = placement->mode,
		.left = min(ftl->type->fill_run(ftl->policy, lun, &filler->need, block), steps - 1),
	};
	/* Programs of a batch do not look at the room and the free blocks of their LUN. */
	if (filler->window.entries || filler->fixed.luns)
		run->left = count_fill_programs_without_policy_call(ftl, filler, lun);
}

/*
 * Return true if a program depends on more than its LUN, or has consequences beyond its block: then
 * preconditioning asks the policy for the place of each program.
 */
static bool fill_must_ask_policy_per_program(const struct aftl *ftl)
{
	return !ftl->type->fill_run || ftl->geo.passes > 1 || !ftl->chip.plain ||
	       ftl->slc_max_blocks || ftl->geo.trans_pages || ftl->geo.superblock_luns;
}

static int program_trans_pages(struct aftl *ftl, struct filler *filler, struct aftl_lun *lun)
{
	struct aftl_program_request need = aftl_cmt_need(ftl, lun);
	struct aftl_placement placement;
	int ret = place_fill_program_after_gc(ftl, filler, lun, &need, &placement);

	if (ret)
		return ret;
	aftl_cmt_add_evictions_to_payload(ftl, lun, &placement, &ftl->payload);
	aftl_program_commit(ftl, lun, &need, &placement, &ftl->payload);
	aftl_reloc_program_done(ftl, lun, &placement);
	if (ftl->foggy_blocks)
		aftl_commit_due_fine_passes_untimed(ftl, lun);
	return 0;
}

/* Program the translation pages of each LUN that has at least @least of them to evict. */
static int program_cmt_evictions_untimed(struct aftl *ftl, struct filler *filler, u32 least)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		while (!ret && ftl->luns[i].evictions.count >= least)
			ret = program_trans_pages(ftl, filler, &ftl->luns[i]);
	return ret;
}

/* Program gathered logical pages; the policy may place only some of these. */
static int fill_program_by_policy(struct aftl *ftl, struct filler *filler, struct aftl_lun *lun)
{
	struct aftl_placement placement;
	u32 gathered = filler->payload.count;
	int ret;

	filler->need.lpn = filler->payload.lpn[0];
	filler->need.units = gathered;
	filler->need.cause = AFTL_CAUSE_HOST;
	filler->runs[lun->index].left = 0;
	ret = place_fill_program_after_gc(ftl, filler, lun, &filler->need, &placement);
	if (ret)
		return ret;
	filler->payload.count = min(gathered, aftl_count_lpns_of_placement(ftl, &placement));
	aftl_program_commit(ftl, lun, &filler->need, &placement, &filler->payload);
	aftl_reloc_program_done(ftl, lun, &placement);
	if (ftl->foggy_blocks)
		aftl_commit_due_fine_passes_untimed(ftl, lun);
	if (aftl_is_program_repeat_due(ftl, lun))
		ret = fill_relocate_for_gc(ftl, filler, lun);
	else
		ask_policy_how_many_programs_may_follow(ftl, filler, lun, &placement);
	if (ftl->geo.superblock_luns)
		program_parity_untimed(ftl, lun);
	payload_drop_programmed_lpns(&filler->payload, gathered);
	if (ret >= 0 && aftl_cmt_has_too_many_evictions(ftl))
		return program_cmt_evictions_untimed(ftl, filler, ftl->program_units);
	return min(ret, 0);
}

static int fill_program_gathered_lpns(struct aftl *ftl, struct filler *filler)
{
	struct aftl_lun *lun = aftl_allocate_lun(ftl, NULL, filler->payload.lpn[0],
						 filler->need.class, filler->need.stream,
						 ftl->program_units);

	if (!lun)
		return -ENOSPC;
	if (!fill_may_place_program_without_policy(ftl, filler, lun))
		return fill_program_by_policy(ftl, filler, lun);
	aftl_commit_next_fill_program(ftl, lun, &filler->runs[lun->index], &filler->payload);
	filler->payload.count = 0;
	return 0;
}

static int fill_flush_gathered_lpns(struct aftl *ftl, struct filler *filler)
{
	int ret = 0;

	while (!ret && filler->payload.count)
		ret = fill_program_gathered_lpns(ftl, filler);
	return ret ? ret : aftl_call_pause_callback(ftl);
}

static void fill_gather_lpn(struct aftl *ftl, struct filler *filler, aftl_lpn_t lpn)
{
	struct aftl_payload *payload = &filler->payload;
	u32 i = payload->count++;

	payload->lpn[i] = lpn;
	payload->origin[i] = (struct aftl_origin){ .generation = (u16)aftl_hash64(ftl->seq++) };
}

/* Initialise a payload without tags, which identify data of the host: preconditioning has none. */
static void fill_init_payload(struct aftl_payload *payload)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(payload->lpn); i++) {
		payload->from[i] = AFTL_NO_PPN;
		payload->tag[i] = AFTL_NIL;
	}
}

/* Return true if @lpn is in the gathered program, which must not write a logical page twice. */
static bool is_lpn_in_gathered_program(const struct filler *filler, aftl_lpn_t lpn)
{
	u32 i;

	for (i = 0; i < filler->payload.count; i++)
		if (filler->payload.lpn[i] == lpn)
			return true;
	return false;
}

static u32 draw_lpn_data_class(struct aftl *ftl, struct filler *filler)
{
	bool approx = aftl_random_below(&filler->random, 10000) < ftl->config.fill_approx;

	return aftl_get_data_class_used_by_policy(ftl, approx ? AFTL_APPROX : AFTL_PRECISE);
}

static int fill_add_lpn_to_payload(struct aftl *ftl, struct filler *filler, aftl_lpn_t lpn,
				   u32 class)
{
	struct aftl_host_write write = { .lpn = lpn, .units = 1, .class = class,
				    .level = class };
	u32 stream =
		ftl->type->stream ?
			aftl_policy_validate_stream(ftl, ftl->type->stream(ftl->policy, &write)) :
			0;
	int ret = 0;

	if (filler->need.class != class || filler->need.stream != stream ||
	    is_lpn_in_gathered_program(filler, lpn))
		ret = fill_flush_gathered_lpns(ftl, filler);
	if (ret)
		return ret;
	filler->need.class = class;
	filler->need.stream = stream;
	fill_gather_lpn(ftl, filler, lpn);
	return filler->payload.count == ftl->program_units ? fill_flush_gathered_lpns(ftl, filler) :
							     0;
}

/* Draw a step coprime to @n: steps of that size from 0 reach every number below @n, modulo @n. */
static u32 draw_coprime_step_of_fill_order(u32 n, struct aftl_random *random)
{
	u32 step = (u32)aftl_random_below(random, n) | 1;
	u32 a;
	u32 b;

	for (;; step += 2) {
		for (a = step, b = n; b;) {
			u32 rest = a % b;

			a = b;
			b = rest;
		}
		if (a == 1)
			return max(step % n, 1U);
	}
}

/*
 * Number of logical pages to write between two calls of the host's pause(): so few that their L2P
 * entries stay in the processor's cache.
 */
#define ROUNDS_UNITS 16384U

/* Return true if all data of the fill have one class, as whole rounds of programs require. */
static bool fill_has_one_data_class(const struct aftl *ftl)
{
	return ftl->type->ignores_tags || !ftl->config.fill_approx ||
	       ftl->config.fill_approx == 10000;
}

static bool fill_may_program_in_rounds(const struct aftl *ftl, const struct filler *filler)
{
	return !filler->asks_always && fill_has_one_data_class(ftl) && !ftl->ops->programmed &&
	       ftl->allocation.rule.in_turn;
}

/* Prepare to program whole rounds, in the order of LUNs or of lpns. */
static void fill_init_rounds(struct aftl *ftl, struct filler *filler,
			     const struct aftl_fill_order *order)
{
	bool shuffled = ftl->config.fill == AFTL_FILL_RANDOM;

	filler->round = ftl->geo.luns * ftl->program_units;
	if (shuffled && ftl->allocation.rule.fixed) {
		filler->round = ftl->program_units;
		aftl_fill_static_init(ftl, &filler->fixed, order);
		if (!filler->fixed.luns)
			fill_begin_window(ftl, filler, order);
	} else if (shuffled) {
		aftl_fill_map_init(ftl, &filler->map, order);
	}
	if (filler->round && aftl_ftl_has_host_write_clock(ftl->type))
		filler->numbers = aftl_fill_order_inverse(order);
}

/* Count the programs in each LUN that the next @units logical pages fill. */
static u32 fill_count_next_programs_per_lun(const struct aftl *ftl, const struct filler *filler,
					    u32 units)
{
	u32 rounds;
	u32 i;

	rounds = min(units, max(ROUNDS_UNITS, filler->round)) / filler->round;
	for (i = 0; rounds && i < ftl->geo.luns; i++)
		rounds = min(rounds,
			     count_fill_programs_without_policy_call(ftl, filler, &ftl->luns[i]));
	return rounds;
}

/*
 * Commit @rounds programs in each LUN, one LUN after the other: the result is as if the LUNs took
 * turns. @write is the number of their first write in the fill.
 */
static void fill_commit_programs_of_all_luns(struct aftl *ftl, struct filler *filler,
					     struct aftl_fill_order order, u32 write, u32 rounds)
{
	u32 turn = ftl->allocation.rule.fixed ? order.at / ftl->program_units :
						ftl->allocation.turn;
	u32 *ppns = aftl_fill_map_get_ppns(&filler->map, write);
	u32 before = write / filler->round * ftl->program_units;
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++) {
		u32 place = (turn + i) % ftl->geo.luns;
		struct aftl_lun *lun = &ftl->luns[aftl_lun_by_allocation_order(&ftl->geo, place)];
		struct aftl_fill_run *run = &filler->runs[lun->index];
		aftl_ppn_t first = aftl_page_ppn(&ftl->media, run->block, run->page);
		u32 k;

		for (k = 0; ppns && k < ftl->program_units; k++)
			ppns[i * ftl->program_units + k] = from_ppn(first) + k - before;
		aftl_commit_first_fill_writes_of_lun(ftl, lun, run, order, rounds, !ppns);
		aftl_fill_order_advance_by_writes(&order, ftl->program_units);
	}
	if (ppns)
		aftl_fill_map_record_programs_of_all_luns(&filler->map, write, rounds,
							  filler->need.class);
}

/*
 * Commit as many of the next @units logical pages as whole rounds contain.
 *
 * Return: number of logical pages; 0 if the next write does not begin a round, or if the policy
 * must be asked for the next program.
 */
static u32 fill_commit_rounds(struct aftl *ftl, struct filler *filler,
			      const struct aftl_fill_order *order, u32 units)
{
	u32 write = order->units - units;
	u32 done;

	if (!filler->round || filler->payload.count || write % filler->round)
		return 0;
	if (filler->fixed.luns) {
		done = aftl_fill_static_skip_to_policy_call(ftl, &filler->fixed, filler->runs);
	} else if (filler->window.entries) {
		done = aftl_fill_window_commit_programs(ftl, &filler->window, filler->runs, order,
							units);
	} else {
		u32 rounds = fill_count_next_programs_per_lun(ftl, filler, units);

		if (rounds)
			fill_commit_programs_of_all_luns(ftl, filler, *order, write, rounds);
		done = rounds * filler->round;
	}
	if (filler->numbers.units)
		aftl_ftl_add_to_host_write_clock(ftl->policy, done);
	ftl->seq += done;
	/* Skip the random numbers that would choose the class of each logical page. */
	aftl_random_skip_draws(&filler->random, done);
	return done;
}

static int fill_write_next_lpn(struct aftl *ftl, struct filler *filler,
			       const struct aftl_fill_order *order)
{
	int ret = 0;

	if (!filler->fixed.luns)
		aftl_prefetch_l2p_entry(ftl,
					aftl_fill_order_next_lpn(order, order->at, filler->ahead));
	else if (!aftl_fill_static_has_room(ftl, &filler->fixed))
		ret = fill_go_on_with_window(ftl, filler);
	if (!ret)
		ret = fill_add_lpn_to_payload(ftl, filler, to_lpn(order->at),
					      draw_lpn_data_class(ftl, filler));
	if (filler->fixed.luns && !ret)
		aftl_fill_static_continue(ftl, &filler->fixed, filler->runs);
	else if (filler->window.entries)
		aftl_fill_window_skip_write(&filler->window);
	return ret;
}

static int fill_write_next_lpns(struct aftl *ftl, struct filler *filler,
				struct aftl_fill_order *order, u32 *units)
{
	u32 done;
	int ret;

	order->seq = ftl->seq;
	if (aftl_fill_window_is_full(&filler->window))
		aftl_fill_window_store_l2p_entries(ftl, &filler->window);
	done = fill_commit_rounds(ftl, filler, order, *units);
	if (done) {
		ret = aftl_call_pause_callback(ftl);
	} else {
		done = 1;
		ret = fill_write_next_lpn(ftl, filler, order);
	}
	aftl_fill_order_advance_by_writes(order, done);
	*units -= done;
	return ret;
}

static int fill_write_every_lpn(struct aftl *ftl, struct filler *filler, u32 units)
{
	struct aftl_fill_order order = { .units = units, .step = 1 };
	int ret = 0;

	if (ftl->config.fill == AFTL_FILL_RANDOM) {
		order.step = draw_coprime_step_of_fill_order(units, &filler->random);
		order.at = (u32)aftl_random_below(&filler->random, units);
	}
	if (fill_may_program_in_rounds(ftl, filler))
		fill_init_rounds(ftl, filler, &order);
	filler->ahead = (u32)((u64)PREFETCH_DISTANCE * order.step % units);
	while (!ret && units)
		ret = fill_write_next_lpns(ftl, filler, &order, &units);
	if (!ret)
		ret = store_l2p_entries_recorded_by_fill(ftl, filler);
	aftl_fill_window_free(ftl, &filler->window);
	return ret;
}

/* Overwrites that are drawn in advance, so that the prefetches of their L2P entries overlap. */
#define DRAWN 32U

struct drawn {
	u32 unit;
	u32 class;
};

static void draw_fill_overwrites(struct aftl *ftl, struct filler *filler, u32 units,
				 struct drawn *drawn, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		drawn[i].unit = (u32)aftl_random_below(&filler->random, units);
		drawn[i].class = draw_lpn_data_class(ftl, filler);
		aftl_prefetch_l2p_entry(ftl, drawn[i].unit);
	}
	for (i = 0; i < count; i++)
		aftl_prefetch_ppn_state(ftl, drawn[i].unit, false);
}

/* Time per overwrite if LUNs program in parallel and GC takes no time; determines block ages. */
static u64 compute_fill_write_ns(const struct aftl *ftl)
{
	return max(div64_u64(ftl->chip.program_ns[AFTL_MODE_NORMAL],
			     (u64)ftl->geo.luns * ftl->program_units), 1ULL);
}

static u64 fill_count_overwrites(const struct aftl *ftl, u32 units)
{
	return div64_u64(units * ftl->config.fill_overwrite, 10000);
}

static int fill_overwrite_drawn_lpns(struct aftl *ftl, struct filler *filler, u32 units)
{
	u64 writes = fill_count_overwrites(ftl, units);
	u64 write_ns = compute_fill_write_ns(ftl);
	struct drawn drawn[DRAWN];
	int ret = 0;

	while (!ret && writes) {
		u32 count = min_t(u64, writes, DRAWN);
		u32 i;

		draw_fill_overwrites(ftl, filler, units, drawn, count);
		for (i = 0; i < count && !ret; i++) {
			ret = fill_add_lpn_to_payload(ftl, filler, to_lpn(drawn[i].unit),
						      drawn[i].class);
			ftl->fill_left_ns -= write_ns;
		}
		writes -= count;
	}
	return ret;
}

/* Complete all pending fine passes of host data, so that none is pending at the first request. */
static void fill_finish_fine_passes(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		while (ftl->luns[i].fine_pending_writes)
			pad_foggy_pass_untimed(ftl, &ftl->luns[i], false);
}

/* Program all dirty translation pages. */
static int fill_finish_cmt_evictions(struct aftl *ftl, struct filler *filler)
{
	int ret;
	u32 i;

	if (ftl->geo.trans_pages)
		aftl_cmt_queue_dirty_pages(ftl);
	ret = program_cmt_evictions_untimed(ftl, filler, 1);
	for (i = 0; i < ftl->geo.luns; i++)
		aftl_cmt_recache_pages_without_fine_pass(ftl, &ftl->luns[i]);
	return ret;
}

/* The struct is too large for the stack of a kernel. Return: NULL if there is no memory. */
static struct filler *alloc_filler(struct aftl *ftl)
{
	struct filler *filler = aftl_memory_alloc(ftl, 1, sizeof(*filler));

	if (!filler)
		return NULL;
	filler->runs = aftl_memory_alloc(ftl, ftl->geo.luns, sizeof(*filler->runs));
	if (!filler->runs) {
		aftl_memory_free(ftl, filler);
		return NULL;
	}
	filler->random.state = aftl_hash64(ftl->config.seed ^ 0xf111);
	filler->asks_always = fill_must_ask_policy_per_program(ftl);
	fill_init_payload(&filler->payload);
	return filler;
}

static void free_filler(struct aftl *ftl, struct filler *filler)
{
	aftl_fill_map_free(ftl, &filler->map);
	aftl_fill_static_free(ftl, &filler->fixed);
	aftl_memory_free(ftl, filler->runs);
	aftl_memory_free(ftl, filler);
}

int aftl_precondition(struct aftl *ftl)
{
	u32 units = (u32)div64_u64(ftl->geo.units * ftl->config.fill_valid, 10000);
	u64 age_ns = ftl->age_ns;
	struct filler *filler;
	int ret;

	if (ftl->config.fill == AFTL_FILL_NONE || !units)
		return 0;
	filler = alloc_filler(ftl);
	if (!filler)
		return -ENOMEM;
	/* The data are written at age 0; the configured age passes afterwards. */
	ftl->age_ns = 0;
	ftl->filling = true;
	/* No device time passes, but victim selectors use block ages: let an assumed time pass. */
	ftl->fill_left_ns = fill_count_overwrites(ftl, units) * compute_fill_write_ns(ftl);
	ftl->allocation.turn = 0;
	ret = fill_write_every_lpn(ftl, filler, units);
	if (!ret)
		ret = fill_overwrite_drawn_lpns(ftl, filler, units);
	if (!ret)
		ret = fill_flush_gathered_lpns(ftl, filler);
	if (!ret) {
		fill_finish_fine_passes(ftl);
		ret = fill_finish_cmt_evictions(ftl, filler);
	}
	free_filler(ftl, filler);
	ftl->filling = false;
	ftl->fill_left_ns = 0;
	ftl->allocation.turn = aftl_get_first_allocation_position(&ftl->geo);
	ftl->age_ns = age_ns;
	aftl_reset_stats(ftl);
	return ret;
}
