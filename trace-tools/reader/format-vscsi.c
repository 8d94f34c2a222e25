// SPDX-License-Identifier: GPL-2.0-only
/*
 * vscsi traces, as CloudPhysics recorded the disks of virtual machines. Records are little-endian.
 * Version 1: serial number (4), bytes (4), segments (4), command (2), version (2), block (8), time
 * in us (8). Version 2: command (2), version (2), serial number (4), bytes (4), segments (4),
 * block (8), time in us (8), latency in us (8). The upper byte of the version field is the version.
 * SCSI commands that neither move data nor flush are skipped.
 */
#include "checked-memory.h"
#include "fixed-records.h"

#define MICROSECOND_NS 1000

/**
 * struct layout - offsets of the fields in a record of one version
 * @bytes: size of a record
 * @version: offset of the version byte
 * @command: offset of the SCSI command
 * @length: offset of the request's length
 * @block: offset of the first block number, which the time follows
 * @took: the records have a latency, which follows the time
 */
static const struct layout {
	size_t bytes;
	u8 version;
	u8 command;
	u8 length;
	u8 block;
	bool took;
} layouts[] = {
	{ .bytes = 32, .version = 15, .command = 12, .length = 4, .block = 16 },
	{ .bytes = 40, .version = 3, .command = 0, .length = 8, .block = 16, .took = true },
};

/* Detect the version from the first two records: one version byte may match by chance. */
static const struct layout *detect_vscsi_layout(const u8 *head, size_t size)
{
	for (u32 i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct layout *layout = &layouts[i];
		const u8 *second = head + layout->bytes;

		if (size < 2 * layout->bytes || head[layout->version] != i + 1 ||
		    second[layout->version] != i + 1)
			continue;
		if (!head[layout->command + 1] && !second[layout->command + 1])
			return layout;
	}
	return NULL;
}

static bool is_vscsi_format(const u8 *head, size_t size)
{
	return detect_vscsi_layout(head, size);
}

static int open_vscsi_trace(struct trace_file *file, struct aftl_error *error)
{
	const struct layout *layout;
	struct layout *kept = memory_alloc_zeroed(1, sizeof(*kept));
	int ret = trace_input_fill_buffer(&file->input, 2 * layouts[1].bytes, error);

	file->state = kept;
	if (ret)
		return ret;
	layout = detect_vscsi_layout(trace_input_next_bytes(&file->input),
				     trace_input_left(&file->input));
	if (!layout)
		return aftl_fail(error, -EINVAL,
				 "%.80s: records of neither version 1 nor version 2 of vscsi",
				 file->input.name);
	*kept = *layout;
	return 0;
}

static enum trace_line_verdict parse_vscsi_record(const struct trace_file *file, const u8 *at,
						  struct trace_request *request, const char **cause)
{
	const struct layout *layout = file->state;
	const u8 *block = at + layout->block;

	*request =
		(struct trace_request){ .bytes = decode_little_endian(at + layout->length, 4) };
	if (!trace_operation_of_scsi_code(decode_little_endian(at + layout->command, 2),
					  &request->op))
		return TRACE_LINE_EMPTY;
	*cause = "a block, or a time, is beyond 64 bits";
	if (!trace_units_to_bytes(decode_little_endian(block, 8), TRACE_SECTOR,
				  &request->offset) ||
	    !trace_units_to_bytes(decode_little_endian(block + 8, 8), file->time_unit_ns,
				  &request->t_ns) ||
	    (layout->took && !trace_units_to_bytes(decode_little_endian(block + 16, 8),
						   file->time_unit_ns, &request->latency_ns)))
		return TRACE_LINE_WRONG;
	return trace_check_request(request, cause);
}

static int read_vscsi_requests(struct trace_file *file, void *out, u32 room,
			       struct aftl_error *error)
{
	const struct layout *layout = file->state;

	return read_fixed_size_records(file, out, room, layout->bytes, parse_vscsi_record, error);
}

const struct trace_format trace_format_vscsi = {
	.name = "vscsi",
	.title = "vscsi of CloudPhysics, versions 1 and 2",
	.units = "times and latencies in us, blocks of 512 bytes, sizes in bytes",
	.time_unit_ns = MICROSECOND_NS,
	.open = open_vscsi_trace,
	.known = is_vscsi_format,
	.fill = read_vscsi_requests,
};
