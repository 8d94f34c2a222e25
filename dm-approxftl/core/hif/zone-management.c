// SPDX-License-Identifier: GPL-2.0-only
/*
 * Zone management commands: open, close, finish, reset.
 */
#include "core/ftl/controller.h"
#include "core/ftl/l2p.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/translation-page.h"
#include "core/ftl/zone.h"
#include "core/hif/hif.h"
#include "core/sched/die-write.h"

/**
 * aftl_read_touches_offline_zone() - return true if a read touches a zone that is offline
 * @ftl: zoned device
 * @request: the read
 */
bool aftl_read_touches_offline_zone(const struct aftl *ftl, const struct aftl_request *request)
{
	const struct aftl_zone *zone = aftl_zone_of_lpn(ftl, to_lpn(request->unit));
	const struct aftl_zone *last =
		aftl_zone_of_lpn(ftl, to_lpn(request->unit + request->units - 1));

	for (; zone <= last; zone++)
		if (zone->state == AFTL_ZONE_OFFLINE)
			return true;
	return false;
}

static int execute_zone_close(struct aftl *ftl, struct aftl_zone *zone)
{
	if (zone->state == AFTL_ZONE_CLOSED)
		return 0;
	if (!aftl_zone_is_active(zone))
		return -EIO;
	aftl_zone_make_unwritable(ftl, zone, aftl_zone_data_end(zone) ? AFTL_ZONE_CLOSED :
								      AFTL_ZONE_EMPTY);
	ftl->stats.counters.zone_closes++;
	return 0;
}

static int execute_zone_finish(struct aftl *ftl, struct aftl_zone *zone)
{
	if (zone->state > AFTL_ZONE_FULL)
		return -EIO;
	if (zone->state == AFTL_ZONE_FULL)
		return 0;
	aftl_write_commit_random_area(ftl, zone, aftl_zone_data_end(zone));
	aftl_zone_make_unwritable(ftl, zone, AFTL_ZONE_FULL);
	ftl->stats.counters.zone_finishes++;
	return 0;
}

/* Commit the pages of a random write area below @end, pages of the zone. */
static int execute_zone_commit(struct aftl *ftl, struct aftl_zone *zone, u32 end)
{
	if (!aftl_zone_commit_reaches_pages(ftl, zone, end))
		return -EIO;
	aftl_write_commit_random_area(ftl, zone, end);
	ftl->stats.counters.zrwa_commits++;
	if (end == ftl->geo.zone_capacity)
		aftl_zone_make_unwritable(ftl, zone, AFTL_ZONE_FULL);
	return 0;
}

static u32 zone_first_lpn(const struct aftl *ftl, const struct aftl_zone *zone)
{
	return (u32)(zone - ftl->zones.all) * ftl->geo.zone_units;
}

/* Unmap logical pages of the zone that is being reset. Return true if none are left. */
static bool unmap_slice_of_zone_being_reset(struct aftl *ftl, struct aftl_zone *zone, u32 begin)
{
	struct aftl_zone_reset *reset = &ftl->zones.reset;
	u32 first = zone_first_lpn(ftl, zone) + reset->cleared;
	u32 end = aftl_zone_data_end(zone);
	u32 unit = first;

	for (; reset->cleared < end && !aftl_work_slice_is_over(ftl, begin); unit++) {
		aftl_write_mark_lpn_discarded(ftl, to_lpn(unit));
		aftl_write_queue_held_lpn(ftl, to_lpn(unit));
		if (aftl_l2p_unmap_lpn(ftl, to_lpn(unit)) && ftl->geo.trans_pages)
			aftl_cmt_mark_entry_dirty(ftl, to_lpn(unit));
		ftl->work++;
		reset->cleared++;
	}
	if (unit != first && ftl->ops->unmapping)
		ftl->ops->unmapping(ftl->host, to_lpn(first), unit - first);
	return reset->cleared == end;
}

static void complete_reset_of_zone(struct aftl *ftl, struct aftl_zone *zone)
{
	ftl->stats.counters.zone_resets++;
	ftl->work += ftl->geo.luns / 8;
	aftl_zone_complete_reset_after_unmap(ftl, zone);
	if (ftl->ops->unmap)
		ftl->ops->unmap(ftl->host, to_lpn(zone_first_lpn(ftl, zone)), ftl->geo.zone_units);
}

static bool zone_is_resettable(const struct aftl_zone *zone)
{
	return aftl_zone_is_active(zone) || zone->state == AFTL_ZONE_FULL;
}

/* Let the scheduler reset zones [@first, @end), in slices, before it starts operations. */
static int begin_reset_of_zones(struct aftl *ftl, struct aftl_request *request, u32 first, u32 end)
{
	ftl->zones.reset = (struct aftl_zone_reset){
		.request = request, .zone = first, .end = end,
	};
	request->parts = 1;
	ftl->retry = true;
	return -EINPROGRESS;
}

static int execute_zone_reset(struct aftl *ftl, struct aftl_request *request,
			      struct aftl_zone *zone)
{
	u32 index = (u32)(zone - ftl->zones.all);

	if (!zone_is_resettable(zone))
		return zone->state == AFTL_ZONE_EMPTY ? 0 : -EIO;
	return begin_reset_of_zones(ftl, request, index, index + 1);
}

/*
 * aftl_zones_continue_resets() - go on with the zones that are being reset
 * @begin: ftl->work when this slice began
 *
 * Return: true if all zones are reset, so that the request that asked for it can complete.
 */
bool aftl_zones_continue_resets(struct aftl *ftl, u32 begin)
{
	struct aftl_zone_reset *reset = &ftl->zones.reset;

	for (; reset->zone < reset->end; reset->zone++) {
		struct aftl_zone *zone = &ftl->zones.all[reset->zone];

		if (aftl_work_slice_is_over(ftl, begin))
			return false;
		ftl->work++;
		if (!zone_is_resettable(zone))
			continue;
		if (!unmap_slice_of_zone_being_reset(ftl, zone, begin))
			return false;
		complete_reset_of_zone(ftl, zone);
		reset->cleared = 0;
	}
	reset->request = NULL;
	return true;
}

/**
 * aftl_zone_execute_command() - execute a zone management command
 * @ftl: zoned device
 * @request: AFTL_OP_ZONE_...; its unit is the zone's first logical page, or the last one to commit
 *
 * Return: 0 or the request's status; -EINPROGRESS if aftl_zones_continue_resets() completes it.
 */
int aftl_zone_execute_command(struct aftl *ftl, struct aftl_request *request)
{
	struct aftl_zone *zone = aftl_zone_of_lpn(ftl, to_lpn(request->unit));

	if (ftl->read_only)
		return -EIO;
	if (request->op == AFTL_OP_ZONE_COMMIT)
		return execute_zone_commit(ftl, zone, request->unit % ftl->geo.zone_units + 1);
	if (request->unit % ftl->geo.zone_units)
		return -EIO;
	switch (request->op) {
	case AFTL_OP_ZONE_OPEN:
		return aftl_zone_open(ftl, zone, AFTL_ZONE_EXPLICIT);
	case AFTL_OP_ZONE_CLOSE:
		return execute_zone_close(ftl, zone);
	case AFTL_OP_ZONE_FINISH:
		return execute_zone_finish(ftl, zone);
	case AFTL_OP_ZONE_RESET:
		return execute_zone_reset(ftl, request, zone);
	default:
		return begin_reset_of_zones(ftl, request, 0, ftl->geo.zones);
	}
}
