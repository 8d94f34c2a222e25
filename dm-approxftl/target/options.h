/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parse and print the arguments of a table line, see struct aftl_options.
 */
#ifndef AFTL_OPTIONS_H
#define AFTL_OPTIONS_H

#include "disk/disk.h"

/* Largest N of the option "timing scale:N". */
#define AFTL_SCALE_MAX 1000000

/**
 * aftl_options_parse() - parse the arguments of a table line
 * @options: takes the result
 * @argc: number of arguments
 * @argv: arguments
 * @error: takes the message on failure
 *
 * Context: process.
 * Return: 0, or -EINVAL with a message.
 */
int __must_check aftl_options_parse(struct aftl_options *options, unsigned int argc, char **argv,
				    struct aftl_error *error);

/**
 * aftl_options_print() - print options as a table line
 * @options: options
 * @result: takes the line, which aftl_options_parse() parses to the same options
 * @maxlen: size of @result in bytes
 *
 * The order is fixed. Parameters with the value of the profile are omitted.
 *
 * Context: process; the target's gate keeps @options from changing.
 * Return: number of characters written.
 */
unsigned int aftl_options_print(const struct aftl_options *options, char *result,
				unsigned int maxlen);

/**
 * aftl_options_measure_ima() - print options for the integrity measurement architecture (IMA)
 * @options: options
 * @result: takes ",key=value" for each option that aftl_options_print() prints
 * @maxlen: size of @result in bytes
 *
 * Context: process.
 * Return: number of characters written.
 */
unsigned int aftl_options_measure_ima(const struct aftl_options *options, char *result,
				      unsigned int maxlen);

#endif
