/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registry of the files that a command reads and writes, so that no output destroys an input or
 * another output. Files are compared by identity, not by name: links and different spellings of
 * a path refer to the same file.
 */
#ifndef AFTL_FILE_CLAIMS_H
#define AFTL_FILE_CLAIMS_H

#include "core/base/params.h"

/**
 * claim_input_file() - register a file that is going to be read
 * @path: "-" is standard input
 *
 * Return: 0, or -EEXIST with an error message if it is also an output.
 */
int __must_check claim_input_file(const char *path, struct aftl_error *error);

/**
 * claim_output_file() - register a file that is going to be written
 * @path: "-" is standard output
 * @option: the command-line option that names it; the same option may claim it again
 *
 * Return: 0, or -EEXIST with an error message if it is an input, or an output of another option.
 */
int __must_check claim_output_file(const char *path, const char *option, struct aftl_error *error);

/* Forget the files of this thread, whose command has ended. */
void release_file_claims(void);

#endif
