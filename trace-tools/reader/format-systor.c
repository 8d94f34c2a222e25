// SPDX-License-Identifier: GPL-2.0-only
/*
 * SYSTOR '17 traces: Timestamp,Response,IOType,LUN,Offset,Size. A request with a blank or unknown
 * type is dropped.
 */
#include "trace-format.h"

#define SECOND_NS 1000000000

static bool parse(struct text_cursor *text, u64 unit, struct trace_request *request,
		  const char **cause)
{
	struct text_cursor type;
	u64 lun;

	if (!text_scaled(text, unit, &request->t_ns) || !text_is(text, ','))
		return false;
	/* The response time is blank in some records. */
	if (!text_is(text, ',') &&
	    (!text_scaled(text, unit, &request->latency_ns) || !text_is(text, ',')))
		return false;
	type = text_until(text, ',');
	if (!text_is(text, ',') || !text_below(text, TRACE_STREAMS - 1, &lun) ||
	    !text_is(text, ',') || !text_u64(text, &request->offset) || !text_is(text, ',') ||
	    !text_u64(text, &request->bytes) || !text_at_end(text))
		return false;
	request->stream = (u16)lun;
	if (trace_word_op(type, &request->op))
		return true;
	*cause = "neither read nor write";
	return false;
}

static enum trace_line_verdict line(struct trace_file *file, struct text_cursor text, void *out,
				    const char **cause)
{
	struct trace_request *request = out;

	*request = (struct trace_request){ 0 };
	if (text_equals(text, "Timestamp,Response,IOType,LUN,Offset,Size"))
		return TRACE_LINE_EMPTY;
	if (!parse(&text, file->time_unit_ns, request, cause))
		return TRACE_LINE_WRONG;
	return trace_check_request(request, cause);
}

const struct trace_format trace_format_systor = {
	.name = "systor",
	.title = "SYSTOR '17 (SNIA 4928)",
	.units = "times and latencies in s, offsets and sizes in bytes",
	.time_unit_ns = SECOND_NS,
	.line = line,
};
