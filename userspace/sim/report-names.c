// SPDX-License-Identifier: GPL-2.0-only
#include "report.h"

const char *const sim_mode_names[] = {
#define MODE(name, word, bits, program, share, read, curve, rate) \
	[AFTL_MODE_##name] = word,
#include "core/base/mode-list.h"
#undef MODE
};

static_assert(ARRAY_SIZE(sim_mode_names) == AFTL_MODES, "one name per mode");

const char *const sim_zone_names[] = {
	[AFTL_ZONE_EMPTY] = "empty",
	[AFTL_ZONE_IMPLICIT] = "implicitly_open",
	[AFTL_ZONE_EXPLICIT] = "explicitly_open",
	[AFTL_ZONE_CLOSED] = "closed",
	[AFTL_ZONE_FULL] = "full",
	[AFTL_ZONE_READ_ONLY] = "read_only",
	[AFTL_ZONE_OFFLINE] = "offline",
};

static_assert(ARRAY_SIZE(sim_zone_names) == AFTL_ZONE_STATES, "one name per state");

const char *const sim_class_names[] = {
	[AFTL_PRECISE] = "precise",
	[AFTL_APPROX] = "approximate",
};

static_assert(ARRAY_SIZE(sim_class_names) == AFTL_CLASSES, "one name per class");

const struct sim_timing sim_timings[] = {
	{ "read_response", offsetof(struct aftl_stats, read_response) },
	{ "read_service", offsetof(struct aftl_stats, read_service) },
	{ "write_response", offsetof(struct aftl_stats, write_response) },
	{ "write_service", offsetof(struct aftl_stats, write_service) },
	{ "flush_response", offsetof(struct aftl_stats, flush_response) },
};

const unsigned int sim_timing_count = ARRAY_SIZE(sim_timings);

const char *const sim_cause_names[] = {
	"host", "gc", "wear", "refresh", "promotion", "rewrite", "retire", "fold", "map",
	"rebuild", "parity", "padding",
};

static_assert(ARRAY_SIZE(sim_cause_names) == SIM_CAUSES, "one name per cause");

u64 sim_get_units_programmed_for_cause(const struct aftl_counters *counters, unsigned int cause)
{
	const u64 *const units[] = {
		&counters->programmed_host_units,    &counters->programmed_gc_units,
		&counters->programmed_wear_units,    &counters->programmed_refresh_units,
		&counters->programmed_promotion_units, &counters->programmed_rewrite_units,
		&counters->programmed_retire_units,  &counters->programmed_fold_units,
		&counters->programmed_map_units,     &counters->programmed_rebuild_units,
		&counters->programmed_parity_units,  &counters->padded_units,
	};

	return *units[cause];
}

u64 sim_sum_programmed_units(const struct aftl_counters *counters)
{
	u64 sum = 0;

	for (unsigned int i = 0; i < SIM_CAUSES; i++)
		sum += sim_get_units_programmed_for_cause(counters, i);
	return sum;
}

static u64 compute_waf_of_programmed_units(const struct aftl_counters *counters, u64 units,
					   u32 unit_bytes)
{
	if (!unit_bytes)
		return scaled_ratio(units, counters->host_write_units, 10000);
	return scaled_ratio(units * unit_bytes, counters->host_write_bytes, 10000);
}

u64 sim_get_write_amplification_by_cause(const struct aftl_counters *counters, unsigned int cause,
					 u32 unit_bytes)
{
	return compute_waf_of_programmed_units(counters,
					       sim_get_units_programmed_for_cause(counters, cause),
					       unit_bytes);
}

u64 sim_get_write_amplification(const struct aftl_counters *counters, u32 unit_bytes)
{
	return compute_waf_of_programmed_units(counters, sim_sum_programmed_units(counters),
					       unit_bytes);
}

/* Blocks per LUN that garbage collection may lag behind writes in a steady state. */
#define GC_LAG 2

bool sim_did_run_use_up_free_blocks(const struct sim_result *result)
{
	const struct aftl_counters *counters = &result->stats.counters;
	const struct aftl_geometry *geo = &result->geo;
	u64 programmed = sim_sum_programmed_units(counters);
	u64 again = counters->reprogrammed_pages * (geo->page_bytes / geo->unit_bytes);
	u64 erased = counters->array_erases * geo->block_ppns + again;
	bool filled = result->config.fill != AFTL_FILL_NONE && result->config.fill_valid;

	return (filled || !result->profile) && !geo->zones && programmed / 4 * 3 > erased &&
	       programmed > erased + (u64)GC_LAG * geo->luns * geo->block_ppns;
}
