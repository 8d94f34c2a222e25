// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of hosts (core/ftl/ftl.h) for a device in use: submission, device time, parameters,
 * drain and requested garbage collection. Each changes the device and then starts LUN operations.
 */
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/refresh.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/superblock.h"
#include "core/ftl/write-buffer.h"
#include "core/hif/dispatch.h"
#include "core/hif/hif.h"
#include "core/hif/host-read.h"
#include "core/sched/die-scheduler.h"
#include "core/sched/die-write.h"

static void dispatch_event_to_handler_of_source(struct aftl *ftl, u32 source)
{
	if (source < ftl->geo.luns)
		aftl_handle_lun_event(ftl, &ftl->luns[source]);
	else if (source < ftl->event_clock)
		aftl_handle_completion_queue_event(ftl, source - ftl->event_completions);
	else if (source == ftl->event_clock)
		aftl_handle_refresh_scan_event(ftl);
	else
		aftl_handle_fault_event(ftl);
}

/*
 * Upper bound of the callbacks in one host call. The call can start one program in each LUN:
 * program() or copy() for each logical page, programmed() for each flash page. One of these may be
 * added: an erase that ends and retires the block (all blocks of a superblock end together); the
 * failure of a LUN, which aborts its program; a discard; a reset of all zones.
 */
u32 aftl_get_max_callbacks_per_host_call(const struct aftl_geometry *geo)
{
	return geo->luns * (aftl_units_per_program(geo) + geo->program_pages) + 2 + 2 * geo->zones +
	       2 * geo->superblock_luns;
}

static inline bool process_next_event(struct aftl *ftl, u64 now_ns)
{
	bool due = aftl_events_earliest_ns(&ftl->events) <= now_ns;

	ftl->running = true;
	if (aftl_scheduler_has_work(ftl)) {
		aftl_start_operations_until_slice_ends(ftl);
		due = true;
	} else if (due) {
		ftl->work += 2;
		ftl->now_ns = aftl_events_earliest_ns(&ftl->events);
		dispatch_event_to_handler_of_source(ftl, aftl_events_earliest_source(&ftl->events));
		aftl_start_slice_of_lun_operations(ftl);
	} else {
		ftl->now_ns = max(ftl->now_ns, now_ns);
	}
	ftl->running = false;
	return due;
}

bool aftl_process_next_event(struct aftl *ftl, u64 now_ns)
{
	return process_next_event(ftl, min(now_ns, AFTL_TIME_MAX));
}

void aftl_process_events_until(struct aftl *ftl, u64 now_ns)
{
	now_ns = min(now_ns, AFTL_TIME_MAX);
	while (process_next_event(ftl, now_ns))
		;
}

void aftl_run_to_completion(struct aftl *ftl, u64 limit_ns)
{
	u32 requests = ftl->requests;
	u64 when_ns = aftl_next_event_ns(ftl);

	limit_ns = min(limit_ns, AFTL_TIME_MAX);
	while (when_ns <= limit_ns && (ftl->requests == requests || when_ns <= ftl->now_ns)) {
		process_next_event(ftl, when_ns);
		when_ns = aftl_next_event_ns(ftl);
	}
}

static int check_runtime_param(const struct aftl *ftl, const struct aftl_config *config,
			       unsigned int index, struct aftl_error *error)
{
	char value[AFTL_VALUE_SIZE];
	int ret = aftl_config_check(&ftl->config, config, error);

	if (!ret)
		ret = aftl_check_two_pass_program_params(config, error);
	if (!ret)
		ret = aftl_superblock_check_config(ftl, config, error);
	if (ret || aftl_param_change(index) == AFTL_CHANGE_LIVE ||
	    aftl_param_get(&ftl->config, index) == aftl_param_get(config, index))
		return ret;
	aftl_param_format(aftl_param_at(index), aftl_param_get(&ftl->config, index), value);
	return aftl_fail(error, -EINVAL, "%s stays %s as long as the device is loaded",
			 aftl_param_at(index)->key, value);
}

static int set_param_in_config(const struct aftl *ftl, struct aftl_config *config, const char *key,
			       const char *text, struct aftl_error *error)
{
	int ret;

	*config = ftl->config;
	ret = aftl_param_set(config, key, text, error);
	return ret ? ret : check_runtime_param(ftl, config, aftl_param_find(key), error);
}

int aftl_check_param(const struct aftl *ftl, const char *key, const char *text,
		     struct aftl_error *error)
{
	struct aftl_config config;

	return set_param_in_config(ftl, &config, key, text, error);
}

int aftl_set_param(struct aftl *ftl, const char *key, const char *text, struct aftl_error *error)
{
	struct aftl_config config;
	int ret = set_param_in_config(ftl, &config, key, text, error);

	if (ret)
		return ret;
	aftl_start_all_possible_operations(ftl);
	ftl->config = config;
	aftl_apply_config(ftl);
	aftl_refresh_set_daily_event(ftl);
	aftl_wake_all_luns(ftl);
	aftl_start_slice_of_lun_operations(ftl);
	return 0;
}

void aftl_set_drain_mode(struct aftl *ftl, bool hurry)
{
	aftl_start_all_possible_operations(ftl);
	ftl->draining = hurry;
	if (hurry && ftl->config.zrwa)
		aftl_write_commit_random_areas(ftl, true);
	if (hurry)
		aftl_wake_luns_with_writes(ftl);
	aftl_start_slice_of_lun_operations(ftl);
}

bool aftl_has_pending_work(const struct aftl *ftl)
{
	return ftl->requests || aftl_scheduler_has_work(ftl) || ftl->faults.due ||
	       (ftl->draining && aftl_count_writes_in_flight(ftl));
}

u32 aftl_get_amount_of_work_done(const struct aftl *ftl)
{
	return ftl->work;
}

void aftl_drain_requests(struct aftl *ftl)
{
	while (aftl_has_pending_work(ftl) && aftl_next_event_ns(ftl) <= AFTL_TIME_MAX)
		process_next_event(ftl, AFTL_TIME_MAX);
}

int aftl_start_lun_gc(struct aftl *ftl, u32 index)
{
	struct aftl_lun *lun;

	if (index >= ftl->geo.luns)
		return -EINVAL;
	aftl_start_all_possible_operations(ftl);
	lun = &ftl->luns[index];
	if (aftl_lun_is_dead(lun))
		return 0;
	aftl_request_gc_of_blocks(ftl, lun, ftl->geo.blocks_per_lun);
	aftl_wake_idle_lun(ftl, lun);
	aftl_start_slice_of_lun_operations(ftl);
	return 0;
}

/* A zoned device has no discards: a zone reset frees its pages. Zone commands name whole zones. */
static bool zoned_request_is_valid(const struct aftl *ftl, const struct aftl_request *request)
{
	if (request->op < AFTL_OPS)
		return request->op != AFTL_OP_DISCARD && request->op != AFTL_OP_WRITE_ZEROES;
	return request->op < AFTL_ZONE_OPS && !request->units && request->unit < ftl->geo.units;
}

/* Return true if the sectors that @request skips are valid, and its operation may skip sectors. */
static noinline bool partial_request_valid(const struct aftl *ftl,
					   const struct aftl_request *request)
{
	u32 sectors = ftl->geo.unit_bytes / AFTL_SECTOR_BYTES;
	u32 end = request->units > 1 ? sectors : sectors - min((u32)request->head_skip, sectors);

	if (request->op == AFTL_OP_WRITE_ZEROES ||
	    (request->op == AFTL_OP_WRITE && ftl->geo.zones))
		return false;
	return request->head_skip < sectors && request->tail_skip < end;
}

static bool request_is_valid(const struct aftl *ftl, const struct aftl_request *request)
{
	if (ftl->geo.zones && !zoned_request_is_valid(ftl, request))
		return false;
	if (request->op >= AFTL_OPS)
		return ftl->geo.zones;
	if (request->class >= AFTL_CLASSES || request->hint.life >= AFTL_LIFETIMES ||
	    request->level >= (request->class ? AFTL_LEVELS : 1))
		return false;
	if (request->op == AFTL_OP_FLUSH)
		return !request->units;
	if ((request->head_skip | request->tail_skip) &&
	    !partial_request_valid(ftl, request))
		return false;
	return request->units && request->unit < ftl->geo.units &&
	       request->units <= ftl->geo.units - request->unit;
}

int aftl_submit(struct aftl *ftl, struct aftl_request *request)
{
	if (!request_is_valid(ftl, request))
		return -EINVAL;
	/* A request that complete() submits arrives at the current device time. */
	if (!ftl->running)
		aftl_process_events_until(ftl, request->arrival_ns);
	aftl_request_submit(ftl, request);
	if (unlikely(ftl->faults.armed))
		aftl_faults_count_request(ftl, request);
	if (!ftl->running)
		aftl_start_slice_of_lun_operations(ftl);
	return 0;
}

/*
 * Return true if no event is due and no feature is active that would change what a read meets:
 * zones, a cached L2P table, read-ahead, multi-pass programs, read cache, RAIN, a timed link, armed
 * faults.
 */
static bool read_fastpath_is_allowed(const struct aftl *ftl, const struct aftl_request *request)
{
	if (ftl->geo.zones | ftl->geo.trans_pages | ftl->read_ahead.units | ftl->foggy_blocks |
	    ftl->reads_are_tracked | ftl->completion.link_paced | ftl->faults.armed)
		return false;
	return !ftl->running && !aftl_scheduler_has_work(ftl) &&
	       request->arrival_ns <= ftl->now_ns &&
	       aftl_events_earliest_ns(&ftl->events) > ftl->now_ns &&
	       ftl->now_ns < AFTL_TIME_MAX / 2;
}

bool aftl_try_read_fastpath(struct aftl *ftl, struct aftl_request *request)
{
	struct aftl_lun *lun;
	u64 service_ns;

	if (request->op != AFTL_OP_READ || !request_is_valid(ftl, request) ||
	    !read_fastpath_is_allowed(ftl, request))
		return false;
	lun = aftl_read_fastpath_start(ftl, request);
	if (!lun)
		return false;
	if (lun->work.phase == AFTL_PHASE_SENSE)
		return true;
	ftl->running = true;
	service_ns = lun->work.service_ns;
	if (aftl_lun_end_fastpath_read(ftl, lun))
		aftl_start_slice_of_lun_operations(ftl);
	aftl_read_fastpath_complete(ftl, request, service_ns);
	aftl_start_slice_of_lun_operations(ftl);
	ftl->running = false;
	return true;
}
