// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue of the durable store: filled under the disk's lock, executed by a worker.
 *
 * The worker takes a batch of operations, reads the data that its copies need and that are not in
 * memory, and then executes the operations in order. It only starts writes: a commit flushes the
 * device, and thus waits for them. At the end of a batch, one commit completes all flushes that
 * cover only executed operations.
 *
 * The queue is under @lock of struct aftl_dev. The worker and the salvage worker take it inside the
 * disk's lock where they call the FTL or need its state.
 */
#include <linux/blkdev.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "log.h"
#include "store/disk-types.h"
#include "store/dev.h"
#include "store/io.h"

/* Largest numbers of operations and of copies in a batch; @copies has a page for each copy. */
#define BATCH 512
#define BATCH_COPIES 64

/* Largest number of buffered logical pages that are persisted under one hold of the locks. */
#define PERSIST_SLICE 64

/* Largest number of completed operations that are freed under one hold of the lock. */
#define FREE_SLICE 512

/* Least number of memory pages in the pool @pages: 1 MiB with mapping units of 4 KiB. */
#define LEAST_PAGES 256

/* Least number of chains of the hash table @pending. */
#define LEAST_PENDING 4096

/* Memory pages */

/* page->private: reference count in units of ONE_USER, a flag for the pool, one for lost data. */
#define ONE_USER 4
#define OF_COPIES 1
#define IS_LOST 2

struct page *aftl_dev_alloc_page(struct aftl_dev *dev, mempool_t *pool, gfp_t gfp)
{
	struct page *page = pool ? mempool_alloc(pool, gfp) : alloc_page(gfp);

	if (page)
		set_page_private(page, ONE_USER | (pool == &dev->copies ? OF_COPIES : 0));
	return page;
}

void aftl_dev_get_page_reference(struct page *page)
{
	set_page_private(page, page_private(page) + ONE_USER);
}

void aftl_dev_put_page_reference(struct aftl_dev *dev, struct page *page)
{
	unsigned long left = page_private(page) - ONE_USER;

	set_page_private(page, left);
	if (left < ONE_USER)
		mempool_free(page, left & OF_COPIES ? &dev->copies : &dev->pages);
}

/* Only the worker sets the flag IS_LOST; other tasks may change the reference count beside it. */
static bool is_queued_page_lost(const struct page *page)
{
	return READ_ONCE(page->private) & IS_LOST;
}

static void mark_page_data_lost(struct page *page)
{
	set_page_private(page, page_private(page) | IS_LOST);
}

static bool do_writes_have_one_submitter(const struct aftl_behalf *a, const struct aftl_behalf *b)
{
	return a->cgroup == b->cgroup && a->ioprio == b->ioprio;
}

/* Operations */

static struct hlist_head *find_pending_ops_chain(const struct aftl_dev *dev, aftl_ppn_t ppn)
{
	return &dev->pending[hash_32(from_ppn(ppn), dev->pending_bits)];
}

/* Return the last operation before number @before that writes to @ppn, or NULL. */
static struct aftl_dev_op *find_last_write_of_ppn(const struct aftl_dev *dev, aftl_ppn_t ppn,
						  u32 before)
{
	struct aftl_dev_op *op;

	lockdep_assert_held(&dev->lock);
	hlist_for_each_entry(op, find_pending_ops_chain(dev, ppn), node)
		if (op->to == ppn && (s32)(op->number - before) < 0)
			return op;
	return NULL;
}

/*
 * Find the data that *@ppn holds before operation @before. If a queued copy to *@ppn has not read
 * its source yet, continue with the source, which cannot change before the copy has read it.
 * Return: a reference to the memory page with the data, which with @loading may still be filled by
 * a read in flight; or NULL, and *@ppn is the ppn whose data are on the device.
 */
static struct page *get_page_of_ppn(struct aftl_dev *dev, aftl_ppn_t *ppn, u32 before, bool loading)
{
	struct aftl_dev_op *op;

	while ((op = find_last_write_of_ppn(dev, *ppn, before))) {
		if (op->page && (op->loaded || loading)) {
			aftl_dev_get_page_reference(op->page);
			return op->page;
		}
		*ppn = op->from;
		before = op->number;
	}
	return NULL;
}

struct page *aftl_dev_find_queued_page(struct aftl_dev *dev, aftl_ppn_t *ppn)
{
	return get_page_of_ppn(dev, ppn, dev->head, false);
}

u64 aftl_dev_get_offset_of_ppn(const struct aftl_dev *dev, aftl_ppn_t ppn)
{
	lockdep_assert_held(&dev->lock);
	return aftl_volume_data_offset(dev->volume, ppn);
}

/* Filling the queue */

/*
 * Return a new operation, or NULL if the queue is full. That is a bug: the FTL was called without a
 * check for room. Then this operation is lost and all later flushes fail, but queued operations
 * stay intact.
 */
static struct aftl_dev_op *alloc_queue_op(struct aftl_dev *dev, enum aftl_dev_kind kind)
{
	struct aftl_dev_op *op;

	lockdep_assert_held(&dev->lock);
	if (WARN_ON_ONCE(dev->head == dev->op_end)) {
		aftl_bdev_set_error(&dev->device, -EOVERFLOW);
		return NULL;
	}
	op = aftl_dev_op_at(dev, dev->head);
	memset(op, 0, offsetof(struct aftl_dev_op, spare));
	op->dev = dev;
	op->kind = kind;
	op->number = dev->head;
	return op;
}

static void append_op_to_queue(struct aftl_dev *dev)
{
	WRITE_ONCE(dev->head, dev->head + 1);
	queue_work(dev->disk->workers.queue, &dev->work);
}

/* Prepare an operation that writes to @to; the caller fills in the rest and queues it. */
static struct aftl_dev_op *alloc_write_op(struct aftl_dev *dev, enum aftl_dev_kind kind,
					  aftl_ppn_t to, bool again)
{
	struct aftl_dev_op *op = alloc_queue_op(dev, kind);

	if (!op) {
		set_bit(from_ppn(to), dev->lost);
		return NULL;
	}
	op->to = to;
	op->again = again;
	op->leader = NULL;
	op->error = 0;
	hlist_add_head(&op->node, find_pending_ops_chain(dev, to));
	return op;
}

/* Prepare an operation on @count lpns, blocks or tags; the caller calls append_op_to_queue(). */
static struct aftl_dev_op *alloc_range_op(struct aftl_dev *dev, enum aftl_dev_kind kind, u32 first,
					  u32 count)
{
	struct aftl_dev_op *op = alloc_queue_op(dev, kind);

	if (!op)
		return NULL;
	op->first = first;
	op->count = count;
	return op;
}

void aftl_dev_record_write_submitter(struct aftl_dev *dev, u32 tag, struct bio *bio)
{
	lockdep_assert_held(&dev->disk->lock);
	dev->tags[tag].behalf = aftl_bdev_get_submitter(bio);
}

void aftl_dev_queue_buffered_write(struct aftl_dev *dev, u32 tag, aftl_ppn_t ppn, bool again)
{
	struct aftl_dev_op *op;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	op = alloc_write_op(dev, AFTL_DEV_WRITE, ppn, again);
	if (op) {
		op->page = dev->tags[tag].page;
		op->behalf = dev->tags[tag].behalf;
		op->loaded = true;
		aftl_dev_get_page_reference(op->page);
		append_op_to_queue(dev);
	}
	spin_unlock_irqrestore(&dev->lock, flags);
}

/* A page that cannot be programmed keeps its PLP entry, from which the next open restores it. */
static bool must_keep_plp_entry_of_tag(const struct aftl_dev *dev, u32 tag)
{
	struct aftl_buffered_lpn what;

	return !dev->tags[tag].persisted || aftl_get_buffered_write(dev->disk->ftl, tag, &what);
}

/* Add @tag to dev->releases, to release its PLP entry; if it is there, queue an operation. */
static void queue_plp_release(struct aftl_dev *dev, u32 tag)
{
	struct aftl_dev_tag *at = &dev->tags[tag];

	if (!list_empty(&at->node)) {
		if (alloc_range_op(dev, AFTL_DEV_RELEASE, tag, 1))
			append_op_to_queue(dev);
		return;
	}
	at->released = dev->head;
	list_add_tail(&at->node, &dev->releases);
	queue_work(dev->disk->workers.queue, &dev->work);
}

void aftl_dev_release_buffer_tag(struct aftl_dev *dev, u32 tag)
{
	struct aftl_dev_tag *at = &dev->tags[tag];
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	aftl_dev_put_page_reference(dev, at->page);
	at->page = NULL;
	if (!must_keep_plp_entry_of_tag(dev, tag))
		queue_plp_release(dev, tag);
	at->persisted = false;
	list_del_init(&at->unpersisted_node);
	aftl_dev_release_reserved_ops(dev, at->claims);
	at->claims = 0;
	spin_unlock_irqrestore(&dev->lock, flags);
}

void aftl_dev_queue_copy_of_ppn(struct aftl_dev *dev, aftl_ppn_t from, aftl_ppn_t to, bool again)
{
	struct aftl_dev_op *op;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	op = alloc_write_op(dev, AFTL_DEV_COPY, to, again);
	if (op) {
		op->from = from;
		append_op_to_queue(dev);
	}
	spin_unlock_irqrestore(&dev->lock, flags);
}

void aftl_dev_queue_program_record(struct aftl_dev *dev, aftl_ppn_t first)
{
	const struct aftl *ftl = dev->disk->ftl;
	struct aftl_dev_op *op;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	op = alloc_queue_op(dev, AFTL_DEV_PROGRAM);
	if (op) {
		op->first = aftl_page_of_ppn(aftl_media(ftl), first);
		aftl_init_spare_entry(&op->spare, ftl, first);
		append_op_to_queue(dev);
	}
	spin_unlock_irqrestore(&dev->lock, flags);
}

static void queue_dataless_op(struct aftl_dev *dev, enum aftl_dev_kind kind, u32 first, u32 count)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	if (alloc_range_op(dev, kind, first, count))
		append_op_to_queue(dev);
	spin_unlock_irqrestore(&dev->lock, flags);
}

void aftl_dev_queue_unmap(struct aftl_dev *dev, aftl_lpn_t first, u32 units)
{
	queue_dataless_op(dev, AFTL_DEV_UNMAP, from_lpn(first), units);
}

void aftl_dev_queue_erase(struct aftl_dev *dev, u32 block)
{
	struct aftl_dev_op *op;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	op = alloc_range_op(dev, AFTL_DEV_ERASE, block, 1);
	if (op) {
		aftl_erase_entry_describe_block(&op->entry, dev->disk->ftl, block);
		append_op_to_queue(dev);
	}
	spin_unlock_irqrestore(&dev->lock, flags);
}

void aftl_dev_queue_block_retirement(struct aftl_dev *dev, u32 first, u32 blocks)
{
	queue_dataless_op(dev, AFTL_DEV_RETIRE, first, blocks);
}

void aftl_dev_queue_zone_state(struct aftl_dev *dev, u32 zone, enum aftl_zone_state state)
{
	queue_dataless_op(dev, AFTL_DEV_ZONE, zone, state);
}

/* Queue an operation to persist the data of @tag, unless they are programmed or obsolete. */
static void queue_persist_op_of_tag(struct aftl_dev *dev, u32 tag)
{
	struct aftl_dev_tag *at = &dev->tags[tag];
	struct aftl_buffered_lpn what;
	struct aftl_dev_op *op;
	u32 claims;

	if (!aftl_get_buffered_write(dev->disk->ftl, tag, &what))
		return;
	op = alloc_range_op(dev, AFTL_DEV_PERSIST, tag, 1);
	if (!op)
		return;
	op->kept = (struct aftl_plp_entry){ .what = what };
	op->page = at->page;
	aftl_dev_get_page_reference(op->page);
	append_op_to_queue(dev);
	at->persisted = true;
	list_del_init(&at->unpersisted_node);
	/* Keep room to queue a release of the PLP entry only if an earlier release is pending. */
	claims = list_empty(&at->node) ? 0 : min_t(u32, at->claims, 1);
	aftl_dev_release_reserved_ops(dev, at->claims - claims);
	at->claims = claims;
}

void aftl_dev_persist_unflushable_page(struct aftl_dev *dev, u32 tag)
{
	unsigned long flags;

	if (!dev->persists)
		return;
	spin_lock_irqsave(&dev->lock, flags);
	queue_persist_op_of_tag(dev, tag);
	spin_unlock_irqrestore(&dev->lock, flags);
}

/*
 * A flush of a zoned device does not wait for full flash pages: it persists partial ones. The flush
 * moves the tags to the list @persisting. The worker queues their operations slice by slice,
 * because the locks delay soft interrupts; then the flush covers all operations in the queue.
 * Return: true if tags are left.
 */
static bool persist_slice_of_partial_flash_pages(struct aftl_dev *dev)
{
	struct aftl_flush *flush;
	u32 i;

	lockdep_assert_held(&dev->disk->lock);
	lockdep_assert_held(&dev->lock);
	for (i = 0; i < PERSIST_SLICE && !list_empty(&dev->persisting); i++) {
		struct aftl_dev_tag *at = list_first_entry(&dev->persisting, struct aftl_dev_tag,
							   unpersisted_node);

		/* A program that is aborted later leaves its data to the next flush. */
		list_move_tail(&at->unpersisted_node, &dev->unpersisted);
		queue_persist_op_of_tag(dev, (u32)(at - dev->tags));
	}
	if (!list_empty(&dev->persisting))
		return true;
	list_for_each_entry_reverse(flush, &dev->flushes, node) {
		if (!flush->persists)
			break;
		flush->persists = false;
		flush->end = dev->head;
	}
	return false;
}

static void persist_partial_flash_pages(struct aftl_dev *dev)
{
	bool more = dev->persists && !dev->safe;

	while (more) {
		spin_lock_bh(&dev->disk->lock);
		spin_lock_irq(&dev->lock);
		more = persist_slice_of_partial_flash_pages(dev);
		spin_unlock_irq(&dev->lock);
		spin_unlock_bh(&dev->disk->lock);
		cond_resched();
	}
}

void aftl_dev_persist_buffer(struct aftl_dev *dev)
{
	spin_lock_bh(&dev->disk->lock);
	list_splice_tail_init(&dev->unpersisted, &dev->persisting);
	spin_unlock_bh(&dev->disk->lock);
	persist_partial_flash_pages(dev);
}

void aftl_dev_queue_flush(struct aftl_dev *dev, struct aftl_io *io)
{
	const struct aftl *ftl = dev->disk->ftl;
	struct aftl_flush *flush = &io->flush;
	const struct aftl_flush *last;
	unsigned long flags;

	lockdep_assert_held(&dev->disk->lock);
	flush->now_ns = aftl_device_time_ns(ftl);
	flush->age_ns = aftl_get_device_age_ns(ftl);
	flush->memory = aftl_get_policy_state_word(ftl);
	spin_lock_irqsave(&dev->lock, flags);
	list_splice_tail_init(&dev->unpersisted, &dev->persisting);
	/*
	 * A flush behind one that waits for the worker waits, too, even if its data are programmed:
	 * the worker ends the wait of the last flushes, up to one that does not wait.
	 */
	last = list_empty(&dev->flushes) ? NULL :
					   list_last_entry(&dev->flushes, struct aftl_flush, node);
	flush->persists = !list_empty(&dev->persisting) || (last && last->persists);
	flush->end = dev->head;
	list_add_tail(&flush->node, &dev->flushes);
	queue_work(dev->disk->workers.queue, &dev->work);
	spin_unlock_irqrestore(&dev->lock, flags);
}

/* Executing operations */

/*
 * Operations end in any order, but their room is freed in the order of the queue. One slow write
 * may delay that of all others. Free only a slice under one hold of @lock; the worker frees the
 * rest. Return: true if the slice is over.
 */
static bool free_slice_of_finished_ops(struct aftl_dev *dev)
{
	bool congested = aftl_dev_is_congested(dev);
	u32 end = dev->tail + min_t(u32, dev->next - dev->tail, FREE_SLICE);
	u32 tail = dev->tail;
	bool more;

	while (tail != end && aftl_dev_op_at(dev, tail)->done)
		tail++;
	more = tail - dev->tail == FREE_SLICE;
	aftl_dev_ring_advance_tail(dev, tail);
	aftl_dev_wake_tasks_waiting_for_room(dev, congested);
	return more;
}

static void free_finished_ops(struct aftl_dev *dev)
{
	bool more = true;

	while (more) {
		spin_lock_irq(&dev->lock);
		more = free_slice_of_finished_ops(dev);
		spin_unlock_irq(&dev->lock);
		cond_resched();
	}
}

static void complete_queue_op(struct aftl_dev_op *op)
{
	struct aftl_dev *dev = op->dev;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	if (op->page && op->kind != AFTL_DEV_PERSIST)
		hlist_del(&op->node);
	if (op->page)
		aftl_dev_put_page_reference(dev, op->page);
	op->done = true;
	if (free_slice_of_finished_ops(dev))
		queue_work(dev->disk->workers.queue, &dev->work);
	spin_unlock_irqrestore(&dev->lock, flags);
}

static void complete_failed_queue_op(struct aftl_dev_op *op)
{
	struct aftl_dev *dev = op->dev;

	set_bit(from_ppn(op->to), dev->lost);
	/* Run the worker, which tells user space of the write error even without requests. */
	queue_work(dev->disk->workers.queue, &dev->work);
	complete_queue_op(op);
}

bool aftl_dev_is_ppn_data_lost(const struct aftl_dev *dev, const struct page *page, aftl_ppn_t ppn)
{
	lockdep_assert_held(&dev->lock);
	return page ? is_queued_page_lost(page) : test_bit(from_ppn(ppn), dev->lost);
}

/* Complete @run operations. Their memory may be reused at once, so look them up by number. */
static void complete_ops_written_together(struct aftl_dev *dev, u32 first, u32 run, bool failed)
{
	u32 number;

	for (number = first; number != first + run; number++)
		if (failed)
			complete_failed_queue_op(aftl_dev_op_at(dev, number));
		else
			complete_queue_op(aftl_dev_op_at(dev, number));
}

/*
 * Data that cannot be written to their place on the block device are remapped: written to another
 * place, at once, because they occupy a memory page and room in the queue. Then the block is
 * retired, as a drive does after a failed program, and the FTL relocates its data.
 */

/*
 * Return the OOB metadata of the flash page of @op, which the same call of the FTL has queued after
 * @op.
 */
static const struct aftl_spare *find_spare_entry_of_op(struct aftl_dev *dev,
						       const struct aftl_dev_op *op)
{
	u32 page = from_ppn(op->to) / aftl_volume_geometry(dev->volume)->page_units;
	const struct aftl_dev_op *other = op;
	u32 number;

	lockdep_assert_held(&dev->lock);
	for (number = op->number + 1; number != dev->head; number++) {
		other = aftl_dev_op_at(dev, number);
		if (other->kind == AFTL_DEV_PROGRAM && other->first == page)
			return &other->spare;
	}
	return NULL;
}

/* Remap the data of @op. Return: the new offset, 0 if no spare sector is left. */
static u64 remap_op_data(struct aftl_dev *dev, const struct aftl_dev_op *op)
{
	const struct aftl_spare *spare;
	u64 offset = 0;

	/* The FTL call that queued @op held the disk's lock: wait for the end of that call. */
	spin_lock_bh(&dev->disk->lock);
	spin_lock_irq(&dev->lock);
	spare = find_spare_entry_of_op(dev, op);
	if (spare && aftl_volume_remap_ppn(dev->volume, op->to, spare))
		offset = aftl_dev_get_offset_of_ppn(dev, op->to);
	spin_unlock_irq(&dev->lock);
	spin_unlock_bh(&dev->disk->lock);
	return offset;
}

static u64 get_medium_offset_of_op(struct aftl_dev *dev, const struct aftl_dev_op *op)
{
	u64 offset;

	spin_lock_irq(&dev->lock);
	offset = aftl_dev_get_offset_of_ppn(dev, op->to);
	spin_unlock_irq(&dev->lock);
	return offset;
}

static int write_data_of_single_op(struct aftl_dev *dev, const struct aftl_dev_op *op, u64 offset)
{
	return aftl_bdev_write_page(&dev->device, op->page, offset,
				    aftl_volume_geometry(dev->volume)->unit_bytes);
}

/* Write the data of @op again, alone, because most of a failed run can be written; else remap. */
static int rewrite_or_remap_op(struct aftl_dev *dev, const struct aftl_dev_op *op)
{
	int error = write_data_of_single_op(dev, op, get_medium_offset_of_op(dev, op));
	u64 offset;

	if (!error)
		return 0;
	offset = remap_op_data(dev, op);
	if (!offset || write_data_of_single_op(dev, op, offset))
		return error;
	DMWARN_LIMIT("%pg: error %d: data are elsewhere, and block %u is retired",
		     dev->device.bdev, error,
		     from_ppn(op->to) / aftl_volume_geometry(dev->volume)->block_ppns);
	dev->disk->ops->wear(dev->disk);
	return 0;
}

static void rewrite_failed_write_run(struct aftl_dev *dev, struct aftl_dev_op *first)
{
	int ret = aftl_dev_get_error(dev);
	u32 i;

	for (i = 0; !ret && i < first->run; i++)
		ret = rewrite_or_remap_op(dev, aftl_dev_op_at(dev, first->number + i));
	if (ret)
		aftl_bdev_set_error(&dev->device, ret);
	complete_ops_written_together(dev, first->number, first->run, ret);
	aftl_bdev_end_write_retry(&dev->device);
}

static void rewrite_failed_runs_work(struct work_struct *work)
{
	struct aftl_dev *dev = container_of(work, struct aftl_dev, salvage_work);
	struct aftl_dev_op *op;
	struct aftl_dev_op *next;

	/* Use the _safe iterator: the memory of a completed operation may be reused. */
	llist_for_each_entry_safe(op, next, llist_reverse_order(llist_del_all(&dev->failed)),
				  failed)
		rewrite_failed_write_run(dev, op);
}

void aftl_dev_add_to_worker_list(struct aftl_dev *dev, struct llist_node *node,
				 struct llist_head *list, struct workqueue_struct *workers,
				 struct work_struct *work)
{
	lockdep_assert_held(&dev->lock);
	if (llist_add(node, list))
		queue_work(workers, work);
}

static void postpone_rewrite_of_failed_run(struct aftl_dev *dev, struct aftl_dev_op *op)
{
	unsigned long flags;

	aftl_bdev_begin_write_retry(&dev->device);
	spin_lock_irqsave(&dev->lock, flags);
	aftl_dev_add_to_worker_list(dev, &op->failed, &dev->failed, dev->disk->workers.salvage,
				    &dev->salvage_work);
	spin_unlock_irqrestore(&dev->lock, flags);
}

u32 aftl_dev_find_worn_block(struct aftl_dev *dev, u32 block)
{
	spin_lock_irq(&dev->lock);
	block = aftl_volume_find_next_remapped_block(dev->volume, block);
	spin_unlock_irq(&dev->lock);
	return block;
}

static void handle_ended_write_run(struct aftl_bdev_io *io, int error)
{
	struct aftl_dev_op *op = container_of(io, struct aftl_dev_op, bdev);

	op->error = error;
	if (error)
		postpone_rewrite_of_failed_run(op->dev, op);
	else
		complete_ops_written_together(op->dev, op->number, op->run, false);
}

/**
 * struct batch - operations that are executed together
 * @first: number of the first one
 * @end: number of the last one, plus 1
 */
struct batch {
	u32 first;
	u32 end;
};

static u32 find_end_of_op_batch(const struct aftl_dev *dev)
{
	u32 end = dev->next + min_t(u32, dev->head - dev->next, BATCH);
	u32 copies = 0;
	u32 number;

	for (number = dev->next; number != end; number++) {
		copies += aftl_dev_op_at(dev, number)->kind == AFTL_DEV_COPY;
		if (copies > BATCH_COPIES)
			break;
	}
	return number;
}

/* Take the next operations. Return false if neither these nor a flush or PLP release is queued. */
static bool take_next_batch_of_ops(struct aftl_dev *dev, struct batch *batch)
{
	bool busy;

	persist_partial_flash_pages(dev);
	spin_lock_irq(&dev->lock);
	busy = !dev->held && (dev->head != dev->next || !list_empty(&dev->flushes) ||
			      !list_empty(&dev->releases));
	batch->first = dev->next;
	batch->end = busy ? find_end_of_op_batch(dev) : dev->next;
	dev->next = batch->end;
	spin_unlock_irq(&dev->lock);
	return busy;
}

static void finish_read_of_copy_sources(struct aftl_dev *dev)
{
	if (atomic_dec_and_test(&dev->loads))
		complete(&dev->loaded);
}

static void handle_ended_copy_source_read(struct aftl_bdev_io *io, int error)
{
	struct aftl_dev_op *op = container_of(io, struct aftl_dev_op, bdev);

	op->error = error;
	finish_read_of_copy_sources(op->dev);
}

/* Choose the memory page of a copy. Return: true if its data must be read from the device. */
static bool choose_memory_page_of_copy(struct aftl_dev *dev, struct aftl_dev_op *op)
{
	struct page *page = aftl_dev_alloc_page(dev, &dev->copies, GFP_NOIO);
	aftl_ppn_t origin = op->from;
	struct page *found;
	bool lost;

	spin_lock_irq(&dev->lock);
	found = get_page_of_ppn(dev, &origin, op->number, true);
	lost = aftl_dev_is_ppn_data_lost(dev, found, origin);
	op->offset = aftl_dev_get_offset_of_ppn(dev, origin);
	op->page = found ? found : page;
	if (lost)
		mark_page_data_lost(op->page);
	spin_unlock_irq(&dev->lock);
	if (found)
		aftl_dev_put_page_reference(dev, page);
	return !found && !lost;
}

/**
 * struct load - copies whose data are consecutive on the medium, read by one transfer
 * @first: first copy, whose @bdev is the transfer
 * @count: number of copies; their memory pages are in @run_pages
 */
struct load {
	struct aftl_dev_op *first;
	u32 count;
};

static void start_read_of_copy_sources(struct aftl_dev *dev, struct load *load)
{
	if (!load->count)
		return;
	load->first->bdev.done = handle_ended_copy_source_read;
	atomic_inc(&dev->loads);
	aftl_bdev_read(&dev->device, &load->first->bdev, dev->run_pages, load->count,
		       load->first->offset, aftl_volume_geometry(dev->volume)->unit_bytes);
	load->count = 0;
}

static bool is_copy_adjacent_to_source_read(struct aftl_dev *dev, const struct load *load,
					    const struct aftl_dev_op *op)
{
	return op->offset == load->first->offset +
			     (u64)load->count * aftl_volume_geometry(dev->volume)->unit_bytes;
}

static void add_copy_to_source_read(struct aftl_dev *dev, struct load *load, struct aftl_dev_op *op,
				    bool alone)
{
	if (load->count && (alone || !is_copy_adjacent_to_source_read(dev, load, op) ||
			    load->count == ARRAY_SIZE(dev->run_pages)))
		start_read_of_copy_sources(dev, load);
	if (!load->count)
		load->first = op;
	op->leader = load->first;
	op->error = 0;
	dev->run_pages[load->count++] = op->page;
}

/* Start the reads of a batch's copies; with @again, repeat only failed reads, one by one. */
static void start_copy_source_reads_of_batch(struct aftl_dev *dev, const struct batch *batch,
					     bool again)
{
	struct load load = { .count = 0 };
	struct blk_plug plug;
	u32 number;

	blk_start_plug(&plug);
	for (number = batch->first; number != batch->end; number++) {
		struct aftl_dev_op *op = aftl_dev_op_at(dev, number);

		if (op->kind == AFTL_DEV_COPY &&
		    (again ? op->error : choose_memory_page_of_copy(dev, op)))
			add_copy_to_source_read(dev, &load, op, again);
	}
	start_read_of_copy_sources(dev, &load);
	blk_finish_plug(&plug);
}

/* Read the data of a batch's copies, and wait. Return: true if a read has failed. */
static bool read_sources_of_copies(struct aftl_dev *dev, const struct batch *batch, bool again)
{
	bool failed = false;
	u32 number;

	atomic_set(&dev->loads, 1);
	reinit_completion(&dev->loaded);
	start_copy_source_reads_of_batch(dev, batch, again);
	finish_read_of_copy_sources(dev);
	wait_for_completion(&dev->loaded);
	for (number = batch->first; number != batch->end; number++) {
		struct aftl_dev_op *op = aftl_dev_op_at(dev, number);

		if (op->kind != AFTL_DEV_COPY)
			continue;
		if (op->leader)
			op->error = op->leader->error;
		failed |= op->error;
	}
	return failed;
}

/* Data on bad sectors are lost. Other errors concern the device: flushes fail from now on. */
static void mark_unreadable_copies_lost(struct aftl_dev *dev, const struct batch *batch)
{
	u32 number;

	for (number = batch->first; number != batch->end && !aftl_dev_get_error(dev); number++) {
		struct aftl_dev_op *op = aftl_dev_op_at(dev, number);

		if (op->kind != AFTL_DEV_COPY || !op->error)
			continue;
		if (!aftl_bdev_is_error_of_sector(op->error) || !aftl_bdev_is_alive(&dev->device)) {
			aftl_bdev_set_error(&dev->device, op->error);
			return;
		}
		spin_lock_irq(&dev->lock);
		mark_page_data_lost(op->page);
		spin_unlock_irq(&dev->lock);
	}
}

static void load_source_data_of_copy_ops(struct aftl_dev *dev, const struct batch *batch)
{
	u32 number;

	if (read_sources_of_copies(dev, batch, false) && read_sources_of_copies(dev, batch, true))
		mark_unreadable_copies_lost(dev, batch);
	/*
	 * After a failure do not mark copies as loaded, so that readers use their sources.
	 */
	if (aftl_dev_get_error(dev))
		return;
	spin_lock_irq(&dev->lock);
	for (number = batch->first; number != batch->end; number++)
		aftl_dev_op_at(dev, number)->loaded = true;
	spin_unlock_irq(&dev->lock);
}

/*
 * Prepare @slots ppns for being overwritten: wait for their readers; commit, because they may have
 * the newest durable version of a logical page; free the places of remapped data. The commit waits
 * for writes to these ppns that fail and are remapped, too. Return: 0, or an error code.
 */
static int prepare_ppns_for_overwrite(struct aftl_dev *dev, aftl_ppn_t first, u32 slots)
{
	u32 block_ppns = aftl_volume_geometry(dev->volume)->block_ppns;
	u32 block = from_ppn(first) / block_ppns;
	u32 end = from_ppn(first) + slots;
	int ret;

	for (; block * block_ppns < end; block++)
		aftl_dev_wait_for_readers(dev, block);
	ret = aftl_volume_commit_if_changed(dev->volume);
	spin_lock_irq(&dev->lock);
	if (!ret)
		aftl_volume_free_remap_slots_of_ppns(dev->volume, first, slots);
	spin_unlock_irq(&dev->lock);
	return ret;
}

static int prepare_blocks_for_overwrite(struct aftl_dev *dev, u32 first, u32 blocks)
{
	u32 slots = aftl_volume_geometry(dev->volume)->block_ppns;

	return prepare_ppns_for_overwrite(dev, to_ppn(first * slots), blocks * slots);
}

static bool does_op_write_page(const struct aftl_dev_op *op)
{
	return op->kind == AFTL_DEV_WRITE || op->kind == AFTL_DEV_COPY;
}

/* Count the writes from @number on that go to adjacent ppns, so that one transfer executes them. */
static u32 count_ops_of_write_run(const struct aftl_dev *dev, u32 number, u32 end)
{
	const struct aftl_dev_op *first = aftl_dev_op_at(dev, number);
	u32 run;

	for (run = 1; number + run != end && run < ARRAY_SIZE(dev->run_pages); run++) {
		const struct aftl_dev_op *op = aftl_dev_op_at(dev, number + run);

		if (!does_op_write_page(op) || op->again != first->again ||
		    is_queued_page_lost(op->page) != is_queued_page_lost(first->page) ||
		    !do_writes_have_one_submitter(&op->behalf, &first->behalf) ||
		    from_ppn(op->to) != from_ppn(first->to) + run)
			break;
	}
	return run;
}

static void start_write_of_adjacent_ops(struct aftl_dev *dev, struct aftl_dev_op *op)
{
	u32 i;

	for (i = 0; i < op->run; i++) {
		dev->run_pages[i] = aftl_dev_op_at(dev, op->number + i)->page;
		clear_bit(from_ppn(op->to) + i, dev->lost);
	}
	op->bdev.done = handle_ended_write_run;
	aftl_bdev_write(&dev->device, &op->bdev, dev->run_pages, op->run,
			get_medium_offset_of_op(dev, op),
			aftl_volume_geometry(dev->volume)->unit_bytes, &op->behalf);
}

/* Tell the FTL that the data of @op are lost, unless a later operation writes to the same ppn. */
static void report_lost_unit_to_ftl(struct aftl_dev *dev, const struct aftl_dev_op *op)
{
	bool newest;

	spin_lock_bh(&dev->disk->lock);
	spin_lock_irq(&dev->lock);
	newest = find_last_write_of_ppn(dev, op->to, dev->head) == op;
	spin_unlock_irq(&dev->lock);
	if (newest)
		aftl_mark_unit_lost(dev->disk->ftl, op->to);
	spin_unlock_bh(&dev->disk->lock);
}

static u32 report_lost_units_to_ftl(struct aftl_dev *dev, u32 number, u32 run)
{
	u32 i;

	DMERR_LIMIT("%pg: %u units could not be read when they were moved: they are lost",
		    dev->device.bdev, run);
	for (i = 0; i < run; i++)
		report_lost_unit_to_ftl(dev, aftl_dev_op_at(dev, number + i));
	complete_ops_written_together(dev, number, run, true);
	return run;
}

/* Write adjacent ppns in one transfer; all are of one program, which AFTL_DEV_PROGRAM ends. */
static u32 write_adjacent_ops(struct aftl_dev *dev, u32 number, u32 end)
{
	struct aftl_dev_op *op = aftl_dev_op_at(dev, number);
	u32 run = count_ops_of_write_run(dev, number, end);

	if (is_queued_page_lost(op->page))
		return report_lost_units_to_ftl(dev, number, run);
	if ((op->again && prepare_ppns_for_overwrite(dev, op->to, run)) ||
	    aftl_dev_get_error(dev)) {
		complete_ops_written_together(dev, number, run, true);
		return run;
	}
	op->run = run;
	start_write_of_adjacent_ops(dev, op);
	return run;
}

static int execute_block_erase(struct aftl_dev *dev, struct aftl_dev_op *op)
{
	int ret = prepare_blocks_for_overwrite(dev, op->first, 1);

	return ret ? ret : aftl_volume_record_erase(dev->volume, op->first, &op->entry);
}

/*
 * Record that the FTL has retired the blocks of @op. The metadata of a block do not change after
 * its retirement, so they are read here and not queued with @op.
 */
static int record_retired_blocks(struct aftl_dev *dev, const struct aftl_dev_op *op)
{
	int ret = prepare_blocks_for_overwrite(dev, op->first, op->count);
	struct aftl_erase_entry entry;
	u32 i;

	for (i = 0; !ret && i < op->count; i++) {
		spin_lock_bh(&dev->disk->lock);
		aftl_erase_entry_describe_block(&entry, dev->disk->ftl, op->first + i);
		spin_unlock_bh(&dev->disk->lock);
		ret = aftl_volume_record_retirement(dev->volume, op->first + i, &entry);
	}
	return ret;
}

/* Record a program operation; its entry also marks logical pages whose data were not written. */
static int record_program_in_volume(struct aftl_dev *dev, struct aftl_dev_op *op)
{
	u32 units = aftl_volume_geometry(dev->volume)->page_units;
	u32 i;

	for (i = 0; i < units; i++)
		op->spare.lost |= test_bit(op->first * units + i, dev->lost) << i;
	return aftl_volume_record_program(dev->volume, op->first, &op->spare);
}

/*
 * Entries of a persisted write buffer (PLP)
 *
 * The volume has one slot for each logical page that the write buffer can hold. An entry is the
 * data of a logical page and its sequence number. After a crash, the device is opened with all
 * entries that the last commit covered, except those of which flash has a newer version.
 *
 * - A logical page is *persisted* when it enters the buffer, AFTL_DEV_PERSIST; on a zoned device,
 *   when a flush comes before its flash page is full, or when its LUN dies. Its entry takes a free
 *   slot and is durable from the next commit on.
 * - An entry is *released* after the program of its page has been recorded, or after the page was
 *   overwritten or discarded. Its slot is free after the next commit: until then, a crash still
 *   needs the entry.
 * - If no slot is free, the page is *waiting for a slot*. persist_entries_waiting_for_plp_slot()
 *   commits once and so frees slots for all pages that wait. It comes at the end of the batch,
 *   because some of them are released before and then need no slot. It comes earlier if an
 *   operation would destroy the version of a waiting page that a crash would recover, see
 *   aftl_volume_awaits_plp_slots(). A page with an entry for an older version never waits.
 * - A page that no block can store is *unflushable*: it is never released, so that the next open
 *   restores it.
 */

static void handle_ended_plp_write(struct aftl_bdev_io *io, int error)
{
	struct aftl_dev_op *op = container_of(io, struct aftl_dev_op, bdev);

	if (error)
		aftl_bdev_set_error(&op->dev->device, error);
	complete_queue_op(op);
}

/* Start to write the data of a PLP entry; they are stored before the next commit record. */
static void persist_plp_entry(struct aftl_dev *dev, struct aftl_dev_op *op)
{
	u64 offset;
	int ret = aftl_volume_persist_unit(dev->volume, op->first, &op->kept, &offset);

	op->bdev.done = handle_ended_plp_write;
	op->waiting = ret == -EAGAIN;
	if (!ret)
		aftl_bdev_write(&dev->device, &op->bdev, &op->page, 1, offset,
				aftl_volume_geometry(dev->volume)->unit_bytes, &op->behalf);
	else if (!op->waiting)
		handle_ended_plp_write(&op->bdev, ret);
}

static void persist_plp_entry_or_wait(struct aftl_dev *dev, struct aftl_dev_op *op)
{
	persist_plp_entry(dev, op);
	if (op->waiting && (s32)(op->number - dev->waiting) < 0)
		dev->waiting = op->number;
}

static bool is_op_waiting_for_plp_slot(const struct aftl_dev *dev, u32 until)
{
	return (s32)(dev->waiting - until) < 0;
}

/* Return the first operation in [@from, @until) that waits for a PLP slot, else @end. */
static u32 find_op_waiting_for_plp_slot(const struct aftl_dev *dev, u32 from, u32 until, u32 end)
{
	for (; from != until; from++)
		if (aftl_dev_op_at(dev, from)->waiting)
			return from;
	return end;
}

/* Commit, and give PLP slots to operations before @until that wait for one; @end ends the batch. */
static void persist_entries_waiting_for_plp_slot(struct aftl_dev *dev, u32 until, u32 end)
{
	int ret = is_op_waiting_for_plp_slot(dev, until) ? aftl_volume_commit(dev->volume) : 0;

	while (is_op_waiting_for_plp_slot(dev, until)) {
		struct aftl_dev_op *op = aftl_dev_op_at(dev, dev->waiting);

		/* Find the next waiting operation before @op completes and its memory is reused. */
		dev->waiting = find_op_waiting_for_plp_slot(dev, dev->waiting + 1, until, end);
		if (!ret)
			persist_plp_entry(dev, op);
		if (!ret && !op->waiting)
			continue;
		op->waiting = false;
		handle_ended_plp_write(&op->bdev, ret ? ret : -ENOSPC);
	}
}

/*
 * End the operations before @number that wait for a slot to persist the buffered write @tag: its
 * data need no slot any more.
 */
static void end_persist_ops_waiting_for_slot(struct aftl_dev *dev, u32 tag, u32 number, u32 end)
{
	u32 oldest = dev->waiting;
	u32 i = number;

	if (!is_op_waiting_for_plp_slot(dev, number))
		return;
	/*
	 * End the youngest waiting operation first: while the oldest one waits, the memory of the
	 * other operations is not reused.
	 */
	dev->waiting = end;
	while (i-- != oldest) {
		struct aftl_dev_op *op = aftl_dev_op_at(dev, i);

		if (op->waiting && op->first != tag)
			dev->waiting = i;
		if (!op->waiting || op->first != tag)
			continue;
		op->waiting = false;
		complete_queue_op(op);
	}
}

static void release_plp_entry_of_tag(struct aftl_dev *dev, u32 tag, u32 number, u32 end)
{
	end_persist_ops_waiting_for_slot(dev, tag, number, end);
	aftl_volume_release_plp_entry(dev->volume, tag);
}

/* Take the oldest tag that was released before @number was queued. Return: tag_count if none. */
static u32 take_oldest_released_tag(struct aftl_dev *dev, u32 number)
{
	struct aftl_dev_tag *at;
	u32 tag = dev->tag_count;

	spin_lock_irq(&dev->lock);
	at = list_first_entry_or_null(&dev->releases, struct aftl_dev_tag, node);
	if (at && (s32)(at->released - number) <= 0) {
		list_del_init(&at->node);
		tag = (u32)(at - dev->tags);
	}
	spin_unlock_irq(&dev->lock);
	return tag;
}

static void release_plp_entries_of_released_tags(struct aftl_dev *dev, u32 number, u32 end)
{
	u32 tag;

	if (!dev->persists)
		return;
	while ((tag = take_oldest_released_tag(dev, number)) < dev->tag_count)
		release_plp_entry_of_tag(dev, tag, number, end);
}

/* True if @op may destroy the durable version of a logical page whose new data wait for a slot. */
static bool may_op_destroy_durable_data(const struct aftl_dev *dev, const struct aftl_dev_op *op)
{
	bool bad = op->kind == AFTL_DEV_RETIRE;

	return (bad || op->kind == AFTL_DEV_ERASE || op->again) &&
	       aftl_volume_awaits_plp_slots(dev->volume, bad);
}

/* Record @op in the volume. The volume keeps its first error, which each later commit returns. */
static int record_op_in_volume(struct aftl_dev *dev, struct aftl_dev_op *op, u32 end)
{
	switch (op->kind) {
	case AFTL_DEV_PROGRAM:
		return record_program_in_volume(dev, op);
	case AFTL_DEV_UNMAP:
		return aftl_volume_record_discard(dev->volume, to_lpn(op->first), op->count);
	case AFTL_DEV_ZONE:
		return aftl_volume_record_zone(dev->volume, op->first, op->count);
	case AFTL_DEV_RELEASE:
		release_plp_entry_of_tag(dev, op->first, op->number, end);
		return 0;
	case AFTL_DEV_ERASE:
		return execute_block_erase(dev, op);
	case AFTL_DEV_RETIRE:
		return record_retired_blocks(dev, op);
	default:
		return 0;
	}
}

/* Execute operation @number, and with a write those to adjacent ppns. Return: their number. */
static u32 execute_queue_op(struct aftl_dev *dev, u32 number, u32 end)
{
	struct aftl_dev_op *op = aftl_dev_op_at(dev, number);
	int error;

	release_plp_entries_of_released_tags(dev, number, end);
	if (may_op_destroy_durable_data(dev, op))
		persist_entries_waiting_for_plp_slot(dev, number, end);
	if (does_op_write_page(op))
		return write_adjacent_ops(dev, number, end);
	if (op->kind == AFTL_DEV_PERSIST) {
		persist_plp_entry_or_wait(dev, op);
		return 1;
	}
	error = record_op_in_volume(dev, op, end);
	if (error)
		aftl_bdev_set_error(&dev->device, error);
	complete_queue_op(op);
	return 1;
}

/* Execute a batch. The plug gathers bios; they are submitted when the worker has to sleep. */
static void execute_batch_of_ops(struct aftl_dev *dev, const struct batch *batch)
{
	struct blk_plug plug;
	u32 number = batch->first;

	dev->waiting = batch->end;
	blk_start_plug(&plug);
	while (number != batch->end)
		number += execute_queue_op(dev, number, batch->end);
	release_plp_entries_of_released_tags(dev, batch->end, batch->end);
	persist_entries_waiting_for_plp_slot(dev, batch->end, batch->end);
	blk_finish_plug(&plug);
}

static bool are_ops_of_flush_executed(const struct aftl_dev *dev, const struct aftl_flush *flush)
{
	return !flush->persists && (s32)(flush->end - dev->next) <= 0;
}

/* Move the flushes whose operations the worker has all executed to the list @reached. */
static void take_flushes_of_executed_ops(struct aftl_dev *dev, struct list_head *reached)
{
	struct aftl_flush *flush;
	struct aftl_flush *next;

	spin_lock_irq(&dev->lock);
	list_for_each_entry_safe(flush, next, &dev->flushes, node) {
		if (!are_ops_of_flush_executed(dev, flush))
			break;
		list_move_tail(&flush->node, reached);
	}
	spin_unlock_irq(&dev->lock);
}

static void end_flush_request(struct aftl_dev *dev, struct aftl_flush *flush, int error)
{
	struct aftl_io *io = container_of(flush, struct aftl_io, flush);

	io->failed = error ? BLK_STS_IOERR : BLK_STS_OK;
	io->request.next = NULL;
	dev->disk->ops->finish(dev->disk, &io->request);
}

static void end_flush_requests(struct aftl_dev *dev, struct list_head *reached, int error)
{
	struct aftl_flush *flush;
	struct aftl_flush *next;

	list_for_each_entry_safe(flush, next, reached, node)
		end_flush_request(dev, flush, error);
}

static void commit_flushes_of_executed_ops(struct aftl_dev *dev)
{
	const struct aftl_flush *last;
	LIST_HEAD(reached);
	int error;

	take_flushes_of_executed_ops(dev, &reached);
	if (list_empty(&reached))
		return;
	last = list_last_entry(&reached, struct aftl_flush, node);
	aftl_volume_set_time(dev->volume, last->now_ns, last->age_ns, last->memory);
	error = aftl_volume_commit(dev->volume);
	if (error)
		aftl_bdev_set_error(&dev->device, error);
	end_flush_requests(dev, &reached, error ? error : aftl_dev_get_error(dev));
}

static void execute_queue_work(struct work_struct *work)
{
	struct aftl_dev *dev = container_of(work, struct aftl_dev, work);
	struct batch batch;

	while (take_next_batch_of_ops(dev, &batch)) {
		load_source_data_of_copy_ops(dev, &batch);
		execute_batch_of_ops(dev, &batch);
		commit_flushes_of_executed_ops(dev);
		/* aftl_dev_drain_queue() waits for flushes and PLP releases, too: wake callers. */
		free_finished_ops(dev);
		aftl_dev_shrink_ring(dev);
		dev->disk->ops->go_on(dev->disk);
	}
	free_finished_ops(dev);
	dev->disk->ops->go_on(dev->disk);
}

/* Waiting */

static bool op_queue_has_room_or_is_stopped(const struct aftl_dev *dev)
{
	return !aftl_dev_is_congested(dev) || READ_ONCE(dev->held);
}

int aftl_dev_wait_for_room_in_queue(struct aftl_dev *dev, bool killable)
{
	if (!killable)
		wait_event(dev->room, op_queue_has_room_or_is_stopped(dev));
	else if (wait_event_killable(dev->room, op_queue_has_room_or_is_stopped(dev)))
		return -EINTR;
	return aftl_dev_is_congested(dev) && READ_ONCE(dev->held) ? -EBUSY : 0;
}

void aftl_dev_drain_queue(struct aftl_dev *dev)
{
	/*
	 * Wait under @lock, so that the task that empties the queue has queued dev->work before
	 * flush_work() waits for that work.
	 */
	spin_lock_irq(&dev->lock);
	wait_event_lock_irq(dev->room, aftl_dev_queue_is_empty(dev), dev->lock);
	spin_unlock_irq(&dev->lock);
	flush_work(&dev->work);
}

void aftl_dev_stop_or_run_queue_worker(struct aftl_dev *dev, bool held)
{
	spin_lock_irq(&dev->lock);
	WRITE_ONCE(dev->held, held);
	wake_up_all(&dev->room);
	spin_unlock_irq(&dev->lock);
	flush_work(&dev->work);
	if (!held)
		queue_work(dev->disk->workers.queue, &dev->work);
}

/* Allocation */

/* Return the least number of pages in the pool @pages: enough for the largest bio. */
static u32 get_min_pages_of_queue_pool(const struct aftl_geometry *geo)
{
	return max_t(u32, (AFTL_IO_SECTORS << SECTOR_SHIFT) / geo->unit_bytes, LEAST_PAGES);
}

static int init_page_pool(struct aftl_dev *dev, const struct aftl_geometry *geo)
{
	int ret = mempool_init_page_pool(&dev->pages, get_min_pages_of_queue_pool(geo), 0);

	mutex_init(&dev->gather_lock);
	return ret ? ret : mempool_init_page_pool(&dev->copies, BATCH_COPIES, 0);
}

/*
 * Size of the hash table @pending, for the operations of one call of the FTL. Operations that
 * persist buffered data are not in the table.
 */
static u32 get_hash_bits_of_pending_table(const struct aftl_geometry *geo)
{
	return ilog2(max_t(u32, aftl_get_max_callbacks_per_host_call(geo), LEAST_PENDING));
}

static size_t compute_lost_bitmap_bytes(const struct aftl_geometry *geo)
{
	return BITS_TO_LONGS(geo->ppns) * sizeof(long);
}

/* Return the bytes of memory of a queue besides its ring of operations. */
static u64 compute_queue_bytes_without_ring(const struct aftl_geometry *geo)
{
	return (sizeof(struct hlist_head) << get_hash_bits_of_pending_table(geo)) +
	       compute_lost_bitmap_bytes(geo) +
	       (u64)(get_min_pages_of_queue_pool(geo) + BATCH_COPIES) * PAGE_SIZE;
}

u64 aftl_dev_queue_needed_bytes(const struct aftl_geometry *geo)
{
	return aftl_dev_ring_needed_bytes(geo) + compute_queue_bytes_without_ring(geo);
}

u64 aftl_dev_queue_memory_bytes(const struct aftl_dev *dev)
{
	return aftl_dev_ring_memory_bytes(dev) +
	       compute_queue_bytes_without_ring(aftl_volume_geometry(dev->volume));
}

int aftl_dev_queue_init(struct aftl_dev *dev)
{
	const struct aftl_geometry *geo = aftl_volume_geometry(dev->volume);
	int ret = init_page_pool(dev, geo);
	int node = dev->disk->node;

	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->flushes);
	INIT_LIST_HEAD(&dev->releases);
	init_waitqueue_head(&dev->room);
	init_completion(&dev->loaded);
	INIT_WORK(&dev->work, execute_queue_work);
	dev->held = true;
	dev->pending_bits = get_hash_bits_of_pending_table(geo);
	dev->pending = kvzalloc_node(sizeof(*dev->pending) << dev->pending_bits, GFP_KERNEL, node);
	INIT_WORK(&dev->salvage_work, rewrite_failed_runs_work);
	dev->lost = kvzalloc_node(compute_lost_bitmap_bytes(geo), GFP_KERNEL, node);
	if (!dev->pending || !dev->lost)
		return -ENOMEM;
	return ret ? ret : aftl_dev_ring_init(dev);
}

void aftl_dev_queue_exit(struct aftl_dev *dev)
{
	u32 i;

	drain_workqueue(dev->disk->workers.queue);
	drain_workqueue(dev->disk->workers.salvage);
	/* Drop the memory pages of the queue's operations that were never executed. */
	for (i = dev->tail; i != dev->head; i++)
		if (aftl_dev_op_at(dev, i)->page)
			aftl_dev_put_page_reference(dev, aftl_dev_op_at(dev, i)->page);
	for (i = 0; dev->tags && i < dev->tag_count; i++)
		if (dev->tags[i].page)
			aftl_dev_put_page_reference(dev, dev->tags[i].page);
	mempool_exit(&dev->copies);
	mempool_exit(&dev->pages);
	aftl_dev_ring_exit(dev);
	kvfree(dev->tags);
	kvfree(dev->lost);
	kvfree(dev->pending);
}
