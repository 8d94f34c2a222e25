/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats of records that have one size, and numbers that are little-endian.
 */
#ifndef AFTL_FIXED_RECORDS_H
#define AFTL_FIXED_RECORDS_H

#include "trace-format.h"

u64 fixed_record_number(const u8 *at, u32 bytes);

/**
 * fixed_records_fill() - fill() of such a format
 * @parse: what struct trace_format.line is of text
 */
int __must_check fixed_records_fill(struct trace_file *file, struct trace_request *requests,
				    u32 room, u32 record_bytes,
				    enum trace_line_verdict (*parse)(const struct trace_file *file,
								     const u8 *at,
								     struct trace_request *request,
								     const char **cause),
				    struct aftl_error *error);

#endif
