/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses the notes that dm-approxftl adds to a block trace; docs/tags.md defines the format.
 */
#ifndef AFTL_TRACE_NOTE_H
#define AFTL_TRACE_NOTE_H

#include "trace-format.h"

/**
 * trace_parse_note() - convert a note to an event; the caller sets time, device and so on
 *
 * Return: true if the note is dm-approxftl's and is well-formed.
 */
bool trace_parse_note(struct trace_file *file, struct text_cursor text, struct trace_event *event);

#endif
