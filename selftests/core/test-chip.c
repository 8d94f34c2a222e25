// SPDX-License-Identifier: GPL-2.0-only
/*
 * No policy can gain by illegal or greedy commands: adversarial policies answer selfishly or at
 * random, and must pay the cost of each command.
 */
#include <stdlib.h>

#include "account.h"
#include "core/base/profiles.h"
#include "core/ftl/lun.h"
#include "core/ftl/program.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

/* An adversarial policy: a registered policy with some methods replaced. */
struct adversary {
	struct aftl_policy_type type;
	struct aftl_random random;
};

static struct test_device device;
static struct adversary adversary;

static void init_adversary_policy(const char *policy)
{
	adversary = (struct adversary){
		.type = *aftl_policy_find(policy),
		.random = { aftl_hash64(policy[0]) },
	};
}

static void open_device_with_adversary_policy(const char *params)
{
	test_device_init(&device, "demo");
	test_device_open_with_policy_type(&device, &adversary.type, params);
}

#define PRESSED "channels=2 chips=1 blocks=64 layers=4 word_lines=8 op=50"

static const char pressed[] = PRESSED;

/* Adversarial policies that take the page from a real policy, and choose mode and ISPP steps. */

static int (*place_honestly)(struct aftl_policy *policy, struct aftl_lun *lun,
			     const struct aftl_program_request *need,
			     struct aftl_placement *placement);

static void install_adversary_placement_method(const char *policy,
					       int (*place)(struct aftl_policy *policy,
							    struct aftl_lun *lun,
							    const struct aftl_program_request *need,
							    struct aftl_placement *placement))
{
	init_adversary_policy(policy);
	place_honestly = adversary.type.place;
	adversary.type.place = place;
}

static u32 get_checkerboard_colour_of_page(const struct aftl_policy *policy,
					   const struct aftl_placement *placement)
{
	return aftl_get_checkerboard_colour_of_page(aftl_policy_geometry(policy), placement->page,
						    placement->block->flip);
}

/* Mean program time of single precise writes. */
static u64 measure_mean_program_ns(const char *params)
{
	const struct aftl_counters *counters;
	u64 mean_ns;
	u32 i;

	open_device_with_adversary_policy(params);
	for (i = 0; i < 300; i++)
		test_execute_request(&device, AFTL_OP_WRITE, i * 8 % (test_unit_count(&device) - 8),
				     8, AFTL_PRECISE, NULL);
	counters = test_counters(&device);
	mean_ns = counters->array_program_ns / counters->array_programs;
	test_audit_device(&device);
	return mean_ns;
}

/* Use mode "between" only at pages that a checkerboard block programs in phase 2. */
static int use_between_mode_on_one_checkerboard_colour(struct aftl_policy *policy,
						       struct aftl_lun *lun,
						       const struct aftl_program_request *need,
						       struct aftl_placement *placement)
{
	int ret = place_honestly(policy, lun, need, placement);

	if (!ret && get_checkerboard_colour_of_page(policy, placement))
		placement->mode = AFTL_MODE_BETWEEN;
	return ret;
}

TAP_TEST(a_smaller_margin_beside_precise_pages_is_refused)
{
	install_adversary_placement_method("baseline", use_between_mode_on_one_checkerboard_colour);
	CHECK_RANGE(measure_mean_program_ns(pressed), 699000, 700000);
	CHECK(test_counters(&device)->policy_bugs > 50);
	test_device_close(&device);
}

/* Set up a block with programmed pages below @page; only page @between is in mode "between". */
static struct aftl_block *init_half_full_block(u32 page, u32 between)
{
	struct aftl_media *media = &device.ftl->media;
	struct aftl_block *block = &media->blocks[3];
	u32 i;

	*block = (struct aftl_block){ .state = AFTL_BLOCK_OPEN, .between = 1, .frontier = page };
	for (i = 0; i < media->geo->pages; i++)
		*aftl_page_attr_ptr(media, aftl_page_number_in_device(media, block, i)) =
			i < page ? aftl_page_attr(AFTL_PRECISE, i == between ? AFTL_MODE_BETWEEN :
						  AFTL_MODE_NORMAL, 0) : 0;
	return block;
}

/* A program disturbs pages beside it in its layer and in the next layer, but not diagonally. */
TAP_TEST(pages_couple_in_two_directions, "programs: a page couples to its layer and the next one")
{
	u32 layer;
	u32 page;

	init_adversary_policy("baseline");
	open_device_with_adversary_policy(pressed);
	layer = aftl_geometry(device.ftl)->word_lines;
	for (page = 0; page < 2 * layer; page++) {
		struct aftl_program_command program = {
			.page = 2 * layer + 3, .pages = 1, .mode = AFTL_MODE_NORMAL,
		};
		bool couples = page == layer + 3;

		program.block = init_half_full_block(program.page, page);
		CHECK_MSG(aftl_chip_allows_program(&device.ftl->chip, &program) == !couples,
			  "page %u above page %u", program.page, page);
		program.mode = AFTL_MODE_REDUCED;
		program.class = AFTL_APPROX;
		CHECK(aftl_chip_allows_program(&device.ftl->chip, &program));
		program = (struct aftl_program_command){
			.block = init_half_full_block(page + 1, page), .page = page + 1, .pages = 1,
		};
		CHECK_EQ(aftl_chip_allows_program(&device.ftl->chip, &program),
			 (page + 1) % layer == 0);
	}
	aftl_destroy(device.ftl);
}

/* If the core fills a checkerboard block in page order, its pages are disturbed, but not lost. */
TAP_TEST(the_fallback_block_takes_data_beside_unguarded_pages,
	 "programs: the fallback block takes data beside unguarded pages")
{
	struct aftl_program_request need = { .units = 1, .cause = AFTL_CAUSE_GC };
	struct aftl_placement placement;
	struct aftl_lun *lun;
	u32 page;

	init_adversary_policy("approxftl");
	open_device_with_adversary_policy(pressed);
	lun = &device.ftl->luns[0];
	lun->below_reserve = true;
	for (page = 1; page < 8; page++) {
		lun->fallback = init_half_full_block(page, page - 1);
		CHECK_EQ(aftl_program_place(device.ftl, lun, &need, &placement), 0);
		CHECK_EQ(placement.page, page);
	}
	aftl_destroy(device.ftl);
}

/* ISPP steps */

static struct aftl_ispp steps;

static int propose_program_with_ispp_steps(struct aftl_policy *policy, struct aftl_lun *lun,
					   const struct aftl_program_request *need,
					   struct aftl_placement *placement)
{
	int ret = place_honestly(policy, lun, need, placement);

	placement->ispp = steps;
	return ret;
}

/* Check that ISPP steps beyond the spare margin overshoot, and that reads then take retries. */
static void check_errors_of_large_ispp_steps(struct aftl_ispp greed, u64 program_ns)
{
	u32 i;

	steps = greed;
	install_adversary_placement_method("baseline", propose_program_with_ispp_steps);
	CHECK_EQ(measure_mean_program_ns(PRESSED " ecc_retry=45us"), program_ns);
	CHECK_EQ(test_counters(&device)->overshot_programs, test_counters(&device)->array_programs);
	CHECK_EQ(test_counters(&device)->policy_bugs, 0);
	for (i = 0; i < 100; i++)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, i, 1, 0, NULL), 0);
	CHECK(test_counters(&device)->read_retry_levels >= 2 * 100);
	test_device_close(&device);
}

TAP_TEST(steps_beyond_the_margin_cost_errors,
	 "programs: steps beyond the margin overshoot and cost read levels")
{
	check_errors_of_large_ispp_steps((struct aftl_ispp){ .start_mv = 234, .final_mv = 234 },
					 499047);
	check_errors_of_large_ispp_steps((struct aftl_ispp){ .final_mv = 468 }, 499047);
}

/* A program that skips four verifies overshoots, except in slow layers. */
TAP_TEST(needed_verifies_cannot_be_skipped, "programs: skipping a needed verify overshoots")
{
	const struct aftl_counters *counters;

	steps = (struct aftl_ispp){ .skip = 4 };
	install_adversary_placement_method("baseline", propose_program_with_ispp_steps);
	CHECK_EQ(measure_mean_program_ns(pressed), 539906);
	counters = test_counters(&device);
	CHECK_RANGE(counters->overshot_programs, counters->array_programs * 6 / 10,
		    counters->array_programs * 9 / 10);
	test_device_close(&device);
	steps.skip = 2;
	CHECK_EQ(measure_mean_program_ns(pressed), 626624);
	CHECK_EQ(test_counters(&device)->overshot_programs, 0);
	test_device_close(&device);
}

/* A program mode with less guard band or voltage has no margin for larger ISPP steps. */
TAP_TEST(margins_are_spent_once, "programs: modes with less margin overshoot with large steps")
{
	steps = (struct aftl_ispp){ .final_mv = 117 };
	install_adversary_placement_method("tvr", propose_program_with_ispp_steps);
	CHECK_EQ(measure_mean_program_ns(PRESSED " tvr_mode=device"), 350000 * 651429ULL / 700000);
	CHECK_EQ(test_counters(&device)->overshot_programs, test_counters(&device)->array_programs);
	test_device_close(&device);
	install_adversary_placement_method("baseline", propose_program_with_ispp_steps);
	measure_mean_program_ns(pressed);
	CHECK_EQ(test_counters(&device)->overshot_programs, 0);
	test_device_close(&device);
}

/* A layer's properties must depend on its erases only, not on how often they were queried. */
TAP_TEST(queries_do_not_change_layer_properties,
	 "programs: layer properties do not depend on queries")
{
	static struct aftl_chip fresh;
	u32 i;

	init_adversary_policy("baseline");
	open_device_with_adversary_policy(pressed);
	for (i = 0; i < 4000; i++) {
		u32 index = aftl_random_below(&adversary.random, device.ftl->geo.blocks);
		u32 page = aftl_random_below(&adversary.random, device.ftl->geo.pages);
		struct aftl_block *block = &device.ftl->media.blocks[index];
		struct aftl_program_result told = aftl_chip_monitor(&device.ftl->chip, block, page);

		aftl_chip_init(&fresh, &device.ftl->media, &device.ftl->config);
		CHECK_EQ(told.errors, aftl_chip_monitor(&fresh, block, page).errors);
		CHECK_EQ(told.early, aftl_chip_monitor(&fresh, block, page).early);
		block->erases += i % 4 == 0;
	}
	aftl_destroy(device.ftl);
}

/* Policies with illegal or greedy commands run; each operation and byte of data is checked. */

/* Bits that select the parameters of a device whose policy issues illegal commands. */
enum { AGED = 1, VOLTAGE = 2, NO_ERRORS = 4, CONDITIONS = 8 };

static struct account account;

/* Number of illegal answers of the policy that the core must count as refused. */
static u64 wild;

/* Number of illegal or greedy programs that the current policy requested. */
static u64 wanted;

/* Totals over all attacks. */
static struct {
	u64 programs;
	u64 erases;
	u64 reads;
	u64 relaxed;
} total;

static u32 draw_adversary_number(u32 n)
{
	return aftl_random_below(&adversary.random, n);
}

static struct aftl_block *draw_any_block(void)
{
	return &device.ftl->media.blocks[draw_adversary_number(device.ftl->geo.blocks)];
}

static bool always_choose_shallow_erase(struct aftl_policy *policy, const struct aftl_block *block)
{
	account_shallow_erase(&account, block, true);
	return true;
}

static bool choose_shallow_erase_at_random(struct aftl_policy *policy,
					   const struct aftl_block *block)
{
	bool gentle = draw_adversary_number(2);

	account_shallow_erase(&account, block, gentle);
	return gentle;
}

static u32 choose_any_lun(struct aftl_policy *policy, const struct aftl_lun_request *binding)
{
	u32 lun = draw_adversary_number(4) ? draw_adversary_number(aftl_policy_count_luns(policy)) :
					     draw_adversary_number(1000);

	wild += lun >= aftl_policy_count_luns(policy);
	return lun;
}

static struct aftl_block *select_any_victim(struct aftl_policy *policy,
					    const struct aftl_victim_candidates *closed)
{
	struct aftl_block *block = draw_adversary_number(4) ? draw_any_block() : NULL;

	wild += block && !aftl_victim_candidates_contain(closed, block);
	return block;
}

static void choose_any_idle_task(struct aftl_policy *policy, struct aftl_lun *lun,
				 struct aftl_idle_task *task)
{
	*task = (struct aftl_idle_task){
		.kind = draw_adversary_number(6),
		.lpn = to_lpn(draw_adversary_number(2 * test_unit_count(&device))),
		.block = draw_adversary_number(8) ? draw_any_block() : NULL,
		.page = draw_adversary_number(100),
		.pages = draw_adversary_number(100),
	};
}

static bool accept_free_block_at_random(struct aftl_policy *policy, const struct aftl_block *block)
{
	return !draw_adversary_number(8);
}

static void close_any_block(struct aftl_policy *policy, struct aftl_lun *lun)
{
	u32 i;

	for (i = 0; i < 8; i++)
		aftl_policy_close_block(policy, draw_any_block());
}

static bool repeat_programs_at_random(struct aftl_policy *policy, struct aftl_lun *lun,
				      const struct aftl_placement *placement,
				      const struct aftl_program_result *outcome)
{
	return !draw_adversary_number(30);
}

/* Policy method that returns an arbitrary data class, such as approximate for precise data. */
static bool choose_random_relocation(struct aftl_policy *policy, const struct aftl_relocation *move,
				     u32 *class, u32 *stream)
{
	*stream = draw_adversary_number(1000);
	*class = draw_adversary_number(1000);
	return draw_adversary_number(3);
}

static void record_time_of_chip_command(struct aftl_policy *policy,
					const struct aftl_program_command *program,
					struct aftl_placement *placement, u64 *least_ns)
{
	struct aftl_program_result outcome;

	if (!aftl_chip_allows_program(policy->core->chip, program))
		return;
	aftl_chip_program(policy->core->chip, program, &outcome);
	if (outcome.ns >= *least_ns)
		return;
	*least_ns = outcome.ns;
	placement->mode = program->mode;
	placement->ispp = program->ispp;
}

/* Choose the fastest mode and ISPP steps that the chip allows. */
static int place_data_with_fastest_legal_mode(struct aftl_policy *policy, struct aftl_lun *lun,
					      const struct aftl_program_request *need,
					      struct aftl_placement *placement)
{
	static const struct aftl_ispp best[] = { { 0 }, { 234, 234, 4 }, { 58, 59, 0 } };
	int ret = place_honestly(policy, lun, need, placement);
	struct aftl_program_command program = {
		.block = placement->block,
		.page = placement->page,
		.pages = placement->pages,
		.class = need->class,
	};
	u64 least_ns = U64_MAX;
	u32 i;

	for (; !ret && program.mode < AFTL_MODES; program.mode++)
		for (i = 0; i < ARRAY_SIZE(best); i++) {
			program.ispp = best[i];
			record_time_of_chip_command(policy, &program, placement, &least_ns);
		}
	return ret;
}

static int place_data_with_random_mode(struct aftl_policy *policy, struct aftl_lun *lun,
				       const struct aftl_program_request *need,
				       struct aftl_placement *placement)
{
	int ret = place_honestly(policy, lun, need, placement);
	/* Keep a block's last program step legal, because its refusal would close the block. */
	bool refusable = !ret && placement->block->programmed + 2 * placement->pages <
					 aftl_block_usable_pages(aftl_policy_geometry(policy),
								 placement->block);

	if (ret || !refusable)
		return ret;
	if (!draw_adversary_number(2))
		placement->mode = draw_adversary_number(2 * AFTL_MODES);
	if (!draw_adversary_number(2))
		placement->ispp = (struct aftl_ispp){ draw_adversary_number(300),
						      draw_adversary_number(300),
						      draw_adversary_number(6) };
	if (!draw_adversary_number(8))
		placement->block->flip = draw_adversary_number(2);
	return 0;
}

static void make_random_adversary(const char *policy)
{
	install_adversary_placement_method(policy, place_data_with_random_mode);
	adversary.type.relocate = choose_random_relocation;
	adversary.type.copy_passes = AFTL_CLASSES;
	adversary.type.shallow_erase = choose_shallow_erase_at_random;
	adversary.type.lun = choose_any_lun;
	adversary.type.select_victim = select_any_victim;
	adversary.type.idle_task = choose_any_idle_task;
	adversary.type.accept_free = accept_free_block_at_random;
	adversary.type.out_of_blocks = close_any_block;
	if (!adversary.type.programmed)
		adversary.type.programmed = repeat_programs_at_random;
}

static void make_greedy_adversary(const char *policy)
{
	install_adversary_placement_method(policy, place_data_with_fastest_legal_mode);
	adversary.type.shallow_erase = always_choose_shallow_erase;
	adversary.type.programmed = NULL;
}

static void pass_array_event_to_chip_account(void *host, const struct aftl_array_event *event)
{
	test_record_array_event(host, event);
	account_array_event(&account, event);
}

static void pass_erase_to_chip_account(struct test_listener *listener, aftl_ppn_t first, u32 slots)
{
	account_block_erased(&account, first);
}

/* Shrink the device of a profile so that each block is erased several times. */
static void init_small_device_from_profile(const char *profile, u32 conditions)
{
	static const char small[] =
		"channels=2 chips=1 dies=1 planes=1 blocks=24 op=60 idle=20us read_first=0 "
		"read_last=0 read_move=0 superblock=0 rain=off slc_static=0 slc_dynamic=0 "
		"map_cache=0";
	struct aftl_config *config = &device.config;

	test_device_init(&device, profile);
	test_device_set_params(&device, small);
	config->layers = min(config->layers, 4);
	config->word_lines = min(config->word_lines, 4);
	config->buffer = min(config->buffer, 512 << 10);
	if (conditions & AGED)
		test_device_set_params(&device, "cycles=2000 age=30d");
	config->cell_model = conditions & VOLTAGE ? AFTL_CELL_VOLTAGE : AFTL_CELL_CONSTANT;
	config->errors = !(conditions & NO_ERRORS);
}

/* Some policies need programs of whole word lines, or blocks with more program steps. */
static bool policy_fits_chip(void)
{
	int ret = aftl_create(&device.ftl, &device.config, &adversary.type, &device.ops, &device,
			      &device.error);

	if (!ret)
		test_device_close(&device);
	return !ret;
}

static void open_device_with_adversary(struct shadow_store *store)
{
	device.ops.array = pass_array_event_to_chip_account;
	test_device_open_with_policy_type(&device, &adversary.type, NULL);
	if (!account_open_device(&account, device.ftl))
		tap_bail_out("out of memory");
	wild = 0;
	wanted = 0;
	shadow_attach_to_device(store, &device, false);
}

static void check_device_after_adversary(struct shadow_store *store, const char *profile,
					 const char *name, u32 conditions)
{
	test_drain_requests(&device);
	account_check_counters(&account);
	CHECK_MSG(!account.wrong[0], "%s", account.wrong);
	if (tap_failure_count())
		tap_printf("%s on %s%s%s%s: %llu bugs, %llu failed", name, profile,
			   conditions & AGED ? ", aged" : "",
			   conditions & VOLTAGE ? ", voltage" : "",
			   conditions & NO_ERRORS ? ", errors off" : "",
			   (unsigned long long)test_counters(&device)->policy_bugs,
			   (unsigned long long)device.failed);
	shadow_compare_device_with_store(store);
	total.programs += account.programs.count;
	total.erases += account.erases.count;
	total.reads += account.reads.count;
	total.relaxed += account.relaxed;
	account_close_device(&account);
	test_device_close(&device);
}

/* Each request must return correct data or fail. */
static void send_requests_until_check_fails(u32 requests, bool aged)
{
	struct test_stream stream;
	u32 i;

	test_stream_init(&stream, requests);
	for (i = 0; i < requests && !account.wrong[0] && !tap_failure_count(); i++) {
		test_stream_submit_request(&stream, &device);
		if (aged && i % 500 == 499)
			aftl_advance_age(device.ftl, 10 * AFTL_DAY_NS);
	}
}

/* Return the factor by which environment variable AFTL_ATTACKS prolongs adversarial runs. */
static u32 get_adversarial_run_factor_from_env(void)
{
	const char *text = getenv("AFTL_ATTACKS");

	return text ? (u32)strtoul(text, NULL, 10) : 1;
}

static void run_adversary_on_profile(const char *profile, u32 conditions)
{
	struct test_listener listener = { .erase = pass_erase_to_chip_account };
	struct shadow_store store;

	open_device_with_adversary(&store);
	test_device_add_listener(&device, &listener);
	/* If the core refuses placements by the policy, blocks may never fill: writes may fail. */
	store.full_disk = true;
	send_requests_until_check_fails(600 * get_adversarial_run_factor_from_env(),
					conditions & AGED);
	check_device_after_adversary(&store, profile, adversary.type.name, conditions);
}

/* Enable the SLC cache, which takes host writes before the policy is asked. */
static void enable_slc_cache(bool cached)
{
	if (!cached || device.config.bits == 1)
		return;
	device.config.slc_static = 500;
	device.config.slc_dynamic = 3000;
}

static void run_adversary_on_all_profiles(void (*make)(const char *policy), const char *policy)
{
	const char *profile;
	u32 conditions;
	u32 fitting = 0;
	u32 i;

	for (i = 0; (profile = aftl_profile_name(i)); i++) {
		for (conditions = 0; conditions < CONDITIONS && !tap_failure_count();
		     conditions++) {
			make(policy);
			init_small_device_from_profile(profile, conditions);
			/* Some policies reserve so many blocks that they need a larger device. */
			device.config.blocks = 48;
			enable_slc_cache((i + conditions) % 2);
			if (!policy_fits_chip())
				continue;
			fitting++;
			run_adversary_on_profile(profile, conditions);
		}
	}
	CHECK_MSG(fitting >= 4 * CONDITIONS || tap_failure_count(), "%s fits %u devices", policy,
		  fitting);
}

TAP_TEST(random_policies_never_beat_the_least_costs)
{
	u32 i;

	for (i = 0; aftl_policy_at(i); i++)
		run_adversary_on_all_profiles(make_random_adversary, aftl_policy_at(i)->name);
}

TAP_TEST(greedy_policies_never_beat_the_least_costs)
{
	u32 i;

	for (i = 0; aftl_policy_at(i); i++)
		run_adversary_on_all_profiles(make_greedy_adversary, aftl_policy_at(i)->name);
}

/* Adversarial policies, each of which tries one illegal or greedy command very often. */

#define ANY_ORDER AFTL_ORDERS

/**
 * struct cheat - an adversarial policy
 * @name: description for messages
 * @order: enum aftl_order of the policy's blocks, or ANY_ORDER
 * @mode: enum aftl_mode of the policy's programs
 * @bits: bits per cell of the policy's sparse blocks, 0: it uses normal blocks
 * @ispp: ISPP steps of the policy's programs
 * @again: use @mode to reprogram pages
 * @follower: set a program time for followers
 * @turns: change the flip bit of open blocks
 * @opens: request blocks of invalid orders and kinds
 * @methods: function that replaces further methods of the policy
 */
struct cheat {
	const char *name;
	u32 order;
	u32 mode;
	u32 bits;
	struct aftl_ispp ispp;
	bool again;
	bool follower;
	bool turns;
	bool opens;
	void (*methods)(void);
};

/* Open block of a LUN, and its erase count when it was opened. */
struct cheat_lun {
	struct aftl_block *open;
	u32 erases;
};

static const struct cheat *cheat;

static struct cheat_lun *cheat_lun(const struct aftl_policy *policy, const struct aftl_lun *lun)
{
	return (struct cheat_lun *)policy->luns + aftl_lun_index(lun);
}

/* Request program orders that the device does not support, or block kinds that do not exist. */
static struct aftl_block *open_block_wildly(struct aftl_policy *policy, struct aftl_lun *lun,
					    const struct aftl_program_request *need)
{
	static const u32 kinds[] = { AFTL_KINDS_MAX, 200, 255, 256, 257, U32_MAX };
	static const u32 orders[] = { AFTL_ORDER_FOGGY_FINE, AFTL_ORDERS, 255, 256, U32_MAX };
	u32 kind = kinds[draw_adversary_number(ARRAY_SIZE(kinds))];

	if (need->cause == AFTL_CAUSE_HOST && aftl_policy_config(policy)->bits > 1 &&
	    !draw_adversary_number(3))
		return aftl_policy_open_sparse_block(policy, lun, need, 1, kind);
	/* On a two-pass device each block has the two-pass order, whatever is requested. */
	if (draw_adversary_number(2) || aftl_policy_geometry(policy)->passes > 1)
		return aftl_policy_open_block(policy, lun, need, AFTL_ORDER_SEQUENTIAL, kind);
	return aftl_policy_open_block(policy, lun, need,
				      orders[draw_adversary_number(ARRAY_SIZE(orders))], 0);
}

static void open_block_and_check_refusal(struct aftl_policy *policy, struct aftl_lun *lun,
					 const struct aftl_program_request *need)
{
	bool refused = need->cause != AFTL_CAUSE_HOST || aftl_policy_has_spare_blocks(policy, lun);
	u64 bugs = test_counters(&device)->policy_bugs;
	u32 free = lun->free_blocks;

	CHECK(!open_block_wildly(policy, lun, need));
	CHECK_EQ(test_counters(&device)->policy_bugs, bugs + refused);
	CHECK_EQ(lun->free_blocks, free);
	wild += refused;
}

static u32 choose_illegal_program_order(const struct aftl_policy *policy)
{
	if (cheat->order == AFTL_ORDER_SWITCHED &&
	    !aftl_supports_in_place_switch(aftl_policy_geometry(policy)))
		return AFTL_ORDER_SEQUENTIAL;
	return cheat->order == ANY_ORDER ? draw_adversary_number(AFTL_ORDER_SUPER_LAYER) :
					   cheat->order;
}

static struct aftl_block *open_block_for_cheat(struct aftl_policy *policy, struct aftl_lun *lun,
					       const struct aftl_program_request *need)
{
	u32 order = choose_illegal_program_order(policy);
	struct aftl_block *block = NULL;

	if (cheat->bits)
		block = aftl_policy_open_sparse_block(policy, lun, need, cheat->bits, 0);
	return block ? block : aftl_policy_open_block(policy, lun, need, order, 0);
}

/* Return true if the block is open, not full, and not erased since this policy opened it. */
static bool is_adversary_block_open(const struct aftl_policy *policy, const struct cheat_lun *mine)
{
	return mine->open && mine->open->state == AFTL_BLOCK_OPEN &&
	       mine->open->erases == mine->erases &&
	       (mine->open->order == AFTL_ORDER_SWITCHED ||
		aftl_program_order_next_page(aftl_policy_media(policy), mine->open) <
			aftl_policy_geometry(policy)->pages);
}

static struct aftl_block *block_for_cheat_program(struct aftl_policy *policy, struct aftl_lun *lun,
						  const struct aftl_program_request *need)
{
	struct cheat_lun *mine = cheat_lun(policy, lun);

	if (is_adversary_block_open(policy, mine) &&
	    (!mine->open->bits || need->cause == AFTL_CAUSE_HOST))
		return mine->open;
	if (mine->open && mine->open->erases == mine->erases)
		aftl_policy_close_block(policy, mine->open);
	mine->open = open_block_for_cheat(policy, lun, need);
	mine->erases = mine->open ? mine->open->erases : 0;
	return mine->open;
}

/* Find a programmed page whose order and data allow a reprogram. */
static u32 find_reprogrammable_page(const struct aftl_policy *policy,
				    const struct aftl_block *block)
{
	const struct aftl_media *media = aftl_policy_media(policy);
	u32 page;

	for (page = 0; page < media->geo->pages; page++)
		if (aftl_page_is_programmed(media, block, page) &&
		    aftl_order_allows_program(media, block, page, 1))
			break;
	return page;
}

/* Choose the mode of the first program of a page that will be reprogrammed later. */
static void choose_mode_before_reprogram(const struct aftl_policy *policy,
					 struct aftl_placement *placement)
{
	bool mlc = aftl_policy_config(policy)->bits >= 3;

	placement->mode = mlc ? AFTL_MODE_MLC : AFTL_MODE_NORMAL;
	placement->pages = mlc ? min(placement->pages, 2) : placement->pages;
}

/* Choose the next legal step of an in-place switch, and sometimes an illegal page. */
static bool choose_page_of_in_place_slc_switch(const struct aftl_policy *policy,
					       struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	bool first;

	placement->page = aftl_get_next_in_place_switch_page(geo, placement->block->programmed,
							     &placement->pages);
	first = aftl_is_page_programmed_in_slc_pass(geo, placement->page);
	placement->mode = first ? AFTL_MODE_SLC : AFTL_MODE_SWITCHED;
	if (!draw_adversary_number(8))
		placement->page += geo->word_line_pages * (1 + draw_adversary_number(3));
	return !draw_adversary_number(cheat->mode == AFTL_MODE_SWITCHED ? 16 : 3);
}

static void propose_illegal_mode_and_ispp_steps(struct aftl_placement *placement)
{
	wanted++;
	placement->mode = placement->block->bits ? aftl_block_program_mode(placement->block)
						 : cheat->mode;
	placement->ispp = cheat->ispp;
	if (cheat->mode == AFTL_MODE_MLC && !placement->block->bits)
		placement->pages = min(placement->pages, 2);
}

static int propose_illegal_program(struct aftl_policy *policy, struct aftl_lun *lun,
				   const struct aftl_program_request *need,
				   struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	struct aftl_block *block;
	u32 dead;

	if (cheat->opens)
		open_block_and_check_refusal(policy, lun, need);
	block = block_for_cheat_program(policy, lun, need);
	if (!block)
		return -ENOSPC;
	if (cheat->turns)
		block->flip = draw_adversary_number(2);
	placement->block = block;
	placement->page = aftl_program_order_next_page(aftl_policy_media(policy), block);
	placement->pages = aftl_count_pages_of_program_step(geo, block);
	placement->mode = aftl_block_program_mode(block);
	if (block->order == AFTL_ORDER_SWITCHED &&
	    !choose_page_of_in_place_slc_switch(policy, placement)) {
		wanted++;
		return 0;
	}
	dead = cheat->again && draw_adversary_number(4) ? find_reprogrammable_page(policy, block) :
							  geo->pages;
	if (dead < geo->pages) {
		placement->page = dead;
		propose_illegal_mode_and_ispp_steps(placement);
		placement->pages = 1;
	} else if (cheat->again && placement->mode == AFTL_MODE_NORMAL) {
		choose_mode_before_reprogram(policy, placement);
	} else if (!cheat->again && draw_adversary_number(16) &&
		   (!cheat->turns || get_checkerboard_colour_of_page(policy, placement))) {
		propose_illegal_mode_and_ispp_steps(placement);
	}
	return 0;
}

static void let_policy_choose_any_lun(void)
{
	adversary.type.lun = choose_any_lun;
}

static void let_policy_choose_any_victim(void)
{
	adversary.type.select_victim = select_any_victim;
}

static void let_policy_choose_any_idle_task(void)
{
	adversary.type.idle_task = choose_any_idle_task;
}

static void let_policy_accept_any_free_block(void)
{
	adversary.type.accept_free = accept_free_block_at_random;
}

static void let_policy_close_random_blocks(void)
{
	adversary.type.out_of_blocks = close_any_block;
}

static const struct cheat cheats[] = {
	{ .name = "coarse steps", .order = ANY_ORDER, .mode = AFTL_MODE_COARSE },
	{ .name = "fine steps", .order = ANY_ORDER, .mode = AFTL_MODE_FINE },
	{ .name = "reduced voltage", .order = ANY_ORDER, .mode = AFTL_MODE_REDUCED },
	{ .name = "coarse steps to a lower top", .order = ANY_ORDER, .mode = AFTL_MODE_ROUGH },
	{ .name = "less guard between", .order = ANY_ORDER, .mode = AFTL_MODE_BETWEEN },
	{ .name = "less guard after", .order = ANY_ORDER, .mode = AFTL_MODE_AFTER },
	{ .name = "parity that is lent", .order = ANY_ORDER, .mode = AFTL_MODE_LENDING },
	{ .name = "large steps", .order = ANY_ORDER, .ispp = { 234, 234, 4 } },
	{ .name = "coarse and large steps", .order = ANY_ORDER, .mode = AFTL_MODE_COARSE,
	  .ispp = { 234, 234, 0 } },
	{ .name = "reduced voltage and large steps", .order = ANY_ORDER,
	  .mode = AFTL_MODE_REDUCED, .ispp = { 0, 468, 0 } },
	{ .name = "a follower with default steps", .order = ANY_ORDER, .mode = AFTL_MODE_FOLLOWER,
	  .follower = true },
	{ .name = "a follower with tiny steps", .order = ANY_ORDER, .mode = AFTL_MODE_FOLLOWER,
	  .ispp = { 1, 0, 0 }, .follower = true },
	{ .name = "a follower with large steps", .order = ANY_ORDER, .mode = AFTL_MODE_FOLLOWER,
	  .ispp = { 234, 234, 0 }, .follower = true },
	{ .name = "a follower without verifies", .order = ANY_ORDER, .mode = AFTL_MODE_FOLLOWER,
	  .ispp = { 0, 0, 4 }, .follower = true },
	{ .name = "two bits in a super layer", .order = AFTL_ORDER_SUPER_LAYER,
	  .mode = AFTL_MODE_MLC },
	{ .name = "two bits anywhere", .order = ANY_ORDER, .mode = AFTL_MODE_MLC },
	{ .name = "one bit anywhere", .order = ANY_ORDER, .mode = AFTL_MODE_SLC },
	{ .name = "three bits anywhere", .order = ANY_ORDER, .mode = AFTL_MODE_TLC },
	{ .name = "blocks of one bit", .order = ANY_ORDER, .mode = AFTL_MODE_SLC, .bits = 1 },
	{ .name = "blocks of two bits", .order = ANY_ORDER, .mode = AFTL_MODE_MLC, .bits = 2 },
	{ .name = "blocks of three bits", .order = ANY_ORDER, .mode = AFTL_MODE_TLC, .bits = 3 },
	{ .name = "again", .order = AFTL_ORDER_SUPER_LAYER, .again = true },
	{ .name = "again with reduced voltage", .order = AFTL_ORDER_SUPER_LAYER,
	  .mode = AFTL_MODE_REDUCED, .again = true },
	{ .name = "again, between", .order = AFTL_ORDER_SUPER_LAYER, .mode = AFTL_MODE_BETWEEN,
	  .again = true },
	{ .name = "again, after", .order = AFTL_ORDER_SUPER_LAYER, .mode = AFTL_MODE_AFTER,
	  .again = true },
	{ .name = "again with coarse steps", .order = AFTL_ORDER_SUPER_LAYER,
	  .mode = AFTL_MODE_COARSE, .again = true },
	{ .name = "again with fine steps", .order = AFTL_ORDER_SUPER_LAYER,
	  .mode = AFTL_MODE_FINE, .again = true },
	{ .name = "again as a follower", .order = AFTL_ORDER_SUPER_LAYER,
	  .mode = AFTL_MODE_FOLLOWER, .again = true, .ispp = { 1, 0, 0 }, .follower = true },
	{ .name = "again with one bit", .order = AFTL_ORDER_SUPER_LAYER, .mode = AFTL_MODE_SLC,
	  .again = true },
	{ .name = "again with large steps", .order = AFTL_ORDER_SUPER_LAYER, .again = true,
	  .ispp = { 234, 234, 4 } },
	{ .name = "again as it should be", .order = AFTL_ORDER_SUPER_LAYER, .mode = AFTL_MODE_MLC,
	  .again = true },
	{ .name = "switched as it should be", .order = AFTL_ORDER_SWITCHED,
	  .mode = AFTL_MODE_SWITCHED },
	{ .name = "switched, all bits at once", .order = AFTL_ORDER_SWITCHED },
	{ .name = "switched with reduced voltage", .order = AFTL_ORDER_SWITCHED,
	  .mode = AFTL_MODE_REDUCED },
	{ .name = "switched, two bits at once", .order = AFTL_ORDER_SWITCHED,
	  .mode = AFTL_MODE_MLC },
	{ .name = "switched, one bit at a time", .order = AFTL_ORDER_SWITCHED,
	  .mode = AFTL_MODE_SLC },
	{ .name = "switched with large steps", .order = AFTL_ORDER_SWITCHED,
	  .mode = AFTL_MODE_SWITCHED, .ispp = { 234, 234, 4 } },
	{ .name = "the rest of the bits anywhere", .order = ANY_ORDER,
	  .mode = AFTL_MODE_SWITCHED },
	{ .name = "a checkerboard that is turned", .order = AFTL_ORDER_TWO_PASS,
	  .mode = AFTL_MODE_BETWEEN, .turns = true },
	{ .name = "any LUN", .methods = let_policy_choose_any_lun },
	{ .name = "any victim", .methods = let_policy_choose_any_victim },
	{ .name = "any task", .methods = let_policy_choose_any_idle_task },
	{ .name = "any free block", .methods = let_policy_accept_any_free_block },
	{ .name = "closings of any block", .methods = let_policy_close_random_blocks },
	{ .name = "blocks of any order and kind", .opens = true },
};

static void make_illegal_adversary(const char *policy)
{
	install_adversary_placement_method(policy, propose_illegal_program);
	adversary.type.ignores_tags = false;
	adversary.type.lun_size = sizeof(struct cheat_lun);
	adversary.type.adopt = NULL;
	adversary.type.closed = NULL;
	adversary.type.shallow_erase = always_choose_shallow_erase;
	if (cheat->methods)
		cheat->methods();
}

/* Draw a follower program time that large ISPP steps can nearly reach, or cannot reach. */
static u64 choose_follower_word_line_program_ns(u32 conditions)
{
	return device.config.program * (conditions & VOLTAGE ? 4 : 5) / 7;
}

/* Illegal program commands must be refused and counted; legal ones must be executed. */
static void check_refused_proposals(void)
{
	const struct aftl_stats *stats = aftl_get_stats(device.ftl);
	/* If a page holds several units, few word lines have only invalid data to reprogram. */
	bool reusable = device.config.bits >= 3 && device.config.one_shot &&
			device.ftl->geo.page_units == 1 && device.ftl->geo.passes == 1;
	bool honest = cheat->mode == AFTL_MODE_NORMAL && !cheat->again &&
		      cheat->order != AFTL_ORDER_SWITCHED && aftl_ispp_is_default(&cheat->ispp);

	if (!cheat->again || reusable)
		CHECK(wanted);
	if (honest && device.ftl->geo.passes == 1)
		CHECK_EQ(stats->counters.policy_bugs, wild);
	else
		CHECK(!wanted || stats->counters.policy_bugs || stats->mode_pages[cheat->mode]);
}

static void run_illegal_policy_on_profile(const char *profile, u32 conditions)
{
	struct test_listener listener = { .erase = pass_erase_to_chip_account };
	struct shadow_store store;

	make_illegal_adversary("baseline");
	init_small_device_from_profile(profile, conditions);
	device.config.program_follower =
		cheat->follower ? choose_follower_word_line_program_ns(conditions) : 0;
	open_device_with_adversary(&store);
	test_device_add_listener(&device, &listener);
	store.full_disk = true;
	send_requests_until_check_fails(500 * get_adversarial_run_factor_from_env(),
					conditions & AGED);
	CHECK(account.programs.count > 40 || account.wrong[0]);
	if (!account.wrong[0])
		check_refused_proposals();
	check_device_after_adversary(&store, profile, cheat->name, conditions);
}

static void check_illegal_proposal_gains_nothing(void)
{
	const char *profile;
	u32 conditions;
	u32 i;

	for (i = 0; (profile = aftl_profile_name(i)); i++)
		for (conditions = 0; conditions < CONDITIONS && !tap_failure_count(); conditions++)
			run_illegal_policy_on_profile(profile, conditions);
}

/* Runs of policies with illegal or greedy commands must have checked enough operations. */
TAP_TEST(the_random_attacks_checked_enough_operations)
{
	tap_printf("%llu programs, %llu erases, %llu reads, %llu of them of relaxed pages",
		   (unsigned long long)total.programs, (unsigned long long)total.erases,
		   (unsigned long long)total.reads, (unsigned long long)total.relaxed);
	CHECK(total.programs > 500000);
	CHECK(total.erases > 10000);
	CHECK(total.relaxed > 10000);
}

static void register_illegal_proposal_tests(void)
{
	char name[80];

	for (cheat = cheats; cheat < cheats + ARRAY_SIZE(cheats); cheat++) {
		snprintf(name, sizeof(name), "a cheat gains nothing: %s", cheat->name);
		tap_run(name, check_illegal_proposal_gains_nothing);
	}
}

int main(void)
{
	register_illegal_proposal_tests();
	return tap_run_all();
}
