// SPDX-License-Identifier: GPL-2.0-only
#include "complain.h"
#include "job.h"
#include "record-file.h"
#include "version.h"

/**
 * struct request_columns - arguments of simlib_write_requests()
 */
struct request_columns {
	const char *path;
	u64 count;
	const u64 *arrival_ns;
	const u8 *op;
	const u64 *offset;
	const u64 *bytes;
};

static int write_request_record(struct record_writer *writer, const struct request_columns *from,
				u64 i, struct aftl_error *error)
{
	const struct aftl_record record = {
		.t_ns = from->arrival_ns[i],
		.off_sect = from->offset[i] / AFTL_RECORD_SECTOR_BYTES,
		.nsect = (u32)min(from->bytes[i] / AFTL_RECORD_SECTOR_BYTES, (u64)U32_MAX),
		.op = from->op[i],
	};
	struct aftl_error cause;

	if (from->op[i] > AFTL_OP_WRITE_ZEROES)
		return aftl_fail(error, -EINVAL,
				 "request %llu: unknown operation; there are read, write, flush, discard and write_zeroes",
				 (unsigned long long)i);
	if ((from->offset[i] | from->bytes[i]) % AFTL_RECORD_SECTOR_BYTES)
		return aftl_fail(error, -EINVAL,
				 "request %llu: %llu bytes at %llu are no whole sectors of %u bytes",
				 (unsigned long long)i, (unsigned long long)from->bytes[i],
				 (unsigned long long)from->offset[i], AFTL_RECORD_SECTOR_BYTES);
	if (i && from->arrival_ns[i] < from->arrival_ns[i - 1])
		return aftl_fail(error, -EINVAL, "request %llu arrives before the previous request",
				 (unsigned long long)i);
	if (record_append(writer, &record, &cause))
		return aftl_fail(error, -EINVAL, "request %llu: %.180s", (unsigned long long)i,
				 cause.text);
	return 0;
}

static int write_request_records(struct simlib_job *job, void *context)
{
	const struct request_columns *from = context;
	struct aftl_record_header header;
	struct record_writer *writer;
	struct aftl_error error, other;
	int ret;

	(void)job;
	aftl_record_header_init(&header);
	scnprintf(header.source_format, sizeof(header.source_format), "approxftl for Python");
	scnprintf(header.tool_version, sizeof(header.tool_version), "approxftl %s",
		  approxftl_version());
	ret = record_create(&writer, from->path, from->path, &header, &error);
	if (ret)
		return report_command_failure("sim", &error, EXIT_FAILED);
	for (u64 i = 0; i < from->count && !ret; i++)
		ret = write_request_record(writer, from, i, &error);
	if (record_finish(writer, ret ? &other : &error) && !ret)
		ret = -EIO;
	if (ret)
		complain_as("sim", "%s", error.text);
	return ret == -EINVAL ? EXIT_USAGE : ret ? EXIT_FAILED : EXIT_DONE;
}

int simlib_write_requests(struct simlib_job *job, const char *path, u64 count,
			  const u64 *arrival_ns, const u8 *op, const u64 *offset, const u64 *bytes)
{
	struct request_columns columns = {
		.path = path,
		.count = count,
		.arrival_ns = arrival_ns,
		.op = op,
		.offset = offset,
		.bytes = bytes,
	};

	return job_call_and_capture_messages(job, write_request_records, &columns);
}
