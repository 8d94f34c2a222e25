/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies the requests of a source to a file in another format.
 */
#ifndef AFTL_TRACE_COPY_H
#define AFTL_TRACE_COPY_H

#include "trace-run.h"

/* Callback that may change the class of a write. @name: name of the writing process, or NULL. */
typedef void trace_editor(void *context, struct trace_request *request, const char *name);

/**
 * trace_copy() - read, change and write all requests of a trace
 * @run: the running subcommand; the last word of its command line names the output
 * @edit: called for each request before other changes; or NULL
 *
 * Prints to stderr the format of the source before the copy, and the losses afterwards.
 */
enum exit_code trace_copy(struct trace_run *run, trace_editor *edit, void *context);

#endif
