// SPDX-License-Identifier: GPL-2.0-only
/* Query table, status and statistics of a device. */
#include <stdlib.h>

#include "device-verbs.h"
#include "report.h"

static int read_table_line(struct device_view *view, struct aftl_error *error)
{
	char *text;
	int ret = dm_device_get_table_or_status(view->device.name, DM_DEVICE_TEXT_TABLE, &text,
						error);

	if (ret)
		return ret;
	ret = target_line_parse(&view->line, text, error);
	free(text);
	return ret;
}

static int read_status_line(struct device_view *view, struct aftl_error *error)
{
	char *text;
	int ret = dm_device_get_table_or_status(view->device.name, DM_DEVICE_TEXT_STATUS, &text,
						error);

	if (ret)
		return ret;
	ret = target_status_parse(&view->status, text, error);
	free(text);
	return ret;
}

int device_view_read_table_and_status(struct device_view *view, struct aftl_error *error)
{
	int ret = read_table_line(view, error);

	return ret ? ret : read_status_line(view, error);
}

int device_view_find_and_read(struct device_view *view, const char *name, struct aftl_error *error)
{
	int ret = check_device_mapper_ready(error);

	if (!ret)
		ret = dm_device_find_by_name(&view->device, name, error);
	return ret ? ret : device_view_read_table_and_status(view, error);
}

int device_read_stats(const struct dm_device *device, struct target_stats *stats,
		      struct aftl_error *error)
{
	char *answer;
	int ret = dm_device_message(device, "stats", &answer, error);

	if (ret)
		return ret;
	ret = target_stats_parse(stats, answer, error);
	free(answer);
	return ret;
}

int device_read_luns(const struct dm_device *device, struct target_luns *luns,
		     struct aftl_error *error)
{
	char *answer;
	int ret = dm_device_message(device, "luns", &answer, error);

	if (ret)
		return ret;
	ret = target_luns_parse(luns, answer, error);
	free(answer);
	return ret;
}

static void write_status_json(struct json_writer *json, const struct target_status *status)
{
	json_begin_object(json, "status");
#define STATUS_TEXT(name, help) json_string(json, #name, status->name);
#define STATUS_NUMBER(name, help) json_u64(json, #name, status->name);
#define STATUS_PAIR(part, whole, help) \
	json_u64(json, #part, status->part); json_u64(json, #whole, status->whole);
#include "target/status-table.h"
#undef STATUS_TEXT
#undef STATUS_NUMBER
#undef STATUS_PAIR
	json_end_object(json);
}

void device_begin_description_json(struct json_writer *json, const struct device_view *view)
{
	char timing[AFTL_VALUE_SIZE];

	target_line_format_timing(&view->line, timing);
	json_begin_object(json, NULL);
	json_string(json, "name", view->device.name);
	json_u64(json, "major", view->device.major);
	json_u64(json, "minor", view->device.minor);
	json_u64(json, "size_bytes", view->device.sectors * TARGET_SECTOR);
	json_u64(json, "open_count", view->device.open_count);
	json_bool(json, "suspended", view->device.suspended);
	json_bool(json, "deferred_remove", view->device.deferred);
	json_string(json, "store", view->line.store);
	json_string(json, "profile", view->line.profile);
	json_string(json, "policy", view->line.policy->name);
	json_string(json, "timing", timing);
	write_status_json(json, &view->status);
}
