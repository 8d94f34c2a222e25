// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device-mapper target "approxftl": emulates an SSD of 3D NAND in real time.
 *
 * disk/ownership.h has the state machine of a mapped device and its tables. This file executes its
 * transitions:
 *
 *   load      The constructor refuses a table that cannot take over the data of the mapped device.
 *             It creates the spare device of the table, unless the table can use the existing
 *             device in memory unchanged.
 *   resume    Preresume checks again, reserves the data and takes them over: unchanged if the
 *             parameters are the same, else moved to the spare device by reload.c. A volume is
 *             closed, and opened again with the new parameters.
 *   suspend   Postsuspend commits.
 *   removal   The destructor closes the volume if the table is its owner. The destructor of the
 *             last table of the mapped device frees data in memory.
 *
 * Preresume does not hold the gate while data are reserved: dmsetup status and table need not wait.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>

#include "bio/bio.h"
#include "compat.h"
#include "core/persist/volume.h"
#include "disk/carriers.h"
#include "log.h"
#include "release.h"
#include "store/dev.h"
#include "tags/tags.h"
#include "target/options.h"
#include "target/target.h"

/* Approximate limit of a discard: number of lpns of one shard that one call of its FTL discards. */
#define DISCARD_UNITS 256

/* Upper bound of io_opt. Device-mapper sets read-ahead to twice io_opt. */
#define OPTIMAL_BYTES SZ_4M

/*
 * Error messages of failed constructors: device-mapper prints ti->error after the constructor has
 * returned, so each message is kept until 16 newer ones exist.
 */
static struct aftl_error sentences[16];
static atomic_t next_sentence;

static void set_target_error(struct dm_target *ti, const struct aftl_error *error)
{
	u32 index = (u32)atomic_inc_return(&next_sentence) % ARRAY_SIZE(sentences);

	sentences[index] = *error;
	ti->error = sentences[index].text;
}

static u32 unit_sectors(const struct aftl_target *target)
{
	return target->shards.geo.unit_bytes >> SECTOR_SHIFT;
}

static int check_table_size(const struct aftl_target *target, struct aftl_error *error)
{
	const struct dm_target *ti = target->ti;
	u64 sectors = target->shards.units * unit_sectors(target);

	if (ti->len > sectors)
		return aftl_fail(error, -EINVAL,
				 "the table asks for %llu sectors, but the device has %llu; lower the former or raise blocks",
				 (u64)ti->len, sectors);
	if (ti->len & (unit_sectors(target) - 1))
		return aftl_fail(error, -EINVAL,
				 "%llu sectors are not a multiple of the mapping unit of %u sectors",
				 (u64)ti->len, unit_sectors(target));
	return 0;
}

/* Refuse a backing device of another mapped device: two writers would destroy the volume. */
static int check_backing_device_unshared(const struct aftl_target *target, struct aftl_error *error)
{
	struct mapped_device *md = dm_table_get_md(target->ti->table);
	const struct aftl_target *other;

	lockdep_assert_held(&aftl_targets_lock);
	list_for_each_entry(other, &aftl_targets, list)
		if (target->below && other->below && other->below->bdev == target->below->bdev &&
		    dm_table_get_md(other->ti->table) != md)
			return aftl_fail(error, -EBUSY, "block device %s is used by %s already",
					 target->below->name,
					 dm_table_device_name(other->ti->table));
	return 0;
}

/* Return the table line of the data that @target would take over; NULL without data. */
static const struct aftl_line *get_predecessor_table_line(const struct aftl_target *target)
{
	struct aftl_line *line = &target->mapped->line;
	struct aftl_table *owner;

	lockdep_assert_held(&aftl_targets_lock);
	if (!aftl_table_find_old_owner(&target->table, &owner))
		return NULL;
	if (owner)
		aftl_target_copy_table_properties(container_of(owner, struct aftl_target, table),
						  line);
	return line;
}

/* Refuse a table that could not take over the data of the mapped device. */
static int check_data_can_be_taken_over(const struct aftl_target *target, struct aftl_error *error)
{
	const struct aftl_line *old = get_predecessor_table_line(target);

	if (!old)
		return 0;
	if (old->options.store != target->options.store)
		return aftl_fail(error, -EINVAL,
				 "the device keeps its data in store %s; a reload cannot change that",
				 old->options.store->name);
	if (strcmp(old->options.device, target->options.device))
		return aftl_fail(error, -EINVAL,
				 "the device keeps its data on %s; a reload cannot move them",
				 old->options.device);
	if (target->below &&
	    aftl_volume_config_check(&old->options.config, &target->options.config, error))
		return -EINVAL;
	if ((old->zones || target->shards.geo.zones) &&
	    (old->options.policy != target->options.policy ||
	     memcmp(&old->options.config, &target->options.config, sizeof(old->options.config))))
		return aftl_fail(error, -EINVAL,
				 "the device has zones, or is to have some; a reload cannot change its parameters");
	if (old->unit_bytes != target->shards.geo.unit_bytes)
		return aftl_fail(error, -EINVAL,
				 "the device has mapping units of %u sectors; a reload cannot change that",
				 old->unit_bytes >> SECTOR_SHIFT);
	if (target->ti->len < old->sectors)
		return aftl_fail(error, -EINVAL,
				 "the device has %llu sectors; a reload cannot shrink it to %llu",
				 old->sectors, (u64)target->ti->len);
	return 0;
}

/* Return whether the FTLs of @device have the shards, policy and parameters of @options. */
static bool does_device_match_options(const struct aftl_options *options,
				      const struct aftl_device *device)
{
	bool same = options->config.shards == device->shards.count;
	struct aftl_config own;
	u32 i;

	for (i = 0; same && i < device->shards.count; i++) {
		const struct aftl *ftl = device->disks[i]->ftl;

		aftl_derive_shard_config(&own, &options->config, i);
		same = options->policy == aftl_policy_type(ftl) &&
		       !memcmp(&own, aftl_config(ftl), sizeof(own));
	}
	return same;
}

/* Refuse a read-only table on a volume, because a volume also records reads. */
static int refuse_read_only_table_on_volume(const struct dm_target *ti, const char *path,
					    struct aftl_error *error)
{
	if (dm_table_get_mode(ti->table) & AFTL_OPEN_WRITE)
		return 0;
	return aftl_fail(error, -EROFS,
			 "a read-only table would write the volume on %.60s; load one that is not, and blockdev --setro",
			 path);
}

/* Refuse a backing device that can be opened but cannot hold a volume. */
static int check_backing_dev(const struct aftl_target *target, struct aftl_error *error)
{
	struct block_device *bdev = target->below->bdev;

	if (bdev_read_only(bdev))
		return aftl_fail(error, -EROFS, "block device %s is read-only",
				 target->options.device);
	if (bdev_is_zoned(bdev))
		return aftl_fail(error, -EINVAL,
				 "block device %s has zones, which a volume cannot be written to",
				 target->options.device);
	return 0;
}

static int open_backing_dev(struct aftl_target *target, const char *path, struct aftl_error *error)
{
	struct dm_target *ti = target->ti;
	int ret = refuse_read_only_table_on_volume(ti, path, error);

	if (ret)
		return ret;
	ret = dm_get_device(ti, path, dm_table_get_mode(ti->table), &target->below);

	if (ret == -EBUSY)
		return aftl_fail(error, ret, "block device %.60s is in use, e.g. by a file system",
				 path);
	if (ret)
		return aftl_fail(error, ret, "block device %.60s cannot be opened; does it exist?",
				 path);
	target->table.durable = true;
	strscpy(target->options.device, target->below->name, sizeof(target->options.device));
	return check_backing_dev(target, error);
}

/* Parse a table line and check all that does not depend on other tables. */
static int parse_table_line(struct aftl_target *target, unsigned int argc, char **argv,
			    struct aftl_error *error)
{
	int ret = aftl_options_parse(&target->options, argc, argv, error);

	if (!ret)
		ret = aftl_shards_init(&target->shards, &target->options.config, error);
	if (!ret)
		ret = check_table_size(target, error);
	if (!ret && target->shards.geo.zones)
		ret = aftl_zones_create(target, error);
	if (!ret && target->options.store == &aftl_store_dev)
		ret = open_backing_dev(target, argv[0], error);
	return ret;
}

static int check_table_against_other_tables(const struct aftl_target *target,
					    struct aftl_error *error)
{
	int ret = check_backing_device_unshared(target, error);

	return ret ? ret : check_data_can_be_taken_over(target, error);
}

/*
 * Check that no other table uses the backing device or the mapped device's data. @as_it_is: takes
 * whether the new table can use the existing device unchanged.
 */
static int check_new_table(const struct aftl_target *target, bool *as_it_is,
			   struct aftl_error *error)
{
	const struct aftl_ownership *own = &target->mapped->own;
	int ret;

	mutex_lock(&aftl_targets_lock);
	ret = check_table_against_other_tables(target, error);
	*as_it_is = !ret && own->state != AFTL_DATA_RESERVED && own->device &&
		    does_device_match_options(&target->options, own->device);
	mutex_unlock(&aftl_targets_lock);
	return ret;
}

/*
 * Create the spare device, which a resume may put in the place of the existing one: complete if in
 * memory; for a volume, only the parts needed to open it.
 */
static int create_new_device_of_table(struct aftl_target *target, struct aftl_error *error)
{
	struct aftl_device **spare = &target->table.spare;

	if (*spare)
		return 0;
	if (target->below)
		return aftl_device_alloc(spare, &target->options, error);
	return aftl_device_create(spare, &target->options, error);
}

static int build_target(struct aftl_target *target, unsigned int argc, char **argv,
			struct aftl_error *error)
{
	bool as_it_is;
	int ret = parse_table_line(target, argc, argv, error);

	if (!ret)
		ret = check_new_table(target, &as_it_is, error);
	if (ret || as_it_is)
		return ret;
	if (target->below)
		ret = aftl_disk_check_options(&target->options, error);
	return ret ? ret : create_new_device_of_table(target, error);
}

/*
 * Split requests at the ends of chunks, so that each lies in one shard. Flushes, discards and
 * write-zeroes are duplicated for each shard instead, see configure_dm_target().
 */
static int limit_target_io(struct dm_target *ti, const struct aftl_shards *shards)
{
	u32 run = shards->geo.unit_bytes >> SECTOR_SHIFT << shards->chunk_shift;

	if (shards->count == 1)
		return dm_set_target_max_io_len(ti, AFTL_IO_SECTORS);
	return dm_set_target_max_io_len(ti, min_t(u32, run, AFTL_IO_SECTORS));
}

static void configure_dm_target(struct dm_target *ti, const struct aftl_shards *shards)
{
	bool zoned = shards->geo.zones;

	ti->num_flush_bios = shards->count;
	/* A zoned device has no discards and no write-zeroes: its zones are reset. */
	ti->num_discard_bios = zoned ? 0 : shards->count;
	ti->num_write_zeroes_bios = ti->num_discard_bios;
	ti->flush_supported = true;
	ti->discards_supported = !zoned;
	ti->per_io_data_size = sizeof(struct aftl_io);
}

/* Return true if a write buffer or a failed backing device may have lost completed writes. */
static bool may_completed_writes_be_missing(const struct aftl_device *device)
{
	bool lost = false;

	aftl_each_disk(disk, device)
		lost |= aftl_buffer_is_lost((*disk)->ftl) ||
			((*disk)->durable && aftl_dev_get_error((*disk)->durable));
	return lost;
}

static void destroy_new_device_of_table(struct aftl_target *target)
{
	aftl_device_destroy(target->table.spare);
	target->table.spare = NULL;
}

/* Close the volume, which writes to it: it stays reserved, no other table may open it meanwhile. */
static void close_target_volume(struct aftl_target *target)
{
	struct aftl_ownership *own = &target->mapped->own;
	struct aftl_device *volume;

	mutex_lock(&aftl_targets_lock);
	mutex_lock(&target->gate);
	if (target->table.device)
		own->lost_writes |= may_completed_writes_be_missing(target->table.device);
	volume = aftl_table_begin_free(&target->table);
	mutex_unlock(&target->gate);
	mutex_unlock(&aftl_targets_lock);
	aftl_device_destroy(volume);
}

static void destroy_target(struct aftl_target *target)
{
	if (target->mapped) {
		close_target_volume(target);
		destroy_new_device_of_table(target);
		aftl_device_destroy(aftl_target_unregister(target));
	}
	if (target->below)
		dm_put_device(target->ti, target->below);
	aftl_zones_destroy(target);
	mutex_destroy(&target->gate);
	kvfree(target);
}

static int target_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct aftl_error error = { "not enough memory for a target" };
	struct aftl_target *target = kvzalloc(sizeof(*target), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!target)
		goto fail;
	target->ti = ti;
	mutex_init(&target->gate);
	ret = aftl_target_register(target);
	if (!ret)
		ret = build_target(target, argc, argv, &error);
	if (!ret)
		ret = limit_target_io(ti, &target->shards);
	if (ret)
		goto fail_target;
	configure_dm_target(ti, &target->shards);
	/* I/O to the backing device is charged to the cgroup of the bio that causes it. */
	ti->needs_bio_set_dev = !!target->below;
	ti->private = target;
	return 0;

fail_target:
	destroy_target(target);
fail:
	set_target_error(ti, &error);
	return ret;
}

static void target_dtr(struct dm_target *ti)
{
	destroy_target(ti->private);
}

/* Resume */

/*
 * Wait until no table opens or closes the device's data and no message runs. On success
 * aftl_targets_lock and the gate of @target are held. A message such as "audit" may hold the gate
 * for long: the lock of all targets is not held while this function waits for it.
 */
static int lock_target_list_and_target(struct aftl_target *target, struct aftl_error *error)
{
	const struct aftl_ownership *own = &target->mapped->own;
	int ret;

	do {
		mutex_lock(&aftl_targets_lock);
		if (own->state != AFTL_DATA_RESERVED && mutex_trylock(&target->gate))
			return 0;
		mutex_unlock(&aftl_targets_lock);
		ret = wait_event_killable(aftl_data_settled,
					  READ_ONCE(own->state) != AFTL_DATA_RESERVED);
		if (!ret)
			ret = mutex_lock_killable(&target->gate);
		if (!ret)
			mutex_unlock(&target->gate);
	} while (!ret);
	return aftl_fail(error, -EINTR,
			 "interrupted while a message or another table used the device");
}

/*
 * Reserve the data for @target. The previous owner gets no I/O any more, because device-mapper has
 * replaced its table already, and no messages, so that its gate is free. Context:
 * aftl_targets_lock and the gate of @target are held.
 */
static int reserve_device_data_for_target(struct aftl_target *target)
{
	struct aftl_table *owner = target->mapped->own.owner;
	struct aftl_target *old = owner ? container_of(owner, struct aftl_target, table) : NULL;
	int ret;

	lockdep_assert_held(&target->gate);
	if (old)
		aftl_target_copy_table_properties(old, &target->mapped->line);
	if (old && old != target)
		mutex_lock_nested(&old->gate, SINGLE_DEPTH_NESTING);
	ret = aftl_table_begin_data_takeover(&target->table);
	if (old && old != target)
		mutex_unlock(&old->gate);
	return ret;
}

/*
 * Repeat the checks that were made when the table was loaded, and reserve the device's data for it.
 * Returns enum aftl_resume, or an error.
 */
static int begin_target_resume(struct aftl_target *target, struct aftl_error *error)
{
	int ret = lock_target_list_and_target(target, error);

	if (ret)
		return ret;
	ret = check_table_against_other_tables(target, error);
	if (ret)
		aftl_table_record_refused_resume(&target->table);
	else
		ret = reserve_device_data_for_target(target);
	mutex_unlock(&target->gate);
	mutex_unlock(&aftl_targets_lock);
	return ret;
}

static void end_target_resume(struct aftl_target *target, int ret)
{
	mutex_lock(&aftl_targets_lock);
	mutex_lock(&target->gate);
	if (ret)
		aftl_table_fail_data_takeover(&target->table);
	else
		aftl_table_finish_data_takeover(&target->table);
	mutex_unlock(&target->gate);
	mutex_unlock(&aftl_targets_lock);
	wake_up_all(&aftl_data_settled);
	if (!ret)
		destroy_new_device_of_table(target);
}

/* Close the volume if it is open, and open it with the parameters of @target. */
static int reopen_target_volume(struct aftl_target *target, struct aftl_error *error)
{
	int ret;

	aftl_device_destroy(aftl_table_close_device(&target->table));
	ret = create_new_device_of_table(target, error);
	if (!ret)
		ret = aftl_device_open(target->table.spare, target->below->bdev, error);
	if (ret)
		destroy_new_device_of_table(target);
	else
		aftl_table_put_new_device_in_use(&target->table);
	return ret;
}

static int reopen_volume_or_create_device(struct aftl_target *target, struct aftl_error *error)
{
	int ret;

	if (target->below)
		return reopen_target_volume(target, error);
	ret = create_new_device_of_table(target, error);
	if (!ret)
		aftl_table_put_new_device_in_use(&target->table);
	return ret;
}

/* Move data in memory to the spare device; on failure they stay where they are. */
static int move_data_to_new_device_of_table(struct aftl_target *target, struct aftl_error *error)
{
	int ret = create_new_device_of_table(target, error);

	if (!ret)
		ret = aftl_device_take_over_data(target->table.spare, target->mapped->own.device,
						 error);
	if (ret)
		destroy_new_device_of_table(target);
	else
		aftl_device_destroy(aftl_table_replace_device(&target->table));
	return ret;
}

/* Take over data with new parameters. Counters continue, unless the volume was closed. */
static int take_over_data_with_new_params(struct aftl_target *target, struct aftl_error *error)
{
	struct aftl_ownership *own = &target->mapped->own;
	struct aftl_counts *counts = NULL;
	int ret;

	if (own->device && !target->below)
		aftl_device_drain_write_buffers(own->device);
	if (own->device) {
		counts = aftl_device_save_counters(own->device);
		if (!counts)
			return aftl_fail(error, -ENOMEM, "not enough memory to save the counters");
	}
	if (target->below)
		ret = reopen_target_volume(target, error);
	else
		ret = move_data_to_new_device_of_table(target, error);
	if (!ret && counts)
		aftl_device_restore_counters(own->device, counts);
	kvfree(counts);
	return ret;
}

static int take_over_device_data(struct aftl_target *target, struct aftl_error *error)
{
	struct aftl_ownership *own = &target->mapped->own;

	if (!own->device || !does_device_match_options(&target->options, own->device))
		return take_over_data_with_new_params(target, error);
	aftl_each_disk(disk, own->device)
		(*disk)->scale = target->options.scale;
	return 0;
}

/* io_opt: one program on each LUN, or on as many LUNs as fit into OPTIMAL_BYTES. */
static u32 compute_optimal_io_bytes(const struct aftl_geometry *geo, u32 shards)
{
	u64 program = (u64)geo->page_bytes * geo->program_pages;
	u64 luns = (u64)geo->luns * shards;

	return (u32)(program * clamp_t(u64, div64_u64(OPTIMAL_BYTES, program), 1, luns));
}

/* Set the limits that follow from the geometry of the emulated device, if it is not zoned. */
static void set_queue_limits_by_geometry(const struct aftl_target *target,
					 struct queue_limits *limits)
{
	const struct aftl_geometry *geo = &target->shards.geo;
	u32 count = target->shards.count;

	limits->logical_block_size = geo->unit_bytes;
	limits->physical_block_size = geo->unit_bytes;
	limits->io_min = geo->page_bytes;
	limits->io_opt = compute_optimal_io_bytes(geo, count);
	limits->discard_granularity = geo->unit_bytes;
	limits->max_discard_sectors = DISCARD_UNITS * unit_sectors(target) * count;
	limits->max_hw_discard_sectors = limits->max_discard_sectors;
	aftl_set_write_zeroes_limit(limits, limits->max_discard_sectors);
}

/*
 * Set the queue limits that device-mapper does not take from target_io_hints(): those of write
 * streams, whose granularity is one block on each LUN, and all of a table without a block device,
 * for which it keeps the limits of the table before.
 */
static int update_queue_limits(const struct aftl_target *target, struct aftl_error *error)
{
	const struct aftl_geometry *geo = &target->shards.geo;
	u64 bytes = (u64)geo->block_ppns * geo->unit_bytes * geo->luns * target->shards.count;
	struct gendisk *disk = dm_disk(dm_table_get_md(target->ti->table));
	struct queue_limits limits = aftl_start_limits_update(disk->queue);
	u32 ids = target->options.carriers & 1U << AFTL_CARRIER_WRITE_STREAM ?
			  aftl_get_write_stream_of_tag(&target->options) :
			  aftl_count_placement_streams(&target->options);
	int ret;

	aftl_set_write_stream_limits(&limits, ids, bytes);
	if (!target->below && !target->zones) {
		set_queue_limits_by_geometry(target, &limits);
		limits.max_hw_sectors = round_down(limits.max_hw_sectors, unit_sectors(target));
		limits.max_sectors = round_down(limits.max_sectors, unit_sectors(target));
	}
	ret = aftl_commit_limits_update(disk, &limits);
	return ret ? aftl_fail(error, ret, "Linux refuses the queue limits: error %d", -ret) : 0;
}

static int put_owned_device_in_use(struct aftl_target *target, struct aftl_error *error)
{
	struct aftl_ownership *own = &target->mapped->own;

	if (own->lost_writes)
		aftl_each_disk(disk, own->device)
			aftl_mark_buffer_lost((*disk)->ftl);
	return aftl_device_begin_use(own->device, &target->options.config, error);
}

/*
 * No failure of a resume loses data in memory, because moving them is the last step that can fail.
 * Every failure closes a volume; the next resume opens it again, and may find it writable.
 */
static int execute_resume_action_of_target(struct aftl_target *target, enum aftl_resume how,
					   struct aftl_error *error)
{
	struct aftl_ownership *own = &target->mapped->own;
	int ret = 0;

	if (own->device)
		own->lost_writes |= may_completed_writes_be_missing(own->device);
	/* A table that is resumed again keeps the limits that users have set in sysfs. */
	if (how != AFTL_RESUME_AGAIN)
		ret = update_queue_limits(target, error);
	if (!ret && how == AFTL_RESUME_NEW)
		ret = reopen_volume_or_create_device(target, error);
	else if (!ret && how == AFTL_RESUME_TAKE_OVER)
		ret = take_over_device_data(target, error);
	if (!ret)
		ret = put_owned_device_in_use(target, error);
	if (ret && target->below)
		aftl_device_destroy(aftl_table_close_device(&target->table));
	return ret;
}

static int target_preresume(struct dm_target *ti)
{
	struct aftl_target *target = ti->private;
	unsigned int flags = memalloc_noio_save(); /* keeps reclaim from writing to this device */
	struct aftl_error error;
	int ret = begin_target_resume(target, &error);

	if (ret >= 0) {
		aftl_set_open_zone_limits(dm_disk(dm_table_get_md(ti->table)),
					  target->options.config.max_open_zones * !!target->zones,
					  target->options.config.max_active_zones *
						  !!target->zones);
		ret = execute_resume_action_of_target(target, ret, &error);
		end_target_resume(target, ret);
	}
	memalloc_noio_restore(flags);
	if (ret)
		DMERR("%s: %s", dm_table_device_name(ti->table), error.text);
	return ret;
}

static void target_resume(struct dm_target *ti)
{
	struct aftl_target *target = ti->private;

	mutex_lock(&target->gate);
	aftl_table_set_live(&target->table);
	aftl_device_start(target->table.device, ti->table);
	mutex_unlock(&target->gate);
}

static void target_postsuspend(struct dm_target *ti)
{
	struct aftl_target *target = ti->private;

	mutex_lock(&target->gate);
	if (target->table.device)
		aftl_device_stop(target->table.device);
	aftl_table_set_stopped(&target->table);
	mutex_unlock(&target->gate);
}

/*
 * Report the backing device of a durable store. Its length is rounded down to the logical block
 * size of the target, which device-mapper checks. Other stores need this method, too: without it
 * device-mapper does not call io_hints.
 */
static int target_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct aftl_target *target = ti->private;
	sector_t sectors;
	int ret;

	if (target->zones) {
		ret = fn(ti, &target->zones_below, 0, ti->len, data);
		/* A bio reaches one shard only, so one bio cannot reset the zones of all shards. */
		if (target->shards.count > 1)
			aftl_split_zone_reset_all(ti);
		return ret;
	}
	if (!target->below)
		return 0;
	sectors = round_down(bdev_nr_sectors(target->below->bdev), unit_sectors(target));
	return fn(ti, target->below, 0, sectors, data);
}

/*
 * The target passes the memory segments of a read bio on to the backing device, so the limits of
 * the backing device for segments apply. Combine them as blk_stack_limits() does.
 */
static void set_io_segment_limits(struct queue_limits *limits, const struct queue_limits *below)
{
	limits->dma_alignment = max(limits->dma_alignment, below->dma_alignment);
	limits->virt_boundary_mask = min_not_zero(limits->virt_boundary_mask,
						  below->virt_boundary_mask);
	limits->seg_boundary_mask = min_not_zero(limits->seg_boundary_mask,
						 below->seg_boundary_mask);
	limits->max_segments = min_not_zero(limits->max_segments, below->max_segments);
	limits->max_segment_size = min_not_zero(limits->max_segment_size,
						below->max_segment_size);
}

/*
 * Replace the limits that device-mapper has stacked from the backing device (sizes, features,
 * zones, atomic writes, write streams) by those of the emulated device: the logical block is the
 * mapping unit, it is not rotational, and bios have at most AFTL_IO_SECTORS. docs/dm-approxftl.rst
 * lists the limits.
 */
static void target_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct aftl_target *target = ti->private;

	blk_set_stacking_limits(limits);
	if (target->below)
		set_io_segment_limits(limits, &bdev_get_queue(target->below->bdev)->limits);
	set_queue_limits_by_geometry(target, limits);
	if (target->zones) {
		limits->discard_granularity = 0;
		limits->max_discard_sectors = 0;
		limits->max_hw_discard_sectors = 0;
		aftl_set_write_zeroes_limit(limits, 0);
		aftl_zones_set_queue_limits(target, limits);
	}
}

static struct target_type approxftl_target = {
	.name = "approxftl",
	.version = AFTL_TARGET_VERSION,
	.features = DM_TARGET_SINGLETON | DM_TARGET_ZONED_HM,
	.module = THIS_MODULE,
	.ctr = target_ctr,
	.dtr = target_dtr,
	.map = aftl_map_bio,
	.preresume = target_preresume,
	.resume = target_resume,
	.postsuspend = target_postsuspend,
	.status = aftl_target_status,
	.message = aftl_target_message,
	.iterate_devices = target_iterate_devices,
	.report_zones = aftl_zones_report,
	.io_hints = target_io_hints,
};

static int __init init_tagging(void)
{
	int ret = aftl_tag_table_init();

	if (ret)
		return ret;
	ret = aftl_watch_init();
	if (ret)
		goto fail_files;
	ret = aftl_scope_table_init();
	if (ret)
		goto fail_watch;
	ret = aftl_control_init();
	if (ret)
		goto fail_scopes;
	return 0;

fail_scopes:
	aftl_scope_table_exit();
fail_watch:
	aftl_watch_exit();
fail_files:
	aftl_tag_table_exit();
	return ret;
}

/* Watches of file systems tag files, so they end before the table of tagged files is freed. */
static void exit_tag_subsystems(void)
{
	aftl_control_exit();
	aftl_scope_table_exit();
	aftl_watch_exit();
	aftl_tag_table_exit();
}

static int __init approxftl_init(void)
{
	int ret = aftl_disks_init();

	if (ret)
		return ret;
	ret = init_tagging();
	if (ret)
		goto fail_disks;
	ret = dm_register_target(&approxftl_target);
	if (ret)
		goto fail_tags;
	return 0;

fail_tags:
	exit_tag_subsystems();
fail_disks:
	aftl_disks_exit();
	return ret;
}

static void __exit approxftl_exit(void)
{
	dm_unregister_target(&approxftl_target);
	exit_tag_subsystems();
	aftl_disks_exit();
}

module_init(approxftl_init);
module_exit(approxftl_exit);

MODULE_DESCRIPTION(DM_NAME " target that emulates an SSD of 3D NAND with approximate storage");
MODULE_AUTHOR("The dm-approxftl authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(AFTL_VERSION);
