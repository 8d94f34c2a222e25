// SPDX-License-Identifier: GPL-2.0-only
/*
 * States and slots of zones, compared with a model, with fake neighbours: no device exists, and the
 * test itself lets the pages of writes be admitted and programmed.
 */
#include "core/base/random.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/zone.h"
#include "tap.h"

#define LUNS 4U
#define ZONE_LUNS 2U
#define ZONES 10U
#define ZONE_UNITS 40U
#define CAPACITY 36U
#define PROGRAM_UNITS 4U
#define STREAMS 3U
#define ACTIVE_MAX 5U
#define STEPS 200000U

static struct aftl ftl;
static struct aftl_lun luns[LUNS];
static struct aftl_block *handle_blocks[LUNS][ACTIVE_MAX];
static struct aftl_zone zones[ZONES];
static u32 online[LUNS / ZONE_LUNS];

/**
 * struct model - what the standard says about the zones
 * @state: enum aftl_zone_state of each zone
 * @written: write pointers
 * @coming: pages of the current write that no LUN has yet
 * @pending: pages that a LUN has and that are not programmed yet
 * @turn: zone after the one that was closed implicitly last
 * @told: last state that the host was told of each zone
 */
static struct {
	u32 state[ZONES];
	u32 written[ZONES];
	u32 coming[ZONES];
	u32 pending[ZONES];
	u32 turn;
	u32 told[ZONES];
} model;

static void note_zone_state(void *host __maybe_unused, u32 zone, enum aftl_zone_state state)
{
	model.told[zone] = state;
}

static const struct aftl_host_ops ops = { .zone = note_zone_state };
static const struct aftl_policy_type type = { .reserve = 1 };

static void reset_fake_device(u32 max_open)
{
	u32 i;

	memset(&model, 0, sizeof(model));
	memset(zones, 0, sizeof(zones));
	ftl = (struct aftl){ .type = &type, .ops = &ops, .luns = luns, .streams = STREAMS };
	ftl.geo.luns = LUNS;
	ftl.geo.zone_luns = ZONE_LUNS;
	ftl.geo.zones = ZONES;
	ftl.geo.zone_units = ZONE_UNITS;
	ftl.geo.zone_capacity = CAPACITY;
	ftl.program_units = PROGRAM_UNITS;
	ftl.handles = ACTIVE_MAX;
	ftl.config.max_active_zones = ACTIVE_MAX;
	ftl.config.max_open_zones = max_open;
	ftl.zones.all = zones;
	ftl.zones.online = online;
	for (i = 0; i < ARRAY_SIZE(ftl.zones.owner); i++)
		ftl.zones.owner[i] = AFTL_NIL;
	for (i = 0; i < LUNS; i++)
		luns[i] = (struct aftl_lun){ .index = i, .handle_blocks = handle_blocks[i] };
}

static bool model_is_open(u32 zone)
{
	return model.state[zone] == AFTL_ZONE_IMPLICIT || model.state[zone] == AFTL_ZONE_EXPLICIT;
}

static bool model_is_active(u32 zone)
{
	return model_is_open(zone) || model.state[zone] == AFTL_ZONE_CLOSED;
}

static u32 model_count(bool (*is)(u32 zone))
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < ZONES; i++)
		count += is(i);
	return count;
}

/* Close the first implicitly opened zone from the turn on. Return: false if there is none. */
static bool model_close_one(void)
{
	u32 i;

	for (i = 0; i < ZONES; i++) {
		u32 zone = (model.turn + i) % ZONES;

		if (model.state[zone] != AFTL_ZONE_IMPLICIT)
			continue;
		model.state[zone] = AFTL_ZONE_CLOSED;
		model.turn = (zone + 1) % ZONES;
		return true;
	}
	return false;
}

static int model_open(u32 zone, u32 state)
{
	u32 most = ftl.config.max_open_zones ? (u32)ftl.config.max_open_zones : ACTIVE_MAX;

	if (model_is_open(zone)) {
		model.state[zone] = max(model.state[zone], state);
		return 0;
	}
	if (model.state[zone] > AFTL_ZONE_CLOSED)
		return -EIO;
	if (model.state[zone] == AFTL_ZONE_EMPTY && model_count(model_is_active) == ACTIVE_MAX)
		return -EOVERFLOW;
	if (model_count(model_is_open) == most && !model_close_one())
		return -EBUSY;
	model.state[zone] = state;
	return 0;
}

static bool model_owns_slot(u32 zone)
{
	return zones[zone].slot;
}

/* Program one page that waits; false if none waits. */
static bool program_a_page(struct aftl_random *random)
{
	u32 first = (u32)aftl_random_below(random, ZONES);
	u32 i;

	for (i = 0; i < ZONES; i++) {
		u32 zone = (first + i) % ZONES;

		if (!model.pending[zone])
			continue;
		model.pending[zone]--;
		aftl_zone_count_programmed_lpn(&ftl, STREAMS + zones[zone].slot - 1);
		return true;
	}
	return false;
}

/* Admit the pages of a write in two parts; while no slot is free, earlier writes are programmed. */
static void admit_write(struct aftl_random *random, struct aftl_request *request)
{
	u32 zone = request->unit / ZONE_UNITS;
	u32 units = 1 + (u32)aftl_random_below(random, request->units);

	while (!aftl_zone_assign_write_slot(&ftl, request)) {
		CHECK_EQ(model_count(model_owns_slot), ACTIVE_MAX);
		if (!program_a_page(random)) {
			CHECK_MSG(false, "no write has the slot that zone %u needs", zone);
			return;
		}
	}
	while (model.coming[zone]) {
		CHECK_EQ(request->stream, STREAMS + zones[zone].slot - 1);
		units = min(units, model.coming[zone]);
		ftl.zones.pending[zones[zone].slot] += units;
		model.pending[zone] += units;
		model.coming[zone] -= units;
		aftl_zone_count_admitted_lpns(&ftl, &zones[zone], units);
		units = request->units;
	}
}

static void write_to_zone(struct aftl_random *random, u32 zone)
{
	bool append = !aftl_random_below(random, 3);
	u32 at = !append && aftl_random_below(random, 8) ? model.written[zone] : 0;
	struct aftl_request request = {
		.op = AFTL_OP_WRITE,
		.unit = zone * ZONE_UNITS + at,
		.units = 1 + (u32)aftl_random_below(random, 12),
		.flags = append ? AFTL_REQUEST_APPEND : 0,
	};
	int expected = -EIO;

	if (model.state[zone] < AFTL_ZONE_FULL && (append || at == model.written[zone]) &&
	    model.written[zone] + request.units <= CAPACITY)
		expected = model_open(zone, AFTL_ZONE_IMPLICIT);
	CHECK_EQ(aftl_zone_start_write(&ftl, &request), expected);
	if (expected)
		return;
	CHECK_EQ(request.unit, zone * ZONE_UNITS + model.written[zone]);
	model.written[zone] += request.units;
	model.coming[zone] = request.units;
	if (model.written[zone] == CAPACITY)
		model.state[zone] = AFTL_ZONE_FULL;
	admit_write(random, &request);
}

static void finish_or_close_zone(struct aftl_random *random, u32 zone)
{
	u32 state = AFTL_ZONE_FULL;

	if (!model_is_active(zone))
		return;
	if (aftl_random_below(random, 2))
		state = model.written[zone] ? AFTL_ZONE_CLOSED : AFTL_ZONE_EMPTY;
	if (state == model.state[zone])
		return;
	aftl_zone_make_unwritable(&ftl, &zones[zone], state);
	model.state[zone] = state;
	if (state == AFTL_ZONE_CLOSED)
		return;
	CHECK_EQ(model.told[zone], state);
}

static void reset_zone(u32 zone)
{
	if (!model_is_active(zone) && model.state[zone] != AFTL_ZONE_FULL)
		return;
	aftl_zone_complete_reset_after_unmap(&ftl, &zones[zone]);
	model.state[zone] = AFTL_ZONE_EMPTY;
	model.written[zone] = 0;
	CHECK_EQ(model.told[zone], AFTL_ZONE_EMPTY);
}

static void take_a_step(struct aftl_random *random)
{
	u32 zone = (u32)aftl_random_below(random, ZONES);
	int expected;

	switch (aftl_random_below(random, 16)) {
	case 0:
		expected = model_open(zone, AFTL_ZONE_EXPLICIT);
		CHECK_EQ(aftl_zone_open(&ftl, &zones[zone], AFTL_ZONE_EXPLICIT), expected);
		break;
	case 1:
		finish_or_close_zone(random, zone);
		break;
	case 2:
		reset_zone(zone);
		break;
	case 3 ... 9:
		write_to_zone(random, zone);
		break;
	default:
		program_a_page(random);
	}
}

/* A zone has a slot of its own as long as it is active or has pages in flight, and uses it. */
static void check_slot(u32 zone)
{
	u32 slot = zones[zone].slot;

	CHECK(!model.pending[zone] || slot);
	CHECK(model_is_active(zone) || model.pending[zone] || !slot);
	CHECK(!slot || (slot <= ACTIVE_MAX && ftl.zones.owner[slot] == zone));
	CHECK(!slot || ftl.zones.pending[slot] == model.pending[zone]);
}

static void compare_with_model(void)
{
	u32 owners = 0;
	u32 i;

	for (i = 0; i < ZONES; i++) {
		CHECK_EQ(zones[i].state, model.state[i]);
		CHECK_EQ(zones[i].written, model.written[i]);
		CHECK_EQ(zones[i].coming, model.coming[i]);
		check_slot(i);
	}
	for (i = 1; i < ARRAY_SIZE(ftl.zones.owner); i++)
		owners += ftl.zones.owner[i] != AFTL_NIL;
	CHECK_EQ(owners, model_count(model_owns_slot));
	CHECK_EQ(ftl.zones.active, model_count(model_is_active));
	CHECK_EQ(ftl.zones.open, model_count(model_is_open));
	for (i = 0; i < ftl.zones.open; i++)
		CHECK(model_is_open(ftl.zones.opened[i]));
}

TAP_TEST(states_and_slots_of_zones_follow_the_model)
{
	static const u32 limits[] = { 0, 1, 3 };
	u32 i;
	u32 j;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		struct aftl_random random = { .state = 60 + i };

		reset_fake_device(limits[i]);
		for (j = 0; j < STEPS / 3 && !tap_failure_count(); j++) {
			take_a_step(&random);
			compare_with_model();
		}
		CHECK_RANGE(ftl.stats.counters.zone_opens, j / 50, j);
		CHECK_RANGE(ftl.stats.counters.zone_append_requests, j / 50, j);
		CHECK_RANGE(ftl.stats.counters.zone_implicit_closes, limits[i] ? j / 100 : 0, j);
	}
}

/* The slot of a zone that gets no more writes is free after the last program, not before. */
TAP_TEST(a_slot_is_free_after_the_last_program)
{
	struct aftl_request request = {
		.op = AFTL_OP_WRITE, .unit = ZONE_UNITS, .units = CAPACITY,
	};
	struct aftl_random random = { .state = 63 };

	reset_fake_device(0);
	CHECK_EQ(aftl_zone_start_write(&ftl, &request), 0);
	model.coming[1] = CAPACITY;
	admit_write(&random, &request);
	while (model.pending[1] > 1) {
		CHECK_EQ(zones[1].slot, 1);
		program_a_page(&random);
	}
	ftl.retry = false;
	program_a_page(&random);
	CHECK_EQ(zones[1].slot, 0);
	CHECK_MSG(ftl.retry, "requests that wait for a slot must be admitted");
}
