// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record files, see aft(5). The writer stores a write with a preflush as a flush and a write with
 * equal times, and rounds requests outward to whole sectors.
 */
#include <stdlib.h>

#include "checked-memory.h"
#include "record-file.h"
#include "trace-format.h"

#define LATENCY_UNIT_NS 100

/**
 * struct aft - state of the reader
 * @header: header of the file
 * @records: number of records read so far
 */
struct aft {
	struct aftl_record_header header;
	u64 records;
};

static bool is_head_of_record_file(const u8 *head, size_t size)
{
	return size >= AFTL_RECORD_MAGIC_BYTES && aftl_record_has_magic(head);
}

static int open_aft_file(struct trace_file *file, struct aftl_error *error)
{
	struct aftl_error cause;
	struct aft *aft = memory_alloc_zeroed(1, sizeof(*aft));

	file->state = aft;
	if (trace_input_left(&file->input) < AFTL_RECORD_HEADER_BYTES)
		return aftl_fail(error, -EINVAL, "%.120s: the file ends inside its header",
				 file->input.name);
	if (aftl_record_header_decode(&aft->header, trace_input_next_bytes(&file->input), &cause))
		return aftl_fail(error, -EINVAL, "%.80s: %.150s", file->input.name, cause.text);
	trace_input_consume_bytes(&file->input, AFTL_RECORD_HEADER_BYTES);
	file->device_bytes = aft->header.device_bytes;
	file->interrupted = strstr(aft->header.provenance, RECORD_INTERRUPTED_KEY);
	file->class_names = aft->header.class_names;
	file->classes = aft->header.classes;
	return 0;
}

static void convert_record_to_request(const struct aftl_record *record,
				      struct trace_request *request)
{
	*request = (struct trace_request){
		.t_ns = record->t_ns,
		.offset = record->off_sect << AFTL_RECORD_SECTOR_SHIFT,
		.bytes = (u64)record->nsect << AFTL_RECORD_SECTOR_SHIFT,
		.latency_ns = (u64)record->lat_100ns * LATENCY_UNIT_NS,
		.pid = record->pid,
		.stream = record->stream,
		.op = record->op,
		.class = record->class,
		.life = record->life,
		.fua = record->fua,
	};
}

static int report_aft_error_at_byte(const struct trace_file *file, const char *cause,
				    struct aftl_error *error)
{
	return aftl_fail(error, -EINVAL, "%.80s: byte %llu: %.120s", file->input.name,
			 (unsigned long long)file->input.offset, cause);
}

static int check_record_file_end(const struct trace_file *file, struct aftl_error *error)
{
	const struct aft *aft = file->state;

	if (trace_input_left(&file->input))
		return report_aft_error_at_byte(file, "the file ends inside a record of 32 bytes",
						error);
	if (aft->header.records && aft->records != aft->header.records)
		return report_aft_error_at_byte(file,
						"the file has fewer records than its header says",
						error);
	return 0;
}

static int read_aft_requests(struct trace_file *file, void *out, u32 room, struct aftl_error *error)
{
	struct trace_request *requests = out;
	struct aft *aft = file->state;
	struct aftl_record record;
	struct aftl_error cause;
	u32 done = 0;

	if (aft->header.records)
		room = (u32)min((u64)room, aft->header.records - aft->records);
	while (done < room) {
		int ret = trace_input_fill_buffer(&file->input, AFTL_RECORD_BYTES, error);

		if (ret)
			return ret;
		if (trace_input_left(&file->input) < AFTL_RECORD_BYTES) {
			ret = check_record_file_end(file, error);
			return ret ? ret : (int)done;
		}
		if (aftl_record_decode(&aft->header, &record, trace_input_next_bytes(&file->input),
				       &cause))
			return report_aft_error_at_byte(file, cause.text, error);
		trace_input_consume_bytes(&file->input, AFTL_RECORD_BYTES);
		convert_record_to_request(&record, &requests[done++]);
		aft->records++;
	}
	return (int)done;
}

static int begin_aft_file(struct trace_output *output, struct aftl_error *error)
{
	struct aftl_record_header header;
	struct record_writer *writer;
	int ret;

	aftl_record_header_init(&header);
	header.device_bytes = output->device_bytes;
	header.classes = output->classes;
	memcpy(header.class_names, output->class_names,
	       output->classes * sizeof(header.class_names[0]));
	scnprintf(header.source_format, sizeof(header.source_format), "%s", output->source_format);
	scnprintf(header.tool_version, sizeof(header.tool_version), "approxftl-trace %s",
		  output->tool_version);
	scnprintf(header.provenance, sizeof(header.provenance), "%s", output->provenance);
	ret = record_create(&writer, output->path, output->name, &header, error);
	output->state = ret ? NULL : writer;
	return ret;
}

u32 trace_convert_request_to_records(const struct trace_request *request,
				     struct aftl_record records[2])
{
	u64 first = request->offset / TRACE_SECTOR;
	u64 behind = DIV_ROUND_UP(request->offset + request->bytes, TRACE_SECTOR);
	u64 latency = DIV_ROUND_UP(request->latency_ns, LATENCY_UNIT_NS);
	struct aftl_record flush = {
		.t_ns = request->t_ns,
		.op = AFTL_OP_FLUSH,
		.stream = request->stream,
		.pid = request->pid,
	};
	u32 count = 0;

	if (request->preflush)
		records[count++] = flush;
	records[count++] = (struct aftl_record){
		.t_ns = request->t_ns,
		.off_sect = request->op == AFTL_OP_FLUSH ? 0 : first,
		.nsect = request->op == AFTL_OP_FLUSH ? 0 : (u32)(behind - first),
		.op = request->op,
		.fua = request->fua && request->op == AFTL_OP_WRITE,
		.life = request->op == AFTL_OP_WRITE ? request->life : 0,
		.class = request->op == AFTL_OP_WRITE ? request->class : 0,
		.stream = request->stream,
		.lat_100ns = (u32)min(latency, (u64)U32_MAX),
		.pid = request->pid,
	};
	return count;
}

static int write_aft_request(struct trace_output *output, const struct trace_request *request,
			     struct aftl_error *error)
{
	struct aftl_record records[2];
	u32 count = trace_convert_request_to_records(request, records);
	int ret = 0;

	for (u32 i = 0; i < count && !ret; i++)
		ret = record_append(output->state, &records[i], error);
	return ret;
}

static int finish_aft_file(struct trace_output *output, struct aftl_error *error)
{
	struct record_writer *writer = output->state;

	output->state = NULL;
	return record_finish(writer, error);
}

const struct trace_format trace_format_aft = {
	.name = "aft",
	.title = "record file of approxftl",
	.units = "times in ns, latencies in 100 ns, sectors of 512 bytes",
	.time_unit_ns = 1,
	.open = open_aft_file,
	.known = is_head_of_record_file,
	.fill = read_aft_requests,
	.own_file = true,
	.begin = begin_aft_file,
	.put = write_aft_request,
	.finish = finish_aft_file,
};
