// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl list" and "approxftl status": print devices and their state. */
#include <stdlib.h>

#include "checked-memory.h"
#include "human-units.h"
#include "text-table.h"
#include "verbs.h"

static const char *get_access_mode_of_device(const struct device_view *view)
{
	if (view->device.suspended)
		return "suspended";
	return view->status.mode;
}

/* Return the share of the device that holds data, in 1/1000. */
static u64 compute_used_permille_of_device(const struct target_status *status)
{
	return scaled_ratio(status->valid_units, status->units, 1000);
}

/* list */

static const struct list_column list_columns[] = {
	{ "name", "NAME", "of the device", false, false },
	{ "size_bytes", "SIZE", "what a file system has", true, false },
	{ "store", "STORE", "where the data live", false, false },
	{ "profile", "PROFILE", "the device it started from", false, false },
	{ "policy", "POLICY", "flash translation policy", false, false },
	{ "timing", "TIMING", "time as modelled, none, or so many times as long", false, false },
	{ "mode", "MODE", "rw, ro when there are too few good blocks, or suspended", false, false },
	{ "used_percent", "USED", "units that hold data", true, false },
	{ "open_count", "OPEN", "how often it is open", true, false },
	{ "major", "MAJOR", "of the device number", true, true },
	{ "minor", "MINOR", "of the device number", true, true },
	{ "free_blocks", "FREE", "blocks that are erased, or can be", true, true },
	{ "retired_blocks", "RETIRED", "blocks that went bad in use", true, true },
	{ "read_flipped_bits", "FLIPS", "bits flipped in what was returned", true, true },
	{ "lost_units", "LOST", "units lost to the block device below or a fault", true, true },
	{ "late_p99_ns", "LATE99", "lateness of completions, 99 % of them", true, true },
};

static void add_device_row(struct text_list *list, const struct device_view *view)
{
	u64 bytes = view->device.sectors * TARGET_SECTOR;
	char size[HUMAN_SIZE], used[HUMAN_SIZE], timing[AFTL_VALUE_SIZE];
	char late[HUMAN_SIZE];

	human_format_bytes(size, bytes);
	format_fixed_point(used, compute_used_permille_of_device(&view->status), 1, "%");
	target_line_format_timing(&view->line, timing);
	list_add_row(list);
	list_add_text(list, "%s", view->device.name);
	list_add_number(list, bytes, 0, size);
	list_add_text(list, "%s", view->line.store);
	list_add_text(list, "%s", view->line.profile);
	list_add_text(list, "%s", view->line.policy->name);
	list_add_text(list, "%s", timing);
	list_add_text(list, "%s", get_access_mode_of_device(view));
	list_add_number(list, compute_used_permille_of_device(&view->status), 1, used);
	list_add_number(list, view->device.open_count, 0, NULL);
	list_add_number(list, view->device.major, 0, NULL);
	list_add_number(list, view->device.minor, 0, NULL);
	list_add_number(list, view->status.free_blocks, 0, NULL);
	list_add_number(list, view->status.retired_blocks, 0, NULL);
	list_add_number(list, view->status.read_flipped_bits, 0, NULL);
	list_add_number(list, view->status.lost_units, 0, NULL);
	human_format_time(late, view->status.late_p99_ns);
	list_add_number(list, view->status.late_p99_ns, 0, late);
}

static void print_device_list_json(const struct device_options *options,
				   const struct device_view *views, unsigned int count)
{
	struct json_writer json;

	device_begin_json_of_verb(options, &json);
	json_begin_array(&json, "devices");
	for (unsigned int i = 0; i < count; i++) {
		device_begin_description_json(&json, &views[i]);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_envelope_end(&json);
}

static void print_device_list(const struct device_options *options, const struct device_view *views,
			      unsigned int count)
{
	struct text_list list;

	if (is_json_of_all_columns_requested(options)) {
		print_device_list_json(options, views, count);
		return;
	}
	list_begin(&list, &options->list);
	for (unsigned int i = 0; i < count; i++)
		add_device_row(&list, &views[i]);
	device_print_list_or_json(options, &list);
}

/* Report a device whose table or status line cannot be parsed, and list the others. */
static enum exit_code list_all_readable_devices(const struct device_options *options,
						const struct dm_device *devices, unsigned int count)
{
	struct device_view *views = memory_alloc_zeroed(count, sizeof(*views));
	enum exit_code code = EXIT_DONE;
	struct aftl_error error;
	unsigned int i, seen = 0;
	int ret;

	for (i = 0; i < count; i++) {
		views[seen].device = devices[i];
		ret = device_view_read_table_and_status(&views[seen], &error);
		if (ret)
			code = report_device_failure(options, ret, &error);
		else
			seen++;
	}
	print_device_list(options, views, seen);
	free(views);
	return code;
}

static enum exit_code run_device_list(const struct device_options *options)
{
	struct dm_device *devices;
	struct aftl_error error;
	enum exit_code code;
	unsigned int count;
	int ret = check_device_mapper_ready(&error);

	if (!ret)
		ret = dm_device_list(&devices, &count, &error);
	if (ret)
		return report_device_failure(options, ret, &error);
	code = list_all_readable_devices(options, devices, count);
	free(devices);
	return code;
}

const struct device_verb verb_list = {
	.name = "list",
	.words = "",
	.options = "",
	.columns = list_columns,
	.column_count = ARRAY_SIZE(list_columns),
	.about = "Lists the emulated SSDs of the running kernel.",
	.run = run_device_list,
};

/* status */

static void add_status_bytes_row(struct text_table *table, const char *title, u64 bytes)
{
	char text[HUMAN_SIZE];

	human_format_bytes(text, bytes);
	table_add_titled_value(table, title, "%s", text);
}

static void add_status_time_row(struct text_table *table, const char *title, u64 ns)
{
	char text[HUMAN_SIZE];

	human_format_time(text, ns);
	table_add_titled_value(table, title, "%s", text);
}

static void add_status_percentage_row(struct text_table *table, const char *title, u64 part,
				      u64 whole, const char *what)
{
	char share[HUMAN_SIZE];

	format_fixed_point(share, scaled_ratio(part, whole, 1000), 1, "%");
	table_add_titled_value(table, title, "%s: %llu of %llu %s", share, (unsigned long long)part,
			       (unsigned long long)whole, what);
}

static void add_status_count_row(struct text_table *table, const char *title, u64 count,
				 const char *what)
{
	table_add_titled_value(table, title, "%llu %s", (unsigned long long)count, what);
}

static void print_device_status(const struct device_view *view)
{
	const struct target_status *status = &view->status;
	struct text_table table;
	char size[HUMAN_SIZE], timing[AFTL_VALUE_SIZE];

	text_table_begin(&table, 2, 2);
	human_format_bytes(size, view->device.sectors * TARGET_SECTOR);
	target_line_format_timing(&view->line, timing);
	table_add_titled_value(&table, "device", "%s (%u:%u), %s, open %u times", view->device.name,
			       view->device.major, view->device.minor, size,
			       view->device.open_count);
	table_add_titled_value(&table, "profile", "%s, store %s, timing %s", view->line.profile,
			       view->line.store, timing);
	table_add_titled_value(&table, "policy", "%s", view->status.policy);
	table_add_titled_value(&table, "mode", "%s", get_access_mode_of_device(view));
	add_status_percentage_row(&table, "holds data", status->valid_units, status->units,
				  "units");
	add_status_percentage_row(&table, "free blocks", status->free_blocks, status->blocks,
				  "blocks");
	add_status_count_row(&table, "under way", status->pending_requests, "requests");
	add_status_count_row(&table, "read", status->host_read_units, "units");
	add_status_count_row(&table, "written", status->host_write_units, "units");
	add_status_count_row(&table, "programmed", status->programmed_units, "units");
	add_status_count_row(&table, "erased", status->array_erases, "blocks");
	add_status_count_row(&table, "gone bad", status->retired_blocks, "blocks");
	add_status_count_row(&table, "flipped", status->read_flipped_bits, "bits");
	add_status_time_row(&table, "device time", status->device_ns);
	add_status_time_row(&table, "late, median", status->late_p50_ns);
	add_status_time_row(&table, "late, 99%", status->late_p99_ns);
	add_status_time_row(&table, "late, most", status->late_max_ns);
	add_status_bytes_row(&table, "memory of FTL", status->ftl_bytes);
	add_status_bytes_row(&table, "memory of data", status->data_bytes);
	text_table_print_and_free(&table, stdout);
}

static enum exit_code run_device_status(const struct device_options *options)
{
	struct device_view view;
	struct aftl_error error;
	int ret = device_view_find_and_read(&view, options->words[0], &error);

	if (ret)
		return report_device_failure(options, ret, &error);
	if (options->json)
		print_device_list_json(options, &view, 1);
	else
		print_device_status(&view);
	return EXIT_DONE;
}

const struct device_verb verb_status = {
	.name = "status",
	.words = "NAME",
	.least_words = 1,
	.most_words = 1,
	.options = "",
	.about = "Prints the status of a device with descriptions. Counts are since the last\n"
		 "message reset.",
	.run = run_device_status,
};
