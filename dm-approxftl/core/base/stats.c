// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of the counters, and sums over shards.
 */
#include "core/base/stats.h"

const struct aftl_counter_info aftl_counter_info[] = {
#define COUNTER(name, help) { #name, help },
#include "core/base/counter-table.h"
#undef COUNTER
};

static_assert(ARRAY_SIZE(aftl_counter_info) == AFTL_COUNTERS, "one entry per counter");

const struct aftl_counter_info aftl_handle_counter_info[] = {
#define HANDLE_COUNTER(name, help) { #name, help },
#include "core/base/handle-table.h"
#undef HANDLE_COUNTER
};

static_assert(ARRAY_SIZE(aftl_handle_counter_info) == AFTL_HANDLE_COUNTERS,
	      "one entry per counter");

void aftl_stats_accumulate(struct aftl_stats *sum, const struct aftl_stats *more)
{
	const u64 *from = (const u64 *)more;
	u64 *to = (u64 *)sum;
	size_t i;

	/* All members of struct aftl_stats before its first histogram are counters. */
	for (i = 0; i < offsetof(struct aftl_stats, read_response) / sizeof(*to); i++)
		to[i] += from[i];
}
