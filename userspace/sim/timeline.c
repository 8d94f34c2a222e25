// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "json-envelope.h"
#include "output-file.h"
#include "report.h"
#include "timeline.h"

/**
 * struct lane - operations of a LUN
 * @event: the operation in progress, or the last one
 * @busy: @event is not in the file yet
 * @resumed: @event was suspended before
 */
struct lane {
	struct aftl_array_event event;
	bool busy;
	bool resumed;
};

/**
 * struct timeline - a file that is being written
 * @file: output file
 * @json: JSON document in it
 * @lanes: LUNs of the device
 * @luns: number of LUNs
 * @block_pages: pages in a block
 * @device: number of the device, from 1
 * @events: operations in the file
 * @omitted: operations not in the file
 */
struct timeline {
	struct output_file file;
	struct json_writer json;
	struct lane *lanes;
	u32 luns;
	u32 block_pages;
	u32 device;
	u64 events;
	u64 omitted;
};

int timeline_create(struct timeline **out, const char *path, int argc, char **argv,
		    struct aftl_error *error)
{
	struct timeline *timeline = memory_alloc_zeroed(1, sizeof(*timeline));
	int ret = output_file_open(&timeline->file, path, "--timeline", true, error);

	if (ret) {
		free(timeline);
		return ret;
	}
	json_envelope_begin(&timeline->json, timeline->file.stream, argc, argv);
	json_string(&timeline->json, "displayTimeUnit", "ns");
	json_begin_array(&timeline->json, "traceEvents");
	*out = timeline;
	return 0;
}

/* Write the name of a device or of a LUN, which the file format calls a process and a thread. */
static void write_timeline_track_name(struct timeline *timeline, const char *what, u32 lun,
				      const char *name)
{
	struct json_writer *json = &timeline->json;

	json_begin_inline_object(json, NULL);
	json_string(json, "ph", "M");
	json_u64(json, "pid", timeline->device);
	json_u64(json, "tid", lun);
	json_string(json, "name", what);
	json_begin_inline_object(json, "args");
	json_string(json, "name", name);
	json_end_object(json);
	json_end_object(json);
}

void timeline_begin_device(struct timeline *timeline, const struct aftl *ftl)
{
	char name[16];

	if (!timeline)
		return;
	free(timeline->lanes);
	timeline->luns = aftl_geometry(ftl)->luns;
	timeline->lanes = memory_alloc_zeroed(timeline->luns, sizeof(*timeline->lanes));
	timeline->block_pages = aftl_geometry(ftl)->pages;
	timeline->device++;
	write_timeline_track_name(timeline, "process_name", 0, aftl_policy_type(ftl)->name);
	for (u32 i = 0; i < timeline->luns; i++) {
		scnprintf(name, sizeof(name), "LUN %u", i);
		write_timeline_track_name(timeline, "thread_name", i, name);
	}
}

/* The file format counts times in microseconds. */
static void write_timeline_event(struct timeline *timeline, const struct lane *lane, u64 end_ns)
{
	const struct aftl_array_event *event = &lane->event;
	struct json_writer *json = &timeline->json;
	char name[32];

	if (timeline->events == TIMELINE_EVENTS) {
		timeline->omitted++;
		return;
	}
	timeline->events++;
	if (event->op == AFTL_ARRAY_PROGRAM)
		scnprintf(name, 32, "program %s", sim_mode_names[event->mode]);
	else
		scnprintf(name, 32, "%s", event->op == AFTL_ARRAY_READ ? "read" : "erase");
	json_begin_inline_object(json, NULL);
	json_string(json, "ph", "X");
	json_u64(json, "pid", timeline->device);
	json_u64(json, "tid", event->lun);
	json_decimal(json, "ts", event->begin_ns, 3);
	json_decimal(json, "dur", end_ns - event->begin_ns, 3);
	json_string(json, "name", name);
	json_string(json, "cat", sim_cause_names[event->cause]);
	json_begin_inline_object(json, "args");
	json_u64(json, "block", event->block);
	json_u64(json, "page", event->page);
	json_u64(json, "pages", event->pages);
	if (lane->resumed)
		json_bool(json, "resumed", true);
	json_end_object(json);
	json_end_object(json);
}

static void end_lun_operation_in_timeline(struct timeline *timeline, struct lane *lane, u64 end_ns)
{
	if (lane->busy)
		write_timeline_event(timeline, lane, end_ns);
	lane->busy = false;
}

static u64 compute_planned_operation_end(const struct lane *lane)
{
	return lane->event.begin_ns + lane->event.array_ns;
}

void timeline_add_event(struct timeline *timeline, const struct aftl_array_event *event)
{
	struct lane *lane = &timeline->lanes[event->lun];

	if (event->op == AFTL_ARRAY_SUSPEND) {
		end_lun_operation_in_timeline(timeline, lane, event->begin_ns);
		return;
	}
	end_lun_operation_in_timeline(timeline, lane, compute_planned_operation_end(lane));
	lane->event = *event;
	lane->busy = true;
	lane->resumed = event->op == AFTL_ARRAY_RESUME;
	/* A resumed operation is an erase if it covers all pages of a block, else a program. */
	if (lane->resumed)
		lane->event.op = event->pages == timeline->block_pages ? AFTL_ARRAY_ERASE :
								       AFTL_ARRAY_PROGRAM;
}

void timeline_end_device(struct timeline *timeline)
{
	if (!timeline)
		return;
	for (u32 i = 0; i < timeline->luns; i++)
		end_lun_operation_in_timeline(timeline, &timeline->lanes[i],
					      compute_planned_operation_end(&timeline->lanes[i]));
}

u64 timeline_count_omitted_operations(const struct timeline *timeline)
{
	return timeline ? timeline->omitted : 0;
}

int timeline_finish(struct timeline *timeline, bool was_interrupted, struct aftl_error *error)
{
	int ret;

	if (!timeline)
		return 0;
	json_end_array(&timeline->json);
	json_u64(&timeline->json, "omitted_events", timeline->omitted);
	json_bool(&timeline->json, "interrupted", was_interrupted);
	json_envelope_end(&timeline->json);
	ret = output_file_close(&timeline->file, error);
	free(timeline->lanes);
	free(timeline);
	return ret;
}
