// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts traces of any format to record files for the simulator.
 */
#include "foreign-trace.h"
#include "play.h"
#include "reading-options.h"
#include "record-file.h"

static int copy_trace_records(struct foreign_trace *trace, struct record_writer *writer, u64 *count,
			      struct aftl_error *error)
{
	struct aftl_record record;
	int ret;

	while ((ret = foreign_trace_next_record(trace, &record, error)) > 0) {
		ret = record_append(writer, &record, error);
		if (ret)
			return ret;
		(*count)++;
	}
	return ret;
}

static int copy_trace_to_file(struct foreign_trace *trace, const char *to, struct aftl_error *error)
{
	const struct aftl_record_header *header = foreign_trace_header(trace);
	struct aftl_error own;
	struct record_writer *writer;
	u64 count = 0;
	int ret = record_create(&writer, to, to, header, error);

	if (ret)
		return ret;
	ret = copy_trace_records(trace, writer, &count, error);
	if (record_finish(writer, &own) && !ret) {
		*error = own;
		ret = -EIO;
	}
	if (!ret)
		scnprintf(playground_get_text_buffer(), PLAY_TEXT_BYTES, "%s, %llu requests",
			  header->source_format, (unsigned long long)count);
	return ret;
}

int playground_convert_trace(void)
{
	const struct reading_options reading = { .strict = false };
	char from[256], to[256];
	struct foreign_trace *trace;
	struct aftl_error error;
	int ret;

	scnprintf(from, sizeof(from), "%s", playground_get_text_buffer());
	scnprintf(to, sizeof(to), "%s",
		  playground_get_text_buffer() + strlen(playground_get_text_buffer()) + 1);
	ret = foreign_trace_open(&trace, from, &reading, &error);
	if (!ret) {
		ret = copy_trace_to_file(trace, to, &error);
		foreign_trace_close(trace);
	}
	return ret ? playground_report_error(ret, &error) : 0;
}
