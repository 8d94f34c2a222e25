// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads binary blktrace traces, versions 7 and 8, in either byte order.
 */
#include <stdlib.h>

#include "blktrace-layout.h"
#include "blktrace-writer.h"
#include "checked-memory.h"
#include "trace-note.h"

/* Number of CPUs whose sequence numbers are checked for gaps; further CPUs are not checked. */
#define CPUS 4096

/**
 * struct blktrace - state of the reader
 * @swapped: the byte order of the file is not this machine's
 * @version: format version of the events
 * @header_bytes: size of an event without the data that follow it
 * @device: device that the numbers in @sequences belong to
 * @sequences: sequence number of the last event of each CPU
 */
struct blktrace {
	bool swapped;
	u32 version;
	u32 header_bytes;
	u32 device;
	u32 sequences[CPUS];
};

/* An event header, converted to this machine's byte order. */
struct raw_event {
	u32 sequence;
	u64 t_ns;
	u64 sector;
	u32 bytes;
	u64 action;
	u32 pid;
	u32 device;
	u32 cpu;
	u16 error;
	u16 extra;
};

static inline u32 load_u32(const u8 *at, bool swapped)
{
	u32 value;

	memcpy(&value, at, sizeof(value));
	return swapped ? __builtin_bswap32(value) : value;
}

static inline u64 load_u64(const u8 *at, bool swapped)
{
	u64 value;

	memcpy(&value, at, sizeof(value));
	return swapped ? __builtin_bswap64(value) : value;
}

static inline u16 load_u16(const u8 *at, bool swapped)
{
	u16 value;

	memcpy(&value, at, sizeof(value));
	return swapped ? __builtin_bswap16(value) : value;
}

static bool is_magic_known(u32 magic)
{
	return magic == (BLKTRACE_MAGIC | BLKTRACE_V7) || magic == (BLKTRACE_MAGIC | BLKTRACE_V8);
}

static bool is_blktrace_format(const u8 *head, size_t size)
{
	return size >= sizeof(u32) &&
	       (is_magic_known(load_u32(head, false)) || is_magic_known(load_u32(head, true)));
}

static int open_blktrace(struct trace_file *file, struct aftl_error *error)
{
	struct blktrace *trace = memory_alloc_zeroed(1, sizeof(*trace));
	const u8 *at = trace_input_next_bytes(&file->input);

	file->state = trace;
	if (!is_blktrace_format(at, trace_input_left(&file->input)))
		return aftl_fail(error, -EINVAL,
				 "%.120s: byte 0: no event of blktrace, version 7 or 8",
				 file->input.name);
	trace->swapped = !is_magic_known(load_u32(at, false));
	trace->version = load_u32(at, trace->swapped) & 0xff;
	trace->header_bytes = trace->version == BLKTRACE_V7 ? BLKTRACE_V7_BYTES : BLKTRACE_V8_BYTES;
	return 0;
}

static inline void load_raw_blktrace_event(const struct blktrace *trace, const u8 *at,
					   struct raw_event *raw, bool swapped)
{
	raw->sequence = load_u32(at + 4, swapped);
	raw->t_ns = load_u64(at + 8, swapped);
	raw->sector = load_u64(at + 16, swapped);
	raw->bytes = load_u32(at + 24, swapped);
	if (trace->version == BLKTRACE_V7) {
		raw->action = load_u32(at + 28, swapped);
		raw->pid = load_u32(at + 32, swapped);
		raw->device = load_u32(at + 36, swapped);
		raw->cpu = load_u32(at + 40, swapped);
		raw->error = load_u16(at + 44, swapped);
		raw->extra = load_u16(at + 46, swapped);
	} else {
		raw->pid = load_u32(at + 28, swapped);
		raw->action = load_u64(at + 32, swapped);
		raw->device = load_u32(at + 40, swapped);
		raw->cpu = load_u32(at + 44, swapped);
		raw->error = load_u16(at + 48, swapped);
		raw->extra = load_u16(at + 50, swapped);
	}
}

/* Detect lost events by gaps in the sequence numbers of a CPU; notes (messages) have number 0. */
static int check_event_sequence(struct trace_file *file, const struct raw_event *raw,
				struct aftl_error *error)
{
	struct blktrace *trace = file->state;
	u32 *last, missing;

	if (raw->cpu >= CPUS || !raw->sequence)
		return 0;
	if (trace->device != raw->device) {
		trace->device = raw->device;
		memset(trace->sequences, 0, sizeof(trace->sequences));
	}
	last = &trace->sequences[raw->cpu];
	missing = *last && raw->sequence > *last ? raw->sequence - *last - 1 : 0;
	*last = raw->sequence;
	if (!missing)
		return 0;
	file->losses->missing_events += missing;
	return trace_losses_print(file->losses, file->input.name, "byte", file->input.offset, error,
				  "%u events of processor %u before this one are missing", missing,
				  raw->cpu);
}

static bool parse_note_event(struct trace_file *file, const struct raw_event *raw, const u8 *extra,
			     u32 size, struct trace_event *event)
{
	struct text_cursor text = { (const char *)extra, (const char *)extra + size };

	file->notes++;
	switch (raw->action & BLKTRACE_ACT_MASK) {
	case BLKTRACE_NOTE_PROCESS:
		event->act = TRACE_ACT_PROCESS;
		memset(event->name, 0, sizeof(event->name));
		memcpy(event->name, extra, min((size_t)size, sizeof(event->name)));
		return true;
	case BLKTRACE_NOTE_MESSAGE:
		return trace_parse_note(file, text, event);
	default:
		return false;
	}
}

/* Get the operation of a blktrace event; return false if it neither transfers nor flushes. */
static bool operation_of_event(const struct raw_event *raw, struct trace_event *event)
{
	event->fua = raw->action & BLKTRACE_IS_FUA;
	event->preflush = raw->action & BLKTRACE_IS_FLUSH;
	if (raw->action & (BLKTRACE_IS_PASSTHROUGH | BLKTRACE_IS_ZONE_MANAGEMENT))
		return false;
	if (!raw->bytes)
		event->op = AFTL_OP_FLUSH;
	else if (raw->action & BLKTRACE_IS_DISCARD)
		event->op = AFTL_OP_DISCARD;
	else if (raw->action & BLKTRACE_IS_WRITE_ZEROES)
		event->op = AFTL_OP_WRITE_ZEROES;
	else
		event->op = (raw->action & BLKTRACE_IS_WRITE) ? AFTL_OP_WRITE :
								AFTL_OP_READ;
	return raw->bytes || event->preflush;
}

static bool parse_action_event(struct trace_file *file, const struct raw_event *raw,
			       const u8 *extra, u32 size, struct trace_event *event)
{
	u32 action = raw->action & BLKTRACE_ACT_MASK;

	file->actions[min(action, (u32)ARRAY_SIZE(file->actions) - 1)]++;
	event->sector = raw->sector;
	switch (action) {
	case BLKTRACE_QUEUE:
		event->act = TRACE_ACT_QUEUE;
		return operation_of_event(raw, event);
	case BLKTRACE_ISSUE:
		event->act = TRACE_ACT_ISSUE;
		return operation_of_event(raw, event);
	case BLKTRACE_COMPLETE:
		event->act = TRACE_ACT_COMPLETE;
		return operation_of_event(raw, event);
	case BLKTRACE_SPLIT:
		event->act = TRACE_ACT_SPLIT;
		/* big-endian, whatever the trace */
		event->detail = size < sizeof(u64) ? 0 :
			load_u64(extra, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
		return operation_of_event(raw, event) && event->detail;
	default:
		return false;
	}
}

/* Convert an event from blktrace's binary format. Return: false if it describes no request. */
static bool convert_blktrace_event(struct trace_file *file, const struct raw_event *raw,
				   const u8 *extra, struct trace_event *event)
{
	u32 skipped = raw->action & BLKTRACE_CGROUP && raw->extra >= BLKTRACE_CGROUP_BYTES ?
		BLKTRACE_CGROUP_BYTES : 0;
	bool used;

	*event = (struct trace_event){
		.t_ns = raw->t_ns,
		.bytes = raw->bytes,
		.pid = raw->pid,
		.device = raw->device,
		.cpu = (u16)raw->cpu,
		.error = raw->error,
	};
	if (raw->action & BLKTRACE_IS_NOTE)
		used = parse_note_event(file, raw, extra + skipped, raw->extra - skipped, event);
	else
		used = parse_action_event(file, raw, extra + skipped, raw->extra - skipped, event);
	file->other_events += !used;
	return used;
}

/* Find the next magic number of an event at or after offset @from of a damaged trace. */
static size_t find_event(const struct trace_file *file, size_t from)
{
	const struct blktrace *trace = file->state;
	size_t left = trace_input_left(&file->input);

	for (; from + sizeof(u32) <= left; from++)
		if (load_u32(trace_input_next_bytes(&file->input) + from, trace->swapped) ==
		    (BLKTRACE_MAGIC | trace->version))
			return from;
	return from;
}

static int skip_damaged_bytes(struct trace_file *file, struct aftl_error *error)
{
	u64 begin = file->input.offset;
	size_t skipped;
	int ret;

	do {
		skipped = find_event(file, 1);
		trace_input_consume_bytes(&file->input,
					  min(skipped, trace_input_left(&file->input)));
		ret = trace_input_fill_buffer(&file->input, BLKTRACE_V8_BYTES, error);
		if (ret)
			return ret;
	} while (trace_input_left(&file->input) >= sizeof(u32) && find_event(file, 0));
	if (trace_input_left(&file->input) < sizeof(u32))
		trace_input_consume_bytes(&file->input, trace_input_left(&file->input));
	file->losses->skipped_bytes += file->input.offset - begin;
	return trace_losses_print(file->losses, file->input.name, "byte", begin, error,
				  "no event begins here; skipped %llu bytes",
				  (unsigned long long)(file->input.offset - begin));
}

static int drop_truncated_event(struct trace_file *file, struct aftl_error *error)
{
	size_t left = trace_input_left(&file->input);
	u64 begin = file->input.offset;

	file->losses->skipped_bytes += left;
	trace_input_consume_bytes(&file->input, left);
	return trace_losses_print(file->losses, file->input.name, "byte", begin, error,
				  "the file ends inside an event");
}

/* Slow path: buffer one whole event; handle the end of the file and damaged bytes. */
static int buffer_whole_event(struct trace_file *file, u32 *size, struct raw_event *raw,
			      struct aftl_error *error)
{
	const struct blktrace *trace = file->state;
	struct trace_input *input = &file->input;
	int ret;

	*size = 0;
	if (trace_input_left(input) < BLKTRACE_V8_BYTES) {
		ret = trace_input_fill_buffer(input, BLKTRACE_V8_BYTES, error);
		if (ret || !trace_input_left(input))
			return ret;
	}
	if (trace_input_left(input) < trace->header_bytes)
		return drop_truncated_event(file, error);
	if (load_u32(trace_input_next_bytes(input), trace->swapped) !=
	    (BLKTRACE_MAGIC | trace->version))
		return skip_damaged_bytes(file, error);
	load_raw_blktrace_event(trace, trace_input_next_bytes(input), raw, trace->swapped);
	*size = trace->header_bytes + raw->extra;
	if (trace_input_left(input) >= *size)
		return 0;
	ret = trace_input_fill_buffer(input, *size, error);
	if (ret || trace_input_left(input) >= *size)
		return ret;
	*size = 0;
	return drop_truncated_event(file, error);
}

/* Maps events that can begin or end a request to enum trace_act + 1, and all others to 0. */
static const u8 plain_acts[BLKTRACE_ACTIONS] = {
	[BLKTRACE_QUEUE] = TRACE_ACT_QUEUE + 1,
	[BLKTRACE_ISSUE] = TRACE_ACT_ISSUE + 1,
	[BLKTRACE_COMPLETE] = TRACE_ACT_COMPLETE + 1,
};

#define BLKTRACE_RARE                                                                  \
	(BLKTRACE_IS_NOTE | BLKTRACE_IS_DISCARD | BLKTRACE_IS_PASSTHROUGH |            \
	 BLKTRACE_IS_ZONE_MANAGEMENT | BLKTRACE_IS_WRITE_ZEROES)

static inline bool is_event_decodable_by_fast_path(const struct blktrace *trace,
						   const struct raw_event *raw)
{
	u32 action = raw->action & BLKTRACE_ACT_MASK;

	return !(raw->action & BLKTRACE_RARE) && raw->bytes && action != BLKTRACE_SPLIT &&
	       action < BLKTRACE_ACTIONS && raw->cpu < CPUS && raw->device == trace->device &&
	       raw->sequence == trace->sequences[raw->cpu] + 1;
}

/* Convert an event without branches on its kind, which the CPU would often mispredict. */
static inline u32 decode_event_on_fast_path(struct trace_file *file, const struct raw_event *raw,
					    struct trace_event *event)
{
	u32 action = raw->action & BLKTRACE_ACT_MASK;
	u32 used = !!plain_acts[action];

	file->actions[action]++;
	file->other_events += !used;
	event->t_ns = raw->t_ns;
	event->sector = raw->sector;
	event->bytes = raw->bytes;
	event->pid = raw->pid;
	event->device = raw->device;
	event->cpu = (u16)raw->cpu;
	event->error = raw->error;
	event->act = (u8)(plain_acts[action] - used);
	event->op = (raw->action & BLKTRACE_IS_WRITE) ? AFTL_OP_WRITE : AFTL_OP_READ;
	event->fua = raw->action & BLKTRACE_IS_FUA;
	event->preflush = raw->action & BLKTRACE_IS_FLUSH;
	return used;
}

/*
 * Fast path for most events: native byte order, no gap in the sequence numbers, completely
 * buffered. Stops at the first event that needs the slow path.
 */
static u32 convert_buffered_events(struct trace_file *file, struct trace_event *events, u32 room)
{
	struct blktrace *trace = file->state;
	const u8 *begin = trace_input_next_bytes(&file->input), *at = begin;
	const u8 *end = at + trace_input_left(&file->input);
	struct raw_event raw;
	u32 done = 0;

	while (!trace->swapped && done < room && end - at >= BLKTRACE_V8_BYTES &&
	       load_u32(at, false) == (BLKTRACE_MAGIC | trace->version)) {
		u32 size;

		load_raw_blktrace_event(trace, at, &raw, false);
		size = trace->header_bytes + raw.extra;
		if (size > (size_t)(end - at) || !is_event_decodable_by_fast_path(trace, &raw))
			break;
		trace->sequences[raw.cpu] = raw.sequence;
		done += decode_event_on_fast_path(file, &raw, &events[done]);
		at += size;
	}
	trace_input_consume_bytes(&file->input, (size_t)(at - begin));
	return done;
}

/* Read one event of any kind. Return: 1 if the event describes a request. */
static int convert_next_event(struct trace_file *file, struct trace_event *event,
			      struct aftl_error *error)
{
	const struct blktrace *trace = file->state;
	struct raw_event raw;
	u32 size;
	int ret = buffer_whole_event(file, &size, &raw, error);

	if (ret || !size)
		return ret;
	if (!(raw.action & BLKTRACE_IS_NOTE))
		ret = check_event_sequence(file, &raw, error);
	if (ret)
		return ret;
	ret = convert_blktrace_event(file, &raw,
				     trace_input_next_bytes(&file->input) + trace->header_bytes,
				     event);
	trace_input_consume_bytes(&file->input, size);
	return ret;
}

static int read_blktrace_items(struct trace_file *file, void *out, u32 room,
			       struct aftl_error *error)
{
	struct trace_event *events = out;
	u32 done = 0;

	while (done < room) {
		int ret;

		done += convert_buffered_events(file, events + done, room - done);
		if (done == room)
			break;
		ret = convert_next_event(file, events + done, error);
		if (ret < 0)
			return ret;
		done += (u32)ret;
		if (file->input.over && !trace_input_left(&file->input))
			break;
	}
	return (int)done;
}

const struct trace_format trace_format_blktrace = {
	.name = "blktrace",
	.title = "blktrace's binary trace (read 7 and 8, written 7)",
	.units = "times in ns, sectors of 512 bytes, sizes in bytes",
	.events = true,
	.time_unit_ns = 1,
	.open = open_blktrace,
	.known = is_blktrace_format,
	.fill = read_blktrace_items,
	.begin = blktrace_begin_output,
	.put = blktrace_write_request,
	.finish = blktrace_finish_output,
};
