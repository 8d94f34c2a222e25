/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The durable store: the data of every physical page (ppn), in a volume on a block device.
 *
 * The callbacks of the FTL, under the disk's lock, add operations to a queue. A worker executes
 * them in order: it writes and copies data, and records changes in the volume, see
 * core/persist/volume.h. Until the data of a ppn have been written, reads find them in memory
 * through a hash table of pending ppns.
 *
 * Flushes are not operations. Each waits in a list with the number of the first operation that it
 * does not cover. After each batch of operations one commit of the volume completes all flushes
 * that cover only executed operations.
 *
 * The queue is finite, and a callback cannot wait for room under a spinlock. So the FTL is called
 * only through aftl_disk_lock_and_advance() and aftl_disk_process_event(), which make sure before
 * each call that there is room for aftl_get_max_callbacks_per_host_call() operations and all
 * reserved ones (see ring.c), which is more than one call adds. Device time stands still while
 * there is no room.
 *
 * Lock order: the disk's lock, @lock of struct aftl_dev, @lock of struct aftl_bdev.
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
 * enum aftl_dev_kind - kinds of operations
 * @AFTL_DEV_WRITE: write buffered data to their ppn
 * @AFTL_DEV_COPY: copy relocated data to their new ppn
 * @AFTL_DEV_PROGRAM: record that a flash page was programmed
 * @AFTL_DEV_UNMAP: record a discard
 * @AFTL_DEV_ZONE: record a change of a zone's state
 * @AFTL_DEV_PERSIST: store a buffered logical page in the persisted write buffer (PLP)
 * @AFTL_DEV_RELEASE: release that PLP entry
 * @AFTL_DEV_ERASE: record that a block was erased
 * @AFTL_DEV_RETIRE: record that blocks were retired
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
 * @bdev: its transfer on the block device
 * @dev: store
 * @number: position in the queue; wraps around
 * @kind: enum aftl_dev_kind
 * @done: complete; its place in the queue is free once all older operations are complete
 * @loaded: COPY: @page has the data, or they are lost
 * @waiting: PERSIST: no slot of the persisted write buffer was free
 * @again: WRITE, COPY: the destination was programmed before, since its last erase
 * @to: WRITE, COPY: destination ppn
 * @page: WRITE, COPY, PERSIST: memory page with the data
 * @behalf: WRITE: cgroup and I/O priority of the submitter; COPY: none
 * @first: PROGRAM: page; UNMAP: lpn; ERASE, RETIRE: block; ZONE: zone; PERSIST, RELEASE: tag
 * @count: UNMAP: logical pages; RETIRE: blocks; ZONE: enum aftl_zone_state
 * @node: WRITE, COPY: entry of aftl_dev.pending
 * @failed: WRITE, COPY: entry of aftl_dev.failed
 * @run: WRITE, COPY: number of operations, from this one on, that @bdev writes
 * @from: COPY: source ppn
 * @offset: COPY: offset on the medium from which the data are read
 * @leader: COPY: operation whose transfer reads the data; NULL if no read is needed
 * @error: COPY: error of that read; later, and for WRITE, error of the write
 * @spare: PROGRAM: entry of the page for the volume
 * @entry: ERASE: entry of the block for the volume
 * @kept: PERSIST: entry of the logical page for the volume
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

/* Operations in a chunk of the queue; a chunk comes from kmalloc() and has at most 16 KiB. */
#define AFTL_DEV_CHUNK_SHIFT 6
#define AFTL_DEV_CHUNK BIT(AFTL_DEV_CHUNK_SHIFT)

static_assert(sizeof(struct aftl_dev_op) << AFTL_DEV_CHUNK_SHIFT <= SZ_16K);

/* Number of operations that persist and release one buffered logical page. */
#define AFTL_DEV_UNIT_OPS 2

/**
 * struct aftl_dev_tag - a logical page in the write buffer
 * @page: memory page with its data; NULL if the tag is not in use
 * @behalf: cgroup and I/O priority of the submitter
 * @claims: operations that it may still add to the queue, and has room reserved for
 * @persisted: the volume has a PLP entry for it, or a queued operation will add one
 * @released: number of the first operation that was queued after the release of its entry
 * @node: entry of aftl_dev.releases until the worker has taken the release; else empty
 * @unpersisted_node: entry of @unpersisted or @persisting of struct aftl_dev; else empty
 */
struct aftl_dev_tag {
	struct page *page;
	struct aftl_behalf behalf;
	u8 claims;
	bool persisted;
	u32 released;
	struct list_head node;
	struct list_head unpersisted_node;
};

/**
 * struct aftl_dev_fetch - the read of one logical page from the block device
 * @bdev: transfer of @run fetches, this one and the following ones in the array of @io
 * @run: number of fetches that @bdev reads
 * @error: error of @bdev
 * @dev: store
 * @node: entry of @to_fetch, @fetched or @unread of struct aftl_dev
 * @io: bio that is read
 * @read: the FTL's description of the read
 * @flip_key: selects the bits that have errors, see aftl_io_compute_key_of_bit_flips()
 * @offset: offset of the data on the medium
 * @block: number of the block that is read
 * @epoch: index of the reader counter of @block that counts this read
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
 * struct aftl_dev_readers - number of reads of a block that are in flight
 * @count: two counters: of new reads, and of older reads that the worker may wait for
 * @epoch: index of the counter that counts new reads
 */
struct aftl_dev_readers {
	u32 count[2];
	u32 epoch;
};

/**
 * struct aftl_dev - the durable store
 * @store: base of the store
 * @disk: disk that owns the store
 * @device: block device
 * @pages: pool of memory pages for data of writes, until they are on @device
 * @gather_lock: serialises submitters that wait for @pages: each gets all its pages at once
 * @copies: pool of memory pages for data of copies
 * @volume: volume on @device; used by the worker, or by other tasks while the worker is held
 * @tags: logical pages in the write buffer, by tag
 * @tag_count: number of entries of @tags
 * @persists: the volume has a persisted write buffer (PLP)
 * @unpersisted: tags that the next flush of a zoned device persists; under the disk's lock
 * @persisting: tags that queued flushes of a zoned device persist; under the disk's lock
 * @safe: a write completes after its data are persisted; else only a flush persists data
 * @op_chunks: table of chunks of the queue, by the numbers of their operations
 * @op_mask: size of @op_chunks less one
 * @op_fixed: number of operations that are always allocated
 * @op_count: number of operations that are allocated
 * @op_end: number of the first operation from @head on that is not allocated
 * @claimed: operations that buffered pages and zone requests may add, beside @reserve
 * @reserve: aftl_get_max_callbacks_per_host_call(): bound of the other operations of one call
 * @releases: tags whose PLP entries are to be released, oldest first
 * @lock: protects the queue, @flushes, @releases, @pending, @readers, @held, the places of
 *	remapped data, and the reference counts of memory pages
 * @head: number of the next operation to be added
 * @next: number of the next operation to be executed
 * @tail: number of the oldest operation that is not done
 * @waiting: first operation of the batch that waits for a PLP slot, or the batch's end; worker only
 * @flushes: flushes that wait for a commit, oldest first
 * @held: the worker must not start anything
 * @pending: hash table of WRITE and COPY operations by destination
 * @pending_bits: log2 of the size of @pending
 * @lost: bitmap of ppns whose data could not be written, or could not be read for a copy
 * @room: woken when the queue has room again or is empty, and when @held changes
 * @run_pages: memory pages of the transfer that the worker prepares; worker only
 * @loads: reads for copies in flight, plus one while the worker starts reads
 * @loaded: completed when @loads drops to 0
 * @work: the worker: executes operations
 * @salvage_work: writes data again whose write failed, to another place if need be
 * @failed: first operations of writes that failed
 * @fetch_work: starts and ends reads
 * @to_fetch: reads to start
 * @fetched: reads whose transfer has ended
 * @probe_work: ends failed reads, after it has found out whether the block device responds
 * @unread: failed reads
 * @readers: reads in flight, by block
 * @no_readers: woken when a counter of @readers drops to 0
 * @fetch_sets: arrays of reads for the largest bio, reserved for when memory is short
 * @begun: the volume is in use; false again after aftl_dev_suspend()
 * @used: aftl_dev_begin_use() has succeeded at least once
 */
struct aftl_dev {
	struct aftl_store store;
	struct aftl_disk *disk;
	struct aftl_bdev device;
	mempool_t pages;
	struct mutex gather_lock; /* serialises the tasks that wait for memory pages */
	mempool_t copies;
	struct aftl_volume *volume;
	struct aftl_dev_tag *tags;
	u32 tag_count;
	bool persists;
	struct list_head unpersisted;
	struct list_head persisting;
	bool safe;
	u32 reserve;
	spinlock_t lock; /* protects the queue; @lock above lists all members that it protects */
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

/* durable.c: opening and closing the durable store */

/**
 * aftl_dev_workers_create() - allocate the workqueues of a disk, before its store is opened
 * @workers: takes the workqueues
 *
 * Context: process; may sleep. Return: 0 or -ENOMEM.
 */
int __must_check aftl_dev_workers_create(struct aftl_dev_workers *workers);

/* Destroy the workqueues; NULL pointers are skipped. Context: process; may sleep. */
void aftl_dev_workers_destroy(struct aftl_dev_workers *workers);

/**
 * aftl_dev_open() - open a volume and load its FTL; writes nothing
 * @out: takes the store, also on some failures: the caller destroys it if it is set
 * @disk: disk that owns the store; @disk->ftl takes the loaded FTL
 * @bdev: block device
 * @first: store of shard 0, whose header has the places of all shards; NULL to open shard 0
 * @super: policy, profile and parameters of the table line, and the number of the shard
 * @error: takes the message on failure
 *
 * Context: process; may sleep. Return: 0, or an error code.
 */
int __must_check aftl_dev_open(struct aftl_store **out, struct aftl_disk *disk,
			       struct block_device *bdev, const struct aftl_dev *first,
			       const struct aftl_volume_header *super, struct aftl_error *error);

/**
 * aftl_dev_begin_use() - mark the volume as in use, and let the worker run
 * @dev: store
 * @config: parameters of the whole device
 * @error: takes the message on failure
 *
 * Called before the first request, and again after aftl_dev_suspend(). If the volume cannot be
 * written, the first call fails; after a later one requests fail instead.
 *
 * Context: process; may sleep. Return: 0, or an error code.
 */
int __must_check aftl_dev_begin_use(struct aftl_dev *dev, const struct aftl_config *config,
				    struct aftl_error *error);

/**
 * aftl_dev_suspend() - execute all operations, commit, and stop the queue's worker
 * @dev: store; idle until aftl_dev_begin_use() or aftl_dev_resume()
 *
 * Context: process; the FTL must not be called meanwhile. May sleep. Return: 0, or the first error
 * of the block device.
 */
int __must_check aftl_dev_suspend(struct aftl_dev *dev);

/**
 * aftl_dev_resume() - let the worker run again after aftl_dev_suspend(), to prepare
 * aftl_dev_close()
 * @dev: store
 *
 * Context: process; may sleep. Return: false if the store was never used: there is nothing to
 * close.
 */
bool aftl_dev_resume(struct aftl_dev *dev);

/**
 * aftl_dev_close() - write everything, and mark the volume as closed
 * @dev: store, after aftl_dev_resume()
 * @error: takes the message on failure
 *
 * Context: process, after aftl_quiesce_device_by_slice() has returned false; may sleep. Return: 0,
 * or an error code; the volume is then recovered as after a crash.
 */
int __must_check aftl_dev_close(struct aftl_dev *dev, struct aftl_error *error);

/* Return the first permanent error of the block device, or 0. Context: any. */
static inline int aftl_dev_get_error(const struct aftl_dev *dev)
{
	return READ_ONCE(dev->device.error);
}

/*
 * queue.c: callbacks of the FTL (see struct aftl_host_ops), which queue operations.
 *
 * Context of the callbacks: under the disk's lock; they take @lock of struct aftl_dev. Argument
 * @again is true if the flash page was programmed before, since its last erase.
 */

/* Record the cgroup and the I/O priority of @bio, whose data are in the write buffer under @tag. */
void aftl_dev_record_write_submitter(struct aftl_dev *dev, u32 tag, struct bio *bio);
void aftl_dev_queue_buffered_write(struct aftl_dev *dev, u32 tag, aftl_ppn_t ppn, bool again);
void aftl_dev_release_buffer_tag(struct aftl_dev *dev, u32 tag);
void aftl_dev_queue_copy_of_ppn(struct aftl_dev *dev, aftl_ppn_t from, aftl_ppn_t to, bool again);
void aftl_dev_queue_program_record(struct aftl_dev *dev, aftl_ppn_t first);
void aftl_dev_queue_unmap(struct aftl_dev *dev, aftl_lpn_t first, u32 units);
void aftl_dev_queue_zone_state(struct aftl_dev *dev, u32 zone, enum aftl_zone_state state);
void aftl_dev_queue_erase(struct aftl_dev *dev, u32 block);
void aftl_dev_queue_block_retirement(struct aftl_dev *dev, u32 first, u32 blocks);

/*
 * If the write buffer survives power failures (@safe), queue an operation that persists the data
 * under @tag: they survive a crash from the next commit on. Context: under the disk's lock.
 */
void aftl_dev_persist_unflushable_page(struct aftl_dev *dev, u32 tag);

/*
 * On a zoned device, queue operations that persist, at the next commit, data that do not fill a
 * flash page of their zone. Context: process, no lock held; takes the disk's lock.
 */
void aftl_dev_persist_buffer(struct aftl_dev *dev);

/**
 * aftl_dev_queue_flush() - complete a request after all queued operations are durable
 * @dev: store
 * @io: flush, or write that must be durable; @io->failed is set if the commit fails
 *
 * Context: any, under the disk's lock. @io may complete before this returns.
 */
void aftl_dev_queue_flush(struct aftl_dev *dev, struct aftl_io *io);

/**
 * aftl_dev_wait_for_room_in_queue() - wait until the queue is not congested
 * @dev: store
 * @killable: stop waiting on a fatal signal
 *
 * Context: process, no lock held; sleeps. Other tasks may have used the room when this returns:
 * the caller checks again under the disk's lock.
 * Return: 0; -EINTR after a fatal signal; -EBUSY if the worker is held, so that no room will come.
 */
int aftl_dev_wait_for_room_in_queue(struct aftl_dev *dev, bool killable);

/* Wait until no operation, flush or PLP release is queued. Context: process, no lock; sleeps. */
void aftl_dev_drain_queue(struct aftl_dev *dev);

/**
 * aftl_dev_add_to_worker_list() - pass a transfer that has ended on to a worker
 * @dev: store
 * @node: entry of the transfer
 * @list: list of the worker
 * @workers: workqueue of the worker
 * @work: the worker
 *
 * As soon as @node is in @list, the worker may end the bio of the transfer, after which @dev may be
 * freed. But the worker takes @dev->lock before it ends a bio, so @dev exists until the caller has
 * released @dev->lock.
 *
 * Context: any, under @dev->lock.
 */
void aftl_dev_add_to_worker_list(struct aftl_dev *dev, struct llist_node *node,
				 struct llist_head *list, struct workqueue_struct *workers,
				 struct work_struct *work);

/**
 * aftl_dev_stop_or_run_queue_worker() - stop the queue's worker, or let it run
 * @dev: store
 * @held: true: the worker starts nothing more; on return only its writes may be in flight
 *
 * Context: process, no lock held; sleeps.
 */
void aftl_dev_stop_or_run_queue_worker(struct aftl_dev *dev, bool held);

/* Return the bytes of memory of a queue with its page pools: of @dev, or of a new store. */
u64 aftl_dev_queue_memory_bytes(const struct aftl_dev *dev);
u64 aftl_dev_queue_needed_bytes(const struct aftl_geometry *geo);

/* Allocate the queue. Return: 0; or -ENOMEM, then call aftl_dev_queue_exit(). Context: process. */
int __must_check aftl_dev_queue_init(struct aftl_dev *dev);
void aftl_dev_queue_exit(struct aftl_dev *dev);

/**
 * aftl_dev_find_worn_block() - find a block with remapped data, which the FTL has to retire
 * @dev: store
 * @block: lowest number to return
 *
 * Context: process, no lock held. Return: number of the block, U32_MAX if there is none.
 */
u32 aftl_dev_find_worn_block(struct aftl_dev *dev, u32 block);

/**
 * aftl_dev_find_queued_page() - find the newest data of a ppn
 * @dev: store
 * @ppn: the ppn; takes the ppn whose place on the block device has the data, if that is another
 *
 * Context: under @lock. Return: memory page with the data, which the caller drops; NULL if the data
 * are on the block device only.
 */
struct page *aftl_dev_find_queued_page(struct aftl_dev *dev, aftl_ppn_t *ppn);

/* Return the offset of @ppn on the medium, which a remap changes. Context: under @lock. */
u64 aftl_dev_get_offset_of_ppn(const struct aftl_dev *dev, aftl_ppn_t ppn);

/*
 * Return true if the data are lost: they could not be written, or not be read for a copy. @page and
 * @ppn are results of aftl_dev_find_queued_page(). Context: under @lock.
 */
bool aftl_dev_is_ppn_data_lost(const struct aftl_dev *dev, const struct page *page, aftl_ppn_t ppn);

/*
 * Memory pages have a reference count, because copies share them. The last user returns a page to
 * its pool. There are two pools, so that a task that waits for a pool holds no page that another
 * waiter for that pool needs. A page of @copies comes back when the block device has written it. A
 * page of @pages comes back after copies and metadata frames, and while it is in the write buffer,
 * only after later writes; a task that waits for one therefore drains the write buffer, see hurry()
 * in struct aftl_disk_ops.
 *
 * aftl_dev_alloc_page() returns a page with one reference; NULL only if @gfp forbids to wait, or if
 * @pool is NULL: the page joins @pages when it is freed, and nothing waits for other pages. The
 * others are called under @lock, or by the only user of the page.
 */
struct page *aftl_dev_alloc_page(struct aftl_dev *dev, mempool_t *pool, gfp_t gfp);
void aftl_dev_get_page_reference(struct page *page);
void aftl_dev_put_page_reference(struct aftl_dev *dev, struct page *page);

/* ring.c: memory of the durable store's queue */

/* Return operation @number, which must be allocated. */
static inline struct aftl_dev_op *aftl_dev_op_at(const struct aftl_dev *dev, u32 number)
{
	return &dev->op_chunks[number >> AFTL_DEV_CHUNK_SHIFT & dev->op_mask]
			      [number & (AFTL_DEV_CHUNK - 1)];
}

/**
 * aftl_dev_is_congested() - check for room in the queue before a call of the FTL
 * @dev: store
 *
 * Context: any. Under the disk's lock a "false" stays valid until that call, because only calls of
 * the FTL fill the queue.
 * Return: true if there is too little room for another call.
 */
bool aftl_dev_is_congested(const struct aftl_dev *dev);

/*
 * Wake tasks that wait for room. The caller has made room: tasks are woken if the queue was
 * @congested before and is not congested now, or if it is empty. Context: under @lock.
 */
void aftl_dev_wake_tasks_waiting_for_room(struct aftl_dev *dev, bool congested);

/*
 * Give back the room of @ops reserved operations; wake tasks as
 * aftl_dev_wake_tasks_waiting_for_room() does. Context: under @lock.
 */
void aftl_dev_release_reserved_ops(struct aftl_dev *dev, u32 ops);

/* Return true if no operation, flush or PLP release is queued. Context: under @lock. */
bool aftl_dev_queue_is_empty(const struct aftl_dev *dev);

/* Allocate the ring. Return: 0; or -ENOMEM, then call aftl_dev_ring_exit(). Context: process. */
int __must_check aftl_dev_ring_init(struct aftl_dev *dev);
void aftl_dev_ring_exit(struct aftl_dev *dev);

/* Set @tail of @dev, and reuse chunks whose operations are all done. Context: under @lock. */
void aftl_dev_ring_advance_tail(struct aftl_dev *dev, u32 tail);

/*
 * Free memory of the queue that neither queued nor reserved operations need.
 * Context: the worker, no lock held.
 */
void aftl_dev_shrink_ring(struct aftl_dev *dev);

/**
 * aftl_dev_reserve_ops() - reserve room in the queue beside that of the FTL's callbacks
 * @dev: store
 * @ops: number of operations
 *
 * Context: process, no lock held; may sleep. Return: false if there is no memory; retry, because
 * other tasks give room back.
 */
bool __must_check aftl_dev_reserve_ops(struct aftl_dev *dev, u32 ops);

/* Return the bytes of memory of the ring of operations: of @dev, or of a new store. */
u64 aftl_dev_ring_memory_bytes(const struct aftl_dev *dev);
u64 aftl_dev_ring_needed_bytes(const struct aftl_geometry *geo);

/* readers.c: number of reads in flight, by block */

/* Allocate the counters of reads in flight. Context: process; may sleep. Return: 0 or -ENOMEM. */
int __must_check aftl_dev_readers_init(struct aftl_dev *dev);
void aftl_dev_readers_exit(struct aftl_dev *dev);

/* Return the bytes of memory of the counters of reads. */
u64 aftl_dev_readers_needed_bytes(const struct aftl_geometry *geo);

/* Count @fetch among the reads of the block of @ppn; sets @fetch->block. Context: under @lock. */
void aftl_dev_begin_block_read(struct aftl_dev *dev, struct aftl_dev_fetch *fetch, aftl_ppn_t ppn);

/* Stop counting @fetch among the reads of its block. Context: process, no lock held. */
void aftl_dev_end_block_read(struct aftl_dev *dev, const struct aftl_dev_fetch *fetch);

/* Wait for the reads of @block that are in flight now. Context: the worker, no lock held. */
void aftl_dev_wait_for_readers(struct aftl_dev *dev, u32 block);

/* durable.c: room in the queue for zone requests */

/* Reserve room in the queue for a zone request. Context: process, no lock held; may sleep. */
void aftl_dev_reserve_ops_of_zone_request(struct aftl_dev *dev, struct aftl_io *io);

/* Give the room for a zone request back when the request ends. Context: any. */
void aftl_dev_release_ops_of_zone_request(struct aftl_dev *dev, struct aftl_io *io);

/* fetch.c: reads */

/* Allocate the fetches of @io, one for each logical page. Context: process; may sleep. */
void aftl_dev_alloc_fetches(struct aftl_dev *dev, struct aftl_io *io);

/* Read data for the FTL: copy them from memory, or start a fetch. Context: the disk's lock held. */
void aftl_dev_read_unit(struct aftl_dev *dev, struct aftl_io *io, const struct aftl_read *read);

/* Drop a reference to @io, which the FTL and each fetch hold; true for the last. Context: any. */
bool aftl_dev_put_io_reference(struct aftl_io *io);

/* Free the fetches of @io. Context: any but a hard interrupt. */
void aftl_dev_free_fetches(struct aftl_dev *dev, struct aftl_io *io);

/* Return the bytes of memory of the arrays of fetches and of the read counters of blocks. */
u64 aftl_dev_fetch_memory_bytes(const struct aftl_geometry *geo);

/* Allocate the pool of fetches and the read counters. Context: process. Return: 0 or -ENOMEM. */
int __must_check aftl_dev_fetch_init(struct aftl_dev *dev);
void aftl_dev_fetch_exit(struct aftl_dev *dev);

#endif
