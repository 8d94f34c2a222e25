// SPDX-License-Identifier: GPL-2.0-only
/*
 * All targets.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "disk/targets.h"

LIST_HEAD(aftl_targets);
DEFINE_MUTEX(aftl_targets_lock); /* of the list */

/* Is it the one of its device's tables that takes requests? */
static bool in_use(const struct aftl_target *target)
{
	return READ_ONCE(target->resumed) && READ_ONCE(target->device);
}

void aftl_target_each(aftl_target_fn fn, void *data)
{
	struct aftl_target *target;

	if (mutex_lock_killable(&aftl_targets_lock))
		return;
	list_for_each_entry(target, &aftl_targets, list)
		if (in_use(target))
			fn(target, data);
	mutex_unlock(&aftl_targets_lock);
}

static dev_t number_of(const struct aftl_target *target)
{
	return disk_devt(dm_disk(dm_table_get_md(target->ti->table)));
}

/* Returns -EAGAIN while it is being suspended or resumed. */
static int visit(struct aftl_target *target, aftl_target_fn fn, void *data)
{
	int ret = -ENODEV;

	if (!mutex_trylock(&target->gate))
		return -EAGAIN;
	if (in_use(target))
		ret = fn(target, data);
	mutex_unlock(&target->gate);
	return ret;
}

static int try_visit(dev_t dev, aftl_target_fn fn, void *data)
{
	struct aftl_target *target;
	int ret = -ENODEV;

	if (mutex_lock_killable(&aftl_targets_lock))
		return -EINTR;
	list_for_each_entry(target, &aftl_targets, list) {
		if (number_of(target) == dev)
			ret = visit(target, fn, data);
		if (ret != -ENODEV)
			break;
	}
	mutex_unlock(&aftl_targets_lock);
	return ret;
}

/*
 * Whoever holds a gate may wait for I/O of the device below; if that is one of ours, too, it
 * needs the lock to be resumed. So no gate is waited for under the lock.
 */
int aftl_target_visit(dev_t dev, aftl_target_fn fn, void *data)
{
	unsigned int flags = memalloc_noio_save(); /* resuming needs these locks */
	int ret = try_visit(dev, fn, data);

	while (ret == -EAGAIN && !fatal_signal_pending(current)) {
		schedule_timeout_killable(1);
		ret = try_visit(dev, fn, data);
	}
	memalloc_noio_restore(flags);
	return ret == -EAGAIN ? -EINTR : ret;
}
