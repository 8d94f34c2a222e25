// SPDX-License-Identifier: GPL-2.0-only
/*
 * fio's iolog, versions 2 and 3:
 *
 *	fio version 2 iolog		fio version 3 iolog
 *	FILE add|open|close		USEC FILE add|open|close
 *	FILE ACTION OFFSET LENGTH	USEC FILE ACTION OFFSET LENGTH
 *	FILE wait USEC
 *
 * A wait in version 2 counts from the previous wait.
 */
#include <stdlib.h>

#include "checked-memory.h"
#include "trace-format.h"

#define US_NS 1000

/**
 * struct iolog - state of the reader
 * @version: 2 or 3
 * @now_ns: current time: the sum of the waits so far
 * @names: file names, one after the other, each terminated with a zero
 * @names_size: bytes used in @names
 * @last: stream number that the last lookup returned
 * @last_at: position of the name of stream @last in @names
 */
struct iolog {
	u32 version;
	u64 now_ns;
	char *names;
	size_t names_size;
	u32 last;
	size_t last_at;
};

static const char title[] = "fio version ";

static bool is_iolog_format(const u8 *head, size_t size)
{
	return size >= sizeof(title) && !memcmp(head, title, sizeof(title) - 1);
}

static int open_iolog_trace(struct trace_file *file, struct aftl_error *error)
{
	struct iolog *iolog;
	struct trace_line first;
	struct text_cursor text;
	u64 version;
	int ret = trace_input_next_line(&file->input, &first, error);

	if (ret < 0)
		return ret;
	text = ret ? (struct text_cursor){ first.at, first.end } : (struct text_cursor){ 0 };
	if (!ret || !is_iolog_format((const u8 *)text.at, (size_t)(text.end - text.at)))
		return aftl_fail(error, -EINVAL,
				 "%.120s: line 1: not \"fio version 2 iolog\" nor 3",
				 file->input.name);
	text.at += sizeof(title) - 1;
	if (!text_get_u64(&text, &version) || version < 2 || version > 3)
		return aftl_fail(error, -EINVAL,
				 "%.120s: line 1: only versions 2 and 3 of fio's log are known",
				 file->input.name);
	iolog = memory_alloc_zeroed(1, sizeof(*iolog));
	iolog->version = (u32)version;
	file->state = iolog;
	return 0;
}

static void close_iolog_trace(struct trace_file *file)
{
	struct iolog *iolog = file->state;

	if (iolog)
		free(iolog->names);
}

static u32 add_file_name(struct iolog *iolog, struct text_cursor name)
{
	size_t length = (size_t)(name.end - name.at);

	iolog->names = memory_resize(iolog->names, iolog->names_size + length + 1, 1);
	memcpy(iolog->names + iolog->names_size, name.at, length);
	iolog->names[iolog->names_size + length] = '\0';
	iolog->names_size += length + 1;
	return 0;
}

/* Map a file name to a stream number; files are numbered from 0 as they appear. */
static bool stream_of_file_name(struct iolog *iolog, struct text_cursor name, u16 *stream)
{
	u32 number = 0;
	size_t at = 0;

	if (iolog->names_size && is_text_equal(name, iolog->names + iolog->last_at)) {
		*stream = (u16)iolog->last;
		return true;
	}
	for (; at < iolog->names_size && !is_text_equal(name, iolog->names + at); number++)
		at += strlen(iolog->names + at) + 1;
	if (number >= TRACE_STREAMS)
		return false;
	if (at == iolog->names_size)
		add_file_name(iolog, name);
	iolog->last = number;
	iolog->last_at = at;
	*stream = (u16)number;
	return true;
}

static bool operation_of_action(struct text_cursor action, u8 *op)
{
	if (trace_parse_operation(action, op))
		return true;
	*op = AFTL_OP_FLUSH;
	if (is_text_equal(action, "sync") || is_text_equal(action, "datasync"))
		return true;
	*op = AFTL_OP_DISCARD;
	return is_text_equal(action, "trim");
}

static enum trace_line_verdict parse_wait_line(struct trace_file *file, struct text_cursor *text)
{
	struct iolog *iolog = file->state;
	u64 ns;

	if (iolog->version != 2 || !text_skip_required_blanks(text) ||
	    !text_get_scaled_decimal(text, file->time_unit_ns, &ns) ||
	    __builtin_add_overflow(iolog->now_ns, ns, &iolog->now_ns))
		return TRACE_LINE_WRONG;
	return TRACE_LINE_EMPTY;
}

static bool parse_iolog_range(struct text_cursor *text, struct trace_request *request)
{
	if (request->op == AFTL_OP_FLUSH)
		return true;
	return text_skip_required_blanks(text) && text_get_u64(text, &request->offset) &&
	       text_skip_required_blanks(text) && text_get_u64(text, &request->bytes) &&
	       text_skip_blanks(text) && is_text_at_end(text);
}

static enum trace_line_verdict read_iolog_line(struct trace_file *file, struct text_cursor text,
					       void *out, const char **cause)
{
	struct trace_request *request = out;
	struct iolog *iolog = file->state;
	struct text_cursor name, action;

	*request = (struct trace_request){ .t_ns = iolog->now_ns };
	if (iolog->version == 3 &&
	    (!text_get_scaled_decimal(&text, file->time_unit_ns, &request->t_ns) ||
	     !text_skip_required_blanks(&text)))
		return TRACE_LINE_WRONG;
	name = text_get_word(&text);
	text_skip_required_blanks(&text);
	action = text_get_word(&text);
	if (is_text_equal(action, "add") || is_text_equal(action, "open") ||
	    is_text_equal(action, "close"))
		return TRACE_LINE_EMPTY;
	if (is_text_equal(action, "wait"))
		return parse_wait_line(file, &text);
	if (!operation_of_action(action, &request->op) || !parse_iolog_range(&text, request))
		return TRACE_LINE_WRONG;
	if (!stream_of_file_name(iolog, name, &request->stream)) {
		*cause = "more than 65536 files";
		return TRACE_LINE_WRONG;
	}
	return trace_check_request(request, cause);
}

/* Write the name of a stream in the iolog: a file name, unique for each stream. */
static void write_file_name(FILE *file, u32 stream)
{
	fputs("device", file);
	if (stream)
		fprintf(file, "-%u", stream);
}

/* fio requires add and open lines before a file is used. */
static int begin_iolog_file(struct trace_output *output, struct aftl_error *error __maybe_unused)
{
	output->state = memory_alloc_zeroed(TRACE_STREAMS, sizeof(bool));
	fputs("fio version 3 iolog\n", output->file);
	return 0;
}

static void open_iolog_file(struct trace_output *output, const struct trace_request *request)
{
	bool *opened = output->state;
	static const char *const actions[] = { "add", "open" };

	for (unsigned int i = 0; i < ARRAY_SIZE(actions) && !opened[request->stream]; i++) {
		fprintf(output->file, "%llu ", (unsigned long long)(request->t_ns / US_NS));
		write_file_name(output->file, request->stream);
		fprintf(output->file, " %s\n", actions[i]);
	}
	opened[request->stream] = true;
}

static int write_iolog_request(struct trace_output *output, const struct trace_request *request,
			       struct aftl_error *error __maybe_unused)
{
	static const char *const actions[AFTL_OPS] = {
		[AFTL_OP_READ] = "read",
		[AFTL_OP_WRITE] = "write",
		[AFTL_OP_FLUSH] = "sync",
		[AFTL_OP_DISCARD] = "trim",
	};

	if (!actions[request->op]) {
		output->unfit[request->op]++;
		return 0;
	}
	open_iolog_file(output, request);
	fprintf(output->file, "%llu ", (unsigned long long)(request->t_ns / US_NS));
	write_file_name(output->file, request->stream);
	fprintf(output->file, " %s %llu %llu\n", actions[request->op],
		(unsigned long long)request->offset, (unsigned long long)request->bytes);
	return 0;
}

static int finish_iolog_file(struct trace_output *output, struct aftl_error *error __maybe_unused)
{
	free(output->state);
	output->state = NULL;
	return 0;
}

const struct trace_format trace_format_iolog = {
	.name = "iolog",
	.title = "fio's log of requests (read 2 and 3, written 3)",
	.units = "times in us, offsets and sizes in bytes",
	.time_unit_ns = US_NS,
	.open = open_iolog_trace,
	.close = close_iolog_trace,
	.known = is_iolog_format,
	.line = read_iolog_line,
	.begin = begin_iolog_file,
	.put = write_iolog_request,
	.finish = finish_iolog_file,
};
