// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every feature in selftests/lib/features.txt, every pair of them, and random triples, on a durable
 * device: either the device refuses a pair, as the table says, with one message, or random requests
 * on it lose no data. A life of a device is two sessions, the second one with another policy.
 *
 * A first life without power failure counts the writes and flushes of its medium. Then the same
 * life is repeated, each time with a power failure at another of these. The device is recovered,
 * audited, compared with its promises, used with the same or another policy, fails once more, and
 * is closed.
 *
 * test-pairs                                        a sample of triples and of power failures
 * test-pairs all                                    200 triples, and all power failures
 * test-pairs NAME[+NAME...] [SEED [CHANGE [CRASH]]] one device: all, or one, as a failure prints it
 *
 * AFTL_CRASH_STATES=N in the environment means N power failures on each device, 0 all of them;
 * AFTL_PAIRS_SEED=N selects other triples and lives.
 */
#include <stdlib.h>

#include "lib/durable-device.h"
#include "lib/features.h"
#include "lib/zone-stream.h"
#include "stream.h"
#include "tap.h"

#define FIRST_SEED 20261127
#define SAMPLES 14
#define TRIPLES 12
#define POLICIES_MAX 32
#define UNWRITABLE 3
#define DRAWS_MAX 20

/**
 * struct life - a device with some features and the random choices for it
 * @durable: the device
 * @random: random number generator
 * @set: features of the device
 * @policy: policy of the first session
 * @other: policy of the second session
 * @filled: the fill of all logical pages has started
 * @unwritable: number of sectors still to become unwritable
 * @zones: requests for a zoned device
 * @stream: requests for a device without zones
 */
struct life {
	struct durable_device durable;
	struct aftl_random random;
	const struct feature_set *set;
	const char *policy;
	const char *other;
	bool filled;
	u32 unwritable;
	struct zone_stream zones;
	struct test_stream stream;
};

static struct features features;

static struct {
	u32 accepted;
	u32 refused;
	u64 crashes;
	u64 changed_policy;
	u64 collected;
	u64 hurt;
	u64 displaced;
} tally;

static u32 draw_pair_test_u32(struct life *life, u32 n)
{
	return (u32)aftl_random_below(&life->random, n);
}

static bool draw_pair_test_bool(struct life *life, u32 percent)
{
	return draw_pair_test_u32(life, 100) < percent;
}

/* Devices */

/* Return 0 if the device and its volume can be created. */
static int try_create_device(const struct aftl_config *config, const char *policy,
			     struct aftl_error *error)
{
	struct aftl_volume_header super = { .config = *config };
	struct test_device device;
	struct aftl_geometry geo;
	int ret = aftl_volume_header_set_layout(&super, &geo, error);

	if (ret)
		return ret;
	test_device_init(&device, "demo");
	aftl_derive_shard_config(&device.config, config, 0);
	ret = test_device_create(&device, policy);
	*error = device.error;
	test_device_close(&device);
	return ret;
}

/* Choose the policy of the tested set of features, or a random one that the device can have. */
static const char *draw_policy_for_pair_test(struct life *life, const struct aftl_config *config)
{
	struct aftl_error error;
	u32 i;

	if (draw_pair_test_bool(life, 40))
		return life->set->policy;
	for (i = 0; i < DRAWS_MAX; i++) {
		const char *policy = test_draw_policy(false, &life->random);

		if (!try_create_device(config, policy, &error))
			return policy;
	}
	return life->set->policy;
}

/* Draw the parameters that no tested feature sets; keep those with which the device is valid. */
static void draw_params_outside_features(struct life *life, struct aftl_config *config)
{
	struct aftl_config drawn = *config;
	struct aftl_error error;

	drawn.wear_gap = draw_pair_test_u32(life, 3) * 4;
	drawn.read_limit = draw_pair_test_u32(life, 3) * 3;
	drawn.suspend = draw_pair_test_u32(life, 4);
	drawn.suspend_for_write = draw_pair_test_u32(life, 2);
	drawn.cache_commands = draw_pair_test_u32(life, 4);
	drawn.order = draw_pair_test_u32(life, 2);
	drawn.allocate = draw_pair_test_u32(life, AFTL_ALLOCATES);
	drawn.victim = draw_pair_test_bool(life, 50) ? AFTL_VICTIM_greedy :
							  draw_pair_test_u32(life, AFTL_VICTIMS);
	drawn.gc_idle_valid = draw_pair_test_u32(life, 10001);
	drawn.buffer_hold = draw_pair_test_u32(life, 3) * 700000;
	if (!try_create_device(&drawn, life->set->policy, &error))
		*config = drawn;
	config->seed = aftl_random_next(&life->random);
	drawn = *config;
	drawn.placement_groups = 1 + config->seed % 2;
	if (!try_create_device(&drawn, life->set->policy, &error))
		*config = drawn;
}

static void create_random_device(struct life *life)
{
	struct aftl_config config = life->set->config;
	struct durable_device *durable = &life->durable;

	draw_params_outside_features(life, &config);
	life->policy = draw_policy_for_pair_test(life, &config);
	life->other = draw_policy_for_pair_test(life, &config);
	if (durable_open_with_extents(durable, &config, life->policy,
				      draw_pair_test_bool(life, 50)))
		tap_bail_out("no such device");
	aftl_volume_header_set_shard(&durable->super, draw_pair_test_u32(life, (u32)config.shards));
	life->unwritable = UNWRITABLE;
	life->zones = (struct zone_stream){
		.random = &life->random,
		.reads = 25,
		.few = 1 + draw_pair_test_u32(life, 6),
		.flushes = draw_pair_test_u32(life, 25),
		.approx = 50,
	};
	test_stream_init(&life->stream, aftl_random_next(&life->random));
	life->stream.flush = draw_pair_test_u32(life, 80);
	life->stream.fua = draw_pair_test_u32(life, 80);
	life->stream.discard = draw_pair_test_u32(life, 20);
}

/* Sessions */

/* Make a random sector of the backing device unreadable or unwritable. */
static void fail_random_sector(struct life *life)
{
	struct durable_device *durable = &life->durable;
	u64 first = durable->super.layout.data * AFTL_FRAME_SECTORS;
	u64 end = durable->super.layout.frames * AFTL_FRAME_SECTORS;

	if (!life->set->failing)
		return;
	if (draw_pair_test_bool(life, 10))
		tally.hurt += durable_damage_sector(durable,
						    draw_pair_test_u32(life, durable->unit_count),
						    0);
	if (life->unwritable && draw_pair_test_bool(life, 1)) {
		durable->disk.unwritable[first + draw_pair_test_u32(life, (u32)(end - first))] =
			true;
		life->unwritable--;
	}
}

static void send_random_request(struct life *life)
{
	struct test_device *device = &life->durable.device;
	u32 queues = aftl_queue_weight_count(device->config.queue_weights);

	if (!aftl_geometry(device->ftl)->zones) {
		test_stream_submit_request(&life->stream, device);
		return;
	}
	if (device->config.queue_weights)
		device->queue = (u8)draw_pair_test_u32(life, queues + 1);
	zone_stream_submit_request(&life->zones, device);
	test_drain_requests_to_depth(device, draw_pair_test_u32(life, 20));
}

static void check_device_health(const struct life *life)
{
	const struct test_device *device = &life->durable.device;

	CHECK_EQ(test_counters(device)->policy_bugs, 0);
	CHECK_MSG(!aftl_is_read_only(device->ftl), "the device is read-only");
	/* On zoned devices, requests that the zone state does not allow fail. */
	if (!life->set->failing && !aftl_geometry(device->ftl)->zones)
		CHECK_MSG(device->failed <= life->durable.uncorrectable, "%llu requests failed",
			  (unsigned long long)device->failed);
}

static int run_requests_and_check_health(struct life *life, u32 steps)
{
	struct durable_device *durable = &life->durable;
	u32 lag = draw_pair_test_bool(life, 20) ? 0 : 1 + draw_pair_test_u32(life, 30);
	int ret = 0;

	while (!ret && steps-- && !tap_failure_count()) {
		fail_random_sector(life);
		send_random_request(life);
		ret = durable_execute_ops(durable, draw_pair_test_u32(life, lag + 1));
	}
	check_device_health(life);
	tally.collected += test_counters(&durable->device)->gc_blocks > 0;
	return ret;
}

/* Open the volume, with policy @wanted if the volume's state allows the policy. */
static int start_device_with_wanted_policy(struct life *life, const char *wanted)
{
	const char *policy = life->policy;
	int ret = durable_start_device(&life->durable, wanted, draw_pair_test_bool(life, 10));

	if (ret == -EINVAL && strcmp(wanted, policy) != 0)
		return durable_start_device(&life->durable, policy, draw_pair_test_bool(life, 10));
	if (ret)
		return ret;
	tally.changed_policy += strcmp(wanted, policy) != 0;
	life->policy = wanted;
	return 0;
}

/* Write every logical page once. A zoned device is left empty. */
static int fill_device_unless_zoned(struct life *life)
{
	struct durable_device *durable = &life->durable;

	if (aftl_geometry(durable->device.ftl)->zones)
		return 0;
	test_stream_write_all_units(&life->stream, &durable->device);
	return durable_drain_all_ops(durable);
}

static int run_device_until_clean_close(struct life *life, const char *policy, u32 steps)
{
	int ret = start_device_with_wanted_policy(life, policy);

	if (!ret && !life->filled)
		ret = fill_device_unless_zoned(life);
	life->filled = true;
	if (!ret)
		ret = run_requests_and_check_health(life, steps);
	return ret ? ret : durable_close_cleanly(&life->durable);
}

static bool check_call_succeeded(struct life *life, int ret, const char *what)
{
	return CHECK_MSG(!ret, "%s: %d: %s", what, ret, life->durable.device.error.text);
}

/* Recover the device after a power failure, continue, fail again, recover, close and reopen. */
static void recover_device_twice(struct life *life, enum disk_crash crash)
{
	const char *policy = draw_pair_test_bool(life, 50) ? life->policy : life->other;

	durable_crash(&life->durable, crash, &life->random);
	tally.crashes++;
	if (!check_call_succeeded(life, start_device_with_wanted_policy(life, policy),
				  "start after a power failure") ||
	    !check_call_succeeded(life,
				  run_requests_and_check_health(life,
								1 + draw_pair_test_u32(life, 60)),
				  "work after a power failure"))
		return;
	durable_crash(&life->durable, draw_pair_test_u32(life, DISK_CRASHES), &life->random);
	if (check_call_succeeded(life,
				 run_device_until_clean_close(life, life->other,
							      draw_pair_test_u32(life, 30)),
				 "a session after two"))
		check_call_succeeded(life, start_device_with_wanted_policy(life, life->policy),
				     "start after all");
}

/*
 * run_two_device_sessions() - run one life
 * @change: write or flush at which the power fails, from 1; 0: none
 *
 * Return: number of writes and flushes between format and the end or the failure.
 */
static u64 run_two_device_sessions(const struct feature_set *set, u64 seed, u64 change,
				   enum disk_crash crash)
{
	struct life *life = calloc(1, sizeof(*life));
	u64 formatted;
	u64 changes;
	int ret;

	if (!life)
		tap_bail_out("out of memory");
	life->random = (struct aftl_random){ aftl_hash64(seed) };
	life->set = set;
	create_random_device(life);
	check_call_succeeded(life, durable_format(&life->durable), "format");
	formatted = life->durable.disk.changes;
	life->durable.disk.power_off_at = change ? formatted + change : 0;
	ret = run_device_until_clean_close(life, life->policy, 1000);
	if (!ret)
		ret = run_device_until_clean_close(life, life->other, 500);
	changes = life->durable.disk.changes - formatted;
	if (CHECK_MSG(!ret || life->durable.disk.off, "work: %d: %s", ret,
		      life->durable.device.error.text))
		recover_device_twice(life, crash);
	tally.displaced += life->durable.displaced;
	if (tap_failure_count()) {
		test_print_config(&life->durable.device, life->policy, seed);
		tap_printf("again: test-pairs %s %llu %llu %u", set->name, (unsigned long long)seed,
			   (unsigned long long)change, crash);
	}
	durable_close(&life->durable);
	free(life);
	return changes;
}

/* Repeat both sessions with a power failure at @samples of the disk's changes, or at each. */
static void run_sessions_with_power_failures(const struct feature_set *set, u64 seed, u64 samples)
{
	struct aftl_random random = { aftl_hash64_pair(seed, set->mask) };
	u64 life = aftl_random_next(&random) >> 32;
	u64 changes = run_two_device_sessions(set, life, 0, DISK_CRASH_ALL);
	u64 i;

	for (i = 1; i <= min(samples, changes) && !tap_failure_count(); i++) {
		u64 change = samples < changes ? 1 + aftl_random_below(&random, changes) : i;

		run_two_device_sessions(set, life, change,
					aftl_random_below(&random, DISK_CRASHES));
	}
}

/* Pairs and triples */

static void check_feature_pair_is_refused(const struct feature_set *set)
{
	struct aftl_error error = { "" };

	CHECK_MSG(try_create_device(&set->config, set->policy, &error),
		  "%s is accepted; the table says that it is refused", set->name);
	CHECK_MSG(strchr(error.text, ':') || strstr(error.text, "policy"),
		  "\"%s\" does not begin with what is wrong", error.text);
	CHECK_MSG(strchr(error.text, ';') || strstr(error.text, " not go together with "),
		  "\"%s\" has no remedy", error.text);
	tap_printf("%s: %s", set->name, error.text);
	tally.refused++;
}

static void check_device_with_feature_set(u32 mask, u64 seed, u64 samples)
{
	struct aftl_error error = { "" };
	struct feature_set set;

	features_make_set_config(&features, mask, &set);
	tap_begin("%s", set.name);
	if (set.refused)
		check_feature_pair_is_refused(&set);
	else if (CHECK_MSG(!try_create_device(&set.config, set.policy, &error), "%s", error.text))
		run_sessions_with_power_failures(&set, seed, samples);
	tally.accepted += !set.refused;
	tap_end();
}

/* Draw three different features, of which a device can have any two. */
static u32 draw_feature_triple(struct aftl_random *random)
{
	struct feature_set set;
	u32 mask;

	do {
		mask = 0;
		while (hweight64(mask) < 3)
			mask |= BIT(aftl_random_below(random, features.count));
		features_make_set_config(&features, mask, &set);
	} while (set.refused);
	return mask;
}

static void try_all_feature_pairs(u64 seed, u64 samples, u32 triples)
{
	struct aftl_random random = { aftl_hash64(seed) };
	u32 i;
	u32 j;

	for (i = 0; i < features.count; i++)
		for (j = i; j < features.count; j++)
			check_device_with_feature_set(BIT(i) | BIT(j), seed, samples);
	for (i = 0; i < triples; i++)
		check_device_with_feature_set(draw_feature_triple(&random), seed, samples);
	tap_printf("%u devices accepted, %u refused", tally.accepted, tally.refused);
	tap_printf("%llu power failures; %llu policy changes, %llu sessions with collection",
		   (unsigned long long)tally.crashes, (unsigned long long)tally.changed_policy,
		   (unsigned long long)tally.collected);
	tap_printf("%llu unreadable units, %llu displaced ones", (unsigned long long)tally.hurt,
		   (unsigned long long)tally.displaced);
}

TAP_TEST(the_random_runs_covered_every_case)
{
	CHECK_RANGE(tally.crashes, tally.accepted, U64_MAX);
	CHECK_RANGE(tally.changed_policy, tally.accepted, U64_MAX);
	CHECK_RANGE(tally.collected, tally.accepted, U64_MAX);
	CHECK_RANGE(tally.hurt, 1, U64_MAX);
	CHECK_RANGE(tally.displaced, 1, U64_MAX);
}

static u64 parse_u64_arg(const char *word, u64 otherwise)
{
	return word ? strtoull(word, NULL, 10) : otherwise;
}

static void try_named_features(int argc, char **argv, u64 seed)
{
	u32 mask = features_find_by_names(&features, argv[1]);
	struct feature_set set;

	if (argc < 4) {
		check_device_with_feature_set(mask, argc > 2 ? parse_u64_arg(argv[2], 0) : seed,
					      U64_MAX);
		return;
	}
	features_make_set_config(&features, mask, &set);
	tap_begin("%s", set.name);
	run_two_device_sessions(&set, parse_u64_arg(argv[2], 0), parse_u64_arg(argv[3], 0),
				parse_u64_arg(argc > 4 ? argv[4] : NULL, DISK_CRASH_ALL) %
					DISK_CRASHES);
	tap_end();
}

int main(int argc, char **argv)
{
	u64 seed = parse_u64_arg(getenv("AFTL_PAIRS_SEED"), FIRST_SEED);
	u64 samples = parse_u64_arg(getenv("AFTL_CRASH_STATES"), SAMPLES);
	bool all = argc == 2 && !strcmp(argv[1], "all");

	features_read_table(&features);
	if (argc > 1 && !all) {
		try_named_features(argc, argv, seed);
		return tap_finish();
	}
	try_all_feature_pairs(seed, all || !samples ? U64_MAX : samples, all ? 200 : TRIPLES);
	return tap_run_all();
}
