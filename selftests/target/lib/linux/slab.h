/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stands in for the headers of the kernel and of the durable store: it has what store/ring.c uses
 * of them. The test that includes store/ring.c defines kmalloc_node().
 */
#ifndef LINUX_SLAB_H
#define LINUX_SLAB_H

#include <stdlib.h>

#include "core/ftl/ftl.h"
#include "core/persist/volume-private.h"
#include "tap.h"

/* store/disk-types.h and store/dev.h, which need many headers of the kernel */
#define AFTL_STORE_DISK_TYPES_H
#define AFTL_STORE_DEV_H

#define AFTL_DEV_CHUNK_SHIFT 6
#define AFTL_DEV_CHUNK BIT(AFTL_DEV_CHUNK_SHIFT)
#define AFTL_DEV_UNIT_OPS 2

struct aftl_dev_op {
	u32 number;
};

struct aftl_disk {
	int node;
	struct {
		int queue;
	} workers;
};

struct aftl_dev {
	struct aftl_disk *disk;
	struct aftl_volume *volume;
	u32 reserve;
	int lock;
	struct aftl_dev_op **op_chunks;
	u32 op_mask;
	u32 op_fixed;
	u32 op_count;
	u32 op_end;
	u32 claimed;
	int releases;
	u32 head;
	u32 tail;
	int flushes;
	int room;
	int work;
};

bool aftl_dev_is_congested(const struct aftl_dev *dev);
bool aftl_dev_queue_is_empty(const struct aftl_dev *dev);
void aftl_dev_wake_tasks_waiting_for_room(struct aftl_dev *dev, bool congested);
void aftl_dev_release_reserved_ops(struct aftl_dev *dev, u32 ops);
void aftl_dev_ring_advance_tail(struct aftl_dev *dev, u32 tail);
bool __must_check aftl_dev_reserve_ops(struct aftl_dev *dev, u32 ops);
void aftl_dev_shrink_ring(struct aftl_dev *dev);
int __must_check aftl_dev_ring_init(struct aftl_dev *dev);
void aftl_dev_ring_exit(struct aftl_dev *dev);
u64 aftl_dev_ring_needed_bytes(const struct aftl_geometry *geo);
u64 aftl_dev_ring_memory_bytes(const struct aftl_dev *dev);

void *kmalloc_node(size_t bytes, int gfp, int node);

#define GFP_KERNEL 0
#define GFP_NOIO 0
#define __GFP_NORETRY 0
#define __GFP_NOWARN 0
#define READ_ONCE(value) (value)
#define WRITE_ONCE(variable, value) ((variable) = (value))
#define DIV_ROUND_UP_ULL(n, d) DIV_ROUND_UP(n, d)
#define roundup_pow_of_two(n) (1ULL << fls64((n) - 1))
#define list_empty(list) (!*(list))
#define lockdep_assert_held(lock) CHECK(*(lock))
#define spin_lock_irq(lock) (*(lock) = 1)
#define spin_unlock_irq(lock) (*(lock) = 0)
#define kvzalloc_node(bytes, gfp, node) calloc(1, bytes)
#define kvfree(memory) free(memory)
#define kfree(memory) free(memory)
#define wake_up_all(room) (*(room) = 0)
#define queue_work(queue, work) (*(work) = 1)

#endif
