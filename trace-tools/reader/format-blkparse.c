// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text output of blkparse: its default format, or the format that --columns repeats from
 * blkparse's option -f. One format holds for all events:
 *
 *	%D maj,min  %M maj  %m min  %c cpu  %s sequence  %T s  %t ns  %p process  %a action
 *	%d kind  %S sector  %n sectors  %N bytes  %C command  %e error  %U what is left over
 *
 * Times must have both %T and %t.
 */
#include "blktrace-layout.h"
#include "checked-memory.h"
#include "trace-note.h"

#define SECOND_NS 1000000000

static const char usual[] = "%D %c %s %T.%t %p %a %d";

/**
 * struct blkparse - state of the reader
 * @spec: format string, as given to blkparse -f
 * @usual: @spec is blkparse's default format, in which the end of a line depends on the action
 * @over: the summary tables at the end of blkparse's output have begun
 */
struct blkparse {
	const char *spec;
	bool usual;
	bool over;
};

/**
 * struct fields - the parsed fields of a line
 * @event: the event that the fields of the line describe
 * @action: action letter: the kind of event
 * @kind: letters of the request (RWBS)
 * @seconds: whole seconds of the event's time
 * @sectors: length of the request, valid if @sized
 * @sized: the line contains the request's length
 */
struct fields {
	struct trace_event event;
	struct text_cursor action;
	struct text_cursor kind;
	u64 seconds;
	u64 sectors;
	bool sized;
};

static bool parse_device_field(struct text_cursor *text, u32 *device)
{
	u64 major, minor;

	if (!text_get_bounded_u64(text, 4095, &major) || !text_skip_if_equal(text, ',') ||
	    !text_skip_blanks(text) ||
	    !text_get_bounded_u64(text, (1U << TRACE_DEVICE_MINOR_BITS) - 1, &minor))
		return false;
	*device = (u32)(major << TRACE_DEVICE_MINOR_BITS | minor);
	return true;
}

static bool parse_blkparse_number(struct text_cursor *text, u64 most, u64 *number)
{
	return text_get_bounded_u64(text, most, number);
}

static bool parse_size_field(struct text_cursor *text, u64 unit, struct fields *fields)
{
	u64 count;

	if (!text_get_bounded_u64(text, U32_MAX, &count))
		return false;
	fields->sized = true;
	fields->sectors = DIV_ROUND_UP(count * unit, TRACE_SECTOR);
	return true;
}

static void store_process_name(const struct trace_file *file, u32 pid, struct text_cursor name)
{
	char text[PROCESS_NAME_SIZE];

	scnprintf(text, sizeof(text), "%.*s", (int)(name.end - name.at), name.at);
	if (file->names && strcmp(text, "(null)") != 0)
		process_names_set(file->names, pid, text);
}

/* Parse a line's field of format letter @code; @stop follows the field in the format string. */
static bool parse_format_field(struct trace_file *file, struct text_cursor *text, char field,
			       char stop, struct fields *fields)
{
	struct trace_event *event = &fields->event;
	struct text_cursor word;
	u64 number = 0;
	bool right;

	switch (field) {
	case 'D':
		return parse_device_field(text, &event->device);
	case 'M':
		right = parse_blkparse_number(text, 4095, &number);
		event->device |= (u32)number << TRACE_DEVICE_MINOR_BITS;
		return right;
	case 'm':
		right = parse_blkparse_number(text, (1U << TRACE_DEVICE_MINOR_BITS) - 1, &number);
		event->device |= (u32)number;
		return right;
	case 'c':
		right = parse_blkparse_number(text, UINT16_MAX, &number);
		event->cpu = (u16)number;
		return right;
	case 'T':
		return parse_blkparse_number(text, U64_MAX / SECOND_NS - 1, &fields->seconds);
	case 't':
		return parse_blkparse_number(text, SECOND_NS - 1, &event->t_ns);
	case 'p':
		right = parse_blkparse_number(text, U32_MAX, &number);
		event->pid = (u32)number;
		return right;
	case 'S':
		return text_get_u64(text, &event->sector);
	case 'U':
		return text_get_u64(text, &event->detail);
	case 'n':
		return parse_size_field(text, TRACE_SECTOR, fields);
	case 'N':
		return parse_size_field(text, 1, fields);
	}
	word = stop && stop != ' ' && stop != '%' ? text_get_until(text, stop) :
						    text_get_word(text);
	if (field == 'a')
		fields->action = word;
	else if (field == 'd')
		fields->kind = word;
	else if (field == 'C')
		store_process_name(file, event->pid, word);
	return word.end > word.at;
}

/* blkparse may pad columns, so a blank in the format string matches any number of blanks. */
static bool parse_line_by_format(struct trace_file *file, struct text_cursor *text,
				 const char *spec, struct fields *fields)
{
	while (*spec) {
		if (*spec == ' ' || *spec == '\t') {
			text_skip_blanks(text);
			spec++;
			continue;
		}
		if (spec[0] == '\\' && spec[1] == 'n') {
			spec += 2;
			continue;
		}
		if (*spec != '%') {
			if (!text_skip_if_equal(text, *spec++))
				return false;
			continue;
		}
		spec += 1 + strspn(spec + 1, "-0123456789");
		text_skip_blanks(text);
		if (!*spec || !parse_format_field(file, text, *spec, spec[1], fields))
			return false;
		spec++;
	}
	return true;
}

static bool interpret_action_field(struct fields *fields)
{
	static const struct {
		const char *action;
		u8 act;
	} acts[] = {
		{ "Q", TRACE_ACT_QUEUE },    { "D", TRACE_ACT_ISSUE },
		{ "C", TRACE_ACT_COMPLETE }, { "X", TRACE_ACT_SPLIT },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(acts); i++) {
		fields->event.act = acts[i].act;
		if (is_text_equal(fields->action, acts[i].action))
			return true;
	}
	return false;
}

/* RWBS letters of blkparse: F before the operation is a preflush, F behind it is FUA. */
static bool interpret_rwbs_letters(struct fields *fields)
{
	struct trace_event *event = &fields->event;
	struct text_cursor kind = fields->kind;

	event->preflush = text_skip_if_equal(&kind, 'F');
	if (fields->sized && fields->sectors) {
		if (text_skip_if_equal(&kind, 'D'))
			event->op = AFTL_OP_DISCARD;
		else if (text_skip_if_equal(&kind, 'W'))
			event->op = AFTL_OP_WRITE;
		else if (text_skip_if_equal(&kind, 'R'))
			event->op = AFTL_OP_READ;
		else
			return false;
	} else {
		event->op = AFTL_OP_FLUSH;
	}
	event->fua = kind.at < kind.end && memchr(kind.at, 'F', (size_t)(kind.end - kind.at));
	return fields->sectors || event->preflush;
}

/* Parse the end of a default blkparse line: first sector, "+", and the number of sectors. */
static bool parse_sector_and_size_of_blkparse_line(struct trace_file *file,
						   struct text_cursor *text, struct fields *fields)
{
	struct trace_event *event = &fields->event;

	text_skip_blanks(text);
	if (text->at < text->end && is_text_digit(text->at)) {
		if (!text_get_u64(text, &event->sector))
			return false;
		text_skip_blanks(text);
		if (text_skip_if_equal(text, '+')) {
			text_skip_blanks(text);
			if (!parse_size_field(text, TRACE_SECTOR, fields))
				return false;
		} else if (text_skip_if_equal(text, '/')) {
			text_skip_blanks(text);
			if (!text_get_u64(text, &event->detail))
				return false;
			fields->sized = true;
			fields->sectors = 1;
		}
		text_skip_blanks(text);
	}
	if (event->act != TRACE_ACT_COMPLETE && text_skip_if_equal(text, '['))
		store_process_name(file, event->pid, text_get_until(text, ']'));
	return true;
}

static enum trace_line_verdict parse_event_line(struct trace_file *file, struct text_cursor text,
						struct fields *fields)
{
	const struct blkparse *state = file->state;

	fields->event.t_ns += fields->seconds * SECOND_NS;
	if (state->usual && is_text_equal(fields->action, "m")) {
		text_skip_blanks(&text);
		file->notes++;
		return trace_parse_note(file, text, &fields->event) ? TRACE_LINE_DONE :
								      TRACE_LINE_EMPTY;
	}
	if (!interpret_action_field(fields)) {
		file->other_events++;
		return TRACE_LINE_EMPTY;
	}
	if (state->usual && !parse_sector_and_size_of_blkparse_line(file, &text, fields))
		return TRACE_LINE_WRONG;
	if (!interpret_rwbs_letters(fields) || fields->sectors > U32_MAX / TRACE_SECTOR) {
		file->other_events++;
		return TRACE_LINE_EMPTY;
	}
	fields->event.bytes = (u32)fields->sectors * TRACE_SECTOR;
	return TRACE_LINE_DONE;
}

static enum trace_line_verdict read_blkparse_line(struct trace_file *file, struct text_cursor text,
						  void *out, const char **cause __maybe_unused)
{
	struct blkparse *state = file->state;
	enum trace_line_verdict verdict;
	struct fields fields = { .sized = false };

	if (state->over || is_text_at_end(&text))
		return TRACE_LINE_EMPTY;
	/* The summary of blkparse begins. */
	if ((text.end - text.at >= 3 && !memcmp(text.at, "CPU", 3)) ||
	    (text.end - text.at >= 7 && !memcmp(text.at, "Total (", 7))) {
		state->over = true;
		return TRACE_LINE_EMPTY;
	}
	if (!parse_line_by_format(file, &text, state->spec, &fields))
		return TRACE_LINE_WRONG;
	verdict = parse_event_line(file, text, &fields);
	if (verdict == TRACE_LINE_DONE)
		memcpy(out, &fields.event, sizeof(fields.event));
	return verdict;
}

static int open_blkparse(struct trace_file *file, struct aftl_error *error)
{
	const char *spec = file->hints->columns;
	struct blkparse *state = memory_alloc_zeroed(1, sizeof(*state));

	file->state = state;
	state->usual = !spec;
	state->spec = spec ? spec : usual;
	if (spec && (!strstr(spec, "%") || !strchr(spec, 'T') || !strchr(spec, 't')))
		return aftl_fail(error, -EINVAL,
				 "--columns: times need %%T and %%t of blkparse -f");
	return 0;
}

/* Detect blkparse output by its first line: device, CPU, sequence number, time (nine decimals). */
static bool is_blkparse_format(const u8 *head, size_t size)
{
	const char *end = memchr(head, '\n', size);
	struct text_cursor text = { (const char *)head, end ? end : (const char *)head + size };
	u64 number;
	u32 device;

	text_skip_blanks(&text);
	if (!parse_device_field(&text, &device) || !text_skip_required_blanks(&text) ||
	    !text_get_u64(&text, &number) || !text_skip_required_blanks(&text) ||
	    !text_get_u64(&text, &number) || !text_skip_required_blanks(&text) ||
	    !text_get_u64(&text, &number) || !text_skip_if_equal(&text, '.'))
		return false;
	end = text.at;
	return text_get_u64(&text, &number) && text.at == end + 9 &&
	       text_skip_required_blanks(&text);
}

const struct trace_format trace_format_blkparse = {
	.name = "blkparse",
	.title = "text of blkparse; --columns says what its -f was",
	.units = "times in s, sectors of 512 bytes",
	.events = true,
	.time_unit_ns = 1,
	.known = is_blkparse_format,
	.open = open_blkparse,
	.line = read_blkparse_line,
};
