// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "complain.h"
#include "human-units.h"
#include "interruption.h"
#include "output-file.h"
#include "provenance.h"
#include "trace-change.h"
#include "trace-copy.h"
#include "version.h"

/* Number of requests that are read before writing, to find the properties of the source trace. */
#define PREVIEW 1024

/**
 * struct copy - a trace that is being copied
 * @run: the source
 * @edit: the caller's function for each request
 * @context: first argument of @edit
 * @change: changes that the options ask for
 * @output: the output
 * @file: name of the output
 * @provenance: origin of the requests
 * @preview: the first requests
 * @previewed: number of requests in @preview
 * @next: index of the next request of @preview to write
 */
struct copy {
	struct trace_run *run;
	trace_editor *edit;
	void *context;
	struct trace_change change;
	struct trace_output output;
	struct output_file file;
	char *provenance;
	struct trace_request preview[PREVIEW];
	u32 previewed;
	u32 next;
};

/* Choose the format of the output by the option --to, or by the suffix of the file name. */
static const struct trace_format *choose_output_format(const struct trace_options *options,
						       const char *path)
{
	static const struct {
		const char *end;
		const char *format;
	} ends[] = {
		{ ".aft", "aft" },
		{ ".iolog", "iolog" },
		{ ".csv", "csv" },
		{ ".parquet", "parquet" },
	};
	const char *dot = strrchr(path, '.');

	if (options->to)
		return trace_format_find(options->to);
	if (strstr(path, ".blktrace."))
		return trace_format_find("blktrace");
	for (unsigned int i = 0; dot && i < ARRAY_SIZE(ends); i++)
		if (!strcmp(dot, ends[i].end))
			return trace_format_find(ends[i].format);
	return NULL;
}

static int set_output_format(struct copy *copy, const char *path, struct aftl_error *error)
{
	copy->output.format = choose_output_format(&copy->run->options, path);
	if (!copy->output.format)
		return aftl_fail(error, -EINVAL,
				 "%.120s: the name does not say a format; say it with --to", path);
	if (!copy->output.format->put)
		return aftl_fail(error, -EINVAL, "format %s is only read, not written",
				 copy->output.format->name);
	return 0;
}

/* Set the origin of the requests; only record files can store the user's description. */
static int set_origin_of_copied_requests(struct copy *copy, struct aftl_error *error)
{
	const struct trace_options *options = &copy->run->options;
	const char *origin = options->origin;

	if ((origin || options->fact_count) && strcmp(copy->output.format->name, "aft") != 0)
		return aftl_fail(error, -EINVAL,
				 "--origin and --about are kept by record files (.aft) only");
	if (origin && strlen(origin) >= AFTL_RECORD_TEXT_SIZE)
		return aftl_fail(error, -EINVAL, "--origin: more than %u bytes; use --about",
				 AFTL_RECORD_TEXT_SIZE - 1);
	copy->output.source_format = origin ? origin :
					      trace_reader_format(&copy->run->reader)->name;
	copy->provenance = provenance_text(copy->run, error);
	copy->output.provenance = copy->provenance;
	return copy->provenance ? 0 : -EINVAL;
}

static int read_preview_requests(struct copy *copy, struct aftl_error *error)
{
	int ret = 1;

	while (copy->previewed < PREVIEW) {
		ret = trace_run_next_request(copy->run, &copy->preview[copy->previewed], error);
		if (ret <= 0)
			break;
		copy->previewed++;
	}
	return ret < 0 ? ret : 0;
}

static void print_copy_preview(const struct copy *copy)
{
	u64 writes = 0, span = 0;
	char text[HUMAN_SIZE], share[HUMAN_SIZE];

	if (copy->run->options.quiet)
		return;
	trace_reader_describe(&copy->run->reader, stderr);
	for (u32 i = 0; i < copy->previewed; i++)
		writes += copy->preview[i].op == AFTL_OP_WRITE;
	if (copy->previewed)
		span = copy->preview[copy->previewed - 1].t_ns - copy->preview[0].t_ns;
	human_format_time_without_padding(text, span);
	format_fixed_point(share, scaled_ratio(writes, copy->previewed, 1000), 1, " %");
	fprintf(stderr, "the first %u requests: span %s, %s writes\n", copy->previewed, text,
		share);
}

static int begin_trace_copy(struct copy *copy, const char *path, struct aftl_error *error)
{
	struct trace_run *run = copy->run;
	struct trace_classes classes = trace_reader_get_classes(&run->reader);
	int ret;

	copy->output.path = copy->file.temporary;
	copy->output.name = path;
	copy->output.device_bytes = run->options.device_bytes ? run->options.device_bytes :
		run->reader.merge.sources[0].file.device_bytes;
	copy->output.tool_version = approxftl_version();
	copy->output.class_names = classes.names;
	copy->output.classes = classes.count;
	copy->output.names = run->reader.names;
	ret = output_file_begin(&copy->file, path, "OUT", run->options.force, error);
	if (!ret)
		ret = trace_output_open(&copy->output, error);
	return ret;
}

/* Get the next request: of the preview (requests read in advance), then of the trace. */
static int next_request_to_copy(struct copy *copy, struct trace_request *request,
				struct aftl_error *error)
{
	int ret = 1;

	if (copy->next < copy->previewed)
		*request = copy->preview[copy->next++];
	else
		ret = trace_run_next_request(copy->run, request, error);
	if (ret > 0 && copy->edit)
		copy->edit(copy->context, request,
			   process_names_get(copy->run->reader.names, request->pid));
	return ret;
}

static int write_all_requests(struct copy *copy, struct aftl_error *error)
{
	struct trace_request request, rest;
	int ret;

	while ((ret = next_request_to_copy(copy, &request, error)) > 0) {
		ret = trace_change_apply(&copy->change, &request, &rest, error);
		if (!ret)
			continue;
		if (ret > 0)
			ret = trace_output_write_request(&copy->output, &request, error);
		if (!ret && rest.bytes)
			ret = trace_output_write_request(&copy->output, &rest, error);
		if (ret)
			return ret;
	}
	return ret;
}

static int refuse_lossy_copy_in_strict_mode(const struct copy *copy, struct aftl_error *error)
{
	for (u32 op = 0; copy->run->options.reading.strict && op < AFTL_OPS; op++)
		if (copy->output.unfit[op])
			return aftl_fail(error, -EINVAL, "%s cannot hold %llu requests: %s",
					 copy->output.format->name,
					 (unsigned long long)copy->output.unfit[op],
					 trace_op_names[op]);
	return 0;
}

static void print_copy_result(const struct copy *copy)
{
	const struct trace_change *change = &copy->change;
	u64 unfit = 0;

	trace_reader_print_losses(&copy->run->reader, stderr);
	for (u32 op = 0; op < AFTL_OPS; op++) {
		unfit += copy->output.unfit[op];
		if (copy->output.unfit[op])
			fprintf(stderr, "%llu requests left out, which %s cannot hold: %s\n",
				(unsigned long long)copy->output.unfit[op],
				copy->output.format->name, trace_op_names[op]);
	}
	if (change->left_out)
		fprintf(stderr, "%llu requests are not in the sample\n",
			(unsigned long long)change->left_out);
	if (change->folded)
		fprintf(stderr, "%llu requests were beyond --fold and came round\n",
			(unsigned long long)change->folded);
	if (!copy->run->options.quiet)
		fprintf(stderr, "%llu requests written to %s\n",
			(unsigned long long)(copy->output.written - unfit), copy->file.path);
}

static int write_copy_json(const struct copy *copy, struct aftl_error *error)
{
	struct json_writer json;
	int ret = trace_run_begin_json(copy->run, &json, error);

	if (ret)
		return ret;
	trace_reader_write_json(&copy->run->reader, &json);
	trace_reader_write_losses_json(&copy->run->reader, &json);
	json_begin_object(&json, "written");
	json_string(&json, "format", copy->output.format->name);
	json_u64(&json, "requests", copy->output.written);
	json_begin_inline_object(&json, "left_out");
	for (u32 op = 0; op < AFTL_OPS; op++)
		if (copy->output.unfit[op])
			json_u64(&json, trace_op_names[op], copy->output.unfit[op]);
	json_end_object(&json);
	json_u64(&json, "not_in_sample", copy->change.left_out);
	json_u64(&json, "folded", copy->change.folded);
	json_end_object(&json);
	return trace_run_end_json(copy->run, &json, error);
}

/* Copy the trace; afterwards close everything that was opened, also after a failure. */
static int run_trace_copy(struct copy *copy, const char *path, struct aftl_error *error)
{
	struct aftl_error other;
	int ret = begin_trace_copy(copy, path, error);
	int closed;

	if (ret) {
		output_file_abandon(&copy->file);
		return ret;
	}
	ret = write_all_requests(copy, error);
	/* A signal interrupts writes to a pipe: report "interrupted", not the failed write. */
	if (ret && is_stop_requested())
		ret = aftl_fail(error, -EINTR, "interrupted");
	closed = trace_output_finish(&copy->output, ret ? &other : error);
	if (!ret)
		ret = closed;
	if (!ret)
		ret = refuse_lossy_copy_in_strict_mode(copy, error);
	if (!ret)
		return output_file_commit(&copy->file, error);
	output_file_abandon(&copy->file);
	return ret;
}

enum exit_code trace_copy(struct trace_run *run, trace_editor *edit, void *context)
{
	struct copy *copy = memory_alloc_zeroed(1, sizeof(*copy));
	const char *path = run->options.words[run->options.word_count - 1];
	struct aftl_error error;
	int ret;

	*copy = (struct copy){ .run = run, .edit = edit, .context = context };
	ret = trace_change_init(&copy->change, &run->options, &error);
	if (!ret)
		ret = set_output_format(copy, path, &error);
	if (!ret)
		ret = set_origin_of_copied_requests(copy, &error);
	if (ret) {
		free(copy);
		return trace_complain_usage(&error);
	}
	ret = read_preview_requests(copy, &error);
	if (!ret) {
		print_copy_preview(copy);
		ret = run_trace_copy(copy, path, &error);
	}
	progress_end(&run->progress);
	if (!ret)
		print_copy_result(copy);
	if (!ret && run->options.json)
		ret = write_copy_json(copy, &error);
	free(copy->provenance);
	free(copy);
	return ret ? trace_complain(ret, &error) : EXIT_DONE;
}

static enum exit_code run_convert(struct trace_run *run)
{
	return trace_copy(run, NULL, NULL);
}

const struct trace_verb trace_convert = {
	.name = "convert",
	.help = "from any format to another",
	.bit = VERB_CONVERT,
	.usage = "Usage: approxftl trace convert [OPTION ...] IN ... OUT\n"
		 "\n"
		 "Reads a trace in any format that \"approxftl trace formats\" lists, and writes it in another.\n"
		 "Several files become one stream in the order of time.\n",
	.targets = 1,
	.run = run_convert,
};
