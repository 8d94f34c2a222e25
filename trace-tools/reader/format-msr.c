// SPDX-License-Identifier: GPL-2.0-only
/*
 * MSR Cambridge: Timestamp,Hostname,Disk,Type,Offset,Size,ResponseTime
 */
#include "trace-format.h"

#define FILETIME_NS 100

static bool parse(struct text_cursor *text, u64 unit, struct trace_request *request)
{
	u64 disk;

	if (!text_scaled(text, unit, &request->t_ns) || !text_is(text, ','))
		return false;
	text_until(text, ',');
	if (!text_is(text, ',') || !text_below(text, TRACE_STREAMS - 1, &disk) ||
	    !text_is(text, ',') || !trace_word_op(text_until(text, ','), &request->op) ||
	    !text_is(text, ',') ||
	    !text_u64(text, &request->offset) || !text_is(text, ',') ||
	    !text_u64(text, &request->bytes))
		return false;
	request->stream = (u16)disk;
	/* Some copies lack the response time. */
	return text_at_end(text) ||
	       (text_is(text, ',') && text_scaled(text, unit, &request->latency_ns) &&
		text_at_end(text));
}

static enum trace_line_verdict line(struct trace_file *file, struct text_cursor text, void *out,
				    const char **cause)
{
	struct trace_request *request = out;

	*request = (struct trace_request){ 0 };
	if (text_says(text_until(&(struct text_cursor){ text.at, text.end }, ','), "Timestamp"))
		return TRACE_LINE_EMPTY;
	if (!parse(&text, file->time_unit_ns, request))
		return TRACE_LINE_WRONG;
	return trace_check_request(request, cause);
}

static int put(struct trace_output *output, const struct trace_request *request,
	       struct aftl_error *error __maybe_unused)
{
	if (request->op > AFTL_OP_WRITE) {
		output->unfit[request->op]++;
		return 0;
	}
	fprintf(output->file, "%llu,approxftl,%u,%s,%llu,%llu,%llu\n",
		(unsigned long long)(request->t_ns / FILETIME_NS), request->stream,
		request->op == AFTL_OP_READ ? "Read" : "Write",
		(unsigned long long)request->offset, (unsigned long long)request->bytes,
		(unsigned long long)(request->latency_ns / FILETIME_NS));
	return 0;
}

const struct trace_format trace_format_msr = {
	.name = "msr",
	.title = "MSR Cambridge CSV",
	.units = "times and latencies in 100 ns, offsets and sizes in bytes",
	.time_unit_ns = FILETIME_NS,
	.line = line,
	.put = put,
};
