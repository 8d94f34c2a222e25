/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helper for trace formats with fixed-size records and little-endian numbers.
 */
#ifndef AFTL_FIXED_RECORDS_H
#define AFTL_FIXED_RECORDS_H

#include "trace-format.h"

u64 decode_little_endian(const u8 *at, u32 bytes);

/**
 * read_fixed_size_records() - implement fill() for a format with fixed-size records
 * @parse: converts one record to a request; its result is that of struct trace_format.line
 */
int __must_check
read_fixed_size_records(struct trace_file *file, struct trace_request *requests, u32 room,
			u32 record_bytes,
			enum trace_line_verdict (*parse)(const struct trace_file *file,
							 const u8 *at,
							 struct trace_request *request,
							 const char **cause),
			struct aftl_error *error);

#endif
