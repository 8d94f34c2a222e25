/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the requests of a file come from, as a record file keeps it.
 */
#ifndef AFTL_PROVENANCE_H
#define AFTL_PROVENANCE_H

#include "trace-run.h"

/**
 * provenance_text() - a JSON object for the header of a record file
 *
 * Return: it, to be freed; NULL with a sentence if it does not fit there.
 */
char *provenance_text(const struct trace_run *run, struct aftl_error *error);

#endif
