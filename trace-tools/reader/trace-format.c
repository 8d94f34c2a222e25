// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "trace-format.h"

#define FORMAT(name) extern const struct trace_format trace_format_##name;
#include "format-list.h"
#undef FORMAT

const struct trace_format *const trace_formats[] = {
#define FORMAT(name) (&trace_format_##name),
#include "format-list.h"
#undef FORMAT
	NULL,
};

const char *const trace_by_names[TRACE_BYS] = {
	[TRACE_BY_NOBODY] = "nobody",	  [TRACE_BY_TAG] = "tag",
	[TRACE_BY_FILE] = "file",	  [TRACE_BY_BUFFER] = "buffer",
	[TRACE_BY_THREAD] = "thread",	  [TRACE_BY_PROCESS] = "process",
	[TRACE_BY_PRIORITY] = "priority", [TRACE_BY_DEVICE] = "device",
	[TRACE_BY_TABLE] = "table",	  [TRACE_BY_RULE] = "rule",
	[TRACE_BY_HINT] = "hint",	  [TRACE_BY_STREAM] = "stream",
};

/* Number of lines that are examined to detect a text format, and how many may be unreadable. */
#define PROBED_LINES 64
#define PROBE_TOLERANCE 10

/* Number of bytes that are examined to detect a trace format. */
#define PROBED_BYTES 65536

const struct trace_format *trace_format_find(const char *name)
{
	const struct trace_format *const *format;

	for (format = trace_formats; *format && strcmp((*format)->name, name) != 0; format++)
		;
	return *format;
}

size_t trace_item_bytes(const struct trace_format *format)
{
	return format->events ? sizeof(struct trace_event) : sizeof(struct trace_request);
}

bool trace_parse_operation(struct text_cursor word, u8 *op)
{
	*op = AFTL_OP_READ;
	if (is_text_equal_nocase(word, "r") || is_text_equal_nocase(word, "read"))
		return true;
	*op = AFTL_OP_WRITE;
	return is_text_equal_nocase(word, "w") || is_text_equal_nocase(word, "write");
}

bool trace_operation_of_scsi_code(u64 code, u8 *op)
{
	/* SCSI operation codes of commands of 6, 10, 16 and 12 bytes, and of WRITE AND VERIFY. */
	static const u8 codes[AFTL_OPS][8] = {
		[AFTL_OP_READ] = { 0x08, 0x28, 0x88, 0xa8 },
		[AFTL_OP_WRITE] = { 0x0a, 0x2a, 0x8a, 0xaa, 0x2e, 0x8e, 0xae },
		[AFTL_OP_FLUSH] = { 0x35, 0x91 },
		[AFTL_OP_DISCARD] = { 0x42 },
		[AFTL_OP_WRITE_ZEROES] = { 0x41, 0x93 },
	};

	for (*op = 0; *op < AFTL_OPS; (*op)++)
		for (u32 i = 0; i < ARRAY_SIZE(codes[0]); i++)
			if (code && codes[*op][i] == code)
				return true;
	return false;
}

enum trace_line_verdict trace_check_request(const struct trace_request *request,
					    const char **cause)
{
	u64 end;

	*cause = NULL;
	if (!request->bytes && request->op != AFTL_OP_FLUSH)
		*cause = "a request of 0 bytes";
	else if (__builtin_add_overflow(request->offset, request->bytes, &end) ||
		 end > U64_MAX - TRACE_SECTOR)
		*cause = "beyond the last byte of 64 bits";
	else if (request->bytes > TRACE_BYTES_MAX)
		*cause = "a request of more than 1 TiB";
	return *cause ? TRACE_LINE_WRONG : TRACE_LINE_DONE;
}

/* union trace_item - a line of a trace, converted to a request or an event */
union trace_item {
	struct trace_request request;
	struct trace_event event;
};

/* Return true if the first lines of a file parse in the format; ignore a partial last line. */
static bool do_lines_have_format(struct trace_file *file, const u8 *head, size_t size)
{
	const char *at = (const char *)head, *end = at + size, *stop;
	u32 lines = 0, wrong = 0, done = 0;

	for (; lines < PROBED_LINES && at < end; lines++, at = stop + 1) {
		enum trace_line_verdict verdict;
		struct text_cursor line;
		union trace_item item;
		const char *cause;

		stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop && lines)
			break;
		stop = stop ? stop : end;
		cause = NULL;
		line = (struct text_cursor){ at, stop > at && stop[-1] == '\r' ? stop - 1 : stop };
		verdict = file->format->line(file, line, &item, &cause);
		wrong += verdict == TRACE_LINE_WRONG;
		done += verdict == TRACE_LINE_DONE;
	}
	return done && wrong * PROBE_TOLERANCE <= lines;
}

static bool does_file_have_format(const struct trace_file *file, const struct trace_format *format,
				  const u8 *head, size_t size)
{
	struct trace_file trial = {
		.format = format,
		.hints = file->hints,
		.losses = file->losses,
		.time_unit_ns = format->time_unit_ns ? format->time_unit_ns : 1,
		.offset_unit = TRACE_SECTOR,
	};

	if (format->told_only)
		return false;
	if (format->known)
		return format->known(head, size);
	return format->line && do_lines_have_format(&trial, head, size);
}

static int detect_trace_format(struct trace_file *file, struct aftl_error *error)
{
	const u8 *head = trace_input_next_bytes(&file->input);
	size_t size = min(trace_input_left(&file->input), (size_t)PROBED_BYTES);
	const struct trace_format *const *format;

	for (format = trace_formats; *format; format++) {
		if (!does_file_have_format(file, *format, head, size))
			continue;
		if (file->format)
			return aftl_fail(error, -EINVAL,
					 "%.80s: could be %s or %s; say which with --from",
					 file->input.name, file->format->name, (*format)->name);
		file->format = *format;
	}
	if (!file->format)
		return aftl_fail(error, -EINVAL,
				 "%.80s: the format is not known; \"approxftl trace formats\" lists what --from takes",
				 file->input.name);
	return 0;
}

static int set_format_units(struct trace_file *file, struct aftl_error *error)
{
	file->time_unit_ns = file->hints->time_unit_ns ? file->hints->time_unit_ns :
							 file->format->time_unit_ns;
	file->offset_unit = file->hints->offset_unit ? file->hints->offset_unit : TRACE_SECTOR;
	if (!file->time_unit_ns && file->format->line)
		return aftl_fail(error, -EINVAL,
				 "%.80s: %s does not say the unit of its times; say --time-unit s, ms, us or ns",
				 file->input.name, file->format->name);
	return 0;
}

static int begin_trace_format(struct trace_file *file, struct aftl_error *error)
{
	int ret = trace_input_fill_buffer(&file->input, PROBED_BYTES, error);

	if (ret)
		return ret;
	if (!trace_input_left(&file->input))
		return aftl_fail(error, -ENODATA, "%.120s: the file is empty", file->input.name);
	if (!file->hints->format)
		ret = detect_trace_format(file, error);
	else
		file->format = trace_format_find(file->hints->format);
	if (ret || !file->format)
		return ret ? ret : aftl_fail(error, -EINVAL, "there is no format \"%.40s\"",
					     file->hints->format);
	if (!file->format->line && !file->format->fill)
		return aftl_fail(error, -EINVAL, "format %s is only written, not read",
				 file->format->name);
	ret = set_format_units(file, error);
	if (!ret && file->format->open)
		ret = file->format->open(file, error);
	return ret;
}

int trace_file_open_input(struct trace_file *file, const struct trace_input *input,
			  const struct trace_hints *hints, struct trace_losses *losses,
			  struct aftl_error *error)
{
	int ret;

	*file = (struct trace_file){ .input = *input, .hints = hints, .losses = losses };
	ret = begin_trace_format(file, error);
	if (ret)
		trace_file_close(file);
	return ret;
}

int trace_file_open(struct trace_file *file, const char *path, const struct trace_hints *hints,
		    struct trace_losses *losses, struct aftl_error *error)
{
	struct trace_input input;
	int ret = trace_input_open(&input, path, error);

	return ret ? ret : trace_file_open_input(file, &input, hints, losses, error);
}

struct trace_text {
	struct trace_text *next;
	char text[];
};

const char *trace_file_keep_copy_of_text(struct trace_file *file, const char *text, size_t length)
{
	struct trace_text *kept;

	if (file->texts_kept >= TRACE_TEXTS)
		return NULL;
	file->texts_kept++;
	kept = memory_alloc_zeroed(1, sizeof(*kept) + length + 1);
	memcpy(kept->text, text, length);
	kept->next = file->texts;
	file->texts = kept;
	return kept->text;
}

void trace_file_close(struct trace_file *file)
{
	struct trace_text *next;

	if (file->format && file->format->close)
		file->format->close(file);
	free(file->state);
	file->state = NULL;
	for (; file->texts; file->texts = next) {
		next = file->texts->next;
		free(file->texts);
	}
	trace_input_close(&file->input);
}

static int read_items_from_text_lines(struct trace_file *file, void *out, u32 room,
				      struct aftl_error *error)
{
	size_t item_bytes = trace_item_bytes(file->format);
	u32 done = 0;

	while (done < room) {
		const char *cause = NULL;
		struct trace_line line;
		int ret = trace_input_next_line(&file->input, &line, error);

		if (ret < 0)
			return ret;
		if (!ret)
			break;
		switch (file->format->line(file, (struct text_cursor){ line.at, line.end },
					   (u8 *)out + done * item_bytes, &cause)) {
		case TRACE_LINE_DONE:
			done++;
			break;
		case TRACE_LINE_EMPTY:
			break;
		case TRACE_LINE_WRONG:
			file->losses->lines++;
			ret = trace_losses_print(file->losses, file->input.name, "line",
						 file->input.line, error, "dropped: %s",
						 cause ? cause : "not a line of this format");
			if (ret)
				return ret;
		}
	}
	return (int)done;
}

int trace_file_read_events_or_requests(struct trace_file *file, void *out, u32 room,
				       struct aftl_error *error)
{
	return file->format->line ? read_items_from_text_lines(file, out, room, error) :
				    file->format->fill(file, out, room, error);
}
