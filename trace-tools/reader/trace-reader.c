// SPDX-License-Identifier: GPL-2.0-only
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checked-memory.h"
#include "trace-reader.h"

static void add_trace_path(struct trace_paths *paths, const char *path)
{
	paths->list = memory_resize(paths->list, paths->count + 1, sizeof(*paths->list));
	paths->list[paths->count++] = memory_copy_text(path);
}

/* Add the files of a blktrace capture, one for each CPU, given its directory or base name. */
static bool add_capture_files(struct trace_paths *paths, const char *name, const char *base)
{
	char pattern[4096];
	glob_t found;

	if (scnprintf(pattern, sizeof(pattern), "%s%s.blktrace.*[0-9]", name, base) >=
	    (int)sizeof(pattern) - 1 || glob(pattern, 0, NULL, &found))
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_trace_path(paths, found.gl_pathv[i]);
	globfree(&found);
	return true;
}

void trace_paths_add(struct trace_paths *paths, const char *name)
{
	struct stat found;
	bool directory = !stat(name, &found) && S_ISDIR(found.st_mode);

	if (!strcmp(name, "-") || (!directory && !access(name, F_OK)) ||
	    !add_capture_files(paths, name, directory ? "/?*" : ""))
		add_trace_path(paths, name);
}

void trace_paths_free(struct trace_paths *paths)
{
	for (u32 i = 0; i < paths->count; i++)
		free(paths->list[i]);
	free(paths->list);
	*paths = (struct trace_paths){ 0 };
}

int trace_reader_open(struct trace_reader *reader, const char *const *paths, u32 count,
		      const struct trace_open_options *open_options, struct aftl_error *error)
{
	struct trace_losses losses = {
		.strict = reader->losses.strict,
		.list = reader->losses.list,
		.silent = reader->losses.silent,
	};
	int ret;

	*reader = (struct trace_reader){
		.open_options = *open_options,
		.losses = losses,
		.usual_device = TRACE_ALL_DEVICES,
	};
	reader->names = process_names_create();
	for (u32 i = 0; i < count; i++)
		trace_paths_add(&reader->paths, paths[i]);
	ret = trace_merge_open(&reader->merge, (const char *const *)reader->paths.list,
			       reader->paths.count, &reader->open_options.hints, &reader->losses,
			       error);
	if (ret) {
		trace_reader_close(reader);
		return ret;
	}
	for (u32 i = 0; i < reader->merge.count; i++)
		reader->merge.sources[i].file.names = reader->names;
	if (trace_reader_format(reader)->events)
		reader->pairing = trace_pairing_create(open_options->issue);
	return 0;
}

void trace_reader_close(struct trace_reader *reader)
{
	trace_merge_close(&reader->merge);
	trace_pairing_free(reader->pairing);
	process_names_free(reader->names);
	trace_paths_free(&reader->paths);
	free(reader->remarks);
	*reader = (struct trace_reader){ 0 };
}

const struct trace_format *trace_reader_format(const struct trace_reader *reader)
{
	return reader->merge.sources[0].file.format;
}

u64 trace_reader_position(const struct trace_reader *reader)
{
	u64 bytes = 0;

	for (u32 i = 0; i < reader->merge.count; i++)
		bytes += reader->merge.sources[i].file.input.packed_bytes;
	return bytes;
}

static int report_several_devices(const struct trace_reader *reader, u32 device,
				  struct aftl_error *error)
{
	return aftl_fail(error, -EINVAL,
			 "the capture is of several devices, %u:%u and %u:%u among them; choose with --device MAJOR:MINOR, or all",
			 reader->devices[0] >> TRACE_DEVICE_MINOR_BITS,
			 reader->devices[0] & ((1U << TRACE_DEVICE_MINOR_BITS) - 1),
			 device >> TRACE_DEVICE_MINOR_BITS,
			 device & ((1U << TRACE_DEVICE_MINOR_BITS) - 1));
}

#define OTHER_DEVICE (-ENODEV)

/* Return: the stream number of an event's device, OTHER_DEVICE, or a negative error number. */
static int find_stream_number_of_traced_device(struct trace_reader *reader, u32 device,
					       struct aftl_error *error)
{
	u32 wanted = reader->open_options.device, i;

	if (wanted && wanted != TRACE_ALL_DEVICES)
		return wanted == device ? 0 : OTHER_DEVICE;
	for (i = 0; i < reader->device_count; i++)
		if (reader->devices[i] == device)
			return (int)i;
	if (i && !wanted)
		return report_several_devices(reader, device, error);
	if (i == TRACE_DEVICES)
		return aftl_fail(error, -EINVAL, "capture of more than %u devices; use --device",
				 TRACE_DEVICES);
	reader->devices[reader->device_count++] = device;
	return (int)i;
}

static void store_note_of_region_or_label(struct trace_reader *reader,
					  const struct trace_event *event)
{
	reader->remarks =
		memory_resize(reader->remarks, reader->remark_count + 1, sizeof(*reader->remarks));
	reader->remarks[reader->remark_count++] = (struct trace_remark){
		.t_ns = event->t_ns,
		.device = event->device,
		.text = event->text,
	};
}

static int process_trace_event(struct trace_reader *reader, const struct trace_event *event,
			       struct aftl_error *error)
{
	int stream;

	if (event->act == TRACE_ACT_PROCESS) {
		process_names_set(reader->names, event->pid, event->name);
		return 0;
	}
	stream = find_stream_number_of_traced_device(reader, event->device, error);
	if (stream == OTHER_DEVICE)
		return 0;
	if (stream < 0)
		return stream;
	reader->usual_device = event->device;
	reader->usual_stream = (u16)stream;
	if (event->act == TRACE_ACT_TEXT)
		store_note_of_region_or_label(reader, event);
	else
		trace_pairing_add_event(reader->pairing, event, (u16)stream);
	return 0;
}

/* Get the next events of the trace. Return: 1, 0 at the end, or a negative error number. */
static int read_next_events(struct trace_reader *reader, struct aftl_error *error)
{
	const void *const *events;
	int count = trace_merge_next_items(&reader->merge, &events, error), ret = 0;
	u32 done;

	if (count < 0)
		return count;
	if (!count && reader->ended)
		return 0;
	if (!count) {
		reader->ended = true;
		trace_pairing_end_all_requests(reader->pairing);
		return 1;
	}
	done = trace_pairing_add_events(reader->pairing, events, (u32)count, reader->usual_device,
					reader->usual_stream);
	if (!done) {
		ret = process_trace_event(reader, events[0], error);
		done = 1;
	}
	trace_merge_consume_items(&reader->merge, done);
	return ret < 0 ? ret : 1;
}

static int read_next_paired_request(struct trace_reader *reader, struct trace_request *request,
				    struct aftl_error *error)
{
	int ret = 1;

	while (ret > 0) {
		if (trace_pairing_take_request(reader->pairing, request))
			return 1;
		ret = read_next_events(reader, error);
	}
	return ret;
}

static int read_next_single_request(struct trace_reader *reader, struct trace_request *request,
				    struct aftl_error *error)
{
	const void *const *requests;
	int ret = trace_merge_next_items(&reader->merge, &requests, error);

	if (ret <= 0)
		return ret;
	*request = *(const struct trace_request *)requests[0];
	trace_merge_consume_items(&reader->merge, 1);
	return 1;
}

int trace_reader_next_request(struct trace_reader *reader, struct trace_request *request,
			      struct aftl_error *error)
{
	int ret = reader->pairing ? read_next_paired_request(reader, request, error) :
				    read_next_single_request(reader, request, error);

	if (ret <= 0)
		return ret;
	/* Raise the time of a request that came too late to sort; trace-merge.c has reported it. */
	request->t_ns = max(request->t_ns, reader->last_ns);
	reader->last_ns = request->t_ns;
	return ret;
}
