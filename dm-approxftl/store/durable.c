// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interface of the durable store to the disk: opening and closing it, and taking the data of
 * writes.
 *
 * Takes @lock of struct aftl_dev for page references and reserved operations, and @gather_lock
 * around waiting for memory pages.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "log.h"
#include "store/disk-types.h"
#include "store/dev.h"
#include "store/io.h"

/* Opening */

static int check_backing_sectors(struct block_device *bdev, const struct aftl_config *config,
				 struct aftl_error *error)
{
	u32 sector = bdev_logical_block_size(bdev);
	u64 unit = config->unit ? config->unit : config->page;

	if (sector <= unit)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "%pg has sectors of %u bytes, more than the mapping unit of %llu; raise unit",
			 bdev, sector, unit);
}

/*
 * Open the volume on the block device. The kernel never formats a device: "approxftl format" does,
 * after it has checked that the device contains no other data.
 */
static int open_backing_volume(struct aftl_dev *dev, const struct aftl_dev *first,
			       const struct aftl_volume_header *wanted, struct aftl_error *error)
{
	struct block_device *bdev = dev->device.bdev;
	struct aftl_error cause;
	int ret = check_backing_sectors(bdev, &wanted->config, error);

	if (ret)
		return ret;
	ret = aftl_volume_open(&dev->volume, &dev->device.medium, &cause);
	if (!ret &&
	    !aftl_volume_header_is_of_shard(aftl_volume_get_header(dev->volume),
					    aftl_volume_get_header(first->volume), wanted->shard))
		ret = aftl_fail(&cause, -EUCLEAN, "the volume belongs to another shard or device");
	if (ret == -ENODATA || ret == -EMEDIUMTYPE)
		return aftl_fail(error, ret, "%.120s; to make a volume: approxftl format /dev/%pg",
				 cause.text, bdev);
	if (ret)
		*error = cause;
	return ret;
}

static void report_volume_recovery(const struct aftl_dev *dev, const struct aftl_recovery *recovery)
{
	if (recovery->tables)
		DMWARN("%pg: %u damaged table sectors of the volume are rebuilt", dev->device.bdev,
		       recovery->tables);
	if (recovery->state || recovery->header)
		DMWARN("%pg: a copy of a %s is damaged, the other copy is used", dev->device.bdev,
		       recovery->state ? "state record" : "volume header");
	if (recovery->closed)
		return;
	if (recovery->snapshot.text[0])
		DMWARN("%pg: %s", dev->device.bdev, recovery->snapshot.text);
	DMINFO("%pg: recovered %u units in %llu programmed pages", dev->device.bdev,
	       recovery->mapped_units, recovery->programmed_pages);
}

static int allocate_buffer_tags(struct aftl_dev *dev)
{
	const struct aftl_geometry *geo = aftl_geometry(dev->disk->ftl);
	u32 i;

	dev->tag_count = aftl_count_buffer_tags(dev->disk->ftl);
	dev->tags = kvcalloc(dev->tag_count, sizeof(*dev->tags), GFP_KERNEL);
	if (!dev->tags)
		return -ENOMEM;
	INIT_LIST_HEAD(&dev->unpersisted);
	INIT_LIST_HEAD(&dev->persisting);
	for (i = 0; i < dev->tag_count; i++) {
		INIT_LIST_HEAD(&dev->tags[i].node);
		INIT_LIST_HEAD(&dev->tags[i].unpersisted_node);
	}
	dev->persists = geo->plp_entries;
	dev->safe = dev->persists && !geo->zones;
	return 0;
}

/* Put a persisted logical page back into the write buffer, and read its data. */
static int restore_plp_unit(struct aftl_dev *dev, const struct aftl_buffered_lpn *what, u32 slot,
			    u64 offset)
{
	u32 tag = aftl_restore_buffered_write(dev->disk->ftl, what);
	struct page *page;

	if (tag >= dev->tag_count)
		return -EUCLEAN;
	page = aftl_dev_alloc_page(dev, NULL, GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!page)
		return -ENOMEM;
	dev->tags[tag].page = page;
	dev->tags[tag].persisted = true;
	aftl_volume_set_plp_slot_of_tag(dev->volume, slot, tag);
	return aftl_bdev_read_page(&dev->device, page, offset,
				   aftl_volume_geometry(dev->volume)->unit_bytes);
}

/* Restore the write buffer as it was before a power failure. The FTL is not in use yet: no lock. */
static int restore_write_buffer(struct aftl_dev *dev, struct aftl_error *error)
{
	struct aftl_buffered_lpn what;
	u64 offset;
	u32 slot = 0;
	int ret = 0;

	while (!ret && aftl_volume_get_next_persisted_lpn(dev->volume, &slot, &what, &offset)) {
		ret = restore_plp_unit(dev, &what, slot, offset);
		if (!ret && aftl_host_durable.pause(dev->disk))
			return aftl_fail(error, -EINTR,
					 "interrupted while the persisted write buffer was read");
	}
	if (ret == -ENOMEM)
		return aftl_fail(error, ret, "not enough memory for the persisted write buffer");
	return ret ? aftl_fail(error, ret, "the persisted write buffer cannot be read") : 0;
}

static int load_device_from_volume(struct aftl_dev *dev, const struct aftl_volume_header *wanted,
				   struct aftl_error *error)
{
	struct aftl_recovery *recovery = kzalloc(sizeof(*recovery), GFP_KERNEL);
	int ret = -ENOMEM;

	if (recovery)
		ret = aftl_volume_load(dev->volume, aftl_policy_find(wanted->policy),
				       &wanted->config, &aftl_host_durable, dev->disk, false,
				       &dev->disk->ftl, recovery, error);
	if (!ret)
		report_volume_recovery(dev, recovery);
	kfree(recovery);
	if (ret)
		return ret;
	return allocate_buffer_tags(dev);
}

static int open_and_load_durable_store(struct aftl_dev *dev, const struct aftl_dev *first,
				       const struct aftl_volume_header *wanted,
				       struct aftl_error *error)
{
	int ret = open_backing_volume(dev, first, wanted, error);

	if (ret)
		return ret;
	aftl_fail(error, -ENOMEM, "not enough memory for the queue of a volume");
	ret = aftl_dev_queue_init(dev);
	if (!ret)
		ret = aftl_dev_fetch_init(dev);
	if (!ret)
		ret = load_device_from_volume(dev, wanted, error);
	return ret ? ret : restore_write_buffer(dev, error);
}

static void dev_store_destroy(struct aftl_store *store)
{
	struct aftl_dev *dev = aftl_store_to_dev(store);

	aftl_dev_fetch_exit(dev);
	aftl_dev_queue_exit(dev);
	aftl_volume_free(dev->volume);
	aftl_bdev_exit(&dev->device);
	kvfree(dev);
}

/* Return the byte of the block device at which the volume of shard @index begins. */
static u64 locate_volume_of_shard(const struct aftl_dev *first, u32 index)
{
	return first ?
	       aftl_get_volume_offset_of_shard(&aftl_volume_get_header(first->volume)->layout,
					       index) : 0;
}

int aftl_dev_workers_create(struct aftl_dev_workers *workers)
{
	workers->queue = alloc_workqueue("aftl_queue", WQ_UNBOUND | WQ_MEM_RECLAIM, 1);
	workers->salvage = alloc_workqueue("aftl_salvage", WQ_UNBOUND | WQ_MEM_RECLAIM, 1);
	workers->fetch = alloc_workqueue("aftl_fetch", WQ_UNBOUND | WQ_MEM_RECLAIM, 1);
	workers->background = alloc_workqueue("aftl_background", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	workers->submit = alloc_workqueue("aftl_submit", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (workers->queue && workers->salvage && workers->fetch && workers->background &&
	    workers->submit)
		return 0;
	aftl_dev_workers_destroy(workers);
	return -ENOMEM;
}

void aftl_dev_workers_destroy(struct aftl_dev_workers *workers)
{
	struct workqueue_struct *const all[] = {
		workers->submit, workers->background, workers->fetch, workers->salvage,
		workers->queue,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i])
			destroy_workqueue(all[i]);
}

int aftl_dev_open(struct aftl_store **out, struct aftl_disk *disk, struct block_device *bdev,
		  const struct aftl_dev *first, const struct aftl_volume_header *super,
		  struct aftl_error *error)
{
	struct aftl_dev *dev = kvzalloc(sizeof(*dev), GFP_KERNEL);
	int ret;

	if (!dev)
		return aftl_fail(error, -ENOMEM, "not enough memory for a store");
	dev->store.type = &aftl_store_dev;
	dev->disk = disk;
	ret = aftl_bdev_init(&dev->device, bdev, locate_volume_of_shard(first, super->shard),
			     disk->workers.submit);
	if (ret) {
		kvfree(dev);
		return aftl_fail(error, ret, "not enough memory for a store");
	}
	/* Set the disk's store before loading the FTL, which may relocate data in it at once. */
	*out = &dev->store;
	disk->durable = dev;
	return open_and_load_durable_store(dev, first ? : dev, super, error);
}

/* Use and closing */

static void record_device_time(struct aftl_dev *dev)
{
	const struct aftl *ftl = dev->disk->ftl;

	aftl_volume_set_time(dev->volume, aftl_device_time_ns(ftl), aftl_get_device_age_ns(ftl),
			     aftl_get_policy_state_word(ftl));
}

int aftl_dev_begin_use(struct aftl_dev *dev, const struct aftl_config *config,
		       struct aftl_error *error)
{
	const struct aftl *ftl = dev->disk->ftl;
	int ret;

	if (dev->begun)
		return 0;
	record_device_time(dev);
	ret = aftl_volume_mark_in_use(dev->volume, aftl_policy_type(ftl), config);
	/* After a failure, run the worker of a store used before, too: it fails all requests. */
	if (ret && !dev->used)
		return aftl_fail(error, ret, "the volume cannot be written");
	if (ret)
		aftl_bdev_set_error(&dev->device, ret);
	dev->used = true;
	dev->begun = true;
	aftl_dev_stop_or_run_queue_worker(dev, false);
	return 0;
}

int aftl_dev_suspend(struct aftl_dev *dev)
{
	int ret;

	if (!dev->begun)
		return 0;
	aftl_dev_persist_buffer(dev);
	aftl_dev_drain_queue(dev);
	aftl_dev_stop_or_run_queue_worker(dev, true);
	dev->begun = false;
	record_device_time(dev);
	ret = aftl_volume_commit(dev->volume);
	if (ret)
		aftl_bdev_set_error(&dev->device, ret);
	return ret ? ret : aftl_dev_get_error(dev);
}

bool aftl_dev_resume(struct aftl_dev *dev)
{
	if (!dev->used)
		return false;
	dev->begun = true;
	aftl_dev_stop_or_run_queue_worker(dev, false);
	return true;
}

int aftl_dev_close(struct aftl_dev *dev, struct aftl_error *error)
{
	int ret = aftl_dev_suspend(dev);

	if (ret)
		return aftl_fail(error, ret, "the volume could not be written");
	return aftl_volume_close(dev->volume, dev->disk->ftl, error);
}

/* Data of writes */

/*
 * Reserve room for @ops operations in the queue. If memory is short, retry until other tasks have
 * given room back if @wait, else return false.
 */
static bool reserve_queue_ops(struct aftl_dev *dev, u32 ops, bool wait)
{
	while (!aftl_dev_reserve_ops(dev, ops)) {
		if (!wait)
			return false;
		schedule_timeout_uninterruptible(1);
	}
	return true;
}

void aftl_dev_reserve_ops_of_zone_request(struct aftl_dev *dev, struct aftl_io *io)
{
	io->zone_claims = AFTL_ZONE_HOST_CALLS;
	reserve_queue_ops(dev, io->zone_claims, true);
}

void aftl_dev_release_ops_of_zone_request(struct aftl_dev *dev, struct aftl_io *io)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	aftl_dev_release_reserved_ops(dev, io->zone_claims);
	spin_unlock_irqrestore(&dev->lock, flags);
}

/* Free the list of pages @bytes; give back the room reserved for these and for @missing pages. */
static void free_unused_pages_of_write(struct aftl_dev *dev, struct list_head *bytes,
				       unsigned int missing)
{
	unsigned int units = missing;
	struct page *page;
	struct page *next;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	list_for_each_entry_safe(page, next, bytes, lru) {
		aftl_dev_put_page_reference(dev, page);
		units++;
	}
	aftl_dev_release_reserved_ops(dev, dev->persists ? units * AFTL_DEV_UNIT_OPS : 0);
	spin_unlock_irqrestore(&dev->lock, flags);
	INIT_LIST_HEAD(bytes);
}

static void dev_store_release_pages(struct aftl_store *store, struct list_head *bytes)
{
	free_unused_pages_of_write(aftl_store_to_dev(store), bytes, 0);
}

/*
 * Allocate memory pages for @count logical pages. Return the number of missing pages: 0, unless
 * memory is short and @gfp does not allow waiting.
 */
static unsigned int allocate_queue_pages(struct aftl_dev *dev, unsigned int count, gfp_t gfp,
					 struct list_head *bytes)
{
	for (; count; count--) {
		struct page *page = aftl_dev_alloc_page(dev, &dev->pages, gfp);

		if (!page)
			break;
		list_add_tail(&page->lru, bytes);
	}
	return count;
}

/* Reserve room in the queue and get pages for @count logical pages: all of them, or none. */
static bool claim_pages_for_units(struct aftl_dev *dev, unsigned int count, gfp_t gfp,
				  struct list_head *bytes)
{
	unsigned int missing;

	if (dev->persists &&
	    !reserve_queue_ops(dev, count * AFTL_DEV_UNIT_OPS, gfpflags_allow_blocking(gfp)))
		return false;
	missing = allocate_queue_pages(dev, count, gfp, bytes);
	if (!missing)
		return true;
	free_unused_pages_of_write(dev, bytes, missing);
	return false;
}

/*
 * Only one submitter at a time waits for pages: two, each with half of the last pages of the pool,
 * would wait for each other. All other pages are being written, or are in the write buffer, which
 * keeps them until more data come: so drain it.
 */
static void claim_pages_of_units_or_wait(struct aftl_dev *dev, unsigned int count,
					 struct list_head *bytes)
{
	if (claim_pages_for_units(dev, count, GFP_NOWAIT | __GFP_NOWARN, bytes))
		return;
	mutex_lock(&dev->gather_lock);
	dev->disk->ops->hurry(dev->disk, true);
	claim_pages_for_units(dev, count, GFP_NOIO, bytes);
	dev->disk->ops->hurry(dev->disk, false);
	mutex_unlock(&dev->gather_lock);
}

static int dev_store_copy_from_bio(struct aftl_store *store, struct bio *bio,
				   struct list_head *bytes)
{
	struct aftl_dev *dev = aftl_store_to_dev(store);
	u32 unit_bytes = aftl_volume_geometry(dev->volume)->unit_bytes;
	struct bvec_iter rest = bio->bi_iter;
	struct page *page;

	claim_pages_of_units_or_wait(dev, bio->bi_iter.bi_size / unit_bytes, bytes);
	list_for_each_entry(page, bytes, lru) {
		struct bvec_iter at = rest;

		at.bi_size = unit_bytes;
		aftl_copy_from_bio(page_address(page), bio, at);
		bio_advance_iter(bio, &rest, unit_bytes);
	}
	return 0;
}

static void dev_store_accept_unit(struct aftl_store *store, aftl_lpn_t lpn, u32 tag,
				  struct list_head *bytes)
{
	struct aftl_dev *dev = aftl_store_to_dev(store);
	struct page *page = list_first_entry(bytes, struct page, lru);

	list_del(&page->lru);
	dev->tags[tag].page = page;
	dev->tags[tag].claims = dev->persists ? AFTL_DEV_UNIT_OPS : 0;
	if (dev->persists && !dev->safe)
		list_add_tail(&dev->tags[tag].unpersisted_node, &dev->unpersisted);
}

/* Ignore a discard: the FTL's callback unmap() queues an operation for it in the durable store. */
static void dev_store_ignore_discarded_units(struct aftl_store *store, aftl_lpn_t lpn, u32 units,
					     struct list_head *bytes)
{
}

static u64 dev_store_count_data_bytes(struct aftl_store *store)
{
	struct aftl_dev *dev = aftl_store_to_dev(store);
	u64 held = 0;
	u32 i;

	for (i = 0; i < dev->tag_count; i++)
		held += READ_ONCE(dev->tags[i].page) ? PAGE_SIZE : 0;
	return held;
}

static u64 get_tag_table_bytes(u32 tags)
{
	return (u64)tags * sizeof(struct aftl_dev_tag);
}

/*
 * Return the memory of a new durable store with the tables of its volume. The cached frames of the
 * volume are left out: they are few.
 */
static u64 dev_store_needed_bytes(const struct aftl_geometry *geo)
{
	return sizeof(struct aftl_dev) + aftl_bdev_needed_bytes() +
	       aftl_dev_queue_needed_bytes(geo) + aftl_dev_fetch_memory_bytes(geo) +
	       get_tag_table_bytes(geo->plp_entries) + aftl_volume_memory_bytes(geo);
}

static u64 dev_store_overhead_bytes(struct aftl_store *store)
{
	const struct aftl_dev *dev = aftl_store_to_dev(store);

	return sizeof(*dev) + aftl_bdev_memory_bytes(&dev->device) +
	       aftl_dev_queue_memory_bytes(dev) +
	       aftl_dev_fetch_memory_bytes(aftl_volume_geometry(dev->volume)) +
	       get_tag_table_bytes(dev->tag_count);
}

const struct aftl_store_type aftl_store_dev = {
	.name = "dev",
	.about = "keeps data on a block device, for good",
	.destroy = dev_store_destroy,
	.gather = dev_store_copy_from_bio,
	.accept = dev_store_accept_unit,
	.forget = dev_store_ignore_discarded_units,
	.release = dev_store_release_pages,
	.held = dev_store_count_data_bytes,
	.overhead = dev_store_overhead_bytes,
	.need = dev_store_needed_bytes,
};
