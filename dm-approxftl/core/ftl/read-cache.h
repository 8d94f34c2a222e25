/* SPDX-License-Identifier: GPL-2.0-only */
/* Controller read cache. */
#ifndef AFTL_READ_CACHE_H
#define AFTL_READ_CACHE_H

#include "core/base/types.h"

struct aftl;
struct aftl_error;

/* The data of the entry have arrived in the controller. */
#define AFTL_READ_CACHE_READY 0x01
/* The page was read ahead, and the host has not requested it yet. */
#define AFTL_READ_CACHE_PREFETCHED 0x02

/**
 * struct aftl_read_cache_entry - a logical page in the read cache, with its bit errors
 * @lpn: logical page
 * @ppn: physical page that was read
 * @erases: erase count of the block at that read
 * @flips: number of bit errors in the data
 * @generation: write generation of the data
 * @again: number of reprograms of the page before that read
 * @flags: AFTL_READ_CACHE_*
 * @older: next entry towards the LRU end
 * @younger: next entry towards the MRU end
 * @next: next entry in the hash chain
 */
struct aftl_read_cache_entry {
	aftl_lpn_t lpn;
	aftl_ppn_t ppn;
	u32 erases;
	u32 flips;
	u16 generation;
	u8 again;
	u8 flags;
	u32 older;
	u32 younger;
	u32 next;
};

/**
 * struct aftl_read_cache - controller read cache; all 0 without one
 * @all: entries, of which the first @used are in use
 * @chains: heads of the hash chains
 * @mask: mask of the hash
 * @count: number of entries
 * @oldest: LRU end
 * @youngest: MRU end
 */
struct aftl_read_cache {
	struct aftl_read_cache_entry *all;
	u32 *chains;
	u32 mask;
	u32 count;
	u32 used;
	u32 oldest;
	u32 youngest;
};

int __must_check aftl_read_cache_check_config(const struct aftl *ftl, struct aftl_error *error);
bool aftl_read_cache_alloc(struct aftl *ftl);
struct aftl_read_cache_entry *aftl_read_cache_find(const struct aftl *ftl, aftl_lpn_t lpn);
void aftl_read_cache_mark_entry_used(struct aftl *ftl, struct aftl_read_cache_entry *entry);
struct aftl_read_cache_entry *aftl_read_cache_add(struct aftl *ftl, aftl_lpn_t lpn, aftl_ppn_t ppn);
void aftl_read_cache_clear(struct aftl *ftl);

#endif
