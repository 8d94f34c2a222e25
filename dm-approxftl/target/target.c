// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device-mapper target "approxftl": an SSD of 3D NAND that is emulated in real time.
 *
 * A table line makes a disk of its own at once, in memory only. When a table is
 * reloaded, the new target becomes the owner of the data in preresume: with the same
 * parameters the disk as it is, otherwise what reload.c makes of it. A disk with a durable
 * store is opened in preresume, for another table may be using its block device until
 * then; reloading closes and opens it.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>

#include "bio/bio.h"
#include "compat.h"
#include "core/persist/volume.h"
#include "log.h"
#include "store/dev.h"
#include "tags/tags.h"
#include "target/options.h"
#include "target/target.h"

/* Largest discard of a shard in units, about: it is handled in one go. */
#define DISCARD_UNITS 256

/* Optimal request of a device with many LUNs: device-mapper reads ahead twice as much. */
#define OPTIMAL_BYTES SZ_4M

/*
 * Sentences outlive the constructor that failed, for device-mapper prints them after
 * it. The oldest is overwritten.
 */
static struct aftl_error sentences[16];
static atomic_t next_sentence;

static void set_error(struct dm_target *ti, const struct aftl_error *error)
{
	u32 index = (u32)atomic_inc_return(&next_sentence) % ARRAY_SIZE(sentences);

	sentences[index] = *error;
	ti->error = sentences[index].text;
}

/* Return true if @target owns data or has an unreported write error. */
static bool has_data(const struct aftl_target *target)
{
	return target->ownership != AFTL_OWNS_NOTHING || target->lost;
}

/* The table line that describes the data of @target, and its length. */
static const struct aftl_options *data_options(const struct aftl_target *target)
{
	return target->source ? &target->source_options : &target->options;
}

static sector_t data_sectors(const struct aftl_target *target)
{
	return target->source ? target->source_sectors : target->ti->len;
}

/*
 * The target of the same device that has its data; NULL if there is none. Those of other devices
 * may be given theirs meanwhile, under their gates, so they are not asked for any.
 */
static struct aftl_target *find_predecessor(const struct aftl_target *target)
{
	struct mapped_device *md = dm_table_get_md(target->ti->table);
	struct aftl_target *other;

	lockdep_assert_held(&aftl_targets_lock);
	list_for_each_entry(other, &aftl_targets, list)
		if (other != target && dm_table_get_md(other->ti->table) == md && has_data(other))
			return other;
	return NULL;
}

static u32 unit_sectors(const struct aftl_target *target)
{
	return target->shards.geo.unit_bytes >> SECTOR_SHIFT;
}

static int check_size(const struct aftl_target *target, struct aftl_error *error)
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

/* Two that write one volume would destroy it. */
static int check_sharing(const struct aftl_target *target, struct aftl_error *error)
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

/* Can @target take over the data of @owner, which may be itself: what it has in its source? */
static int check_take_over(const struct aftl_target *target, const struct aftl_target *owner,
			   struct aftl_error *error)
{
	const struct aftl_options *old = data_options(owner);
	u32 old_unit = owner->source ? owner->source_unit_sectors : unit_sectors(owner);
	sector_t sectors = data_sectors(owner);

	if (old->store != target->options.store)
		return aftl_fail(error, -EINVAL,
				 "the device keeps its data in store %s; a reload cannot change that",
				 old->store->name);
	if (strcmp(old->device, target->options.device))
		return aftl_fail(error, -EINVAL,
				 "the device keeps its data on %s; a reload cannot move them",
				 old->device);
	if (target->below &&
	    aftl_volume_config_check(&old->config, &target->options.config, error))
		return -EINVAL;
	if ((old->config.zoned || target->shards.geo.zones) &&
	    (old->policy != target->options.policy ||
	     memcmp(&old->config, &target->options.config, sizeof(old->config))))
		return aftl_fail(error, -EINVAL,
				 "the device has zones, or is to have some; a reload cannot change its parameters");
	if (old_unit != unit_sectors(target))
		return aftl_fail(error, -EINVAL,
				 "the device has mapping units of %u sectors; a reload cannot change that",
				 old_unit);
	if (target->ti->len < sectors)
		return aftl_fail(error, -EINVAL,
				 "the device has %llu sectors; a reload cannot shrink it to %llu",
				 (u64)sectors, (u64)target->ti->len);
	return 0;
}

/*
 * A table that cannot take the data over is refused when it is loaded, while the old one still
 * works. Until the resume another table may become the owner, so it is checked once more then.
 */
static int check_predecessor(const struct aftl_target *target, struct aftl_error *error)
{
	const struct aftl_target *old = find_predecessor(target);

	return old ? check_take_over(target, old, error) : 0;
}

/* Of a durable store even reads are written down: where, and how often. */
static int check_writable(const struct dm_target *ti, const char *path, struct aftl_error *error)
{
	if (dm_table_get_mode(ti->table) & AFTL_OPEN_WRITE)
		return 0;
	return aftl_fail(error, -EROFS,
			 "a read-only table would write the volume on %.60s; load one that is not, and blockdev --setro",
			 path);
}

/* What could be opened, but not used. */
static int check_below(const struct aftl_target *target, struct aftl_error *error)
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

static int open_below(struct aftl_target *target, const char *path, struct aftl_error *error)
{
	struct dm_target *ti = target->ti;
	int ret = check_writable(ti, path, error);

	if (ret)
		return ret;
	ret = dm_get_device(ti, path, dm_table_get_mode(ti->table), &target->below);

	if (ret == -EBUSY)
		return aftl_fail(error, ret, "block device %.60s is in use, as by a file system",
				 path);
	if (ret)
		return aftl_fail(error, ret, "block device %.60s cannot be opened; is it there?",
				 path);
	strscpy(target->options.device, target->below->name, sizeof(target->options.device));
	return check_below(target, error);
}

/* What a table line alone can show to be wrong. */
static int understand(struct aftl_target *target, unsigned int argc, char **argv,
		      struct aftl_error *error)
{
	int ret = aftl_options_parse(&target->options, argc, argv, error);

	if (!ret)
		ret = aftl_shards_init(&target->shards, &target->options.config, error);
	if (!ret)
		ret = check_size(target, error);
	if (!ret && target->shards.geo.zones)
		ret = aftl_zones_create(target, error);
	if (!ret && target->options.store == &aftl_store_dev)
		ret = open_below(target, argv[0], error);
	return ret;
}

static int check_others(const struct aftl_target *target, struct aftl_error *error)
{
	int ret;

	mutex_lock(&aftl_targets_lock);
	ret = check_sharing(target, error);
	if (!ret)
		ret = check_predecessor(target, error);
	mutex_unlock(&aftl_targets_lock);
	return ret;
}

static int build(struct aftl_target *target, unsigned int argc, char **argv,
		 struct aftl_error *error)
{
	int ret = understand(target, argc, argv, error);

	if (!ret && target->below)
		ret = aftl_disk_check(&target->options, error);
	else if (!ret)
		ret = aftl_device_create(&target->device, &target->options, NULL, error);
	return ret ? ret : check_others(target, error);
}

/* A request is in one run of a shard; what may be longer goes to each, which has a part of it. */
static int limit_io(struct dm_target *ti, const struct aftl_shards *shards)
{
	u32 run = shards->geo.unit_bytes >> SECTOR_SHIFT << shards->chunk_shift;

	if (shards->count == 1)
		return dm_set_target_max_io_len(ti, AFTL_IO_SECTORS);
	return dm_set_target_max_io_len(ti, min_t(u32, run, AFTL_IO_SECTORS));
}

static void set_up(struct dm_target *ti, const struct aftl_shards *shards)
{
	bool zoned = shards->geo.zones;

	ti->num_flush_bios = shards->count;
	ti->num_discard_bios = zoned ? 0 : shards->count;
	ti->num_write_zeroes_bios = ti->num_discard_bios;
	ti->flush_supported = true;
	ti->discards_supported = !zoned;
	ti->per_io_data_size = sizeof(struct aftl_io);
}

static void drop_disks(struct aftl_target *target)
{
	aftl_device_destroy(target->source);
	aftl_device_destroy(target->device);
	target->source = NULL;
	target->device = NULL;
}

static void destroy(struct aftl_target *target)
{
	drop_disks(target);
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
	ret = build(target, argc, argv, &error);
	if (!ret)
		ret = limit_io(ti, &target->shards);
	if (ret)
		goto fail_target;
	set_up(ti, &target->shards);
	/* A bio's cgroup is that of what is written below for it. */
	ti->needs_bio_set_dev = !!target->below;
	ti->private = target;
	mutex_lock(&aftl_targets_lock);
	list_add(&target->list, &aftl_targets);
	mutex_unlock(&aftl_targets_lock);
	return 0;

fail_target:
	destroy(target);
fail:
	set_error(ti, &error);
	return ret;
}

static void target_dtr(struct dm_target *ti)
{
	struct aftl_target *target = ti->private;

	/* Closing a volume writes to it: until then nobody else may open it. */
	mutex_lock(&target->gate);
	drop_disks(target);
	mutex_unlock(&target->gate);
	mutex_lock(&aftl_targets_lock);
	list_del(&target->list);
	mutex_unlock(&aftl_targets_lock);
	destroy(target);
}

/* The same device in all that the FTL knows of. */
static bool same_device(const struct aftl_options *options, const struct aftl_device *device)
{
	bool same = options->config.shards == device->shards.count;
	struct aftl_config own;
	u32 i;

	for (i = 0; same && i < device->shards.count; i++) {
		const struct aftl *ftl = device->disks[i]->ftl;

		aftl_shard_config(&own, &options->config, i);
		same = options->policy == aftl_policy_type(ftl) &&
		       !memcmp(&own, aftl_config(ftl), sizeof(own));
	}
	return same;
}

/*
 * Make @target the owner of the data. Whether or not its resume succeeds in the end, device-mapper
 * destroys the table before: from now on @target keeps the data, for a second attempt or for a
 * further table.
 */
static void take_ownership(struct aftl_target *target)
{
	struct aftl_target *old = find_predecessor(target);

	lockdep_assert_held(&target->gate);
	if (target->ownership != AFTL_OWNS_NOTHING || target->resumed)
		return;
	target->ownership = AFTL_OWNS_NEW;
	if (!old)
		return;
	/* Of two gates ours is the first; whoever holds two has the lock of the list, too. */
	mutex_lock_nested(&old->gate, SINGLE_DEPTH_NESTING);
	if (old->source || old->device) {
		target->source_options = *data_options(old);
		target->source_sectors = data_sectors(old);
		target->source_unit_sectors = old->source ? old->source_unit_sectors :
							    unit_sectors(old);
		swap(target->source, old->source);
		if (!target->source)
			swap(target->source, old->device);
		target->ownership = AFTL_OWNS_DATA;
	}
	old->ownership = AFTL_OWNS_NOTHING;
	/* Also of one that never came to use what it had taken over. */
	target->lost |= old->lost;
	mutex_unlock(&old->gate);
}

/* The resume is over. One that failed and found no data owns none. */
static void settle_ownership(struct aftl_target *target, int ret)
{
	mutex_lock(&aftl_targets_lock);
	if (target->ownership == AFTL_OWNS_NEW)
		target->ownership = ret ? AFTL_OWNS_NOTHING : AFTL_OWNS_DATA;
	mutex_unlock(&aftl_targets_lock);
}

static void drop_source(struct aftl_target *target)
{
	aftl_device_destroy(target->source);
	target->source = NULL;
}

/* The volume is on the medium: what the old table had of it is closed first. */
static int open_volume(struct aftl_target *target, struct aftl_error *error)
{
	if (target->device)
		return 0;
	drop_source(target);
	return aftl_device_create(&target->device, &target->options, target->below->bdev,
				  error);
}

/*
 * What concerns other targets. The rest may wait for I/O of the device below; if that is one
 * of ours, its table needs the lock, too, to be resumed.
 */
static int settle_with_others(struct aftl_target *target, struct aftl_error *error)
{
	int ret;

	mutex_lock(&aftl_targets_lock);
	take_ownership(target);
	ret = check_sharing(target, error);
	if (!ret && target->source)
		ret = check_take_over(target, target, error);
	mutex_unlock(&aftl_targets_lock);
	return ret;
}

/* What was complete may be gone, from the write buffer or on its way to a medium that failed. */
static bool has_lost_writes(const struct aftl_device *device)
{
	bool lost = false;

	aftl_each_disk(disk, device)
		lost |= aftl_buffer_lost((*disk)->ftl) ||
			((*disk)->durable && aftl_dev_error((*disk)->durable));
	return lost;
}

/* Counters go on; a volume that is closed has none. */
static int change_device(struct aftl_target *target, struct aftl_error *error)
{
	struct aftl_counts *counts = NULL;
	int ret = 0;

	if (target->source) {
		if (!target->below)
			aftl_device_empty_buffers(target->source);
		counts = aftl_device_counts(target->source);
		if (!counts)
			return aftl_fail(error, -ENOMEM, "not enough memory for the counters");
	}
	if (target->below)
		ret = open_volume(target, error);
	else if (counts)
		ret = aftl_device_take_over(target->device, target->source, error);
	if (!ret && counts)
		aftl_device_carry_counts(target->device, counts);
	kvfree(counts);
	return ret;
}

static int claim_device(struct aftl_target *target, struct aftl_error *error)
{
	int ret = settle_with_others(target, error);

	lockdep_assert_held(&target->gate);
	if (ret)
		return ret;
	target->lost |= target->source && has_lost_writes(target->source);
	if (target->source && same_device(&target->options, target->source)) {
		swap(target->device, target->source);
		aftl_each_disk(disk, target->device)
			(*disk)->scale = target->options.scale;
	} else {
		ret = change_device(target, error);
	}
	if (ret)
		return ret;
	drop_source(target);
	if (target->lost)
		aftl_each_disk(disk, target->device)
			aftl_mark_buffer_lost((*disk)->ftl);
	return 0;
}

/* What one stream of the host is written to before another block is opened for it. */
static int offer_streams(const struct aftl_target *target, struct aftl_error *error)
{
	const struct aftl_geometry *geo = &target->shards.geo;
	u64 bytes = (u64)geo->block_ppns * geo->unit_bytes * geo->luns * target->shards.count;
	struct mapped_device *md = dm_table_get_md(target->ti->table);
	u32 ids = target->options.policy->host_streams +
		  (u32)target->options.config.placement_handles;
	int ret = aftl_limit_write_streams(dm_disk(md)->queue, ids, bytes);

	return ret ? aftl_fail(error, ret, "write streams cannot be offered: error %d", -ret) : 0;
}

/* What could not be begun is opened again by the next attempt: then it may be written. */
static int begin_device(struct aftl_target *target, struct aftl_error *error)
{
	int ret;

	lockdep_assert_held(&target->gate);
	ret = aftl_device_begin(target->device, &target->options.config, error);
	if (!ret)
		return 0;
	/* Data in memory are nowhere else. */
	if (target->below) {
		aftl_device_destroy(target->device);
		target->device = NULL;
	}
	return ret;
}

static int target_preresume(struct dm_target *ti)
{
	struct aftl_target *target = ti->private;
	unsigned int flags = memalloc_noio_save(); /* to write to us would wait for us */
	struct aftl_error error;
	int ret;

	aftl_limit_open_zones(dm_disk(dm_table_get_md(ti->table)),
			      target->options.config.max_open_zones * !!target->zones,
			      target->options.config.max_active_zones * !!target->zones);
	mutex_lock(&target->gate);
	ret = claim_device(target, &error);
	if (!ret)
		ret = offer_streams(target, &error);
	if (!ret)
		ret = begin_device(target, &error);
	settle_ownership(target, ret);
	mutex_unlock(&target->gate);
	memalloc_noio_restore(flags);
	if (ret)
		DMERR("%s: %s", dm_table_device_name(ti->table), error.text);
	return ret;
}

static void target_resume(struct dm_target *ti)
{
	struct aftl_target *target = ti->private;

	mutex_lock(&target->gate);
	target->suspended = false;
	WRITE_ONCE(target->resumed, true); /* read by in_use() without the gate */
	aftl_device_start(target->device, ti->table);
	mutex_unlock(&target->gate);
}

static void target_postsuspend(struct dm_target *ti)
{
	struct aftl_target *target = ti->private;

	mutex_lock(&target->gate);
	if (target->device)
		aftl_device_stop(target->device);
	target->suspended = true;
	mutex_unlock(&target->gate);
}

/*
 * The device below a durable store, all of it but what is less than a sector of ours: its
 * end need not be a multiple of one. For other stores being there makes device-mapper ask
 * for io_hints.
 */
static int target_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct aftl_target *target = ti->private;
	sector_t sectors;
	int ret;

	if (target->zones) {
		ret = fn(ti, &target->zones_below, 0, ti->len, data);
		/* No bio reaches all shards; device-mapper has just assumed the contrary. */
		if (target->shards.count > 1)
			aftl_reset_each_zone(ti);
		return ret;
	}
	if (!target->below)
		return 0;
	sectors = round_down(bdev_nr_sectors(target->below->bdev), unit_sectors(target));
	return fn(ti, target->below, 0, sectors, data);
}

/* One program on each LUN, or on as many as OPTIMAL_BYTES are enough for. */
static u32 optimal_bytes(const struct aftl_geometry *geo, u32 shards)
{
	u64 program = (u64)geo->page_bytes * geo->program_pages;
	u64 luns = (u64)geo->luns * shards;

	return (u32)(program * clamp_t(u64, div64_u64(OPTIMAL_BYTES, program), 1, luns));
}

/*
 * Reads go down in the host's own segments: where these may be is for the device below to say. The
 * rules are those of blk_stack_limits().
 */
static void limit_segments(struct queue_limits *limits, const struct queue_limits *below)
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
 * The emulated device has limits of its own, whatever the device below can do: sectors are mapping
 * units, nothing rotates, bios are cut to AFTL_IO_SECTORS, and nothing that device-mapper stacks
 * from below (sizes, features, zones, atomic writes, write streams) is passed on. docs/dm-approxftl.rst
 * lists the limits.
 */
static void target_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct aftl_target *target = ti->private;
	const struct aftl_geometry *geo = &target->shards.geo;
	u32 count = target->shards.count;

	blk_set_stacking_limits(limits);
	if (target->below)
		limit_segments(limits, &bdev_get_queue(target->below->bdev)->limits);
	limits->logical_block_size = geo->unit_bytes;
	limits->physical_block_size = geo->unit_bytes;
	limits->io_min = geo->page_bytes;
	limits->io_opt = optimal_bytes(geo, count);
	limits->discard_granularity = geo->unit_bytes;
	limits->max_discard_sectors = DISCARD_UNITS * unit_sectors(target) * count;
	limits->max_hw_discard_sectors = limits->max_discard_sectors;
	if (target->zones) {
		limits->discard_granularity = 0;
		limits->max_discard_sectors = 0;
		limits->max_hw_discard_sectors = 0;
		aftl_zones_limit(target, limits);
	}
	aftl_limit_write_zeroes(limits, limits->max_discard_sectors);
}

/* Raise the version whenever a tool could notice: options, status, messages. */
static struct target_type approxftl_target = {
	.name = "approxftl",
	.version = { 0, 3, 0 },
	.features = DM_TARGET_SINGLETON | DM_TARGET_ZONED_HM,
	.module = THIS_MODULE,
	.ctr = target_ctr,
	.dtr = target_dtr,
	.map = aftl_io_map,
	.preresume = target_preresume,
	.resume = target_resume,
	.postsuspend = target_postsuspend,
	.status = aftl_status,
	.message = aftl_message,
	.iterate_devices = target_iterate_devices,
	.report_zones = aftl_zones_report,
	.io_hints = target_io_hints,
};

static int __init init_tags(void)
{
	int ret = aftl_files_init();

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
	aftl_files_exit();
	return ret;
}

/* Watches first: they tag files. */
static void exit_tags(void)
{
	aftl_control_exit();
	aftl_scope_table_exit();
	aftl_watch_exit();
	aftl_files_exit();
}

static int __init approxftl_init(void)
{
	int ret = init_tags();

	if (ret)
		return ret;
	ret = dm_register_target(&approxftl_target);
	if (ret)
		exit_tags();
	return ret;
}

static void __exit approxftl_exit(void)
{
	dm_unregister_target(&approxftl_target);
	exit_tags();
}

module_init(approxftl_init);
module_exit(approxftl_exit);

MODULE_DESCRIPTION(DM_NAME " target that emulates an SSD of 3D NAND with approximate storage");
MODULE_AUTHOR("The dm-approxftl authors");
MODULE_LICENSE("GPL");
