// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admission of host writes: each logical page becomes a command, is bound to a LUN, and waits in
 * that LUN's queue for its class and stream (core/sched/die-write.c). A newer write takes the place
 * of an older one of the same page in the queue, as long as that has not begun to be programmed.
 */
#include "core/ftl/command.h"
#include "core/ftl/controller.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/ftl/pending-writes.h"
#include "core/ftl/placement-handle.h"
#include "core/ftl/policy-instance.h"
#include "core/ftl/wait.h"
#include "core/ftl/write-buffer.h"
#include "core/ftl/zone.h"
#include "core/hif/hif.h"
#include "core/hif/host-write.h"
#include "core/sched/die-write.h"

/*
 * Return the buffered write of @lpn that a newer one replaces: one that is not being programmed,
 * completes no request, and was not made obsolete by a zone reset. AFTL_NIL if there is none.
 */
static u32 write_find_replaceable_write(const struct aftl *ftl, aftl_lpn_t lpn)
{
	u32 index = aftl_pending_find_newest_write(ftl, lpn);

	if (index == AFTL_NIL || ftl->commands[index].request ||
	    ftl->commands[index].flags & AFTL_COMMAND_SUPERSEDED ||
	    (ftl->commands[index].lun == AFTL_NIL &&
	     !(ftl->commands[index].flags & AFTL_COMMAND_HELD)))
		return AFTL_NIL;
	return index;
}

static bool must_write_wait_for_program(const struct aftl *ftl, const struct aftl_request *request)
{
	if (!aftl_has_write_buffer(ftl))
		return true;
	return request->flags & AFTL_REQUEST_FUA && !ftl->config.buffer_safe;
}

/* Return true if @lpn is beyond the write pointer of its zone: its write is not queued yet. */
static bool write_goes_to_random_area(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return ftl->config.zrwa && from_lpn(lpn) % ftl->geo.zone_units >=
					   aftl_zone_of_lpn(ftl, lpn)->written;
}

/*
 * Begin the controller's housekeeping if a block has been erased since the last one and
 * housekeeping_every has passed.
 */
static noinline void write_begin_housekeeping_if_due(struct aftl *ftl)
{
	if (!ftl->housekeeping_wanted ||
	    ftl->now_ns < ftl->housekeeping_end_ns + ftl->config.housekeeping_every)
		return;
	ftl->housekeeping_wanted = false;
	ftl->housekeeping_end_ns = ftl->now_ns + ftl->config.housekeeping;
}

/* Create the write command of @lpn, which is in no queue yet. Return: its tag. */
static u32 write_create_command(struct aftl *ftl, struct aftl_request *request, aftl_lpn_t lpn,
				u32 epoch)
{
	u32 index = aftl_command_alloc(ftl, true);
	struct aftl_command *command = &ftl->commands[index];

	ftl->work++;
	if (ftl->config.housekeeping)
		write_begin_housekeeping_if_due(ftl);
	prefetch(aftl_l2p_entry(ftl, from_lpn(lpn)));
	command->epoch = epoch;
	command->seq = ftl->seq++;
	command->queued_ns = ftl->now_ns;
	command->request = must_write_wait_for_program(ftl, request) ? request : NULL;
	command->lpn = lpn;
	command->class = aftl_get_data_class_used_by_policy(ftl, request->class);
	command->level = aftl_normalise_quality_level(command->class, request->level);
	command->stream = request->stream;
	command->lun = AFTL_NIL;
	command->flags = 0;
	command->hint = request->hint;
	ftl->epochs.outstanding[epoch]++;
	aftl_pending_add_write(ftl, index);
	if (ftl->geo.zones)
		ftl->zones.pending[aftl_zone_slot_of_stream(ftl, command->stream)]++;
	return index;
}

static noinline void write_observe(struct aftl *ftl, struct aftl_request *request, aftl_lpn_t lpn,
				   u32 index)
{
	/* A write in a random write area has no LUN yet, and its request waits for none. */
	if (ftl->waits)
		aftl_note_queued_command(ftl, request, index,
					 ftl->commands[index].flags & AFTL_COMMAND_HELD ?
						 0 : ftl->commands[index].lun);
	if (ftl->ops->accept)
		ftl->ops->accept(ftl->host, request, lpn, index);
}

/*
 * Accept the next page of @request. If it replaces a buffered one, a flush that waits for the older
 * version waits for the new one instead: otherwise flash would have neither version. The host gets
 * the new data before the replaced write is released, because a persistent buffer must always have
 * one of the two versions. @lun is the LUN for the page, or NULL if it takes the place of @older.
 */
static void write_bind_lpn_to_lun(struct aftl *ftl, struct aftl_request *request, aftl_lpn_t lpn,
				  struct aftl_lun *lun, u32 lane, u32 older)
{
	u32 epoch = older == AFTL_NIL ? ftl->epochs.newest : ftl->commands[older].epoch;
	u32 index = write_create_command(ftl, request, lpn, epoch);
	bool waits = ftl->commands[index].request;

	if (write_goes_to_random_area(ftl, lpn))
		ftl->commands[index].flags |= AFTL_COMMAND_HELD;
	else if (!lun)
		aftl_write_replace_older_version_in_queue(ftl, older, index);
	else if (older != AFTL_NIL)
		aftl_write_remove_from_lun_queue(ftl, older);
	if (lun)
		aftl_write_add_to_lun_queue(ftl, lun, lane, index);
	if (ftl->writes_are_observed)
		write_observe(ftl, request, lpn, index);
	if (older != AFTL_NIL) {
		ftl->stats.counters.buffer_coalesced_units++;
		ftl->commands[older].flags |= AFTL_COMMAND_SUPERSEDED;
		aftl_write_free_finished_command(ftl, older);
	}
	if (!waits)
		aftl_complete_part_of_request(ftl, request, 0);
}

/* Return true if no write is in progress whose end could free a write command or a block. */
static bool is_no_write_in_flight(const struct aftl *ftl)
{
	return !aftl_count_writes_in_flight(ftl);
}

static void fail_unadmitted_pages(struct aftl *ftl, struct aftl_request *request, int status)
{
	u32 left = request->units - request->admitted;

	request->status = status;
	request->admitted = request->units;
	while (left--)
		aftl_complete_part_of_request(ftl, request, 0);
}

/* Return true if the queue of buffered write @older is one for data of @request in @lane. */
static bool write_has_place_for_newer(struct aftl *ftl, u32 older,
				      const struct aftl_request *request, u32 lane)
{
	const struct aftl_command *command = &ftl->commands[older];

	return aftl_get_write_stream_of_command(command) == lane &&
	       aftl_get_reclaim_group(ftl, &command->hint) ==
		       aftl_get_reclaim_group(ftl, &request->hint);
}

/* Accept the next page of @request. Return: false if there is no command or no LUN for it. */
static bool write_admit_lpn(struct aftl *ftl, struct aftl_request *request, u32 class, u32 lane)
{
	aftl_lpn_t lpn = to_lpn(request->unit + request->admitted);
	struct aftl_lun *lun = NULL;
	u32 older;
	bool replaces;

	if (!ftl->free_write_count || ftl->read_only)
		return false;
	older = write_find_replaceable_write(ftl, lpn);
	replaces = older != AFTL_NIL && write_has_place_for_newer(ftl, older, request, lane);
	if (!replaces && !write_goes_to_random_area(ftl, lpn))
		lun = aftl_write_choose_lun(ftl, class, request->stream, lpn, &request->hint);
	if (!replaces && !lun && !write_goes_to_random_area(ftl, lpn))
		return false;
	if (request->rest && aftl_request_page_is_partial(request, request->admitted))
		aftl_zero_unwritten_part_of_discarded_page(ftl, request, lpn);
	request->admitted++;
	request->asked = 0;
	write_bind_lpn_to_lun(ftl, request, lpn, lun, lane, older);
	return true;
}

/* Ask the policy for the stream of pages of @request. */
static void write_ask_policy_for_stream(struct aftl *ftl, struct aftl_request *request, u32 unit,
					u32 units)
{
	struct aftl_host_write write = {
		.lpn = to_lpn(unit),
		.units = units,
		.class = request->class,
		.level = aftl_normalise_quality_level(request->class, request->level),
		.hint = request->hint,
	};

	request->stream = aftl_policy_validate_stream(ftl, ftl->type->stream(ftl->policy, &write));
}

/*
 * Get the stream of the next page of @request. A policy that chooses it by page is asked once for
 * each page, even if the page has to wait; a placement handle or zone has a stream of its own.
 */
static u32 get_stream_of_request_page(struct aftl *ftl, struct aftl_request *request)
{
	if (ftl->type->stream_per_page && !request->asked && request->stream < ftl->streams) {
		write_ask_policy_for_stream(ftl, request, request->unit + request->admitted, 1);
		request->asked = 1;
	}
	return request->stream;
}

static void write_admit_lpns(struct aftl *ftl, struct aftl_request *request)
{
	u32 class = aftl_get_data_class_used_by_policy(ftl, request->class);

	while (request->admitted < request->units) {
		u32 lane = aftl_get_index_of_write_stream(class,
							  get_stream_of_request_page(ftl, request));

		if (write_admit_lpn(ftl, request, class, lane))
			continue;
		if (ftl->read_only || is_no_write_in_flight(ftl))
			fail_unadmitted_pages(ftl, request, -ENOSPC);
		break;
	}
}

/* Admit the first or next pages of a write to a zone, if @request is the next write of the zone. */
static void admit_pages_of_zone_write(struct aftl *ftl, struct aftl_request *request)
{
	struct aftl_zone *zone = aftl_zone_of_lpn(ftl, to_lpn(request->unit));
	u32 before = request->admitted;
	u32 committed = zone->written;
	int ret = 0;

	if (ftl->read_only)
		ret = -ENOSPC;
	else if (!request->placed)
		ret = aftl_zone_start_write(ftl, request);
	else if (zone->state >= AFTL_ZONE_READ_ONLY)
		ret = -EIO; /* the zone's part in a dead LUN can never be written */
	if (ftl->config.zrwa && request->placed)
		aftl_write_queue_committed_lpns(ftl, zone, committed);
	else if (ret && request->placed)
		zone->written -= request->units - before;
	if (ret)
		fail_unadmitted_pages(ftl, request, ret);
	else if (aftl_zone_assign_write_slot(ftl, request))
		write_admit_lpns(ftl, request);
	if (request->placed)
		aftl_zone_count_admitted_lpns(ftl, zone, request->admitted - before);
}

/**
 * aftl_write_admit_request() - bind pages of @request to LUNs, as far as commands and free space go
 * @ftl: device
 * @request: a write; request->admitted counts the pages that have been bound
 *
 * Return: true if all pages are admitted, or the others have failed, or @request first reads the
 * rest of a page that it covers in part, and is admitted again afterwards.
 */
bool aftl_write_admit_request(struct aftl *ftl, struct aftl_request *request)
{
	if (ftl->rest.count | request->head_skip | request->tail_skip) {
		enum aftl_rest_step step = aftl_partial_next_step(ftl, request);

		if (step != AFTL_REST_STEP_ADMIT)
			return step == AFTL_REST_STEP_READ;
		if (request->status && !request->admitted) {
			fail_unadmitted_pages(ftl, request, request->status);
			return true;
		}
	}
	if (ftl->geo.zones)
		admit_pages_of_zone_write(ftl, request);
	else
		write_admit_lpns(ftl, request);
	return request->admitted == request->units;
}

/**
 * aftl_write_choose_stream() - set the stream of a write: placement handle, or the policy's answer,
 *	unless the policy chooses it by page
 * @ftl: device
 * @request: a write
 */
void aftl_write_choose_stream(struct aftl *ftl, struct aftl_request *request)
{
	/* Zoned and FDP writes bypass the policy. */
	if (ftl->geo.zones)
		request->placed = 0;
	else if (!(ftl->config.placement_handles &&
		   aftl_set_stream_by_placement_id(ftl, request)) &&
		 ftl->type->stream && !ftl->type->stream_per_page)
		write_ask_policy_for_stream(ftl, request, request->unit, request->units);
}

u32 aftl_restore_buffered_write(struct aftl *ftl, const struct aftl_buffered_lpn *what)
{
	struct aftl_request request = {
		.unit = from_lpn(what->lpn),
		.units = 1,
		.class = what->level ? AFTL_APPROX : AFTL_PRECISE,
		.level = what->level,
		.hint = what->hint,
	};
	u32 class = aftl_get_data_class_used_by_policy(ftl, request.class);
	struct aftl_lun *lun;
	u32 index;

	aftl_write_choose_stream(ftl, &request);
	lun = aftl_write_choose_lun(ftl, class, get_stream_of_request_page(ftl, &request),
				    what->lpn, &what->hint);
	if (!lun)
		lun = aftl_write_any_live_lun(ftl);
	if (!lun || !ftl->free_write_count ||
	    (ftl->geo.zones && !aftl_zone_assign_write_slot(ftl, &request)))
		return AFTL_NIL;
	index = write_create_command(ftl, &request, what->lpn, ftl->epochs.newest);
	aftl_write_add_to_lun_queue(ftl, lun, aftl_get_index_of_write_stream(class, request.stream),
				    index);
	return index;
}
