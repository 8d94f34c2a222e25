// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace files: the first byte selects the format, and by bit 0x80 whether a lost event is an error;
 * the rest is the file. A trace is refused with a message, or yields valid requests in order.
 */
#include "lib/fuzz.h"
#include "trace-format.h"
#include "trace-pairing.h"
#include "trace-window.h"

static void check_trace_request(const struct trace_request *request, u64 *last_ns)
{
	fuzz_assert(request->op < AFTL_OPS && request->by < TRACE_BYS);
	fuzz_assert(request->bytes || request->op == AFTL_OP_FLUSH);
	fuzz_assert(request->bytes <= TRACE_BYTES_MAX);
	fuzz_assert(request->t_ns >= *last_ns);
	*last_ns = request->t_ns;
}

/* Fetch and check the requests of which the trace has both begin and end. */
static void fetch_and_check_paired_requests(struct trace_pairing *pairing)
{
	struct trace_request request;

	while (trace_pairing_take_request(pairing, &request)) {
		fuzz_assert(request.op < AFTL_OPS && request.by < TRACE_BYS);
		fuzz_assert(request.bytes || request.op == AFTL_OP_FLUSH);
	}
}

static void read_events_from_trace_window(struct trace_window *window,
					  struct trace_pairing *pairing,
					  u64 *last_ns)
{
	const void *item;

	for (; (item = trace_window_peek_item(window)); window->next++) {
		const struct trace_event *event = item;

		if (!pairing) {
			if (!window->late)
				check_trace_request(item, last_ns);
			continue;
		}
		if (event->act == TRACE_ACT_TEXT)
			fuzz_assert(strlen(event->text) < 1U << 16);
		else if (event->act != TRACE_ACT_PROCESS)
			trace_pairing_add_event(pairing, event, 0);
		fetch_and_check_paired_requests(pairing);
	}
}

static int read_whole_trace(struct trace_file *file, struct trace_window *window,
			    struct trace_pairing *pairing, struct aftl_error *error)
{
	u64 last_ns = 0;
	int ret;

	do {
		u32 room;
		void *out = trace_window_item_room(window, &room);

		ret = trace_file_read_events_or_requests(file, out, room, error);
		if (ret < 0)
			return ret;
		fuzz_assert((u32)ret <= room);
		trace_window_add_items(window, (u32)ret, !ret);
		read_events_from_trace_window(window, pairing, &last_ns);
	} while (ret);
	fuzz_assert(!trace_input_left(&file->input) || file->format->fill);
	return 0;
}

static void read_opened_trace(struct trace_file *file, bool issue, struct aftl_error *error)
{
	struct trace_pairing *pairing =
		file->format->events ? trace_pairing_create(issue) : NULL;
	struct trace_window window;

	trace_window_create(&window, trace_item_bytes(file->format), 16);
	if (read_whole_trace(file, &window, pairing, error)) {
		check_refusal_has_message(error);
	} else if (pairing) {
		trace_pairing_end_all_requests(pairing);
		fetch_and_check_paired_requests(pairing);
	}
	trace_pairing_free(pairing);
	trace_window_free(&window);
}

static void read_and_check_trace_in_format(const char *name, const char *columns, bool strict,
					   const u8 *data, size_t size)
{
	const struct trace_hints hints = {
		.format = name, .columns = columns, .time_unit_ns = columns ? 1000 : 0,
		.offset_unit = columns ? 1 : 0,
	};
	FILE *nowhere = fopen("/dev/null", "w");
	struct trace_losses losses = { .strict = strict, .list = nowhere };
	struct aftl_error error = { "" };
	struct trace_input input;
	struct trace_file file;

	trace_input_open_memory(&input, "fuzz", data, size);
	if (trace_file_open_input(&file, &input, &hints, &losses, &error)) {
		check_refusal_has_message(&error);
	} else {
		read_opened_trace(&file, size & 1, &error);
		trace_file_close(&file);
	}
	fuzz_assert(!strict || losses.told <= 1);
	fclose(nowhere);
}

/* Return the list of columns for a trace format that needs one. */
static const char *get_columns_of_format(const char *name, u8 selector)
{
	if (!strcmp(name, "csv") && selector & 0x40)
		return "time=1,op=2,offset=3,bytes=4,latency=6,class=5";
	if (!strcmp(name, "blkparse") && selector & 0x40)
		return "%T.%t,%p,%a,%d,%S,%n,%C";
	return NULL;
}

int fuzz_input(const u8 *data, size_t size)
{
	const char *name = NULL;
	unsigned int count = 0;

	if (!size)
		return 0;
	while (trace_formats[count])
		count++;
	/* Without a format number in the first byte, the content determines the format. */
	if (data[0] % 32 < count)
		name = trace_formats[data[0] % 32]->name;
	read_and_check_trace_in_format(name, name ? get_columns_of_format(name, data[0]) : NULL,
				       data[0] & 0x80, data + 1, size - 1);
	return 0;
}
