// SPDX-License-Identifier: GPL-2.0-only
/*
 * Zone management commands: open, close, finish, reset.
 */
#include "core/hif/hif.h"

/**
 * aftl_zone_read_offline() - does a read touch a zone that is offline?
 * @ftl: zoned device
 * @request: the read
 */
bool aftl_zone_read_offline(const struct aftl *ftl, const struct aftl_request *request)
{
	const struct aftl_zone *zone = aftl_zone_at(ftl, to_lpn(request->unit));
	const struct aftl_zone *last =
		aftl_zone_at(ftl, to_lpn(request->unit + request->units - 1));

	for (; zone <= last; zone++)
		if (zone->state == AFTL_ZONE_OFFLINE)
			return true;
	return false;
}

static int zone_close(struct aftl *ftl, struct aftl_zone *zone)
{
	if (zone->state == AFTL_ZONE_CLOSED)
		return 0;
	if (!aftl_zone_active(zone))
		return -EIO;
	aftl_zone_end_writes(ftl, zone, zone->written ? AFTL_ZONE_CLOSED : AFTL_ZONE_EMPTY);
	ftl->stats.counters.zone_closes++;
	return 0;
}

static int zone_finish(struct aftl *ftl, struct aftl_zone *zone)
{
	if (zone->state > AFTL_ZONE_FULL)
		return -EIO;
	if (zone->state == AFTL_ZONE_FULL)
		return 0;
	aftl_zone_end_writes(ftl, zone, AFTL_ZONE_FULL);
	ftl->stats.counters.zone_finishes++;
	return 0;
}

static u32 zone_first_lpn(const struct aftl *ftl, const struct aftl_zone *zone)
{
	return (u32)(zone - ftl->zones.all) * ftl->geo.zone_units;
}

static void zone_reset_one(struct aftl *ftl, struct aftl_zone *zone)
{
	u32 end = zone_first_lpn(ftl, zone) + zone->written;
	u32 i;

	for (i = zone_first_lpn(ftl, zone); i < end; i++) {
		aftl_write_discard(ftl, to_lpn(i));
		aftl_l2p_unmap(ftl, to_lpn(i));
	}
	ftl->stats.counters.zone_resets++;
	aftl_zone_clear(ftl, zone);
	if (ftl->ops->unmap)
		ftl->ops->unmap(ftl->host, to_lpn(zone_first_lpn(ftl, zone)), ftl->geo.zone_units);
}

static bool zone_can_reset(const struct aftl_zone *zone)
{
	return aftl_zone_active(zone) || zone->state == AFTL_ZONE_FULL;
}

static int zone_reset(struct aftl *ftl, struct aftl_zone *zone)
{
	if (!zone_can_reset(zone))
		return zone->state == AFTL_ZONE_EMPTY ? 0 : -EIO;
	zone_reset_one(ftl, zone);
	return 0;
}

static int zone_reset_all(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.zones; i++)
		if (zone_can_reset(&ftl->zones.all[i]))
			zone_reset_one(ftl, &ftl->zones.all[i]);
	return 0;
}

/**
 * aftl_zone_manage() - execute a zone management command
 * @ftl: zoned device
 * @request: AFTL_OP_ZONE_...; its unit is the zone's first logical page
 *
 * Return: 0, or the status of the request.
 */
int aftl_zone_manage(struct aftl *ftl, const struct aftl_request *request)
{
	struct aftl_zone *zone = aftl_zone_at(ftl, to_lpn(request->unit));

	if (ftl->read_only || request->unit % ftl->geo.zone_units)
		return -EIO;
	switch (request->op) {
	case AFTL_OP_ZONE_OPEN:
		return aftl_zone_activate(ftl, zone, AFTL_ZONE_EXPLICIT);
	case AFTL_OP_ZONE_CLOSE:
		return zone_close(ftl, zone);
	case AFTL_OP_ZONE_FINISH:
		return zone_finish(ftl, zone);
	case AFTL_OP_ZONE_RESET:
		return zone_reset(ftl, zone);
	default:
		return zone_reset_all(ftl);
	}
}
