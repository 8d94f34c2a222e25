// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "core/persist/snapshot.h"
#include "reload.h"

/**
 * struct saved - snapshot of a device in memory
 * @bytes: the snapshot
 * @room: allocated bytes
 * @used: written bytes
 * @taken: read bytes
 */
struct saved {
	u8 *bytes;
	size_t room;
	size_t used;
	size_t taken;
};

static int append_snapshot_bytes(void *host, const void *data, size_t bytes)
{
	struct saved *saved = host;

	if (saved->used + bytes > saved->room) {
		saved->room = 2 * (saved->used + bytes);
		saved->bytes = memory_resize(saved->bytes, saved->room, 1);
	}
	memcpy(saved->bytes + saved->used, data, bytes);
	saved->used += bytes;
	return 0;
}

static int read_snapshot_bytes_from_memory(void *host, void *data, size_t bytes)
{
	struct saved *saved = host;

	if (saved->taken + bytes > saved->used)
		return -EIO;
	memcpy(data, saved->bytes + saved->taken, bytes);
	saved->taken += bytes;
	return 0;
}

static int save_snapshot_to_memory(struct aftl *ftl, void *to, struct aftl_error *error)
{
	struct saved *saved = to;
	const struct aftl_snapshot_sink sink = { .write = append_snapshot_bytes, .host = saved };

	saved->used = 0;
	return aftl_save(ftl, &sink, error);
}

int sim_drive_apply_device_change(struct sim_drive *drive, const struct sim_change *change,
				  const struct aftl_host_ops *ops, void *host,
				  struct aftl_error *error)
{
	struct aftl_config config = *aftl_config(drive->ftl);
	struct saved saved = { .bytes = NULL };
	const struct aftl_snapshot_source source = { .read = read_snapshot_bytes_from_memory,
						     .host = &saved };
	struct aftl *ftl;
	int ret = change->policy ? 0 : aftl_param_set(&config, change->key, change->value, error);

	if (!ret && !strcmp(change->key, "age")) {
		aftl_advance_age(drive->ftl, config.age);
		return 0;
	}
	if (!ret)
		ret = sim_drive_flush_and_save_snapshot(drive, save_snapshot_to_memory, &saved,
							error);
	if (!ret)
		ret = aftl_load_with_policy_and_params(&ftl, &source, change->policy, &config, ops,
						       host, error);
	if (!ret) {
		aftl_destroy(drive->ftl);
		drive->ftl = ftl;
		drive->geo = aftl_geometry(ftl);
	}
	free(saved.bytes);
	return ret;
}
