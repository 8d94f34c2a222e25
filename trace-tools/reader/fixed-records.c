// SPDX-License-Identifier: GPL-2.0-only
#include "fixed-records.h"

u64 decode_little_endian(const u8 *at, u32 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

static int drop_damaged_record(struct trace_file *file, size_t bytes, const char *cause,
			       struct aftl_error *error)
{
	u64 at = file->input.offset;

	file->losses->skipped_bytes += bytes;
	trace_input_consume_bytes(&file->input, bytes);
	return trace_losses_print(file->losses, file->input.name, "byte", at, error, "dropped: %s",
				  cause);
}

int read_fixed_size_records(struct trace_file *file, struct trace_request *requests, u32 room,
			    u32 record_bytes,
			    enum trace_line_verdict (*parse)(const struct trace_file *file,
							     const u8 *at,
							     struct trace_request *request,
							     const char **cause),
			    struct aftl_error *error)
{
	const char *cause;
	u32 done = 0;

	while (done < room) {
		int ret = trace_input_fill_buffer(&file->input, record_bytes, error);
		size_t left = trace_input_left(&file->input);
		enum trace_line_verdict verdict;

		if (ret)
			return ret;
		if (!left)
			break;
		if (left < record_bytes) {
			ret = drop_damaged_record(file, left, "the file ends inside a record",
						  error);
			return ret ? ret : (int)done;
		}
		verdict =
			parse(file, trace_input_next_bytes(&file->input), &requests[done], &cause);
		if (verdict == TRACE_LINE_WRONG)
			ret = drop_damaged_record(file, record_bytes, cause, error);
		else
			trace_input_consume_bytes(&file->input, record_bytes);
		if (ret)
			return ret;
		done += verdict == TRACE_LINE_DONE;
	}
	return (int)done;
}
