// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "human-units.h"
#include "trace-summary.h"

static const char other_processes[] = "(others)";
static const char no_process[] = "(unknown)";

struct trace_summary *trace_summary_create(void)
{
	return memory_alloc_zeroed(1, sizeof(struct trace_summary));
}

void trace_summary_free(struct trace_summary *summary)
{
	if (!summary)
		return;
	for (u32 i = 0; i < SUMMARY_LEAVES; i++) {
		if (summary->leaves[i])
			latency_histogram_free(&summary->leaves[i]->share.latency);
		free(summary->leaves[i]);
	}
	free(summary->slots);
	free(summary->ends);
	free(summary);
}

static u32 add_process_summary(struct trace_summary *summary, const char *name)
{
	if (summary->processes == SUMMARY_PROCESSES)
		return SUMMARY_PROCESSES - 1;
	if (summary->processes == SUMMARY_PROCESSES - 1)
		name = other_processes;
	scnprintf(summary->names[summary->processes], PROCESS_NAME_SIZE, "%s", name);
	return summary->processes++;
}

static u32 hash_slot_of_process(struct trace_summary *summary, u32 pid,
				const struct process_names *names)
{
	u32 number = process_names_find_number_by_pid(names, pid);

	if (number >= summary->slot_room) {
		u32 room = 2 * number + 64;

		summary->slots = memory_resize(summary->slots, room, 1);
		memset(summary->slots + summary->slot_room, 0, room - summary->slot_room);
		summary->slot_room = room;
	}
	if (!summary->slots[number])
		summary->slots[number] = (u8)(1 + add_process_summary(summary, number ?
			process_names_get(names, pid) : no_process));
	return summary->slots[number] - 1;
}

static struct trace_leaf *summary_leaf(struct trace_summary *summary,
				       const struct trace_request *request, u32 process)
{
	u32 at = ((process * AFTL_OPS + request->op) * AFTL_RECORD_CLASSES + request->class) *
		TRACE_BYS + request->by;
	struct trace_leaf *leaf = summary->leaves[at];

	if (leaf)
		return leaf;
	leaf = memory_alloc_zeroed(1, sizeof(*leaf));
	leaf->process = (u8)process;
	leaf->op = request->op;
	leaf->class = request->class;
	leaf->by = request->by;
	summary->leaves[at] = leaf;
	return leaf;
}

static void push_end_time_of_request(struct trace_summary *summary, u64 end_ns)
{
	u64 at = summary->depth++;

	if (summary->depth > summary->room) {
		summary->room = summary->room ? 2 * summary->room : 256;
		summary->ends = memory_resize(summary->ends, summary->room, sizeof(u64));
	}
	for (; at && end_ns < summary->ends[(at - 1) / 2]; at = (at - 1) / 2)
		summary->ends[at] = summary->ends[(at - 1) / 2];
	summary->ends[at] = end_ns;
}

static void pop_earliest_request_end(struct trace_summary *summary)
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

static void compute_queue_depth(struct trace_summary *summary, const struct trace_request *request)
{
	u64 depth = request->depth;

	if (!request->latency_ns)
		return;
	if (!depth) {
		/* Compute the queue depth that a request met, if the trace does not record it. */
		while (summary->depth && summary->ends[0] <= request->t_ns)
			pop_earliest_request_end(summary);
		push_end_time_of_request(summary, request->t_ns + request->latency_ns);
		depth = summary->depth;
	}
	summary->depth_max = max(summary->depth_max, depth);
	summary->depth_sum += depth;
	summary->depth_known++;
}

void trace_summary_add_request(struct trace_summary *summary, const struct trace_request *request,
			       const struct process_names *names)
{
	struct trace_share *share;

	if (!summary->requests++)
		summary->first_ns = request->t_ns;
	summary->last_ns = request->t_ns;
	summary->end = max(summary->end, request->offset + request->bytes);
	share = &summary_leaf(summary, request, hash_slot_of_process(summary, request->pid, names))
			 ->share;
	share->requests++;
	share->bytes += request->bytes;
	if (request->latency_ns)
		latency_histogram_add(&share->latency, request->latency_ns);
	summary->streams[request->stream / 8] |= 1U << request->stream % 8;
	summary->fua += request->fua;
	summary->preflush += request->preflush;
	compute_queue_depth(summary, request);
}

/** struct selection - requests whose statistics are added up; a member -1 matches all */
struct selection {
	int process;
	int op;
	int class;
	int by;
};

static const struct selection everything = { -1, -1, -1, -1 };

/* Add up the selected statistics; the caller frees the histogram of the sum. */
static struct trace_share sum_selected_leaves(const struct trace_summary *summary,
					      const struct selection *wanted)
{
	struct trace_share sum = { .requests = 0 };

	for (u32 i = 0; i < SUMMARY_LEAVES; i++) {
		const struct trace_leaf *leaf = summary->leaves[i];

		if (!leaf || !((wanted->process < 0 || wanted->process == leaf->process) &&
			       (wanted->op < 0 || wanted->op == leaf->op) &&
			       (wanted->class < 0 || wanted->class == leaf->class) &&
			       (wanted->by < 0 || wanted->by == leaf->by)))
			continue;
		sum.requests += leaf->share.requests;
		sum.bytes += leaf->share.bytes;
		latency_histogram_merge(&sum.latency, &leaf->share.latency);
	}
	return sum;
}

u32 trace_summary_count_streams(const struct trace_summary *summary)
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

static void write_latency_json(struct json_writer *json, const struct latency_histogram *latency)
{
	json_begin_inline_object(json, "latency");
	json_u64(json, "known", latency->count);
	if (latency->count) {
		json_u64(json, "mean_ns", latency_histogram_mean(latency));
		json_u64(json, "min_ns", latency->least);
		for (unsigned int i = 0; i < ARRAY_SIZE(quantiles); i++)
			json_u64(json, quantiles[i].key,
				 latency_histogram_quantile(latency, quantiles[i].per_million));
		json_u64(json, "max_ns", latency->greatest);
	}
	json_end_object(json);
}

static void write_request_group_json(struct json_writer *json, const char *key,
				     const struct trace_summary *summary,
				     const struct selection *wanted)
{
	struct trace_share share = sum_selected_leaves(summary, wanted);

	if (share.requests || wanted == &everything) {
		json_begin_object(json, key);
		json_u64(json, "requests", share.requests);
		json_u64(json, "bytes", share.bytes);
		write_latency_json(json, &share.latency);
		json_end_object(json);
	}
	latency_histogram_free(&share.latency);
}

static void write_groups_json(struct json_writer *json, const struct trace_summary *summary,
			      const struct trace_classes *classes)
{
	json_begin_object(json, "operations");
	for (int op = 0; op < AFTL_OPS; op++)
		write_request_group_json(json, trace_op_names[op], summary,
					 &(struct selection){ -1, op, -1, -1 });
	json_end_object(json);
	json_begin_object(json, "write_classes");
	for (int i = 0; i < (int)classes->count; i++)
		write_request_group_json(json, classes->names[i], summary,
					 &(struct selection){ -1, AFTL_OP_WRITE, i, -1 });
	json_end_object(json);
	json_begin_object(json, "write_classes_said_by");
	for (int i = 0; i < TRACE_BYS; i++)
		write_request_group_json(json, trace_by_names[i], summary,
					 &(struct selection){ -1, AFTL_OP_WRITE, -1, i });
	json_end_object(json);
	json_begin_object(json, "processes");
	for (u32 i = 0; i < summary->processes; i++)
		write_request_group_json(json, summary->names[i], summary,
					 &(struct selection){ (int)i, -1, -1, -1 });
	json_end_object(json);
}

void trace_summary_write_json(struct json_writer *json, const struct trace_summary *summary,
			      const struct trace_classes *classes)
{
	json_u64(json, "first_ns", summary->first_ns);
	json_u64(json, "span_ns", summary->last_ns - summary->first_ns);
	json_u64(json, "end_bytes", summary->end);
	json_u64(json, "streams", trace_summary_count_streams(summary));
	json_u64(json, "fua_requests", summary->fua);
	json_u64(json, "preflush_requests", summary->preflush);
	write_request_group_json(json, "all", summary, &everything);
	write_groups_json(json, summary, classes);
	json_begin_inline_object(json, "depth");
	json_decimal(json, "met_mean", scaled_ratio(summary->depth_sum, summary->depth_known, 1000),
		     3);
	json_u64(json, "max", summary->depth_max);
	json_end_object(json);
}

static void add_latency_cells(struct text_table *table, const struct latency_histogram *latency)
{
	char text[HUMAN_SIZE];

	if (!latency->count)
		return;
	human_format_time(text, latency_histogram_mean(latency));
	text_table_add_cell(table, "%s", text);
	for (unsigned int i = 0; i < ARRAY_SIZE(quantiles); i++) {
		human_format_time(text,
				  latency_histogram_quantile(latency, quantiles[i].per_million));
		text_table_add_cell(table, "%s", text);
	}
	human_format_time(text, latency->greatest);
	text_table_add_cell(table, "%s", text);
}

static void add_row_of_request_group(struct text_table *table,
				     const struct trace_summary *summary,
				     struct selection wanted, const char *what,
				     const char *name)
{
	struct trace_share share = sum_selected_leaves(summary, &wanted);
	char text[HUMAN_SIZE];

	if (share.requests) {
		text_table_add_row(table);
		text_table_add_cell(table, "%s%s", what, name);
		text_table_add_cell(table, "%llu", (unsigned long long)share.requests);
		format_fixed_point(text, scaled_ratio(share.requests, summary->requests, 1000), 1,
				   " %");
		text_table_add_cell(table, "%s", text);
		human_format_bytes(text, share.bytes);
		text_table_add_cell(table, "%s", text);
		add_latency_cells(table, &share.latency);
	}
	latency_histogram_free(&share.latency);
}

static void add_statistics_title_row(struct text_table *table)
{
	static const char *const titles[] = { "", "requests", "share", "data", "mean" };

	text_table_add_row(table);
	for (unsigned int i = 0; i < ARRAY_SIZE(titles); i++)
		text_table_add_cell(table, "%s", titles[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(quantiles); i++)
		text_table_add_cell(table, "%s", quantiles[i].title);
	text_table_add_cell(table, "max");
}

static void add_summary_rows(struct text_table *table, const struct trace_summary *summary,
			     const struct trace_classes *classes)
{
	add_row_of_request_group(table, summary, everything, "all", "");
	for (int i = 0; i < AFTL_OPS; i++)
		add_row_of_request_group(table, summary, (struct selection){ -1, i, -1, -1 },
					 "", trace_op_names[i]);
	for (int i = 0; i < (int)classes->count; i++)
		add_row_of_request_group(table, summary,
					 (struct selection){ -1, AFTL_OP_WRITE, i, -1 },
					 "write, ", classes->names[i]);
	for (int i = TRACE_BY_NOBODY + 1; i < TRACE_BYS; i++)
		add_row_of_request_group(table, summary,
					 (struct selection){ -1, AFTL_OP_WRITE, -1, i },
					 "write, said by ", trace_by_names[i]);
	for (int i = 0; i < (int)summary->processes; i++)
		add_row_of_request_group(table, summary, (struct selection){ i, -1, -1, -1 },
					 "process ", summary->names[i]);
}

void trace_summary_print(FILE *out, const struct trace_summary *summary,
			 const struct trace_classes *classes)
{
	struct text_table table;
	char text[HUMAN_SIZE];

	human_format_time_without_padding(text, summary->last_ns - summary->first_ns);
	fprintf(out, "span %s, ", text);
	human_format_bytes(text, summary->end);
	fprintf(out, "addresses up to %s, streams %u\n", text,
		trace_summary_count_streams(summary));
	text_table_begin(&table, 10, 1);
	add_statistics_title_row(&table);
	add_summary_rows(&table, summary, classes);
	text_table_print_and_free(&table, out);
	if (!summary->depth_known)
		return;
	format_fixed_point(text, scaled_ratio(summary->depth_sum, summary->depth_known, 100), 2,
			   "");
	fprintf(out, "requests met %s under way on average, with themselves, and at most %llu\n",
		text, (unsigned long long)summary->depth_max);
}
