/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What dm-approxftl notes in a block trace; docs/tags.md has the format.
 */
#ifndef AFTL_TRACE_NOTE_H
#define AFTL_TRACE_NOTE_H

#include "trace-format.h"

/**
 * trace_note() - a note's text into an event, whose time, device and so on are the caller's
 *
 * Return: whether it is one of ours that says something.
 */
bool trace_note(struct trace_file *file, struct text_cursor text, struct trace_event *event);

#endif
