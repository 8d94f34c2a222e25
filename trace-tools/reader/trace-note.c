// SPDX-License-Identifier: GPL-2.0-only
#include "trace-note.h"

static const char mark[] = "approxftl ";

static bool class_of_note_word(struct text_cursor word, u8 *class)
{
	*class = TRACE_APPROXIMATE;
	if (is_text_equal(word, "approximate"))
		return true;
	*class = TRACE_PRECISE;
	return is_text_equal(word, "precise");
}

/* Parse the origin of a write's class (tag, hint ...); an unknown word is taken for "tag". */
static u8 parse_origin_of_write_class(struct text_cursor word)
{
	for (u32 by = TRACE_BY_TAG; by < TRACE_BYS; by++)
		if (is_text_equal(word, trace_by_names[by]))
			return (u8)by;
	return TRACE_BY_TAG;
}

/* Parse the quality level of a class in a note; a note without a level means level 1. */
static u8 parse_level_of_class(u8 class, struct text_cursor *text)
{
	u64 level;

	if (class != TRACE_APPROXIMATE || !text_skip_required_blanks(text) ||
	    !text_get_bounded_u64(text, TRACE_CLASSES - 1, &level) || level < TRACE_APPROXIMATE)
		return class;
	return (u8)level;
}

static bool parse_write_note(struct text_cursor text, struct trace_event *event)
{
	u64 sector, sectors;

	if (!text_get_u64(&text, &sector) || !text_skip_required_blanks(&text) ||
	    !text_get_bounded_u64(&text, U32_MAX / TRACE_SECTOR, &sectors) ||
	    !text_skip_required_blanks(&text) ||
	    !class_of_note_word(text_get_word(&text), &event->class) ||
	    !text_skip_required_blanks(&text))
		return false;
	event->by = parse_origin_of_write_class(text_get_word(&text));
	event->class = parse_level_of_class(event->class, &text);
	event->op = AFTL_OP_WRITE;
	event->sector = sector;
	event->bytes = (u32)sectors * TRACE_SECTOR;
	event->act = TRACE_ACT_TAG;
	return sectors;
}

/* Parse the note of a range that was written without data, such as zeroes. */
static bool parse_zeroes_note(struct text_cursor text, struct trace_event *event)
{
	u64 sectors;

	if (!text_get_u64(&text, &event->sector) || !text_skip_required_blanks(&text) ||
	    !text_get_bounded_u64(&text, U32_MAX / TRACE_SECTOR, &sectors))
		return false;
	event->op = AFTL_OP_WRITE_ZEROES;
	event->bytes = (u32)sectors * TRACE_SECTOR;
	event->act = TRACE_ACT_TAG;
	return sectors;
}

bool trace_parse_note(struct trace_file *file, struct text_cursor text, struct trace_event *event)
{
	struct text_cursor kind;
	size_t length = sizeof(mark) - 1;

	if ((size_t)(text.end - text.at) < length || memcmp(text.at, mark, length) != 0)
		return false;
	text.at += length;
	kind = text;
	kind = text_get_word(&kind);
	if (is_text_equal(kind, "write")) {
		text.at = kind.end;
		return text_skip_required_blanks(&text) && parse_write_note(text, event);
	}
	if (is_text_equal(kind, "zeroes")) {
		text.at = kind.end;
		return text_skip_required_blanks(&text) && parse_zeroes_note(text, event);
	}
	if (!is_text_equal(kind, "region") && !is_text_equal(kind, "label"))
		return false;
	event->act = TRACE_ACT_TEXT;
	event->text = trace_file_keep_copy_of_text(file, text.at, (size_t)(text.end - text.at));
	return event->text;
}
