// SPDX-License-Identifier: GPL-2.0-only
/*
 * Report the result as a table: a line for each quantity, a column for each policy and, for each
 * further policy, its ratio to the first policy.
 */
#include "quantiles.h"
#include "report.h"
#include "shares.h"
#include "starting-state.h"
#include "text-table.h"

enum unit {
	UNIT_NUMBER,
	UNIT_TIME,
	UNIT_QUANTILE,
	UNIT_FIXED4,
	UNIT_PERCENT,
	UNIT_ENERGY,
	UNIT_BYTES,
	UNIT_RATE,
};

/**
 * struct line - a line of the table
 * @title: title for the user
 * @value: returns the value of a run
 * @unit: format of the value
 * @argument: second argument of @value
 */
struct line {
	const char *title;
	u64 (*value)(const struct sim_result *result, u32 argument);
	enum unit unit;
	u32 argument;
};

/* Values as text */

static void format_energy(char text[HUMAN_SIZE], u64 pj)
{
	if (pj < 1000000000)
		human_format_scaled_number(text, pj, 1000000, "uJ");
	else if (pj < 1000000000000ULL)
		human_format_scaled_number(text, pj, 1000000000, "mJ");
	else
		human_format_scaled_number(text, pj, 1000000000000ULL, "J ");
}

static void format_table_value(char text[HUMAN_SIZE], enum unit unit, u64 value)
{
	switch (unit) {
	case UNIT_TIME:
		human_format_time(text, value);
		break;
	case UNIT_QUANTILE:
		format_quantile(text, value);
		break;
	case UNIT_FIXED4:
		format_fixed_point(text, value, 4, "");
		break;
	case UNIT_PERCENT:
		format_fixed_point(text, value, 2, "% ");
		break;
	case UNIT_ENERGY:
		format_energy(text, value);
		break;
	case UNIT_BYTES:
		human_format_bytes(text, value);
		break;
	case UNIT_RATE:
		scnprintf(text, HUMAN_SIZE, "%llu/s", (unsigned long long)value);
		break;
	default:
		scnprintf(text, HUMAN_SIZE, "%llu", (unsigned long long)value);
	}
}

/* Values of a run */

static u64 get_counter_of_result(const struct sim_result *result, u32 index)
{
	return aftl_counter_get(&result->stats.counters, index);
}

#define COUNTER_AT(name) (offsetof(struct aftl_counters, name) / sizeof(u64))

static u64 get_u64_result_field(const struct sim_result *result, u32 offset)
{
	return *(const u64 *)((const char *)result + offset);
}

#define NUMBER_AT(name) offsetof(struct sim_result, name)

static u64 compute_request_rate(const struct sim_result *result, u32 unused __maybe_unused)
{
	return scaled_ratio(result->requests, result->elapsed_ns, 1000000000);
}

static u64 compute_mean_time_of_requests(const struct sim_result *result, u32 timing)
{
	const struct aftl_histogram *histogram = sim_get_timing_histogram(result, timing);

	return scaled_ratio(histogram->sum, histogram->count, 1);
}

static u64 get_quantile_of_time_distribution(const struct sim_result *result, u32 timing_and_share)
{
	return get_histogram_quantile_ns(sim_get_timing_histogram(result, timing_and_share >> 16),
					 timing_and_share & 0xffff);
}

static u64 get_maximum_of_time_distribution(const struct sim_result *result, u32 timing)
{
	return sim_get_timing_histogram(result, timing)->largest;
}

static u64 compute_mean_waiting_time(const struct sim_result *result, u32 response)
{
	const struct aftl_histogram *histogram = sim_get_timing_histogram(result, response);
	u64 service = sim_get_timing_histogram(result, response + 1)->sum;

	return scaled_ratio(histogram->sum - min(service, histogram->sum), histogram->count, 1);
}

static u64 get_write_amplification_of_result(const struct sim_result *result,
					     u32 unused __maybe_unused)
{
	return sim_get_write_amplification(&result->stats.counters, result->geo.unit_bytes);
}

static u64 get_write_amplification_by_cause(const struct sim_result *result, u32 cause)
{
	return sim_get_write_amplification_by_cause(&result->stats.counters, cause,
						    result->geo.unit_bytes);
}

/* Return the share of the units programmed for the host that went to the SLC cache. */
static u64 compute_slc_cache_write_share(const struct sim_result *result, u32 unused __maybe_unused)
{
	const struct aftl_counters *counters = &result->stats.counters;

	return scaled_ratio(counters->cached_host_units, counters->programmed_host_units, 10000);
}

static u64 compute_cmt_miss_ratio(const struct sim_result *result, u32 unused __maybe_unused)
{
	const struct aftl_counters *counters = &result->stats.counters;

	return scaled_ratio(counters->map_misses, counters->map_lookups, 10000);
}

/* Return the number of SLC cache blocks at the end of the run. */
static u64 count_slc_cache_blocks(const struct sim_result *result, u32 unused __maybe_unused)
{
	u64 blocks = 0;
	u32 i;

	for (i = 0; i < result->geo.luns; i++)
		blocks += result->luns[i].cached_blocks;
	return blocks;
}

static u64 compute_mean_utilisation(const struct sim_result *result, u32 unused __maybe_unused)
{
	u64 busy_ns = 0;
	u32 i;

	for (i = 0; i < result->geo.luns; i++)
		busy_ns += result->luns[i].busy_ns;
	return scaled_ratio(busy_ns, result->elapsed_ns * result->geo.luns, 10000);
}

static u64 compute_mean_erases(const struct sim_result *result, u32 unused __maybe_unused)
{
	return scaled_ratio(result->erases.sum, result->erases.count, 10000);
}

static u64 compute_mean_wear(const struct sim_result *result, u32 unused __maybe_unused)
{
	return scaled_ratio(result->wear.sum, result->wear.count, 1);
}

static u64 compute_lifetime_factor(const struct sim_result *result, u32 unused __maybe_unused)
{
	const struct aftl_counters *counters = &result->stats.counters;

	return scaled_ratio(counters->array_erases * SIM_FULL_WEAR, counters->wear_sum, 10000);
}

static u64 get_page_count_of_program_mode(const struct sim_result *result, u32 mode)
{
	return result->stats.mode_pages[mode];
}

static u64 get_page_count_of_data_class(const struct sim_result *result, u32 class)
{
	return result->stats.class_pages[class];
}

/* Return RAID counter @index (such as parity units) per unit that the host wrote, in 1/10000. */
static u64 compute_raid_counter_per_host_unit(const struct sim_result *result, u32 index)
{
	const u64 *counters = (const u64 *)&result->raid.counters;

	return scaled_ratio(counters[index], result->stats.counters.host_write_units, 10000);
}

/* Return the number of data and parity units written to the members per erase. */
static u64 get_raid_units_written_per_erase(const struct sim_result *result,
					    u32 unused __maybe_unused)
{
	const struct raid_counters *counters = &result->raid.counters;

	return scaled_ratio(counters->data_units + counters->parity_units,
			    result->stats.counters.array_erases, 10000);
}

#define RAID_AT(name) (offsetof(struct raid_counters, name) / sizeof(u64))

/* Indices into sim_timings. */
enum { READ_RESPONSE, READ_SERVICE, WRITE_RESPONSE, WRITE_SERVICE, FLUSH_RESPONSE };

#define AT_SHARE(timing, share) ((timing) << 16 | (share))

static const struct line general_lines[] = {
	{ "requests", get_u64_result_field, UNIT_NUMBER, NUMBER_AT(requests) },
	{ "failed", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(host_failed_requests) },
	{ "simulated time", get_u64_result_field, UNIT_TIME, NUMBER_AT(elapsed_ns) },
	{ "throughput", compute_request_rate, UNIT_RATE, 0 },
	{ "die utilisation", compute_mean_utilisation, UNIT_PERCENT, 0 },
};

#define RESPONSE_LINES(kind, response, service) { \
	{ kind " response, mean", compute_mean_time_of_requests, UNIT_TIME, response }, \
	{ "  waiting, mean", compute_mean_waiting_time, UNIT_TIME, response }, \
	{ "  service, mean", compute_mean_time_of_requests, UNIT_TIME, service }, \
	{ "  p50", get_quantile_of_time_distribution, UNIT_QUANTILE, AT_SHARE(response, 5000) }, \
	{ "  p99", get_quantile_of_time_distribution, UNIT_QUANTILE, AT_SHARE(response, 9900) }, \
	{ "  p99.9", get_quantile_of_time_distribution, UNIT_QUANTILE, AT_SHARE(response, 9990) }, \
	{ "  max", get_maximum_of_time_distribution, UNIT_TIME, response }, \
}

static const struct line read_lines[] = RESPONSE_LINES("read", READ_RESPONSE, READ_SERVICE);
static const struct line write_lines[] = RESPONSE_LINES("write", WRITE_RESPONSE, WRITE_SERVICE);

static const struct line flush_lines[] = {
	{ "flush response, mean", compute_mean_time_of_requests, UNIT_TIME, FLUSH_RESPONSE },
	{ "  p99", get_quantile_of_time_distribution, UNIT_QUANTILE,
	  AT_SHARE(FLUSH_RESPONSE, 9900) },
};

static const struct line flash_lines[] = {
	{ "pages sensed", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(array_reads) },
	{ "programs", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(array_programs) },
	{ "erases", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(array_erases) },
	{ "  with low voltage", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(array_low_erases) },
	{ "erase count, mean", compute_mean_erases, UNIT_FIXED4, 0 },
	{ "  max", get_u64_result_field, UNIT_NUMBER, NUMBER_AT(erases.largest) },
	{ "wear in full erases, mean", compute_mean_wear, UNIT_FIXED4, 0 },
	{ "lifetime factor", compute_lifetime_factor, UNIT_FIXED4, 0 },
	{ "energy of reads", get_counter_of_result, UNIT_ENERGY, COUNTER_AT(read_energy_pj) },
	{ "  of programs", get_counter_of_result, UNIT_ENERGY, COUNTER_AT(program_energy_pj) },
	{ "  of erases", get_counter_of_result, UNIT_ENERGY, COUNTER_AT(erase_energy_pj) },
	{ "flipped bits read", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(read_flipped_bits) },
	{ "units lost", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(read_lost_units) },
	{ "refused proposals", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(policy_bugs) },
};

/* Lines of the SLC cache, the mapping table and the controller read cache. */
static const struct line cache_lines[] = {
	{ "host writes to the cache", compute_slc_cache_write_share, UNIT_PERCENT, 0 },
	{ "  blocks folded", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(fold_blocks) },
	{ "  in idle time", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(fold_idle_blocks) },
	{ "  blocks in use at the end", count_slc_cache_blocks, UNIT_NUMBER, 0 },
	{ "look-ups in the map", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(map_lookups) },
	{ "  that waited for the map", compute_cmt_miss_ratio, UNIT_PERCENT, 0 },
	{ "  map pages read for them", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(map_loads) },
	{ "  map pages read to write", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(map_merges) },
	{ "  map pages moved", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(map_moved_units) },
	{ "units read from the cache", get_counter_of_result, UNIT_NUMBER,
	  COUNTER_AT(read_cache_units) },
	{ "  read ahead", get_counter_of_result, UNIT_NUMBER, COUNTER_AT(read_ahead_units) },
	{ "  read ahead in vain", get_counter_of_result, UNIT_NUMBER,
	  COUNTER_AT(read_ahead_vain_units) },
};

static const struct line raid_lines[] = {
	{ "data written to members", compute_raid_counter_per_host_unit, UNIT_FIXED4,
	  RAID_AT(data_units) },
	{ "parity written", compute_raid_counter_per_host_unit, UNIT_FIXED4,
	  RAID_AT(parity_units) },
	{ "read for parity", compute_raid_counter_per_host_unit, UNIT_FIXED4, RAID_AT(old_units) },
	{ "writes per erase", get_raid_units_written_per_erase, UNIT_FIXED4, 0 },
};

static const struct line memory_line = { "memory of the device", get_u64_result_field, UNIT_BYTES,
					 NUMBER_AT(memory_bytes) };

static const struct line cpu_line = { "processor time", get_u64_result_field, UNIT_TIME,
				      NUMBER_AT(cpu_ns) };

static const struct line amplification_line = {
	"write amplification", get_write_amplification_of_result, UNIT_FIXED4, 0
};

static u64 get_min_write_amplification_of_result(const struct sim_result *result,
						 u32 unused __maybe_unused)
{
	return result->yardstick.known ? sim_get_min_write_amplification(result) : 0;
}

static u64 get_offline_gc_amplification_of_result(const struct sim_result *result,
						  u32 unused __maybe_unused)
{
	return result->yardstick.known ? sim_get_offline_gc_amplification(result) : 0;
}

static const struct line yardstick_lines[] = {
	{ "  with knowledge of the future", get_offline_gc_amplification_of_result, UNIT_FIXED4,
	  0 },
	{ "  no less is possible", get_min_write_amplification_of_result, UNIT_FIXED4, 0 },
};

static u64 compute_rate_of_host_queue(const struct sim_result *result, u32 index)
{
	const struct sim_queue *queue = &result->queues[index];

	return scaled_ratio(queue->read_response.count + queue->write_response.count,
			    result->elapsed_ns, 1000000000);
}

/* Return a response time; @what: queue << 17 | 1 << 16 for writes | quantile, or 0 for the mean. */
static u64 get_response_time_of_host_queue(const struct sim_result *result, u32 what)
{
	const struct sim_queue *queue = &result->queues[what >> 17];
	const struct aftl_histogram *histogram = what >> 16 & 1 ? &queue->write_response :
								  &queue->read_response;

	if (what & 0xffff)
		return get_histogram_quantile_ns(histogram, what & 0xffff);
	return scaled_ratio(histogram->sum, histogram->count, 1);
}

static const struct line queue_lines[] = {
	{ "  read response, mean", get_response_time_of_host_queue, UNIT_TIME, 0 },
	{ "  read response, p99", get_response_time_of_host_queue, UNIT_QUANTILE, 9900 },
	{ "  write response, mean", get_response_time_of_host_queue, UNIT_TIME, 1 << 16 },
	{ "  write response, p99", get_response_time_of_host_queue, UNIT_QUANTILE, 1 << 16 | 9900 },
};

/* Lines */

static void add_ratio_cell(struct text_table *table, enum unit unit, u64 value, u64 first)
{
	/* A ratio of quantiles gets only two decimals, because their bins are up to 3 % wide. */
	bool binned = unit == UNIT_QUANTILE;
	char text[HUMAN_SIZE];

	if (binned && (value == QUANTILE_UNKNOWN || first == QUANTILE_UNKNOWN)) {
		text_table_add_cell(table, "%s", "");
		return;
	}
	if (!first) {
		text_table_add_cell(table, "%s", value ? "-" : "");
		return;
	}
	format_fixed_point(text, (scaled_ratio(value, first, binned ? 200 : 2000) + 1) / 2,
			   binned ? 2 : 3, "x");
	text_table_add_cell(table, "%s", text);
}

static void print_table_line(struct text_table *table, const struct sim_report *report,
			     const struct line *line)
{
	char text[HUMAN_SIZE];

	text_table_add_row(table);
	text_table_add_cell(table, "%s", line->title);
	for (unsigned int i = 0; i < report->count; i++) {
		u64 value = line->value(&report->results[i], line->argument);

		format_table_value(text, line->unit, value);
		text_table_add_cell(table, "%s", text);
		if (i)
			add_ratio_cell(table, line->unit, value,
				       line->value(&report->results[0], line->argument));
	}
}

static void print_table_lines(struct text_table *table, const struct sim_report *report,
			      const struct line *lines, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		print_table_line(table, report, &lines[i]);
}

/* Print a line unless its value is zero in all runs. */
static bool is_line_nonzero_in_any_run(const struct sim_report *report, const struct line *line)
{
	for (unsigned int i = 0; i < report->count; i++)
		if (line->value(&report->results[i], line->argument))
			return true;
	return false;
}

static void print_table_line_if_not_zero(struct text_table *table, const struct sim_report *report,
					 const struct line *line)
{
	if (is_line_nonzero_in_any_run(report, line))
		print_table_line(table, report, line);
}

static void print_line_per_counter_name(struct text_table *table, const struct sim_report *report,
					const char *prefix, const char *const *names,
					unsigned int count, const struct line *like)
{
	char title[64];
	struct line line = *like;

	line.title = title;
	for (u32 i = 0; i < count; i++) {
		scnprintf(title, sizeof(title), "%s%s", prefix, names[i]);
		line.argument = i;
		print_table_line_if_not_zero(table, report, &line);
	}
}

/* All runs have the same number of queues, because device and stream are the same. */
static void print_queue_lines(struct text_table *table, const struct sim_report *report)
{
	char title[32];
	struct line line = { title, compute_rate_of_host_queue, UNIT_RATE, 0 };

	for (u32 queue = 0; queue < report->results->queue_count; queue++) {
		scnprintf(title, sizeof(title), "queue %u, throughput", queue);
		line.argument = queue;
		print_table_line(table, report, &line);
		for (u32 i = 0; i < ARRAY_SIZE(queue_lines); i++) {
			struct line own = queue_lines[i];

			own.argument |= queue << 17;
			print_table_line_if_not_zero(table, report, &own);
		}
	}
}

static void print_page_count_lines(struct text_table *table, const struct sim_report *report)
{
	const struct line by_cause = { NULL, get_write_amplification_by_cause, UNIT_FIXED4, 0 };
	const struct line by_mode = { NULL, get_page_count_of_program_mode, UNIT_NUMBER, 0 };
	const struct line by_class = { NULL, get_page_count_of_data_class, UNIT_NUMBER, 0 };

	print_table_line(table, report, &amplification_line);
	for (unsigned int i = 0; report->options->yardstick && i < ARRAY_SIZE(yardstick_lines); i++)
		print_table_line_if_not_zero(table, report, &yardstick_lines[i]);
	print_line_per_counter_name(table, report, "  ", sim_cause_names, SIM_CAUSES, &by_cause);
	for (u32 i = 0; i < ARRAY_SIZE(cache_lines); i++)
		print_table_line_if_not_zero(table, report, &cache_lines[i]);
	print_line_per_counter_name(table, report, "pages programmed ", sim_mode_names, AFTL_MODES,
				    &by_mode);
	print_line_per_counter_name(table, report, "pages of class ", sim_class_names, AFTL_CLASSES,
				    &by_class);
}

static void print_block_kinds(const struct sim_result *result, FILE *out)
{
	bool any = false;

	for (unsigned int i = 0; i < AFTL_KINDS_MAX && result->policy->kinds[i]; i++) {
		if (!result->stats.kind_blocks[i])
			continue;
		fprintf(out, "%s %s %llu blocks of %llu pages", any ? "," : "",
			result->policy->kinds[i],
			(unsigned long long)result->stats.kind_blocks[i],
			(unsigned long long)result->stats.kind_pages[i]);
		any = true;
	}
	fputs(any ? "" : " none", out);
}

static void print_stream_statistics(const struct sim_result *result, FILE *out)
{
	bool any = false;

	for (unsigned int i = 0; i < AFTL_STREAMS && result->policy->streams[i]; i++) {
		const u64 units[] = { result->stats.stream_units[0][i],
				      result->stats.stream_units[1][i] };

		if (!units[0] && !units[1])
			continue;
		fprintf(out, "%s %s %llu units and %llu moved", any ? "," : "; streams:",
			result->policy->streams[i], (unsigned long long)units[0],
			(unsigned long long)units[1]);
		any = true;
	}
	fputc('\n', out);
}

/* Print a handle's FDP statistics: units of host, media, erases and relocations; reclaim units. */
static void print_handle_statistics(const struct sim_result *result, unsigned int handle, FILE *out)
{
	const struct aftl_handle_stats *stats = &result->stats.handles[handle];
	const u64 units[] = { stats->host_units, stats->media_units, stats->erased_units,
			      stats->reallocated_units };
	char text[ARRAY_SIZE(units)][HUMAN_SIZE];

	for (unsigned int i = 0; i < ARRAY_SIZE(units); i++)
		human_format_bytes(text[i], units[i] * result->geo.unit_bytes);
	fprintf(out, "%s: placement handle %u%s: %s from the host, %s to media, %s erased, ",
		result->policy->name, handle, handle ? "" : " (default)", text[0], text[1],
		text[2]);
	fprintf(out, "%s moved out; reclaim units: %llu left, %llu of them not full\n", text[3],
		(unsigned long long)stats->changed_blocks,
		(unsigned long long)stats->partial_blocks);
}

/* Print the values of NVMe's FDP Statistics log page, and counts of FDP events with their types. */
static void print_fdp_statistics(const struct sim_result *result, FILE *out)
{
	const struct aftl_counters *counters = &result->stats.counters;
	const u64 bytes[] = { counters->host_write_bytes, counters->media_write_bytes,
			      counters->media_erased_bytes };
	char text[ARRAY_SIZE(bytes)][HUMAN_SIZE];
	u64 changed = 0, reallocated = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(bytes); i++)
		human_format_bytes(text[i], bytes[i]);
	for (unsigned int i = 0; i <= result->config.placement_handles; i++) {
		changed += result->stats.handles[i].changed_blocks;
		reallocated += result->stats.handles[i].reallocated_events;
	}
	fprintf(out, "%s: FDP: HBMW %s, MBMW %s, MBE %s; events: ", result->policy->name, text[0],
		text[1], text[2]);
	fprintf(out, "%llu invalid placement ids (3h), %llu reallocations (80h), ",
		(unsigned long long)counters->unknown_placement_requests,
		(unsigned long long)reallocated);
	fprintf(out, "%llu reclaim units changed (81h)\n", (unsigned long long)changed);
}

static void print_all_handle_statistics(const struct sim_result *result, FILE *out)
{
	u64 handles = result->config.placement_handles;

	if (handles)
		print_fdp_statistics(result, out);
	for (unsigned int i = 0; handles && i <= handles; i++)
		print_handle_statistics(result, i, out);
}

static void print_zone_statistics(const struct sim_result *result, FILE *out)
{
	const struct aftl_counters *counters = &result->stats.counters;
	char size[HUMAN_SIZE];

	if (!result->geo.zones)
		return;
	human_format_bytes(size, (u64)result->geo.zone_capacity * result->geo.unit_bytes);
	fprintf(out, "%s: zones of %s:", result->policy->name, size);
	for (unsigned int i = 0; i < AFTL_ZONE_STATES; i++)
		if (result->zone_states[i])
			fprintf(out, " %u %s,", result->zone_states[i], sim_zone_names[i]);
	if (result->config.zrwa)
		fprintf(out, " %llu commits, %llu implicit commits,",
			(unsigned long long)counters->zrwa_commits,
			(unsigned long long)counters->zrwa_implicit_commits);
	fprintf(out, " %llu resets, %llu finishes, %llu appends\n",
		(unsigned long long)counters->zone_resets,
		(unsigned long long)counters->zone_finishes,
		(unsigned long long)counters->zone_append_requests);
}

static void describe_starting_state(const struct sim_options *options,
				    const struct sim_result *result,
				    char text[STARTING_STATE_SIZE])
{
	char share[AFTL_VALUE_SIZE];
	size_t used;

	if (!result->profile) {
		scnprintf(text, STARTING_STATE_SIZE, "starts as it was saved");
		return;
	}
	starting_state_print(&result->config, text);
	if (!options->host_fill)
		return;
	used = strlen(text);
	format_decimal_number(options->footprint, 2, share);
	scnprintf(text + used, STARTING_STATE_SIZE - used,
		  ", then the host fills %s %% in sequence in simulated time", share);
}

static void print_device_description(const struct sim_options *options,
				     const struct sim_result *result, FILE *out)
{
	char capacity[HUMAN_SIZE];
	char physical[HUMAN_SIZE];
	char starting[STARTING_STATE_SIZE];

	human_format_bytes(capacity, result->units * result->geo.unit_bytes);
	human_format_bytes(physical, result->slots * result->geo.unit_bytes);
	describe_starting_state(options, result, starting);
	fprintf(out, "device: %s, %s, %s of %s, %u dies on %u channels, ",
		result->profile ? result->profile : "from a file", starting, capacity, physical,
		result->geo.luns, result->geo.channels);
	if (result->config.shards > 1)
		fprintf(out, "%llu shards, ", (unsigned long long)result->config.shards);
	fprintf(out, "seed %llu\n", (unsigned long long)result->config.seed);
}

static void print_stream_description(const struct sim_options *options,
				     const struct sim_result *result, FILE *out)
{
	char text[HUMAN_SIZE];

	fprintf(out, "stream: %s",
		options->trace ? options->trace : sim_get_workload_name(options));
	if (!options->trace) {
		format_fixed_point(text, options->write_share, 2, "%");
		fprintf(out, ", %s writes", text);
		format_fixed_point(text, options->approx_share, 2, "%");
		fprintf(out, ", %s of them approximate, %s", text, options->size);
		if (options->hot_size)
			fprintf(out, " (%s in the hot range)", options->hot_size);
	}
	if (options->tenants)
		fprintf(out, ", tenants with %s in their queues", options->tenants);
	fprintf(out, ", arrival %s", sim_get_arrival_name(options));
	if (options->arrival == SIM_ARRIVAL_CLOSED && !options->tenants)
		fprintf(out, " with %llu in the queue", (unsigned long long)options->depth);
	if (options->arrival == SIM_ARRIVAL_OPEN) {
		human_format_time(text, result->interval_q16 >> 16);
		fprintf(out, " each %s (%s)", text, sim_get_arrival_shape_name(options));
	}
	fputs("\n\n", out);
}

/* Print the table of the runs with one seed. */
static void print_result_table_of_seed(const struct sim_report *report, FILE *out)
{
	struct text_table table;

	print_device_description(report->options, &report->results[0], out);
	print_stream_description(report->options, &report->results[0], out);
	text_table_begin(&table, 2 * report->count, 1);
	text_table_add_row(&table);
	text_table_add_cell(&table, "%s", "");
	for (unsigned int i = 0; i < report->count; i++) {
		text_table_add_cell(&table, "%s", report->results[i].policy->name);
		if (i)
			text_table_add_cell(&table, "%s", "");
	}
	print_table_lines(&table, report, general_lines, ARRAY_SIZE(general_lines));
	if (is_line_nonzero_in_any_run(report, &read_lines[0]))
		print_table_lines(&table, report, read_lines, ARRAY_SIZE(read_lines));
	if (is_line_nonzero_in_any_run(report, &write_lines[0]))
		print_table_lines(&table, report, write_lines, ARRAY_SIZE(write_lines));
	if (is_line_nonzero_in_any_run(report, &flush_lines[0]))
		print_table_lines(&table, report, flush_lines, ARRAY_SIZE(flush_lines));
	print_queue_lines(&table, report);
	print_page_count_lines(&table, report);
	if (report->options->raid)
		print_table_lines(&table, report, raid_lines, ARRAY_SIZE(raid_lines));
	print_table_lines(&table, report, flash_lines, ARRAY_SIZE(flash_lines));
	print_table_line(&table, report, &memory_line);
	if (report->options->cpu)
		print_table_line(&table, report, &cpu_line);
	text_table_print_and_free(&table, out);
	fputc('\n', out);
	for (unsigned int i = 0; i < report->count; i++) {
		const struct sim_result *result = &report->results[i];

		fprintf(out, "%s: digest %016llx%s%s%s; blocks filled:", result->policy->name,
			(unsigned long long)result->digest, result->verified ? ", verified" : "",
			result->read_only ? ", read-only: it ran out of good blocks" : "",
			result->interrupted ? ", interrupted" : "");
		print_block_kinds(result, out);
		print_stream_statistics(result, out);
		print_all_handle_statistics(result, out);
		print_zone_statistics(result, out);
	}
	for (unsigned int i = 0; report->options->slowest && i < report->count; i++)
		slowest_print(&report->results[i].slowest, report->results[i].policy->name, out);
}

static unsigned int count_runs_of_first_seed(const struct sim_result *results, unsigned int count)
{
	unsigned int i;

	for (i = 1; i < count && results[i].config.seed == results->config.seed; i++)
		;
	return i;
}

void sim_report_print_table(const struct sim_report *report, FILE *out)
{
	struct sim_report part = *report;

	for (unsigned int done = 0; done < report->count; done += part.count) {
		part.results = report->results + done;
		part.count = count_runs_of_first_seed(part.results, report->count - done);
		if (done)
			fputc('\n', out);
		print_result_table_of_seed(&part, out);
	}
	for (unsigned int i = 0; i < report->failed; i++) {
		fputs(report->failures[i].policy, out);
		if (report->options->seed_count > 1)
			fprintf(out, ", seed %llu", (unsigned long long)report->failures[i].seed);
		fprintf(out, ": no result: %s\n", report->failures[i].why);
	}
}
