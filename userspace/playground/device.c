// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device: it is made, it goes on, it is changed.
 */
#include <stdlib.h>

#include "checked-memory.h"
#include "core-memory.h"
#include "core/keep/snapshot.h"
#include "play.h"

struct play play;

/* What the core asks of its host */

static void complete(void *host, struct aftl_request *request)
{
	(void)host;
	sim_drive_give(&play.drive, request);
}

/* Reads change nothing that is drawn. */
static void array(void *host, const struct aftl_array_event *event)
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
	.complete = complete,
	.array = array,
	.read = play_flip,
};

/* Making it */

static int parse(u32 count, struct aftl_error *error)
{
	char **list = memory_zeroed(count + 1, sizeof(*list));
	size_t used = 0;
	u32 i;
	int ret;

	play.arguments = memory_zeroed(1, PLAY_TEXT_BYTES);
	memcpy(play.arguments, play_text(), PLAY_TEXT_BYTES - 1);
	for (i = 0; i < count && used < PLAY_TEXT_BYTES; i++) {
		list[i] = play.arguments + used;
		used += strlen(list[i]) + 1;
	}
	ret = sim_options_parse(&play.options, (int)i, list, error);
	free(list);
	return ret;
}

/* What a page has no place for is refused, for it would be silent about it. */
static int check_options(struct aftl_error *error)
{
	static const char *const others[] = {
		"load", "dump", "raid", "json", "timeline", "record", "help", "until", "warmup",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (sim_option_given(&play.options, others[i]))
			return aftl_fail(error, -EINVAL, "--%s has no meaning here", others[i]);
	if (play.options.policy_count != 1)
		return aftl_fail(error, -EINVAL, "a device has one policy");
	if (play.options.seed_count > 1)
		return aftl_fail(error, -EINVAL, "a device has one seed");
	return 0;
}

static int make_device(struct aftl_error *error)
{
	struct sim_drive *drive = &play.drive;
	int ret = aftl_create(&drive->ftl, &play.options.config, play.options.policies[0], &ops,
			      NULL, error);

	if (ret)
		return ret;
	drive->geo = aftl_geometry(drive->ftl);
	ret = aftl_fill(drive->ftl);
	return ret ? aftl_fail(error, ret,
			       "the device ran out of free blocks while it was filled") : 0;
}

static int open_stream(struct aftl_error *error)
{
	int ret = sim_drive_open(&play.drive, &play.options, error);

	if (ret)
		return ret;
	play.drive.limit = U64_MAX;
	sim_drive_begin(&play.drive);
	play.begun = memory_zeroed(play.drive.geo->blocks, sizeof(*play.begun));
	return 0;
}

int play_open(u32 count)
{
	struct aftl_error error;
	int ret = parse(count, &error);

	if (!ret)
		ret = check_options(&error);
	request_pool_init(&play.drive.pool);
	if (!ret)
		ret = make_device(&error);
	if (!ret)
		ret = open_stream(&error);
	return ret ? play_fail(ret, &error) : 0;
}

/* Going on */

static bool has_open_arrivals(const struct sim_drive *drive)
{
	return drive->depth == U32_MAX;
}

/* Has its stream come to its end? */
static bool is_over(const struct sim_drive *drive)
{
	return drive->ended && drive->submitted < drive->limit;
}

/* Open arrivals one by one: each takes time along to where it arrives. */
static int submit_up_to(u32 requests, struct aftl_error *error)
{
	struct sim_drive *drive = &play.drive;

	drive->limit = has_open_arrivals(drive) ? min((u64)requests, drive->submitted + 1) :
						  requests;
	drive->ended = false;
	return sim_drive_submit(drive, error);
}

int play_to(u32 requests, double ns)
{
	struct sim_drive *drive = &play.drive;
	struct aftl_error error;
	u64 last_ns = aftl_now(drive->ftl);
	int ret = 0;

	while (!ret && (double)aftl_now(drive->ftl) < ns) {
		u64 before = drive->submitted;

		ret = submit_up_to(requests, &error);
		if (ret || drive->submitted >= requests || is_over(drive))
			break;
		if (has_open_arrivals(drive))
			continue;
		last_ns = drive->submitted != before ? aftl_now(drive->ftl) : last_ns;
		ret = sim_drive_step(drive, last_ns, &error);
	}
	return ret ? play_fail(ret, &error) : 0;
}

int play_finish(void)
{
	struct aftl_error error;
	int ret;

	play.drive.ended = true;
	ret = sim_drive_all(&play.drive, &error);
	return ret ? play_fail(ret, &error) : 0;
}

u64 play_digest(void)
{
	return aftl_digest(play.drive.ftl);
}

int play_audit(void)
{
	struct aftl_error error;
	int ret = aftl_audit(play.drive.ftl, &error);

	return ret ? play_fail(ret, &error) : 0;
}

/* Changing it */

int play_age(u32 hours)
{
	struct aftl_error error;

	if (hours > PLAY_AGE_HOURS)
		return play_fail(aftl_fail(&error, -EINVAL, "at most %u hours can pass at once",
					   PLAY_AGE_HOURS), &error);
	aftl_age(play.drive.ftl, hours * AFTL_HOUR_NS);
	return 0;
}

/* A saved device in memory, written and then read. */
struct saved {
	u8 *bytes;
	size_t room;
	size_t used;
	size_t taken;
};

static int put_bytes(void *host, const void *data, size_t bytes)
{
	struct saved *saved = host;

	if (saved->used + bytes > saved->room) {
		saved->room = 2 * (saved->used + bytes);
		saved->bytes = memory_grown(saved->bytes, saved->room, 1);
	}
	memcpy(saved->bytes + saved->used, data, bytes);
	saved->used += bytes;
	return 0;
}

static int take_bytes(void *host, void *data, size_t bytes)
{
	struct saved *saved = host;

	if (saved->taken + bytes > saved->used)
		return -EIO;
	memcpy(data, saved->bytes + saved->taken, bytes);
	saved->taken += bytes;
	return 0;
}

/* A safe buffer does not heed a flush: its writes go when they have waited long enough. */
static int save(struct saved *saved, struct aftl_error *error)
{
	const struct aftl_sink sink = { .write = put_bytes, .host = saved };
	u64 begin_ns = aftl_now(play.drive.ftl);
	int ret = sim_drive_flush(&play.drive, error);

	while (!ret) {
		saved->used = 0;
		ret = aftl_save(play.drive.ftl, &sink, error);
		if (ret != -EBUSY || aftl_now(play.drive.ftl) - begin_ns > SIM_STUCK_NS)
			break;
		ret = sim_drive_step(&play.drive, aftl_now(play.drive.ftl), error);
	}
	return ret;
}

/* Its blocks are of other kinds. */
static void adopt(struct aftl *ftl)
{
	u32 i;

	aftl_destroy(play.drive.ftl);
	play.drive.ftl = ftl;
	play.drive.geo = aftl_geometry(ftl);
	play.drive.ahead.ftl = ftl;
	for (i = 0; i < play.drive.geo->blocks; i++)
		play.begun[i]++;
}

int play_change(void)
{
	const struct aftl_policy_type *type = aftl_policy_find(play_text());
	struct saved saved = { .bytes = NULL };
	const struct aftl_source_stream source = { .read = take_bytes, .host = &saved };
	struct aftl_error error;
	struct aftl *ftl;
	int ret = type ? 0 : aftl_fail(&error, -EINVAL, "there is no such policy");

	if (!ret)
		ret = save(&saved, &error);
	if (!ret)
		ret = aftl_load_as(&ftl, &source, type, NULL, &ops, NULL, &error);
	if (!ret)
		adopt(ftl);
	free(saved.bytes);
	return ret ? play_fail(ret, &error) : 0;
}
