// SPDX-License-Identifier: GPL-2.0-only
/*
 * The oracleGeneral format of libCacheSim: 24-byte little-endian records with time in s (4),
 * object (8), size (4), next access (8). The format has no magic number and no operation: all
 * requests are reads. The object number is used as the address.
 */
#include "fixed-records.h"

#define RECORD_BYTES 24
#define SECOND_NS 1000000000

static enum trace_line_verdict parse_oracle_record(const struct trace_file *file, const u8 *at,
						   struct trace_request *request,
						   const char **cause)
{
	u64 unit = file->hints->offset_unit ? file->hints->offset_unit : 1;

	*request = (struct trace_request){
		.t_ns = decode_little_endian(at, 4) * file->time_unit_ns,
		.bytes = decode_little_endian(at + 12, 4),
		.op = AFTL_OP_READ,
	};
	*cause = "the object is beyond the last byte of 64 bits";
	if (!trace_units_to_bytes(decode_little_endian(at + 4, 8), unit, &request->offset))
		return TRACE_LINE_WRONG;
	return trace_check_request(request, cause);
}

static int read_oracle_requests(struct trace_file *file, void *out, u32 room,
				struct aftl_error *error)
{
	return read_fixed_size_records(file, out, room, RECORD_BYTES, parse_oracle_record, error);
}

const struct trace_format trace_format_oracle = {
	.name = "oracle",
	.title = "oracleGeneral of libCacheSim; all are reads",
	.units = "times in s, objects taken for offsets in bytes, sizes in bytes",
	.time_unit_ns = SECOND_NS,
	.told_only = true,
	.fill = read_oracle_requests,
};
