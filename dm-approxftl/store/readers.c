// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who reads from the block device.
 *
 * A slot may be erased in the model, and soon be written over, while it is still being
 * read: before that the queue waits for all readers that were there. There are two
 * counters of them, so that new ones do not make it wait for ever.
 */
#include "store/dev.h"

void aftl_dev_readers_init(struct aftl_dev *dev)
{
	init_waitqueue_head(&dev->no_readers);
}

void aftl_dev_add_reader(struct aftl_dev *dev, struct aftl_dev_fetch *fetch)
{
	lockdep_assert_held(&dev->lock);
	fetch->epoch = dev->epoch;
	dev->readers[fetch->epoch]++;
}

void aftl_dev_drop_reader(struct aftl_dev *dev, const struct aftl_dev_fetch *fetch)
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
