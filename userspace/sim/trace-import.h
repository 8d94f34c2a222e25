/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces of other formats: approxftl-trace makes record files of them.
 */
#ifndef AFTL_TRACE_IMPORT_H
#define AFTL_TRACE_IMPORT_H

#include "exit-codes.h"
#include "sim-options.h"

/**
 * trace_import() - make a record file of what @options name as trace, unless it is one
 *
 * What is no plain file, such as a pipe, is taken for a record file unless its format is given.
 * The copy, 32 bytes for each request, is in a nameless file: all runs read it.
 *
 * Return: EXIT_DONE, or what to exit with: the sentence has been said.
 */
enum exit_code trace_import(struct sim_options *options);

#endif
