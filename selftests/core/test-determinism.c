// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device's state depends on requests and arrival times, not on when the host calls the core.
 */
#include <stdlib.h>

#include "bytes.h"
#include "core/ftl/controller.h"
#include "core/ftl/l2p.h"
#include "core/persist/snapshot.h"
#include "core/policy/open-blocks.h"
#include "core/policy/policies.h"
#include "stream.h"
#include "tap.h"

#define REQUESTS 4000

struct stamped {
	u64 at_ns;
	u32 unit;
	u32 units;
	u8 op;
	u8 class;
	u8 flags;
};

/* Result of a run: digest, statistics, and a hash of all completions in order. */
struct outcome {
	u64 digest;
	u64 completions;
	u64 now_ns;
	struct aftl_stats stats;
};

struct witness {
	struct test_listener listener;
	u64 hash;
};

static struct stamped requests[REQUESTS];

static void generate_requests(u64 seed, u32 units, u32 gap_ns)
{
	struct aftl_random random = { aftl_hash64(seed) };
	u64 at_ns = 0;
	u32 i;

	for (i = 0; i < REQUESTS; i++) {
		struct stamped *mine = &requests[i];
		u32 draw = aftl_random_below(&random, 100);
		u32 room;

		at_ns += aftl_random_below(&random, 4) ? aftl_random_below(&random, gap_ns) : 0;
		*mine = (struct stamped){
			.at_ns = at_ns,
			.unit = aftl_random_below(&random, units),
			.units = 1 + aftl_random_below(&random, 8),
			.op = draw < 60 ? AFTL_OP_WRITE : draw < 95 ? AFTL_OP_READ :
			      draw < 98 ? AFTL_OP_DISCARD : AFTL_OP_FLUSH,
			.class = aftl_random_below(&random, 2),
			.flags = aftl_random_below(&random, 30) ? 0 : AFTL_REQUEST_FUA,
		};
		room = units - mine->unit;
		mine->units = mine->op == AFTL_OP_FLUSH ? 0 : min(mine->units, room);
	}
}

/* Time of the earliest completion since this variable was last set to U64_MAX. */
static u64 first_complete_ns;

static void record_completion(struct test_listener *listener, struct test_request *request)
{
	struct witness *witness = container_of(listener, struct witness, listener);

	first_complete_ns = min(first_complete_ns, request->request.complete_ns);
	witness->hash = aftl_hash64_pair(witness->hash, request->version);
	witness->hash = aftl_hash64_pair(witness->hash, request->request.complete_ns);
	witness->hash = aftl_hash64_pair(witness->hash, request->request.service_ns);
}

enum habit { ONLY_SUBMIT, EVERY_EVENT, COMPLETIONS, SMALL_STEPS, LATE, RANDOM_STEPS, HABITS };

/* Advance to @until by aftl_run_to_completion(), which leaves no event at a completion's time. */
static void process_events_until(struct aftl *ftl, u64 until)
{
	while (aftl_next_event_ns(ftl) <= until) {
		u32 pending = aftl_pending_requests(ftl);

		first_complete_ns = U64_MAX;
		aftl_run_to_completion(ftl, until);
		CHECK(aftl_pending_requests(ftl) == pending ||
		      first_complete_ns == aftl_device_time_ns(ftl));
		CHECK(aftl_device_time_ns(ftl) <= until);
		CHECK(aftl_next_event_ns(ftl) > aftl_device_time_ns(ftl));
		CHECK(aftl_next_event_ns(ftl) > until || aftl_pending_requests(ftl) < pending);
	}
}

static const char *const habit_names[HABITS] = {
	"only submit", "every event", "small steps", "late", "random steps"
};

static void advance_clock_by_step_pattern(struct test_device *device, enum habit habit, u64 until,
					  struct aftl_random *random)
{
	u64 now = aftl_device_time_ns(device->ftl);

	switch (habit) {
	case EVERY_EVENT:
		while (aftl_next_event_ns(device->ftl) <= until)
			aftl_process_events_until(device->ftl, aftl_next_event_ns(device->ftl));
		break;
	case COMPLETIONS:
		process_events_until(device->ftl, until);
		break;
	case SMALL_STEPS:
		for (; now < until; now += 7777)
			aftl_process_events_until(device->ftl, now);
		break;
	case LATE:
		aftl_process_events_until(device->ftl, until);
		break;
	case RANDOM_STEPS:
		while (now < until && aftl_random_below(random, 5)) {
			now += aftl_random_below(random, (u32)min(until - now, (u64)1000000) + 1);
			aftl_process_events_until(device->ftl, now);
			/* The device's clock must not go back. */
			aftl_process_events_until(device->ftl, now / 2);
		}
		break;
	default:
		break;
	}
}

static void record_outcome_and_close_device(struct test_device *device,
					    const struct witness *witness, struct outcome *outcome)
{
	CHECK_EQ(device->pending, 0);
	outcome->digest = aftl_compute_device_digest(device->ftl);
	outcome->completions = witness->hash;
	outcome->now_ns = aftl_device_time_ns(device->ftl);
	outcome->stats = *aftl_get_stats(device->ftl);
	CHECK_MSG(outcome->stats.counters.gc_blocks > 20, "too little is going on");
	test_audit_device(device);
	test_device_close(device);
}

static void run_requests_on_device(struct test_device *device, enum habit habit,
				   struct outcome *outcome)
{
	struct witness witness = { .listener = { .complete = record_completion } };
	struct aftl_random random = { 9 };
	u64 last = requests[REQUESTS - 1].at_ns + 10000000000ULL;
	u32 i;

	device->inside = true; /* test_device_add_listener() must not advance the device */
	test_device_add_listener(device, &witness.listener);
	for (i = 0; i < REQUESTS; i++) {
		const struct stamped *mine = &requests[i];

		advance_clock_by_step_pattern(device, habit, mine->at_ns, &random);
		device->inside = true;
		device->queue = (u8)(mine->unit % 3);
		test_submit_io(device, mine->op, mine->unit, mine->units, mine->class, mine->flags,
			       mine->at_ns);
	}
	advance_clock_by_step_pattern(device, habit == SMALL_STEPS ? LATE : habit, last, &random);
	aftl_process_events_until(device->ftl, last);
	record_outcome_and_close_device(device, &witness, outcome);
}

static void run_requests_with_time_step_pattern(const char *policy, const char *params,
						enum habit habit, struct outcome *outcome)
{
	struct test_device device;

	test_open_demo_profile(&device, policy, params);
	run_requests_on_device(&device, habit, outcome);
}

static void check_equal_digests_and_statistics(const struct outcome *first,
					       const struct outcome *other, const char *what)
{
	CHECK_MSG(first->digest == other->digest, "%s: another state", what);
	CHECK_MSG(first->completions == other->completions, "%s: other completions", what);
	CHECK_MSG(!memcmp(&first->stats, &other->stats, sizeof(first->stats)),
		  "%s: other statistics", what);
	CHECK_EQ(first->now_ns, other->now_ns);
}

static void compare_time_step_patterns_of_policy(const char *policy, const char *params)
{
	struct outcome *first = malloc(sizeof(*first));
	struct outcome *other = malloc(sizeof(*other));
	u32 habit;

	run_requests_with_time_step_pattern(policy, params, ONLY_SUBMIT, first);
	for (habit = ONLY_SUBMIT; habit < HABITS; habit++) {
		run_requests_with_time_step_pattern(policy, params, habit, other);
		check_equal_digests_and_statistics(first, other, habit_names[habit]);
	}
	free(first);
	free(other);
}

/* Submit requests one after the other, like a host whose clock runs only during requests. */
static void submit_single_request(struct test_device *device, const struct stamped *mine, u32 unit)
{
	u32 units = mine->op == AFTL_OP_READ ? min(mine->units, 2U) : mine->units;
	u32 room = aftl_geometry(device->ftl)->units - unit;

	test_submit_io(device, mine->op, unit, min(units, room), mine->class, mine->flags,
		       aftl_device_time_ns(device->ftl));
}

static void run_requests_one_at_a_time(const char *policy, const char *params, bool alone,
				       struct outcome *outcome)
{
	struct witness witness = { .listener = { .complete = record_completion } };
	struct aftl_random random = { 9 };
	struct test_device device;
	u32 i;

	test_open_demo_profile(&device, policy, params);
	test_device_add_listener(&device, &witness.listener);
	device.alone = alone;
	for (i = 0; i < REQUESTS; i++) {
		const struct stamped *mine = &requests[i];
		bool read = mine->op == AFTL_OP_READ;
		bool again;

		/* Start reads at various stages of programs, relocation and erases. */
		if (!aftl_random_below(&random, 3))
			test_advance_clock_to(&device, aftl_device_time_ns(device.ftl) +
						      aftl_random_below(&random, 200000));
		/* Half of the reads are of the unit that the previous request accessed. */
		again = i && read && aftl_random_below(&random, 2);
		submit_single_request(&device, mine, requests[i - again].unit);
		if (!read && !aftl_random_below(&random, 4))
			continue;
		aftl_drain_requests(device.ftl);
		witness.hash = aftl_hash64_pair(witness.hash, aftl_next_event_ns(device.ftl));
	}
	aftl_drain_requests(device.ftl);
	record_outcome_and_close_device(&device, &witness, outcome);
}

/* A lone read executed in one call must leave the same state as a read executed by events. */
static void compare_read_fast_path_with_events(const char *policy, const char *params)
{
	struct outcome *usual = malloc(sizeof(*usual));
	struct outcome *short_cut = malloc(sizeof(*short_cut));

	run_requests_one_at_a_time(policy, params, false, usual);
	run_requests_one_at_a_time(policy, params, true, short_cut);
	check_equal_digests_and_statistics(usual, short_cut, policy);
	free(usual);
	free(short_cut);
}

/* A host that keeps no data need not be told of copies, and relocation takes its short path. */
static void compare_short_path_of_copyback(const char *policy, const char *params)
{
	struct outcome *usual = malloc(sizeof(*usual));
	struct outcome *short_cut = malloc(sizeof(*short_cut));
	struct test_device device;

	run_requests_with_time_step_pattern(policy, params, ONLY_SUBMIT, usual);
	test_device_init(&device, "demo");
	device.ops.copy = NULL;
	device.ops.programmed = NULL;
	test_device_open(&device, policy, params);
	CHECK(device.ftl->plain_copyback);
	run_requests_on_device(&device, ONLY_SUBMIT, short_cut);
	CHECK(short_cut->stats.counters.programmed_gc_units > 100);
	check_equal_digests_and_statistics(usual, short_cut, policy);
	free(usual);
	free(short_cut);
}

#define SHAPE "channels=2 chips=1 blocks=40 layers=4 word_lines=4 op=60"

static const char plain[] = SHAPE;
static const char busy[] =
	SHAPE " buffer=128KiB suspend=both suspend_for_write=on controller=7us ecc=3us "
	"cell_model=voltage wear_gap=3 read_cache=1MiB read_ahead=64KiB queue_weights=4:1:2 "
	"depth=16";

static const char three_bits[] =
	SHAPE " bits=3 one_shot=on buffer=128KiB zone1=50ms zone2=200ms zone3=500ms";

/* Programs lag behind completed requests: a buffer holds data, two LUNs share a slow bus. */
static const char behind[] =
	SHAPE " channels=1 chips=2 bus=100 buffer=128KiB buffer_hold=300us idle=250us ecc=60us "
	"read_limit=2 cell_model=voltage suspend=both";

/* A flash page holds one logical page, so that a copyback relocates a single one. */
#define ONE_UNIT " page=4KiB word_lines=8"

static const char small_pages[] = SHAPE ONE_UNIT;
static const char small_pages_behind[] =
	SHAPE ONE_UNIT " channels=1 chips=2 bus=100 buffer=128KiB buffer_hold=300us idle=250us "
	"read_limit=2 cell_model=voltage suspend=both";

static const char in_parts[] = SHAPE " unit=1KiB page=4KiB buffer=128KiB order=fcfs row=3";
static const char folding[] = SHAPE " bits=3 one_shot=on buffer=128KiB slc_static=4 idle=100us";

static void compare_time_step_patterns_of_all_policies(const char *params, u32 gap_ns)
{
	unsigned int i;

	generate_requests(gap_ns, 900, gap_ns);
	for (i = 0; aftl_policy_at(i); i++)
		compare_time_step_patterns_of_policy(aftl_policy_at(i)->name, params);
}

TAP_TEST(a_lone_read_in_one_call_leaves_the_state_of_single_events)
{
	unsigned int i;

	generate_requests(1000000, 900, 1000000);
	for (i = 0; aftl_policy_at(i); i++) {
		compare_read_fast_path_with_events(aftl_policy_at(i)->name, plain);
		compare_read_fast_path_with_events(aftl_policy_at(i)->name, behind);
	}
	compare_read_fast_path_with_events("baseline", in_parts);
	compare_read_fast_path_with_events("baseline", folding);
}

TAP_TEST(copyback_for_a_host_without_data_leaves_the_state_of_one_with_data)
{
	unsigned int i;

	generate_requests(1000000, 900, 1000000);
	for (i = 0; aftl_policy_at(i); i++) {
		compare_short_path_of_copyback(aftl_policy_at(i)->name, small_pages);
		compare_short_path_of_copyback(aftl_policy_at(i)->name, small_pages_behind);
	}
}

TAP_TEST(the_hosts_timing_does_not_change_the_state_under_high_load)
{
	compare_time_step_patterns_of_all_policies(plain, 1000000);
}

TAP_TEST(the_hosts_timing_does_not_change_the_state_with_idle_time)
{
	compare_time_step_patterns_of_all_policies(plain, 30000000);
}

TAP_TEST(the_hosts_timing_does_not_change_the_state_with_all_features)
{
	compare_time_step_patterns_of_all_policies(busy, 2000000);
}

TAP_TEST(the_hosts_timing_does_not_change_the_state_with_three_bit_cells)
{
	compare_time_step_patterns_of_all_policies(three_bits, 2000000);
}

/* Another seed changes the bit errors and nothing else. */
TAP_TEST(another_seed_changes_the_bit_errors_only)
{
	struct outcome *a = malloc(sizeof(*a));
	struct outcome *b = malloc(sizeof(*b));

	generate_requests(1, 900, 1000000);
	run_requests_with_time_step_pattern("vth_b", SHAPE " seed=5", ONLY_SUBMIT, a);
	run_requests_with_time_step_pattern("vth_b", SHAPE " seed=6", ONLY_SUBMIT, b);
	CHECK(a->stats.counters.read_flipped_bits != b->stats.counters.read_flipped_bits);
	CHECK_EQ(a->stats.counters.array_programs, b->stats.counters.array_programs);
	free(a);
	free(b);
}

static u32 pauses;

static int count_host_pause_call(__maybe_unused void *host)
{
	pauses++;
	return 0;
}

static u32 pages;

static void count_page_written_by_fill(__maybe_unused void *host, __maybe_unused aftl_ppn_t first)
{
	pages++;
}

static int fill_configured_device(struct test_device *device, const struct aftl_policy_type *type,
				  void (*programmed)(void *host, aftl_ppn_t first))
{
	device->ops.programmed = programmed;
	device->ops.pause = count_host_pause_call;
	pauses = 0;
	pages = 0;
	device->ret = aftl_create(&device->ftl, &device->config, type, &device->ops, device,
				  &device->error);
	return device->ret ? device->ret : aftl_precondition(device->ftl);
}

static void fill_device(struct test_device *device, const struct aftl_policy_type *type,
			const char *params, void (*programmed)(void *host, aftl_ppn_t first))
{
	test_device_init(device, "demo");
	test_device_set_params(device, params);
	CHECK_EQ(fill_configured_device(device, type, programmed), 0);
}

/**
 * struct filled - result of the initial fill of a device
 * @ret: result of aftl_precondition()
 * @pauses: calls of pause(); a fill that does not ask the policy calls it once for each round of
 *	programs
 * @state: snapshot of the filled device
 */
struct filled {
	int ret;
	u32 pauses;
	struct test_bytes state;
};

/* Fill a device without listeners. */
static struct filled fill_and_save(const struct aftl_policy_type *type,
				   const struct aftl_config *config)
{
	struct filled filled = { 0 };
	struct test_device device;

	test_device_init(&device, "demo");
	device.config = *config;
	filled.ret = fill_configured_device(&device, type, NULL);
	filled.pauses = pauses;
	if (!filled.ret) {
		test_audit_device(&device);
		test_device_save_snapshot(&device, &filled.state);
	}
	test_device_close(&device);
	return filled;
}

/* Return true if the fill called pause() less often than a fill that asks the policy each time. */
static bool compare_batched_and_unbatched_fill(const struct aftl_policy_type *type,
					       const struct aftl_config *config)
{
	struct aftl_policy_type asked = *type;
	struct filled in_runs = fill_and_save(type, config);
	struct filled whole_way;

	asked.fill_run = NULL;
	whole_way = fill_and_save(&asked, config);
	CHECK_EQ(in_runs.ret, whole_way.ret);
	CHECK_EQ(in_runs.state.size, whole_way.state.size);
	CHECK(in_runs.state.size == whole_way.state.size &&
	      (!whole_way.state.size ||
	       !memcmp(in_runs.state.data, whole_way.state.data, in_runs.state.size)));
	free_test_bytes(&in_runs.state);
	free_test_bytes(&whole_way.state);
	return in_runs.pauses < whole_way.pauses;
}

#define FILLED SHAPE " fill_approx=40% fill_valid="

/* Preconditioning need not ask a policy that only fills blocks in sequence. */
TAP_TEST(a_fill_without_the_policy_equals_one_that_asks_it)
{
	static const char *const shapes[] = {
		FILLED "100% fill=sequential fill_overwrite=0%",
		FILLED "100% fill=random fill_overwrite=250%",
		FILLED "100% fill=random fill_overwrite=70% map_cache=64KiB",
		FILLED "61% fill=sequential fill_overwrite=30%",
		FILLED "90% fill=sequential fill_overwrite=90% unit=4KiB",
		FILLED "100% fill=sequential allocate=static",
		FILLED "100% fill=random allocate=static",
		FILLED "100% fill=sequential allocate=least_busy",
		/* Each program sets a whole word in the bitmap of filled units. */
		FILLED "61% fill=sequential layers=16 word_lines=15",
		/* The queue of a LUN is full before its block is. */
		FILLED "61% fill=random allocate=static channels=16 chips=16 layers=16 blocks=24 "
		       "unit=4KiB",
		/* LUNs differ in their number of lpns. */
		FILLED "61% fill=random allocate=static channels=7",
	};
	static const bool in_rounds[] = { true, true, false, true, true, true, true,
					  false, true, true, true };
	u32 at_all = 0;
	u32 i;
	u32 k;

	for (i = 0; aftl_policy_at(i); i++) {
		if (!aftl_policy_at(i)->fill_run || !aftl_policy_at(i)->ignores_tags)
			continue;
		at_all++;
		for (k = 0; k < ARRAY_SIZE(shapes); k++) {
			struct test_device device;

			test_device_init(&device, "demo");
			test_device_set_params(&device, shapes[k]);
			CHECK_EQ(compare_batched_and_unbatched_fill(aftl_policy_at(i),
								    &device.config),
				 in_rounds[k]);
		}
	}
	CHECK(at_all >= 4);
}

TAP_TEST(some_luns_have_no_lpn_of_a_fill)
{
	struct test_device device;
	u32 i;

	test_device_init(&device, "demo");
	test_device_set_params(&device, FILLED "0.1% fill=random allocate=static channels=16 "
					       "chips=16");
	for (i = 0; aftl_policy_at(i); i++)
		(void)compare_batched_and_unbatched_fill(aftl_policy_at(i), &device.config);
}

/* Seeds for each policy. */
#define FILLS 40

/*
 * Make a random device with up to eight times as many channels as other random devices: only with
 * many LUNs does a shuffled fill record L2P entries and store them in the order of lpns at its end.
 */
static void make_random_device_to_fill(struct test_device *device, u64 seed)
{
	struct aftl_random random = { aftl_hash64(seed) };
	struct aftl_config *config = &device->config;

	test_device_init(device, "demo");
	test_randomize_geometry(device, &random);
	config->channels <<= aftl_random_below(&random, 4);
	config->allocate = aftl_random_below(&random, 4) % AFTL_ALLOCATES;
	if (seed % 3)
		config->blocks += 40;
	else
		test_randomize_options(device, &random);
	if (seed % 6 == 0)
		config->superblock = 2;
	*test_device_set_param(config, "hybrid_cube") = aftl_random_below(&random, 2);
	config->rain = config->superblock && aftl_random_below(&random, 2);
	config->map_cache = aftl_random_below(&random, 8) ? 0 : 65536;
	config->bad = aftl_random_below(&random, 3) * 2000000000ULL;
	config->fill = 1 + aftl_random_below(&random, 2);
	config->fill_valid = 10000 - aftl_random_below(&random, 2) * 2500;
	config->fill_overwrite = aftl_random_below(&random, 2) * aftl_random_below(&random, 15000);
	if (!aftl_random_below(&random, 4))
		config->fill_approx = 5000 * aftl_random_below(&random, 3);
}

/* Fill random devices with policy @type. Return: number of fills that rarely asked the policy. */
static u32 fill_random_devices(const struct aftl_policy_type *type)
{
	u32 in_rounds = 0;
	u64 seed;

	for (seed = 1; seed <= FILLS && !tap_failure_count(); seed++) {
		struct test_device device;

		make_random_device_to_fill(&device, seed);
		in_rounds += compare_batched_and_unbatched_fill(type, &device.config);
		if (tap_failure_count())
			test_print_config(&device, type->name, seed);
	}
	return in_rounds;
}

TAP_TEST(a_random_device_is_filled_as_if_the_policy_were_asked_for_each_program)
{
	u32 i;

	for (i = 0; aftl_policy_at(i) && !tap_failure_count(); i++) {
		const struct aftl_policy_type *type = aftl_policy_at(i);
		u32 in_rounds = fill_random_devices(type);

		tap_printf("%s: %u of %u fills in rounds", type->name, in_rounds, FILLS);
		CHECK_EQ(!!in_rounds, !!type->fill_run);
	}
}

static u32 get_half_block_page_count(const struct aftl_policy *policy)
{
	return aftl_policy_geometry(policy)->pages / 2;
}

/* Close half-full blocks, so that GC begins before the fill has written all lpns once. */
static int place_data_in_half_of_each_block(struct aftl_policy *policy, struct aftl_lun *lun,
					    const struct aftl_program_request *need,
					    struct aftl_placement *placement)
{
	struct aftl_open_blocks *mine = policy->luns;
	struct aftl_block **open = mine[aftl_lun_index(lun)].open + need->stream;

	if (need->cause == AFTL_CAUSE_HOST && *open &&
	    (*open)->frontier >= get_half_block_page_count(policy)) {
		aftl_policy_close_block(policy, *open);
		*open = NULL;
	}
	return aftl_open_blocks_place_program(policy, lun, need, need->stream, placement);
}

static u32 count_programs_to_fill_half_block(struct aftl_policy *policy,
					     __maybe_unused struct aftl_lun *lun,
					     __maybe_unused const struct aftl_program_request *need,
					     const struct aftl_block *block)
{
	u32 half = get_half_block_page_count(policy);
	u32 steps = aftl_policy_geometry(policy)->program_pages;

	return block->frontier < half ? DIV_ROUND_UP(half - block->frontier, steps) : 0;
}

static void check_fill_that_collects_garbage(struct aftl_policy_type halves, const char *allocate)
{
	struct test_device device;
	u32 erases = 0;
	u32 i;

	halves.place = place_data_in_half_of_each_block;
	halves.fill_run = count_programs_to_fill_half_block;
	fill_device(&device, &halves,
		    test_format_params(SHAPE " channels=4 chips=4 op=45 fill=random allocate=%s",
				       allocate),
		    NULL);
	for (i = 0; i < device.ftl->geo.blocks; i++)
		erases += device.ftl->media.blocks[i].erases;
	CHECK(erases);
	CHECK(compare_batched_and_unbatched_fill(&halves, &device.config));
	test_device_close(&device);
}

TAP_TEST(a_fill_relocates_lpns_that_it_has_recorded)
{
	static const char *const rules[] = { "rotate", "static" };
	struct aftl_policy_type type = aftl_policy_baseline;
	u32 i;

	type.ftl = NULL;
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		check_fill_that_collects_garbage(type, rules[i]);
		/* Policy sepbit numbers host writes; an lpn never written has no number. */
		check_fill_that_collects_garbage(aftl_policy_sepbit, rules[i]);
	}
}

/* A fill calls the host's programmed() callback, if there is one, for each page. */
TAP_TEST(a_fill_reports_each_programmed_page)
{
	u32 i;

	for (i = 0; aftl_policy_at(i); i++) {
		const struct aftl_geometry *geo;
		struct test_device device;

		if (!aftl_policy_at(i)->fill_run)
			continue;
		fill_device(&device, aftl_policy_at(i), FILLED "100% fill=sequential",
			    count_page_written_by_fill);
		geo = aftl_geometry(device.ftl);
		CHECK((u64)pages * geo->page_units >= geo->units);
		test_device_close(&device);
	}
}

/* A fill overwrites exactly the configured share of units. */
TAP_TEST(a_fill_overwrites_the_configured_share_of_units)
{
	static const char *const shares[] = { "0.01%", "1%", "33%", "100%" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shares); i++) {
		struct test_device device;
		u64 units;

		fill_device(&device, &aftl_policy_baseline,
			    test_format_params("%s50%% fill=random fill_overwrite=%s", FILLED,
					       shares[i]),
			    NULL);
		units = device.ftl->geo.units / 2;
		CHECK_EQ(device.ftl->seq,
			 units + units * device.config.fill_overwrite / 10000);
		test_device_close(&device);
	}
}

/* Check that the device's digest changes if the byte at index @place of its state changes. */
static void check_digest_depends_on_byte(const struct test_device *device, void *place)
{
	u64 usual = aftl_compute_device_digest(device->ftl);
	u8 *byte = place;

	*byte ^= 1;
	CHECK(aftl_compute_device_digest(device->ftl) != usual);
	*byte ^= 1;
	CHECK_EQ(aftl_compute_device_digest(device->ftl), usual);
}

TAP_TEST(the_digest_changes_with_each_part_of_the_state)
{
	struct test_device device;
	struct aftl_block *block;
	u32 *map;
	u64 usual;
	u32 i;

	fill_device(&device, &aftl_policy_baseline,
		    FILLED "100% fill=sequential layers=3 word_lines=3", NULL);
	block = &device.ftl->media.blocks[0];
	CHECK(device.ftl->geo.pages % 4 && block->programmed == device.ftl->geo.pages);
	for (i = 0; i < device.ftl->geo.pages; i++)
		check_digest_depends_on_byte(&device, aftl_page_attr_ptr(&device.ftl->media, i));
	check_digest_depends_on_byte(&device, aftl_l2p_entry(device.ftl, 0));
	check_digest_depends_on_byte(&device,
				     aftl_l2p_entry(device.ftl, device.ftl->geo.units - 1));
	check_digest_depends_on_byte(&device, &block->erases);
	check_digest_depends_on_byte(&device, &block->wear);
	check_digest_depends_on_byte(&device, &block->kind);
	usual = aftl_compute_device_digest(device.ftl);
	map = aftl_l2p_entry(device.ftl, 0);
	i = map[1];
	map[1] = map[2];
	map[2] = i;
	CHECK(aftl_compute_device_digest(device.ftl) != usual);
	test_device_close(&device);
}
