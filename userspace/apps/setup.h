/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parameters of a program, and the header in which a file keeps them.
 */
#ifndef AFTL_APPS_SETUP_H
#define AFTL_APPS_SETUP_H

#include "core/base/params.h"

/* Bytes of a header, which is text. It is precise, whatever follows. */
#define HEADER_BYTES 4096

/* First lines of headers: of numbers, of samples, of scans, of pixels, of differences of these. */
#define MAGIC_ARRAY "approxftl-array"
#define MAGIC_SERIES "approxftl-series"
#define MAGIC_SCAN "approxftl-scan"
#define MAGIC_PIXELS "P5"
#define MAGIC_DIFFERENCES "approxftl-differences"

/* Frames in the longest group. */
#define LONGEST_GROUP 256

/**
 * struct app_setup - see parameter-table.h; 0 for what a program does not have
 */
struct app_setup {
#define PARAMETER(name, least, most, value, help) u64 name;
#include "parameter-table.h"
#undef PARAMETER
};

/**
 * struct app_parameter - a line of that table
 */
struct app_parameter {
	const char *name;
	u64 least;
	u64 most;
	const char *value;
	const char *help;
	size_t field;
};

/* Those after it are of other forms. */
#define LAST_USUAL_FIELD offsetof(struct app_setup, seed)

#define APP_PARAMETERS (sizeof(struct app_setup) / sizeof(u64))
extern const struct app_parameter app_parameters[APP_PARAMETERS];

static inline u64 *setup_value(struct app_setup *setup, unsigned int parameter)
{
	return (u64 *)((char *)setup + app_parameters[parameter].field);
}

/* Whether every value is one that may be given, or 0. */
int __must_check setup_check(const struct app_setup *setup, struct aftl_error *error);

/**
 * header_make() - the text of a header
 * @header: takes it, HEADER_BYTES
 * @magic: first line, MAGIC_*
 * @setup: follows, in lines that begin with "# ", as comments do in PGM
 * @tail: ends it
 */
void header_make(char *header, const char *magic, const struct app_setup *setup,
		 const char *tail);

/**
 * header_parse() - the reverse, for any bytes
 *
 * Return: 0, or -EINVAL with a sentence that does not name the file.
 */
int __must_check header_parse(const char *header, struct app_setup *setup,
			      struct aftl_error *error);

#endif
