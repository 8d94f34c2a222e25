// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the host says of whole zones.
 */
#include "core/front/front.h"

/*
 * aftl_zones_offline() - does a read touch a zone that is not there any more?
 */
bool aftl_zones_offline(const struct aftl *ftl, const struct aftl_request *request)
{
	const struct aftl_zone *zone = aftl_zone_at(ftl, to_unit(request->unit));
	const struct aftl_zone *last =
		aftl_zone_at(ftl, to_unit(request->unit + request->units - 1));

	for (; zone <= last; zone++)
		if (zone->state == AFTL_ZONE_OFFLINE)
			return true;
	return false;
}

static int close_zone(struct aftl *ftl, struct aftl_zone *zone)
{
	if (zone->state == AFTL_ZONE_CLOSED)
		return 0;
	if (!aftl_zone_active(zone))
		return -EIO;
	aftl_zone_leave(ftl, zone, zone->written ? AFTL_ZONE_CLOSED : AFTL_ZONE_EMPTY);
	ftl->stats.counters.zone_closes++;
	return 0;
}

static int finish_zone(struct aftl *ftl, struct aftl_zone *zone)
{
	if (zone->state > AFTL_ZONE_FULL)
		return -EIO;
	if (zone->state == AFTL_ZONE_FULL)
		return 0;
	aftl_zone_leave(ftl, zone, AFTL_ZONE_FULL);
	ftl->stats.counters.zone_finishes++;
	return 0;
}

static u32 first_unit(const struct aftl *ftl, const struct aftl_zone *zone)
{
	return (u32)(zone - ftl->zones.all) * ftl->geo.zone_units;
}

static void empty_zone(struct aftl *ftl, struct aftl_zone *zone)
{
	u32 end = first_unit(ftl, zone) + zone->written;
	u32 i;

	for (i = first_unit(ftl, zone); i < end; i++) {
		aftl_write_forget(ftl, to_unit(i));
		aftl_map_clear(ftl, to_unit(i));
	}
	ftl->stats.counters.zone_resets++;
	aftl_zone_empty(ftl, zone);
	if (ftl->ops->unmap)
		ftl->ops->unmap(ftl->host, to_unit(first_unit(ftl, zone)), ftl->geo.zone_units);
}

static bool can_reset(const struct aftl_zone *zone)
{
	return aftl_zone_active(zone) || zone->state == AFTL_ZONE_FULL;
}

static int reset_zone(struct aftl *ftl, struct aftl_zone *zone)
{
	if (!can_reset(zone))
		return zone->state == AFTL_ZONE_EMPTY ? 0 : -EIO;
	empty_zone(ftl, zone);
	return 0;
}

static int reset_all(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.zones; i++)
		if (can_reset(&ftl->zones.all[i]))
			empty_zone(ftl, &ftl->zones.all[i]);
	return 0;
}

/*
 * aftl_zones_manage() - an operation on zones
 *
 * Return: 0 or the status that it ends with.
 */
int aftl_zones_manage(struct aftl *ftl, const struct aftl_request *request)
{
	struct aftl_zone *zone = aftl_zone_at(ftl, to_unit(request->unit));

	if (ftl->read_only || request->unit % ftl->geo.zone_units)
		return -EIO;
	switch (request->op) {
	case AFTL_OP_ZONE_OPEN:
		return aftl_zone_activate(ftl, zone, AFTL_ZONE_EXPLICIT);
	case AFTL_OP_ZONE_CLOSE:
		return close_zone(ftl, zone);
	case AFTL_OP_ZONE_FINISH:
		return finish_zone(ftl, zone);
	case AFTL_OP_ZONE_RESET:
		return reset_zone(ftl, zone);
	default:
		return reset_all(ftl);
	}
}
