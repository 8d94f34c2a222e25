// SPDX-License-Identifier: GPL-2.0-only
/*
 * Zones of the target.
 *
 * Device-mapper reads zones and zone limits from the underlying block devices of a target. A device
 * in memory has none, so the target allocates a gendisk that reports its zones. The gendisk is
 * never added, so nothing can open it.
 */
#include <linux/blkdev.h>

#include "compat.h"
#include "disk/disk.h"
#include "target/target.h"

static u64 zone_sectors(const struct aftl_target *target)
{
	return target->options.config.zoned >> SECTOR_SHIFT;
}

static u8 blk_zone_condition(enum aftl_zone_state state)
{
	static const u8 conditions[] = {
		[AFTL_ZONE_EMPTY] = BLK_ZONE_COND_EMPTY,
		[AFTL_ZONE_IMPLICIT] = BLK_ZONE_COND_IMP_OPEN,
		[AFTL_ZONE_EXPLICIT] = BLK_ZONE_COND_EXP_OPEN,
		[AFTL_ZONE_CLOSED] = BLK_ZONE_COND_CLOSED,
		[AFTL_ZONE_FULL] = BLK_ZONE_COND_FULL,
		[AFTL_ZONE_READ_ONLY] = BLK_ZONE_COND_READONLY,
		[AFTL_ZONE_OFFLINE] = BLK_ZONE_COND_OFFLINE,
	};

	return conditions[state];
}

/*
 * Fill in the report of zone @index. A superseded table has no zones to report: -EIO. A table that
 * was never resumed reports empty zones, because device-mapper counts them before the resume: it
 * uses their type only, but 6.19 checks that the condition is legal for a sequential zone.
 */
static int fill_zone_report(struct aftl_target *target, u32 index, struct blk_zone *zone)
{
	const struct aftl_geometry *geo = &target->shards.geo;
	u32 unit_sectors = geo->unit_bytes >> SECTOR_SHIFT;
	u32 shards = target->shards.count;
	struct aftl_disk *disk;
	bool superseded;
	u32 written = 0;

	*zone = (struct blk_zone){
		.start = index * zone_sectors(target),
		.len = zone_sectors(target),
		.capacity = (u64)geo->zone_capacity * unit_sectors,
		.type = BLK_ZONE_TYPE_SEQWRITE_REQ,
		.cond = BLK_ZONE_COND_EMPTY,
	};
	mutex_lock(&target->gate);
	disk = target->table.device ? target->table.device->disks[index % shards] : NULL;
	superseded = target->table.state == AFTL_TABLE_SUPERSEDED;
	if (disk) {
		spin_lock_bh(&disk->lock);
		zone->cond =
			blk_zone_condition(aftl_zone_state(disk->ftl, index / shards, &written));
		spin_unlock_bh(&disk->lock);
	}
	mutex_unlock(&target->gate);
	zone->wp = zone->start + (u64)written * unit_sectors;
	if (zone->cond == BLK_ZONE_COND_FULL)
		zone->wp = zone->start + zone->len;
	return superseded ? -EIO : 0;
}

static int report_disk_zones(struct gendisk *disk, sector_t sector, unsigned int zones,
			     aftl_zone_fn fn, void *data)
{
	struct aftl_target *target = disk->private_data;
	u32 first = (u32)div64_u64(sector, zone_sectors(target));
	u32 end = (u32)div64_u64(get_capacity(disk), zone_sectors(target));
	struct blk_zone zone;
	u32 i;

	for (i = 0; i < zones && first + i < end; i++) {
		int ret = fill_zone_report(target, first + i, &zone);

		if (!ret)
			ret = fn(disk, &zone, i, data);
		if (ret)
			return ret;
	}
	return (int)i;
}

AFTL_REPORT_ZONES(report_zones, report_disk_zones)

static const struct block_device_operations ops = {
	.owner = THIS_MODULE,
	.report_zones = report_zones,
};

void aftl_zones_set_queue_limits(const struct aftl_target *target, struct queue_limits *limits)
{
	const struct aftl_config *config = &target->options.config;

	/*
	 * Limits of open and active zones apply to each shard: all open zones may be in one shard.
	 */
	limits->chunk_sectors = (u32)zone_sectors(target);
	limits->zone_write_granularity = target->shards.geo.unit_bytes;
	aftl_set_zone_limits(limits, config->max_open_zones, config->max_active_zones,
			     AFTL_IO_SECTORS);
}

/* Check that the zone size is legal in Linux and divides the length of the table. */
static int check_zone_size(const struct aftl_target *target, struct aftl_error *error)
{
	if (zone_sectors(target) > BIT(30) || zone_sectors(target) < 8)
		return aftl_fail(error, -EINVAL, "zoned: Linux supports zones of 4 KiB to 512 GiB");
	if (target->ti->len & (zone_sectors(target) - 1))
		return aftl_fail(error, -EINVAL,
				 "%llu sectors are not a multiple of the zone's %llu",
				 (u64)target->ti->len, zone_sectors(target));
	return 0;
}

int aftl_zones_create(struct aftl_target *target, struct aftl_error *error)
{
	struct queue_limits limits;
	int ret = check_zone_size(target, error);

	if (ret)
		return ret;
	blk_set_stacking_limits(&limits);
	limits.logical_block_size = target->shards.geo.unit_bytes;
	limits.physical_block_size = target->shards.geo.unit_bytes;
	limits.io_min = target->shards.geo.unit_bytes;
	aftl_zones_set_queue_limits(target, &limits);
	target->zones = aftl_alloc_zoned_disk(&limits);
	if (!target->zones)
		return aftl_fail(error, -ENOMEM, "not enough memory for a report of zones");
	target->zones->fops = &ops;
	target->zones->private_data = target;
	set_capacity(target->zones, target->ti->len);
	strscpy(target->zones->disk_name, "approxftl", sizeof(target->zones->disk_name));
	target->zones_below.bdev = target->zones->part0;
	return 0;
}

void aftl_zones_destroy(struct aftl_target *target)
{
	if (target->zones)
		put_disk(target->zones);
}

int aftl_zones_report(struct dm_target *ti, struct dm_report_zones_args *args, unsigned int zones)
{
	struct aftl_target *target = ti->private;

	if (!target->zones)
		return -EOPNOTSUPP;
	return dm_report_zones(target->zones->part0, 0, dm_target_offset(ti, args->next_sector),
			       args, zones);
}
