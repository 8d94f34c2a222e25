// SPDX-License-Identifier: GPL-2.0-only
#include "trace-run.h"

static const char usage[] =
	"Usage: approxftl trace info [OPTION ...] FILE ...\n"
	"\n"
	"Reads a whole trace and prints its format, units, time span, mix and lost events.\n";

static int summarise_trace_requests(struct trace_run *run, struct trace_summary *summary,
				    struct aftl_error *error)
{
	struct trace_request request;
	int ret;

	while ((ret = trace_run_next_request(run, &request, error)) > 0)
		trace_summary_add_request(summary, &request, run->reader.names);
	return ret;
}

static int write_info_json(struct trace_run *run, const struct trace_summary *summary,
			   struct aftl_error *error)
{
	struct json_writer json;
	int ret = trace_run_begin_json(run, &json, error);

	if (ret)
		return ret;
	trace_run_write_summary_json(run, &json, summary);
	return trace_run_end_json(run, &json, error);
}

static enum exit_code run_info(struct trace_run *run)
{
	struct trace_summary *summary = trace_summary_create();
	struct aftl_error error;
	int ret = summarise_trace_requests(run, summary, &error);

	progress_end(&run->progress);
	if (!ret && run->options.json) {
		ret = write_info_json(run, summary, &error);
	} else if (!ret) {
		struct trace_classes classes = trace_reader_get_classes(&run->reader);

		trace_reader_describe(&run->reader, stdout);
		trace_summary_print(stdout, summary, &classes);
		trace_reader_print_losses(&run->reader, stdout);
	}
	trace_summary_free(summary);
	return ret ? trace_complain(ret, &error) : EXIT_DONE;
}

const struct trace_verb trace_info = {
	.name = "info",
	.help = "what a trace is: format, units, span, mix",
	.bit = VERB_INFO,
	.usage = usage,
	.run = run_info,
};
