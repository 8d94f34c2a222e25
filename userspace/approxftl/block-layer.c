// SPDX-License-Identifier: GPL-2.0-only
#include "block-layer.h"

int block_layer_get_io_counts(const struct dm_device *device, struct block_layer *counts,
			      struct aftl_error *error)
{
	unsigned long long n[10] = { 0 };
	char path[64];
	FILE *stat;
	int found;

	scnprintf(path, sizeof(path), "/sys/dev/block/%u:%u/stat", device->major, device->minor);
	stat = fopen(path, "re");
	if (!stat)
		return aftl_fail(error, -ENXIO, "device %.60s was removed meanwhile", device->name);
	found = fscanf(stat, "%llu %llu %llu %llu %llu %llu %llu %llu %llu %llu", &n[0], &n[1],
		       &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8], &n[9]);
	fclose(stat);
	if (found != 10)
		return aftl_fail(error, -EIO, "%.60s does not have the 10 numbers that are needed",
				 path);
	*counts = (struct block_layer){ n[0], n[2], n[3], n[4], n[6], n[7], n[9] };
	return 0;
}

void block_layer_subtract_earlier_counts(struct block_layer *now, const struct block_layer *before)
{
	now->reads -= before->reads;
	now->read_sectors -= before->read_sectors;
	now->read_ms -= before->read_ms;
	now->writes -= before->writes;
	now->write_sectors -= before->write_sectors;
	now->write_ms -= before->write_ms;
	now->busy_ms -= before->busy_ms;
}
