// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>

#include "disk/disks.h"

static struct aftl_device *new_device(const struct aftl_options *options, struct aftl_error *error)
{
	struct aftl_device *device = kzalloc(struct_size(device, disks, options->config.shards),
					     GFP_KERNEL);
	int ret = -ENOMEM;

	if (!device)
		aftl_fail(error, ret, "not enough memory for a device");
	else
		ret = aftl_shards_init(&device->shards, &options->config, error);
	if (ret) {
		kfree(device);
		return ERR_PTR(ret);
	}
	device->unit_shift = ilog2(device->shards.geo.unit_bytes >> SECTOR_SHIFT);
	aftl_ranges_init(&device->tags);
	return device;
}

static int create_disks(struct aftl_device *device, const struct aftl_options *options,
			struct aftl_error *error)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < device->shards.count; i++)
		ret = aftl_disk_create(&device->disks[i], options, i, error);
	return ret;
}

int aftl_device_create(struct aftl_device **out, const struct aftl_options *options,
		       struct aftl_error *error)
{
	struct aftl_device *device = new_device(options, error);
	int ret;

	if (IS_ERR(device))
		return PTR_ERR(device);
	ret = create_disks(device, options, error);
	if (ret)
		aftl_device_destroy(device);
	else
		*out = device;
	return ret;
}

/* Where there are several, the sentence says which one has failed. */
static int blame_disk(const struct aftl_device *device, u32 index, int ret,
		      const struct aftl_error *cause, struct aftl_error *error)
{
	if (ret && device->shards.count == 1)
		*error = *cause;
	else if (ret)
		aftl_fail(error, ret, "shard %u: %.220s", index, cause->text);
	return ret;
}

static int open_disk(struct aftl_device *device, u32 index, const struct aftl_options *options,
		     struct block_device *bdev, struct aftl_error *error)
{
	struct aftl_disk **disks = device->disks;
	struct aftl_error cause;
	int ret = aftl_disk_open(&disks[index], options, index, bdev, index ? disks[0] : NULL,
				 &cause);

	return blame_disk(device, index, ret, &cause, error);
}

static int open_disks(struct aftl_device *device, const struct aftl_options *options,
		      struct block_device *bdev, struct aftl_error *error)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < device->shards.count; i++)
		ret = open_disk(device, i, options, bdev, error);
	return ret;
}

int aftl_device_open(struct aftl_device **out, const struct aftl_options *options,
		     struct block_device *bdev, struct aftl_error *error)
{
	struct aftl_device *device = new_device(options, error);
	int ret;

	if (IS_ERR(device))
		return PTR_ERR(device);
	ret = open_disks(device, options, bdev, error);
	if (ret)
		aftl_device_destroy(device);
	else
		*out = device;
	return ret;
}

int aftl_device_begin(struct aftl_device *device, const struct aftl_config *config,
		      struct aftl_error *error)
{
	struct aftl_error cause;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < device->shards.count; i++) {
		ret = aftl_disk_begin(device->disks[i], config, &cause);
		ret = blame_disk(device, i, ret, &cause, error);
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

static void drop_tags(struct aftl_device *device)
{
	if (device->tags.count)
		atomic_dec(&aftl_tags_in_use);
	aftl_ranges_destroy(&device->tags);
}

void aftl_device_destroy(struct aftl_device *device)
{
	u32 i;

	if (!device)
		return;
	drop_tags(device);
	for (i = device->shards.count; i; i--)
		aftl_disk_destroy(device->disks[i - 1]);
	kfree(device);
}
