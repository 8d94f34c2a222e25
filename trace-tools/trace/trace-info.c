// SPDX-License-Identifier: GPL-2.0-only
#include "trace-run.h"

static const char usage[] =
	"Usage: approxftl trace info [OPTION ...] FILE ...\n"
	"\n"
	"Reads all of a trace and says what it is: format, units, span, mix, what was lost.\n";

static int read_all(struct trace_run *run, struct trace_summary *summary, struct aftl_error *error)
{
	struct trace_request request;
	int ret;

	while ((ret = trace_run_next(run, &request, error)) > 0)
		trace_summary_add(summary, &request, run->reader.names);
	return ret;
}

static int put_json(const struct trace_run *run, const struct trace_summary *summary,
		    struct aftl_error *error)
{
	struct trace_classes classes = trace_run_classes(run);
	struct json_writer json;
	FILE *file = trace_run_json_begin(run, &json, error);

	if (!file)
		return -EIO;
	trace_run_describe_json(run, &json);
	trace_run_losses_json(run, &json);
	json_object(&json, "requests");
	trace_summary_json(&json, summary, &classes);
	json_end_object(&json);
	return trace_run_json_end(run, &json, file, error);
}

static void put_text(const struct trace_run *run, const struct trace_summary *summary)
{
	struct trace_classes classes = trace_run_classes(run);

	trace_run_describe(run, stdout);
	trace_summary_text(stdout, summary, &classes);
	trace_run_losses(run, stdout);
}

static enum exit_code tell(struct trace_run *run, struct trace_summary *summary)
{
	struct aftl_error error;
	int ret = read_all(run, summary, &error);

	progress_end(&run->progress);
	if (!ret && run->options.json)
		ret = put_json(run, summary, &error);
	else if (!ret)
		put_text(run, summary);
	return ret ? trace_complain(ret, &error) : EXIT_DONE;
}

enum exit_code trace_info_main(int argc, char **argv)
{
	struct trace_summary *summary = NULL;
	struct trace_run run;
	enum exit_code code = trace_run_begin(&run, VERB_INFO, usage, 0, argc, argv);

	if (!code && !run.options.help) {
		summary = trace_summary_create();
		code = tell(&run, summary);
	}
	trace_summary_free(summary);
	trace_run_end(&run);
	return code;
}
