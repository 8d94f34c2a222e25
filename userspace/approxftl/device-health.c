// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl health": print wear, errors and a verdict. */
#include <stdlib.h>

#include "health-verdict.h"
#include "human-units.h"
#include "report.h"
#include "text-table.h"
#include "verbs.h"

/* Number of blocks that one message asks for; the target reports as many as fit into its buffer. */
#define BLOCKS_AT_ONCE 10000

static int query_block_states(const struct dm_device *device, struct block_states *survey,
			      u32 *next, u32 count, struct aftl_error *error)
{
	char message[60];
	char *answer;
	int ret;

	scnprintf(message, sizeof(message), "blocks %u %u", *next, count);
	ret = dm_device_message(device, message, &answer, error);
	if (ret)
		return ret;
	ret = parse_block_list_reply(survey, answer, next, error);
	free(answer);
	return ret;
}

static int query_all_block_states(const struct dm_device *device, struct health *health,
				  struct aftl_error *error)
{
	u32 count = (u32)min(health->status.blocks, (u64)BLOCKS_AT_ONCE);
	u32 next = 0;
	int ret;

	do {
		ret = query_block_states(device, &health->survey, &next, count, error);
	} while (!ret && next && health->survey.blocks < health->status.blocks);
	return ret;
}

static int query_lost_unit_ranges(const struct dm_device *device, struct lost_runs *runs,
				  struct aftl_error *error)
{
	char *answer;
	int ret = dm_device_message(device, "lost 0", &answer, error);

	if (ret)
		return ret;
	parse_lost_units_reply(runs, answer);
	free(answer);
	return 0;
}

static int examine_device_health(const struct device_options *options, struct device_view *view,
				 struct health *health, struct lost_runs *runs,
				 struct aftl_error *error)
{
	struct target_stats stats;
	int ret = device_view_find_and_read(view, options->words[0], error);

	if (!ret)
		ret = device_read_stats(&view->device, &stats, error);
	if (ret)
		return ret;
	*health = (struct health){
		.status = view->status,
		.counters = stats.counters,
		.endurance = view->line.config.endurance,
	};
	ret = query_all_block_states(&view->device, health, error);
	if (!ret && health->status.lost_units)
		ret = query_lost_unit_ranges(&view->device, runs, error);
	if (!ret)
		health_judge_device(health);
	return ret;
}

/* Tables */

static void add_health_rows_about_blocks(struct text_table *table, const struct health *health)
{
	char mean[HUMAN_SIZE], used[HUMAN_SIZE], wear[HUMAN_SIZE];
	const struct block_states *survey = &health->survey;
	u64 good = block_states_count_good_blocks(survey);

	table_add_titled_value(table, "blocks", "%llu, %llu free, %llu bad",
			       (unsigned long long)survey->blocks,
			       (unsigned long long)health->status.free_blocks,
			       (unsigned long long)survey->bad);
	table_add_titled_value(table, "gone bad in use", "%llu blocks",
			       (unsigned long long)health->counters.retired_blocks);
	format_fixed_point(mean, scaled_ratio(survey->erases_sum, good, 10), 1, "");
	table_add_titled_value(table, "erases of a block",
			       "%llu at least, %s on average, %llu at most",
			       (unsigned long long)survey->erases_min, mean,
			       (unsigned long long)survey->erases_max);
	format_fixed_point(wear, scaled_ratio(survey->wear_sum, good, 1), 4, "");
	table_add_titled_value(table, "wear of a block", "%s full erases on average", wear);
	format_fixed_point(used, health_compute_used_endurance(health), 2, "%");
	if (health->endurance)
		table_add_titled_value(table, "endurance", "%s of %llu erases used", used,
				       (unsigned long long)health->endurance);
	else
		table_add_titled_value(table, "endurance", "without end; endurance=N sets one");
}

static void print_health_report(const struct device_view *view, const struct health *health,
				const struct lost_runs *runs)
{
	struct text_table table;
	char size[HUMAN_SIZE];
	const struct aftl_counters *counters;
	char text[HUMAN_SIZE];

	human_format_bytes(size, view->device.sectors * TARGET_SECTOR);
	text_table_begin(&table, 2, 2);
	table_add_titled_value(&table, "device", "%s, %s, profile %s, policy %s", view->device.name,
			       size, view->line.profile, health->status.policy);
	table_add_titled_value(&table, "mode", "%s", health->status.mode);
	add_health_rows_about_blocks(&table, health);
	counters = &health->counters;
	format_fixed_point(text, sim_get_write_amplification(counters, 0), 4, "");
	table_add_titled_value(&table, "write amplification", "%s", text);
	table_add_titled_value(&table, "errors corrected", "%llu bits, %llu further sensing levels",
			       (unsigned long long)counters->read_corrected_bits,
			       (unsigned long long)counters->read_retry_levels);
	table_add_titled_value(&table, "errors returned", "%llu bits in approximate data",
			       (unsigned long long)counters->read_flipped_bits);
	table_add_titled_value(&table, "lost", "%llu units when read, %llu when moved",
			       (unsigned long long)counters->read_lost_units,
			       (unsigned long long)counters->moved_lost_units);
	table_add_titled_value(&table, "failed requests", "%llu",
			       (unsigned long long)counters->host_failed_requests);
	text_table_print_and_free(&table, stdout);
	printf("verdict: %s\n", health_verdict_words[health->verdict]);
	for (unsigned int i = 0; i < health->reason_count; i++)
		printf("  %s\n", health->reasons[i]);
	for (unsigned int i = 0; i < runs->count; i++)
		printf("  lost: %llu units from unit %llu on\n", runs->units[i], runs->first[i]);
	if (runs->count == LOST_RUNS_LISTED)
		printf("  perhaps more: dmsetup message NAME 0 lost %llu\n",
		       runs->first[runs->count - 1] + runs->units[runs->count - 1]);
}

/* JSON */

static void write_blocks_json(struct json_writer *json, const struct health *health)
{
	const struct block_states *survey = &health->survey;
	u64 good = block_states_count_good_blocks(survey);

	json_begin_object(json, "blocks");
	json_u64(json, "total", survey->blocks);
	json_u64(json, "free", health->status.free_blocks);
	json_u64(json, "bad", survey->bad);
	json_u64(json, "retired", health->counters.retired_blocks);
	json_u64(json, "erases_min", survey->erases_min);
	json_decimal(json, "erases_mean", scaled_ratio(survey->erases_sum, good, 10000), 4);
	json_u64(json, "erases_max", survey->erases_max);
	json_decimal(json, "wear_mean", scaled_ratio(survey->wear_sum, good, 1), 4);
	json_u64(json, "endurance", health->endurance);
	json_decimal(json, "endurance_used_percent", health_compute_used_endurance(health), 2);
	json_end_object(json);
}

static void print_health_json(const struct device_options *options,
			      const struct device_view *view, const struct health *health,
			      const struct lost_runs *runs)
{
	struct json_writer json;
	const struct aftl_counters *counters;

	device_begin_json_of_verb(options, &json);
	json_begin_array(&json, "devices");
	device_begin_description_json(&json, view);
	json_string(&json, "verdict", health_verdict_words[health->verdict]);
	json_begin_array(&json, "reasons");
	for (unsigned int i = 0; i < health->reason_count; i++)
		json_string(&json, NULL, health->reasons[i]);
	json_end_array(&json);
	json_decimal(&json, "write_amplification",
		     sim_get_write_amplification(&health->counters, 0), 4);
	write_blocks_json(&json, health);
	counters = &health->counters;
	json_begin_object(&json, "errors");
	json_u64(&json, "read_corrected_bits", counters->read_corrected_bits);
	json_u64(&json, "read_retry_levels", counters->read_retry_levels);
	json_u64(&json, "read_flipped_bits", counters->read_flipped_bits);
	json_u64(&json, "read_lost_units", counters->read_lost_units);
	json_u64(&json, "moved_lost_units", counters->moved_lost_units);
	json_u64(&json, "host_failed_requests", counters->host_failed_requests);
	json_u64(&json, "policy_bugs", counters->policy_bugs);
	json_end_object(&json);
	json_begin_array(&json, "lost");
	for (unsigned int i = 0; i < runs->count; i++) {
		json_begin_object(&json, NULL);
		json_u64(&json, "unit", runs->first[i]);
		json_u64(&json, "units", runs->units[i]);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	json_end_array(&json);
	json_envelope_end(&json);
}

static enum exit_code run_device_health(const struct device_options *options)
{
	static const enum exit_code codes[] = {
		[HEALTH_GOOD] = EXIT_DONE,
		[HEALTH_ATTENTION] = EXIT_FAILED,
		[HEALTH_FAILED] = EXIT_NOT_VERIFIED,
	};
	struct lost_runs runs = { .count = 0 };
	struct device_view view;
	struct aftl_error error;
	struct health health;
	int ret = examine_device_health(options, &view, &health, &runs, &error);

	if (ret)
		return report_device_failure(options, ret, &error);
	if (options->json)
		print_health_json(options, &view, &health, &runs);
	else
		print_health_report(&view, &health, &runs);
	return codes[health.verdict];
}

const struct device_verb verb_health = {
	.name = "health",
	.words = "NAME",
	.least_words = 1,
	.most_words = 1,
	.options = "",
	.about = "Prints wear, bad blocks, errors and a verdict. Exit status: 0 good, 1 it needs\n"
		 "attention, 4 it is read-only, 3 there is no such device.",
	.run = run_device_health,
};
