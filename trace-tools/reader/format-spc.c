// SPDX-License-Identifier: GPL-2.0-only
/*
 * SPC traces (Storage Performance Council, UMass): ASU,LBA,Size,Opcode,Timestamp. Further fields
 * are ignored.
 */
#include "trace-format.h"

#define SECOND_NS 1000000000

static enum trace_line_verdict line(struct trace_file *file, struct text_cursor text, void *out,
				    const char **cause)
{
	struct trace_request *request = out;
	u64 unit, block;

	*request = (struct trace_request){ 0 };
	if (!text_below(&text, TRACE_STREAMS - 1, &unit) || !text_is(&text, ',') ||
	    !text_u64(&text, &block) || !trace_bytes(block, TRACE_SECTOR, &request->offset) ||
	    !text_is(&text, ',') || !text_u64(&text, &request->bytes) || !text_is(&text, ',') ||
	    !trace_word_op(text_until(&text, ','), &request->op) || !text_is(&text, ',') ||
	    !text_scaled(&text, file->time_unit_ns, &request->t_ns) ||
	    !(text_at_end(&text) || text_is(&text, ',')))
		return TRACE_LINE_WRONG;
	request->stream = (u16)unit;
	return trace_check_request(request, cause);
}

const struct trace_format trace_format_spc = {
	.name = "spc",
	.title = "SPC, as of UMass: Financial, WebSearch",
	.units = "times in s, blocks of 512 bytes, sizes in bytes",
	.time_unit_ns = SECOND_NS,
	.line = line,
};
