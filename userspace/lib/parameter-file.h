/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameter files of a device: each line is KEY=VALUE, empty, or a comment that begins with a
 * hash. "approxftl calibrate" writes such files.
 */
#ifndef AFTL_PARAMETER_FILE_H
#define AFTL_PARAMETER_FILE_H

#include "core/base/params.h"

/**
 * parameter_file_call_per_pair() - pass the lines of a file on as if they were on the command line
 * @path: path of the file
 * @take: called for each KEY=VALUE; the string stays valid until parameter_file_reset_text_buffer()
 * @context: first argument of @take
 *
 * Return: 0, or an error code with an error message: -ENOENT if the file cannot be opened, or
 * the error of @take.
 */
int __must_check parameter_file_call_per_pair(const char *path,
					      int (*take)(void *context, const char *pair,
							  struct aftl_error *error),
					      void *context, struct aftl_error *error);

/* Free the texts of the files that this thread has read; its command has ended. */
void parameter_file_reset_text_buffer(void);

#endif
