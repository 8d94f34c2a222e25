// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "foreign-trace.h"
#include "reader-account.h"

/**
 * struct foreign_trace - a trace that is read
 * @reader: reader of the trace
 * @strict: treat a loss as a failure
 * @open_options: how to read it
 * @path: file or capture
 * @header: header for the records
 * @records: records of the last request
 * @count: number of records in @records
 * @given: number of records returned from @records
 * @begun: something was read since the trace was opened
 * @told: an earlier pass has reported the losses
 */
struct foreign_trace {
	struct trace_reader reader;
	bool strict;
	struct trace_open_options open_options;
	const char *path;
	struct aftl_record_header header;
	struct aftl_record records[2];
	u32 count;
	u32 given;
	bool begun;
	bool told;
};

static int open_foreign_reader(struct foreign_trace *trace, struct aftl_error *error)
{
	trace->reader = (struct trace_reader){
		.losses = { .strict = trace->strict, .silent = trace->told },
	};
	trace->begun = false;
	trace->count = 0;
	trace->given = 0;
	return trace_reader_open(&trace->reader, &trace->path, 1, &trace->open_options, error);
}

static void make_record_header(struct foreign_trace *trace)
{
	struct trace_classes classes = trace_reader_get_classes(&trace->reader);
	struct aftl_record_header *header = &trace->header;

	aftl_record_header_init(header);
	header->device_bytes = trace->reader.merge.sources[0].file.device_bytes;
	header->classes = classes.count;
	memcpy(header->class_names, classes.names, classes.count * sizeof(classes.names[0]));
	scnprintf(header->source_format, sizeof(header->source_format), "%s",
		  trace_reader_format(&trace->reader)->name);
}

int foreign_trace_open(struct foreign_trace **out, const char *path,
		       const struct reading_options *reading, struct aftl_error *error)
{
	struct foreign_trace *trace = memory_alloc_zeroed(1, sizeof(*trace));
	int ret = reading_options_make_open_options(reading, &trace->open_options, error);

	trace->strict = reading->strict;
	trace->path = path;
	if (!ret)
		ret = open_foreign_reader(trace, error);
	if (ret) {
		free(trace);
		return ret;
	}
	make_record_header(trace);
	*out = trace;
	return 0;
}

void foreign_trace_close(struct foreign_trace *trace)
{
	if (!trace)
		return;
	if (trace->reader.names)
		trace_reader_close(&trace->reader);
	free(trace);
}

int foreign_trace_next_record(struct foreign_trace *trace, struct aftl_record *record,
			      struct aftl_error *error)
{
	struct trace_request request;
	int ret;

	trace->begun = true;
	if (trace->given == trace->count) {
		ret = trace_reader_next_request(&trace->reader, &request, error);
		if (ret <= 0)
			return ret;
		trace->count = trace_convert_request_to_records(&request, trace->records);
		trace->given = 0;
	}
	*record = trace->records[trace->given++];
	return 1;
}

int foreign_trace_rewind(struct foreign_trace *trace, struct aftl_error *error)
{
	if (!trace->begun)
		return 0;
	trace->told = true;
	trace_reader_close(&trace->reader);
	return open_foreign_reader(trace, error);
}

const struct aftl_record_header *foreign_trace_header(const struct foreign_trace *trace)
{
	return &trace->header;
}

void foreign_trace_describe(const struct foreign_trace *trace, FILE *out)
{
	trace_reader_describe(&trace->reader, out);
}

void foreign_trace_print_losses(const struct foreign_trace *trace, FILE *out)
{
	trace_reader_print_losses(&trace->reader, out);
}
