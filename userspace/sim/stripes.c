// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "core/base/random.h"
#include "stripes.h"

u64 stripe_get_array_capacity(const struct stripe_layout *layout, u32 member_units)
{
	return (u64)(member_units - member_units % layout->chunk) * stripe_parity_unit(layout);
}

void stripe_locate_unit(const struct stripe_layout *layout, u32 unit, u32 *row, u32 *cell)
{
	u32 chunk = unit / layout->chunk;
	u32 data = stripe_parity_unit(layout);

	*row = chunk / data * layout->chunk + unit % layout->chunk;
	*cell = chunk % data;
}

u32 stripe_member_of_unit(const struct stripe_layout *layout, u32 row, u32 cell)
{
	u32 members = layout->members;
	u32 parity = members - 1 - row / layout->chunk % members;

	return cell == stripe_parity_unit(layout) ? parity : (parity + 1 + cell) % members;
}

struct stripe_plan stripe_make_plan(const struct stripe_layout *layout, u32 dirty, u32 known)
{
	u32 modify = (dirty | stripe_parity_mask(layout)) & ~known;
	u32 reconstruct = stripe_data_mask(layout) & ~dirty & ~known;
	bool less = __builtin_popcount(modify) < __builtin_popcount(reconstruct);

	return (struct stripe_plan){
		.read = less ? modify : reconstruct,
		.write = dirty | stripe_parity_mask(layout),
		.reconstruct = !less,
	};
}

/* Lists */

static void stripe_list_append_stripe(struct stripe_cache *cache, struct stripe_list *list,
				      struct stripe *stripe)
{
	u32 index = stripe_index_in_cache(cache, stripe);

	stripe->prev = list->tail;
	stripe->next = STRIPE_NONE;
	if (list->tail == STRIPE_NONE)
		list->head = index;
	else
		cache->stripes[list->tail].next = index;
	list->tail = index;
}

static void stripe_list_remove_stripe(struct stripe_cache *cache, struct stripe_list *list,
				      const struct stripe *stripe)
{
	if (stripe->prev == STRIPE_NONE)
		list->head = stripe->next;
	else
		cache->stripes[stripe->prev].next = stripe->next;
	if (stripe->next == STRIPE_NONE)
		list->tail = stripe->prev;
	else
		cache->stripes[stripe->next].prev = stripe->prev;
}

/* Rows by number */

static u32 *stripe_get_hash_bucket(struct stripe_cache *cache, u32 row)
{
	return &cache->heads[aftl_hash64(row) % cache->count];
}

static void stripe_hash_add(struct stripe_cache *cache, struct stripe *stripe)
{
	u32 *head = stripe_get_hash_bucket(cache, stripe->row);

	stripe->hash_next = *head;
	*head = stripe_index_in_cache(cache, stripe);
}

void stripe_cache_init(struct stripe_cache *cache, u32 count)
{
	*cache = (struct stripe_cache){
		.stripes = memory_alloc_zeroed(count, sizeof(*cache->stripes)),
		.count = count,
		.heads = memory_alloc_zeroed(count, sizeof(*cache->heads)),
		.clean = { STRIPE_NONE, STRIPE_NONE },
		.dirty = { STRIPE_NONE, STRIPE_NONE },
	};
	for (u32 i = 0; i < count; i++) {
		cache->heads[i] = STRIPE_NONE;
		cache->stripes[i].row = STRIPE_NONE;
		stripe_list_append_stripe(cache, &cache->clean, &cache->stripes[i]);
	}
}

void stripe_cache_release(struct stripe_cache *cache)
{
	free(cache->stripes);
	free(cache->heads);
}

struct stripe *stripe_find(struct stripe_cache *cache, u32 row)
{
	u32 index = *stripe_get_hash_bucket(cache, row);

	while (index != STRIPE_NONE && cache->stripes[index].row != row)
		index = cache->stripes[index].hash_next;
	return index == STRIPE_NONE ? NULL : &cache->stripes[index];
}

struct stripe *stripe_get(struct stripe_cache *cache, u32 row)
{
	struct stripe *stripe = stripe_find(cache, row);

	if (stripe)
		return stripe;
	if (cache->clean.head == STRIPE_NONE)
		return NULL;
	stripe = &cache->stripes[cache->clean.head];
	if (stripe->row != STRIPE_NONE) {
		u32 *link = stripe_get_hash_bucket(cache, stripe->row);

		while (*link != stripe_index_in_cache(cache, stripe))
			link = &cache->stripes[*link].hash_next;
		*link = stripe->hash_next;
	}
	stripe->row = row;
	stripe->known = 0;
	stripe->approx = 0;
	stripe_hash_add(cache, stripe);
	return stripe;
}

/* States */

void stripe_mark_unit_dirty(struct stripe_cache *cache, struct stripe *stripe, u32 cell,
			    bool approx, u64 now_ns)
{
	if (!stripe->dirty && !stripe->busy) {
		stripe_list_remove_stripe(cache, &cache->clean, stripe);
		stripe_list_append_stripe(cache, &cache->dirty, stripe);
		stripe->since_ns = now_ns;
	}
	stripe->dirty |= 1U << cell;
	stripe->approx &= ~(1U << cell);
	stripe->approx |= (u32)approx << cell;
}

void stripe_begin_write(struct stripe_cache *cache, const struct stripe_layout *layout,
			struct stripe *stripe)
{
	stripe_list_remove_stripe(cache, &cache->dirty, stripe);
	stripe->plan = stripe_make_plan(layout, stripe->dirty, stripe->known);
	stripe->flying = stripe->dirty;
	stripe->dirty = 0;
	stripe->busy = true;
}

void stripe_end_write(struct stripe_cache *cache, struct stripe *stripe, u64 now_ns)
{
	stripe->known |= stripe->plan.read | stripe->plan.write;
	stripe->flying = 0;
	stripe->busy = false;
	stripe->since_ns = now_ns;
	stripe_list_append_stripe(cache, stripe->dirty ? &cache->dirty : &cache->clean, stripe);
}
