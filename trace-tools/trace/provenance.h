/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the requests of a file come from, as a record file keeps it.
 */
#ifndef AFTL_PROVENANCE_H
#define AFTL_PROVENANCE_H

#include "trace-run.h"

/* A JSON object that fits into the header of a record file; freed by the caller. */
char *provenance_text(const struct trace_run *run);

#endif
