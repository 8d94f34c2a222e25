// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "human-units.h"
#include "trace-summary.h"

static const char other_processes[] = "(others)";
static const char no_process[] = "(unknown)";

struct trace_summary *trace_summary_create(void)
{
	return memory_zeroed(1, sizeof(struct trace_summary));
}

static void free_shares(struct trace_share *shares, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		latency_free(&shares[i].latency);
}

void trace_summary_free(struct trace_summary *summary)
{
	u32 i;

	if (!summary)
		return;
	free_shares(&summary->all, 1);
	free_shares(summary->by_op, AFTL_OPS);
	free_shares(summary->by_class, AFTL_RECORD_CLASSES);
	free_shares(summary->by_speaker, TRACE_BYS);
	for (i = 0; i < summary->process_count; i++)
		free_shares(&summary->processes[i].share, 1);
	free(summary->ends);
	free(summary);
}

static void count(struct trace_share *share, const struct trace_request *request)
{
	share->requests++;
	share->bytes += request->bytes;
	if (request->latency_ns)
		latency_add(&share->latency, request->latency_ns);
}

static struct trace_share *share_of(struct trace_summary *summary, const char *name)
{
	u32 i;

	for (i = 0; i < summary->process_count; i++)
		if (!strcmp(summary->processes[i].name, name))
			return &summary->processes[i].share;
	if (i == SUMMARY_PROCESSES - 1)
		name = other_processes;
	if (i == SUMMARY_PROCESSES)
		return &summary->processes[SUMMARY_PROCESSES - 1].share;
	scnprintf(summary->processes[i].name, PROCESS_NAME_SIZE, "%s", name);
	summary->process_count++;
	return &summary->processes[i].share;
}

static void push_end(struct trace_summary *summary, u64 end_ns)
{
	u64 at = summary->depth++;

	if (summary->depth > summary->room) {
		summary->room = summary->room ? 2 * summary->room : 256;
		summary->ends = memory_grown(summary->ends, summary->room, sizeof(u64));
	}
	for (; at && end_ns < summary->ends[(at - 1) / 2]; at = (at - 1) / 2)
		summary->ends[at] = summary->ends[(at - 1) / 2];
	summary->ends[at] = end_ns;
}

static void drop_end(struct trace_summary *summary)
{
	u64 last = summary->ends[--summary->depth];
	u64 at = 0, child;

	while ((child = 2 * at + 1) < summary->depth) {
		if (child + 1 < summary->depth && summary->ends[child + 1] < summary->ends[child])
			child++;
		if (summary->ends[child] >= last)
			break;
		summary->ends[at] = summary->ends[child];
		at = child;
	}
	summary->ends[at] = last;
}

static void count_depth(struct trace_summary *summary, const struct trace_request *request)
{
	if (!request->latency_ns)
		return;
	while (summary->depth && summary->ends[0] <= request->t_ns)
		drop_end(summary);
	push_end(summary, request->t_ns + request->latency_ns);
	summary->depth_max = max(summary->depth_max, summary->depth);
	summary->depth_sum += summary->depth;
}

void trace_summary_add(struct trace_summary *summary, const struct trace_request *request,
		       const char *name)
{
	if (!summary->all.requests)
		summary->first_ns = request->t_ns;
	summary->last_ns = max(summary->last_ns, request->t_ns);
	summary->end = max(summary->end, request->offset + request->bytes);
	count(&summary->all, request);
	count(&summary->by_op[request->op], request);
	if (request->op == AFTL_OP_WRITE) {
		count(&summary->by_class[request->class % AFTL_RECORD_CLASSES], request);
		count(&summary->by_speaker[request->by], request);
	}
	count(share_of(summary, name ? name : no_process), request);
	summary->streams[request->stream / 8] |= 1U << request->stream % 8;
	summary->fua += request->fua;
	summary->preflush += request->preflush;
	count_depth(summary, request);
}

u32 trace_summary_streams(const struct trace_summary *summary)
{
	u32 streams = 0, i;

	for (i = 0; i < sizeof(summary->streams); i++)
		streams += (u32)__builtin_popcount(summary->streams[i]);
	return streams;
}

struct quantile {
	const char *key;
	const char *title;
	u32 per_million;
};

static const struct quantile quantiles[] = {
	{ "p50_ns", "p50", 500000 },   { "p90_ns", "p90", 900000 },
	{ "p99_ns", "p99", 990000 },   { "p999_ns", "p99.9", 999000 },
};

static void put_share(struct json_writer *json, const char *key, const struct trace_share *share)
{
	const struct latency_histogram *latency = &share->latency;
	unsigned int i;

	json_object(json, key);
	json_u64(json, "requests", share->requests);
	json_u64(json, "bytes", share->bytes);
	json_record(json, "latency");
	json_u64(json, "known", latency->count);
	if (latency->count) {
		json_u64(json, "mean_ns", latency_mean(latency));
		json_u64(json, "min_ns", latency->least);
		for (i = 0; i < ARRAY_SIZE(quantiles); i++)
			json_u64(json, quantiles[i].key,
				 latency_quantile(latency, quantiles[i].per_million));
		json_u64(json, "max_ns", latency->greatest);
	}
	json_end_object(json);
	json_end_object(json);
}

static void put_named(struct json_writer *json, const char *key, const struct trace_share *shares,
		      const char *const *names, u32 count)
{
	u32 i;

	json_object(json, key);
	for (i = 0; i < count; i++)
		if (shares[i].requests)
			put_share(json, names[i], &shares[i]);
	json_end_object(json);
}

static void put_processes(struct json_writer *json, const struct trace_summary *summary)
{
	u32 i;

	json_object(json, "processes");
	for (i = 0; i < summary->process_count; i++)
		put_share(json, summary->processes[i].name, &summary->processes[i].share);
	json_end_object(json);
}

static void put_depth(struct json_writer *json, const struct trace_summary *summary)
{
	json_record(json, "depth");
	json_fixed(json, "met_mean", scaled_ratio(summary->depth_sum, summary->all.latency.count,
						  1000), 3);
	json_u64(json, "max", summary->depth_max);
	json_end_object(json);
}

void trace_summary_json(struct json_writer *json, const struct trace_summary *summary,
			const char (*class_names)[AFTL_RECORD_NAME_SIZE], u32 classes)
{
	const char *names[AFTL_RECORD_CLASSES];
	u32 i;

	for (i = 0; i < classes; i++)
		names[i] = class_names[i];
	json_u64(json, "first_ns", summary->first_ns);
	json_u64(json, "span_ns", summary->last_ns - summary->first_ns);
	json_u64(json, "end_bytes", summary->end);
	json_u64(json, "streams", trace_summary_streams(summary));
	json_u64(json, "fua_requests", summary->fua);
	json_u64(json, "preflush_requests", summary->preflush);
	put_share(json, "all", &summary->all);
	put_named(json, "operations", summary->by_op, trace_op_names, AFTL_OPS);
	put_named(json, "write_classes", summary->by_class, names, classes);
	put_named(json, "write_classes_said_by", summary->by_speaker, trace_by_names, TRACE_BYS);
	put_processes(json, summary);
	put_depth(json, summary);
}

static void text_share(struct text_table *table, const char *title, const struct trace_share *share,
		       const struct trace_summary *summary)
{
	const struct latency_histogram *latency = &share->latency;
	char text[HUMAN_SIZE];
	unsigned int i;

	if (!share->requests)
		return;
	text_table_row(table);
	text_table_cell(table, "%s", title);
	text_table_cell(table, "%llu", (unsigned long long)share->requests);
	human_fixed(text, scaled_ratio(share->requests, summary->all.requests, 1000), 1, " %");
	text_table_cell(table, "%s", text);
	human_bytes(text, share->bytes);
	text_table_cell(table, "%s", text);
	if (!latency->count)
		return;
	human_time(text, latency_mean(latency));
	text_table_cell(table, "%s", text);
	for (i = 0; i < ARRAY_SIZE(quantiles); i++) {
		human_time(text, latency_quantile(latency, quantiles[i].per_million));
		text_table_cell(table, "%s", text);
	}
	human_time(text, latency->greatest);
	text_table_cell(table, "%s", text);
}

static void text_title(struct text_table *table)
{
	static const char *const titles[] = { "", "requests", "share", "data", "mean" };
	unsigned int i;

	text_table_row(table);
	for (i = 0; i < ARRAY_SIZE(titles); i++)
		text_table_cell(table, "%s", titles[i]);
	for (i = 0; i < ARRAY_SIZE(quantiles); i++)
		text_table_cell(table, "%s", quantiles[i].title);
	text_table_cell(table, "max");
}

static void text_rows(struct text_table *table, const struct trace_summary *summary,
		      const char (*class_names)[AFTL_RECORD_NAME_SIZE], u32 classes)
{
	char title[64];
	u32 i;

	text_share(table, "all", &summary->all, summary);
	for (i = 0; i < AFTL_OPS; i++)
		text_share(table, trace_op_names[i], &summary->by_op[i], summary);
	for (i = 0; i < classes; i++) {
		scnprintf(title, sizeof(title), "write, %s", class_names[i]);
		text_share(table, title, &summary->by_class[i], summary);
	}
	for (i = TRACE_BY_NOBODY + 1; i < TRACE_BYS; i++) {
		scnprintf(title, sizeof(title), "write, said by %s", trace_by_names[i]);
		text_share(table, title, &summary->by_speaker[i], summary);
	}
	for (i = 0; i < summary->process_count; i++) {
		scnprintf(title, sizeof(title), "process %s", summary->processes[i].name);
		text_share(table, title, &summary->processes[i].share, summary);
	}
}

void trace_summary_text(FILE *out, const struct trace_summary *summary,
			const char (*class_names)[AFTL_RECORD_NAME_SIZE], u32 classes)
{
	struct text_table table;
	char text[HUMAN_SIZE];

	human_time(text, summary->last_ns - summary->first_ns);
	fprintf(out, "span %s, ", text);
	human_bytes(text, summary->end);
	fprintf(out, "addresses up to %s, streams %u\n", text, trace_summary_streams(summary));
	text_table_begin(&table, 10, 1);
	text_title(&table);
	text_rows(&table, summary, class_names, classes);
	text_table_end(&table, out);
	if (!summary->all.latency.count)
		return;
	human_fixed(text, scaled_ratio(summary->depth_sum, summary->all.latency.count, 100), 2, "");
	fprintf(out, "requests met %s under way on average, themselves included, and at most %llu\n",
		text, (unsigned long long)summary->depth_max);
}
