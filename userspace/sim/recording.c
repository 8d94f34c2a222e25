// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "checked-memory.h"
#include "interruption.h"
#include "recording.h"
#include "version.h"

#define LEAST_ROOM 64
#define LATENCY_UNIT_NS 100

/**
 * struct pending_record - a request that has not been written
 * @record: the request
 * @end: its end, if @ended
 * @ended: it is complete
 */
struct pending_record {
	struct aftl_record record;
	struct recorded_end end;
	bool ended;
};

static bool is_csv_path(const char *path)
{
	size_t length = strlen(path);

	return length > 4 && !strcmp(path + length - 4, ".csv");
}

static int open_csv_recording(struct recording *recording, struct aftl_error *error)
{
	recording->csv = fopen(recording->file.temporary, "w");
	if (!recording->csv)
		return aftl_fail(error, -errno, "%.150s cannot be written: %s",
				 recording->file.path, strerror(errno));
	/* Print the CSV columns of "approxftl trace convert", then waiting_ns and reason. */
	fputs("t_ns,op,offset_bytes,bytes,latency_ns,pid,stream,class,waiting_ns,reason\n",
	      recording->csv);
	return 0;
}

static int open_record_file_of_recording(struct recording *recording,
					 const struct sim_stream *stream,
					 const struct aftl_geometry *geo, u64 units,
					 struct aftl_error *error)
{
	struct aftl_record_header header;

	aftl_record_header_init(&header);
	if (stream->levels)
		aftl_record_header_set_class_names(&header, AFTL_LEVELS);
	header.device_bytes = units * geo->unit_bytes;
	scnprintf(header.source_format, sizeof(header.source_format), "approxftl sim");
	scnprintf(header.tool_version, sizeof(header.tool_version), "approxftl %s",
		  approxftl_version());
	return record_create(&recording->writer, recording->file.temporary, recording->file.path,
			     &header, error);
}

int recording_open(struct recording *recording, const struct sim_stream *stream,
		   const struct aftl_geometry *geo, u64 units, struct aftl_error *error)
{
	int ret;

	if (geo->zones)
		return aftl_fail(error, -EINVAL,
				 "--record: records have no resets of zones; set zoned 0");
	recording->unit_sectors = sim_sectors_per_unit(geo);
	ret = is_csv_path(recording->file.path) ?
		      open_csv_recording(recording, error) :
		      open_record_file_of_recording(recording, stream, geo, units, error);
	recording->active = !ret;
	return ret;
}

static struct pending_record *get_pending_record_at(const struct recording *recording, u64 number)
{
	return &recording->pending[number & (recording->room - 1)];
}

u64 recording_begin_request(struct recording *recording, const struct sim_request *request,
			    u64 at_ns)
{
	if (recording->next - recording->first == recording->room) {
		struct pending_record *old = recording->pending;
		u64 room = recording->room, i;

		recording->room = room ? 2 * room : LEAST_ROOM;
		recording->pending = memory_alloc_zeroed(recording->room, sizeof(*old));
		for (i = recording->first; i < recording->next; i++)
			*get_pending_record_at(recording, i) = old[i & (room - 1)];
		free(old);
	}
	*get_pending_record_at(recording, recording->next) = (struct pending_record){
		.record = {
			.t_ns = at_ns,
			.off_sect = (u64)request->unit * recording->unit_sectors +
				    request->head_skip,
			.nsect = (u32)sim_request_count_sectors(request, recording->unit_sectors),
			.op = request->op,
			.fua = request->flags & AFTL_REQUEST_FUA,
			.life = request->hint.life,
			.class = aftl_normalise_quality_level(request->class, request->level),
			.stream = (u16)(request->queue << 8 | request->hint.stream),
		},
	};
	return recording->next++;
}

static void write_csv_row(struct recording *recording, const struct pending_record *pending)
{
	const struct aftl_record *record = &pending->record;
	const struct recorded_end *end = &pending->end;

	fprintf(recording->csv, "%llu,%s,%llu,%llu,%llu,0,%u,%s,%llu,%s\n",
		(unsigned long long)record->t_ns, aftl_op_names[record->op],
		(unsigned long long)record->off_sect * AFTL_SECTOR_BYTES,
		(unsigned long long)record->nsect * AFTL_SECTOR_BYTES,
		(unsigned long long)end->response_ns, record->stream,
		aftl_level_names[record->class], (unsigned long long)end->waiting_ns,
		end->reason < AFTL_WAITS ? aftl_wait_names[end->reason] : "");
}

static void write_pending_record(struct recording *recording, struct pending_record *pending)
{
	u64 units = DIV_ROUND_UP(pending->end.response_ns, LATENCY_UNIT_NS);

	pending->record.lat_100ns = min_t(u64, units, U32_MAX);
	if (recording->csv)
		write_csv_row(recording, pending);
	else if (!recording->failed)
		recording->failed = record_append(recording->writer, &pending->record,
						  &recording->error);
}

void recording_end_request(struct recording *recording, u64 number, const struct recorded_end *end)
{
	get_pending_record_at(recording, number)->end = *end;
	get_pending_record_at(recording, number)->ended = true;
	while (recording->first < recording->next &&
	       get_pending_record_at(recording, recording->first)->ended)
		write_pending_record(recording,
				     get_pending_record_at(recording, recording->first++));
}

int recording_get_error(const struct recording *recording, struct aftl_error *error)
{
	if (recording->failed)
		*error = recording->error;
	return recording->failed ? -EIO : 0;
}

static int finish_csv_recording(struct recording *recording, struct aftl_error *error)
{
	bool failed = ferror(recording->csv);

	if (fclose(recording->csv) || failed)
		return aftl_fail(error, -EIO, "%.150s cannot be written: %s",
				 recording->file.path, strerror(errno));
	return 0;
}

enum exit_code recording_finish(struct recording *recording, enum exit_code code,
				struct aftl_error *error)
{
	bool any = recording->active;
	struct aftl_error own;
	int ret;

	/* An interrupted run leaves requests without an end: their response times are unknown. */
	while (any && recording->first < recording->next)
		write_pending_record(recording,
				     get_pending_record_at(recording, recording->first++));
	free(recording->pending);
	recording->pending = NULL;
	if (recording->writer && is_stop_requested())
		record_mark_interrupted(recording->writer);
	ret = recording->csv ? finish_csv_recording(recording, &own) :
			       record_finish(recording->writer, &own);
	recording->writer = NULL;
	recording->csv = NULL;
	recording->active = false;
	if (!ret)
		ret = recording_get_error(recording, &own);
	if (!ret && any && (!code || code >= EXIT_NOT_VERIFIED))
		ret = output_file_commit(&recording->file, &own);
	output_file_abandon(&recording->file);
	if (!ret || code)
		return code;
	*error = own;
	return EXIT_FAILED;
}
