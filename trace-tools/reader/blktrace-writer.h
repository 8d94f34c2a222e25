/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes requests as a blktrace trace, version 7: a queue and a completion event for each request,
 * a process name before the first request of each process, and a note behind each write that has a
 * class.
 */
#ifndef AFTL_BLKTRACE_WRITER_H
#define AFTL_BLKTRACE_WRITER_H

#include "trace-format.h"

/* Functions for begin(), put() and finish() in the struct trace_format of blktrace traces. */
int blktrace_begin_output(struct trace_output *output, struct aftl_error *error);
int blktrace_write_request(struct trace_output *output, const struct trace_request *request,
			   struct aftl_error *error);
int blktrace_finish_output(struct trace_output *output, struct aftl_error *error);

#endif
