// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads from the block device that are in flight, counted by block.
 *
 * The FTL may erase a block, and soon overwrite it, while the block device still reads it. Before
 * that the worker waits for the reads of this block, and for no others, because the block layer may
 * throttle the reads of a cgroup. Each block has two counters: new reads take the one that the
 * worker does not wait for, so that it does not wait forever where a page is programmed again.
 *
 * The counters are under @lock of struct aftl_dev.
 */
#include <linux/mm.h>

#include "store/dev.h"

static size_t compute_reader_table_bytes(const struct aftl_geometry *geo)
{
	return geo->blocks * sizeof(struct aftl_dev_readers);
}

u64 aftl_dev_readers_needed_bytes(const struct aftl_geometry *geo)
{
	return compute_reader_table_bytes(geo);
}

int aftl_dev_readers_init(struct aftl_dev *dev)
{
	init_waitqueue_head(&dev->no_readers);
	dev->readers =
		kvzalloc(compute_reader_table_bytes(aftl_volume_geometry(dev->volume)), GFP_KERNEL);
	return dev->readers ? 0 : -ENOMEM;
}

void aftl_dev_readers_exit(struct aftl_dev *dev)
{
	kvfree(dev->readers);
}

void aftl_dev_begin_block_read(struct aftl_dev *dev, struct aftl_dev_fetch *fetch, aftl_ppn_t ppn)
{
	lockdep_assert_held(&dev->lock);
	fetch->block = from_ppn(ppn) / aftl_volume_geometry(dev->volume)->block_ppns;
	fetch->epoch = dev->readers[fetch->block].epoch;
	dev->readers[fetch->block].count[fetch->epoch]++;
}

void aftl_dev_end_block_read(struct aftl_dev *dev, const struct aftl_dev_fetch *fetch)
{
	spin_lock_irq(&dev->lock);
	if (!--dev->readers[fetch->block].count[fetch->epoch])
		wake_up_all(&dev->no_readers);
	spin_unlock_irq(&dev->lock);
}

void aftl_dev_wait_for_readers(struct aftl_dev *dev, u32 block)
{
	struct aftl_dev_readers *readers = &dev->readers[block];
	u32 epoch;

	spin_lock_irq(&dev->lock);
	epoch = readers->epoch;
	readers->epoch = !epoch;
	wait_event_lock_irq(dev->no_readers, !readers->count[epoch], dev->lock);
	spin_unlock_irq(&dev->lock);
}
