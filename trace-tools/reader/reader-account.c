// SPDX-License-Identifier: GPL-2.0-only
#include "reader-account.h"

struct trace_classes trace_reader_get_classes(const struct trace_reader *reader)
{
	static const char usual[][AFTL_RECORD_NAME_SIZE] = {
		"precise", "approximate", "approximate_2", "approximate_3",
	};
	const struct trace_file *file = &reader->merge.sources[0].file;

	if (file->class_names)
		return (struct trace_classes){ file->class_names, file->classes };
	return (struct trace_classes){ usual, ARRAY_SIZE(usual) };
}

void trace_reader_describe(const struct trace_reader *reader, FILE *out)
{
	for (u32 i = 0; i < reader->merge.count; i++) {
		const struct trace_file *file = &reader->merge.sources[i].file;

		fprintf(out, "%s: %s: %s; %s%s\n", file->input.name, file->format->name,
			file->format->title, file->format->units,
			file->interrupted ? "; of a run that was interrupted" : "");
	}
}

static const char *const action_names[] = {
	NULL, "Q", "M", "F", "G", "S", "R", "D", "C", "P", "U", "UT", "I", "X", "B", "A", "abort",
	"driver",
};

static void write_actions_json(struct json_writer *json, const struct trace_file *file)
{
	json_begin_inline_object(json, "actions");
	for (u32 i = 0; i < ARRAY_SIZE(action_names); i++)
		if (action_names[i] && file->actions[i])
			json_u64(json, action_names[i], file->actions[i]);
	json_end_object(json);
	json_u64(json, "notes", file->notes);
}

void trace_reader_write_json(const struct trace_reader *reader, struct json_writer *json)
{
	json_begin_array(json, "files");
	for (u32 i = 0; i < reader->merge.count; i++) {
		const struct trace_file *file = &reader->merge.sources[i].file;

		json_begin_object(json, NULL);
		json_string(json, "name", file->input.name);
		json_string(json, "format", file->format->name);
		json_string(json, "units", file->format->units);
		if (file->time_unit_ns)
			json_u64(json, "time_unit_ns", file->time_unit_ns);
		if (file->interrupted)
			json_bool(json, "interrupted", true);
		if (file->format->events)
			write_actions_json(json, file);
		json_end_object(json);
	}
	json_end_array(json);
}

/* Print a number of anomalies and their description, unless the number is 0. */
static void print_loss_count(FILE *out, u64 count, const char *what)
{
	if (count)
		fprintf(out, "%llu %s\n", (unsigned long long)count, what);
}

void trace_reader_print_losses(const struct trace_reader *reader, FILE *out)
{
	const struct trace_losses *losses = &reader->losses;
	const struct trace_pairing_counts *counts;

	print_loss_count(out, losses->lines, "lines were dropped");
	print_loss_count(out, losses->skipped_bytes, "bytes are no event and were skipped");
	print_loss_count(out, losses->missing_events, "events are missing by their numbers");
	print_loss_count(out, losses->late,
			 "items were too far out of order; their times were raised");
	if (losses->told > TRACE_LOSSES_SHOWN && !losses->list)
		print_loss_count(out, losses->told - TRACE_LOSSES_SHOWN,
				 "complaints were not printed; --dropped FILE lists all");
	if (!reader->pairing)
		return;
	counts = trace_pairing_counts(reader->pairing);
	print_loss_count(out, counts->unfinished, "requests without a completion");
	print_loss_count(out, counts->unbegun, "completions without a request");
	print_loss_count(out, counts->failed, "requests ended with an error");
	print_loss_count(out, counts->untagged, "notes of a class without a write");
}

void trace_reader_write_losses_json(const struct trace_reader *reader, struct json_writer *json)
{
	const struct trace_losses *losses = &reader->losses;
	const struct trace_pairing_counts *counts;

	json_begin_object(json, "losses");
	json_u64(json, "dropped_lines", losses->lines);
	json_u64(json, "skipped_bytes", losses->skipped_bytes);
	json_u64(json, "missing_events", losses->missing_events);
	json_u64(json, "late_items", losses->late);
	if (reader->pairing) {
		counts = trace_pairing_counts(reader->pairing);
		json_u64(json, "unfinished_requests", counts->unfinished);
		json_u64(json, "unbegun_completions", counts->unbegun);
		json_u64(json, "failed_requests", counts->failed);
		json_u64(json, "untagged_notes", counts->untagged);
	}
	json_end_object(json);
}
