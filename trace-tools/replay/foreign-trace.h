/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a trace in any format that approxftl trace knows, as records.
 */
#ifndef AFTL_FOREIGN_TRACE_H
#define AFTL_FOREIGN_TRACE_H

#include "reading-options.h"

struct foreign_trace;

/**
 * foreign_trace_open() - detect the format and begin to read
 * @path: a file, or the common name or directory of a capture
 * @reading: properties that only the user knows; must outlive the trace
 */
int __must_check foreign_trace_open(struct foreign_trace **out, const char *path,
				    const struct reading_options *reading,
				    struct aftl_error *error);

/* Close the trace; do nothing for NULL. */
void foreign_trace_close(struct foreign_trace *trace);

/* Get the next request of the trace as a record, as record_read_next() does. */
int __must_check foreign_trace_next_record(struct foreign_trace *trace, struct aftl_record *record,
					   struct aftl_error *error);

/* Go back to the first request; unreadable parts are reported in the first pass only. */
int __must_check foreign_trace_rewind(struct foreign_trace *trace, struct aftl_error *error);

/* Return: a header for the records, such as a record file of these requests would have. */
const struct aftl_record_header *foreign_trace_header(const struct foreign_trace *trace);

/* Print the format and the units of each file, one line per file. */
void foreign_trace_describe(const struct foreign_trace *trace, FILE *out);

/* Print the parts of the trace that could not be read; call this after the last request. */
void foreign_trace_print_losses(const struct foreign_trace *trace, FILE *out);

#endif
