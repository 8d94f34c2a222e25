/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a reader says of its source: format, units, classes, and what was lost on the way.
 */
#ifndef AFTL_READER_ACCOUNT_H
#define AFTL_READER_ACCOUNT_H

#include "json-writer.h"
#include "trace-reader.h"

/* What classes are called, and how many there are. */
struct trace_classes {
	const char (*names)[AFTL_RECORD_NAME_SIZE];
	u32 count;
};

/* The classes of the source. */
struct trace_classes trace_reader_classes(const struct trace_reader *reader);

/* One line for each file: format, units. */
void trace_reader_describe(const struct trace_reader *reader, FILE *out);
void trace_reader_describe_json(const struct trace_reader *reader, struct json_writer *json);

/* What was lost, missing or odd. */
void trace_reader_losses(const struct trace_reader *reader, FILE *out);
void trace_reader_losses_json(const struct trace_reader *reader, struct json_writer *json);

#endif
