/* SPDX-License-Identifier: GPL-2.0-only */
/* Import traces of other formats: approxftl-trace converts them to record files. */
#ifndef AFTL_TRACE_IMPORT_H
#define AFTL_TRACE_IMPORT_H

#include "exit-codes.h"
#include "sim-options.h"

/**
 * trace_import() - convert the trace of @options to a record file, unless it is one
 *
 * A pipe or other special file is assumed to be a record file unless its format is given. The
 * copy, 32 bytes for each request, is an unnamed file that all runs read.
 *
 * Return: EXIT_DONE, or the exit code after an error message was printed.
 */
enum exit_code trace_import(struct sim_options *options);

/* Close the converted copy of the trace, which no run of @options needs any more. */
void trace_import_release(struct sim_options *options);

#endif
