// SPDX-License-Identifier: GPL-2.0-only
/*
 * Alibaba block traces: device_id,opcode,offset,length,timestamp
 */
#include "trace-format.h"

#define US_NS 1000

static enum trace_line_verdict line(struct trace_file *file, struct text_cursor text, void *out,
				    const char **cause)
{
	struct trace_request *request = out;
	u64 device;

	*request = (struct trace_request){ 0 };
	if (text_equals(text, "device_id,opcode,offset,length,timestamp"))
		return TRACE_LINE_EMPTY;
	if (!text_below(&text, TRACE_STREAMS - 1, &device) || !text_is(&text, ',') ||
	    !trace_word_op(text_until(&text, ','), &request->op) || !text_is(&text, ',') ||
	    !text_u64(&text, &request->offset) || !text_is(&text, ',') ||
	    !text_u64(&text, &request->bytes) || !text_is(&text, ',') ||
	    !text_scaled(&text, file->time_unit_ns, &request->t_ns) || !text_at_end(&text))
		return TRACE_LINE_WRONG;
	request->stream = (u16)device;
	return trace_check_request(request, cause);
}

const struct trace_format trace_format_alibaba = {
	.name = "alibaba",
	.title = "Alibaba's block traces",
	.units = "times in us, offsets and sizes in bytes",
	.time_unit_ns = US_NS,
	.line = line,
};
