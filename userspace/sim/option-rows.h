/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines of option-table.h as rows, found by their names.
 */
#ifndef AFTL_OPTION_ROWS_H
#define AFTL_OPTION_ROWS_H

#include "core/base/params.h"

enum option_kind {
	KIND_COUNT = AFTL_PARAM_COUNT,
	KIND_BYTES = AFTL_PARAM_BYTES,
	KIND_TIME = AFTL_PARAM_TIME,
	KIND_RATE = AFTL_PARAM_RATE,
	KIND_CHOICE = AFTL_PARAM_CHOICE,
	KIND_SHARE,
	KIND_TEXT,
	KIND_SWITCH,
	KIND_FILE,
	/* In the words of reading-option-table.h. */
	KIND_COMMAND_TEXT = KIND_TEXT,
	KIND_COMMAND_SWITCH = KIND_SWITCH,
};

/**
 * struct option_row - a line of option-table.h, or a title when it has no name
 */
struct option_row {
	const char *name;
	enum option_kind kind;
	size_t field;
	u64 smallest;
	u64 largest;
	const char *standard;
	const char *value;
	const char *help;
};

extern const struct option_row option_rows[];
extern const unsigned int option_row_count;

/* NULL if there is none. Dashes and underscores are the same. */
const struct option_row *option_find(const char *text, size_t length);

/* The short form of an option, 0 if it has none; and the option of a short form. */
char option_letter(const struct option_row *row);
const struct option_row *option_of_letter(char letter);

/* Dashes and underscores are the same; a "=" ends the name. */
bool option_same_name(const char *name, const char *text, size_t length);

/* The words of an option that is a choice. */
const char *const *option_words(const struct option_row *row);

/* The spelling of the command line. */
#define OPTION_NAME 32
const char *option_dashed(const char *name, char text[OPTION_NAME]);

/* -EINVAL, and a sentence that begins with the option. */
__printf(3, 4) int option_fail(const struct option_row *row, struct aftl_error *error,
			       const char *format, ...);

#endif
