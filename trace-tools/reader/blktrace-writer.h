/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests as a trace of blktrace, version 7: queue and completion of each, the name of each
 * process before its first request, a note behind each write that has a class.
 */
#ifndef AFTL_BLKTRACE_WRITER_H
#define AFTL_BLKTRACE_WRITER_H

#include "trace-format.h"

/* As begin(), put() and finish() of struct trace_format. */
int blktrace_begin(struct trace_output *output, struct aftl_error *error);
int blktrace_put(struct trace_output *output, const struct trace_request *request,
		 struct aftl_error *error);
int blktrace_finish(struct trace_output *output, struct aftl_error *error);

#endif
