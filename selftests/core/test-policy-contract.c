// SPDX-License-Identifier: GPL-2.0-only
/*
 * Illegal policy decisions are refused and counted, and no data are lost.
 */
#include <stdlib.h>

#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/policy-instance.h"
#include "core/policy/ftl-policy.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

/* Kinds of illegal decisions that the misbehaving policy makes. */
enum wildness {
	WILD_PLACE = 1,
	WILD_COPY = 2,
	WILD_CHORE = 4,
	WILD_ANSWERS = 8,
	WILD_SHORT = 16,
	WILD_CARRY = 32,
	WILD_VICTIM = 64,
	WILD_LUN = 128,
	WILD_MIX = 256,
	WILD_LEAVE = 512,
	WILD_CLOSE = 1024,
	WILD_LESS = 2048,
	WILD_SQUAT = 4096,
	WILD_ALL = WILD_PLACE | WILD_COPY | WILD_CHORE | WILD_ANSWERS | WILD_VICTIM | WILD_LUN,
};

#define CARRY 4
#define WILD_STREAMS 3

struct wild {
	struct aftl_policy policy;
	struct aftl_random random;
	struct aftl_block *open[64];
	struct aftl_piggyback piggyback[CARRY];
	struct aftl_block *less[64];
};

static u32 wildness;
static u32 wrong_places;
static u32 closings;
static struct test_device device;

static struct wild *to_wild(struct aftl_policy *policy)
{
	return container_of(policy, struct wild, policy);
}

static bool create_misbehaving_policy(struct aftl_policy *policy)
{
	to_wild(policy)->random.state = 4711;
	return true;
}

static void misbehaving_forget_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct wild *wild = to_wild(policy);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wild->open); i++)
		if (wild->open[i] == block)
			wild->open[i] = NULL;
	for (i = 0; i < ARRAY_SIZE(wild->less); i++)
		if (wild->less[i] == block)
			wild->less[i] = NULL;
}

static u32 draw_misbehaviour(struct wild *wild, u32 n)
{
	return aftl_random_below(&wild->random, n);
}

static struct aftl_block *any_block(struct wild *wild)
{
	const struct aftl_media *media = aftl_policy_media(&wild->policy);

	return draw_misbehaviour(wild, 9) ?
		       &media->blocks[draw_misbehaviour(wild, media->geo->blocks)] :
		       NULL;
}

/* Propose a page of a block on another LUN, which would be legal there. */
static bool propose_block_of_next_lun(struct wild *wild, struct aftl_lun *lun,
				      struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(&wild->policy);

	placement->block = wild->open[(aftl_lun_index(lun) + 1) % geo->luns];
	if (!placement->block)
		return false;
	placement->page = placement->block->frontier;
	placement->pages = geo->program_pages;
	return geo->luns > 1;
}

/* Propose an illegal page; aftl_place_sequential() proposes legal pages. */
static void propose_illegal_placement(struct wild *wild, struct aftl_lun *lun,
				      struct aftl_placement *placement)
{
	const struct aftl_media *media = aftl_policy_media(&wild->policy);
	struct aftl_block *mine = wild->open[aftl_lun_index(lun)];
	struct aftl_block *block = draw_misbehaviour(wild, 2) ? mine : any_block(wild);

	wrong_places++;
	if (draw_misbehaviour(wild, 4) == 0 && propose_block_of_next_lun(wild, lun, placement))
		return;
	placement->block = block;
	placement->page = draw_misbehaviour(wild, media->geo->pages + 3);
	if (draw_misbehaviour(wild, 3) == 0)
		placement->page = U32_MAX - draw_misbehaviour(wild, 3);
	placement->pages = draw_misbehaviour(wild, 3) ? media->geo->program_pages :
							draw_misbehaviour(wild, 9);
	placement->mode = draw_misbehaviour(wild, 2) ? AFTL_MODE_NORMAL :
						       draw_misbehaviour(wild, 20);
	if (block && placement->page == block->frontier)
		placement->page++;
}

/* Add arbitrary pages to a program of host data; the core may take or refuse each page. */
static void add_random_pages_to_host_program(struct wild *wild, struct aftl_placement *placement)
{
	u32 pages = aftl_policy_geometry(&wild->policy)->pages;
	struct aftl_block *from = any_block(wild);
	u32 i;

	placement->piggyback = wild->piggyback;
	placement->piggybacked = draw_misbehaviour(wild, CARRY);
	if (draw_misbehaviour(wild, 30) == 0)
		placement->piggybacked = U32_MAX;
	for (i = 0; i < CARRY; i++) {
		wild->piggyback[i].from = draw_misbehaviour(wild, 4) ? from : any_block(wild);
		wild->piggyback[i].page =
			draw_misbehaviour(wild, 40) ? draw_misbehaviour(wild, pages) : U32_MAX;
	}
	if (draw_misbehaviour(wild, 4) == 0)
		wild->piggyback[1] = wild->piggyback[0];
}

/*
 * Place data into a block of one bit per cell, sometimes illegally: relocated data or another mode.
 * A block's last program step stays legal, because its refusal would close the block.
 */
static bool propose_program_in_one_bit_block(struct wild *wild, struct aftl_lun *lun,
					     const struct aftl_program_request *need,
					     struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(&wild->policy);
	struct aftl_block **less = &wild->less[aftl_lun_index(lun)];
	bool wrong = need->cause != AFTL_CAUSE_HOST;

	if (!*less)
		*less = aftl_policy_open_sparse_block(&wild->policy, lun, need, 1, 0);
	if (!*less || (wrong && aftl_is_last_program_step(geo, *less)))
		return false;
	CHECK_EQ(aftl_place_sequential(&wild->policy, lun, need, less, 0, placement), 0);
	if (*less && !draw_misbehaviour(wild, 4)) {
		placement->mode = (placement->mode + 1 + draw_misbehaviour(wild, 20)) % 20;
		wrong |= placement->mode != AFTL_MODE_SLC;
	}
	wrong_places += wrong;
	return true;
}

/* Find an open block of @lun that has translation pages, and so belongs to the core. */
static struct aftl_block *find_open_core_block(struct wild *wild, const struct aftl_lun *lun)
{
	const struct aftl_media *media = aftl_policy_media(&wild->policy);
	u32 first = aftl_lun_index(lun) * media->geo->blocks_per_lun;
	u32 i;

	for (i = first; i < first + media->geo->blocks_per_lun; i++)
		if (media->blocks[i].handle && media->blocks[i].state == AFTL_BLOCK_OPEN &&
		    media->blocks[i].programmed)
			return &media->blocks[i];
	return NULL;
}

/* Propose a block of the core, or a translation page for a program of host data: both illegal. */
static int propose_program_in_reserved_block(struct wild *wild, struct aftl_lun *lun,
					     const struct aftl_program_request *need,
					     struct aftl_placement *placement)
{
	struct aftl_block **open = &wild->open[aftl_lun_index(lun)];
	struct aftl_block *block = find_open_core_block(wild, lun);
	bool host = need->cause == AFTL_CAUSE_HOST;
	int ret;

	if (!block || (host && draw_misbehaviour(wild, 2)))
		return aftl_place_sequential(&wild->policy, lun, need, block ? &block : open, 0,
					     placement);
	ret = aftl_place_sequential(&wild->policy, lun, need, open, 0, placement);
	if (ret || !*open || !host)
		return ret;
	wild->piggyback[0] =
		(struct aftl_piggyback){ .from = block,
					 .page = draw_misbehaviour(wild, block->frontier) };
	placement->piggyback = wild->piggyback;
	placement->piggybacked = 1;
	return 0;
}

static bool does_placement_use_block_of_core(const struct aftl_placement *placement)
{
	return placement->piggybacked || placement->block->handle;
}

static int misbehaving_place_page(struct aftl_policy *policy, struct aftl_lun *lun,
				  const struct aftl_program_request *need,
				  struct aftl_placement *placement)
{
	struct wild *wild = to_wild(policy);
	int ret;

	if (wildness & WILD_SQUAT && draw_misbehaviour(wild, 3) == 0) {
		ret = propose_program_in_reserved_block(wild, lun, need, placement);
		wrong_places += !ret && does_placement_use_block_of_core(placement);
		return ret;
	}
	if (wildness & WILD_PLACE && draw_misbehaviour(wild, 4) == 0) {
		propose_illegal_placement(wild, lun, placement);
		return 0;
	}
	/* Report a lack of blocks only if GC can free some: else the device becomes read-only. */
	if (wildness & WILD_CLOSE && need->cause == AFTL_CAUSE_HOST &&
	    lun->free_blocks < lun->good_blocks / 2 && draw_misbehaviour(wild, 8) == 0)
		return -ENOSPC;
	if (wildness & WILD_LESS && draw_misbehaviour(wild, 3) &&
	    propose_program_in_one_bit_block(wild, lun, need, placement))
		return 0;
	ret = aftl_place_sequential(policy, lun, need, &wild->open[aftl_lun_index(lun)], 0,
				    placement);
	if (!ret && wildness & WILD_SHORT && draw_misbehaviour(wild, 8) == 0)
		placement->pages = 1;
	/* A block's last program step must not be refused: the block is closed after it. */
	if (!ret && wildness & WILD_CARRY && wild->open[aftl_lun_index(lun)])
		add_random_pages_to_host_program(wild, placement);
	return ret;
}

/* The policy closes any block, whether the block belongs to the policy or not. */
static void misbehaving_close_any_block(struct aftl_policy *policy, struct aftl_lun *lun)
{
	struct aftl_block *const blocks[] = {
		to_wild(policy)->open[aftl_lun_index(lun)], lun->fallback, lun->slc_open,
		any_block(to_wild(policy)),
	};
	struct aftl_block *block = blocks[draw_misbehaviour(to_wild(policy), ARRAY_SIZE(blocks))];

	if (!(wildness & WILD_CLOSE) || !block)
		return;
	closings += block->state == AFTL_BLOCK_OPEN;
	misbehaving_forget_block(policy, block);
	aftl_policy_close_block(policy, block);
}

/* The policy refuses some relocations, and names invalid write streams and data classes. */
static bool misbehaving_answer_relocation(struct aftl_policy *policy,
					  const struct aftl_relocation *move, u32 *class,
					  u32 *stream)
{
	struct wild *wild = to_wild(policy);

	if (wildness & WILD_MIX)
		return true;
	if (wildness & WILD_LEAVE)
		return move->class == move->pass && draw_misbehaviour(wild, 2);
	if (!(wildness & WILD_COPY))
		return move->class == move->pass;
	*class = draw_misbehaviour(wild, 2);
	*stream = draw_misbehaviour(wild, 100);
	wrong_places += *stream >= WILD_STREAMS;
	return draw_misbehaviour(wild, 2);
}

static void misbehaving_offer_any_task(struct aftl_policy *policy, struct aftl_lun *lun,
				       struct aftl_idle_task *task)
{
	struct wild *wild = to_wild(policy);

	if (!(wildness & WILD_CHORE))
		return;
	task->kind = draw_misbehaviour(wild, AFTL_IDLE_TASK_RELOCATE + 2);
	task->page = draw_misbehaviour(wild, 9) ? draw_misbehaviour(wild, 20) :
						  U32_MAX - draw_misbehaviour(wild, 5);
	task->pages = draw_misbehaviour(wild, 9) ? draw_misbehaviour(wild, 20) :
						   U32_MAX - draw_misbehaviour(wild, 5);
	task->lpn = to_lpn(draw_misbehaviour(wild, 2) ? draw_misbehaviour(wild, 1000) : U32_MAX);
	task->block = any_block(wild);
}

static u32 misbehaving_choose_stream(struct aftl_policy *policy,
				     const struct aftl_host_write *write)
{
	u32 answer = wildness & WILD_ANSWERS ? draw_misbehaviour(to_wild(policy), 100) : 0;

	wrong_places += answer >= WILD_STREAMS;
	return answer;
}

static u32 misbehaving_rank_victim(struct aftl_policy *policy, struct aftl_lun *lun,
				   const struct aftl_block *block)
{
	return wildness & WILD_ANSWERS ? U32_MAX : draw_misbehaviour(to_wild(policy), 100);
}

static struct aftl_block *wild_select_victim(struct aftl_policy *policy,
					     const struct aftl_victim_candidates *closed)
{
	return wildness & WILD_VICTIM && draw_misbehaviour(to_wild(policy), 2) ?
		       any_block(to_wild(policy)) :
		       NULL;
}

static u32 misbehaving_choose_lun(struct aftl_policy *policy,
				  const struct aftl_lun_request *binding)
{
	struct wild *wild = to_wild(policy);

	if (wildness & WILD_LUN)
		return draw_misbehaviour(wild, 3) ?
			       draw_misbehaviour(wild, 2 * aftl_policy_geometry(policy)->luns) :
			       U32_MAX;
	return aftl_lun_request_get_lun(binding, binding->turn);
}

static bool misbehaving_accept_free_block(struct aftl_policy *policy,
					  const struct aftl_block *block)
{
	return !(wildness & WILD_ANSWERS);
}

static bool misbehaving_judge_program(struct aftl_policy *policy, struct aftl_lun *lun,
				      const struct aftl_placement *placement,
				      const struct aftl_program_result *outcome)
{
	return wildness & WILD_ANSWERS && draw_misbehaviour(to_wild(policy), 20) == 0;
}

static const struct aftl_policy_type wild_type = {
	.name = "wild",
	.about = "wrong wherever it can be",
	.kinds = { "wild" },
	.streams = { "tame", "wild", "strange" },
	.open_blocks = 1,
	.reserve = 3,
	.copy_passes = 2,
	.size = sizeof(struct wild),
	.create = create_misbehaving_policy,
	.closed = misbehaving_forget_block,
	.stream = misbehaving_choose_stream,
	.place = misbehaving_place_page,
	.out_of_blocks = misbehaving_close_any_block,
	.programmed = misbehaving_judge_program,
	.lun = misbehaving_choose_lun,
	.select_victim = wild_select_victim,
	.victim_rank = misbehaving_rank_victim,
	.relocate = misbehaving_answer_relocation,
	.accept_free = misbehaving_accept_free_block,
	.idle_task = misbehaving_offer_any_task,
};

#define SHAPE "channels=2 chips=1 blocks=40 layers=4 word_lines=4 op=60"

static void open_device_with_misbehaving_policy(u32 kind, const char *params)
{
	test_device_init(&device, "demo");
	wildness = kind;
	wrong_places = 0;
	test_device_open_with_policy_type(&device, &wild_type, params);
}

static void check_misbehaving_policy(u32 kind, const char *params, u32 requests)
{
	static struct shadow_store store;
	struct test_stream stream;
	u32 i;

	open_device_with_misbehaving_policy(kind, params);
	shadow_attach_to_device(&store, &device, false);
	test_stream_init(&stream, kind);
	stream.gap_ns = kind & WILD_CHORE ? 5000000 : 300000;
	for (i = 0; i < requests && !tap_failure_count(); i++) {
		test_stream_submit_request(&stream, &device);
		if (i % 64 == 0)
			shadow_compare_device_with_store(&store);
	}
	test_drain_requests(&device);
	shadow_compare_device_with_store(&store);
	CHECK_EQ(device.failed, 0);
}

static const char plain[] = SHAPE;
static const char one_shot[] = SHAPE " bits=3 one_shot=on";
static const char cached[] = SHAPE " bits=3 one_shot=on slc_static=5 slc_dynamic=20";
static const char buffered[] = SHAPE " buffer=64KiB";

static void check_misbehaviours_are_counted(u32 kind)
{
	static const char *const shapes[] = { plain, one_shot, buffered, cached };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shapes) && !tap_failure_count(); i++) {
		check_misbehaving_policy(kind, shapes[i], 6000);
		/* If a policy mixes write streams, the core warns once and asks it no more. */
		CHECK_EQ(test_counters(&device)->policy_bugs, wrong_places +
			 !!(wildness & (WILD_COPY | WILD_MIX | WILD_LEAVE)));
		CHECK(kind != WILD_PLACE || wrong_places > 500);
		test_device_close(&device);
	}
}

TAP_TEST(a_correct_policy_has_no_refused_proposals)
{
	check_misbehaviours_are_counted(0);
}

TAP_TEST(illegal_placements_are_refused_and_counted)
{
	check_misbehaviours_are_counted(WILD_PLACE);
}

TAP_TEST(illegal_relocation_answers_lose_no_data)
{
	check_misbehaviours_are_counted(WILD_COPY);
	check_misbehaviours_are_counted(WILD_MIX);
	check_misbehaviours_are_counted(WILD_LEAVE);
}

/* The core programs sparse blocks only with host data, and only in the mode of the block. */
TAP_TEST(sparse_blocks_take_host_writes_only)
{
	check_misbehaving_policy(WILD_LESS, SHAPE " bits=3 one_shot=on op=50%", 6000);
	CHECK_EQ(test_counters(&device)->policy_bugs, wrong_places);
	CHECK_RANGE(wrong_places, 300, U64_MAX);
	CHECK_RANGE(aftl_get_stats(device.ftl)->mode_pages[AFTL_MODE_SLC], 300, U64_MAX);
	test_device_close(&device);
}

TAP_TEST(invalid_idle_time_tasks_are_ignored)
{
	check_misbehaviours_are_counted(WILD_CHORE);
}

TAP_TEST(invalid_answers_of_a_policy_are_replaced)
{
	check_misbehaviours_are_counted(WILD_ANSWERS);
}

static u32 open_all_free_blocks(struct aftl_lun *lun, u32 cause)
{
	struct aftl_program_request need = { .cause = cause };

	device.ftl->placing_cause = cause;
	while (aftl_policy_open_block(device.ftl->policy, lun, &need, AFTL_ORDER_SEQUENTIAL, 0))
		;
	return lun->free_blocks;
}

TAP_TEST(only_relocation_may_use_the_reserve)
{
	open_device_with_misbehaving_policy(0, plain);
	CHECK_EQ(open_all_free_blocks(&device.ftl->luns[0], AFTL_CAUSE_HOST), wild_type.reserve);
	CHECK_EQ(open_all_free_blocks(&device.ftl->luns[0], AFTL_CAUSE_GC), 0);
	test_device_close(&device);
}

/* A host write may not use the GC reserve, even if the policy declares the write a relocation. */
TAP_TEST(a_host_write_declared_as_relocation_may_not_use_the_reserve)
{
	struct aftl_program_request need = { .cause = AFTL_CAUSE_GC };
	struct aftl_lun *lun;

	open_device_with_misbehaving_policy(0, plain);
	lun = &device.ftl->luns[0];
	CHECK_EQ(open_all_free_blocks(lun, AFTL_CAUSE_HOST), wild_type.reserve);
	CHECK(!aftl_policy_open_block(device.ftl->policy, lun, &need, AFTL_ORDER_SEQUENTIAL, 0));
	CHECK_EQ(lun->free_blocks, wild_type.reserve);
	CHECK_EQ(test_counters(&device)->policy_bugs, 1);
	test_device_close(&device);
}

/* A program of one page of a one-shot word line is refused, or does no harm. */
TAP_TEST(too_short_programs_lose_no_data)
{
	check_misbehaving_policy(WILD_SHORT, one_shot, 6000);
	test_device_close(&device);
}

/* The core programs or refuses each page that the policy piggybacks; no data are lost. */
TAP_TEST(piggybacked_pages_are_programmed_or_refused)
{
	check_misbehaving_policy(WILD_CARRY, one_shot, 6000);
	CHECK_RANGE(test_counters(&device)->policy_bugs, 500, U64_MAX);
	CHECK_RANGE(test_counters(&device)->programmed_rewrite_units, 20, U64_MAX);
	test_device_close(&device);
}

/* A policy must not use the core's blocks for translation pages, handles or zones. */
TAP_TEST(a_policy_cannot_use_blocks_of_the_core)
{
	check_misbehaving_policy(WILD_SQUAT, SHAPE " word_lines=16 page=512 unit=512 bits=2 "
				 "one_shot=on map_cache=8KiB", 6000);
	CHECK_EQ(test_counters(&device)->policy_bugs, wrong_places);
	CHECK_RANGE(wrong_places, 500, U64_MAX);
	test_device_close(&device);
}

TAP_TEST(a_policy_that_closes_arbitrary_blocks_loses_no_data)
{
	static const char *const shapes[] = { plain, cached };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		closings = 0;
		check_misbehaving_policy(WILD_CLOSE | WILD_PLACE, shapes[i], 6000);
		CHECK_RANGE(closings, 5, U32_MAX);
		test_device_close(&device);
	}
}

/* The core refuses open blocks, free blocks and blocks of other LUNs as GC victims. */
TAP_TEST(invalid_victims_are_refused)
{
	check_misbehaving_policy(WILD_VICTIM, plain, 6000);
	CHECK_RANGE(test_counters(&device)->policy_bugs, 100, U64_MAX);
	CHECK_RANGE(test_counters(&device)->gc_blocks, 50, U64_MAX);
	test_device_close(&device);
}

TAP_TEST(invalid_luns_are_refused)
{
	check_misbehaving_policy(WILD_LUN, plain, 6000);
	CHECK_RANGE(test_counters(&device)->policy_bugs, 1000, U64_MAX);
	test_device_close(&device);
}

TAP_TEST(all_illegal_decisions_together_lose_no_data)
{
	check_misbehaving_policy(WILD_ALL, plain, 6000);
	test_device_close(&device);
	check_misbehaving_policy(WILD_ALL, buffered, 6000);
	test_device_close(&device);
}

/* Policy state */

static const struct aftl_policy_type part_type = {
	.name = "part",
	.arrays = {
		{ .count = 3, .width = 1, .each = AFTL_PER_LUN },
		{ .count = 1, .width = 8, .each = AFTL_PER_LAYER },
	},
};

static bool create_complete_policy(struct aftl_policy *policy)
{
	return aftl_policy_part(policy, &part_type);
}

static bool refuse_to_create_policy(const struct aftl_policy *policy)
{
	return false;
}

static struct aftl_policy_type make_stateful_policy_type(void)
{
	struct aftl_policy_type type = wild_type;

	type.create = create_complete_policy;
	type.arrays[0] = (struct aftl_policy_array){ .count = 3, .width = 2, .each = AFTL_PER_LPN };
	type.arrays[1] = (struct aftl_policy_array){ .count = 5,
						     .width = 4,
						     .each = AFTL_PER_LUN_LAYER };
	return type;
}

static int create_device_with_policy_type(const struct aftl_policy_type *type)
{
	test_device_init(&device, "demo");
	test_device_set_params(&device, plain);
	wildness = 0;
	return aftl_create(&device.ftl, &device.config, type, &device.ops, &device, &device.error);
}

/* Size in bytes that an array has by its declaration in the policy. */
static u64 get_policy_array_bytes(const struct aftl_policy_array *array)
{
	const struct aftl_geometry *geo = &device.ftl->geo;
	const u64 shares[] = { geo->luns, geo->luns * geo->layers, geo->blocks,
			       geo->blocks * geo->layers, geo->units, 1 };

	return shares[array->each] * array->count * array->width;
}

static void randomize_policy_arrays(u64 seed)
{
	struct aftl_random random = { seed };
	const struct aftl_policy *policy;
	u64 at;
	u32 i;

	for (policy = device.ftl->policy; policy; policy = policy->next)
		for (i = 0; i < AFTL_ARRAYS_MAX; i++)
			for (at = 0; at < get_policy_array_bytes(&policy->type->arrays[i]); at++)
				((u8 *)policy->arrays[i])[at] = (u8)aftl_random_next(&random);
}

static void check_randomized_policy_arrays(u64 seed)
{
	struct aftl_random random = { seed };
	const struct aftl_policy *policy;
	u32 wrong = 0;
	u64 at;
	u32 i;

	for (policy = device.ftl->policy; policy; policy = policy->next)
		for (i = 0; i < AFTL_ARRAYS_MAX; i++)
			for (at = 0; at < get_policy_array_bytes(&policy->type->arrays[i]); at++)
				wrong += ((u8 *)policy->arrays[i])[at] !=
					 (u8)aftl_random_next(&random);
	CHECK_EQ(wrong, 0);
}

/* All arrays of a policy, and of the policy that it contains, are saved and restored. */
TAP_TEST(policy_state_is_saved_and_restored)
{
	struct aftl_policy_type type = make_stateful_policy_type();
	struct aftl_policy *policy;
	u64 count = 0;
	u64 *words;
	u64 i;

	if (create_device_with_policy_type(&type))
		tap_bail_out("%s", device.error.text);
	policy = device.ftl->policy;
	words = calloc(1 << 20, sizeof(*words));
	randomize_policy_arrays(5);
	while (count < 1 << 20 && aftl_policy_instance_save(policy, count, &words[count]))
		count++;
	CHECK_EQ(count, DIV_ROUND_UP(get_policy_array_bytes(&type.arrays[0]), 8) +
		 DIV_ROUND_UP(get_policy_array_bytes(&type.arrays[1]), 8) +
		 DIV_ROUND_UP(get_policy_array_bytes(&part_type.arrays[0]), 8) +
		 get_policy_array_bytes(&part_type.arrays[1]) / 8);
	randomize_policy_arrays(6);
	for (i = 0; i < count + 3; i++)
		aftl_policy_instance_restore(policy, i, i < count ? words[i] : U64_MAX);
	check_randomized_policy_arrays(5);
	free(words);
	test_device_close(&device);
}

/* An array that the policy does not want takes no memory and is not saved. */
TAP_TEST(unwanted_policy_arrays_are_not_allocated)
{
	struct aftl_policy_type type = wild_type;
	u64 memory;
	u64 word;

	CHECK_EQ(create_device_with_policy_type(&type), 0);
	memory = aftl_memory_bytes(device.ftl);
	test_device_close(&device);
	type.arrays[0] = (struct aftl_policy_array){ .count = 9, .width = 8, .each = AFTL_PER_LPN };
	CHECK_EQ(create_device_with_policy_type(&type), 0);
	CHECK_RANGE(aftl_memory_bytes(device.ftl), memory + get_policy_array_bytes(&type.arrays[0]),
		    memory + get_policy_array_bytes(&type.arrays[0]) + 64);
	test_device_close(&device);
	type.arrays[0].wanted = refuse_to_create_policy;
	CHECK_EQ(create_device_with_policy_type(&type), 0);
	CHECK(!device.ftl->policy->arrays[0] &&
	      !aftl_policy_instance_save(device.ftl->policy, 0, &word));
	CHECK_EQ(aftl_memory_bytes(device.ftl), memory);
	test_device_close(&device);
}

TAP_TEST(invalid_policy_arrays_are_refused)
{
	static const struct aftl_policy_array arrays[] = {
		{ .count = 1, .width = 3, .each = AFTL_PER_LPN },
		{ .count = 1, .width = 0, .each = AFTL_PER_LPN },
		{ .count = 1, .width = 16, .each = AFTL_PER_LPN },
		{ .count = 1, .width = 255, .each = AFTL_PER_LPN },
		{ .count = 1, .width = 4, .each = AFTL_ARRAY_SCOPES },
		{ .count = 1, .width = 4, .each = 255 },
	};
	struct aftl_policy_type type = wild_type;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(arrays); i++) {
		type.arrays[1] = arrays[i];
		CHECK_EQ(create_device_with_policy_type(&type), -EINVAL);
		CHECK_CONTAINS(device.error.text, "policy wild has an array of numbers of");
	}
}

TAP_TEST(every_policy_has_the_required_functions_and_names)
{
	unsigned int i;

	for (i = 0; aftl_policy_at(i); i++) {
		const struct aftl_policy_type *type = aftl_policy_at(i);

		CHECK(aftl_policy_find(type->name) == type);
		CHECK(type->about && type->about[0]);
		CHECK(type->place && !(type->ftl && type->stream));
		CHECK(type->kinds[0] && type->open_blocks && type->reserve);
		CHECK(type->copy_passes || !type->relocate);
		CHECK(type->streams[0] || !(type->stream || (type->ftl && type->ftl->stream)));
	}
	CHECK(i >= 7);
	CHECK(!aftl_policy_find("nonsense"));
	CHECK(!aftl_policy_at(1000));
}
