// SPDX-License-Identifier: GPL-2.0-only
/*
 * Growth of the ring of operations, while other tasks use the queue.
 *
 * aftl_dev_reserve_ops() drops the lock of the queue to allocate memory. The test's kmalloc_node()
 * then does what another task may do meanwhile: it lets the FTL queue operations.
 */
#include <stdlib.h>

#include "store/ring.c"

/* kmalloc_node() calls this function, which stands for another task; NULL: no task runs. */
static void (*meanwhile)(void);

void *kmalloc_node(size_t bytes, int gfp, int node)
{
	(void)gfp;
	(void)node;
	if (meanwhile)
		meanwhile();
	return malloc(bytes);
}

static struct aftl_volume volume;
static struct aftl_disk disk;
static struct aftl_dev dev;

/* Create a ring whose memory is reserved, except for one operation. */
static void init_full_ring(void)
{
	struct aftl_config config;
	struct aftl_error error;

	meanwhile = NULL;
	CHECK(!aftl_profile_load(&config, "demo", &error));
	config.buffer_safe = true;
	CHECK(!aftl_geometry_init(&volume.geo, &config, &error));
	dev = (struct aftl_dev){ .disk = &disk, .volume = &volume };
	CHECK(!aftl_dev_ring_init(&dev));
	CHECK(count_surplus_ops(&dev, 1) >= 0);
	CHECK(aftl_dev_reserve_ops(&dev, (u32)count_surplus_ops(&dev, 1)));
	CHECK_EQ(dev.op_end, dev.op_count);
}

/* The FTL queues one operation too many, and a submitter sleeps until the queue has room. */
static void fill_queue_and_wait_for_room(void)
{
	CHECK(!dev.lock);
	dev.head = dev.op_end - get_max_ops_of_next_ftl_call(&dev) + 1;
	dev.work = 0;
	dev.room = aftl_dev_is_congested(&dev);
	CHECK(dev.room);
	meanwhile = NULL;
}

TAP_TEST(growth_wakes_tasks_that_came_meanwhile,
	 "growth of the ring wakes tasks that began to wait meanwhile")
{
	init_full_ring();
	CHECK(!aftl_dev_is_congested(&dev));
	meanwhile = fill_queue_and_wait_for_room;
	CHECK(aftl_dev_reserve_ops(&dev, AFTL_DEV_UNIT_OPS));
	CHECK(!meanwhile);
	CHECK(!aftl_dev_is_congested(&dev));
	CHECK_MSG(!dev.room, "the queue has room, and a task sleeps until it has");
	CHECK_MSG(dev.work, "the queue has room, and device time stands still");
	aftl_dev_ring_exit(&dev);
}
