// SPDX-License-Identifier: GPL-2.0-only
#include "checked-memory.h"
#include "sums.h"

bool sim_compute_total_geometry(struct aftl_geometry *sum, const struct aftl_geometry *one,
				u32 count)
{
	*sum = *one;
	sum->luns *= count;
	sum->channels *= count;
	sum->blocks *= count;
	sum->zones *= count;
	return (u64)one->blocks * count <= U32_MAX;
}

void sim_add_device_statistics(struct sim_result *result, const struct aftl *ftl, u32 index)
{
	u32 luns = aftl_geometry(ftl)->luns;

	if (!result->luns)
		result->luns = memory_alloc_zeroed(result->geo.luns, sizeof(*result->luns));
	aftl_stats_accumulate(&result->stats, aftl_get_stats(ftl));
	for (u32 i = 0; i < luns; i++)
		aftl_get_lun_info(ftl, i, &result->luns[index * luns + i]);
	result->slots += aftl_geometry(ftl)->ppns;
	result->memory_bytes += aftl_memory_bytes(ftl);
	result->read_only |= aftl_is_read_only(ftl);
	sim_add_block_wear_to_result(ftl, result);
	sim_add_zone_states_to_result(ftl, result);
}
