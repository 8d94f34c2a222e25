/* SPDX-License-Identifier: GPL-2.0-only */
/* State of the zones. */
#ifndef AFTL_ZONE_STATE_H
#define AFTL_ZONE_STATE_H

#include "core/base/write-stream.h"
#include "core/ftl/host-ops.h"

/**
 * struct aftl_zone - a range of logical pages that is written sequentially
 * @written: logical pages below the write pointer
 * @top: logical pages below the end of the data in the random write area; of no use if @written is
 *	larger
 * @coming: logical pages of the current write that have not been allocated to a LUN yet
 * @state: enum aftl_zone_state
 * @slot: slot of an active zone: index of its stream and of its open blocks; 0 if it has none
 */
struct aftl_zone {
	u32 written;
	u32 top;
	u32 coming;
	u8 state;
	u8 slot;
};

/**
 * struct aftl_zone_reset - a zone reset in progress, a slice at a time
 * @request: the zone-reset request; NULL if no reset is in progress
 * @zone: the zone that is being reset
 * @end: the zone after the last one
 * @cleared: logical pages at the start of @zone that are unmapped already
 */
struct aftl_zone_reset {
	struct aftl_request *request;
	u32 zone;
	u32 end;
	u32 cleared;
};

/**
 * struct aftl_zones - the zones of a device; all 0 without zones
 * @all: the zones, by number
 * @owner: zone that uses a slot; AFTL_NIL if the slot is free
 * @pending: logical pages in flight for each slot
 * @online: for each group of zones that share LUNs, how many of them are not offline
 * @opened: numbers of the open zones, in no order
 * @open: number of open zones
 * @active: number of open or closed zones
 * @turn: where the search for an implicitly opened zone to close starts
 * @reset: the reset in progress, which precedes everything else
 */
struct aftl_zones {
	struct aftl_zone *all;
	u32 owner[1 + AFTL_ACTIVE_ZONES_MAX];
	u32 pending[1 + AFTL_ACTIVE_ZONES_MAX];
	u32 *online;
	u32 opened[AFTL_ACTIVE_ZONES_MAX];
	u32 open;
	u32 active;
	u32 turn;
	struct aftl_zone_reset reset;
};

/* Return the number of logical pages below the end of the data of @zone. */
static inline u32 aftl_zone_data_end(const struct aftl_zone *zone)
{
	return max(zone->written, zone->top);
}

static inline bool aftl_zone_is_active(const struct aftl_zone *zone)
{
	return zone->state >= AFTL_ZONE_IMPLICIT && zone->state <= AFTL_ZONE_CLOSED;
}

/* Return true if the zone gets no more writes, so that partly filled flash pages are programmed. */
static inline bool aftl_zone_awaits_no_writes(const struct aftl_zone *zone)
{
	return !aftl_zone_is_active(zone) && !zone->coming;
}

#endif
