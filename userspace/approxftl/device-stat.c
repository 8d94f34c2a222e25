// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl stat": print every counter, or rates at intervals. */
#include "complain.h"
#include "device-metrics.h"
#include "device-sample.h"
#include "human-units.h"
#include "interruption.h"
#include "json-parameters.h"
#include "report.h"
#include "text-table.h"
#include "verbs.h"

#define MIB 1048576ULL
/* Number of lines of samples between two headings. */
#define HEAD_EVERY 20

/**
 * struct series - samples at intervals
 * @options: the command line
 * @view: the device
 * @interval_ns: time between two lines
 * @count: number of lines; 0: until interrupted
 * @json: JSON document of the samples
 */
struct series {
	const struct device_options *options;
	struct device_view view;
	u64 interval_ns;
	u64 count;
	struct json_writer json;
};

/* Lines */

#define CELL_WIDTH 9

static const struct list_column line_columns[] = {
	{ "host_read_requests_per_second", "r/s", "reads", true, false },
	{ "host_write_requests_per_second", "w/s", "writes", true, false },
	{ "read_mib_per_second", "rMiB/s", "MiB read", true, false },
	{ "write_mib_per_second", "wMiB/s", "MiB written", true, false },
	{ "read_response_mean_ns", "r_await", "response time of reads, on average", true, false },
	{ "write_response_mean_ns", "w_await", "the same of writes", true, false },
	{ "busy_percent", "util", "of the time, with requests under way", true, false },
	{ "write_amplification", "waf", "padding included", true, false },
	{ "array_erases_per_second", "erase/s", "blocks erased", true, false },
	{ "read_flipped_bits_per_second", "flips/s", "flipped bits, returned", true, false },
	{ "late_mean_ns", "late", "how late requests are handed back, on average", true, false },
	{ "late_p99_ns", "late99", "the same, for 99 % of them", true, false },
};

static void add_fixed_point_cell(struct text_list *line, u64 value, unsigned int decimals,
				 const char *end)
{
	char text[HUMAN_SIZE];

	format_fixed_point(text, value, decimals, end);
	list_add_number(line, value, decimals, text);
}

static void add_rate_cell(struct text_list *line, const struct sample *sample, u64 count)
{
	add_fixed_point_cell(line, sample_get_event_rate(sample, count), 1, "");
}

static void add_throughput_cell(struct text_list *line, const struct sample *sample, u64 sectors)
{
	u64 bytes = sectors * TARGET_SECTOR;

	add_fixed_point_cell(line, scaled_ratio(bytes, sample->at_ns, SECOND_NS * 100) / MIB, 2,
			     "");
}

static void add_time_cell(struct text_list *line, u64 ns)
{
	char text[HUMAN_SIZE];

	human_format_time(text, ns);
	list_add_number(line, ns, 0, text);
}

static void add_row_of_sample_rates(struct text_list *line, const struct sample *sample)
{
	const struct aftl_counters *counters = &sample->stats.counters;
	const struct block_layer *layer = &sample->layer;

	list_add_row(line);
	add_rate_cell(line, sample, counters->host_read_requests);
	add_rate_cell(line, sample, counters->host_write_requests);
	add_throughput_cell(line, sample, layer->read_sectors);
	add_throughput_cell(line, sample, layer->write_sectors);
	add_time_cell(line, scaled_ratio(layer->read_ms, layer->reads, 1000000));
	add_time_cell(line, scaled_ratio(layer->write_ms, layer->writes, 1000000));
	add_fixed_point_cell(line, sample_get_busy_permille(sample), 1, "%");
	add_fixed_point_cell(line, sim_get_write_amplification(counters, 0) / 10, 3, "");
	add_rate_cell(line, sample, counters->array_erases);
	add_rate_cell(line, sample, counters->read_flipped_bits);
	add_time_cell(line, sample_get_completion_lateness_ns(sample));
	add_time_cell(line, aftl_histogram_quantile(&sample->stats.late, 9900));
}

static bool has_placement_handle_statistics(const struct aftl_handle_stats *handle)
{
	for (unsigned int i = 0; i < AFTL_HANDLE_COUNTERS; i++)
		if (aftl_get_handle_counter(handle, i))
			return true;
	return false;
}

/* Return the number of placement handles up to the last one with a nonzero counter. */
static unsigned int count_placement_handles_in_use(const struct aftl_handle_stats *handles)
{
	unsigned int count = 1 + AFTL_HANDLES_MAX;

	while (count && !has_placement_handle_statistics(&handles[count - 1]))
		count--;
	return count;
}

/* JSON */

static void write_block_layer_json(struct json_writer *json, const struct block_layer *layer)
{
	json_begin_object(json, "block_layer");
	json_u64(json, "read_requests", layer->reads);
	json_u64(json, "read_bytes", layer->read_sectors * TARGET_SECTOR);
	json_u64(json, "read_response_ms", layer->read_ms);
	json_u64(json, "write_requests", layer->writes);
	json_u64(json, "write_bytes", layer->write_sectors * TARGET_SECTOR);
	json_u64(json, "write_response_ms", layer->write_ms);
	json_u64(json, "busy_ms", layer->busy_ms);
	json_end_object(json);
}

static void write_device_sample_json(struct json_writer *json, const struct sample *sample)
{
	const struct target_stats *stats = &sample->stats;
	const struct target_stream *streams;
	const struct aftl_histogram *late;

	json_u64(json, "device_ns", stats->device_ns);
	json_u64(json, "since_ns", stats->since_ns);
	json_u64(json, "lock_waits", stats->lock_waits);
	json_u64(json, "lock_wait_ns", stats->lock_wait_ns);
	json_decimal(json, "write_amplification", sim_get_write_amplification(&stats->counters, 0),
		     4);
	late = &stats->late;
	json_begin_object(json, "late");
	json_u64(json, "count", late->count);
	json_u64(json, "sum_ns", late->sum);
	json_u64(json, "p50_ns", aftl_histogram_quantile(late, 5000));
	json_u64(json, "p99_ns", aftl_histogram_quantile(late, 9900));
	json_u64(json, "max_ns", late->largest);
	json_end_object(json);
	write_block_layer_json(json, &sample->layer);
	json_begin_inline_array(json, "luns");
	for (unsigned int i = 0; i < sample->luns.count; i++) {
		const struct target_lun *lun = &sample->luns.list[i];

		json_begin_object(json, NULL);
		json_u64(json, "good_blocks", lun->good_blocks);
		json_u64(json, "free_blocks", lun->free_blocks);
		json_u64(json, "valid_units", lun->valid_units);
		json_u64(json, "queued", lun->queued);
		json_u64(json, "busy_ns", lun->busy_ns);
		json_u64(json, "cached_blocks", lun->cached_blocks);
		json_end_object(json);
	}
	json_end_array(json);
	streams = stats->streams;
	json_begin_object(json, "streams");
	for (unsigned int i = 0; i < AFTL_STREAMS && streams[i].name[0]; i++) {
		json_begin_object(json, streams[i].name);
		json_u64(json, "host_units", streams[i].units[0]);
		json_u64(json, "moved_units", streams[i].units[1]);
		json_end_object(json);
	}
	json_end_object(json);
	json_write_placement_handles(json, stats->handles,
				     count_placement_handles_in_use(stats->handles));
	json_write_counters(json, &stats->counters);
}

static void print_stat_line(struct series *series, const struct sample *sample, u64 number)
{
	const struct device_options *options = series->options;
	struct text_list line;

	list_begin(&line, &options->list);
	add_row_of_sample_rates(&line, sample);
	if (options->json) {
		list_write_json(&line, &series->json);
		return;
	}
	if (number % HEAD_EVERY == 0)
		list_print_head(&options->list, CELL_WIDTH, options->out);
	list_print_rows_in_fixed_width(&line, CELL_WIDTH, options->out);
}

static void print_stat_sample(struct series *series, const struct sample *sample, u64 number)
{
	if (is_json_of_all_columns_requested(series->options)) {
		json_begin_object(&series->json, NULL);
		json_u64(&series->json, "interval_ns", sample->at_ns);
		json_u64(&series->json, "device_interval_ns", sample->device_ns);
		write_device_sample_json(&series->json, sample);
		json_end_object(&series->json);
	} else {
		print_stat_line(series, sample, number);
	}
	fflush(series->options->out);
}

/* Sleep until absolute times, so that delays do not add up; a signal ends the wait. */
static int print_statistics_at_intervals(struct series *series, struct sample *before,
					 struct aftl_error *error)
{
	u64 next_ns = before->at_ns;
	struct sample now, between;
	int ret = 0;

	for (u64 number = 0; !ret && (!series->count || number < series->count); number++) {
		next_ns += series->interval_ns;
		sleep_until_sample_time(next_ns);
		if (is_stop_requested())
			break;
		ret = device_sample_take(&series->view.device, &now, error);
		if (!ret) {
			device_sample_subtract_earlier_sample(&between, &now, before);
			print_stat_sample(series, &between, number);
			device_sample_free(&between);
		}
		device_sample_free(before);
		*before = now;
	}
	return ret;
}

static void begin_sample_series_json(struct series *series)
{
	device_begin_json_of_verb(series->options, &series->json);
	if (series->options->list.chosen) {
		json_begin_array(&series->json, "rows");
		return;
	}
	json_begin_array(&series->json, "devices");
	device_begin_description_json(&series->json, &series->view);
	json_begin_array(&series->json, "samples");
}

/* Complete the JSON document even if a failure or a signal ends the series of samples. */
static enum exit_code print_sample_series(struct series *series)
{
	struct aftl_error error;
	struct sample before;
	int ret;

	interruption_catch_stop_signals();
	if (series->options->json)
		begin_sample_series_json(series);
	ret = device_sample_take(&series->view.device, &before, &error);
	if (!ret)
		ret = print_statistics_at_intervals(series, &before, &error);
	device_sample_free(&before);
	if (series->options->json) {
		json_end_array(&series->json);
		if (!series->options->list.chosen) {
			json_end_object(&series->json);
			json_end_array(&series->json);
		}
		json_bool(&series->json, "interrupted", is_stop_requested());
		json_envelope_end(&series->json);
	}
	if (ret)
		return report_device_failure(series->options, ret, &error);
	return is_stop_requested() ? EXIT_INTERRUPTED : EXIT_DONE;
}

/* All counters, once */

static void print_unit_rows_of_stream(struct text_table *table, const struct target_stream *stream)
{
	static const char *const words[] = { "", ", moved" };

	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++) {
		text_table_add_row(table);
		text_table_add_cell(table, "units of stream %s%s", stream->name, words[i]);
		text_table_add_cell(table, "%llu", (unsigned long long)stream->units[i]);
	}
}

static void print_placement_handle_row(struct text_table *table,
				       const struct aftl_handle_stats *handles,
				       unsigned int handle)
{
	for (unsigned int i = 0; i < AFTL_HANDLE_COUNTERS; i++) {
		text_table_add_row(table);
		text_table_add_cell(table, "handle %u, %s", handle,
				    aftl_handle_counter_info[i].name);
		text_table_add_cell(table, "%llu", (unsigned long long)
				    aftl_get_handle_counter(&handles[handle], i));
	}
}

static void print_total_statistics_json(struct series *series, const struct sample *sample)
{
	device_begin_json_of_verb(series->options, &series->json);
	json_begin_array(&series->json, "devices");
	device_begin_description_json(&series->json, &series->view);
	write_device_sample_json(&series->json, sample);
	json_end_object(&series->json);
	json_end_array(&series->json);
	json_envelope_end(&series->json);
}

static enum exit_code print_totals_of_device(struct series *series)
{
	struct aftl_error error;
	struct sample sample;
	int ret = device_sample_take(&series->view.device, &sample, &error);

	if (!ret && series->options->json) {
		print_total_statistics_json(series, &sample);
	} else if (!ret) {
		const struct target_stats *stats = &sample.stats;
		struct text_table table;
		char text[HUMAN_SIZE];

		text_table_begin(&table, 3, 1);
		for (unsigned int i = 0; i < AFTL_COUNTERS; i++)
			table_add_titled_value(&table, aftl_counter_info[i].name, "%llu",
					       (unsigned long long)
						       aftl_counter_get(&stats->counters, i));
		for (unsigned int i = 0; i < AFTL_STREAMS && stats->streams[i].name[0]; i++)
			print_unit_rows_of_stream(&table, &stats->streams[i]);
		for (unsigned int i = 0; i < count_placement_handles_in_use(stats->handles); i++)
			print_placement_handle_row(&table, stats->handles, i);
		format_fixed_point(text, sim_get_write_amplification(&stats->counters, 0), 4, "");
		table_add_titled_value(&table, "write amplification", "%s", text);
		human_format_time(text, sample_get_completion_lateness_ns(&sample));
		table_add_titled_value(&table, "late, mean", "%s", text);
		human_format_time(text, aftl_histogram_quantile(&stats->late, 9900));
		table_add_titled_value(&table, "late, 99%", "%s", text);
		text_table_print_and_free(&table, stdout);
	}
	device_sample_free(&sample);
	return ret ? report_device_failure(series->options, ret, &error) : EXIT_DONE;
}

/* Command line */

static int parse_stat_options(struct series *series, struct aftl_error *error)
{
	const struct device_options *options = series->options;
	int ret = 0;

	if (options->count && !options->interval)
		return aftl_fail(error, -EINVAL, "--count needs --interval");
	if (options->show && !options->interval)
		return aftl_fail(error, -EINVAL, "--show needs --interval");
	if (!options->prometheus && !options->word_count)
		return aftl_fail(error, -EINVAL,
				 "NAME missing; \"approxftl stat --help\" explains it");
	if (options->prometheus && (options->interval || options->json))
		return aftl_fail(error, -EINVAL, "--prometheus excludes --interval and --json");
	if (options->interval)
		ret = parse_sample_interval_option(options->interval, &series->interval_ns, error);
	if (!ret && options->count)
		ret = parse_sample_count_option(options->count, &series->count, error);
	return ret;
}

static enum exit_code run_device_stat(const struct device_options *options)
{
	struct series series = { .options = options };
	struct aftl_error error;
	int ret;

	if (parse_stat_options(&series, &error))
		return report_command_failure(options->verb, &error, EXIT_USAGE);
	if (options->prometheus)
		return metrics_print(options);
	ret = device_view_find_and_read(&series.view, options->words[0], &error);
	if (ret)
		return report_device_failure(options, ret, &error);
	return options->interval ? print_sample_series(&series) : print_totals_of_device(&series);
}

const struct device_verb verb_stat = {
	.name = "stat",
	.words = "NAME",
	.least_words = 0,
	.most_words = 1,
	.options = "icM",
	.series = true,
	.columns = line_columns,
	.column_count = ARRAY_SIZE(line_columns),
	.about = "Prints every counter of a device since the last message reset. With --interval\n"
		 "it prints a line of rates after each, until Ctrl-C or --count ends it. With\n"
		 "--prometheus and without NAME it prints the counters of all devices.",
	.run = run_device_stat,
};
