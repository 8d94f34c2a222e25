// SPDX-License-Identifier: GPL-2.0-only
/*
 * The status line and the table line.
 */
#include "approxftl.h"

/* Sums over the whole device. */
struct totals {
	u64 valid_units;
	u64 free_blocks;
	u64 programmed_units;
};

static struct totals add_up(const struct aftl *ftl)
{
	const struct aftl_counters *counters = &aftl_stats(ftl)->counters;
	struct totals totals = { 0 };
	struct aftl_lun_info info;
	u32 i;

	for (i = 0; i < aftl_geometry(ftl)->luns; i++) {
		aftl_lun_info(ftl, i, &info);
		totals.valid_units += info.valid_units;
		totals.free_blocks += info.free_blocks;
	}
	totals.programmed_units = counters->programmed_host_units +
		counters->programmed_gc_units + counters->programmed_wear_units +
		counters->programmed_refresh_units + counters->programmed_promotion_units +
		counters->programmed_rewrite_units + counters->programmed_retire_units;
	return totals;
}

static unsigned int emit_lateness(struct aftl_disk *disk, char *result, unsigned int maxlen)
{
	unsigned int sz = 0;

	spin_lock_bh(&disk->late_lock);
	DMEMIT(" %llu %llu %llu", aftl_histogram_quantile(&disk->late, 5000),
	       aftl_histogram_quantile(&disk->late, 9900), disk->late.largest);
	spin_unlock_bh(&disk->late_lock);
	return sz;
}

/*
 * One line; new words are appended. Counts are since the last reset message.
 *
 *  1  rw | ro       ro when there are too few good blocks to write on
 *  2  <policy>
 *  3  <n>/<n>       mapping units that hold data / that the device has
 *  4  <n>/<n>       free / all blocks
 *  5  <n>           requests under way
 *  6  <n>           units read by the host
 *  7  <n>           units written by the host
 *  8  <n>           units programmed, whatever for
 *  9  <n>           blocks erased
 * 10  <n>           blocks that went bad in use
 * 11  <n>           bits flipped in data returned to the host
 * 12  <ns>          device time
 * 13  <ns>          median lateness of completions, in host time
 * 14  <ns>          99th percentile of the lateness
 * 15  <ns>          largest lateness
 * 16  <bytes>       memory of the FTL
 * 17  <bytes>       memory of the data
 */
static void emit_info(struct aftl_disk *disk, char *result, unsigned int maxlen)
{
	const struct aftl *ftl = disk->ftl;
	const struct aftl_counters *counters = &aftl_stats(ftl)->counters;
	const struct aftl_geometry *geo = aftl_geometry(ftl);
	unsigned int sz = 0;
	struct totals totals;

	spin_lock_bh(&disk->lock);
	totals = add_up(ftl);
	DMEMIT("%s %s %llu/%u %llu/%u %u %llu %llu %llu %llu %llu %llu %llu",
	       aftl_read_only(ftl) ? "ro" : "rw", aftl_policy_type(ftl)->name,
	       totals.valid_units, geo->units, totals.free_blocks, geo->blocks,
	       aftl_pending(ftl), counters->host_read_units, counters->host_write_units,
	       totals.programmed_units, counters->array_erases, counters->retired_blocks,
	       counters->read_flipped_bits, aftl_disk_now(disk));
	spin_unlock_bh(&disk->lock);
	sz += emit_lateness(disk, result + sz, maxlen - sz);
	DMEMIT(" %llu %llu", aftl_memory_bytes(ftl), disk->store->type->held(disk->store));
}

void aftl_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
		 char *result, unsigned int maxlen)
{
	struct aftl_target *target = ti->private;
	unsigned int sz = 0;

	result[0] = '\0';
	switch (type) {
	case STATUSTYPE_INFO:
		mutex_lock(&target->gate);
		if (target->disk)
			emit_info(target->disk, result, maxlen);
		else
			DMEMIT("Fail");
		mutex_unlock(&target->gate);
		break;
	case STATUSTYPE_TABLE:
		aftl_options_print(&target->options, result, maxlen);
		break;
	case STATUSTYPE_IMA:
		break;
	}
}
