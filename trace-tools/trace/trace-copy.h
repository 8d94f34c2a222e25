/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a source to a file in another format, request by request.
 */
#ifndef AFTL_TRACE_COPY_H
#define AFTL_TRACE_COPY_H

#include "trace-run.h"

/* May change the class of a write. @name: of its process, or NULL. */
typedef void trace_editor(void *context, struct trace_request *request, const char *name);

/**
 * trace_copy() - read all, change, write
 * @run: open; its last word is the file to write
 * @edit: before anything else is changed, or NULL
 *
 * Says what is read on stderr before, and what was lost after.
 */
enum exit_code trace_copy(struct trace_run *run, trace_editor *edit, void *context);

#endif
