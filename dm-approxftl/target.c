// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device-mapper target "approxftl": an SSD of 3D NAND that is emulated in real time.
 *
 * A table line makes a disk of its own at once, in memory only. When a table is
 * reloaded, the new target takes the old one's content in preresume: with the same
 * parameters the disk as it is, otherwise its data, written anew.
 */
#include <linux/module.h>

#include "approxftl.h"

/* Largest bio, and largest discard in units: both are handled in one go. */
#define IO_SECTORS (SZ_256K >> SECTOR_SHIFT)
#define DISCARD_UNITS 1024

/* All targets, so that a reloaded table finds its predecessor. */
static LIST_HEAD(targets);
static DEFINE_MUTEX(targets_lock);

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

/* The resumed target of the same device; NULL if there is none. */
static struct aftl_target *find_predecessor(const struct aftl_target *target)
{
	struct mapped_device *md = dm_table_get_md(target->ti->table);
	struct aftl_target *other;

	lockdep_assert_held(&targets_lock);
	list_for_each_entry(other, &targets, list)
		if (other != target && other->resumed && other->disk &&
		    dm_table_get_md(other->ti->table) == md)
			return other;
	return NULL;
}

static int check_size(const struct dm_target *ti, const struct aftl_disk *disk,
		      struct aftl_error *error)
{
	u64 sectors = (u64)aftl_geometry(disk->ftl)->units << disk->unit_shift;

	if (ti->len > sectors)
		return aftl_fail(error, -EINVAL,
				 "the table asks for %llu sectors, but the device has %llu; lower the former or raise blocks",
				 (u64)ti->len, sectors);
	if (ti->len & (aftl_unit_sectors(disk) - 1))
		return aftl_fail(error, -EINVAL,
				 "%llu sectors are not a multiple of the mapping unit of %u sectors",
				 (u64)ti->len, aftl_unit_sectors(disk));
	return 0;
}

/* What cannot be taken over later is refused now, while the old table still works. */
static int check_predecessor(const struct aftl_target *target, struct aftl_error *error)
{
	const struct aftl_target *old = find_predecessor(target);

	if (!old)
		return 0;
	if (old->options.store != target->options.store)
		return aftl_fail(error, -EINVAL,
				 "the device keeps its data in store %s; a reload cannot change that",
				 old->options.store->name);
	if (old->disk->unit_shift != target->disk->unit_shift)
		return aftl_fail(error, -EINVAL,
				 "the device has mapping units of %u sectors; a reload cannot change that",
				 aftl_unit_sectors(old->disk));
	if (target->ti->len < old->ti->len)
		return aftl_fail(error, -EINVAL,
				 "the device has %llu sectors; a reload cannot shrink it to %llu",
				 (u64)old->ti->len, (u64)target->ti->len);
	return 0;
}

static int build(struct aftl_target *target, unsigned int argc, char **argv,
		 struct aftl_error *error)
{
	int ret = aftl_options_parse(&target->options, argc, argv, error);

	if (!ret)
		ret = aftl_disk_create(&target->disk, &target->options, error);
	if (!ret)
		ret = check_size(target->ti, target->disk, error);
	if (ret)
		return ret;
	mutex_lock(&targets_lock);
	ret = check_predecessor(target, error);
	mutex_unlock(&targets_lock);
	return ret;
}

static void set_up(struct dm_target *ti)
{
	ti->num_flush_bios = 1;
	ti->num_discard_bios = 1;
	ti->num_write_zeroes_bios = 1;
	ti->flush_supported = true;
	ti->discards_supported = true;
	ti->per_io_data_size = sizeof(struct aftl_io);
}

static void destroy(struct aftl_target *target)
{
	aftl_disk_destroy(target->disk);
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
		ret = dm_set_target_max_io_len(ti, IO_SECTORS);
	if (ret)
		goto fail_target;
	set_up(ti);
	ti->private = target;
	mutex_lock(&targets_lock);
	list_add(&target->list, &targets);
	mutex_unlock(&targets_lock);
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

	mutex_lock(&targets_lock);
	list_del(&target->list);
	mutex_unlock(&targets_lock);
	destroy(target);
}

/* The same device in all that the FTL knows of. */
static bool same_device(const struct aftl_options *a, const struct aftl_options *b)
{
	return a->policy == b->policy && !memcmp(&a->config, &b->config, sizeof(a->config));
}

/* @old keeps its disk until @target has what was on it. */
static int take_over(struct aftl_target *target, struct aftl_target *old)
{
	int ret = 0;

	lockdep_assert_held(&targets_lock);
	mutex_lock(&old->gate);
	if (same_device(&target->options, &old->options)) {
		swap(target->disk, old->disk);
		target->disk->scale = target->options.scale;
	} else {
		ret = aftl_disk_transfer(target->disk, old->disk);
	}
	if (!ret) {
		aftl_disk_destroy(old->disk);
		old->disk = NULL;
	}
	mutex_unlock(&old->gate);
	return ret;
}

static int target_preresume(struct dm_target *ti)
{
	struct aftl_target *target = ti->private;
	struct aftl_target *old;
	int ret = 0;

	mutex_lock(&targets_lock);
	old = target->resumed ? NULL : find_predecessor(target);
	if (old)
		ret = take_over(target, old);
	mutex_unlock(&targets_lock);
	if (ret)
		DMERR("%s: the new table has no room for the data of the old one",
		      dm_table_device_name(ti->table));
	return ret;
}

static void target_resume(struct dm_target *ti)
{
	struct aftl_target *target = ti->private;

	mutex_lock(&target->gate);
	target->suspended = false;
	target->resumed = true;
	aftl_disk_start(target->disk, ti->table);
	mutex_unlock(&target->gate);
}

static void target_postsuspend(struct dm_target *ti)
{
	struct aftl_target *target = ti->private;

	mutex_lock(&target->gate);
	if (target->disk)
		aftl_disk_stop(target->disk);
	target->suspended = true;
	mutex_unlock(&target->gate);
}

/* No device is below; being there makes device-mapper ask for io_hints. */
static int target_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	return 0;
}

static void target_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct aftl_target *target = ti->private;
	const struct aftl_geometry *geo = aftl_geometry(target->disk->ftl);

	limits->logical_block_size = geo->unit_bytes;
	limits->physical_block_size = geo->page_bytes;
	limits->io_min = geo->page_bytes;
	limits->io_opt = geo->page_bytes * geo->program_pages * geo->luns;
	/* What 6.12 makes of a smaller one anyway. */
	limits->discard_granularity = geo->page_bytes;
	limits->max_discard_sectors = DISCARD_UNITS << target->disk->unit_shift;
	limits->max_hw_discard_sectors = limits->max_discard_sectors;
	limits->max_write_zeroes_sectors = limits->max_discard_sectors;
}

/* Raise the version whenever a tool could notice: options, status, messages. */
static struct target_type approxftl_target = {
	.name = "approxftl",
	.version = { 0, 1, 0 },
	.features = DM_TARGET_SINGLETON,
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
	.io_hints = target_io_hints,
};

static int __init approxftl_init(void)
{
	return dm_register_target(&approxftl_target);
}

static void __exit approxftl_exit(void)
{
	dm_unregister_target(&approxftl_target);
}

module_init(approxftl_init);
module_exit(approxftl_exit);

MODULE_DESCRIPTION(DM_NAME " target that emulates an SSD of 3D NAND with approximate storage");
MODULE_AUTHOR("The dm-approxftl authors");
MODULE_LICENSE("GPL");
