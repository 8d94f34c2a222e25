// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads from the block device that are under way.
 *
 * A slot may be erased in the model, and soon be written over, while it is still being read:
 * before that the queue waits for all reads of the block. It waits for no other reads, because a
 * cgroup may be throttled below. Each block has two counters of reads, so that new reads, of a
 * page that is programmed once more, do not make the queue wait for ever.
 */
#include <linux/mm.h>

#include "store/dev.h"

static size_t table_bytes(const struct aftl_geometry *geo)
{
	return geo->blocks * sizeof(struct aftl_dev_readers);
}

u64 aftl_dev_readers_need(const struct aftl_geometry *geo)
{
	return table_bytes(geo);
}

int aftl_dev_readers_init(struct aftl_dev *dev)
{
	init_waitqueue_head(&dev->no_readers);
	dev->readers = kvzalloc(table_bytes(aftl_volume_geometry(dev->volume)), GFP_KERNEL);
	return dev->readers ? 0 : -ENOMEM;
}

void aftl_dev_readers_exit(struct aftl_dev *dev)
{
	kvfree(dev->readers);
}

void aftl_dev_add_reader(struct aftl_dev *dev, struct aftl_dev_fetch *fetch, aftl_ppn_t ppn)
{
	lockdep_assert_held(&dev->lock);
	fetch->block = from_ppn(ppn) / aftl_volume_geometry(dev->volume)->block_ppns;
	fetch->epoch = dev->readers[fetch->block].epoch;
	dev->readers[fetch->block].count[fetch->epoch]++;
}

void aftl_dev_drop_reader(struct aftl_dev *dev, const struct aftl_dev_fetch *fetch)
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
