// SPDX-License-Identifier: GPL-2.0-only
/* Creates the simulated device, runs requests on it, and changes its parameters. */
#include <math.h>
#include <stdlib.h>

#include "checked-memory.h"
#include "core-memory.h"
#include "play.h"
#include "reload.h"

struct play play;

/* Callbacks from the core */

static void complete_playground_request(void *host, struct aftl_request *request)
{
	(void)host;
	sim_drive_complete_request(&play.drive, request);
}

/* Record programs and erases, but not reads, which leave the painted pages unchanged. */
static void record_flash_array_event(void *host, const struct aftl_array_event *event)
{
	(void)host;
	if (!play.begun || (event->op != AFTL_ARRAY_PROGRAM && event->op != AFTL_ARRAY_ERASE))
		return;
	play.begun[event->block]++;
	play.events[play.event_count++ % PLAY_EVENTS] = (struct play_event){
		.begin_ns = event->begin_ns,
		.request = (u32)play.drive.submitted,
		.block = event->block,
		.page = event->page,
		.pages = (u16)event->pages,
		.op = event->op,
		.mode = event->mode,
		.cause = event->cause,
	};
}

static const struct aftl_host_ops ops = {
	.alloc = core_memory_alloc,
	.free = core_memory_free,
	.complete = complete_playground_request,
	.array = record_flash_array_event,
	.read = playground_flip_bits,
};

/* Creating */

static int parse_play_options(u32 count, struct aftl_error *error)
{
	char **list = memory_alloc_zeroed(count + 1, sizeof(*list));
	size_t used = 0;
	u32 i;
	int ret;

	play.arguments = memory_alloc_zeroed(1, PLAY_TEXT_BYTES);
	memcpy(play.arguments, playground_get_text_buffer(), PLAY_TEXT_BYTES - 1);
	for (i = 0; i < count && used < PLAY_TEXT_BYTES; i++) {
		list[i] = play.arguments + used;
		used += strlen(list[i]) + 1;
	}
	ret = sim_options_parse(&play.options, (int)i, list, error);
	free(list);
	return ret;
}

/* Refuse options that the playground cannot apply, instead of ignoring them silently. */
static int refuse_options_useless_in_playground(struct aftl_error *error)
{
	static const char *const others[] = {
		"load",	  "dump", "raid",  "json",   "timeline",
		"record", "help", "until", "warmup", "change",
	};

	for (u32 i = 0; i < ARRAY_SIZE(others); i++)
		if (sim_did_user_set_option(&play.options, others[i]))
			return aftl_fail(error, -EINVAL,
					 "--%s has no effect in the playground; leave it out",
					 others[i]);
	if (play.options.policy_count != 1)
		return aftl_fail(error, -EINVAL, "a device has one policy; choose one");
	if (play.options.seed_count > 1)
		return aftl_fail(error, -EINVAL, "a device has one seed; choose one");
	return 0;
}

static int create_play_device(struct aftl_error *error)
{
	struct sim_drive *drive = &play.drive;
	int ret = aftl_create(&drive->ftl, &play.options.params, play.options.policies[0], &ops,
			      NULL, error);

	if (ret)
		return ret;
	drive->geo = aftl_geometry(drive->ftl);
	ret = aftl_precondition(drive->ftl);
	return ret ? aftl_fail(error, ret,
			       "the device ran out of free blocks while it was filled") : 0;
}

static int open_play_stream(struct aftl_error *error)
{
	int ret = sim_drive_open_request_stream(&play.drive, &play.options, error);

	if (ret)
		return ret;
	play.drive.limit = U64_MAX;
	sim_drive_start_look_ahead(&play.drive);
	play.begun = memory_alloc_zeroed(play.drive.geo->blocks, sizeof(*play.begun));
	return 0;
}

int playground_open(u32 count)
{
	struct aftl_error error;
	int ret = parse_play_options(count, &error);

	if (!ret)
		ret = refuse_options_useless_in_playground(&error);
	request_pool_init(&play.drive.pool, sizeof(struct aftl_request));
	if (!ret)
		ret = create_play_device(&error);
	if (!ret)
		ret = open_play_stream(&error);
	return ret ? playground_report_error(ret, &error) : 0;
}

/* Running */

/* Convert a time that the page passes, a double, to nanoseconds. */
static u64 javascript_time_to_ns(double ns)
{
	return ns < (double)AFTL_TIME_MAX ? (u64)ceil(ns) : U64_MAX;
}

int playground_run_to_request_or_time(u32 requests, double ns)
{
	struct aftl_error error;
	int ret = sim_drive_serve_until_request_or_time(&play.drive, requests,
							javascript_time_to_ns(ns), &error);

	return ret ? playground_report_error(ret, &error) : 0;
}

int playground_complete_all_requests(void)
{
	struct aftl_error error;
	int ret;

	play.drive.ended = true;
	ret = sim_drive_serve_all_requests(&play.drive, &error);
	return ret ? playground_report_error(ret, &error) : 0;
}

u64 playground_digest(void)
{
	return aftl_compute_device_digest(play.drive.ftl);
}

int playground_audit(void)
{
	struct aftl_error error;
	int ret = aftl_audit(play.drive.ftl, &error);

	return ret ? playground_report_error(ret, &error) : 0;
}

/* Changing */

int playground_age(u32 hours)
{
	struct aftl_error error;

	if (hours > PLAY_AGE_HOURS)
		return playground_report_error(aftl_fail(&error, -EINVAL,
							 "at most %u hours can pass at once",
							 PLAY_AGE_HOURS),
					       &error);
	aftl_advance_age(play.drive.ftl, hours * AFTL_HOUR_NS);
	return 0;
}

int playground_change_parameters(void)
{
	const struct aftl *before = play.drive.ftl;
	struct sim_change change = { .at = 0 };
	struct aftl_error error;
	int ret = parse_device_change(&change, playground_get_text_buffer(), &error);

	if (!ret)
		ret = sim_drive_apply_device_change(&play.drive, &change, &ops, NULL, &error);
	/* Paint all blocks again, because a new policy uses other kinds of blocks. */
	for (u32 i = 0; play.drive.ftl != before && i < play.drive.geo->blocks; i++)
		play.begun[i]++;
	return ret ? playground_report_error(ret, &error) : 0;
}
