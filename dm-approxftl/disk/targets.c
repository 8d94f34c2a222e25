// SPDX-License-Identifier: GPL-2.0-only
/* List of all targets and of their mapped devices. */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "disk/targets.h"

LIST_HEAD(aftl_targets);
static LIST_HEAD(all_mapped);
DEFINE_MUTEX(aftl_targets_lock); /* protects aftl_targets, all_mapped and all ownership */
DECLARE_WAIT_QUEUE_HEAD(aftl_data_settled);

static struct aftl_mapped *find_ownership_of_device(const struct mapped_device *md)
{
	struct aftl_mapped *mapped;

	list_for_each_entry(mapped, &all_mapped, list)
		if (mapped->md == md)
			return mapped;
	return NULL;
}

int aftl_target_register(struct aftl_target *target)
{
	struct mapped_device *md = dm_table_get_md(target->ti->table);
	struct aftl_mapped *first = kzalloc(sizeof(*first), GFP_KERNEL);

	if (!first)
		return -ENOMEM;
	mutex_lock(&aftl_targets_lock);
	target->mapped = find_ownership_of_device(md);
	if (!target->mapped) {
		first->md = md;
		list_add(&first->list, &all_mapped);
		swap(target->mapped, first);
	}
	aftl_table_register(&target->table, &target->mapped->own);
	list_add(&target->list, &aftl_targets);
	mutex_unlock(&aftl_targets_lock);
	kfree(first);
	return 0;
}

struct aftl_device *aftl_target_unregister(struct aftl_target *target)
{
	struct aftl_mapped *mapped = target->mapped;
	struct aftl_device *data;

	mutex_lock(&aftl_targets_lock);
	list_del(&target->list);
	if (mapped->own.owner == &target->table)
		aftl_target_copy_table_properties(target, &mapped->line);
	mutex_lock(&target->gate);
	data = aftl_table_end_free(&target->table);
	mutex_unlock(&target->gate);
	if (!mapped->own.tables) {
		list_del(&mapped->list);
		kfree(mapped);
	}
	mutex_unlock(&aftl_targets_lock);
	wake_up_all(&aftl_data_settled);
	return data;
}

void aftl_target_copy_table_properties(const struct aftl_target *target, struct aftl_line *line)
{
	line->options = target->options;
	line->unit_bytes = target->shards.geo.unit_bytes;
	line->zones = target->shards.geo.zones;
	line->sectors = target->ti->len;
}

void aftl_call_fn_on_each_target(aftl_target_fn fn, void *data)
{
	struct aftl_target *target;

	if (mutex_lock_killable(&aftl_targets_lock))
		return;
	list_for_each_entry(target, &aftl_targets, list)
		if (target->table.device)
			fn(target, data);
	mutex_unlock(&aftl_targets_lock);
}

static dev_t get_target_device_number(const struct aftl_target *target)
{
	return disk_devt(dm_disk(dm_table_get_md(target->ti->table)));
}

/*
 * Call @fn if the target is live or suspended. Returns -EAGAIN while it is being suspended or
 * resumed, -ENODEV if it has no data.
 */
static int call_fn_if_target_owns_data(struct aftl_target *target, aftl_target_fn fn, void *data)
{
	int ret = target->table.state == AFTL_TABLE_RESUMING ? -EAGAIN : -ENODEV;

	if (!mutex_trylock(&target->gate))
		return -EAGAIN;
	if (target->table.device)
		ret = fn(target, data);
	mutex_unlock(&target->gate);
	return ret;
}

static int try_call_fn_on_target_of_device(dev_t dev, aftl_target_fn fn, void *data)
{
	struct aftl_target *target;
	int ret = -ENODEV;

	if (mutex_lock_killable(&aftl_targets_lock))
		return -EINTR;
	list_for_each_entry(target, &aftl_targets, list) {
		if (get_target_device_number(target) == dev)
			ret = call_fn_if_target_owns_data(target, fn, data);
		if (ret != -ENODEV)
			break;
	}
	mutex_unlock(&aftl_targets_lock);
	return ret;
}

/*
 * The holder of a target's gate (a mutex) may wait for I/O of the device below. If that is also an
 * approxftl device, its resume needs aftl_targets_lock. So never wait for a gate under that lock,
 * and start no I/O for memory allocations under the locks.
 */
int aftl_call_fn_on_target_of_device(dev_t dev, aftl_target_fn fn, void *data)
{
	unsigned int flags = memalloc_noio_save();
	int ret = try_call_fn_on_target_of_device(dev, fn, data);

	while (ret == -EAGAIN && !fatal_signal_pending(current)) {
		schedule_timeout_killable(1);
		ret = try_call_fn_on_target_of_device(dev, fn, data);
	}
	memalloc_noio_restore(flags);
	return ret == -EAGAIN ? -EINTR : ret;
}
