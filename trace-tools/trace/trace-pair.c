// SPDX-License-Identifier: GPL-2.0-only
#include "complain.h"
#include "output-file.h"
#include "trace-run.h"

static const char usage[] =
	"Usage: approxftl trace pair [OPTION ...] FILE ...\n"
	"\n"
	"Matches the begin and the end of each request, and prints latencies by operation, class and\n"
	"process, the queue depth, and what applications have said of regions and labels.\n";

/* Maximum number of notes (regions and labels) that are printed; --json has all of them. */
#define SHOWN 20

static const char title[] =
	"t_ns,op,offset_bytes,bytes,latency_ns,pid,process,stream,class,said_by,fua,preflush";

static void write_paired_request_row(FILE *file, const struct trace_run *run,
				     const struct trace_request *request, const char *name)
{
	struct trace_classes classes = trace_reader_get_classes(&run->reader);

	fprintf(file, "%llu,%s,%llu,%llu,%llu,%u,", (unsigned long long)request->t_ns,
		trace_op_names[request->op], (unsigned long long)request->offset,
		(unsigned long long)request->bytes, (unsigned long long)request->latency_ns,
		request->pid);
	for (; name && *name; name++)
		fputc(*name == ',' || *name == '"' || *name < ' ' ? '_' : *name, file);
	fprintf(file, ",%u,%s,%s,%u,%u\n", request->stream,
		request->class < classes.count ? classes.names[request->class] : "",
		request->op == AFTL_OP_WRITE ? trace_by_names[request->by] : "", request->fua,
		request->preflush);
}

static int read_paired_requests(struct trace_run *run, struct trace_summary *summary, FILE *rows,
				struct aftl_error *error)
{
	struct trace_request request;
	int ret;

	while ((ret = trace_run_next_request(run, &request, error)) > 0) {
		trace_summary_add_request(summary, &request, run->reader.names);
		if (rows)
			write_paired_request_row(rows, run, &request,
						 process_names_get(run->reader.names, request.pid));
	}
	return ret;
}

static int write_rows_of_paired_requests(struct trace_run *run, struct trace_summary *summary,
					 struct aftl_error *error)
{
	struct output_file file;
	int ret = output_file_open(&file, run->options.requests, "--requests", true, error);

	if (ret)
		return ret;
	fprintf(file.stream, "%s\n", title);
	ret = read_paired_requests(run, summary, file.stream, error);
	if (!ret)
		return output_file_close(&file, error);
	output_file_abandon(&file);
	return ret;
}

static int write_paired_requests_json(struct trace_run *run, const struct trace_summary *summary,
				      struct aftl_error *error)
{
	struct json_writer json;
	int ret = trace_run_begin_json(run, &json, error);

	if (ret)
		return ret;
	trace_run_write_summary_json(run, &json, summary);
	json_begin_array(&json, "remarks");
	for (u32 i = 0; i < run->reader.remark_count; i++) {
		json_begin_inline_object(&json, NULL);
		json_u64(&json, "t_ns", run->reader.remarks[i].t_ns);
		json_string(&json, "text", run->reader.remarks[i].text);
		json_end_object(&json);
	}
	json_end_array(&json);
	return trace_run_end_json(run, &json, error);
}

static void print_pairing_summary(const struct trace_run *run, const struct trace_summary *summary)
{
	struct trace_classes classes = trace_reader_get_classes(&run->reader);

	trace_summary_print(stdout, summary, &classes);
	for (u32 i = 0; i < min(run->reader.remark_count, (u32)SHOWN); i++)
		printf("at %llu ns: %s\n",
		       (unsigned long long)(run->reader.remarks[i].t_ns - summary->first_ns),
		       run->reader.remarks[i].text);
	if (run->reader.remark_count > SHOWN)
		printf("%u more remarks; --json has them\n", run->reader.remark_count - SHOWN);
	trace_reader_print_losses(&run->reader, stdout);
}

static enum exit_code run_pair(struct trace_run *run)
{
	struct trace_summary *summary = trace_summary_create();
	struct aftl_error error;
	int ret = run->options.requests ? write_rows_of_paired_requests(run, summary, &error) :
					  read_paired_requests(run, summary, NULL, &error);

	progress_end(&run->progress);
	if (!ret && run->options.json)
		ret = write_paired_requests_json(run, summary, &error);
	else if (!ret && (!run->options.requests || strcmp(run->options.requests, "-") != 0))
		print_pairing_summary(run, summary);
	trace_summary_free(summary);
	return ret ? trace_complain(ret, &error) : EXIT_DONE;
}

const struct trace_verb trace_pair = {
	.name = "pair",
	.help = "latencies, queue depth, processes, tags of a trace",
	.bit = VERB_PAIR,
	.usage = usage,
	.run = run_pair,
};
