/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RAID level 5: placement of units, reads and writes that new data require, and a stripe cache
 * that merges writes. This layer is independent of devices and time.
 *
 * A *row* is one unit of each member at the same address; one parity unit protects it. A *cell*
 * is a unit of a row: data 0 .. members - 2, then parity. Sets of cells are bit masks. Parity
 * rotates by chunks, and data follow it, as in Linux md's left-symmetric layout.
 */
#ifndef AFTL_STRIPES_H
#define AFTL_STRIPES_H

#include "core/base/types.h"

#define STRIPE_MEMBERS_MIN 3
#define STRIPE_MEMBERS_MAX 16

#define STRIPE_NONE U32_MAX

/**
 * struct stripe_layout - shape of an array
 * @members: number of devices
 * @chunk: contiguous units on a member
 */
struct stripe_layout {
	u32 members;
	u32 chunk;
};

static inline u32 stripe_parity_unit(const struct stripe_layout *layout)
{
	return layout->members - 1;
}

static inline u32 stripe_parity_mask(const struct stripe_layout *layout)
{
	return 1U << stripe_parity_unit(layout) % 32;
}

/* Mask of all data cells. */
static inline u32 stripe_data_mask(const struct stripe_layout *layout)
{
	return stripe_parity_mask(layout) - 1;
}

/* Capacity of an array whose members have @member_units each: whole chunks only. */
u64 stripe_get_array_capacity(const struct stripe_layout *layout, u32 member_units);

/* Return row and cell of a unit of the array. */
void stripe_locate_unit(const struct stripe_layout *layout, u32 unit, u32 *row, u32 *cell);

/* Return the member device that stores the cell; @row is the unit number on the member. */
u32 stripe_member_of_unit(const struct stripe_layout *layout, u32 row, u32 cell);

/**
 * struct stripe_plan - plan to write new data into a row
 * @read: cells to read first
 * @write: cells to write
 * @reconstruct: compute parity from all data; otherwise from old and new data and old parity
 */
struct stripe_plan {
	u32 read;
	u32 write;
	bool reconstruct;
};

/**
 * stripe_make_plan() - choose read-modify-write or reconstruct-write, whichever reads less
 * @dirty: data cells with new data, at least one
 * @known: cells whose old content is cached
 *
 * If both read the same amount, the parity is reconstructed.
 */
struct stripe_plan stripe_make_plan(const struct stripe_layout *layout, u32 dirty, u32 known);

/**
 * struct stripe - a row in the cache
 * @row: its number, STRIPE_NONE if unused
 * @known: cells whose content on the members is cached
 * @dirty: data cells that wait to be written
 * @flying: data cells that are being written
 * @approx: data cells whose newest content is approximate
 * @hints: hint of the newest content of each cell
 * @operations: reads and writes of members in flight
 * @plan: plan of the write in progress
 * @since_ns: time when it became dirty
 * @hash_next: next row with the same hash
 * @prev: in the list of clean or of dirty rows
 * @next: in the same list
 * @busy: being written; in neither list
 * @reading: the operations in flight are reads
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
 * @stripes: all stripes
 * @count: number of stripes
 * @heads: hash table of @count entries
 * @clean: rows that may be evicted, the least recently used first
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

/* Return the stripe of @row, or NULL. */
struct stripe *stripe_find(struct stripe_cache *cache, u32 row);

/**
 * stripe_get() - return the stripe of @row for a write, evicting a clean one if necessary
 *
 * Return: NULL if no stripe is clean.
 */
struct stripe *stripe_get(struct stripe_cache *cache, u32 row);

/* Mark a cell as dirty. */
void stripe_mark_unit_dirty(struct stripe_cache *cache, struct stripe *stripe, u32 cell,
			    bool approx, u64 now_ns);

/* Mark the dirty cells of @stripe as being written, and set its plan. */
void stripe_begin_write(struct stripe_cache *cache, const struct stripe_layout *layout,
			struct stripe *stripe);

/* End the write of stripe_begin_write(): mark the stripe as clean, or dirty if it has new data. */
void stripe_end_write(struct stripe_cache *cache, struct stripe *stripe, u64 now_ns);

static inline u32 stripe_index_in_cache(const struct stripe_cache *cache,
					const struct stripe *stripe)
{
	return (u32)(stripe - cache->stripes);
}

#endif
