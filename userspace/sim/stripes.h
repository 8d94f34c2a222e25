/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RAID level 5: where units are, what has to be read and written for new data, and the
 * cache of stripes in which writes meet. Knows nothing of devices and time.
 *
 * A *row* is one unit of each member at the same place: what one parity unit protects. A
 * *cell* is a unit of a row: data 0 .. members - 2, then parity. Sets of cells are bits.
 * Parity rotates by chunks, and data follows it, as in Linux md's left-symmetric layout.
 */
#ifndef AFTL_STRIPES_H
#define AFTL_STRIPES_H

#include "core/base/types.h"

#define STRIPE_MEMBERS_MIN 3
#define STRIPE_MEMBERS_MAX 16

#define STRIPE_NONE U32_MAX

/**
 * struct stripe_layout - shape of an array
 * @members: devices
 * @chunk: units of one member before the next one takes its turn
 */
struct stripe_layout {
	u32 members;
	u32 chunk;
};

static inline u32 stripe_parity_cell(const struct stripe_layout *layout)
{
	return layout->members - 1;
}

static inline u32 stripe_parity(const struct stripe_layout *layout)
{
	return 1U << stripe_parity_cell(layout) % 32;
}

/* All cells with data. */
static inline u32 stripe_data(const struct stripe_layout *layout)
{
	return stripe_parity(layout) - 1;
}

/* Units of an array whose members have @member_units: whole chunks only. */
u64 stripe_array_units(const struct stripe_layout *layout, u32 member_units);

/* Row and cell of a unit of the array. */
void stripe_locate(const struct stripe_layout *layout, u32 unit, u32 *row, u32 *cell);

/* Which member has this cell; its unit there is the number of the row. */
u32 stripe_member(const struct stripe_layout *layout, u32 row, u32 cell);

/**
 * struct stripe_plan - how new data gets into a row
 * @read: cells to be read first
 * @write: cells to be written
 * @reconstruct: parity from all data; otherwise from old and new data and old parity
 */
struct stripe_plan {
	u32 read;
	u32 write;
	bool reconstruct;
};

/**
 * stripe_plan() - read-modify-write or reconstruct-write, whichever reads less
 * @dirty: data cells with new data, at least one
 * @known: cells whose old content is at hand
 *
 * If both read the same the parity is reconstructed.
 */
struct stripe_plan stripe_plan(const struct stripe_layout *layout, u32 dirty, u32 known);

/**
 * struct stripe - a row in the cache
 * @row: its number, STRIPE_NONE if there is none
 * @known: cells whose content on the members is in the cache
 * @dirty: data cells that wait to be written
 * @flying: data cells that are being written
 * @approx: data cells whose newest content is approximate
 * @hints: what was said of the newest content of each cell
 * @operations: reads and writes of members under way
 * @plan: of what is under way
 * @since_ns: when it became dirty
 * @hash_next: next row with the same hash
 * @prev: in the list of clean or of dirty rows
 * @next: in the same list
 * @busy: being written: in no list
 * @reading: what is under way are reads
 */
struct stripe {
	u32 row;
	u32 known;
	u32 dirty;
	u32 flying;
	u32 approx;
	struct aftl_hint hints[STRIPE_MEMBERS_MAX];
	u32 operations;
	struct stripe_plan plan;
	u64 since_ns;
	u32 hash_next;
	u32 prev;
	u32 next;
	bool busy;
	bool reading;
};

struct stripe_list {
	u32 head;
	u32 tail;
};

/**
 * struct stripe_cache - rows by number
 * @stripes: all of them
 * @count: how many
 * @heads: hash table, as many entries
 * @clean: rows that may be given up, the longest unused first
 * @dirty: rows that wait to be written, the oldest first
 */
struct stripe_cache {
	struct stripe *stripes;
	u32 count;
	u32 *heads;
	struct stripe_list clean;
	struct stripe_list dirty;
};

void stripe_cache_init(struct stripe_cache *cache, u32 count);
void stripe_cache_release(struct stripe_cache *cache);

/* The stripe of @row, or NULL. */
struct stripe *stripe_find(struct stripe_cache *cache, u32 row);

/**
 * stripe_get() - the stripe of @row, for a write
 *
 * Return: NULL if no stripe is clean.
 */
struct stripe *stripe_get(struct stripe_cache *cache, u32 row);

/* A cell has new data. */
void stripe_soil(struct stripe_cache *cache, struct stripe *stripe, u32 cell, bool approx,
		 u64 now_ns);

/* Its dirty cells begin to be written. */
void stripe_begin(struct stripe_cache *cache, const struct stripe_layout *layout,
		  struct stripe *stripe);

/* They are written: clean, or dirty anew. */
void stripe_end(struct stripe_cache *cache, struct stripe *stripe, u64 now_ns);

static inline u32 stripe_index(const struct stripe_cache *cache, const struct stripe *stripe)
{
	return (u32)(stripe - cache->stripes);
}

#endif
