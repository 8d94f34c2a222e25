/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The durable store: what is in every slot of the media, on a block device.
 *
 * The FTL says under its lock what happens to slots. That becomes a queue of operations,
 * which a worker carries out in their order: data is written and copied, and what
 * core/persist/volume.h wants to know is noted. Until the data of a slot has been written, reads
 * find it in memory through a table of pending slots.
 *
 * Flushes are no operations: each waits in a list, with the number of the first operation
 * that it need not wait for. When the worker has carried out a batch, one commit of the
 * volume ends all flushes that it has reached.
 *
 * The queue is finite, and its operations come from under a spinlock: they cannot wait for room.
 * Before each single call of the FTL there is room for aftl_max_host_calls() operations and for
 * those that units claimed, see ring.c, which is more than it makes: aftl_disk_enter() and
 * aftl_disk_step() see to that, nobody else calls the FTL, and device time stands still meanwhile.
 */
#ifndef AFTL_STORE_DEV_H
#define AFTL_STORE_DEV_H

#include <linux/completion.h>
#include <linux/llist.h>
#include <linux/workqueue.h>

#include "store/medium.h"
#include "store/store.h"

struct aftl_dev_workers;
struct aftl_disk;
struct aftl_io;

/**
 * enum aftl_dev_kind - an operation of the queue
 */
enum aftl_dev_kind {
	AFTL_DEV_WRITE,
	AFTL_DEV_COPY,
	AFTL_DEV_PROGRAM,
	AFTL_DEV_UNMAP,
	AFTL_DEV_ZONE,
	AFTL_DEV_PERSIST,
	AFTL_DEV_RELEASE,
	AFTL_DEV_ERASE,
	AFTL_DEV_RETIRE,
};

/**
 * struct aftl_dev_op - an operation of the queue
 * @bdev: transfer that carries it out
 * @dev: store
 * @number: position in the queue
 * @kind: enum aftl_dev_kind
 * @done: carried out
 * @loaded: COPY: @page has the bytes, or they are lost
 * @waiting: PERSIST: waits for a slot of the persisted write buffer
 * @again: WRITE, COPY: over a page that has been programmed since its erase
 * @to: WRITE, COPY: slot
 * @page: WRITE, COPY, PERSIST: the bytes
 * @behalf: WRITE: who has brought them; COPY: nobody
 * @first: PROGRAM: page; UNMAP: unit; ERASE, RETIRE: block; ZONE: zone; PERSIST, RELEASE: tag
 * @count: UNMAP: units; RETIRE: blocks; ZONE: enum aftl_zone_state
 * @node: WRITE, COPY: in the table of pending slots
 * @failed: WRITE, COPY: in the list of what could not be written
 * @run: WRITE, COPY: operations that @bdev carries out, this one and those behind it
 * @from: COPY: slot
 * @offset: COPY: where the bytes are read from
 * @leader: COPY: whose read brings the bytes; NULL if no read is needed
 * @error: COPY: of that read; then WRITE, COPY: of the write
 * @spare: PROGRAM
 * @entry: ERASE
 * @kept: PERSIST: what
 */
struct aftl_dev_op {
	struct aftl_bdev_io bdev;
	struct aftl_dev *dev;
	u32 number;
	u8 kind;
	bool done;
	bool loaded;
	bool waiting;
	bool again;
	aftl_ppn_t to;
	struct page *page;
	struct aftl_behalf behalf;
	u32 first;
	u32 count;
	union {
		struct {
			struct hlist_node node;
			struct llist_node failed;
			u32 run;
			aftl_ppn_t from;
			u64 offset;
			struct aftl_dev_op *leader;
			int error;
		};
		struct aftl_spare spare;
		struct aftl_erase_entry entry;
		struct aftl_plp_entry kept;
	};
};

/* Operations of a chunk of the ring; together they fill four small pages. */
#define AFTL_DEV_CHUNK_SHIFT 6
#define AFTL_DEV_CHUNK BIT(AFTL_DEV_CHUNK_SHIFT)

static_assert(sizeof(struct aftl_dev_op) << AFTL_DEV_CHUNK_SHIFT <= SZ_16K);

/* A buffered unit is persisted and released. */
#define AFTL_DEV_UNIT_OPS 2

/**
 * struct aftl_dev_tag - a write in the controller
 * @page: its bytes, NULL for none
 * @behalf: who has brought them
 * @claims: operations that it may still add to the queue
 * @persisted: the volume has an entry of it, or the queue will make one
 * @released: operations from this one on come after the release of its entry
 * @node: then in @releases of the store; else empty
 */
struct aftl_dev_tag {
	struct page *page;
	struct aftl_behalf behalf;
	u8 claims;
	bool persisted;
	u32 released;
	struct list_head node;
};

/**
 * struct aftl_dev_fetch - the read of one unit, from the device
 * @bdev: transfer, of this one and those behind it in the array of @io
 * @run: how many
 * @error: of that transfer
 * @dev: store
 * @node: in one of its lists
 * @io: for whom
 * @read: what the FTL wants of it
 * @flip_key: which bits of it have errors; of the time of @read
 * @offset: where the bytes are
 * @block: that is read
 * @epoch: counts in that counter of its readers
 */
struct aftl_dev_fetch {
	struct aftl_bdev_io bdev;
	u32 run;
	int error;
	struct aftl_dev *dev;
	struct llist_node node;
	struct aftl_io *io;
	struct aftl_read read;
	u64 flip_key;
	u64 offset;
	u32 block;
	u32 epoch;
};

/**
 * struct aftl_dev_readers - reads of a block that are under way
 * @count: how many, in two counters
 * @epoch: the counter that new reads take
 */
struct aftl_dev_readers {
	u32 count[2];
	u32 epoch;
};

/**
 * struct aftl_dev - the store
 * @store: what callers see
 * @disk: whose it is
 * @device: the block device
 * @pages: for the bytes of writes, until they are on @device
 * @gather_lock: who waits for some of @pages gets them all before the next one does
 * @copies: for the bytes of copies
 * @volume: on it; the worker's, or its caller's while the worker is held
 * @tags: writes in the controller, by tag
 * @tag_count: how many
 * @persists: the volume has persisted write-buffer entries
 * @safe: each unit is persisted before its write is complete, not only by a flush
 * @op_chunks: chunks of the queue, by number of their operations
 * @op_mask: size of that table less one
 * @op_fixed: operations that are always allocated
 * @op_count: operations that are allocated
 * @op_end: first operation from @head on that is not allocated
 * @claimed: operations that units may add beside @reserve
 * @reserve: most operations that one call of the FTL makes for flash: aftl_max_host_calls()
 * @releases: tags whose entries are to be released, oldest first
 * @lock: of the queue, the flushes, the pending slots, the readers, and how often pages
 *	are used
 * @head: next operation to be filled
 * @next: next to be carried out
 * @tail: oldest that is not done
 * @waiting: the worker's: the first operation of its batch that waits for a slot, or the end
 * @flushes: what waits for a commit, oldest first
 * @held: the worker must not begin anything
 * @pending: operations by the slot that they fill
 * @pending_bits: size of that table
 * @lost: bit by slot: its bytes could not be written, or not be read when they were copied
 * @room: there is room again, or nothing left, or the worker is held
 * @run_pages: what the worker puts into one transfer
 * @loads: reads of what is to be copied, under way, and one
 * @loaded: they are over
 * @work: carries out operations
 * @salvage_work: writes elsewhere what could not be written where it belongs
 * @failed: that
 * @fetch_work: starts and ends reads
 * @to_fetch: reads to be started
 * @fetched: reads to be ended
 * @probe_work: ends reads that have failed, when it is known whether the device answers
 * @unread: those reads
 * @readers: reads under way, by block
 * @no_readers: a counter of a block is zero
 * @fetch_sets: arrays of reads for the largest bio, where there is no memory
 * @begun: the volume is in use
 * @used: it was before
 */
struct aftl_dev {
	struct aftl_store store;
	struct aftl_disk *disk;
	struct aftl_bdev device;
	mempool_t pages;
	struct mutex gather_lock; /* pages, by those who wait */
	mempool_t copies;
	struct aftl_volume *volume;
	struct aftl_dev_tag *tags;
	u32 tag_count;
	bool persists;
	bool safe;
	u32 reserve;
	spinlock_t lock; /* the following fourteen, readers, pages */
	struct aftl_dev_op **op_chunks;
	u32 op_mask;
	u32 op_fixed;
	u32 op_count;
	u32 op_end;
	u32 claimed;
	struct list_head releases;
	u32 head;
	u32 next;
	u32 tail;
	u32 waiting;
	struct list_head flushes;
	bool held;
	struct hlist_head *pending;
	u32 pending_bits;
	unsigned long *lost;
	wait_queue_head_t room;
	struct page *run_pages[AFTL_PROGRAM_UNITS_MAX];
	atomic_t loads;
	struct completion loaded;
	struct work_struct work;
	struct work_struct salvage_work;
	struct llist_head failed;
	struct work_struct fetch_work;
	struct llist_head to_fetch;
	struct llist_head fetched;
	struct work_struct probe_work;
	struct llist_head unread;
	struct aftl_dev_readers *readers;
	wait_queue_head_t no_readers;
	mempool_t fetch_sets;
	bool begun;
	bool used;
};

static inline struct aftl_dev *aftl_store_to_dev(struct aftl_store *store)
{
	return container_of(store, struct aftl_dev, store);
}

/* durable.c: life of the store */

/* The workqueues of a disk, made before its store is opened. Return: 0 or -ENOMEM. */
int __must_check aftl_dev_workers_create(struct aftl_dev_workers *workers);
void aftl_dev_workers_destroy(struct aftl_dev_workers *workers);

/**
 * aftl_dev_open() - the volume on @bdev
 * @out: takes the store; the device that it holds is in @disk->ftl then
 * @disk: whose it will be
 * @bdev: block device
 * @first: the first shard of the device, NULL for that one; it says where the others are
 * @super: policy, profile and parameters of the table line, and the shard
 * @error: takes the sentence on failure
 *
 * Changes nothing. Return: 0, or an error code with a sentence.
 */
int __must_check aftl_dev_open(struct aftl_store **out, struct aftl_disk *disk,
			       struct block_device *bdev, const struct aftl_dev *first,
			       const struct aftl_volume_header *super, struct aftl_error *error);

/*
 * Before the first request, and again after aftl_dev_rest(), with the parameters of the whole
 * device. May sleep.
 */
int __must_check aftl_dev_begin(struct aftl_dev *dev, const struct aftl_config *config,
				struct aftl_error *error);

/**
 * aftl_dev_rest() - carry out what has been asked for, and commit it
 * @dev: store; begins nothing until aftl_dev_begin() or aftl_dev_wake()
 *
 * Context: process; nobody calls the FTL meanwhile. Return: 0, or the first error of the
 * device below.
 */
int __must_check aftl_dev_rest(struct aftl_dev *dev);

/**
 * aftl_dev_wake() - go on after aftl_dev_rest(), for what comes before the end
 * @dev: store
 *
 * Context: process. Return: false if it was never used, so that there is nothing to close.
 */
bool aftl_dev_wake(struct aftl_dev *dev);

/**
 * aftl_dev_close() - put all on the device, and say that it was closed in order
 * @dev: store, awake
 * @error: takes the sentence on failure
 *
 * Context: process; the FTL has been parked. Return: 0, or an error code: the volume is
 * then as after a crash.
 */
int __must_check aftl_dev_close(struct aftl_dev *dev, struct aftl_error *error);

/* First error of the block device, or 0. */
static inline int aftl_dev_error(const struct aftl_dev *dev)
{
	return READ_ONCE(dev->device.error);
}

/* queue.c: what the FTL says, under its lock */

/* The bytes of @tag have come with @bio. */
void aftl_dev_brought(struct aftl_dev *dev, u32 tag, struct bio *bio);
void aftl_dev_program(struct aftl_dev *dev, u32 tag, aftl_ppn_t ppn, bool again);
void aftl_dev_release(struct aftl_dev *dev, u32 tag);
void aftl_dev_copy(struct aftl_dev *dev, aftl_ppn_t from, aftl_ppn_t to, bool again);
void aftl_dev_programmed(struct aftl_dev *dev, aftl_ppn_t first);
void aftl_dev_unmap(struct aftl_dev *dev, aftl_lpn_t first, u32 units);
void aftl_dev_zone(struct aftl_dev *dev, u32 zone, enum aftl_zone_state state);
void aftl_dev_erase(struct aftl_dev *dev, u32 block);
void aftl_dev_retire(struct aftl_dev *dev, u32 first, u32 blocks);

/* Where that is to be, what is under @tag survives the loss of power from the next commit on. */
void aftl_dev_keep_now(struct aftl_dev *dev, u32 tag);

/* What waits for full pages of zones goes with the next commit. Context: process, no lock held. */
void aftl_dev_keep(struct aftl_dev *dev);

/**
 * aftl_dev_commit() - end @io when all of the above is durable, or cannot become so
 *
 * Context: under the disk's lock, any. @io may end before this returns.
 */
void aftl_dev_commit(struct aftl_dev *dev, struct aftl_io *io);

/**
 * aftl_dev_wait_for_room() - wait until the queue is not congested
 * @killable: the caller can live without
 *
 * Context: process, no lock held. Others may have used the room on return: look again.
 * Return: 0; -EINTR; or -EBUSY if there will be none, because the worker is held.
 */
int aftl_dev_wait_for_room(struct aftl_dev *dev, bool killable);

/* Wait until the queue is empty and no flush waits. Context: process, no lock held. */
void aftl_dev_drain(struct aftl_dev *dev);

/*
 * Keep the worker from beginning anything, or let it go on. Context: process, no lock
 * held; on return it has not begun anything that is not over, but for writes.
 */
void aftl_dev_hold(struct aftl_dev *dev, bool held);

/* Memory of the queue and its pages now, and of that of a new store of such a device. */
u64 aftl_dev_queue_bytes(const struct aftl_dev *dev);
u64 aftl_dev_queue_need(const struct aftl_geometry *geo);

int __must_check aftl_dev_queue_init(struct aftl_dev *dev);
void aftl_dev_queue_exit(struct aftl_dev *dev);

/**
 * aftl_dev_next_worn() - the first block from @block on that has been written to in vain
 *
 * Context: process, no lock held. Return: its number, U32_MAX if there is none.
 */
u32 aftl_dev_next_worn(struct aftl_dev *dev, u32 block);

/* Where the newest bytes of @ppn are: in a page that is then held, or in *@ppn. */
struct page *aftl_dev_find(struct aftl_dev *dev, aftl_ppn_t *ppn);

/* Where the bytes of @ppn are on the block device; under @lock: they may be put elsewhere. */
u64 aftl_dev_offset(const struct aftl_dev *dev, aftl_ppn_t ppn);

/* Are they not, or in @ppn something else than the FTL believes? @page is what was found. */
bool aftl_dev_lost(const struct aftl_dev *dev, const struct page *page, aftl_ppn_t ppn);

/*
 * Pages are counted, because copies share them, and each goes back to its pool: those who
 * wait for one pool never hold what others of the same pool wait for. Copies wait for the
 * block device alone, writes for copies, frames and, in the write buffer, for others to
 * come; so who waits for a page of a write is in a hurry, see hurry() of a disk.
 *
 * aftl_dev_new_page() may return NULL if @gfp does not allow to wait; the page has one user.
 * Context of the others: under @lock, or by the only user.
 */
struct page *aftl_dev_new_page(struct aftl_dev *dev, mempool_t *pool, gfp_t gfp);
void aftl_dev_hold_page(struct page *page);
void aftl_dev_drop_page(struct aftl_dev *dev, struct page *page);

/* ring.c: memory of the queue */

static inline struct aftl_dev_op *aftl_dev_op_at(const struct aftl_dev *dev, u32 number)
{
	return &dev->op_chunks[number >> AFTL_DEV_CHUNK_SHIFT & dev->op_mask]
			      [number & (AFTL_DEV_CHUNK - 1)];
}

/**
 * aftl_dev_congested() - is there too little room for another call of the FTL?
 *
 * Context: any. Under the disk's lock a "no" holds until that call: nobody else fills the
 * queue.
 */
bool aftl_dev_congested(const struct aftl_dev *dev);

/*
 * Under @lock, after room has been made: tell those who wait if the queue was @congested before and
 * is not now. The second one gives @ops claims back, which makes room.
 */
void aftl_dev_tell_room(struct aftl_dev *dev, bool congested);
void aftl_dev_give_back(struct aftl_dev *dev, u32 ops);

/* Returns whether no operation, no flush and no release is left. Under @lock. */
bool aftl_dev_is_empty(const struct aftl_dev *dev);

int __must_check aftl_dev_ring_init(struct aftl_dev *dev);
void aftl_dev_ring_exit(struct aftl_dev *dev);

/* The oldest operation that is not done is @tail now. Under @lock. */
void aftl_dev_ring_move(struct aftl_dev *dev, u32 tail);

/* Free memory that no claim needs. Context: the worker. */
void aftl_dev_ring_trim(struct aftl_dev *dev);

/**
 * aftl_dev_ring_claim() - room for @ops operations beside those of aftl_max_host_calls()
 *
 * Context: process, no lock held; may sleep. Return: false if there is no memory; others may give
 * room back.
 */
bool __must_check aftl_dev_ring_claim(struct aftl_dev *dev, u32 ops);

/* Memory of the ring now, and of that of a new store. */
u64 aftl_dev_ring_bytes(const struct aftl_dev *dev);
u64 aftl_dev_ring_need(const struct aftl_geometry *geo);

/* readers.c: what is being read */

int __must_check aftl_dev_readers_init(struct aftl_dev *dev);
void aftl_dev_readers_exit(struct aftl_dev *dev);

/* Memory for it. */
u64 aftl_dev_readers_need(const struct aftl_geometry *geo);

/* @fetch reads @ppn from the device from now on, or no more. Context of the first: under @lock. */
void aftl_dev_add_reader(struct aftl_dev *dev, struct aftl_dev_fetch *fetch, aftl_ppn_t ppn);
void aftl_dev_drop_reader(struct aftl_dev *dev, const struct aftl_dev_fetch *fetch);

/* Wait for the reads of @block that are under way now. */
void aftl_dev_wait_for_readers(struct aftl_dev *dev, u32 block);

/* durable.c: requests about zones */

/* Room for what @io may add to the queue; may sleep. */
void aftl_dev_prepare_zones(struct aftl_dev *dev, struct aftl_io *io);

void aftl_dev_forget_zones(struct aftl_dev *dev, struct aftl_io *io);

/* fetch.c: reads */

/* Room for the reads of @io; may sleep. */
void aftl_dev_prepare_reads(struct aftl_dev *dev, struct aftl_io *io);

/* The FTL wants @read; under its lock. */
void aftl_dev_read(struct aftl_dev *dev, struct aftl_io *io, const struct aftl_read *read);

/* The FTL is through with @io. Return: whether the reads are, too. */
bool aftl_dev_reads_done(struct aftl_io *io);

void aftl_dev_forget_reads(struct aftl_dev *dev, struct aftl_io *io);

/* Memory of reads for which there is none elsewhere. */
u64 aftl_dev_fetch_need(const struct aftl_geometry *geo);

int __must_check aftl_dev_fetch_init(struct aftl_dev *dev);
void aftl_dev_fetch_exit(struct aftl_dev *dev);

#endif
