// SPDX-License-Identifier: GPL-2.0-only
#include "recording.h"
#include "version.h"

int recording_open(struct recording *recording, const struct sim_stream *stream,
		   const struct aftl_geometry *geo, u64 units, struct aftl_error *error)
{
	struct aftl_record_header header;

	if (geo->zones)
		return aftl_fail(error, -EINVAL,
				 "--record: records have no resets of zones; set zoned 0");
	recording->unit_sectors = sim_unit_sectors(geo);
	aftl_record_header_init(&header);
	if (stream->levels)
		aftl_record_name_levels(&header, AFTL_LEVELS);
	header.device_bytes = units * geo->unit_bytes;
	scnprintf(header.source_format, sizeof(header.source_format), "approxftl sim");
	scnprintf(header.tool_version, sizeof(header.tool_version), "approxftl %s",
		  approxftl_version());
	return record_create(&recording->writer, recording->file.temporary, recording->file.path,
			     &header, error);
}

int recording_put(struct recording *recording, const struct sim_request *request, u64 at_ns,
		  struct aftl_error *error)
{
	struct aftl_record record = {
		.t_ns = at_ns,
		.off_sect = (u64)request->unit * recording->unit_sectors + request->head_skip,
		.nsect = (u32)sim_request_sectors(request, recording->unit_sectors),
		.op = request->op,
		.fua = request->flags & AFTL_REQUEST_FUA,
		.life = request->hint.life,
		.class = aftl_quality_level(request->class, request->level),
		.stream = (u16)(request->queue << 8 | request->hint.stream),
	};

	return recording->writer ? record_put(recording->writer, &record, error) : 0;
}

int recording_finish(struct recording *recording, bool keep, bool was_interrupted,
		     struct aftl_error *error)
{
	bool any = recording->writer;
	int ret;

	if (any && was_interrupted)
		record_was_interrupted(recording->writer);
	ret = record_finish(recording->writer, error);
	recording->writer = NULL;
	if (!ret && any && keep)
		ret = output_file_commit(&recording->file, error);
	output_file_drop(&recording->file);
	return ret;
}
