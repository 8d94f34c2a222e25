// SPDX-License-Identifier: GPL-2.0-only
/*
 * Controller read cache with LRU replacement, for host reads and read-ahead. An entry is keyed by
 * logical page. It is valid while the L2P table maps that page to the physical page it was read
 * from, unless this was erased or reprogrammed since; so writes need not invalidate entries. An
 * entry keeps the bit errors of its read: no further errors develop in the cache.
 */
#include "core/base/random.h"
#include "core/ftl/controller.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lost-data.h"
#include "core/ftl/memory.h"
#include "core/ftl/read-cache.h"

/* Check that read-ahead fits into the read cache. */
int aftl_read_cache_check_config(const struct aftl *ftl, struct aftl_error *error)
{
	const struct aftl_config *config = &ftl->config;

	if (config->read_ahead <= config->read_cache / 2)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "read_ahead: %llu bytes are more than half of the read cache; set read_cache at least %llu, or read_ahead 0",
			 (unsigned long long)config->read_ahead,
			 2 * (unsigned long long)config->read_ahead);
}

bool aftl_read_cache_alloc(struct aftl *ftl)
{
	struct aftl_read_cache *cache = &ftl->read_cache;

	cache->count = (u32)min(div64_u64(ftl->config.read_cache, ftl->geo.unit_bytes),
				(u64)ftl->geo.units);
	if (!cache->count)
		return true;
	cache->mask = (1U << fls64(cache->count - 1)) - 1;
	cache->all = aftl_memory_alloc(ftl, cache->count, sizeof(*cache->all));
	cache->chains = aftl_memory_alloc(ftl, (size_t)cache->mask + 1, sizeof(*cache->chains));
	if (!cache->all || !cache->chains)
		return false;
	aftl_read_cache_clear(ftl);
	return true;
}

static u32 *read_cache_hash_chain(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return &ftl->read_cache.chains[aftl_hash64(from_lpn(lpn)) & ftl->read_cache.mask];
}

/* Index of the entry of @lpn, or AFTL_NIL. */
static u32 read_cache_find_index(const struct aftl *ftl, aftl_lpn_t lpn)
{
	u32 number = *read_cache_hash_chain(ftl, lpn);

	while (number != AFTL_NIL && ftl->read_cache.all[number].lpn != lpn)
		number = ftl->read_cache.all[number].next;
	return number;
}

static u16 get_ppn_page_attr(const struct aftl *ftl, aftl_ppn_t ppn)
{
	return aftl_ppn_attr(&ftl->media, ppn);
}

/* Return true if @entry holds what a read of flash would return. */
static bool read_cache_entry_is_current(const struct aftl *ftl,
					const struct aftl_read_cache_entry *entry)
{
	aftl_ppn_t ppn;

	return aftl_l2p_lookup(ftl, entry->lpn, &ppn) && ppn == entry->ppn &&
	       !aftl_ppn_is_lost(ftl, ppn) && !aftl_ppn_is_in_dead_lun(ftl, ppn) &&
	       aftl_block_of_ppn(&ftl->media, ppn)->erases == entry->erases &&
	       aftl_get_reprogram_count_of_page(get_ppn_page_attr(ftl, ppn)) == entry->again;
}

/* Find a valid entry of @lpn, or return NULL. */
struct aftl_read_cache_entry *aftl_read_cache_find(const struct aftl *ftl, aftl_lpn_t lpn)
{
	u32 number = ftl->read_cache.count ? read_cache_find_index(ftl, lpn) : AFTL_NIL;

	if (number == AFTL_NIL || !read_cache_entry_is_current(ftl, &ftl->read_cache.all[number]))
		return NULL;
	return &ftl->read_cache.all[number];
}

static u32 *read_cache_get_younger_link(struct aftl_read_cache *cache, u32 number)
{
	return number == AFTL_NIL ? &cache->oldest : &cache->all[number].younger;
}

static u32 *read_cache_get_older_link(struct aftl_read_cache *cache, u32 number)
{
	return number == AFTL_NIL ? &cache->youngest : &cache->all[number].older;
}

static void read_cache_remove_from_lru(struct aftl_read_cache *cache,
				       const struct aftl_read_cache_entry *entry)
{
	*read_cache_get_younger_link(cache, entry->older) = entry->younger;
	*read_cache_get_older_link(cache, entry->younger) = entry->older;
}

static void read_cache_add_to_lru(struct aftl_read_cache *cache,
				  struct aftl_read_cache_entry *entry)
{
	u32 number = (u32)(entry - cache->all);

	entry->older = cache->youngest;
	entry->younger = AFTL_NIL;
	*read_cache_get_younger_link(cache, cache->youngest) = number;
	cache->youngest = number;
}

/* Make an entry the most recently used one. */
void aftl_read_cache_mark_entry_used(struct aftl *ftl, struct aftl_read_cache_entry *entry)
{
	read_cache_remove_from_lru(&ftl->read_cache, entry);
	read_cache_add_to_lru(&ftl->read_cache, entry);
}

static void count_unused_prefetched_entry(struct aftl *ftl,
					  const struct aftl_read_cache_entry *entry)
{
	if (entry->flags & AFTL_READ_CACHE_PREFETCHED)
		ftl->stats.counters.read_ahead_vain_units++;
}

static void read_cache_remove_from_hash(struct aftl *ftl, const struct aftl_read_cache_entry *entry)
{
	u32 number = (u32)(entry - ftl->read_cache.all);
	u32 *link = read_cache_hash_chain(ftl, entry->lpn);

	while (*link != number)
		link = &ftl->read_cache.all[*link].next;
	*link = entry->next;
}

/* Return an unused entry, or evict the least recently used one. */
static struct aftl_read_cache_entry *read_cache_take_entry(struct aftl *ftl)
{
	struct aftl_read_cache *cache = &ftl->read_cache;
	struct aftl_read_cache_entry *entry;

	if (cache->used < cache->count)
		return &cache->all[cache->used++];
	entry = &cache->all[cache->oldest];
	read_cache_remove_from_lru(cache, entry);
	read_cache_remove_from_hash(ftl, entry);
	count_unused_prefetched_entry(ftl, entry);
	return entry;
}

static struct aftl_read_cache_entry *read_cache_entry_for(struct aftl *ftl, aftl_lpn_t lpn)
{
	u32 number = read_cache_find_index(ftl, lpn);
	struct aftl_read_cache_entry *entry;

	if (number != AFTL_NIL) {
		entry = &ftl->read_cache.all[number];
		count_unused_prefetched_entry(ftl, entry);
		aftl_read_cache_mark_entry_used(ftl, entry);
		return entry;
	}
	entry = read_cache_take_entry(ftl);
	entry->lpn = lpn;
	entry->next = *read_cache_hash_chain(ftl, lpn);
	*read_cache_hash_chain(ftl, lpn) = (u32)(entry - ftl->read_cache.all);
	read_cache_add_to_lru(&ftl->read_cache, entry);
	return entry;
}

/*
 * Add an entry for @lpn, which is being read from @ppn. The caller stores the bit errors in the
 * returned entry and sets AFTL_READ_CACHE_READY.
 */
struct aftl_read_cache_entry *aftl_read_cache_add(struct aftl *ftl, aftl_lpn_t lpn, aftl_ppn_t ppn)
{
	struct aftl_read_cache_entry *entry = read_cache_entry_for(ftl, lpn);

	entry->ppn = ppn;
	entry->erases = aftl_block_of_ppn(&ftl->media, ppn)->erases;
	entry->again = aftl_get_reprogram_count_of_page(get_ppn_page_attr(ftl, ppn));
	entry->flags = 0;
	return entry;
}

/* Drop all entries of the read cache, as a power cycle does. */
void aftl_read_cache_clear(struct aftl *ftl)
{
	struct aftl_read_cache *cache = &ftl->read_cache;
	u32 i;

	for (i = 0; i < cache->used; i++)
		count_unused_prefetched_entry(ftl, &cache->all[i]);
	for (i = 0; cache->count && i <= cache->mask; i++)
		cache->chains[i] = AFTL_NIL;
	cache->used = 0;
	cache->oldest = AFTL_NIL;
	cache->youngest = AFTL_NIL;
	for (i = 0; i < AFTL_READ_STREAMS; i++)
		ftl->read_ahead.streams[i].turn = 0;
}
