/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Command-line options for reading a trace, shared by all programs that read one. The rows of
 * their option tables are in reading-option-table.h.
 */
#ifndef AFTL_READING_OPTIONS_H
#define AFTL_READING_OPTIONS_H

#include "trace-reader.h"

/* Options for reading a trace, explained by their help texts; NULL for an absent option. */
struct reading_options {
	const char *from;
	const char *time_unit;
	const char *offset_unit;
	const char *columns;
	const char *device;
	bool from_issue;
	bool strict;
};

/* Convert the options to a struct trace_open_options. @return: 0, or -EINVAL with a message. */
int __must_check reading_options_make_open_options(const struct reading_options *options,
						   struct trace_open_options *open_options,
						   struct aftl_error *error);

/* Check that trace format @name, given by @option, exists. @return: 0, or -EINVAL. */
int __must_check reading_options_check_format(const char *option, const char *name,
					      struct aftl_error *error);

#endif
