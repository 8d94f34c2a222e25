// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads of the durable store.
 *
 * The FTL names the physical page of a logical page, under the disk's lock. Data in memory are
 * copied at once; a worker reads other data from the block device into the bio's own pages. A bio
 * ends when the FTL has completed the request and all its reads have ended.
 *
 * Takes @lock of struct aftl_dev under the disk's lock, and the disk's lock to count read errors.
 */
#include <linux/blkdev.h>
#include <linux/slab.h>

#include "log.h"
#include "store/disk-types.h"
#include "store/dev.h"
#include "store/io.h"

/* Reserved arrays of fetches: the number of bios that are read at a time when memory is short. */
#define SETS 16

static u32 get_fetch_array_bytes(const struct aftl_geometry *geo)
{
	return AFTL_IO_SECTORS / (geo->unit_bytes >> SECTOR_SHIFT) * sizeof(struct aftl_dev_fetch);
}

u64 aftl_dev_fetch_memory_bytes(const struct aftl_geometry *geo)
{
	return SETS * (u64)get_fetch_array_bytes(geo) + aftl_dev_readers_needed_bytes(geo);
}

void aftl_dev_alloc_fetches(struct aftl_dev *dev, struct aftl_io *io)
{
	io->fetches = kmalloc_array(io->request.units, sizeof(*io->fetches),
				    GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN);
	io->fetches_pooled = !io->fetches;
	if (!io->fetches)
		io->fetches = mempool_alloc(&dev->fetch_sets, GFP_NOIO);
	io->fetch_count = 0;
	atomic_set(&io->fetching, 1);
}

void aftl_dev_free_fetches(struct aftl_dev *dev, struct aftl_io *io)
{
	if (io->fetches_pooled)
		mempool_free(io->fetches, &dev->fetch_sets);
	else
		kfree(io->fetches);
	io->fetches = NULL;
}

bool aftl_dev_put_io_reference(struct aftl_io *io)
{
	return atomic_dec_and_test(&io->fetching);
}

static void read_queued_page(struct aftl_dev *dev, struct aftl_io *io, const struct aftl_read *read,
			     struct page *page)
{
	unsigned long flags;

	aftl_io_fill_bio_of_read(dev->disk, io, read, page_address(page));
	spin_lock_irqsave(&dev->lock, flags);
	aftl_dev_put_page_reference(dev, page);
	spin_unlock_irqrestore(&dev->lock, flags);
}

static void read_plp_unit(struct aftl_dev *dev, struct aftl_io *io, const struct aftl_read *read)
{
	aftl_io_fill_bio_of_read(dev->disk, io, read, page_address(dev->tags[read->tag].page));
}

static void add_fetch_to_io(struct aftl_dev *dev, struct aftl_io *io, const struct aftl_read *read,
			    aftl_ppn_t ppn)
{
	struct aftl_dev_fetch *fetch = &io->fetches[io->fetch_count++];

	lockdep_assert_held(&dev->lock);
	*fetch = (struct aftl_dev_fetch){
		.dev = dev,
		.io = io,
		.read = *read,
		.flip_key = aftl_io_compute_key_of_bit_flips(dev->disk, read),
		.offset = aftl_dev_get_offset_of_ppn(dev, ppn),
	};
	aftl_dev_begin_block_read(dev, fetch, ppn);
	atomic_inc(&io->fetching);
	llist_add(&fetch->node, &dev->to_fetch);
	queue_work(dev->disk->workers.fetch, &dev->fetch_work);
}

static void read_flash_unit(struct aftl_dev *dev, struct aftl_io *io, const struct aftl_read *read)
{
	aftl_ppn_t ppn = read->ppn;
	struct page *page;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	page = aftl_dev_find_queued_page(dev, &ppn);
	if (aftl_dev_is_ppn_data_lost(dev, page, ppn)) {
		WRITE_ONCE(io->failed, aftl_dev_get_error(dev) ? BLK_STS_IOERR : BLK_STS_MEDIUM);
		if (page)
			aftl_dev_put_page_reference(dev, page);
		page = NULL;
	} else if (!page) {
		add_fetch_to_io(dev, io, read, ppn);
	}
	spin_unlock_irqrestore(&dev->lock, flags);
	if (page)
		read_queued_page(dev, io, read, page);
}

void aftl_dev_read_unit(struct aftl_dev *dev, struct aftl_io *io, const struct aftl_read *read)
{
	if (read->source == AFTL_SOURCE_BUFFER)
		read_plp_unit(dev, io, read);
	else
		read_flash_unit(dev, io, read);
}

static void handle_end_of_fetch_transfer(struct aftl_bdev_io *bdev, int error)
{
	struct aftl_dev_fetch *fetch = container_of(bdev, struct aftl_dev_fetch, bdev);
	struct aftl_dev *dev = fetch->dev;
	unsigned long flags;

	fetch->error = error;
	spin_lock_irqsave(&dev->lock, flags);
	aftl_dev_add_to_worker_list(dev, &fetch->node, &dev->fetched, dev->disk->workers.fetch,
				    &dev->fetch_work);
	spin_unlock_irqrestore(&dev->lock, flags);
}

static void start_single_fetch(struct aftl_dev *dev, struct aftl_dev_fetch *fetch)
{
	struct bvec_iter at = aftl_io_lpn_offset(dev->disk, fetch->io, fetch->read.lpn);

	at.bi_size *= fetch->run;
	fetch->bdev.done = handle_end_of_fetch_transfer;
	aftl_bdev_read_bio(&dev->device, &fetch->bdev, aftl_io_bio(fetch->io), at,
			   fetch->offset);
}

/* Return true if @next directly follows @fetch in the array, in the bio and on the medium. */
static bool do_fetches_adjoin(const struct aftl_dev_fetch *fetch, const struct aftl_dev_fetch *next)
{
	u32 unit_bytes = aftl_volume_geometry(fetch->dev->volume)->unit_bytes;

	return next == fetch + 1 && next->io == fetch->io &&
	       from_lpn(next->read.lpn) == from_lpn(fetch->read.lpn) + 1 &&
	       next->offset == fetch->offset + unit_bytes;
}

static struct aftl_dev_fetch *node_to_fetch(struct llist_node *node)
{
	return llist_entry(node, struct aftl_dev_fetch, node);
}

/* Combine the contiguous fetches at the head of @list into a transfer. Return: rest of the list. */
static struct llist_node *take_contiguous_fetches(struct llist_node *list)
{
	struct aftl_dev_fetch *first = node_to_fetch(list);

	first->run = 1;
	while (list->next && do_fetches_adjoin(node_to_fetch(list), node_to_fetch(list->next))) {
		list = list->next;
		first->run++;
	}
	return list->next;
}

static void start_merged_fetches(struct aftl_dev *dev, struct llist_node *list)
{
	struct blk_plug plug;

	blk_start_plug(&plug);
	while (list) {
		struct aftl_dev_fetch *first = node_to_fetch(list);

		list = take_contiguous_fetches(list);
		start_single_fetch(dev, first);
	}
	blk_finish_plug(&plug);
}

/* Retry each fetch of a failed transfer alone: only some of them may be unreadable. */
static void retry_fetches_singly(struct aftl_dev *dev, struct aftl_dev_fetch *first)
{
	u32 run = first->run;
	u32 i;

	for (i = 0; i < run; i++) {
		first[i].run = 1;
		first[i].error = 0;
		start_single_fetch(dev, &first[i]);
	}
}

static void fail_fetch_bio(struct aftl_dev *dev, const struct aftl_dev_fetch *fetch, bool answers)
{
	bool unreadable = answers && aftl_bdev_is_error_of_sector(fetch->error);

	WRITE_ONCE(fetch->io->failed, unreadable ? BLK_STS_MEDIUM : BLK_STS_IOERR);
	if (!unreadable)
		return;
	DMERR_LIMIT("%pg: unit %u cannot be read", dev->device.bdev, from_lpn(fetch->read.lpn));
	spin_lock_bh(&dev->disk->lock);
	aftl_count_read_of_lost_unit(dev->disk->ftl);
	spin_unlock_bh(&dev->disk->lock);
}

/*
 * End all fetches of the transfer of @first. The bio and its array of fetches may be freed with the
 * last one, so neither is used afterwards.
 */
static void finish_transferred_fetches(struct aftl_dev *dev, struct aftl_dev_fetch *first)
{
	u32 run = first->run;
	struct aftl_io *io = first->io;
	struct aftl_dev_fetch *fetch;

	for (fetch = first; fetch < first + run; fetch++)
		aftl_io_flip_bits(dev->disk, io, &fetch->read, fetch->flip_key);
	while (run--)
		if (aftl_dev_put_io_reference(io))
			dev->disk->ops->finish(dev->disk, &io->request);
}

/*
 * Find out whether the device responds, in a workqueue that no other read or write waits for, so
 * that a device that does not respond delays only reads that have failed.
 */
static void check_device_responds_work(struct work_struct *work)
{
	struct aftl_dev *dev = container_of(work, struct aftl_dev, probe_work);
	struct llist_node *failed = llist_reverse_order(llist_del_all(&dev->unread));
	bool answers = aftl_bdev_is_alive(&dev->device);
	struct aftl_dev_fetch *fetch;
	struct aftl_dev_fetch *next;

	llist_for_each_entry_safe(fetch, next, failed, node) {
		fail_fetch_bio(dev, fetch, answers);
		finish_transferred_fetches(dev, fetch);
	}
}

static void handle_ended_fetches(struct aftl_dev *dev, struct aftl_dev_fetch *first)
{
	u32 run = first->run;
	u32 i;

	if (first->error && run > 1) {
		retry_fetches_singly(dev, first);
		return;
	}
	for (i = 0; i < run; i++)
		aftl_dev_end_block_read(dev, &first[i]);
	if (!first->error)
		finish_transferred_fetches(dev, first);
	else if (llist_add(&first->node, &dev->unread))
		queue_work(dev->disk->workers.background, &dev->probe_work);
}

static void start_fetches_work(struct work_struct *work)
{
	struct aftl_dev *dev = container_of(work, struct aftl_dev, fetch_work);
	struct llist_node *end = llist_reverse_order(llist_del_all(&dev->fetched));
	struct aftl_dev_fetch *fetch;
	struct aftl_dev_fetch *next;

	start_merged_fetches(dev, llist_reverse_order(llist_del_all(&dev->to_fetch)));
	llist_for_each_entry_safe(fetch, next, end, node)
		handle_ended_fetches(dev, fetch);
}

int aftl_dev_fetch_init(struct aftl_dev *dev)
{
	int ret;

	INIT_WORK(&dev->fetch_work, start_fetches_work);
	init_llist_head(&dev->to_fetch);
	init_llist_head(&dev->fetched);
	INIT_WORK(&dev->probe_work, check_device_responds_work);
	init_llist_head(&dev->unread);
	ret = aftl_dev_readers_init(dev);
	if (ret)
		return ret;
	return mempool_init_kmalloc_pool(&dev->fetch_sets, SETS,
					 get_fetch_array_bytes(aftl_volume_geometry(dev->volume)));
}

void aftl_dev_fetch_exit(struct aftl_dev *dev)
{
	drain_workqueue(dev->disk->workers.fetch);
	drain_workqueue(dev->disk->workers.background);
	mempool_exit(&dev->fetch_sets);
	aftl_dev_readers_exit(dev);
}
