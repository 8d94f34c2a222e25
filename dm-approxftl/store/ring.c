// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the queue of the durable store.
 *
 * Operations are numbered; a table of chunks maps a number to the operation. The FTL adds
 * operations under a spinlock, where an allocation may fail, so memory is allocated before:
 *
 * - A fixed part, aftl_dev_ring_init(), covers the flash operations of one call of the FTL, and
 *   those in flight while the block device is busy.
 * - With a persisted write buffer (PLP), a buffered logical page adds up to two operations more, to
 *   persist and to release its entry, in calls that add no flash operations. The submitter reserves
 *   room for them, aftl_dev_reserve_ops(), before it takes the disk's lock. So the ring grows with
 *   the writes in flight, not with the size of the buffer. A zone request reserves room, too, as
 *   one call of the FTL may execute all zone requests that wait.
 *
 * A chunk whose operations are all done moves to the end of the ring. The worker frees chunks for
 * which no operation has room reserved any more, aftl_dev_shrink_ring().
 *
 * The ring is under @lock of struct aftl_dev, which aftl_dev_reserve_ops(), aftl_dev_shrink_ring()
 * and aftl_dev_ring_init() take.
 */
#include <linux/slab.h>

#include "store/disk-types.h"
#include "store/dev.h"

/* Least number of operations that the fixed part of the ring takes while the device is busy. */
#define LEAST_OPS 4096

/*
 * Number of buffered logical pages (PLP) for whose operations the ring has room from its creation
 * on, even if memory is short.
 */
#define LEAST_UNITS 256

/*
 * Number of logical pages, beyond the size of the write buffer, for whose operations the queue
 * reserves room; further submitters wait.
 */
#define MOST_UNITS BIT(17)

/* Number of unused chunks that are kept for the next operations. */
#define SPARE_CHUNKS 32

#define CHUNK_BYTES (sizeof(struct aftl_dev_op) << AFTL_DEV_CHUNK_SHIFT)

static u64 count_op_chunks(u64 ops)
{
	return DIV_ROUND_UP_ULL(ops, AFTL_DEV_CHUNK);
}

/*
 * Return the number of operations in the fixed part of the ring: those of programs, and of a reset
 * of all zones. A second reset of all zones, which is rare, waits for room.
 */
static u64 get_min_capacity_of_op_ring(const struct aftl_geometry *geo)
{
	u64 programs = (u64)geo->luns * (aftl_units_per_program(geo) + geo->program_pages);

	return aftl_get_max_callbacks_per_host_call(geo) + max_t(u64, programs, LEAST_OPS);
}

/* Number of chunks (pieces of the ring) that a new store allocates. */
static u64 count_initial_ring_chunks(const struct aftl_geometry *geo)
{
	u64 units = geo->plp_entries ? LEAST_UNITS : 0;

	return count_op_chunks(get_min_capacity_of_op_ring(geo) + units * AFTL_DEV_UNIT_OPS);
}

static u64 count_ring_table_entries(const struct aftl_geometry *geo)
{
	u64 units = geo->plp_entries ? (u64)geo->plp_entries + MOST_UNITS : 0;

	return roundup_pow_of_two(count_initial_ring_chunks(geo) +
				  count_op_chunks(units * AFTL_DEV_UNIT_OPS) + SPARE_CHUNKS);
}

/* Upper bound of the operations that the next call of the FTL adds. */
static u32 get_max_ops_of_next_ftl_call(const struct aftl_dev *dev)
{
	return dev->reserve + READ_ONCE(dev->claimed);
}

bool aftl_dev_is_congested(const struct aftl_dev *dev)
{
	return READ_ONCE(dev->op_end) - READ_ONCE(dev->head) < get_max_ops_of_next_ftl_call(dev);
}

bool aftl_dev_queue_is_empty(const struct aftl_dev *dev)
{
	return dev->head == dev->tail && list_empty(&dev->flushes) && list_empty(&dev->releases);
}

void aftl_dev_wake_tasks_waiting_for_room(struct aftl_dev *dev, bool congested)
{
	lockdep_assert_held(&dev->lock);
	congested = congested && !aftl_dev_is_congested(dev);
	/* Run the worker: it advances device time, which stood still while the queue was full. */
	if (congested)
		queue_work(dev->disk->workers.queue, &dev->work);
	if (congested || aftl_dev_queue_is_empty(dev))
		wake_up_all(&dev->room);
}

void aftl_dev_release_reserved_ops(struct aftl_dev *dev, u32 ops)
{
	bool congested = aftl_dev_is_congested(dev);

	lockdep_assert_held(&dev->lock);
	if (!ops)
		return;
	WRITE_ONCE(dev->claimed, dev->claimed - ops);
	aftl_dev_wake_tasks_waiting_for_room(dev, congested);
}

static struct aftl_dev_op **get_ring_chunk_entry(const struct aftl_dev *dev, u32 number)
{
	return &dev->op_chunks[number >> AFTL_DEV_CHUNK_SHIFT & dev->op_mask];
}

/* Return how many operations fit beside the ring's fixed part, the reserved ones and @ops. */
static s64 count_surplus_ops(const struct aftl_dev *dev, u32 ops)
{
	return (s64)dev->op_count - dev->op_fixed - dev->claimed - ops;
}

static void append_chunk_to_ring(struct aftl_dev *dev, struct aftl_dev_op *chunk)
{
	*get_ring_chunk_entry(dev, dev->op_end) = chunk;
	WRITE_ONCE(dev->op_end, dev->op_end + AFTL_DEV_CHUNK);
}

static bool add_new_chunk_to_ring(struct aftl_dev *dev, struct aftl_dev_op *chunk)
{
	lockdep_assert_held(&dev->lock);
	if (dev->op_count >> AFTL_DEV_CHUNK_SHIFT > dev->op_mask)
		return false;
	dev->op_count += AFTL_DEV_CHUNK;
	append_chunk_to_ring(dev, chunk);
	return true;
}

void aftl_dev_ring_advance_tail(struct aftl_dev *dev, u32 tail)
{
	u32 number = dev->tail;

	lockdep_assert_held(&dev->lock);
	WRITE_ONCE(dev->tail, tail);
	for (; (number ^ tail) >> AFTL_DEV_CHUNK_SHIFT; number += AFTL_DEV_CHUNK)
		append_chunk_to_ring(dev, *get_ring_chunk_entry(dev, number));
}

/* Allocate chunks until there is room to reserve @ops more operations; drops @lock meanwhile. */
static bool grow_ring_of_ops(struct aftl_dev *dev, u32 ops)
{
	bool room = true;

	lockdep_assert_held(&dev->lock);
	while (room && count_surplus_ops(dev, ops) < 0) {
		struct aftl_dev_op *chunk;
		bool congested;

		spin_unlock_irq(&dev->lock);
		chunk = kmalloc_node(CHUNK_BYTES, GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN,
				     dev->disk->node);
		spin_lock_irq(&dev->lock);
		/* The FTL may have filled the queue meanwhile, and tasks may wait for room. */
		congested = aftl_dev_is_congested(dev);
		room = chunk && add_new_chunk_to_ring(dev, chunk);
		if (!room)
			kfree(chunk);
		aftl_dev_wake_tasks_waiting_for_room(dev, congested);
	}
	return room;
}

bool aftl_dev_reserve_ops(struct aftl_dev *dev, u32 ops)
{
	bool room;

	spin_lock_irq(&dev->lock);
	room = grow_ring_of_ops(dev, ops);
	if (room)
		WRITE_ONCE(dev->claimed, dev->claimed + ops);
	spin_unlock_irq(&dev->lock);
	return room;
}

static bool ring_chunk_is_surplus(const struct aftl_dev *dev)
{
	u32 unused = dev->op_end - dev->head;

	return count_surplus_ops(dev, 0) > (s64)(SPARE_CHUNKS * AFTL_DEV_CHUNK) &&
	       unused >= get_max_ops_of_next_ftl_call(dev) + AFTL_DEV_CHUNK;
}

void aftl_dev_shrink_ring(struct aftl_dev *dev)
{
	spin_lock_irq(&dev->lock);
	while (ring_chunk_is_surplus(dev)) {
		struct aftl_dev_op *chunk =
			*get_ring_chunk_entry(dev, dev->op_end - AFTL_DEV_CHUNK);

		WRITE_ONCE(dev->op_end, dev->op_end - AFTL_DEV_CHUNK);
		dev->op_count -= AFTL_DEV_CHUNK;
		spin_unlock_irq(&dev->lock);
		kfree(chunk);
		spin_lock_irq(&dev->lock);
	}
	spin_unlock_irq(&dev->lock);
}

int aftl_dev_ring_init(struct aftl_dev *dev)
{
	const struct aftl_geometry *geo = aftl_volume_geometry(dev->volume);
	u64 entries = count_ring_table_entries(geo);
	bool added = true;
	u64 i;

	dev->reserve = aftl_get_max_callbacks_per_host_call(geo);
	dev->op_fixed = (u32)get_min_capacity_of_op_ring(geo);
	dev->op_mask = (u32)(entries - 1);
	dev->op_chunks = kvzalloc_node(entries * sizeof(*dev->op_chunks), GFP_KERNEL,
				       dev->disk->node);
	if (!dev->op_chunks)
		return -ENOMEM;
	for (i = 0; added && i < count_initial_ring_chunks(geo); i++) {
		struct aftl_dev_op *chunk = kmalloc_node(CHUNK_BYTES, GFP_KERNEL, dev->disk->node);

		spin_lock_irq(&dev->lock);
		added = chunk && add_new_chunk_to_ring(dev, chunk);
		spin_unlock_irq(&dev->lock);
	}
	return added ? 0 : -ENOMEM;
}

void aftl_dev_ring_exit(struct aftl_dev *dev)
{
	for (; dev->op_count; dev->op_count -= AFTL_DEV_CHUNK) {
		dev->op_end -= AFTL_DEV_CHUNK;
		kfree(*get_ring_chunk_entry(dev, dev->op_end));
	}
	kvfree(dev->op_chunks);
}

u64 aftl_dev_ring_needed_bytes(const struct aftl_geometry *geo)
{
	return count_ring_table_entries(geo) * sizeof(struct aftl_dev_op *) +
	       count_initial_ring_chunks(geo) * CHUNK_BYTES;
}

u64 aftl_dev_ring_memory_bytes(const struct aftl_dev *dev)
{
	return ((u64)dev->op_mask + 1) * sizeof(*dev->op_chunks) +
	       (u64)(READ_ONCE(dev->op_count) >> AFTL_DEV_CHUNK_SHIFT) * CHUNK_BYTES;
}
