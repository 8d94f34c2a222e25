// SPDX-License-Identifier: GPL-2.0-only
/*
 * The status line and the table line. status-table.h lists the fields of the status line.
 */
#include "store/dev.h"
#include "target/options.h"
#include "target/target.h"

/**
 * struct status - the fields of status-table.h
 */
struct status {
#define STATUS_TEXT(name, help) const char *name;
#define STATUS_NUMBER(name, help) u64 name;
#define STATUS_PAIR(part, whole, help) u64 part, whole;
#include "target/status-table.h"
#undef STATUS_TEXT
#undef STATUS_NUMBER
#undef STATUS_PAIR
};

static void sum_lun_status(const struct aftl *ftl, struct status *status)
{
	struct aftl_lun_info info;
	u32 i;

	for (i = 0; i < aftl_geometry(ftl)->luns; i++) {
		aftl_get_lun_info(ftl, i, &info);
		status->valid_units += info.valid_units;
		status->free_blocks += info.free_blocks;
		status->dead_luns += !info.good_blocks;
	}
}

static u64 count_programmed_units(const struct aftl_counters *counters)
{
	return counters->programmed_host_units + counters->programmed_gc_units +
	       counters->programmed_wear_units + counters->programmed_refresh_units +
	       counters->programmed_promotion_units + counters->programmed_rewrite_units +
	       counters->programmed_retire_units + counters->programmed_fold_units +
	       counters->programmed_map_units + counters->programmed_rebuild_units +
	       counters->programmed_parity_units;
}

/* Return the worse of @mode, that of the disks before, and the mode of @disk: rw, ro or fail. */
static const char *get_worse_device_mode(const char *mode, const struct aftl_disk *disk)
{
	if (!strcmp(mode, "fail") || (disk->durable && aftl_dev_get_error(disk->durable)))
		return "fail";
	return aftl_is_read_only(disk->ftl) ? "ro" : mode;
}

static void sum_ftl_status(struct aftl_disk *disk, struct status *status)
{
	const struct aftl_counters *counters = &aftl_get_stats(disk->ftl)->counters;

	lockdep_assert_held(&disk->lock);
	status->mode = get_worse_device_mode(status->mode, disk);
	status->policy = aftl_policy_type(disk->ftl)->name;
	status->blocks += aftl_geometry(disk->ftl)->blocks;
	sum_lun_status(disk->ftl, status);
	status->pending_requests += aftl_pending_requests(disk->ftl);
	status->host_read_units += counters->host_read_units;
	status->host_write_units += counters->host_write_units;
	status->programmed_units += count_programmed_units(counters);
	status->array_erases += counters->array_erases;
	status->retired_blocks += counters->retired_blocks;
	status->read_flipped_bits += counters->read_flipped_bits;
	status->device_ns = max(status->device_ns, aftl_disk_now_ns(disk));
	status->lost_units += aftl_count_lost_units(disk->ftl);
	status->collecting_luns += aftl_count_luns_in_gc(disk->ftl);
}

static void sum_disk_status(struct aftl_disk *disk, struct status *status,
			    struct aftl_histogram *late)
{
	spin_lock_bh(&disk->lock);
	sum_ftl_status(disk, status);
	spin_unlock_bh(&disk->lock);
	spin_lock_bh(&disk->late_lock);
	aftl_histogram_merge(late, &disk->late);
	spin_unlock_bh(&disk->late_lock);
	status->ftl_bytes += aftl_memory_bytes(disk->ftl) +
			     disk->store->type->overhead(disk->store);
	status->data_bytes += disk->store->type->held(disk->store);
}

static void sum_device_status(struct aftl_target *target, struct status *status)
{
	struct aftl_histogram *late = &target->late;

	memset(late, 0, sizeof(*late));
	status->units = target->table.device->shards.units;
	aftl_each_disk(disk, target->table.device)
		sum_disk_status(*disk, status, late);
	status->late_p50_ns = aftl_histogram_quantile(late, 5000);
	status->late_p99_ns = aftl_histogram_quantile(late, 9900);
	status->late_max_ns = late->largest;
}

static void print_status_info_line(struct aftl_target *target, char *result, unsigned int maxlen)
{
	struct status status = { .mode = "rw" };
	unsigned int sz = 0;

	sum_device_status(target, &status);
#define STATUS_TEXT(name, help) DMEMIT("%s%s", sz ? " " : "", status.name);
#define STATUS_NUMBER(name, help) DMEMIT(" %llu", status.name);
#define STATUS_PAIR(part, whole, help) DMEMIT(" %llu/%llu", status.part, status.whole);
#include "target/status-table.h"
#undef STATUS_TEXT
#undef STATUS_NUMBER
#undef STATUS_PAIR
}

/* Return the word that "dmsetup status" prints for a table that owns no data. */
static const char *get_status_text_of_table_without_data(enum aftl_table_state state)
{
	switch (state) {
	case AFTL_TABLE_LOADED:
		return "inactive";
	case AFTL_TABLE_RESUMING:
		return "resuming";
	default:
		return "Fail";
	}
}

void aftl_target_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
			char *result, unsigned int maxlen)
{
	struct aftl_target *target = ti->private;
	unsigned int sz = 0;

	result[0] = '\0';
	switch (type) {
	case STATUSTYPE_INFO:
		mutex_lock(&target->gate);
		if (target->table.device)
			print_status_info_line(target, result, maxlen);
		else
			DMEMIT("%s", get_status_text_of_table_without_data(target->table.state));
		mutex_unlock(&target->gate);
		break;
	case STATUSTYPE_TABLE:
		mutex_lock(&target->gate); /* the message "policy" changes options under it */
		aftl_options_print(&target->options, result, maxlen);
		mutex_unlock(&target->gate);
		break;
	case STATUSTYPE_IMA:
		DMEMIT_TARGET_NAME_VERSION(ti->type);
		aftl_options_measure_ima(&target->options, result + sz, maxlen - sz);
		break;
	}
}
