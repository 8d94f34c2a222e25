// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random devices that lose power again and again, at any write or flush, while they work, are
 * formatted, recovered or closed. Nothing that a completed flush or FUA write covered is lost, no
 * unit returns torn data or another unit's data, and the device keeps working. On zoned devices,
 * flushed resets are durable, and data below a write pointer are no older than the last reset.
 *
 * test-crash [SEED [LIVES [KIND]]]: AFTL_CRASH_LIVES=N in the environment sets LIVES, the number of
 * devices. A failing device prints its seed; "test-crash SEED 1 KIND" repeats it.
 */
#include <stdlib.h>

#include "core/ftl/controller.h"
#include "core/persist/volume-private.h"
#include "lib/durable-device.h"
#include "lib/zone-stream.h"
#include "stream.h"
#include "tap.h"

#define FIRST_SEED 20250101
#define LIVES 420
#define ZONED_LIVES 200
#define CROSSED_LIVES 50
#define CRASHES_OF_LIFE 26
#define CRASHES_WANTED 10000

/* Limit of the size of a backing device, which is read completely after each crash. */
#define MEDIA_MAX (3 << 20)

/**
 * struct tally - numbers of events; the test fails if the random devices had too few
 */
struct tally {
	u32 crashes;
	u32 in_format;
	u32 in_start;
	u32 in_work;
	u32 in_shut;
	u32 shut;
	u32 changed_policy;
	u32 collected;
	u32 again;
	u32 retired;
	u32 dead;
	u32 zoned_dead;
	u32 rebuilt;
	u32 map_written;
	u32 map_moved;
	u32 map_crashed;
	u32 safe_crashed;
	u32 safe_beside;
	u32 safe_units;
	u32 uncorrectable;
	u32 cut;
	u64 zone_resets;
	u64 zones_moved;
	u32 zoned_faults;
	u32 parity_faults;
	u32 other_faults;
};

static struct tally tally;

/**
 * enum kind - what the parameters of a random device emphasise
 * @ANY: no particular feature
 * @AGAIN: reprogrammed pages and a small persistent buffer
 * @MORTAL: a small persistent buffer and die failures
 * @WORN: sometimes more errors than ECC corrects
 * @ZONED: zones
 * @CROSSED: as ANY, with features combined that other devices do not combine
 * @CROSSED_AGAIN: as AGAIN, with such features combined
 */
enum kind { ANY, AGAIN, MORTAL, WORN, ZONED, CROSSED, CROSSED_AGAIN, KINDS };

/**
 * struct life - a random device and the random choices for it
 * @durable: the device
 * @random: random number generator
 * @policy: current policy
 * @steps: largest number of requests between two crashes
 * @kind: what the device's parameters emphasise
 * @crossed: features are combined that other devices do not combine
 * @may_wear: blocks may fail until too few are left
 * @dies_fail: dies fail; such a zoned device also has an SLC cache
 * @dead: number of dead dies
 * @requests: parameters of the requests, if the device is zoned
 * @tight: nothing is relocated or padded, so zones must not take extra blocks
 * @faults: draws the logical pages that faults make uncorrectable; it is separate so that each life
 *	has the same requests with and without them
 * @faulty: faults make logical pages uncorrectable
 */
struct life {
	struct durable_device durable;
	struct aftl_random random;
	const char *policy;
	u32 steps;
	enum kind kind;
	bool crossed;
	bool may_wear;
	bool dies_fail;
	u32 dead;
	struct zone_stream requests;
	bool tight;
	struct aftl_random faults;
	bool faulty;
};

static u32 draw_crash_test_u32(struct life *life, u32 n)
{
	return (u32)aftl_random_below(&life->random, n);
}

static bool draw_crash_test_bool(struct life *life, u32 percent)
{
	return draw_crash_test_u32(life, 100) < percent;
}

/* Geometry */

/* An eighth of the random devices have superblocks, most of them with parity. */
static void configure_random_superblocks(struct aftl_config *config)
{
	struct aftl_random random = { ~config->seed };

	if (aftl_random_below(&random, 8))
		return;
	config->channels = 2 + aftl_random_below(&random, 2) * 2;
	config->planes = 1;
	config->superblock = 2 + aftl_random_below(&random, 2) * (config->channels - 2);
	config->rain = aftl_random_below(&random, 4) > 0;
	config->blocks += 8;
	config->op = 4000 + aftl_random_below(&random, 5000);
	config->slc_static = 0;
	config->slc_dynamic = 0;
	config->passes = 1;
	config->read_cache = 0;
	config->victim = AFTL_VICTIM_greedy;
	/* Bad blocks would leave stripes without the parity that reconstructs lost pages. */
	config->bad = 0;
	config->errors = false;
	config->endurance = 0;
}

/* A seventh of the remaining devices caches little or all of its mapping table. */
static void configure_random_mapping_cache(struct aftl_config *config)
{
	struct aftl_random random = { aftl_hash64(config->seed) };
	u64 program;

	if (config->superblock || config->passes > 1 || aftl_random_below(&random, 7))
		return;
	config->unit = 512;
	config->page = 512ULL << aftl_random_below(&random, 3);
	config->planes = 1;
	config->blocks += 10;
	config->layers += 3;
	config->word_lines += 3;
	config->op = 3000 + aftl_random_below(&random, 5000);
	program = config->page * (config->one_shot ? config->bits : 1);
	config->map_cache = 2 * config->channels * program + 512 * aftl_random_below(&random, 8);
}

/* An eighth of the remaining devices programs in two passes, with as few blocks as possible. */
static void configure_random_two_pass_flash(struct aftl_config *config)
{
	struct aftl_random random = { config->seed };

	if (config->superblock || config->map_cache || aftl_random_below(&random, 8))
		return;
	config->bits = 4;
	config->one_shot = true;
	config->passes = 2;
	config->channels = 1;
	config->blocks = 10 + aftl_random_below(&random, 6);
	config->op = 4000 + aftl_random_below(&random, 1500);
}

static void configure_small_plp_buffer(struct life *life, struct aftl_config *config)
{
	u64 wanted = (u64)config->unit * (1 + draw_crash_test_u32(life, 40));

	config->buffer = max(wanted, 2 * config->page * config->bits * config->passes);
	config->buffer_safe = true;
	config->errors = false;
}

/* Draw a device without parity whose dies may fail, and whose erases are faster than programs. */
static void configure_random_die_failures(struct life *life, struct aftl_config *config)
{
	config->superblock = 0;
	config->rain = false;
	config->channels = 2 + draw_crash_test_u32(life, 3);
	config->planes = 1;
	config->passes = 1;
	config->blocks = 10 + draw_crash_test_u32(life, 10);
	config->op = 6000;
	config->erase = 1000;
}

/* Draw a high bit error rate and a weak ECC. */
static void draw_error_rates(struct life *life, struct aftl_config *config)
{
	config->errors = !config->rain;
	config->rber = 1000000000;
	config->ecc_bits = 10 + draw_crash_test_u32(life, 20);
	config->ecc_levels = draw_crash_test_u32(life, 3);
}

static void draw_zone_params(struct life *life, struct aftl_config *config)
{
	u32 units = 4U << draw_crash_test_u32(life, 5);

	config->blocks = 12 + draw_crash_test_u32(life, 30);
	config->op = 6000;
	config->bad = 0;
	config->endurance = 0;
	config->fill = AFTL_FILL_NONE;
	config->passes = 1;
	config->slc_static *= life->dies_fail;
	config->slc_dynamic *= life->dies_fail;
	if (life->dies_fail)
		config->channels = 2 + draw_crash_test_u32(life, 3);
	config->zoned = config->unit * units;
	config->zone_capacity = draw_crash_test_bool(life, 50) ?
					config->unit * (1 + draw_crash_test_u32(life, units)) :
					0;
	config->max_active_zones = 1 + draw_crash_test_u32(life, 5);
	config->max_open_zones = draw_crash_test_u32(life, (u32)config->max_active_zones + 1);
	config->buffer_safe = AFTL_ON;
	config->buffer = 4096 * config->unit;
	config->wear_gap = life->tight ? 0 : draw_crash_test_u32(life, 3);
	config->read_limit = !life->tight;
}

/*
 * Combine features that other random devices never combine: superblocks with several planes, an SLC
 * cache and each victim selector; translation pages on flash; placement handles; two passes.
 */
static void configure_crossed_features(struct aftl_config *config)
{
	struct aftl_random random = { config->seed ^ 77 };

	if (aftl_random_below(&random, 2)) {
		config->placement_handles = 1 + aftl_random_below(&random, 4);
		config->placement_isolation = aftl_random_below(&random, 2);
		config->blocks += aftl_random_below(&random, 30);
	}
	if (aftl_random_below(&random, 2)) {
		config->channels = 2 + aftl_random_below(&random, 2) * 2;
		config->planes = 1 + aftl_random_below(&random, 2);
		config->superblock = 2 + aftl_random_below(&random, 2) * (config->channels - 2);
		config->rain = aftl_random_below(&random, 2);
		config->blocks += 8 + aftl_random_below(&random, 30);
		config->op = 4000 + aftl_random_below(&random, 5000);
		config->bad = 0;
		config->errors = false;
		config->endurance = 0;
	}
	if (!aftl_random_below(&random, 3) && config->bits > 1) {
		config->slc_static = aftl_random_below(&random, 3) * 700;
		config->slc_dynamic = aftl_random_below(&random, 3) * 3000;
		config->blocks += aftl_random_below(&random, 20);
	}
	if (!aftl_random_below(&random, 3)) {
		config->blocks += 10;
		config->map_cache = 2 * config->channels * config->page * 3;
		if (aftl_random_below(&random, 2))
			config->map_cache = 65536ULL << aftl_random_below(&random, 4);
		else
			config->map_cache += 512 * aftl_random_below(&random, 8);
	}
	if (!aftl_random_below(&random, 6) && config->bits > 2)
		config->passes = 2;
	if (config->placement_handles &&
	    config->channels % max(2 * config->superblock, (u64)2) == 0)
		config->placement_groups = 2;
}

static void draw_scenario_config(struct life *life, struct aftl_config *config)
{
	static const u32 units[] = { 512, 1024, 4096, 4096 };
	struct test_device device;
	u32 unit = units[draw_crash_test_u32(life, ARRAY_SIZE(units))];

	test_device_init(&device, "demo");
	test_randomize_geometry(&device, &life->random);
	test_randomize_options(&device, &life->random);
	*config = device.config;
	config->blocks = 5 + draw_crash_test_u32(life, 36);
	config->chips = 1;
	config->dies = 1;
	config->unit = unit;
	config->page = (u64)unit << draw_crash_test_u32(life, 3);
	config->op = 1500 + draw_crash_test_u32(life, 4000);
	config->bad = draw_crash_test_bool(life, 15) ? 30000000000ULL : 0;
	config->endurance =
		draw_crash_test_bool(life, 10) ? 8 + draw_crash_test_u32(life, 20) : 0;
	if (life->kind == ZONED) {
		draw_zone_params(life, config);
		return;
	}
	configure_random_superblocks(config);
	configure_random_mapping_cache(config);
	configure_random_two_pass_flash(config);
	if (life->kind == AGAIN || life->kind == MORTAL)
		configure_small_plp_buffer(life, config);
	if (life->kind == MORTAL)
		configure_random_die_failures(life, config);
	if (life->kind == WORN)
		draw_error_rates(life, config);
	if (life->crossed)
		configure_crossed_features(config);
	life->may_wear = config->bad || config->endurance ||
			 (config->rain && config->superblock > 2 && config->seed & 1) ||
			 life->kind == MORTAL;
}

static bool is_config_small_enough(const struct aftl_config *config)
{
	struct aftl_error error;
	struct aftl_geometry geo;

	return !aftl_geometry_init(&geo, config, &error) &&
	       (u64)geo.ppns * geo.unit_bytes <= MEDIA_MAX;
}

/* Set the smallest write buffer that the zoned device accepts. */
static bool shrink_write_buffer(const char *policy, struct aftl_config *config)
{
	struct test_device device;

	test_device_init(&device, "demo");
	device.config = *config;
	if (test_device_create(&device, policy))
		return false;
	config->buffer = (config->max_active_zones * device.ftl->geo.zone_luns + 1) *
			 device.ftl->program_units * device.ftl->geo.unit_bytes;
	test_device_close(&device);
	return true;
}

/* Draw policy ressd, which reprograms pages, more often than others; it needs three-bit cells. */
static const char *draw_scenario_policy(struct life *life)
{
	if (life->kind == ZONED)
		return test_draw_policy(true, &life->random);
	if (life->kind == AGAIN || draw_crash_test_bool(life, life->kind == MORTAL ? 50 : 12))
		return "ressd";
	return test_draw_policy(false, &life->random);
}

/* Draw until a device can be created: not every policy fits every geometry. */
static void create_random_device(struct life *life)
{
	struct aftl_config config;

	for (;;) {
		life->policy = draw_scenario_policy(life);
		do {
			draw_scenario_config(life, &config);
			if (!strcmp(life->policy, "ressd"))
				config.bits = 3;
			if (config.passes > 1)
				life->policy = draw_crash_test_bool(life, 50) ? "tlc" :
										   "baseline";
		} while (!is_config_small_enough(&config));
		if (life->kind == ZONED && !shrink_write_buffer(life->policy, &config))
			continue;
		if (durable_open_with_extents(&life->durable, &config, life->policy,
					      aftl_hash64_pair(config.seed, 3) % 3 == 0))
			continue;
		if (!durable_format(&life->durable))
			return;
		durable_close(&life->durable);
	}
}

/* Crashes */

static void arm_power_failure(struct life *life, u32 changes)
{
	life->durable.disk.power_off_at =
		life->durable.disk.changes + 1 + draw_crash_test_u32(life, changes);
}

static bool is_buffer_persistent(const struct life *life)
{
	return life->durable.super.config.buffer && life->durable.super.config.buffer_safe;
}

static void crash_device(struct life *life)
{
	durable_crash(&life->durable, draw_crash_test_u32(life, DISK_CRASHES), &life->random);
	tally.crashes++;
	tally.map_crashed += life->durable.super.config.map_cache > 0;
	tally.safe_crashed += is_buffer_persistent(life);
	tally.safe_beside += is_buffer_persistent(life) && (life->durable.super.config.map_cache ||
							    life->durable.super.config.passes > 1);
}

/* Check that an error was caused by the armed power failure. */
static bool check_error_is_power_failure(struct life *life, int ret, const char *doing)
{
	return CHECK_MSG(life->durable.disk.off, "%s: %d: %s", doing, ret,
			 life->durable.device.error.text);
}

/* A power failure during a format leaves no volume, or one without data. */
static void crash_device_during_format(struct life *life)
{
	int ret;

	arm_power_failure(life, 40);
	ret = durable_format(&life->durable);
	if (ret && !check_error_is_power_failure(life, ret, "format"))
		return;
	tally.in_format += ret != 0;
	crash_device(life);
	ret = durable_start_device(&life->durable, life->policy, false);
	if (ret)
		CHECK_MSG(strlen(life->durable.device.error.text) > 5, "%d has no sentence", ret);
	durable_stop(&life->durable);
	ret = durable_format(&life->durable);
	CHECK_MSG(!ret, "format: %d: %s", ret, life->durable.device.error.text);
}

/* Sessions */

static void count_events_of_scenario(const struct durable_device *durable)
{
	const struct aftl_counters *counters = test_counters(&durable->device);

	tally.collected += counters->gc_blocks > 0;
	tally.again += counters->reprogrammed_pages > 0;
	tally.retired += counters->retired_blocks > 0;
	tally.rebuilt += counters->programmed_rebuild_units > 0;
	tally.map_written += counters->programmed_map_units > 0;
	tally.map_moved += counters->map_moved_units > 0;
	tally.uncorrectable += durable->uncorrectable > 0;
	tally.zone_resets += counters->zone_resets;
	if (aftl_geometry(durable->device.ftl)->zones)
		tally.zones_moved += counters->programmed_wear_units +
				     counters->programmed_refresh_units;
}

static void fail_random_block(struct life *life)
{
	struct test_device *device = &life->durable.device;
	u32 block = draw_crash_test_u32(life, aftl_geometry(device->ftl)->blocks);

	if (life->may_wear && draw_crash_test_bool(life, 20) &&
	    aftl_fail_block(device->ftl, block))
		CHECK_EQ(aftl_media(device->ftl)->blocks[block].state, AFTL_BLOCK_BAD);
}

/* With parity one die failure loses no data, but the device may lack space for writes. */
static void fail_random_die(struct life *life)
{
	struct test_device *device = &life->durable.device;

	if (!device->config.rain || life->dead || !draw_crash_test_bool(life, 10))
		return;
	life->may_wear = true;
	life->dead = 1;
	tally.dead++;
	CHECK_EQ(aftl_fail_lun(device->ftl,
			       draw_crash_test_u32(life, aftl_geometry(device->ftl)->luns)),
		 0);
}

/* Rarely fail a die, more often if buffered data may wait for PLP slots; then maybe the power. */
static void fail_die_then_power(struct life *life)
{
	const struct aftl *ftl = life->durable.device.ftl;
	u32 luns = aftl_geometry(ftl)->luns;

	if (!life->dies_fail || life->dead + 1 >= luns ||
	    draw_crash_test_u32(life, life->durable.keeps ? 30 : 300))
		return;
	life->dead++;
	tally.dead++;
	tally.zoned_dead += life->kind == ZONED;
	CHECK_EQ(durable_fail_die(&life->durable, draw_crash_test_u32(life, luns)), 0);
	if (draw_crash_test_bool(life, 50))
		arm_power_failure(life, 60);
}

static void make_random_unit_uncorrectable(struct life *life)
{
	struct durable_device *durable = &life->durable;

	if (!life->faulty || aftl_random_below(&life->faults, 8) ||
	    !durable_fail_unit(durable,
			       (u32)aftl_random_below(&life->faults, durable->unit_count)))
		return;
	if (life->kind == ZONED)
		tally.zoned_faults++;
	else if (durable->device.config.rain)
		tally.parity_faults++;
	else
		tally.other_faults++;
}

static void draw_request_stream(struct life *life, struct test_stream *stream)
{
	test_stream_init(stream, aftl_random_next(&life->random));
	stream->read = draw_crash_test_u32(life, 30);
	stream->discard = draw_crash_test_u32(life, 20);
	stream->flush = draw_crash_test_u32(life, 80);
	stream->fua = draw_crash_test_u32(life, 80);
	stream->depth = 1 + draw_crash_test_u32(life, 24);
	stream->hot = draw_crash_test_u32(life, 100);
}

/* Send random requests to a zoned device; return true if power is still on. */
static bool send_requests_to_zoned_device(struct life *life)
{
	struct durable_device *durable = &life->durable;
	u32 lag = draw_crash_test_bool(life, 20) ? 0 : 1 + draw_crash_test_u32(life, 30);
	u32 steps = 1 + draw_crash_test_u32(life, 300);
	u32 depth = draw_crash_test_u32(life, 20);

	while (steps-- && !tap_failure_count()) {
		zone_stream_submit_request(&life->requests, &durable->device);
		test_drain_requests_to_depth(&durable->device, depth);
		fail_die_then_power(life);
		make_random_unit_uncorrectable(life);
		if (durable_execute_ops(durable, draw_crash_test_u32(life, lag + 1)))
			return false;
	}
	return true;
}

/* Send requests to a device without zones; return true if power is still on. */
static bool run_session_of_requests(struct life *life)
{
	struct durable_device *durable = &life->durable;
	u32 steps = 1 + draw_crash_test_u32(life, life->steps);
	u32 lag = draw_crash_test_bool(life, 20) ?
			  0 :
			  1 + draw_crash_test_u32(life, life->kind == MORTAL ? 150 : 30);
	struct test_stream stream;

	draw_request_stream(life, &stream);
	/* A die failure fails the reads in progress on the die, even of units rewritten since. */
	if (life->dies_fail)
		stream.read = 0;
	durable->batched = life->kind == MORTAL;
	fail_random_block(life);
	fail_random_die(life);
	while (steps-- && !tap_failure_count()) {
		test_stream_submit_request(&stream, &durable->device);
		fail_die_then_power(life);
		make_random_unit_uncorrectable(life);
		if (durable_execute_ops(durable, draw_crash_test_u32(life, lag + 1)))
			return false;
	}
	return true;
}

/* A device with blocks that never wear out must not fail requests or become read-only. */
static void check_device_health(struct life *life)
{
	const struct test_device *device = &life->durable.device;

	if (life->may_wear || !device->ftl)
		return;
	CHECK_MSG(!aftl_is_read_only(device->ftl), "the device is read-only");
	/* On zoned devices, requests that the zone state does not allow fail. */
	CHECK_MSG(life->kind == ZONED || life->faulty ||
		  device->failed <= life->durable.uncorrectable,
		  "%llu requests failed", (unsigned long long)device->failed);
	CHECK_EQ(test_counters(device)->policy_bugs, 0);
}

static void check_device_and_end_session(struct life *life, bool on)
{
	struct durable_device *durable = &life->durable;
	int ret = durable->ret;

	count_events_of_scenario(durable);
	check_device_health(life);
	if (!on && check_error_is_power_failure(life, ret, "work"))
		tally.in_work++;
	if (!on || draw_crash_test_bool(life, 30))
		return;
	if (life->kind == ZONED && !life->tight && draw_crash_test_bool(life, 50))
		test_flush_writes(&durable->device);
	if (draw_crash_test_bool(life, 50))
		arm_power_failure(life, 30);
	ret = durable_close_cleanly(durable);
	if (ret && check_error_is_power_failure(life, ret, "close"))
		tally.in_shut++;
	tally.shut += !ret;
}

static void choose_session_policy(struct life *life)
{
	if (!draw_crash_test_bool(life, 10))
		return;
	tally.changed_policy++;
	life->policy = draw_scenario_policy(life);
}

/*
 * However often power failed, a zone must have no more blocks in a LUN than it needs, or one more
 * if other zones had all open blocks.
 */
static void check_blocks_used_by_zones(const struct aftl *ftl)
{
	u32 *blocks = calloc((size_t)ftl->geo.zones * ftl->geo.luns, sizeof(*blocks));
	bool counted = false;
	u32 i;

	for (i = 0; i < ftl->geo.ppns; i++) {
		u32 zone = from_lpn(aftl_ppn_lpn(&ftl->media, to_ppn(i))) / ftl->geo.zone_units;
		u32 lun = i / ftl->geo.block_ppns / ftl->geo.blocks_per_lun;

		counted &= i % ftl->geo.block_ppns > 0;
		if (counted || !aftl_ppn_is_valid(&ftl->media, to_ppn(i)))
			continue;
		counted = true;
		CHECK_MSG(++blocks[zone * ftl->geo.luns + lun] <= ftl->geo.zone_blocks + 1,
			  "zone %u has too many blocks of LUN %u", zone, lun);
	}
	free(blocks);
}

/* Check the zones of a loaded device, before it is marked as in use. */
static int check_loaded_zones(struct life *life)
{
	struct durable_device *durable = &life->durable;
	int ret = durable_load_device(durable, life->policy, draw_crash_test_bool(life, 10));
	const struct aftl *ftl = durable->device.ftl;
	u32 active = 0;
	u32 i;

	if (ret)
		return ret;
	tally.cut += !!durable->volume->invalidated;
	for (i = 0; i < ftl->geo.zones; i++)
		active += aftl_zone_is_active(&ftl->zones.all[i]);
	CHECK_RANGE(active, 0, ftl->config.max_active_zones);
	if (life->tight)
		check_blocks_used_by_zones(ftl);
	durable_stop(durable);
	return 0;
}

/* Open the volume with any policy that fits the device. */
static int start_session(struct life *life)
{
	const char *policy = life->policy;
	bool scan = draw_crash_test_bool(life, 10);
	int ret = life->kind == ZONED ? check_loaded_zones(life) : 0;

	if (ret)
		return ret;
	choose_session_policy(life);
	ret = durable_start_device(&life->durable, life->policy, scan);
	if (ret == -EINVAL && strcmp(policy, life->policy) != 0) {
		life->policy = policy;
		ret = durable_start_device(&life->durable, life->policy, scan);
	}
	tally.safe_units += ret ? 0 : durable_count_buffered_units(&life->durable);
	if (!ret && !strcmp(policy, life->policy))
		CHECK_TEXT(life->durable.recovery.snapshot.text, "");
	return ret;
}

static void run_scenario_session(struct life *life)
{
	int ret;

	arm_power_failure(life, draw_crash_test_bool(life, 10) ? 8 :
				draw_crash_test_bool(life, 50) ? 60 :
								    1000);
	ret = start_session(life);
	if (ret && check_error_is_power_failure(life, ret, "start"))
		tally.in_start++;
	if (!ret)
		check_device_and_end_session(life, life->kind == ZONED ?
							   send_requests_to_zoned_device(life) :
							   run_session_of_requests(life));
	crash_device(life);
}

static void fill_scenario_device(struct life *life)
{
	struct test_stream stream;
	int ret = durable_start_device(&life->durable, life->policy, false);

	if (ret) {
		CHECK_MSG(false, "start: %d: %s", ret, life->durable.device.error.text);
		return;
	}
	test_stream_init(&stream, aftl_random_next(&life->random));
	test_stream_write_all_units(&stream, &life->durable.device);
	CHECK_EQ(durable_drain_all_ops(&life->durable), 0);
	check_device_health(life);
	durable_stop(&life->durable);
}

static void run_all_sessions_of_scenario(struct life *life)
{
	u32 i;

	if (draw_crash_test_bool(life, 40))
		crash_device_during_format(life);
	if (life->kind != ZONED && draw_crash_test_bool(life, 70))
		fill_scenario_device(life);
	for (i = 0; i < CRASHES_OF_LIFE && !tap_failure_count(); i++)
		run_scenario_session(life);
	if (draw_crash_test_bool(life, 40))
		crash_device_during_format(life);
}

static bool run_scenario_of_seed(u64 seed, enum kind kind)
{
	struct life life = {
		.random = { aftl_hash64(seed) },
		.kind = kind == CROSSED ? ANY : kind == CROSSED_AGAIN ? AGAIN : kind,
		.crossed = kind >= CROSSED,
		.faults = { seed },
		.faulty = seed % 4 == 1,
		.dies_fail = kind == MORTAL || (kind == ZONED && seed % 4 == 2),
	};

	life.may_wear = life.dies_fail;
	life.tight = kind == ZONED && !life.dies_fail && draw_crash_test_bool(&life, 50);
	create_random_device(&life);
	life.steps = 10 + draw_crash_test_u32(&life, 400);
	if (kind == ZONED)
		life.requests = (struct zone_stream){
			.random = &life.random,
			.reads = life.dies_fail ? 0 : 25,
			.few = 1 + draw_crash_test_u32(&life, 6),
			.flushes = draw_crash_test_u32(&life, 25),
		};
	run_all_sessions_of_scenario(&life);
	if (tap_failure_count())
		test_print_config(&life.durable.device, life.policy, seed);
	durable_close(&life.durable);
	return !tap_failure_count();
}

static void report_scenario_coverage(void)
{
	tap_printf("%u crashes: %u in format, %u in start, %u in work, %u in close; %u closed",
		   tally.crashes, tally.in_format, tally.in_start, tally.in_work, tally.in_shut,
		   tally.shut);
	tap_printf("%u policy changes; sessions with collection %u, reprograms %u, bad blocks %u",
		   tally.changed_policy, tally.collected, tally.again, tally.retired);
	tap_printf("%u crashes of a map on flash; sessions that wrote it %u, moved it %u",
		   tally.map_crashed, tally.map_written, tally.map_moved);
	tap_printf("%u crashes of a buffer that survives them, %u units found in it",
		   tally.safe_crashed, tally.safe_units);
	tap_printf("%u of them beside a map on flash or a second pass", tally.safe_beside);
	tap_printf("%u sessions after reads beyond what ECC corrects", tally.uncorrectable);
	tap_printf("uncorrectable units: %u of zones, %u with parity, %u others",
		   tally.zoned_faults, tally.parity_faults, tally.other_faults);
	tap_printf("%u dead dies, %u sessions with rebuilding", tally.dead, tally.rebuilt);
	tap_printf("%llu zone resets, %u starts with a cut, %llu units of zones moved",
		   (unsigned long long)tally.zone_resets, tally.cut,
		   (unsigned long long)tally.zones_moved);
}

static void run_zoned_scenarios(void)
{
	u32 safe_units = tally.safe_units;
	u32 in_start = tally.in_start;
	u32 in_work = tally.in_work;
	u32 in_shut = tally.in_shut;
	u64 i;

	for (i = 0; i < ZONED_LIVES && run_scenario_of_seed(FIRST_SEED + i, ZONED); i++)
		;
	report_scenario_coverage();
	CHECK_RANGE(tally.in_start - in_start, 50, U32_MAX);
	CHECK_RANGE(tally.in_work - in_work, 500, U32_MAX);
	CHECK_RANGE(tally.in_shut - in_shut, 50, U32_MAX);
	CHECK_RANGE(tally.safe_units - safe_units, 1000, U32_MAX);
	CHECK_RANGE(tally.cut, 50, U32_MAX);
	CHECK_RANGE(tally.zone_resets, 10000, U64_MAX);
	CHECK_RANGE(tally.zones_moved, 20, U64_MAX);
	CHECK_RANGE(tally.zoned_faults, 1000, U32_MAX);
	CHECK_RANGE(tally.zoned_dead, 50, U32_MAX);
}

static void run_crossed_scenarios(void)
{
	u32 collected = tally.collected;
	u64 i;

	for (i = 0; i < CROSSED_LIVES && run_scenario_of_seed(FIRST_SEED + i, CROSSED); i++)
		;
	for (i = 0; i < CROSSED_LIVES && run_scenario_of_seed(FIRST_SEED + i, CROSSED_AGAIN); i++)
		;
	report_scenario_coverage();
	CHECK_RANGE(tally.collected - collected, 500, U32_MAX);
}

TAP_TEST(the_random_runs_covered_every_case)
{
	CHECK_RANGE(tally.crashes, CRASHES_WANTED, U32_MAX);
	CHECK_RANGE(tally.in_format, 50, U32_MAX);
	CHECK_RANGE(tally.in_start, 50, U32_MAX);
	CHECK_RANGE(tally.in_work, 1000, U32_MAX);
	CHECK_RANGE(tally.in_shut, 100, U32_MAX);
	CHECK_RANGE(tally.shut, 100, U32_MAX);
	CHECK_RANGE(tally.changed_policy, 100, U32_MAX);
	CHECK_RANGE(tally.collected, 1000, U32_MAX);
	CHECK_RANGE(tally.again, 10, U32_MAX);
	CHECK_RANGE(tally.retired, 10, U32_MAX);
	CHECK_RANGE(tally.parity_faults, 100, U32_MAX);
	CHECK_RANGE(tally.other_faults, 1000, U32_MAX);
	CHECK_RANGE(tally.dead, 10, U32_MAX);
	CHECK_RANGE(tally.rebuilt, 10, U32_MAX);
	CHECK_RANGE(tally.map_crashed, 1000, U32_MAX);
	CHECK_RANGE(tally.map_written, 100, U32_MAX);
	CHECK_RANGE(tally.map_moved, 1, U32_MAX);
	CHECK_RANGE(tally.safe_crashed, 1000, U32_MAX);
	CHECK_RANGE(tally.safe_beside, 100, U32_MAX);
	CHECK_RANGE(tally.safe_units, 1000, U32_MAX);
}

static u64 parse_scenario_count(int argc, char **argv)
{
	const char *lives = argc > 2 ? argv[2] : getenv("AFTL_CRASH_LIVES");

	return lives ? strtoull(lives, NULL, 10) : LIVES;
}

static enum kind parse_life_kind(int argc, char **argv)
{
	static const char *const names[KINDS] = { "any", "again", "mortal", "worn", "zoned",
						  "crossed", "crossed-again" };
	u32 kind = 0;

	while (argc > 3 && kind < KINDS && strcmp(argv[3], names[kind]) != 0)
		kind++;
	if (kind == KINDS)
		tap_bail_out("there is no kind of life \"%s\"", argv[3]);
	return kind;
}

/* Seeds of devices that once lost data or hung in this test. */
static void rerun_failed_seeds(void)
{
	static const u64 seeds[] = { 1606, 5811, 15375, 16112, 31001125, 20250477 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(seeds); i++)
		run_scenario_of_seed(seeds[i], ANY);
	run_scenario_of_seed(101743, AGAIN);
	run_scenario_of_seed(70, MORTAL);
	run_scenario_of_seed(116, MORTAL);
	/* With seed 20260455 the write buffer has data of more zones than may be active. */
	run_scenario_of_seed(20260455, ZONED);
	/* Recovery must not accept a program that was aborted because its die died. */
	run_scenario_of_seed(30000138, ZONED);
	run_scenario_of_seed(50000286, ZONED);
	/* Pages of one program of a zone are before and beyond the recovered write pointer. */
	run_scenario_of_seed(3001374, ZONED);
	/* Empty SLC superblocks exist, but the LUN without a free page prefers another one. */
	run_scenario_of_seed(2000017, CROSSED);
	/* The parity of superblocks leaves a LUN fewer pages than static allocation gives it. */
	run_scenario_of_seed(20001268, CROSSED);
	/* The emptiest open block of a LUN that has run out of blocks holds parity. */
	run_scenario_of_seed(3001277, CROSSED_AGAIN);
	for (i = 1; i <= 12; i++)
		run_scenario_of_seed(i, WORN);
	CHECK_RANGE(tally.uncorrectable, 10, U32_MAX);
}

int main(int argc, char **argv)
{
	u64 seed = argc > 1 ? strtoull(argv[1], NULL, 10) : FIRST_SEED;
	u64 lives = parse_scenario_count(argc, argv);
	enum kind kind = parse_life_kind(argc, argv);
	u64 i;

	tap_begin("%llu lives from seed %llu on", (unsigned long long)lives,
		  (unsigned long long)seed);
	for (i = 0; i < lives && run_scenario_of_seed(seed + i, kind); i++)
		;
	report_scenario_coverage();
	tap_end();
	if (argc == 1) {
		tap_run("random scenarios that once lost data or hung pass", rerun_failed_seeds);
		tap_run("zoned devices survive random crashes", run_zoned_scenarios);
		tap_run("devices with rare combinations of features survive random crashes",
			run_crossed_scenarios);
	}
	return lives >= LIVES && kind == ANY ? tap_run_all() : tap_finish();
}
