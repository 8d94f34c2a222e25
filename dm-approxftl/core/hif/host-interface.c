// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hosts call while a device is in use. Each changes something and lets the
 * scheduler see what follows from it.
 */
#include "core/hif/hif.h"

static void process_event(struct aftl *ftl, u32 source)
{
	if (source < ftl->geo.luns)
		aftl_lun_event(ftl, &ftl->luns[source]);
	else if (source < ftl->event_clock)
		aftl_completion_line_event(ftl, source - ftl->event_completions);
	else
		aftl_refresh_scan_event(ftl);
}

/*
 * Each LUN can begin one program, and has an array that is busy then. Besides one LUN can end an
 * erase and lose the block; or be lost itself, with the program that it has begun; or something is
 * discarded, or all zones are. Blocks of a superblock end their erases together.
 */
u32 aftl_max_host_calls(const struct aftl_geometry *geo)
{
	return geo->luns * (aftl_program_units(geo) + geo->program_pages) + 2 + 2 * geo->zones +
	       2 * geo->superblock_luns;
}

static inline bool advance_one_event(struct aftl *ftl, u64 now_ns)
{
	bool due = aftl_events_when(&ftl->events) <= now_ns;

	ftl->running = true;
	if (due) {
		ftl->now_ns = aftl_events_when(&ftl->events);
		process_event(ftl, aftl_events_first(&ftl->events));
		aftl_dispatch(ftl);
	} else {
		ftl->now_ns = max(ftl->now_ns, now_ns);
	}
	ftl->running = false;
	return due;
}

bool aftl_step(struct aftl *ftl, u64 now_ns)
{
	return advance_one_event(ftl, min(now_ns, AFTL_TIME_MAX));
}

void aftl_advance(struct aftl *ftl, u64 now_ns)
{
	now_ns = min(now_ns, AFTL_TIME_MAX);
	while (advance_one_event(ftl, now_ns))
		;
}

void aftl_run_to_completion(struct aftl *ftl, u64 limit_ns)
{
	u32 requests = ftl->requests;
	u64 when_ns = aftl_events_when(&ftl->events);

	limit_ns = min(limit_ns, AFTL_TIME_MAX);
	while (when_ns <= limit_ns && (ftl->requests == requests || when_ns <= ftl->now_ns)) {
		advance_one_event(ftl, when_ns);
		when_ns = aftl_events_when(&ftl->events);
	}
}

void aftl_age(struct aftl *ftl, u64 ns)
{
	u64 day = div64_u64(ftl->age_ns + ftl->now_ns, AFTL_DAY_NS);

	ftl->age_ns = min(ftl->age_ns + min(ns, AFTL_TIME_MAX / 2), AFTL_TIME_MAX / 2);
	if (div64_u64(ftl->age_ns + ftl->now_ns, AFTL_DAY_NS) != day)
		aftl_refresh_restart_scan(ftl);
	aftl_refresh_set_clock(ftl);
}

static int check_live_param(const struct aftl *ftl, const struct aftl_config *config,
			    unsigned int index, struct aftl_error *error)
{
	char value[AFTL_VALUE_SIZE];
	int ret = aftl_config_check(&ftl->config, config, error);

	if (!ret)
		ret = aftl_check_program_passes(config, error);
	if (!ret)
		ret = aftl_superblock_check(ftl, config, error);
	if (ret || aftl_param_change(index) == AFTL_CHANGE_LIVE ||
	    aftl_param_get(&ftl->config, index) == aftl_param_get(config, index))
		return ret;
	aftl_param_print(aftl_param_at(index), aftl_param_get(&ftl->config, index), value);
	return aftl_fail(error, -EINVAL, "%s is %s as long as the device is loaded",
			 aftl_param_at(index)->key, value);
}

static int change_param_config(const struct aftl *ftl, struct aftl_config *config, const char *key,
			       const char *text, struct aftl_error *error)
{
	int ret;

	*config = ftl->config;
	ret = aftl_param_set(config, key, text, error);
	return ret ? ret : check_live_param(ftl, config, aftl_param_find(key), error);
}

int aftl_check_param(const struct aftl *ftl, const char *key, const char *text,
		     struct aftl_error *error)
{
	struct aftl_config config;

	return change_param_config(ftl, &config, key, text, error);
}

int aftl_set_param(struct aftl *ftl, const char *key, const char *text, struct aftl_error *error)
{
	struct aftl_config config;
	int ret = change_param_config(ftl, &config, key, text, error);

	if (ret)
		return ret;
	ftl->config = config;
	aftl_apply_config(ftl);
	aftl_refresh_set_clock(ftl);
	aftl_wake_all(ftl);
	aftl_dispatch(ftl);
	return 0;
}

void aftl_set_draining(struct aftl *ftl, bool hurry)
{
	ftl->draining = hurry;
	if (hurry)
		aftl_wake_buffered_writes(ftl);
	aftl_dispatch(ftl);
}

bool aftl_busy(const struct aftl *ftl)
{
	return ftl->requests || (ftl->draining && aftl_writes_in_flight(ftl));
}

void aftl_drain(struct aftl *ftl)
{
	while (aftl_busy(ftl) && aftl_events_when(&ftl->events) <= AFTL_TIME_MAX)
		advance_one_event(ftl, AFTL_TIME_MAX);
}

int aftl_start_gc(struct aftl *ftl, u32 index)
{
	struct aftl_lun *lun;

	if (index >= ftl->geo.luns)
		return -EINVAL;
	lun = &ftl->luns[index];
	if (aftl_lun_dead(lun))
		return 0;
	lun->forced_gc = ftl->geo.blocks_per_lun;
	aftl_wake_lun(ftl, lun);
	aftl_dispatch(ftl);
	return 0;
}

/* Of a device with zones: nothing but these frees units, and it is they that are spoken of. */
static bool zoned_request_valid(const struct aftl *ftl, const struct aftl_request *request)
{
	if (request->op < AFTL_OPS)
		return request->op != AFTL_OP_DISCARD && request->op != AFTL_OP_WRITE_ZEROES;
	return request->op < AFTL_ZONE_OPS && !request->units && request->unit < ftl->geo.units;
}

static bool request_valid(const struct aftl *ftl, const struct aftl_request *request)
{
	if (unlikely(ftl->geo.zones) && !zoned_request_valid(ftl, request))
		return false;
	if (unlikely(request->op >= AFTL_OPS))
		return ftl->geo.zones;
	if (request->class >= AFTL_CLASSES || request->hint.life >= AFTL_LIFETIMES ||
	    request->level >= (request->class ? AFTL_LEVELS : 1))
		return false;
	if (request->op == AFTL_OP_FLUSH)
		return !request->units;
	return request->units && request->unit < ftl->geo.units &&
	       request->units <= ftl->geo.units - request->unit;
}

int aftl_submit(struct aftl *ftl, struct aftl_request *request)
{
	if (!request_valid(ftl, request))
		return -EINVAL;
	/* A request from inside complete() arrives at this very moment. */
	if (!ftl->running)
		aftl_advance(ftl, request->arrival_ns);
	aftl_request_submit(ftl, request);
	if (!ftl->running)
		aftl_dispatch(ftl);
	return 0;
}

/* Does nothing else happen at this moment, and nothing that a read may meet on its way? */
static bool read_fastpath_allowed(const struct aftl *ftl, const struct aftl_request *request)
{
	if (ftl->geo.zones | ftl->geo.trans_pages | ftl->prefetch_units | ftl->foggy_blocks |
	    ftl->reads_are_tracked | ftl->link_paced)
		return false;
	return !ftl->running && request->arrival_ns <= ftl->now_ns &&
	       aftl_events_when(&ftl->events) > ftl->now_ns && ftl->now_ns < AFTL_TIME_MAX / 2;
}

bool aftl_try_idle_read(struct aftl *ftl, struct aftl_request *request)
{
	struct aftl_lun *lun;
	u64 service_ns;

	if (request->op != AFTL_OP_READ || !request_valid(ftl, request) ||
	    !read_fastpath_allowed(ftl, request))
		return false;
	lun = aftl_read_fastpath_start(ftl, request);
	if (!lun)
		return false;
	if (lun->work.phase == AFTL_PHASE_SENSE)
		return true;
	ftl->running = true;
	service_ns = lun->work.service_ns;
	aftl_lun_fastpath_done(ftl, lun);
	aftl_read_fastpath_complete(ftl, request, service_ns);
	aftl_dispatch(ftl);
	ftl->running = false;
	return true;
}
