// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces of the simulators MQSim and SSDSim: time, device, first sector, sectors and type (0
 * write, 1 read), separated by blanks. Times are integers in ns: MQSim ignores the time unit that
 * its documents describe. Other simulators write decimals without an agreed unit.
 */
#include "trace-format.h"

static enum trace_line_verdict read_mqsim_line(struct trace_file *file, struct text_cursor text,
					       void *out, const char **cause)
{
	struct trace_request *request = out;
	u64 device, sector, sectors, type;
	struct text_cursor time;

	*request = (struct trace_request){ 0 };
	text_skip_blanks(&text);
	time = text;
	if (!text_get_scaled_decimal(&text, file->time_unit_ns, &request->t_ns) ||
	    !text_skip_required_blanks(&text) ||
	    !text_get_bounded_u64(&text, TRACE_STREAMS - 1, &device) ||
	    !text_skip_required_blanks(&text) || !text_get_u64(&text, &sector) ||
	    !trace_units_to_bytes(sector, TRACE_SECTOR, &request->offset) ||
	    !text_skip_required_blanks(&text) || !text_get_u64(&text, &sectors) ||
	    !trace_units_to_bytes(sectors, TRACE_SECTOR, &request->bytes) ||
	    !text_skip_required_blanks(&text) || !text_get_bounded_u64(&text, 1, &type) ||
	    !text_skip_blanks(&text) || !is_text_at_end(&text))
		return TRACE_LINE_WRONG;
	/* Accept decimals while the format is detected; open_mqsim_trace() checks the unit. */
	if (file->input.bytes && !file->hints->time_unit_ns &&
	    memchr(time.at, '.', (size_t)(time.end - time.at))) {
		*cause = "a time with decimals, whose unit must be told: --time-unit";
		return TRACE_LINE_WRONG;
	}
	request->op = type ? AFTL_OP_READ : AFTL_OP_WRITE;
	request->stream = (u16)device;
	return trace_check_request(request, cause);
}

/* Require a time unit if the first time has decimals; decimals on later lines are unreadable. */
static int open_mqsim_trace(struct trace_file *file, struct aftl_error *error)
{
	const char *head = (const char *)trace_input_next_bytes(&file->input);
	struct text_cursor text = { head, head + trace_input_left(&file->input) };
	struct text_cursor first = text_get_until(&text, '\n');

	text_skip_blanks(&first);
	first = text_get_word(&first);
	if (file->hints->time_unit_ns || !memchr(first.at, '.', (size_t)(first.end - first.at)))
		return 0;
	return aftl_fail(error, -EINVAL,
			 "%.80s: times have decimals, so their unit is not ns; say --time-unit s, ms or us",
			 file->input.name);
}

static int write_mqsim_request(struct trace_output *output, const struct trace_request *request,
			       struct aftl_error *error __maybe_unused)
{
	u64 first = request->offset / TRACE_SECTOR;
	u64 behind = DIV_ROUND_UP(request->offset + request->bytes, TRACE_SECTOR);

	if (request->op > AFTL_OP_WRITE) {
		output->unfit[request->op]++;
		return 0;
	}
	fprintf(output->file, "%llu %u %llu %llu %u\n", (unsigned long long)request->t_ns,
		request->stream, (unsigned long long)first, (unsigned long long)(behind - first),
		request->op == AFTL_OP_READ);
	return 0;
}

const struct trace_format trace_format_mqsim = {
	.name = "mqsim",
	.title = "ASCII of the simulators MQSim and SSDSim",
	.units = "times in ns, sectors of 512 bytes",
	.time_unit_ns = 1,
	.open = open_mqsim_trace,
	.line = read_mqsim_line,
	.put = write_mqsim_request,
};
