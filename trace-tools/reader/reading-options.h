/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a trace is to be read, as all programs that read one let a user say it. The rows of their
 * tables of options are in reading-option-table.h.
 */
#ifndef AFTL_READING_OPTIONS_H
#define AFTL_READING_OPTIONS_H

#include "trace-reader.h"

/**
 * struct reading_options - what was asked for
 * @from: format to read, or NULL
 * @time_unit: of the source, or NULL
 * @offset_unit: of the source, or NULL
 * @columns: of the source, or NULL
 * @device: "MAJOR:MINOR", "all" or NULL
 * @from_issue: pair from issue on
 * @strict: a loss is a failure
 */
struct reading_options {
	const char *from;
	const char *time_unit;
	const char *offset_unit;
	const char *columns;
	const char *device;
	bool from_issue;
	bool strict;
};

/* How to read, by the options. @return: 0, or -EINVAL with a sentence. */
int __must_check reading_options_wish(const struct reading_options *options,
				      struct trace_wish *wish, struct aftl_error *error);

/* Is there a format of that name? @option: whose value it is. @return: 0, or -EINVAL. */
int __must_check reading_format_check(const char *option, const char *name,
				      struct aftl_error *error);

#endif
