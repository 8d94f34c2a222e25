// SPDX-License-Identifier: GPL-2.0-only
#include "checked-memory.h"
#include "sums.h"

bool sim_sum_geometry(struct aftl_geometry *sum, const struct aftl_geometry *one, u32 count)
{
	*sum = *one;
	sum->luns *= count;
	sum->channels *= count;
	sum->blocks *= count;
	return (u64)one->blocks * count <= U32_MAX;
}

static void add_stats(struct aftl_stats *sum, const struct aftl_stats *stats)
{
	u64 *to = (u64 *)&sum->counters;
	u32 i;

	for (i = 0; i < AFTL_COUNTERS; i++)
		to[i] += aftl_counter_get(&stats->counters, i);
	for (i = 0; i < AFTL_KINDS_MAX; i++) {
		sum->kind_blocks[i] += stats->kind_blocks[i];
		sum->kind_pages[i] += stats->kind_pages[i];
	}
	for (i = 0; i < 2 * AFTL_STREAMS; i++)
		sum->stream_units[i & 1][i >> 1] += stats->stream_units[i & 1][i >> 1];
	for (i = 0; i < (1 + AFTL_HANDLES_MAX) * AFTL_HANDLE_COUNTERS; i++)
		((u64 *)sum->handles)[i] += ((const u64 *)stats->handles)[i];
	for (i = 0; i < AFTL_MODES; i++)
		sum->mode_pages[i] += stats->mode_pages[i];
	for (i = 0; i < AFTL_CLASSES; i++)
		sum->class_pages[i] += stats->class_pages[i];
}

void sim_sum_device(struct sim_result *result, const struct aftl *ftl, u32 index)
{
	u32 luns = aftl_geometry(ftl)->luns;
	u32 i;

	if (!result->luns)
		result->luns = memory_zeroed(result->geo.luns, sizeof(*result->luns));
	add_stats(&result->stats, aftl_stats(ftl));
	for (i = 0; i < luns; i++)
		aftl_lun_info(ftl, i, &result->luns[index * luns + i]);
	result->slots += aftl_geometry(ftl)->slots;
	result->memory_bytes += aftl_memory_bytes(ftl);
	result->read_only |= aftl_read_only(ftl);
	sim_survey_blocks(ftl, result);
}
