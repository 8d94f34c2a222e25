// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "blktrace-layout.h"
#include "blktrace-writer.h"
#include "checked-memory.h"
#include "process-names.h"

/* Maximum length of a note (text message) in a blktrace trace; the kernel has the same limit. */
#define NOTE_SIZE 128

/* Major number of the device in the written trace; no block device has it. */
#define DEVICE (240U << TRACE_DEVICE_MINOR_BITS)

/**
 * struct completion - a completion event that waits until its time comes
 * @t_ns: time of the completion
 * @order: number of the request; completions with equal times keep this order
 * @request: the request that completes
 */
struct completion {
	u64 t_ns;
	u64 order;
	struct trace_request request;
};

/**
 * struct blktrace_out - state of the writer
 * @sequence: number of the last event
 * @requests: number of requests written so far
 * @heap: completions not written yet, a heap ordered by time
 * @waiting: number of entries in @heap
 * @room: capacity of @heap
 * @named: processes whose name was written to the trace
 */
struct blktrace_out {
	u32 sequence;
	u64 requests;
	struct completion *heap;
	size_t waiting;
	size_t room;
	struct process_names *named;
};

int blktrace_begin_output(struct trace_output *output, struct aftl_error *error __maybe_unused)
{
	struct blktrace_out *out = memory_alloc_zeroed(1, sizeof(*out));

	out->named = process_names_create();
	output->state = out;
	return 0;
}

static void write_trace_event(struct trace_output *output, const struct trace_request *request,
			      u64 t_ns, u32 action, const void *extra, u16 size)
{
	struct blktrace_out *out = output->state;
	bool is_note = action & BLKTRACE_IS_NOTE;
	struct {
		u32 magic, sequence;
		u64 t_ns, sector;
		u32 bytes, action, pid, device, cpu;
		u16 error, extra;
	} event = {
		.magic = BLKTRACE_MAGIC | BLKTRACE_V7,
		.sequence = is_note ? 0 : ++out->sequence,
		.t_ns = t_ns,
		.sector = is_note ? 0 : request->offset / TRACE_SECTOR,
		.bytes = is_note ? 0 : (u32)request->bytes,
		.action = action,
		.pid = request->pid,
		.device = DEVICE | request->stream,
		.extra = size,
	};

	static_assert(sizeof(event) == BLKTRACE_V7_BYTES, "an event as blktrace has it");
	fwrite(&event, sizeof(event), 1, output->file);
	if (size)
		fwrite(extra, size, 1, output->file);
}

static u32 blktrace_kind_of_request(const struct trace_request *request)
{
	static const u32 kinds[AFTL_OPS] = {
		[AFTL_OP_READ] = BLKTRACE_IS(0),
		[AFTL_OP_WRITE] = BLKTRACE_IS_WRITE,
		[AFTL_OP_FLUSH] = BLKTRACE_IS_WRITE | BLKTRACE_IS_FLUSH,
		[AFTL_OP_DISCARD] = BLKTRACE_IS_WRITE | BLKTRACE_IS_DISCARD,
	};

	return kinds[request->op] | (request->preflush ? BLKTRACE_IS_FLUSH : 0) |
	       (request->fua ? (u32)BLKTRACE_IS_FUA : 0) | BLKTRACE_IS_FS;
}

static bool does_first_completion_precede_second(const struct completion *a,
						 const struct completion *b)
{
	return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->order < b->order;
}

static void push_pending_completion(struct blktrace_out *out, const struct completion *completion)
{
	size_t at = out->waiting++;

	if (out->waiting > out->room) {
		out->room = out->room ? 2 * out->room : 256;
		out->heap = memory_resize(out->heap, out->room, sizeof(*out->heap));
	}
	for (; at && does_first_completion_precede_second(completion, &out->heap[(at - 1) / 2]);
	     at = (at - 1) / 2)
		out->heap[at] = out->heap[(at - 1) / 2];
	out->heap[at] = *completion;
}

static void pop_first_completion(struct blktrace_out *out)
{
	struct completion last = out->heap[--out->waiting];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < out->waiting) {
		if (child + 1 < out->waiting &&
		    does_first_completion_precede_second(&out->heap[child + 1], &out->heap[child]))
			child++;
		if (!does_first_completion_precede_second(&out->heap[child], &last))
			break;
		out->heap[at] = out->heap[child];
		at = child;
	}
	out->heap[at] = last;
}

static void write_completions_until_time(struct trace_output *output, u64 until_ns)
{
	struct blktrace_out *out = output->state;

	while (out->waiting && out->heap[0].t_ns <= until_ns) {
		write_trace_event(output, &out->heap[0].request, out->heap[0].t_ns,
				  BLKTRACE_COMPLETE | BLKTRACE_IS_COMPLETE |
				  blktrace_kind_of_request(&out->heap[0].request), NULL, 0);
		pop_first_completion(out);
	}
}

static void write_process_name(struct trace_output *output, const struct trace_request *request)
{
	struct blktrace_out *out = output->state;
	const char *name = NULL;
	char bytes[PROCESS_NAME_SIZE - 1] = "";

	if (output->names)
		name = process_names_get(output->names, request->pid);
	if (!name || process_names_get(out->named, request->pid))
		return;
	process_names_set(out->named, request->pid, name);
	memcpy(bytes, name, strnlen(name, sizeof(bytes)));
	write_trace_event(output, request, request->t_ns, BLKTRACE_IS_NOTE + BLKTRACE_NOTE_PROCESS,
			  bytes, sizeof(bytes));
}

static void write_class_note(struct trace_output *output, const struct trace_request *request)
{
	static const char *const levels[TRACE_CLASSES] = { "", "", " 2", " 3" };
	u8 level = TRACE_PRECISE;
	char note[NOTE_SIZE];
	int length;

	if (request->class < output->classes)
		aftl_find_quality_level_by_name(output->class_names[request->class], &level);
	if (request->op != AFTL_OP_WRITE || (!level && request->by == TRACE_BY_NOBODY))
		return;
	length = scnprintf(note, sizeof(note), "approxftl write %llu %llu %s %s%s",
			   (unsigned long long)(request->offset / TRACE_SECTOR),
			   (unsigned long long)(request->bytes / TRACE_SECTOR),
			   level ? "approximate" : "precise",
			   trace_by_names[request->by ? request->by : (u8)TRACE_BY_RULE],
			   levels[level]);
	write_trace_event(output, request, request->t_ns, BLKTRACE_NOTE_MESSAGE | BLKTRACE_IS_NOTE,
			  note, (u16)length);
}

int blktrace_write_request(struct trace_output *output, const struct trace_request *request,
			   struct aftl_error *error __maybe_unused)
{
	struct blktrace_out *out = output->state;

	/* Version 7 records no write-zeroes, no parts of sectors, and no sizes above 32 bits. */
	if (request->op == AFTL_OP_WRITE_ZEROES || request->offset % TRACE_SECTOR ||
	    request->bytes % TRACE_SECTOR || request->bytes > U32_MAX) {
		output->unfit[request->op]++;
		return 0;
	}
	write_completions_until_time(output, request->t_ns);
	write_process_name(output, request);
	write_trace_event(output, request, request->t_ns,
			  BLKTRACE_QUEUE | BLKTRACE_IS_QUEUE | blktrace_kind_of_request(request),
			  NULL, 0);
	write_class_note(output, request);
	if (request->latency_ns)
		push_pending_completion(out, &(struct completion){
			.t_ns = request->t_ns + request->latency_ns,
			.order = out->requests,
			.request = *request,
		});
	out->requests++;
	return 0;
}

int blktrace_finish_output(struct trace_output *output, struct aftl_error *error __maybe_unused)
{
	struct blktrace_out *out = output->state;

	write_completions_until_time(output, U64_MAX);
	free(out->heap);
	process_names_free(out->named);
	free(out);
	output->state = NULL;
	return 0;
}
