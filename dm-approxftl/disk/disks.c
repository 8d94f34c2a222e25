// SPDX-License-Identifier: GPL-2.0-only
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "disk/disks.h"

/**
 * struct aftl_shard_task - long operation on one disk, run in parallel with those of other disks
 * @work: work item that calls @act
 * @act: the operation
 * @device: device of the disk
 * @disk: disk that it works on
 * @first: disk of shard 0; NULL for shard 0 itself
 * @options: parsed table line of the whole device
 * @bdev: block device of the volumes; NULL for disks in memory
 * @maker: task that waits for it; a fatal signal to that task ends the operation
 * @noio: allocate memory without I/O, because @maker must
 * @ret: result
 * @error: message if it failed
 */
struct aftl_shard_task {
	struct work_struct work;
	void (*act)(struct aftl_shard_task *task);
	struct aftl_device *device;
	struct aftl_disk *disk;
	const struct aftl_disk *first;
	const struct aftl_options *options;
	struct block_device *bdev;
	struct task_struct *maker;
	bool noio;
	int ret;
	struct aftl_error error;
};

static void handle_work_item_of_shard_task(struct work_struct *work)
{
	struct aftl_shard_task *task = container_of(work, struct aftl_shard_task, work);
	unsigned int flags = task->noio ? memalloc_noio_save() : 0;

	task->disk->maker = task->maker;
	task->act(task);
	task->disk->maker = NULL;
	if (task->noio)
		memalloc_noio_restore(flags);
	if (atomic_dec_and_test(&task->device->at_work))
		complete(&task->device->done);
}

/*
 * Wait for the tasks of all shards, but wake up regularly: the hung-task detector reports tasks
 * that sleep uninterruptibly for minutes.
 */
static void wait_for_shard_tasks(struct aftl_device *device)
{
	while (!wait_for_completion_timeout(&device->done, HZ / 2))
		;
}

/*
 * Run @act on the disks from @first on and wait for all. The calls run in parallel, because each
 * also waits for the block device. A fatal signal to the calling task ends them.
 */
static void run_shard_tasks_in_parallel(struct aftl_device *device, u32 first,
					void (*act)(struct aftl_shard_task *task))
{
	u32 i;

	reinit_completion(&device->done);
	atomic_set(&device->at_work, device->shards.count - first);
	for (i = first; i < device->shards.count; i++) {
		struct aftl_shard_task *task = &device->tasks[i];

		task->act = act;
		task->maker = current;
		task->noio = current->flags & PF_MEMALLOC_NOIO;
		if (device->workers)
			queue_work(device->workers, &task->work);
		else
			act(task);
	}
	if (device->workers)
		wait_for_shard_tasks(device);
}

static void free_device_and_its_disks(struct aftl_device *device)
{
	u32 i;

	for (i = device->shards.count; device->tasks && i; i--)
		aftl_disk_destroy(device->disks[i - 1]);
	if (device->workers)
		destroy_workqueue(device->workers);
	kvfree(device->tasks);
	kfree(device);
}

/* Allocate the disks, without FTL and store, their tasks, and the workqueue. */
static int alloc_device_disks(struct aftl_device *device, const struct aftl_options *options)
{
	u32 count = device->shards.count;
	u32 i;

	init_completion(&device->done);
	device->tasks = kvcalloc(count, sizeof(*device->tasks), GFP_KERNEL);
	if (count > 1)
		device->workers = alloc_workqueue("aftl_shards", WQ_UNBOUND | WQ_MEM_RECLAIM,
						  count);
	if (!device->tasks || (count > 1 && !device->workers))
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		struct aftl_shard_task *task = &device->tasks[i];

		device->disks[i] = aftl_disk_new(options, i);
		if (!device->disks[i])
			return -ENOMEM;
		INIT_WORK(&task->work, handle_work_item_of_shard_task);
		task->device = device;
		task->disk = device->disks[i];
		task->first = i ? device->disks[0] : NULL;
		task->options = options;
	}
	return 0;
}

int aftl_device_alloc(struct aftl_device **out, const struct aftl_options *options,
		      struct aftl_error *error)
{
	struct aftl_device *device = kzalloc(struct_size(device, disks, options->config.shards),
					     GFP_KERNEL);
	int ret;

	aftl_fail(error, -ENOMEM, "not enough memory for a device");
	if (!device)
		return -ENOMEM;
	ret = aftl_shards_init(&device->shards, &options->config, error);
	if (!ret)
		ret = alloc_device_disks(device, options);
	if (ret) {
		free_device_and_its_disks(device);
		return ret;
	}
	device->unit_shift = ilog2(device->shards.geo.unit_bytes >> SECTOR_SHIFT);
	aftl_tagged_ranges_init_tree(&device->tags);
	*out = device;
	return 0;
}

/* Copy the message of a failed disk; name the shard if a block device holds several shards. */
static int set_error_with_shard_number(const struct aftl_device *device, u32 index, int ret,
				       const struct aftl_error *cause, struct aftl_error *error)
{
	if (ret && (device->shards.count == 1 || !device->tasks[index].bdev))
		*error = *cause;
	else if (ret)
		aftl_fail(error, ret, "shard %u: %.220s", index, cause->text);
	return ret;
}

static void run_disk_create_task(struct aftl_shard_task *task)
{
	task->ret = aftl_disk_create(task->disk, task->options, &task->error);
}

static void run_disk_precondition_task(struct aftl_shard_task *task)
{
	task->ret = aftl_disk_precondition(task->disk, &task->error);
}

static void run_disk_open_task(struct aftl_shard_task *task)
{
	task->ret = aftl_disk_open(task->disk, task->options, task->bdev, task->first,
				   &task->error);
}

/* Return the result and the message of the first disk that has failed. */
static int find_first_failed_disk(const struct aftl_device *device, struct aftl_error *error)
{
	const struct aftl_shard_task *task = device->tasks;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < device->shards.count; i++, task++)
		ret = set_error_with_shard_number(device, i, task->ret, &task->error, error);
	return ret;
}

/* Create disks one after the other, so that each checks the memory that earlier ones have left. */
static int create_disks_one_by_one(struct aftl_device *device, struct aftl_error *error)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < device->shards.count; i++) {
		run_disk_create_task(&device->tasks[i]);
		ret = find_first_failed_disk(device, error);
	}
	if (ret)
		return ret;
	run_shard_tasks_in_parallel(device, 0, run_disk_precondition_task);
	return find_first_failed_disk(device, error);
}

/*
 * Open shard 0 first: its volume header locates the other shards, and its FTL tells what memory
 * each needs.
 */
int aftl_device_open(struct aftl_device *device, struct block_device *bdev,
		     struct aftl_error *error)
{
	const struct aftl_shard_task *first = device->tasks;
	int ret;
	u32 i;

	for (i = 0; i < device->shards.count; i++)
		device->tasks[i].bdev = bdev;
	run_disk_open_task(device->tasks);
	ret = find_first_failed_disk(device, error);
	if (!ret)
		ret = aftl_disk_check_memory_for_shards(first->disk, first->options, error);
	if (ret)
		return ret;
	run_shard_tasks_in_parallel(device, 1, run_disk_open_task);
	return find_first_failed_disk(device, error);
}

int aftl_device_create(struct aftl_device **out, const struct aftl_options *options,
		       struct aftl_error *error)
{
	struct aftl_device *device;
	int ret = aftl_device_alloc(&device, options, error);

	if (ret)
		return ret;
	ret = create_disks_one_by_one(device, error);
	if (ret)
		aftl_device_destroy(device);
	else
		*out = device;
	return ret;
}

int aftl_device_begin_use(struct aftl_device *device, const struct aftl_config *config,
			  struct aftl_error *error)
{
	struct aftl_error cause;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < device->shards.count; i++) {
		ret = aftl_disk_mark_in_use(device->disks[i], config, &cause);
		ret = set_error_with_shard_number(device, i, ret, &cause, error);
	}
	return ret;
}

void aftl_device_start(struct aftl_device *device, struct dm_table *table)
{
	aftl_each_disk(disk, device)
		aftl_disk_start(*disk, table);
}

void aftl_device_stop(struct aftl_device *device)
{
	u32 i;

	for (i = device->shards.count; i; i--)
		aftl_disk_stop(device->disks[i - 1]);
}

void aftl_device_drain_write_buffers(struct aftl_device *device)
{
	aftl_each_disk(disk, device)
		aftl_disk_drain_write_buffer(*disk);
}

/**
 * struct aftl_counts - counters of a device since the last reset
 * @policy: policy of the device
 * @disks: number of disks
 * @disk: counters of each disk
 */
struct aftl_counts {
	const struct aftl_policy_type *policy;
	u32 disks;
	struct disk_counts {
		struct aftl_stats stats;
		struct aftl_histogram late;
		u64 now_ns;
		u64 lock_waits;
		u64 lock_wait_ns;
		u64 handovers;
	} disk[];
};

struct aftl_counts *aftl_device_save_counters(const struct aftl_device *device)
{
	u32 disks = device->shards.count;
	struct aftl_counts *counts = kvzalloc(struct_size(counts, disk, disks), GFP_KERNEL);
	u32 i;

	if (!counts)
		return NULL;
	counts->policy = aftl_policy_type(device->disks[0]->ftl);
	counts->disks = disks;
	for (i = 0; i < disks; i++) {
		const struct aftl_disk *disk = device->disks[i];

		counts->disk[i].stats = *aftl_get_stats(disk->ftl);
		counts->disk[i].late = disk->late;
		counts->disk[i].now_ns = aftl_device_time_ns(disk->ftl);
		counts->disk[i].lock_waits = disk->lock_waits;
		counts->disk[i].lock_wait_ns = disk->lock_wait_ns;
		counts->disk[i].handovers = disk->handovers;
	}
	return counts;
}

/*
 * Add the counters saved before a reload to the disks of the new device. With fewer disks than
 * before, a disk takes the counters of several.
 */
void aftl_device_restore_counters(struct aftl_device *device, const struct aftl_counts *counts)
{
	u32 i;

	for (i = 0; i < counts->disks; i++) {
		const struct disk_counts *before = &counts->disk[i];
		struct aftl_disk *disk = device->disks[i % device->shards.count];

		aftl_restore_stats(disk->ftl, &before->stats, before->now_ns,
				   counts->policy == aftl_policy_type(disk->ftl));
		aftl_histogram_merge(&disk->late, &before->late);
		disk->lock_waits += before->lock_waits;
		disk->lock_wait_ns += before->lock_wait_ns;
		disk->handovers += before->handovers;
	}
}

static void drop_device_tags(struct aftl_device *device)
{
	if (device->tags.count)
		atomic_dec(&aftl_tags_in_use);
	aftl_tagged_ranges_destroy(&device->tags);
}

static void run_disk_close_task(struct aftl_shard_task *task)
{
	aftl_disk_close(task->disk);
}

void aftl_device_destroy(struct aftl_device *device)
{
	if (!device)
		return;
	drop_device_tags(device);
	aftl_device_stop(device);
	run_shard_tasks_in_parallel(device, 0, run_disk_close_task);
	free_device_and_its_disks(device);
}
