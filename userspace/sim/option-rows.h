/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows of option-table.h, and functions that find a row by name. */
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
	/* Names of the kinds KIND_TEXT and KIND_SWITCH in reading-option-table.h. */
	KIND_COMMAND_TEXT = KIND_TEXT,
	KIND_COMMAND_SWITCH = KIND_SWITCH,
};

/**
 * struct option_row - a row of option-table.h, or a section title if it has no name
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

/* Find the option of name @text, in which dashes equal underscores; NULL if there is none. */
const struct option_row *option_find_by_name(const char *text, size_t length);

/* Convert an option to its short form (0: none), and a short form to its option (NULL: none). */
char option_get_short_letter(const struct option_row *row);
const struct option_row *option_find_by_letter(char letter);

/* Compare an option's name with unterminated @text. Dashes and underscores are equal. */
bool option_has_name(const char *name, const char *text, size_t length);

/* Return the values of an option of kind CHOICE. */
const char *const *option_get_choices(const struct option_row *row);

/* Return @name as spelt on the command line, with dashes. */
#define OPTION_NAME 32
const char *option_get_dashed_name(const char *name, char text[OPTION_NAME]);

/* Return -EINVAL with an error message that begins with the name of an option. */
__printf(3, 4) int report_option_error(const struct option_row *row, struct aftl_error *error,
				       const char *format, ...);

#endif
