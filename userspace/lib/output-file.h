/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where programs write: a file that is there when it is complete, and not before. Whatever is
 * no plain file, such as a device or a pipe, is written as it is, and a symbolic link is followed.
 */
#ifndef AFTL_OUTPUT_FILE_H
#define AFTL_OUTPUT_FILE_H

#include <stdio.h>

#include "core/base/params.h"

#define OUTPUT_FILE_NAME 4096

/**
 * struct output_file - under way
 * @path: as the user calls it; "-" is standard output
 * @target: what it will be called: @path without links; empty if it is written in place
 * @temporary: what it is called so far
 * @apart: what is at @target cannot be replaced; in the end it is written over
 * @stream: of output_file_open()
 */
struct output_file {
	const char *path;
	char target[OUTPUT_FILE_NAME];
	char temporary[OUTPUT_FILE_NAME];
	bool apart;
	FILE *stream;
};

/**
 * output_file_begin() - a name to write to, in the same directory
 * @option: how the command line calls it, for claim_output()
 * @force: replace a file that is there
 *
 * An empty file of that name is there, unless @path is written in place. If a signal ends the
 * program, or it exits without commit, that file goes.
 */
int __must_check output_file_begin(struct output_file *file, const char *path, const char *option,
				   bool force, struct aftl_error *error);

/*
 * It is written and closed: give it its name. Where a file cannot be replaced, as in a folder of
 * somebody else, what is there is written over. If that fails, the error says where the content is.
 */
int __must_check output_file_commit(struct output_file *file, struct aftl_error *error);

/* It is not wanted any more. Nothing happens if it was never begun. */
void output_file_drop(struct output_file *file);

/**
 * output_file_open() - begin, and open for writing
 *
 * Return: 0 and a stream that output_file_close() or output_file_drop() closes.
 */
int __must_check output_file_open(struct output_file *file, const char *path, const char *option,
				  bool force, struct aftl_error *error);

/* Everything is written: close it, and give it its name. */
int __must_check output_file_close(struct output_file *file, struct aftl_error *error);

#endif
