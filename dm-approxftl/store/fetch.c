// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads of the durable store.
 *
 * Under its lock the FTL says which slot a unit comes from. Bytes that are in memory are
 * copied there and then; others are read by a worker into the bio's own pages. A bio ends
 * when the FTL and its reads are through with it.
 *
 * A slot may be erased in the model, and soon be written over, while it is still being
 * read: before that the queue waits for all readers that were there. There are two
 * counters of them, so that new ones do not make it wait for ever.
 */
#include <linux/blkdev.h>
#include <linux/slab.h>

#include "bio/bio.h"
#include "disk/disk.h"
#include "store/durable.h"

/* Bios whose reads can always be served, sooner or later. */
#define SETS 16

static u32 set_size(const struct aftl_dev *dev)
{
	u32 sectors = aftl_volume_geometry(dev->volume)->unit_bytes >> SECTOR_SHIFT;

	return AFTL_IO_SECTORS / sectors * sizeof(struct aftl_dev_fetch);
}

void aftl_dev_prepare_reads(struct aftl_dev *dev, struct aftl_io *io)
{
	io->fetches = kmalloc_array(io->request.units, sizeof(*io->fetches),
				    GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN);
	io->fetches_pooled = !io->fetches;
	if (!io->fetches)
		io->fetches = mempool_alloc(&dev->fetch_sets, GFP_NOIO);
	io->fetch_count = 0;
	atomic_set(&io->fetching, 1);
}

void aftl_dev_forget_reads(struct aftl_dev *dev, struct aftl_io *io)
{
	if (io->fetches_pooled)
		mempool_free(io->fetches, &dev->fetch_sets);
	else
		kfree(io->fetches);
	io->fetches = NULL;
}

bool aftl_dev_reads_done(struct aftl_io *io)
{
	return atomic_dec_and_test(&io->fetching);
}

static void add_reader(struct aftl_dev *dev, struct aftl_dev_fetch *fetch)
{
	lockdep_assert_held(&dev->lock);
	fetch->epoch = dev->epoch;
	dev->readers[fetch->epoch]++;
}

static void drop_reader(struct aftl_dev *dev, const struct aftl_dev_fetch *fetch)
{
	spin_lock_irq(&dev->lock);
	if (!--dev->readers[fetch->epoch])
		wake_up_all(&dev->no_readers);
	spin_unlock_irq(&dev->lock);
}

void aftl_dev_wait_for_readers(struct aftl_dev *dev)
{
	u32 epoch;

	spin_lock_irq(&dev->lock);
	epoch = dev->epoch;
	dev->epoch = !epoch;
	wait_event_lock_irq(dev->no_readers, !dev->readers[epoch], dev->lock);
	spin_unlock_irq(&dev->lock);
}

static void read_page(struct aftl_dev *dev, struct aftl_io *io, const struct aftl_read *read,
		      struct page *page)
{
	unsigned long flags;

	aftl_io_fill(dev->disk, io, read, page_address(page));
	spin_lock_irqsave(&dev->lock, flags);
	aftl_dev_drop_page(dev, page);
	spin_unlock_irqrestore(&dev->lock, flags);
}

static void read_buffer(struct aftl_dev *dev, struct aftl_io *io, const struct aftl_read *read)
{
	aftl_io_fill(dev->disk, io, read, page_address(dev->tags[read->tag]));
}

static void new_fetch(struct aftl_dev *dev, struct aftl_io *io, const struct aftl_read *read,
		      aftl_slot_t slot)
{
	struct aftl_dev_fetch *fetch = &io->fetches[io->fetch_count++];

	lockdep_assert_held(&dev->lock);
	*fetch = (struct aftl_dev_fetch){
		.dev = dev,
		.io = io,
		.read = *read,
		.flip_key = aftl_io_flip_key(dev->disk, read),
		.slot = slot,
	};
	add_reader(dev, fetch);
	atomic_inc(&io->fetching);
	llist_add(&fetch->node, &dev->to_fetch);
	queue_work(dev->fetchers, &dev->fetch_work);
}

static void read_flash(struct aftl_dev *dev, struct aftl_io *io, const struct aftl_read *read)
{
	aftl_slot_t slot = read->slot;
	struct page *page;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	page = aftl_dev_find(dev, &slot);
	if (!page && aftl_dev_lost(dev, slot))
		WRITE_ONCE(io->failed, true);
	else if (!page)
		new_fetch(dev, io, read, slot);
	spin_unlock_irqrestore(&dev->lock, flags);
	if (page)
		read_page(dev, io, read, page);
}

void aftl_dev_read(struct aftl_dev *dev, struct aftl_io *io, const struct aftl_read *read)
{
	if (read->source == AFTL_SOURCE_BUFFER)
		read_buffer(dev, io, read);
	else
		read_flash(dev, io, read);
}

static void fetch_done(struct aftl_bdev_io *bdev, int error)
{
	struct aftl_dev_fetch *fetch = container_of(bdev, struct aftl_dev_fetch, bdev);
	struct aftl_dev *dev = fetch->dev;

	if (error)
		WRITE_ONCE(fetch->io->failed, true);
	if (llist_add(&fetch->node, &dev->fetched))
		queue_work(dev->fetchers, &dev->fetch_work);
}

static void start_fetch(struct aftl_dev *dev, struct aftl_dev_fetch *fetch)
{
	struct bvec_iter at = aftl_io_position(dev->disk, fetch->io, fetch->read.unit);

	at.bi_size *= fetch->run;
	fetch->bdev.done = fetch_done;
	aftl_bdev_read_bio(&dev->device, &fetch->bdev, aftl_io_bio(fetch->io), at,
			   aftl_volume_data_offset(dev->volume, fetch->slot));
}

/* Is @next the neighbour of @fetch in everything: array, bio and medium? */
static bool continues(const struct aftl_dev_fetch *fetch, const struct aftl_dev_fetch *next)
{
	return next == fetch + 1 && next->io == fetch->io &&
	       from_unit(next->read.unit) == from_unit(fetch->read.unit) + 1 &&
	       from_slot(next->slot) == from_slot(fetch->slot) + 1;
}

static struct aftl_dev_fetch *to_fetch(struct llist_node *node)
{
	return llist_entry(node, struct aftl_dev_fetch, node);
}

/* Takes the first of the list, and what goes with it. Returns the rest. */
static struct llist_node *take_run(struct llist_node *list)
{
	struct aftl_dev_fetch *first = to_fetch(list);

	first->run = 1;
	while (list->next && continues(to_fetch(list), to_fetch(list->next))) {
		list = list->next;
		first->run++;
	}
	return list->next;
}

static void start_fetches(struct aftl_dev *dev, struct llist_node *list)
{
	struct blk_plug plug;

	blk_start_plug(&plug);
	while (list) {
		struct aftl_dev_fetch *first = to_fetch(list);

		list = take_run(list);
		start_fetch(dev, first);
	}
	blk_finish_plug(&plug);
}

/* The bio and its array may be gone after the last of them. */
static void end_fetches(struct aftl_dev *dev, struct aftl_dev_fetch *first)
{
	u32 run = first->run;
	struct aftl_io *io = first->io;
	struct aftl_dev_fetch *fetch;

	for (fetch = first; fetch < first + run; fetch++) {
		aftl_io_flip(dev->disk, io, &fetch->read, fetch->flip_key);
		drop_reader(dev, fetch);
	}
	while (run--)
		if (aftl_dev_reads_done(io))
			aftl_io_finish(dev->disk, &io->request);
}

static void fetch_work(struct work_struct *work)
{
	struct aftl_dev *dev = container_of(work, struct aftl_dev, fetch_work);
	struct llist_node *end = llist_reverse_order(llist_del_all(&dev->fetched));
	struct aftl_dev_fetch *fetch;
	struct aftl_dev_fetch *next;

	start_fetches(dev, llist_reverse_order(llist_del_all(&dev->to_fetch)));
	llist_for_each_entry_safe(fetch, next, end, node)
		end_fetches(dev, fetch);
}

int aftl_dev_fetch_init(struct aftl_dev *dev)
{
	INIT_WORK(&dev->fetch_work, fetch_work);
	init_llist_head(&dev->to_fetch);
	init_llist_head(&dev->fetched);
	init_waitqueue_head(&dev->no_readers);
	dev->fetchers = alloc_workqueue("aftl_fetch", WQ_UNBOUND | WQ_MEM_RECLAIM, 1);
	if (!dev->fetchers)
		return -ENOMEM;
	return mempool_init_kmalloc_pool(&dev->fetch_sets, SETS, set_size(dev));
}

void aftl_dev_fetch_exit(struct aftl_dev *dev)
{
	if (dev->fetchers)
		destroy_workqueue(dev->fetchers);
	mempool_exit(&dev->fetch_sets);
}
