// SPDX-License-Identifier: GPL-2.0-only
/*
 * "approxftl list" and "approxftl status".
 */
#include <stdlib.h>

#include "checked-memory.h"
#include "device-verbs.h"
#include "human-units.h"
#include "text-table.h"
#include "verbs.h"

static const char *mode_text(const struct device_view *view)
{
	if (view->device.suspended)
		return "suspended";
	return view->status.mode;
}

static void used_text(const struct target_status *status, char text[HUMAN_SIZE])
{
	human_fixed(text, scaled_ratio(status->valid_units, status->units, 1000), 1, "%");
}

/* list */

static void list_head(struct text_table *table)
{
	static const char *const titles[] = {
		"NAME", "SIZE", "STORE", "PROFILE", "POLICY", "TIMING", "MODE", "USED", "OPEN",
	};
	unsigned int i;

	text_table_begin(table, ARRAY_SIZE(titles), 7);
	text_table_row(table);
	for (i = 0; i < ARRAY_SIZE(titles); i++)
		text_table_cell(table, "%s", titles[i]);
}

static void list_row(struct text_table *table, const struct device_view *view)
{
	char size[HUMAN_SIZE], used[HUMAN_SIZE], timing[AFTL_VALUE_SIZE];

	human_bytes(size, view->device.sectors * TARGET_SECTOR);
	used_text(&view->status, used);
	target_line_timing(&view->line, timing);
	text_table_row(table);
	text_table_cell(table, "%s", view->device.name);
	text_table_cell(table, "%s", size);
	text_table_cell(table, "%s", view->line.store);
	text_table_cell(table, "%s", view->line.profile);
	text_table_cell(table, "%s", view->line.policy->name);
	text_table_cell(table, "%s", timing);
	text_table_cell(table, "%s", mode_text(view));
	text_table_cell(table, "%s", used);
	text_table_cell(table, "%u", view->device.open_count);
}

static void print_list(const struct device_options *options, const struct device_view *views,
		       unsigned int count)
{
	struct json_writer json;
	struct text_table table;
	unsigned int i;

	if (options->json) {
		json_envelope_begin(&json, stdout, options->argc, options->argv);
		json_array(&json, "devices");
		for (i = 0; i < count; i++) {
			device_json_begin(&json, &views[i]);
			json_end_object(&json);
		}
		json_end_array(&json);
		json_envelope_end(&json);
		return;
	}
	list_head(&table);
	for (i = 0; i < count; i++)
		list_row(&table, &views[i]);
	text_table_end(&table, stdout);
}

/* A device whose lines cannot be read is said, and does not hide the others. */
static enum exit_code look_at_all(const struct device_options *options,
				  const struct dm_device *devices, unsigned int count)
{
	struct device_view *views = memory_zeroed(count, sizeof(*views));
	enum exit_code code = EXIT_DONE;
	struct aftl_error error;
	unsigned int i, seen = 0;
	int ret;

	for (i = 0; i < count; i++) {
		views[seen].device = devices[i];
		ret = device_look_inside(&views[seen], &error);
		if (ret)
			code = device_failed(options, ret, &error);
		else
			seen++;
	}
	print_list(options, views, seen);
	free(views);
	return code;
}

static enum exit_code run_list(const struct device_options *options)
{
	struct dm_device *devices;
	struct aftl_error error;
	enum exit_code code;
	unsigned int count;
	int ret = dm_device_ready(&error);

	if (!ret)
		ret = dm_device_list(&devices, &count, &error);
	if (ret)
		return device_failed(options, ret, &error);
	code = look_at_all(options, devices, count);
	free(devices);
	return code;
}

static const struct device_verb verb_list = {
	.name = "list",
	.words = "",
	.options = "",
	.about = "Lists the emulated SSDs of the running kernel.",
	.run = run_list,
};

enum exit_code list_main(int argc, char **argv)
{
	return device_verb_main(&verb_list, argc, argv);
}

/* status */

static void put_bytes(struct text_table *table, const char *title, u64 bytes)
{
	char text[HUMAN_SIZE];

	human_bytes(text, bytes);
	text_table_pair(table, title, "%s", text);
}

static void put_time(struct text_table *table, const char *title, u64 ns)
{
	char text[HUMAN_SIZE];

	human_time(text, ns);
	text_table_pair(table, title, "%s", text);
}

static void put_device(struct text_table *table, const struct device_view *view)
{
	char size[HUMAN_SIZE], timing[AFTL_VALUE_SIZE];

	human_bytes(size, view->device.sectors * TARGET_SECTOR);
	target_line_timing(&view->line, timing);
	text_table_pair(table, "device", "%s (%u:%u), %s, open %u times", view->device.name,
			view->device.major, view->device.minor, size, view->device.open_count);
	text_table_pair(table, "profile", "%s, store %s, timing %s", view->line.profile,
			view->line.store, timing);
	text_table_pair(table, "policy", "%s", view->status.policy);
	text_table_pair(table, "mode", "%s", mode_text(view));
}

static void put_share(struct text_table *table, const char *title, u64 part, u64 whole,
		      const char *what)
{
	char share[HUMAN_SIZE];

	human_fixed(share, scaled_ratio(part, whole, 1000), 1, "%");
	text_table_pair(table, title, "%s: %llu of %llu %s", share, (unsigned long long)part,
			(unsigned long long)whole, what);
}

static void put_count(struct text_table *table, const char *title, u64 count, const char *what)
{
	text_table_pair(table, title, "%llu %s", (unsigned long long)count, what);
}

static void put_counts(struct text_table *table, const struct target_status *status)
{
	put_share(table, "holds data", status->valid_units, status->units, "units");
	put_share(table, "free blocks", status->free_blocks, status->blocks, "blocks");
	put_count(table, "under way", status->pending_requests, "requests");
	put_count(table, "read", status->host_read_units, "units");
	put_count(table, "written", status->host_write_units, "units");
	put_count(table, "programmed", status->programmed_units, "units");
	put_count(table, "erased", status->erased_blocks, "blocks");
	put_count(table, "gone bad", status->retired_blocks, "blocks");
	put_count(table, "flipped", status->flipped_bits, "bits");
}

static void print_status(const struct device_view *view)
{
	const struct target_status *status = &view->status;
	struct text_table table;

	text_table_begin(&table, 2, 2);
	put_device(&table, view);
	put_counts(&table, status);
	put_time(&table, "device time", status->device_ns);
	put_time(&table, "late, median", status->late_p50_ns);
	put_time(&table, "late, 99%", status->late_p99_ns);
	put_time(&table, "late, most", status->late_max_ns);
	put_bytes(&table, "memory of FTL", status->ftl_bytes);
	put_bytes(&table, "memory of data", status->data_bytes);
	text_table_end(&table, stdout);
}

static void print_status_json(const struct device_options *options, const struct device_view *view)
{
	struct json_writer json;

	json_envelope_begin(&json, stdout, options->argc, options->argv);
	json_array(&json, "devices");
	device_json_begin(&json, view);
	json_end_object(&json);
	json_end_array(&json);
	json_envelope_end(&json);
}

static enum exit_code run_status(const struct device_options *options)
{
	struct device_view view;
	struct aftl_error error;
	int ret = device_look(&view, options->words[0], &error);

	if (ret)
		return device_failed(options, ret, &error);
	if (options->json)
		print_status_json(options, &view);
	else
		print_status(&view);
	return EXIT_DONE;
}

static const struct device_verb verb_status = {
	.name = "status",
	.words = "NAME",
	.least_words = 1,
	.most_words = 1,
	.options = "",
	.about = "Prints the status of a device, in words. Counts are since the last message\n"
		 "reset.",
	.run = run_status,
};

enum exit_code status_main(int argc, char **argv)
{
	return device_verb_main(&verb_status, argc, argv);
}
