/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the kernel's interfaces differ between 6.1 and now; nothing else belongs here.
 */
#ifndef AFTL_COMPAT_H
#define AFTL_COMPAT_H

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/fs.h>

#include <linux/fileattr.h> /* in 6.1 it needs the former */
#include <linux/fsnotify_backend.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/uio.h>
#include <linux/version.h>

/* Until 6.5 how a block device is opened was said in other words. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define AFTL_OPEN_WRITE BLK_OPEN_WRITE
#else
#define AFTL_OPEN_WRITE FMODE_WRITE
#endif

/* Since 6.17 what an ioctl() may know of a file has another name. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define aftl_file_attributes file_kattr
#else
#define aftl_file_attributes fileattr
#endif

/* Since 6.9 a write says how long its data will live, */
static inline u8 aftl_bio_life(const struct bio *bio)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	return bio->bi_write_hint;
#else
	return 0;
#endif
}

/* and since 6.16 which data they belong with. */
static inline u8 aftl_bio_stream(const struct bio *bio)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	return bio->bi_write_stream;
#else
	return 0;
#endif
}

/* How many a program may use; limits of a target's own do not get that far. */
static inline int aftl_limit_write_streams(struct request_queue *queue, u32 streams, u64 bytes)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	struct queue_limits limits = queue_limits_start_update(queue);

	limits.max_write_streams = (unsigned short)streams;
	limits.write_stream_granularity = streams ? (u32)min_t(u64, bytes, U32_MAX) : 0;
	return queue_limits_commit_update(queue, &limits);
#else
	return 0;
#endif
}

/*
 * What is said of each zone goes to a function with arguments of its own until 6.18, then to one
 * of the block layer. AFTL_REPORT_ZONES() makes @name such a method of a block device from @report.
 */
typedef int (*aftl_zone_fn)(struct gendisk *disk, struct blk_zone *zone, unsigned int index,
			    void *data);

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
#define AFTL_REPORT_ZONES(name, report)								\
static int name##_zone(struct gendisk *disk, struct blk_zone *zone, unsigned int index,	\
		       void *data)								\
{												\
	return disk_report_zone(disk, zone, index, data);					\
}												\
												\
static int name(struct gendisk *disk, sector_t sector, unsigned int zones,			\
		struct blk_report_zones_args *args)						\
{												\
	return report(disk, sector, zones, name##_zone, args);					\
}
#else
struct aftl_zone_call {
	report_zones_cb fn;
	void *data;
};

#define AFTL_REPORT_ZONES(name, report)								\
static int name##_zone(struct gendisk *disk, struct blk_zone *zone, unsigned int index,	\
		       void *data)								\
{												\
	struct aftl_zone_call *call = data;							\
												\
	return call->fn(zone, index, call->data);						\
}												\
												\
static int name(struct gendisk *disk, sector_t sector, unsigned int zones,			\
		report_zones_cb fn, void *data)							\
{												\
	struct aftl_zone_call call = { fn, data };						\
												\
	return report(disk, sector, zones, name##_zone, &call);					\
}
#endif

/* Until 6.11 zones were a word of their own among the limits; most open and active none of them. */
static inline void aftl_limit_zones(struct queue_limits *limits, u64 open, u64 active,
				    unsigned int append_sectors)
{
#ifdef BLK_FEAT_ZONED
	limits->features |= BLK_FEAT_ZONED;
	limits->max_open_zones = (unsigned int)open;
	limits->max_active_zones = (unsigned int)active;
#else
	limits->zoned = BLK_ZONED_HM;
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	limits->max_hw_zone_append_sectors = append_sectors;
#else
	limits->max_zone_append_sectors = append_sectors;
#endif
}

static inline void aftl_limit_open_zones(struct gendisk *disk, u64 open, u64 active)
{
#if defined(CONFIG_BLK_DEV_ZONED) && !defined(BLK_FEAT_ZONED)
	disk_set_max_open_zones(disk, (unsigned int)open);
	disk_set_max_active_zones(disk, (unsigned int)active);
#endif
}

/* Who resets all zones at once sends one bio since 6.11, or, as before, one for each. */
static inline void aftl_reset_each_zone(struct dm_target *ti)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	ti->zone_reset_all_supported = false;
#endif
}

/* A disk with these limits that is not added; NULL without memory. */
static inline struct gendisk *aftl_alloc_zoned_disk(struct queue_limits *limits)
{
#ifdef BLK_FEAT_ZONED
	struct gendisk *disk = blk_alloc_disk(limits, NUMA_NO_NODE);

	return IS_ERR(disk) ? NULL : disk;
#else
	struct gendisk *disk = blk_alloc_disk(NUMA_NO_NODE);

	if (disk)
		disk->queue->limits = *limits;
	return disk;
#endif
}

/* hrtimer_setup() came in 6.13, hrtimer_init() went in 6.15. */
static inline void aftl_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*function)(struct hrtimer *timer),
				      enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#endif
}

/* Zeroes are written by unmapping. Since 6.17 that is told, too, by the same limit or none. */
static inline void aftl_limit_write_zeroes(struct queue_limits *limits, unsigned int sectors)
{
	limits->max_write_zeroes_sectors = sectors;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
	limits->max_hw_wzeroes_unmap_sectors = sectors;
#endif
}

/* Where in its file a page of a page cache is; until 6.7 huge ones counted themselves. */
static inline u64 aftl_page_position(struct folio *folio, struct page *page)
{
	pgoff_t index = folio->index;

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	if (folio_test_hugetlb(folio))
		index <<= folio_order(folio);
#endif
	return (u64)(index + folio_page_idx(folio, page)) << PAGE_SHIFT;
}

/* Page tables that have it; until 6.7 of huge ones that is not to be had, and 0. */
static inline int aftl_folio_mapcount(const struct folio *folio)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	return folio_mapcount((struct folio *)folio);
#else
	return folio_test_large((struct folio *)folio) ? 0 : atomic_read(&folio->_mapcount) + 1;
#endif
}

/* Since 6.10 a block device has its page cache without an inode in between. */
static inline const struct address_space *aftl_device_mapping(const struct block_device *device)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
	return device->bd_mapping;
#else
	return device->bd_inode->i_mapping;
#endif
}

/* Waits for none of @not; since 6.8 the file system is kept from being frozen meanwhile. */
static inline ssize_t aftl_iter_write(struct file *file, struct iov_iter *iter, loff_t position,
				      int not)
{
	struct kiocb kiocb;
	ssize_t written;

	init_sync_kiocb(&kiocb, file);
	kiocb.ki_pos = position;
	kiocb.ki_flags &= ~not;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	written = vfs_iocb_iter_write(file, &kiocb, iter);
#else
	file_start_write(file);
	written = vfs_iocb_iter_write(file, &kiocb, iter);
	file_end_write(file);
#endif
	return written;
}

/* Since 6.10 marks are added to an object, before to its list of them. */
static inline int aftl_add_sb_mark(struct fsnotify_mark *mark, struct super_block *sb)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
	return fsnotify_add_mark(mark, sb, FSNOTIFY_OBJ_TYPE_SB, 0);
#else
	return fsnotify_add_mark(mark, &sb->s_fsnotify_marks, FSNOTIFY_OBJ_TYPE_SB, 0, NULL);
#endif
}

#endif
