// SPDX-License-Identifier: GPL-2.0-only
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "block-stack.h"

#define SECTOR 512

/* Maximum number of stacked block devices, so that a device that contains itself is detected. */
#define LEVELS_MAX 16

/**
 * struct descent - context of find_emulated_devices()
 * @take: receives each range of an emulated SSD
 * @context: for @take
 */
struct descent {
	int (*take)(void *context, const struct dm_device *device,
		    const struct device_range *range, struct aftl_error *error);
	void *context;
};

/* Read the first line of attribute @name in the device's directory of sysfs. */
static bool read_sysfs_attribute_of_block_device(const struct device_range *range, const char *name,
						 char *text, size_t size)
{
	char path[80];
	FILE *file;
	bool found;

	scnprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s", range->major, range->minor, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	found = fgets(text, (int)size, file);
	fclose(file);
	text[found ? strcspn(text, "\n") : 0] = '\0';
	return found;
}

static bool read_sysfs_device_number(const struct device_range *range, const char *name,
				     u64 *number)
{
	unsigned long long value;
	char text[40];

	if (!read_sysfs_attribute_of_block_device(range, name, text, sizeof(text)) ||
	    sscanf(text, "%llu", &value) != 1)
		return false;
	*number = value;
	return true;
}

/* Translate a byte range of a partition to the byte range of the whole disk. */
static bool map_partition_to_disk(struct device_range *range)
{
	u64 start;
	char text[40];

	if (!read_sysfs_device_number(range, "start", &start) ||
	    !read_sysfs_attribute_of_block_device(range, "../dev", text, sizeof(text)) ||
	    sscanf(text, "%u:%u", &range->major, &range->minor) != 2)
		return false;
	range->offset += start * SECTOR;
	return true;
}

/* Translate a byte range of a loop device to that of the block device that backs it. */
static bool map_loop_to_backing_device(struct device_range *range)
{
	char path[4096];
	struct stat found;
	u64 offset;

	if (!read_sysfs_device_number(range, "loop/offset", &offset) ||
	    !read_sysfs_attribute_of_block_device(range, "loop/backing_file", path, sizeof(path)) ||
	    stat(path, &found) || !S_ISBLK(found.st_mode))
		return false;
	range->major = major(found.st_rdev);
	range->minor = minor(found.st_rdev);
	range->offset += offset;
	return true;
}

/* Map @range through a linear target. Return: 1, 0 if the target is not linear, or an error. */
static int map_range_through_linear_target(struct device_range *range, const char *name,
					   struct aftl_error *error)
{
	u64 sector = range->offset / SECTOR, sectors;
	int ret = dm_device_map_sector_to_lower_device(name, &sector, &sectors, &range->major,
						       &range->minor, error);

	if (ret <= 0)
		return ret;
	range->length = min(range->length, sectors * SECTOR - range->offset % SECTOR);
	range->offset = sector * SECTOR + range->offset % SECTOR;
	return 1;
}

/* Map @range to the emulated SSD below, shortened to a part that is contiguous on the SSD. */
static int map_range_to_emulated_device(struct device_range *range, struct dm_device *device,
					struct aftl_error *error)
{
	struct aftl_error unused;
	char name[DM_DEVICE_NAME];
	int ret;

	for (unsigned int i = 0; i < LEVELS_MAX; i++) {
		if (!read_sysfs_attribute_of_block_device(range, "dm/name", name, sizeof(name))) {
			if (map_partition_to_disk(range) || map_loop_to_backing_device(range))
				continue;
			break;
		}
		ret = dm_device_find_by_name(device, name, &unused);
		if (ret != -ENXIO)
			return ret ? aftl_fail(error, ret, "%s", unused.text) : 0;
		ret = map_range_through_linear_target(range, name, error);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
	}
	return aftl_fail(error, -EINVAL,
			 "block device %u:%u below is no emulated SSD, and no partition, dm-linear device or loop device on one",
			 range->major, range->minor);
}

static int find_emulated_devices(void *context, const struct device_range *range,
				 struct aftl_error *error)
{
	const struct descent *descent = context;
	struct device_range rest = *range;
	int ret = 0;

	while (!ret && rest.length) {
		struct device_range below = rest;
		struct dm_device device;

		ret = map_range_to_emulated_device(&below, &device, error);
		if (!ret)
			ret = descent->take(descent->context, &device, &below, error);
		rest.offset += below.length;
		rest.length -= below.length;
	}
	return ret;
}

int block_stack_locate_file(const char *path, u64 offset, u64 length,
			    int (*take)(void *context, const struct dm_device *device,
					const struct device_range *range,
					struct aftl_error *error),
			    void *context, struct aftl_error *error)
{
	struct descent descent = { take, context };

	return file_extents_locate_bytes(path, offset, length, find_emulated_devices, &descent,
					 error);
}
