// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tencent block storage traces: Timestamp,Offset,Size,IOType,VolumeID; type 0 is a read, 1 a
 * write.
 */
#include "trace-format.h"

#define SECOND_NS 1000000000

static enum trace_line_verdict line(struct trace_file *file, struct text_cursor text, void *out,
				    const char **cause)
{
	struct trace_request *request = out;
	u64 block, blocks, type, volume;

	*request = (struct trace_request){ 0 };
	if (!text_scaled(&text, file->time_unit_ns, &request->t_ns) || !text_is(&text, ',') ||
	    !text_u64(&text, &block) || !trace_bytes(block, TRACE_SECTOR, &request->offset) ||
	    !text_is(&text, ',') || !text_u64(&text, &blocks) ||
	    !trace_bytes(blocks, TRACE_SECTOR, &request->bytes) || !text_is(&text, ',') ||
	    !text_below(&text, 1, &type) || !text_is(&text, ',') ||
	    !text_below(&text, TRACE_STREAMS - 1, &volume) || !text_at_end(&text))
		return TRACE_LINE_WRONG;
	request->op = type ? AFTL_OP_WRITE : AFTL_OP_READ;
	request->stream = (u16)volume;
	return trace_check_request(request, cause);
}

const struct trace_format trace_format_tencent = {
	.name = "tencent",
	.title = "Tencent's block storage (SNIA 27917)",
	.units = "times in s, offsets and sizes in sectors of 512 bytes",
	.time_unit_ns = SECOND_NS,
	.line = line,
};
