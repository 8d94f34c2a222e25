// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random zoned devices that lose power again and again, at any write or flush. Each time the write
 * pointers and the data below them are compared with the promises: nothing that a completed flush
 * or FUA write covered is lost, a covered reset has happened, and below a write pointer all data
 * are of one life of the zone, without a gap.
 *
 * test-zones [SEED [LIVES]]: as test-crash.
 */
#include <stdlib.h>

#include "core/ftl/controller.h"
#include "core/persist/volume-private.h"
#include "lib/durable-device.h"
#include "lib/zone-stream.h"
#include "stream.h"
#include "tap.h"

#define FIRST_SEED 20250301
#define LIVES 200
#define CRASHES_OF_LIFE 25

/* Limit of media size, as each is read completely after each crash. */
#define MEDIA_MAX (3 << 20)

static struct {
	u32 crashes;
	u32 in_start;
	u32 in_work;
	u32 in_shut;
	u32 shut;
	u32 kept;
	u32 cut;
	u32 full;
	u64 resets;
	u64 finishes;
	u64 moved;
} tally;

/**
 * struct life - one device and its random choices
 * @durable: the device
 * @random: random number generator
 * @policy: its policy, which does not place zone data
 * @requests: parameters of its requests
 * @tight: no relocation and padding, so that zones must not take extra blocks
 */
struct life {
	struct durable_device durable;
	struct aftl_random random;
	const char *policy;
	struct zone_stream requests;
	bool tight;
};

static u32 zone_below(struct life *life, u32 n)
{
	return (u32)aftl_random_below(&life->random, n);
}

static bool zone_chance(struct life *life, u32 percent)
{
	return zone_below(life, 100) < percent;
}

/* Geometry */

static void draw_zones(struct life *life, struct aftl_config *config)
{
	u32 units = 4U << zone_below(life, 5);

	config->zoned = config->unit * units;
	config->zone_capacity = zone_chance(life, 50) ?
				config->unit * (1 + zone_below(life, units)) : 0;
	config->max_active_zones = 1 + zone_below(life, 5);
	config->max_open_zones = zone_below(life, (u32)config->max_active_zones + 1);
	config->buffer_safe = AFTL_ON;
	config->buffer = 4096 * config->unit;
	config->wear_gap = life->tight ? 0 : zone_below(life, 3);
	config->read_limit = !life->tight;
}

static void draw_config(struct life *life, struct aftl_config *config)
{
	static const u32 units[] = { 512, 1024, 4096 };
	struct test_device device;
	u32 unit = units[zone_below(life, ARRAY_SIZE(units))];

	test_device_init(&device, "demo");
	test_random_geometry(&device, &life->random);
	test_random_options(&device, &life->random);
	*config = device.config;
	config->blocks = 12 + zone_below(life, 30);
	config->chips = 1;
	config->dies = 1;
	config->unit = unit;
	config->page = (u64)unit << zone_below(life, 3);
	config->op = 6000;
	config->bad = 0;
	config->endurance = 0;
	config->fill = AFTL_FILL_NONE;
	config->passes = 1;
	config->slc_static = 0;
	config->slc_dynamic = 0;
	draw_zones(life, config);
}

static bool small_enough(const struct aftl_config *config)
{
	struct aftl_error error;
	struct aftl_geometry geo;

	return !aftl_geometry_init(&geo, config, &error) &&
	       (u64)geo.ppns * geo.unit_bytes <= MEDIA_MAX;
}

/* Set the smallest buffer that the device accepts. */
static bool shrink_buffer(const char *policy, struct aftl_config *config)
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

static void be_born(struct life *life)
{
	struct aftl_config config;

	for (;;) {
		life->policy = test_any_policy(true, &life->random);
		draw_config(life, &config);
		if (!small_enough(&config) || !shrink_buffer(life->policy, &config) ||
		    durable_open_as(&life->durable, &config, life->policy,
				    aftl_hash64_pair(config.seed, 3) % 3 == 0))
			continue;
		if (!durable_format(&life->durable))
			return;
		durable_close(&life->durable);
	}
}

/* Sessions */

static void arm_zone_failure(struct life *life, u32 changes)
{
	life->durable.disk.power_off_at = life->durable.disk.changes + 1 +
					   zone_below(life, changes);
}

/* Fail unless the power failure caused the error. */
static bool was_power(struct life *life, int ret, const char *doing)
{
	return CHECK_MSG(life->durable.disk.off, "%s: %d: %s", doing, ret,
			 life->durable.device.error.text);
}

/* Return true if power is still on. */
static bool work_in_zones(struct life *life)
{
	struct durable_device *durable = &life->durable;
	u32 lag = zone_chance(life, 20) ? 0 : 1 + zone_below(life, 30);
	u32 steps = 1 + zone_below(life, 300);
	u32 depth = zone_below(life, 20);

	while (steps-- && !tap_failures()) {
		zone_stream_submit(&life->requests, &durable->device);
		test_drain_to(&durable->device, depth);
		if (durable_work(durable, zone_below(life, lag + 1)))
			return false;
	}
	return true;
}

static void note_work(const struct test_device *device)
{
	const struct aftl_counters *counters = test_counters(device);

	tally.resets += counters->zone_resets;
	tally.finishes += counters->zone_finishes;
	tally.moved += counters->programmed_wear_units + counters->programmed_refresh_units;
	CHECK_EQ(counters->policy_bugs, 0);
	CHECK_MSG(!aftl_read_only(device->ftl), "the device is read-only");
}

static void end_work(struct life *life, bool on)
{
	int ret = life->durable.ret;

	note_work(&life->durable.device);
	tally.in_work += !on && was_power(life, ret, "work");
	if (!on || zone_chance(life, 40))
		return;
	if (!life->tight && zone_chance(life, 50))
		test_write_out(&life->durable.device);
	if (zone_chance(life, 50))
		arm_zone_failure(life, 30);
	ret = durable_shut(&life->durable);
	tally.in_shut += ret && was_power(life, ret, "close");
	tally.shut += !ret;
}

static void note_start(const struct durable_device *durable)
{
	const struct aftl *ftl = durable->device.ftl;
	u32 active = 0;
	u32 written;
	u32 i;

	for (i = 0; i < durable->unit_count; i++)
		tally.kept += durable->buffered[i] != 0;
	tally.cut += !!durable->volume->invalidated;
	for (i = 0; i < ftl->geo.zones; i++) {
		tally.full += aftl_zone_state(ftl, i, &written) == AFTL_ZONE_FULL;
		active += aftl_zone_active(&ftl->zones.all[i]);
	}
	CHECK_RANGE(active, 0, ftl->config.max_active_zones);
}

/*
 * A zone takes as many blocks per LUN as it needs, however often power failed, or one more if other
 * zones still had all open blocks.
 */
static void check_room(const struct durable_device *durable)
{
	const struct aftl *ftl = durable->device.ftl;
	u32 *blocks = calloc((size_t)ftl->geo.zones * ftl->geo.luns, sizeof(*blocks));
	u32 i;

	for (i = 0; i < ftl->geo.ppns; i++) {
		u32 zone = from_lpn(aftl_ppn_lpn(&ftl->media, to_ppn(i))) / ftl->geo.zone_units;
		u32 block = i / ftl->geo.block_ppns;
		bool first = !(i % ftl->geo.block_ppns);
		static bool counted;

		counted &= !first;
		if (counted || !aftl_ppn_valid(&ftl->media, to_ppn(i)))
			continue;
		counted = true;
		CHECK_MSG(++blocks[zone * ftl->geo.luns + block / ftl->geo.blocks_per_lun] <=
			  ftl->geo.zone_blocks + 1, "zone %u has too many blocks of LUN %u", zone,
			  block / ftl->geo.blocks_per_lun);
	}
	free(blocks);
}

static int start_zones(struct life *life)
{
	int ret = durable_load(&life->durable, life->policy, zone_chance(life, 10));

	if (ret)
		return ret;
	note_start(&life->durable);
	if (life->tight)
		check_room(&life->durable);
	durable_stop(&life->durable);
	return durable_start(&life->durable, life->policy, zone_chance(life, 10));
}

static void zone_session(struct life *life)
{
	int ret;

	arm_zone_failure(life, zone_chance(life, 10) ? 8 : zone_chance(life, 50) ? 60 : 1000);
	ret = start_zones(life);
	tally.in_start += ret && was_power(life, ret, "start");
	if (!ret)
		end_work(life, work_in_zones(life));
	durable_crash(&life->durable, zone_below(life, DISK_CRASHES), &life->random);
	tally.crashes++;
}

static bool run_life(u64 seed)
{
	struct life life = { .random = { aftl_hash64(seed) } };
	u32 i;

	life.tight = zone_chance(&life, 50);
	be_born(&life);
	life.requests.random = &life.random;
	life.requests.few = 1 + zone_below(&life, 6);
	life.requests.flushes = zone_below(&life, 25);
	for (i = 0; i < CRASHES_OF_LIFE && !tap_failures(); i++)
		zone_session(&life);
	if (tap_failures())
		test_note_config(&life.durable.device, life.policy, seed);
	durable_close(&life.durable);
	return !tap_failures();
}

TAP_TEST(the_random_runs_covered_every_case)
{
	tap_note("%u crashes: %u in start, %u in work, %u in close; %u closed", tally.crashes,
		 tally.in_start, tally.in_work, tally.in_shut, tally.shut);
	tap_note("%llu resets, %llu finished, %u units kept", (unsigned long long)tally.resets,
		 (unsigned long long)tally.finishes, tally.kept);
	tap_note("%u starts with a cut, %u full zones, %llu units moved", tally.cut, tally.full,
		 (unsigned long long)tally.moved);
	CHECK_RANGE(tally.in_start, 50, U32_MAX);
	CHECK_RANGE(tally.in_work, 500, U32_MAX);
	CHECK_RANGE(tally.in_shut, 50, U32_MAX);
	CHECK_RANGE(tally.kept, 1000, U32_MAX);
	CHECK_RANGE(tally.cut, 50, U32_MAX);
	CHECK_RANGE(tally.resets, 10000, U64_MAX);
	CHECK_RANGE(tally.moved, 20, U64_MAX);
}

int main(int argc, char **argv)
{
	u64 seed = argc > 1 ? strtoull(argv[1], NULL, 10) : FIRST_SEED;
	u64 lives = argc > 2 ? strtoull(argv[2], NULL, 10) : LIVES;
	u64 i;

	tap_begin("%llu lives from seed %llu on", (unsigned long long)lives,
		  (unsigned long long)seed);
	for (i = 0; i < lives && run_life(seed + i); i++)
		;
	tap_end();
	return lives >= LIVES ? tap_run_all() : tap_finish();
}
