// SPDX-License-Identifier: GPL-2.0-only
/*
 * Published traces whose lines have fixed columns, separated by commas:
 *
 *	msr		MSR Cambridge; some copies lack the response time
 *	spc		Storage Performance Council, UMass; further columns are ignored
 *	systor		SYSTOR '17; response times may be blank; lines without type are dropped
 *	alibaba		Alibaba's block traces
 *	tencent		Tencent block storage; type 0 is a read, 1 a write
 */
#include "trace-format.h"

#define FILETIME_NS 100
#define US_NS 1000
#define SECOND_NS 1000000000

enum column {
	COLUMN_END,
	COLUMN_TIME,
	COLUMN_LATENCY,
	COLUMN_STREAM,
	COLUMN_OFFSET,
	COLUMN_SECTOR,
	COLUMN_BYTES,
	COLUMN_SECTORS,
	COLUMN_OP,
	COLUMN_TYPE,
	COLUMN_IGNORED,
};

/**
 * struct trace_columns - the columns of a CSV-like trace format
 * @columns: meaning of each column; COLUMN_END follows the last one
 * @heading: title line, or only its first column if copies of the trace differ in the rest; or NULL
 * @more: further columns are ignored
 * @lacks_latency: the last column may be missing
 * @lacks_op: lines without a known operation occur; the reader drops and reports them
 */
struct trace_columns {
	u8 columns[8];
	const char *heading;
	bool more;
	bool lacks_latency;
	bool lacks_op;
};

static bool is_column_heading(const struct trace_columns *columns, struct text_cursor text)
{
	if (!columns->heading)
		return false;
	return strchr(columns->heading, ',') ?
		       is_text_equal(text, columns->heading) :
		       is_text_equal_nocase(text_get_until(&text, ','), columns->heading);
}

static bool parse_count_and_convert_to_bytes(struct text_cursor *text, u64 unit, u64 *bytes)
{
	u64 count;

	return text_get_u64(text, &count) && trace_units_to_bytes(count, unit, bytes);
}

/* Parse a column of a line; clear @op_known if the column has an unknown operation. */
static bool parse_trace_column(const struct trace_file *file, enum column column,
			       struct text_cursor *text, struct trace_request *request,
			       bool *op_known)
{
	u64 number;

	switch (column) {
	case COLUMN_TIME:
		return text_get_scaled_decimal(text, file->time_unit_ns, &request->t_ns);
	case COLUMN_LATENCY:
		return (text->at < text->end && *text->at == ',') ||
		       text_get_scaled_decimal(text, file->time_unit_ns, &request->latency_ns);
	case COLUMN_STREAM:
		if (!text_get_bounded_u64(text, TRACE_STREAMS - 1, &number))
			return false;
		request->stream = (u16)number;
		return true;
	case COLUMN_OFFSET:
		return text_get_u64(text, &request->offset);
	case COLUMN_SECTOR:
		return parse_count_and_convert_to_bytes(text, TRACE_SECTOR, &request->offset);
	case COLUMN_BYTES:
		return text_get_u64(text, &request->bytes);
	case COLUMN_SECTORS:
		return parse_count_and_convert_to_bytes(text, TRACE_SECTOR, &request->bytes);
	case COLUMN_OP:
		*op_known = trace_parse_operation(text_get_until(text, ','), &request->op);
		return true;
	case COLUMN_TYPE:
		if (!text_get_bounded_u64(text, 1, &number))
			return false;
		request->op = number ? AFTL_OP_WRITE : AFTL_OP_READ;
		return true;
	default:
		text_get_until(text, ',');
		return true;
	}
}

static enum trace_line_verdict read_columns_line(struct trace_file *file, struct text_cursor text,
						 void *out, const char **cause)
{
	const struct trace_columns *columns = file->format->columns;
	struct trace_request *request = out;
	bool op_known = true;

	*request = (struct trace_request){ 0 };
	if (is_column_heading(columns, text))
		return TRACE_LINE_EMPTY;
	for (u32 i = 0; columns->columns[i]; i++) {
		if (i && !text_skip_if_equal(&text, ',')) {
			if (columns->lacks_latency && !columns->columns[i + 1])
				break;
			return TRACE_LINE_WRONG;
		}
		if (!parse_trace_column(file, columns->columns[i], &text, request, &op_known))
			return TRACE_LINE_WRONG;
	}
	if (!is_text_at_end(&text) && !(columns->more && text_skip_if_equal(&text, ',')))
		return TRACE_LINE_WRONG;
	if (op_known)
		return trace_check_request(request, cause);
	if (columns->lacks_op)
		*cause = "neither read nor write";
	return TRACE_LINE_WRONG;
}

static int write_msr_request(struct trace_output *output, const struct trace_request *request,
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
	.line = read_columns_line,
	.columns = &(const struct trace_columns){
		.columns = { COLUMN_TIME, COLUMN_IGNORED, COLUMN_STREAM, COLUMN_OP, COLUMN_OFFSET,
			     COLUMN_BYTES, COLUMN_LATENCY },
		.heading = "Timestamp",
		.lacks_latency = true,
	},
	.put = write_msr_request,
};

const struct trace_format trace_format_spc = {
	.name = "spc",
	.title = "SPC, as of UMass: Financial, WebSearch",
	.units = "times in s, blocks of 512 bytes, sizes in bytes",
	.time_unit_ns = SECOND_NS,
	.line = read_columns_line,
	.columns = &(const struct trace_columns){
		.columns = { COLUMN_STREAM, COLUMN_SECTOR, COLUMN_BYTES, COLUMN_OP, COLUMN_TIME },
		.more = true,
	},
};

const struct trace_format trace_format_systor = {
	.name = "systor",
	.title = "SYSTOR '17 (SNIA 4928)",
	.units = "times and latencies in s, offsets and sizes in bytes",
	.time_unit_ns = SECOND_NS,
	.line = read_columns_line,
	.columns = &(const struct trace_columns){
		.columns = { COLUMN_TIME, COLUMN_LATENCY, COLUMN_OP, COLUMN_STREAM, COLUMN_OFFSET,
			     COLUMN_BYTES },
		.heading = "Timestamp,Response,IOType,LUN,Offset,Size",
		.lacks_op = true,
	},
};

const struct trace_format trace_format_alibaba = {
	.name = "alibaba",
	.title = "Alibaba's block traces",
	.units = "times in us, offsets and sizes in bytes",
	.time_unit_ns = US_NS,
	.line = read_columns_line,
	.columns = &(const struct trace_columns){
		.columns = { COLUMN_STREAM, COLUMN_OP, COLUMN_OFFSET, COLUMN_BYTES, COLUMN_TIME },
		.heading = "device_id,opcode,offset,length,timestamp",
	},
};

const struct trace_format trace_format_tencent = {
	.name = "tencent",
	.title = "Tencent's block storage (SNIA 27917)",
	.units = "times in s, offsets and sizes in sectors of 512 bytes",
	.time_unit_ns = SECOND_NS,
	.line = read_columns_line,
	.columns = &(const struct trace_columns){
		.columns = { COLUMN_TIME, COLUMN_SECTOR, COLUMN_SECTORS, COLUMN_TYPE,
			     COLUMN_STREAM },
	},
};
