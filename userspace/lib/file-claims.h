/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a command reads and writes, so that no output destroys an input or another output. Files
 * count by what they are: a link, or another spelling, does not make another file.
 */
#ifndef AFTL_FILE_CLAIMS_H
#define AFTL_FILE_CLAIMS_H

#include "core/base/params.h"

/**
 * claim_input() - this file is read
 * @path: "-" is standard input
 *
 * Return: 0, or -EEXIST with a sentence if it is an output, too.
 */
int __must_check claim_input(const char *path, struct aftl_error *error);

/**
 * claim_output() - this file is going to be written
 * @path: "-" is standard output
 * @option: how the command line calls it; the same one may claim it again
 *
 * Return: 0, or -EEXIST with a sentence if it is an input, or an output of another option.
 */
int __must_check claim_output(const char *path, const char *option, struct aftl_error *error);

#endif
