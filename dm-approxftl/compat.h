/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernel's interfaces of 6.1 and of newer versions; nothing else.
 */
#ifndef AFTL_COMPAT_H
#define AFTL_COMPAT_H

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/fs.h>

#include <linux/fileattr.h> /* Linux 6.1's fileattr.h needs linux/fs.h before it */
#include <linux/fsnotify_backend.h>
#include <linux/hrtimer.h>
#include <linux/ioprio.h>
#include <linux/mm.h>
#include <linux/uio.h>
#include <linux/version.h>

/* 6.5 replaced FMODE_* by BLK_OPEN_* in the mode of a block device. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define AFTL_OPEN_WRITE BLK_OPEN_WRITE
#else
#define AFTL_OPEN_WRITE FMODE_WRITE
#endif

/* Linux 6.17 renamed struct fileattr to struct file_kattr. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define aftl_file_attributes file_kattr
#else
#define aftl_file_attributes fileattr
#endif

/* 6.5 and updates of 6.1 added hints to I/O priorities; without them, no program can set one. */
#ifndef IOPRIO_NR_HINTS
#define IOPRIO_NR_HINTS 1024
#define IOPRIO_PRIO_HINT(ioprio) ((ioprio) >> 3 & (IOPRIO_NR_HINTS - 1))
#endif

/* Replace file_owner_or_capable(), which not all kernels have; 6.3 changed the mount ID maps. */
static inline bool aftl_file_owner_or_capable(struct file *file)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	return inode_owner_or_capable(file_mnt_idmap(file), file_inode(file));
#else
	return inode_owner_or_capable(file_mnt_user_ns(file), file_inode(file));
#endif
}

/* Write life time hint of a bio, since 6.9; 0 for none. */
static inline u8 aftl_bio_write_hint(const struct bio *bio)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	return bio->bi_write_hint;
#else
	return 0;
#endif
}

/* Write stream of a bio, since 6.16; 0 for none. */
static inline u8 aftl_bio_write_stream(const struct bio *bio)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	return bio->bi_write_stream;
#else
	return 0;
#endif
}

/* Fields of a bio that can mark its data as approximate, as a mask of APPROXFTL_CARRIER_*. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define AFTL_BIO_CARRIERS \
	(APPROXFTL_CARRIER_WRITE_HINT | APPROXFTL_CARRIER_IOPRIO | APPROXFTL_CARRIER_WRITE_STREAM)
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
#define AFTL_BIO_CARRIERS (APPROXFTL_CARRIER_WRITE_HINT | APPROXFTL_CARRIER_IOPRIO)
#else
#define AFTL_BIO_CARRIERS APPROXFTL_CARRIER_IOPRIO
#endif

/*
 * Set the number of write streams that user space may use, since 6.16, and their granularity in
 * bytes.
 */
static inline void aftl_set_write_stream_limits(struct queue_limits *limits, u32 streams, u64 bytes)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	limits->max_write_streams = (unsigned short)streams;
	limits->write_stream_granularity = streams ? (u32)min_t(u64, bytes, U32_MAX) : 0;
#endif
}

/* Return the queue limits of a suspended device, to change them and to commit the change. */
static inline struct queue_limits aftl_start_limits_update(struct request_queue *queue)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	return queue_limits_start_update(queue);
#else
	return queue->limits;
#endif
}

static inline int aftl_commit_limits_update(struct gendisk *disk, struct queue_limits *limits)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	return queue_limits_commit_update(disk->queue, limits);
#else
	disk->queue->limits = *limits;
	disk_update_readahead(disk);
	return 0;
#endif
}

/*
 * A report_zones method passes each zone to a callback until 6.18, and to disk_report_zone() since
 * 6.19. AFTL_REPORT_ZONES() defines the method @name, which calls @report; @report passes each zone
 * to its argument of type aftl_zone_fn, in all versions of Linux.
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

/*
 * Mark the device as zoned, by a feature bit since 6.11, by a field of the limits before. Before
 * 6.11 the numbers of open and active zones are no queue limits, see aftl_set_open_zone_limits().
 */
static inline void aftl_set_zone_limits(struct queue_limits *limits, u64 open, u64 active,
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

/* Set the limits of open and active zones of @disk on kernels before 6.11. */
static inline void aftl_set_open_zone_limits(struct gendisk *disk, u64 open, u64 active)
{
#if defined(CONFIG_BLK_DEV_ZONED) && !defined(BLK_FEAT_ZONED)
	disk_set_max_open_zones(disk, (unsigned int)open);
	disk_set_max_active_zones(disk, (unsigned int)active);
#endif
}

/* Have device-mapper reset all zones by one bio for each zone, as it always does before 6.11. */
static inline void aftl_split_zone_reset_all(struct dm_target *ti)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	ti->zone_reset_all_supported = false;
#endif
}

/* Allocate a gendisk with the given limits, without adding it. May sleep. NULL without memory. */
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

/* 6.13 added hrtimer_setup(), 6.15 removed hrtimer_init(). */
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

/*
 * Announce that the target executes write-zeroes bios, which it does by unmapping. Since 6.17 a
 * second limit tells of the unmapping; it must be 0 or equal to max_write_zeroes_sectors.
 */
static inline void aftl_set_write_zeroes_limit(struct queue_limits *limits, unsigned int sectors)
{
	limits->max_write_zeroes_sectors = sectors;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
	limits->max_hw_wzeroes_unmap_sectors = sectors;
#endif
}

/* Byte offset of @page in its file. Before 6.7 the index of a hugetlb folio counts huge pages. */
static inline u64 aftl_page_file_offset(struct folio *folio, struct page *page)
{
	pgoff_t index = folio->index;

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	if (folio_test_hugetlb(folio))
		index <<= folio_order(folio);
#endif
	return (u64)(index + folio_page_idx(folio, page)) << PAGE_SHIFT;
}

/* Number of page-table entries that map @folio; before 6.7 always 0 for a large folio. */
static inline int aftl_folio_mapcount(const struct folio *folio)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	return folio_mapcount((struct folio *)folio);
#else
	return folio_test_large((struct folio *)folio) ? 0 : atomic_read(&folio->_mapcount) + 1;
#endif
}

/* Page cache of a block device; since 6.10 struct block_device points to it directly. */
static inline const struct address_space *aftl_device_mapping(const struct block_device *device)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
	return device->bd_mapping;
#else
	return device->bd_inode->i_mapping;
#endif
}

/*
 * Write to @file, with the IOCB_* flags in @not cleared, and prevent a freeze of its file system.
 * Since 6.8 vfs_iocb_iter_write() prevents the freeze itself.
 */
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

/* fsnotify_add_mark() takes the object since 6.10, before that the object's list of marks. */
static inline int aftl_add_fsnotify_mark_to_sb(struct fsnotify_mark *mark, struct super_block *sb)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
	return fsnotify_add_mark(mark, sb, FSNOTIFY_OBJ_TYPE_SB, 0);
#else
	return fsnotify_add_mark(mark, &sb->s_fsnotify_marks, FSNOTIFY_OBJ_TYPE_SB, 0, NULL);
#endif
}

#endif
