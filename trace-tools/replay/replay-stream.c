// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "replay-stream.h"

static const u8 magic[4] = { 0x89, 'A', 'F', 'T' };

/* A stream has either @reader, for a record file, or @foreign, for any other format. */
struct replay_stream {
	struct record_reader *reader;
	struct foreign_trace *foreign;
	const char *path;
	struct stream_change change;
	u8 kinds[AFTL_RECORD_CLASSES];
	u64 first_ns;
	u64 given;
	u64 folded;
};

static void map_classes_to_quality_levels(struct replay_stream *stream)
{
	const struct aftl_record_header *header = stream_header(stream);

	for (u32 i = 0; i < header->classes; i++)
		aftl_find_quality_level_by_name(header->class_names[i], &stream->kinds[i]);
}

static bool is_record_file(const char *path)
{
	FILE *file = fopen(path, "rbe");
	u8 start[4] = { 0 };
	bool is;

	if (!file)
		return false;
	is = fread(start, 1, sizeof(start), file) == sizeof(start) &&
	     !memcmp(start, magic, sizeof(magic));
	fclose(file);
	return is;
}

int stream_open(struct replay_stream **out, const char *path, const struct reading_options *reading,
		struct aftl_error *error)
{
	struct replay_stream *stream;
	int ret;

	if (!strcmp(path, "-"))
		return aftl_fail(error, -ESPIPE,
				 "a stream is read twice, which standard input cannot be; use a file");
	stream = memory_alloc_zeroed(1, sizeof(*stream));
	stream->path = path;
	stream->change.speed = REPLAY_SPEED_ONE;
	ret = is_record_file(path) ? record_open(&stream->reader, path, error) :
				     foreign_trace_open(&stream->foreign, path, reading, error);
	if (ret) {
		free(stream);
		return ret;
	}
	map_classes_to_quality_levels(stream);
	*out = stream;
	return 0;
}

void stream_close(struct replay_stream *stream)
{
	if (!stream)
		return;
	record_close(stream->reader);
	foreign_trace_close(stream->foreign);
	free(stream);
}

const struct aftl_record_header *stream_header(const struct replay_stream *stream)
{
	return stream->foreign ? foreign_trace_header(stream->foreign) :
				 record_header(stream->reader);
}

void stream_print_format(const struct replay_stream *stream, FILE *out)
{
	if (stream->foreign)
		foreign_trace_describe(stream->foreign, out);
}

void stream_print_losses(const struct replay_stream *stream, FILE *out)
{
	if (stream->foreign)
		foreign_trace_print_losses(stream->foreign, out);
}

bool stream_is_record_file(const struct replay_stream *stream)
{
	return stream->reader;
}

void stream_set_request_transform(struct replay_stream *stream, const struct stream_change *change)
{
	stream->change = *change;
}

int stream_rewind(struct replay_stream *stream, struct aftl_error *error)
{
	int ret;

	stream->given = 0;
	stream->folded = 0;
	if (stream->foreign)
		return foreign_trace_rewind(stream->foreign, error);
	ret = record_rewind(stream->reader);
	if (ret)
		return aftl_fail(error, ret, "%.120s: replay reads its input twice; use a file",
				 stream->path);
	return 0;
}

static void align_stream_request(const struct replay_stream *stream, struct aftl_record *record)
{
	u64 align = stream->change.align >> AFTL_RECORD_SECTOR_SHIFT;
	u64 end = record->off_sect + record->nsect;

	if (align < 2 || !record->nsect)
		return;
	record->off_sect -= record->off_sect % align;
	record->nsect = (u32)(DIV_ROUND_UP(end, align) * align - record->off_sect);
}

/* Wrap a request's addresses; a request that extends beyond the end is moved back to fit. */
static int wrap_request_addresses(struct replay_stream *stream, struct aftl_record *record,
				  struct aftl_error *error)
{
	u64 sectors = stream->change.fold_bytes >> AFTL_RECORD_SECTOR_SHIFT;

	if (!sectors || record->off_sect + record->nsect <= sectors)
		return 0;
	if (record->nsect > sectors)
		return aftl_fail(error, -EFBIG, "%.100s: request %llu is larger than the target",
				 stream->path, (unsigned long long)stream->given);
	record->off_sect = min(record->off_sect % sectors, sectors - record->nsect);
	stream->folded++;
	return 0;
}

int stream_next_request(struct replay_stream *stream, struct aftl_record *record,
			struct aftl_error *error)
{
	int ret;

	if (stream->change.limit && stream->given == stream->change.limit)
		return 0;
	ret = stream->foreign ? foreign_trace_next_record(stream->foreign, record, error) :
				record_read_next(stream->reader, record, error);
	if (ret <= 0)
		return ret;
	if (!stream->given)
		stream->first_ns = record->t_ns;
	record->t_ns = (u64)((__uint128_t)(record->t_ns - stream->first_ns) * REPLAY_SPEED_ONE /
			     stream->change.speed);
	align_stream_request(stream, record);
	stream->given++;
	ret = wrap_request_addresses(stream, record, error);
	return ret ? ret : 1;
}

static void add_request_to_stream_summary(struct stream_summary *survey,
					  const struct aftl_record *record)
{
	u64 bytes = (u64)record->nsect << AFTL_RECORD_SECTOR_SHIFT;
	u64 offset = record->off_sect << AFTL_RECORD_SECTOR_SHIFT;

	survey->requests++;
	survey->by_op[record->op]++;
	survey->bytes_by_op[record->op] += bytes;
	survey->span_ns = record->t_ns;
	survey->end_bytes = max(survey->end_bytes, offset + bytes);
	survey->grain_bytes |= offset | bytes;
	if (record->op == AFTL_OP_READ || record->op == AFTL_OP_WRITE)
		survey->largest_bytes = max(survey->largest_bytes, bytes);
}

int read_and_summarise_request_stream(struct replay_stream *stream, struct stream_summary *survey,
				      struct aftl_error *error)
{
	struct aftl_record record;
	int ret;

	memset(survey, 0, sizeof(*survey));
	ret = stream_rewind(stream, error);
	while (!ret) {
		ret = stream_next_request(stream, &record, error);
		if (ret <= 0)
			break;
		add_request_to_stream_summary(survey, &record);
		ret = 0;
	}
	survey->folded = stream->folded;
	/* Keep the lowest bit set in any offset or length: this power of two divides them all. */
	survey->grain_bytes &= ~survey->grain_bytes + 1;
	return ret;
}

enum data_kind stream_kind(const struct replay_stream *stream, u32 class)
{
	return stream->kinds[class];
}
