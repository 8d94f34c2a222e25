// SPDX-License-Identifier: GPL-2.0-only
/*
 * What reads have brought into the controller, the host's and those ahead of it: a cache in
 * which the unit goes that was not used for the longest. A unit is known with the place that
 * it was read from. Once it is elsewhere, or the place has been erased or programmed again,
 * it is not found any more, so nobody has to say so. Here is what came of the sensing, which
 * is what a read gets: no bit more has flipped since.
 */
#include "core/base/random.h"
#include "core/ftl/device.h"

/*
 * aftl_recent_check() - does what is read ahead fit?
 */
int aftl_recent_check(const struct aftl *ftl, struct aftl_error *error)
{
	const struct aftl_config *config = &ftl->config;

	if (config->read_ahead <= config->read_cache / 2)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "read_ahead: %llu bytes are more than half of the read cache; set read_cache at least %llu, or read_ahead 0",
			 (unsigned long long)config->read_ahead,
			 2 * (unsigned long long)config->read_ahead);
}

/*
 * aftl_recent_take() - memory for the cache, in which there is nothing
 */
bool aftl_recent_take(struct aftl *ftl)
{
	struct aftl_recent *recent = &ftl->recent;

	recent->count = (u32)min(div64_u64(ftl->config.read_cache, ftl->geo.unit_bytes),
				 (u64)ftl->geo.units);
	if (!recent->count)
		return true;
	recent->mask = (1U << fls64(recent->count - 1)) - 1;
	recent->all = aftl_memory_take(ftl, recent->count, sizeof(*recent->all));
	recent->chains = aftl_memory_take(ftl, (size_t)recent->mask + 1, sizeof(*recent->chains));
	if (!recent->all || !recent->chains)
		return false;
	aftl_recent_forget(ftl);
	return true;
}

static u32 *chain_of(const struct aftl *ftl, aftl_unit_t unit)
{
	return &ftl->recent.chains[aftl_mix(from_unit(unit)) & ftl->recent.mask];
}

/* Its number, or AFTL_NIL. */
static u32 number_of(const struct aftl *ftl, aftl_unit_t unit)
{
	u32 number = *chain_of(ftl, unit);

	while (number != AFTL_NIL && ftl->recent.all[number].unit != unit)
		number = ftl->recent.all[number].next;
	return number;
}

static u16 attr_at(const struct aftl *ftl, aftl_slot_t slot)
{
	return aftl_slot_attr(&ftl->media, slot);
}

/* Is it still what would be read? */
static bool is_current(const struct aftl *ftl, const struct aftl_recent_unit *recent)
{
	aftl_slot_t slot;

	return aftl_map_get(ftl, recent->unit, &slot) && slot == recent->slot &&
	       !aftl_lost_in(ftl, slot) && !aftl_slot_gone(ftl, slot) &&
	       aftl_slot_block(&ftl->media, slot)->erases == recent->erases &&
	       aftl_page_again(attr_at(ftl, slot)) == recent->again;
}

/*
 * aftl_recent_find() - what was read of @unit, if it is still valid
 */
struct aftl_recent_unit *aftl_recent_find(const struct aftl *ftl, aftl_unit_t unit)
{
	u32 number = ftl->recent.count ? number_of(ftl, unit) : AFTL_NIL;

	if (number == AFTL_NIL || !is_current(ftl, &ftl->recent.all[number]))
		return NULL;
	return &ftl->recent.all[number];
}

static u32 *younger_link(struct aftl_recent *recent, u32 number)
{
	return number == AFTL_NIL ? &recent->oldest : &recent->all[number].younger;
}

static u32 *older_link(struct aftl_recent *recent, u32 number)
{
	return number == AFTL_NIL ? &recent->youngest : &recent->all[number].older;
}

static void unlink_unit(struct aftl_recent *recent, const struct aftl_recent_unit *unit)
{
	*younger_link(recent, unit->older) = unit->younger;
	*older_link(recent, unit->younger) = unit->older;
}

static void link_youngest(struct aftl_recent *recent, struct aftl_recent_unit *unit)
{
	u32 number = (u32)(unit - recent->all);

	unit->older = recent->youngest;
	unit->younger = AFTL_NIL;
	*younger_link(recent, recent->youngest) = number;
	recent->youngest = number;
}

/*
 * aftl_recent_use() - it is the one that was used last
 */
void aftl_recent_use(struct aftl *ftl, struct aftl_recent_unit *unit)
{
	unlink_unit(&ftl->recent, unit);
	link_youngest(&ftl->recent, unit);
}

static void count_vain(struct aftl *ftl, const struct aftl_recent_unit *unit)
{
	ftl->stats.counters.read_ahead_vain_units += (unit->flags & AFTL_RECENT_AHEAD) != 0;
}

static void unchain(struct aftl *ftl, const struct aftl_recent_unit *unit)
{
	u32 number = (u32)(unit - ftl->recent.all);
	u32 *link = chain_of(ftl, unit->unit);

	while (*link != number)
		link = &ftl->recent.all[*link].next;
	*link = unit->next;
}

/* An unused one, or the one that was not used for the longest. */
static struct aftl_recent_unit *take_room(struct aftl *ftl)
{
	struct aftl_recent *recent = &ftl->recent;
	struct aftl_recent_unit *unit;

	if (recent->used < recent->count)
		return &recent->all[recent->used++];
	unit = &recent->all[recent->oldest];
	unlink_unit(recent, unit);
	unchain(ftl, unit);
	count_vain(ftl, unit);
	return unit;
}

static struct aftl_recent_unit *room_for(struct aftl *ftl, aftl_unit_t unit)
{
	u32 number = number_of(ftl, unit);
	struct aftl_recent_unit *mine;

	if (number != AFTL_NIL) {
		mine = &ftl->recent.all[number];
		count_vain(ftl, mine);
		aftl_recent_use(ftl, mine);
		return mine;
	}
	mine = take_room(ftl);
	mine->unit = unit;
	mine->next = *chain_of(ftl, unit);
	*chain_of(ftl, unit) = (u32)(mine - ftl->recent.all);
	link_youngest(&ftl->recent, mine);
	return mine;
}

/*
 * aftl_recent_add() - @unit is being read from @slot
 *
 * Return: where the caller notes the rest, and that it has arrived.
 */
struct aftl_recent_unit *aftl_recent_add(struct aftl *ftl, aftl_unit_t unit, aftl_slot_t slot)
{
	struct aftl_recent_unit *mine = room_for(ftl, unit);

	mine->slot = slot;
	mine->erases = aftl_slot_block(&ftl->media, slot)->erases;
	mine->again = aftl_page_again(attr_at(ftl, slot));
	mine->flags = 0;
	return mine;
}

/*
 * aftl_recent_forget() - the controller loses its memory
 */
void aftl_recent_forget(struct aftl *ftl)
{
	struct aftl_recent *recent = &ftl->recent;
	u32 i;

	for (i = 0; i < recent->used; i++)
		count_vain(ftl, &recent->all[i]);
	for (i = 0; recent->count && i <= recent->mask; i++)
		recent->chains[i] = AFTL_NIL;
	recent->used = 0;
	recent->oldest = AFTL_NIL;
	recent->youngest = AFTL_NIL;
	for (i = 0; i < AFTL_READERS; i++)
		ftl->readers[i].turn = 0;
}
