/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters of a program, and the file header that stores them.
 */
#ifndef AFTL_APPS_SETUP_H
#define AFTL_APPS_SETUP_H

#include "core/base/params.h"

/* Size of a header, which is text and always precise. */
#define HEADER_BYTES 4096

/* First header line by content of the file: numbers, samples, a scan, pixels, pixel differences. */
#define MAGIC_ARRAY "approxftl-array"
#define MAGIC_SERIES "approxftl-series"
#define MAGIC_SCAN "approxftl-scan"
#define MAGIC_PIXELS "P5"
#define MAGIC_DIFFERENCES "approxftl-differences"

/* Maximum number of frames in a group. */
#define LONGEST_GROUP 256

/** struct app_setup - values of the parameters in parameter-table.h; 0 for absent parameters */
struct app_setup {
#define PARAMETER(name, least, most, value, help) u64 name;
#include "parameter-table.h"
#undef PARAMETER
};

/**
 * struct app_parameter - description of a parameter in parameter-table.h
 */
struct app_parameter {
	const char *name;
	u64 least;
	u64 most;
	const char *value;
	const char *help;
	size_t field;
};

/* Offset of the last parameter that is not optional; optional parameters follow. */
#define LAST_USUAL_FIELD offsetof(struct app_setup, seed)

#define APP_PARAMETERS (sizeof(struct app_setup) / sizeof(u64))
extern const struct app_parameter app_parameters[APP_PARAMETERS];

static inline u64 *get_setup_parameter(struct app_setup *setup, unsigned int parameter)
{
	return (u64 *)((char *)setup + app_parameters[parameter].field);
}

/* Check that every parameter has a valid value or is 0. */
int __must_check app_setup_check(const struct app_setup *setup, struct aftl_error *error);

/**
 * app_header_make() - write the text of a header
 * @header: buffer of HEADER_BYTES
 * @magic: first line, MAGIC_*
 * @setup: parameters, written as lines that begin with "# ", which are comments in PGM
 * @tail: last part of the header
 */
void app_header_make(char *header, const char *magic, const struct app_setup *setup,
		     const char *tail);

/**
 * app_header_parse() - read the parameters from a header, which may hold any bytes
 *
 * Return: 0, or -EINVAL with a message that does not name the file.
 */
int __must_check app_header_parse(const char *header, struct app_setup *setup,
				  struct aftl_error *error);

#endif
