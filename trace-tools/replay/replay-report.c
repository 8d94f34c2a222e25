// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "human-units.h"
#include "machine-clock.h"
#include "quantiles.h"
#include "replay-report.h"
#include "text-table.h"

/* If this percentage of requests or more was late, the report calls the machine too slow. */
#define LATE_MATTERS 1
#define TOO_SLOW "this machine was too slow for the schedule: %s of the requests were issued " \
		 "more than %s late, and their latencies are not the target's alone\n"

static const char *const op_names[AFTL_OPS] = { "read", "write", "flush", "discard",
						 "write_zeroes" };

struct quantile {
	const char *name;
	const char *key;
	u32 share;
};

static const struct quantile quantiles[] = {
	{ "p50", "p50_ns", 5000 },
	{ "p99", "p99_ns", 9900 },
	{ "p99.9", "p99_9_ns", 9990 },
};

struct replay_report *replay_report_create(const struct replay_log_header *header, u64 late_ns)
{
	struct replay_report *report = memory_alloc_zeroed(1, sizeof(*report));

	report->header = *header;
	report->late_ns = late_ns;
	return report;
}

void replay_report_free(struct replay_report *report)
{
	for (unsigned int op = 0; report && op < AFTL_OPS; op++)
		for (unsigned int class = 0; class < AFTL_RECORD_CLASSES; class++)
			free(report->latency[op][class]);
	free(report);
}

static void add_entry_times_to_report(struct replay_report *report,
				      const struct replay_log_entry *entry)
{
	u64 lag = entry->submit_ns > entry->due_ns ? entry->submit_ns - entry->due_ns : 0;

	report->last_due_ns = max(report->last_due_ns, entry->due_ns);
	report->last_submit_ns = max(report->last_submit_ns, entry->submit_ns);
	report->last_complete_ns = max(report->last_complete_ns, entry->complete_ns);
	aftl_histogram_add(&report->lag, lag);
	report->late += lag > report->late_ns;
	if (!entry->error) {
		struct replay_latency **latency;

		latency = &report->latency[entry->op & ~REPLAY_LOG_FUA][entry->class];
		if (!*latency)
			*latency = memory_alloc_zeroed(1, sizeof(**latency));
		(*latency)->bytes += (u64)entry->nsect << AFTL_RECORD_SECTOR_SHIFT;
		aftl_histogram_add(&(*latency)->ns, entry->complete_ns - entry->submit_ns);
	}
}

void replay_report_add_entry(struct replay_report *report, const struct replay_log_entry *entry)
{
	if (entry->error && !report->failed++)
		report->first_error = entry->error;
	for (unsigned int kind = 0; kind < DATA_CLASSES; kind++) {
		report->units[kind] += entry->units[kind];
		report->flips[kind] += entry->flips[kind];
	}
	report->lost += entry->lost;
	report->misplaced += entry->misplaced;
	report->stale += entry->stale;
	if (!entry->sequence)
		return;
	report->done++;
	add_entry_times_to_report(report, entry);
}

bool replay_report_is_data_wrong(const struct replay_report *report)
{
	return report->lost || report->misplaced || report->stale || report->flips[DATA_PRECISE];
}

u64 replay_report_lag_p99(const struct replay_report *report)
{
	return aftl_histogram_quantile(&report->lag, 9900);
}

static u64 histogram_mean(const struct aftl_histogram *histogram)
{
	return histogram->count ? histogram->sum / histogram->count : 0;
}

static u64 compute_requests_per_second(u64 requests, u64 ns)
{
	return scaled_ratio(requests, ns, NS_PER_S);
}

/* JSON output */

static void write_time_statistics_json(struct json_writer *json,
				       const struct aftl_histogram *histogram)
{
	json_u64(json, "mean_ns", histogram_mean(histogram));
	for (unsigned int i = 0; i < ARRAY_SIZE(quantiles); i++)
		json_u64(json, quantiles[i].key,
			 aftl_histogram_quantile(histogram, quantiles[i].share));
	json_u64(json, "max_ns", histogram->largest);
}

static void write_timing_fidelity_json(const struct replay_report *report, struct json_writer *json)
{
	bool closed = report->header.closed_depth;

	json_begin_object(json, "fidelity");
	json_string(json, "mode", closed ? "closed_loop" : "open_loop");
	if (closed) {
		json_u64(json, "depth", report->header.closed_depth);
	} else {
		json_begin_object(json, "lag");
		write_time_statistics_json(json, &report->lag);
		json_end_object(json);
		json_u64(json, "late_ns", report->late_ns);
		json_u64(json, "late_requests", report->late);
		json_decimal(json, "late_share", scaled_ratio(report->late, report->done, 1000000),
			     6);
		json_u64(json, "offered_per_second",
			 compute_requests_per_second(report->done, report->last_due_ns));
	}
	json_u64(json, "achieved_per_second",
		 compute_requests_per_second(report->done, report->last_submit_ns));
	json_end_object(json);
}

static void write_replay_latency_json(const struct replay_report *report, struct json_writer *json)
{
	json_begin_array(json, "latency");
	for (unsigned int op = 0; op < AFTL_OPS; op++)
		for (unsigned int class = 0; class < AFTL_RECORD_CLASSES; class++) {
			const struct replay_latency *latency = report->latency[op][class];

			if (!latency)
				continue;
			json_begin_object(json, NULL);
			json_string(json, "op", op_names[op]);
			json_string(json, "class", report->header.class_names[class]);
			json_u64(json, "requests", latency->ns.count);
			json_u64(json, "bytes", latency->bytes);
			write_time_statistics_json(json, &latency->ns);
			json_end_object(json);
		}
	json_end_array(json);
}

static void write_bit_error_counts_json(const struct replay_report *report, enum data_kind kind,
					const char *key, struct json_writer *json)
{
	json_begin_object(json, key);
	json_u64(json, "units", report->units[kind]);
	json_u64(json, "flipped_bits", report->flips[kind]);
	json_end_object(json);
}

void replay_report_write_json(const struct replay_report *report, struct json_writer *json)
{
	json_u64(json, "planned_requests", report->header.planned);
	json_u64(json, "done_requests", report->done);
	json_u64(json, "failed_requests", report->failed);
	if (report->failed)
		json_string(json, "first_error", strerror((int)report->first_error));
	json_string(json, "engine", report->header.engine);
	json_u64(json, "limit", report->header.limit);
	json_u64(json, "elapsed_ns", report->last_complete_ns);
	write_timing_fidelity_json(report, json);
	write_replay_latency_json(report, json);
	json_begin_object(json, "data");
	write_bit_error_counts_json(report, DATA_PRECISE, "precise", json);
	write_bit_error_counts_json(report, DATA_APPROXIMATE, "approximate", json);
	json_u64(json, "lost_units", report->lost);
	json_u64(json, "misplaced_units", report->misplaced);
	json_u64(json, "stale_units", report->stale);
	json_end_object(json);
}

/* Text output */

static void add_mean_and_quantile_cells(struct text_table *table,
					const struct aftl_histogram *histogram)
{
	char text[HUMAN_SIZE];

	human_format_time(text, histogram_mean(histogram));
	text_table_add_cell(table, "%s", text);
	for (unsigned int i = 0; i < ARRAY_SIZE(quantiles); i++) {
		format_quantile(text, get_histogram_quantile_ns(histogram, quantiles[i].share));
		text_table_add_cell(table, "%s", text);
	}
	human_format_time(text, histogram->largest);
	text_table_add_cell(table, "%s", text);
}

static void print_latency_row(const struct replay_report *report, unsigned int op,
			      unsigned int class, struct text_table *table)
{
	const struct replay_latency *latency = report->latency[op][class];
	char size[HUMAN_SIZE];

	if (!latency)
		return;
	human_format_bytes(size, latency->bytes);
	text_table_add_row(table);
	text_table_add_cell(table, "%s %s", op_names[op], report->header.class_names[class]);
	text_table_add_cell(table, "%llu", (unsigned long long)latency->ns.count);
	text_table_add_cell(table, "%s", size);
	add_mean_and_quantile_cells(table, &latency->ns);
}

static void print_latency_table(const struct replay_report *report, FILE *out)
{
	struct text_table table;

	text_table_begin(&table, 8, 1);
	text_table_add_row(&table);
	text_table_add_cell(&table, "%s", "");
	text_table_add_cell(&table, "requests");
	text_table_add_cell(&table, "size");
	text_table_add_cell(&table, "mean");
	for (unsigned int i = 0; i < ARRAY_SIZE(quantiles); i++)
		text_table_add_cell(&table, "%s", quantiles[i].name);
	text_table_add_cell(&table, "max");
	if (!report->header.closed_depth) {
		text_table_add_row(&table);
		text_table_add_cell(&table, "behind schedule");
		text_table_add_cell(&table, "%llu", (unsigned long long)report->done);
		text_table_add_cell(&table, "%s", "");
		add_mean_and_quantile_cells(&table, &report->lag);
	}
	for (unsigned int op = 0; op < AFTL_OPS; op++)
		for (unsigned int class = 0; class < AFTL_RECORD_CLASSES; class++)
			print_latency_row(report, op, class, &table);
	text_table_print_and_free(&table, out);
}

static void print_request_rates(const struct replay_report *report, FILE *out)
{
	unsigned long long achieved =
		compute_requests_per_second(report->done, report->last_submit_ns);
	char share[HUMAN_SIZE];
	char late[HUMAN_SIZE];

	if (report->header.closed_depth) {
		fprintf(out, "rate: %llu requests/s, closed loop of %u\n", achieved,
			report->header.closed_depth);
		return;
	}
	human_format_time_without_padding(late, report->late_ns);
	format_fixed_point(share, scaled_ratio(report->late, report->done, 1000000), 4, "%");
	fprintf(out, "rate: %llu requests/s, offered %llu/s; more than %s late: %s\n", achieved,
		(unsigned long long)compute_requests_per_second(report->done, report->last_due_ns),
		late, share);
	if (scaled_ratio(report->late, report->done, 100) >= LATE_MATTERS)
		fprintf(out, TOO_SLOW, share, late);
}

static void print_data_errors(const struct replay_report *report, FILE *out)
{
	static const char *const names[DATA_CLASSES] = { "precise", "approximate" };

	for (unsigned int kind = 0; kind < DATA_CLASSES; kind++)
		if (report->units[kind])
			fprintf(out, "read back, %s: %llu units, %llu bits flipped\n", names[kind],
				(unsigned long long)report->units[kind],
				(unsigned long long)report->flips[kind]);
	if (report->lost || report->misplaced || report->stale)
		fprintf(out, "wrong: %llu units lost, %llu misplaced, %llu stale\n",
			(unsigned long long)report->lost, (unsigned long long)report->misplaced,
			(unsigned long long)report->stale);
}

void replay_report_print(const struct replay_report *report, FILE *out)
{
	char elapsed[HUMAN_SIZE];

	human_format_time_without_padding(elapsed, report->last_complete_ns);
	fprintf(out, "%llu of %llu requests in %s by %s, at most %u under way\n",
		(unsigned long long)report->done, (unsigned long long)report->header.planned,
		elapsed, report->header.engine, report->header.limit);
	if (report->failed)
		fprintf(out, "failed: %llu, the first with: %s\n",
			(unsigned long long)report->failed, strerror((int)report->first_error));
	if (!report->done)
		return;
	print_latency_table(report, out);
	print_request_rates(report, out);
	print_data_errors(report, out);
}
