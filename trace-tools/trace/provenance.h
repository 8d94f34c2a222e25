/* SPDX-License-Identifier: GPL-2.0-only */
/* The provenance of the requests in a file, which record files store. */
#ifndef AFTL_PROVENANCE_H
#define AFTL_PROVENANCE_H

#include "trace-run.h"

/**
 * provenance_text() - describe the origin of requests as a JSON object
 *
 * Return: the text, which the caller frees; NULL with a message if no record file can hold it.
 */
char *provenance_text(const struct trace_run *run, struct aftl_error *error);

#endif
