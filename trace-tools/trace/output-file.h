/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that is there when it is complete, and not before.
 */
#ifndef AFTL_OUTPUT_FILE_H
#define AFTL_OUTPUT_FILE_H

#include "params.h"

/**
 * struct output_file - under way
 * @path: what it will be called; "-" is standard output
 * @temporary: what it is called so far, to be written by the caller
 */
struct output_file {
	const char *path;
	char temporary[4096];
};

/**
 * output_file_begin() - a name to write to, in the same directory
 * @force: replace a file that is there
 */
int __must_check output_file_begin(struct output_file *file, const char *path, bool force,
				   struct aftl_error *error);

/* It is written and closed: give it its name. */
int __must_check output_file_commit(struct output_file *file, struct aftl_error *error);

/* It is not wanted any more. */
void output_file_drop(struct output_file *file);

#endif
