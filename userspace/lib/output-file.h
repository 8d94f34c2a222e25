/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output files that appear under their name only when complete. A device, pipe or other special
 * file is written in place, and symbolic links are followed.
 */
#ifndef AFTL_OUTPUT_FILE_H
#define AFTL_OUTPUT_FILE_H

#include <stdio.h>

#include "core/base/params.h"

#define OUTPUT_FILE_NAME 4096

/**
 * struct output_file - an output file that is being written
 * @path: path as the user typed it; "-" is standard output
 * @target: final name: @path with links resolved; empty if the file is written in place
 * @temporary: current name
 * @apart: the file at @target cannot be replaced; output_file_commit() overwrites it instead
 * @stream: stream of output_file_open()
 */
struct output_file {
	const char *path;
	char target[OUTPUT_FILE_NAME];
	char temporary[OUTPUT_FILE_NAME];
	bool apart;
	FILE *stream;
};

/**
 * output_file_begin() - create a temporary file in the directory of the output
 * @option: the command-line option that names it, for claim_output_file()
 * @force: replace an existing file
 *
 * The file is empty, and its name is in @file->temporary. It is removed if a signal ends the
 * program, or if the program exits without a commit. No file is created if @path is written in
 * place.
 */
int __must_check output_file_begin(struct output_file *file, const char *path, const char *option,
				   bool force, struct aftl_error *error);

/*
 * Rename the file, which must be written and closed, to its final name. Where the old file
 * cannot be replaced, as in a directory of another user, its content is overwritten. If that
 * fails, the error message names the temporary file, which is kept.
 */
int __must_check output_file_commit(struct output_file *file, struct aftl_error *error);

/* Discard the output. Does nothing if it was never begun. */
void output_file_abandon(struct output_file *file);

/**
 * output_file_open() - call output_file_begin() and open the file for writing
 *
 * Return: 0 and a stream that output_file_close() or output_file_abandon() closes.
 */
int __must_check output_file_open(struct output_file *file, const char *path, const char *option,
				  bool force, struct aftl_error *error);

/* Close the stream and call output_file_commit(), which gives the file its final name. */
int __must_check output_file_close(struct output_file *file, struct aftl_error *error);

#endif
