/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace of any format that approxftl trace reads, as records.
 */
#ifndef AFTL_FOREIGN_TRACE_H
#define AFTL_FOREIGN_TRACE_H

#include "reading-options.h"

struct foreign_trace;

/**
 * foreign_trace_open() - find out the format, and begin to read
 * @path: a file, or a capture of several: their common name or directory
 * @reading: what only the user knows; lives as long as the trace
 */
int __must_check foreign_trace_open(struct foreign_trace **out, const char *path,
				    const struct reading_options *reading,
				    struct aftl_error *error);

/* NULL is fine. */
void foreign_trace_close(struct foreign_trace *trace);

/* As record_next(). */
int __must_check foreign_trace_next(struct foreign_trace *trace, struct aftl_record *record,
				    struct aftl_error *error);

/* Back to the first record. What was lost is told the first time only. */
int __must_check foreign_trace_rewind(struct foreign_trace *trace, struct aftl_error *error);

/* Of a record file with the same content. */
const struct aftl_record_header *foreign_trace_header(const struct foreign_trace *trace);

/* A line for each file: format and units. */
void foreign_trace_describe(const struct foreign_trace *trace, FILE *out);

/* After the last record: what was not understood, if anything. */
void foreign_trace_losses(const struct foreign_trace *trace, FILE *out);

#endif
