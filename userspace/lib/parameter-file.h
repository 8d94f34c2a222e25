/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters of a device in a file: KEY=VALUE in each line, and lines that are empty or begin with
 * a hash. "approxftl calibrate" writes such files.
 */
#ifndef AFTL_PARAMETER_FILE_H
#define AFTL_PARAMETER_FILE_H

#include "core/base/params.h"

/**
 * parameter_file_take() - hand out the lines of a file as if they stood on the command line
 * @path: where it is
 * @take: what gets each KEY=VALUE, which stays as long as the program
 * @context: for @take
 *
 * Return: 0, or an error code with a sentence: -ENOENT if it cannot be opened, or what @take says.
 */
int __must_check parameter_file_take(const char *path,
				     int (*take)(void *context, const char *pair,
						 struct aftl_error *error),
				     void *context, struct aftl_error *error);

#endif
