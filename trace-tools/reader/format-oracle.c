// SPDX-License-Identifier: GPL-2.0-only
/*
 * oracleGeneral of libCacheSim: 24 bytes each, little-endian: time in s (4), object (8), size
 * (4), next access (8). It has no mark to know it by, and does not say what is read or written:
 * all are reads. The object is taken for an address.
 */
#include "trace-format.h"

#define RECORD_BYTES 24
#define SECOND_NS 1000000000

static u64 load(const u8 *at, u32 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

static bool parse(const struct trace_file *file, const u8 *at, struct trace_request *request,
		  const char **cause)
{
	*request = (struct trace_request){
		.t_ns = load(at, 4) * file->time_unit_ns,
		.bytes = load(at + 12, 4),
		.op = AFTL_OP_READ,
	};
	*cause = "the object is beyond the last byte of 64 bits";
	return trace_bytes(load(at + 4, 8), file->hints->offset_unit ? file->offset_unit : 1,
			   &request->offset) &&
	       trace_check_request(request, cause) == TRACE_LINE_DONE;
}

static int lose(struct trace_file *file, size_t bytes, const char *cause, struct aftl_error *error)
{
	u64 at = file->input.offset;

	file->losses->skipped_bytes += bytes;
	trace_input_take(&file->input, bytes);
	return trace_losses_tell(file->losses, file->input.name, "byte", at, error, "dropped: %s",
				 cause);
}

static int fill(struct trace_file *file, void *out, u32 room, struct aftl_error *error)
{
	struct trace_request *requests = out;
	const char *cause;
	u32 done = 0;

	while (done < room) {
		int ret = trace_input_fill(&file->input, RECORD_BYTES, error);
		size_t left = trace_input_left(&file->input);

		if (ret)
			return ret;
		if (!left)
			break;
		if (left < RECORD_BYTES)
			ret = lose(file, left, "the file ends inside a record", error);
		else if (!parse(file, trace_input_at(&file->input), &requests[done], &cause))
			ret = lose(file, RECORD_BYTES, cause, error);
		else
			trace_input_take(&file->input, (done++, RECORD_BYTES));
		if (ret)
			return ret;
	}
	return (int)done;
}

const struct trace_format trace_format_oracle = {
	.name = "oracle",
	.title = "oracleGeneral of libCacheSim; all are reads",
	.units = "times in s, objects taken for offsets in bytes, sizes in bytes",
	.time_unit_ns = SECOND_NS,
	.told_only = true,
	.fill = fill,
};
