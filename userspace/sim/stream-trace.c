// SPDX-License-Identifier: GPL-2.0-only
/* A stream from a record file, adapted to the device. */
#include <stdlib.h>

#include "checked-memory.h"
#include "record-file.h"
#include "request-stream.h"
#include "sim-options.h"

/**
 * struct trace - a stream from a record file
 * @stream: base class
 * @reader: reader of the file
 * @unit_shift: log2 of the sectors in a unit
 * @whole: widen requests to whole units
 * @sectors: capacity of the device
 * @blocks: blocks in each of its planes
 * @fold: take requests beyond @sectors modulo @sectors
 * @scale: factor of times, in 10^-12
 * @left: remaining passes after this one
 * @first_ns: time stamp of the file's first record
 * @shift_ns: added to all times of this pass
 * @last_ns: time of the last request, scaled and shifted
 * @gap_ns: distance of the last two different times, which also separates two passes
 * @any: a record was read in this pass
 * @device_time: time stamps are device times: do not shift the first pass
 * @queue_by: enum sim_queue_by
 * @queues: number of host queues
 * @level: quality level of each class of the file
 * @known: whether the meaning of each class is known
 */
struct trace {
	struct sim_stream stream;
	struct record_reader *reader;
	u32 unit_shift;
	bool whole;
	u64 sectors;
	u64 blocks;
	bool fold;
	u64 scale;
	u64 left;
	u64 first_ns;
	u64 shift_ns;
	u64 last_ns;
	u64 gap_ns;
	bool any;
	bool device_time;
	u64 queue_by;
	u32 queues;
	u8 level[AFTL_RECORD_CLASSES];
	bool known[AFTL_RECORD_CLASSES];
};

/* Times */

static u64 apply_trace_time_scale(const struct trace *trace, u64 ns)
{
	__uint128_t wide = (__uint128_t)ns * trace->scale / SIM_RATE_ONE;

	return wide > U64_MAX / 4 ? U64_MAX / 4 : (u64)wide;
}

static u64 compute_arrival_time(struct trace *trace, u64 stamp_ns)
{
	u64 now;

	if (!trace->any)
		trace->first_ns = trace->device_time && !trace->shift_ns ? 0 : stamp_ns;
	trace->any = true;
	now = trace->shift_ns + apply_trace_time_scale(trace, stamp_ns - trace->first_ns);
	if (now > trace->last_ns)
		trace->gap_ns = now - trace->last_ns;
	trace->last_ns = now;
	return now;
}

/* Addresses */

static void fit_trace_sectors_to_device(struct trace *trace, struct sim_request *request, u64 first,
					u64 sectors)
{
	struct sim_notes *notes = &trace->stream.notes;

	if (sectors > trace->sectors) {
		notes->clipped++;
		sectors = trace->sectors;
		first = 0;
	} else if (first + sectors > trace->sectors) {
		notes->wrapped++;
		first = min(first % trace->sectors, trace->sectors - sectors);
	}
	sim_request_set_sectors(request, first, sectors, trace->unit_shift);
}

/* Return the sector after the last one of @record. */
static u64 get_end_sector_of_record(const struct aftl_record *record)
{
	return record->op == AFTL_OP_FLUSH ? 0 : record->off_sect + record->nsect;
}

static void convert_trace_record(struct trace *trace, struct sim_request *request,
				 const struct aftl_record *record)
{
	u64 mask = (1ULL << trace->unit_shift) - 1;
	u64 first = record->off_sect;
	u64 end = get_end_sector_of_record(record);
	bool partial = (first | end) & mask;

	if (record->op == AFTL_OP_FLUSH)
		return;
	if (partial && trace->whole) {
		trace->stream.notes.widened++;
		first &= ~mask;
		end = (end + mask) & ~mask;
	} else if (partial && record->op == AFTL_OP_WRITE_ZEROES) {
		/* Make write-zeroes of a part of a unit a write, which keeps the other part. */
		request->op = AFTL_OP_WRITE;
	}
	fit_trace_sectors_to_device(trace, request, first, end - first);
}

/*
 * Refuse a trace of a larger device: its addresses modulo the capacity would overwrite each other
 * more often than in the recorded load.
 */
static int report_trace_beyond_device(const struct trace *trace, u64 end, struct aftl_error *error)
{
	return aftl_fail(error, -EINVAL,
			 "--trace: it reaches to byte %llu, the device has %llu; --blocks %llu makes it that large, --fold takes addresses modulo its capacity",
			 (unsigned long long)end * AFTL_SECTOR_BYTES,
			 (unsigned long long)trace->sectors * AFTL_SECTOR_BYTES,
			 (unsigned long long)end * trace->blocks / trace->sectors + 1);
}

static void convert_trace_class(struct trace *trace, struct sim_request *request,
				const struct aftl_record *record)
{
	if (record->op != AFTL_OP_WRITE)
		return;
	if (!trace->known[record->class])
		trace->stream.notes.unknown_class++;
	request->level = trace->level[record->class];
	request->class = request->level ? AFTL_APPROX : AFTL_PRECISE;
}

static u8 get_queue_of_trace_record(const struct trace *trace, const struct aftl_record *record)
{
	u32 number = record->stream;

	if (trace->queue_by == SIM_QUEUE_BY_PID)
		number = record->pid;
	else if (trace->queue_by == SIM_QUEUE_BY_RECORD)
		number = record->stream >> 8;
	return (u8)(number % trace->queues);
}

/* Records */

/* Begin the file's next pass. Return: 1, 0 if none is left, or a negative error number. */
static int begin_next_trace_pass(struct trace *trace, struct aftl_error *error)
{
	int ret;

	if (!trace->left || !trace->any)
		return 0;
	ret = record_rewind(trace->reader);
	if (ret)
		return aftl_fail(error, ret, "--repeat: the record file cannot be rewound: %s",
				 strerror(-ret));
	trace->left--;
	trace->any = false;
	trace->shift_ns = trace->last_ns + trace->gap_ns;
	return 1;
}

static int read_next_record_of_repeated_trace(struct trace *trace, struct aftl_record *record,
					      struct aftl_error *error)
{
	int ret = record_read_next(trace->reader, record, error);

	if (!ret) {
		ret = begin_next_trace_pass(trace, error);
		if (ret > 0)
			ret = record_read_next(trace->reader, record, error);
	}
	return ret;
}

static int read_next_trace_request(struct sim_stream *stream, struct sim_request *request,
				   struct aftl_error *error)
{
	struct trace *trace = container_of(stream, struct trace, stream);
	struct aftl_record record;
	int ret = read_next_record_of_repeated_trace(trace, &record, error);

	if (ret <= 0)
		return ret;
	if (!trace->fold && get_end_sector_of_record(&record) > trace->sectors)
		return report_trace_beyond_device(trace, get_end_sector_of_record(&record), error);
	*request = (struct sim_request){
		.op = record.op,
		.flags = record.fua ? AFTL_REQUEST_FUA : 0,
		.hint = { .life = record.life, .stream = (u8)record.stream },
		.queue = get_queue_of_trace_record(trace, &record),
	};
	request->time_ns = compute_arrival_time(trace, record.t_ns);
	convert_trace_record(trace, request, &record);
	convert_trace_class(trace, request, &record);
	return 1;
}

static void close_trace_stream(struct sim_stream *stream)
{
	struct trace *trace = container_of(stream, struct trace, stream);

	record_close(trace->reader);
	free(trace);
}

/*
 * Refuse a trace that exceeds the device before the simulation. If the file cannot be rewound,
 * the run fails at the first request beyond the device instead.
 */
static int check_trace_fits_device(struct trace *trace, u64 requests, struct aftl_error *error)
{
	struct aftl_record record;
	u64 end = 0;

	if (trace->fold || record_rewind(trace->reader))
		return 0;
	while (requests-- && record_read_next(trace->reader, &record, error) > 0)
		end = max(end, get_end_sector_of_record(&record));
	if (end > trace->sectors)
		return report_trace_beyond_device(trace, end, error);
	if (record_rewind(trace->reader))
		return aftl_fail(error, -EIO, "--trace: the record file cannot be rewound");
	return 0;
}

int sim_trace_open(struct sim_stream **out, const struct sim_options *options,
		   const struct aftl_config *config, const struct aftl_geometry *geo,
		   u64 units, struct aftl_error *error)
{
	struct trace *trace = memory_alloc_zeroed(1, sizeof(*trace));
	int ret = record_open(&trace->reader, options->trace_path, error);
	const struct aftl_record_header *header;

	if (ret) {
		free(trace);
		return ret;
	}
	trace->stream.next = read_next_trace_request;
	trace->stream.close = close_trace_stream;
	trace->stream.expected = record_header(trace->reader)->records * options->repeat;
	trace->unit_shift = sim_get_unit_shift(geo);
	trace->whole = sim_are_requests_whole_units(options, geo);
	trace->sectors = units << trace->unit_shift;
	trace->scale = options->time_scale;
	trace->left = options->repeat - 1;
	trace->device_time = options->arrival == SIM_ARRIVAL_DEVICE;
	trace->queue_by = options->queue_by;
	trace->queues = aftl_queue_weight_count(config->queue_weights) ?: 1;
	if (trace->queues == 1 && sim_did_user_set_option(options, "queue-by"))
		trace->queues = AFTL_QUEUES_MAX;
	trace->blocks = config->blocks;
	trace->fold = options->fold;
	header = record_header(trace->reader);
	for (u32 i = 0; i < header->classes; i++) {
		trace->known[i] =
			aftl_find_quality_level_by_name(header->class_names[i], &trace->level[i]);
		trace->stream.levels |= trace->level[i] > AFTL_APPROX;
	}
	ret = check_trace_fits_device(trace, sim_options_get_request_limit(options), error);
	if (ret)
		close_trace_stream(&trace->stream);
	else
		*out = &trace->stream;
	return ret;
}
