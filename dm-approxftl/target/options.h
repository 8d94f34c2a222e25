/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table line as text; what it asks for is struct aftl_options.
 */
#ifndef AFTL_OPTIONS_H
#define AFTL_OPTIONS_H

#include "disk/disk.h"

/* Largest N of "timing scale:N". */
#define AFTL_SCALE_MAX 1000000

/**
 * aftl_options_parse() - understand the arguments of a table line
 *
 * Return: 0, or -EINVAL with a sentence.
 */
int __must_check aftl_options_parse(struct aftl_options *options, unsigned int argc, char **argv,
				    struct aftl_error *error);

/**
 * aftl_options_print() - the line that aftl_options_parse() understands in the same way
 *
 * Options in a fixed order; parameters that are as in the profile are left out.
 *
 * Return: characters written.
 */
unsigned int aftl_options_print(const struct aftl_options *options, char *result,
				unsigned int maxlen);

/**
 * aftl_options_measure() - the same as a record for the integrity measurement architecture
 *
 * Return: characters written.
 */
unsigned int aftl_options_measure(const struct aftl_options *options, char *result,
				  unsigned int maxlen);

#endif
