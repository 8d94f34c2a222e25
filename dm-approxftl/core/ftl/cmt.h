/* SPDX-License-Identifier: GPL-2.0-only */
/* State of the cached mapping table (CMT) and of the translation pages. */
#ifndef AFTL_CMT_H
#define AFTL_CMT_H

#include "core/base/types.h"

struct aftl_request;

/**
 * struct aftl_eviction_queue - dirty translation pages that a LUN has to program
 * @head: number of the first translation page
 * @tail: number of the last translation page
 * @count: length of the queue
 * @merging: number of the translation page that is being read for its read-modify-write
 */
struct aftl_eviction_queue {
	u32 head;
	u32 tail;
	u32 count;
	u32 merging;
};

/*
 * The CMT holds the translation page, or some changed entries of it. The page is in the LRU list
 * unless it is being evicted.
 */
#define AFTL_TP_CACHED 0x01
/* The translation page has changed since it was last programmed. */
#define AFTL_TP_DIRTY 0x02
/* The CMT has only the changed entries of the translation page; flash has the other entries. */
#define AFTL_TP_PARTIAL 0x04
/* A read of the translation page from flash is in progress. */
#define AFTL_TP_LOADING 0x08
/*
 * The translation page is in the eviction queue of its LUN: it is dropped from the CMT after its
 * program, unless it is used before.
 */
#define AFTL_TP_EVICTING 0x10
/* The page was used while it was being evicted, so its program leaves it in the CMT. */
#define AFTL_TP_REUSED 0x20

/**
 * struct aftl_trans_page - translation page: the L2P entries of consecutive logical pages
 * @waiting: first of the reads that wait for the translation page to be loaded
 * @last_waiting: last of these reads
 * @older: next translation page towards the LRU end
 * @younger: next translation page towards the MRU end; in an eviction queue, the next in the queue
 * @flags: AFTL_TP_*
 */
struct aftl_trans_page {
	struct aftl_request *waiting;
	struct aftl_request *last_waiting;
	u32 older;
	u32 younger;
	u8 flags;
};

/**
 * struct aftl_cmt - cached mapping table; all 0 if the whole L2P table is in memory
 * @all: the translation pages of the device, by number
 * @capacity: translation pages that stay in memory
 * @max_evicting: host writes wait while more translation pages than this are being evicted
 * @cached: translation pages in memory, including those being evicted
 * @evicting: translation pages in eviction queues
 * @oldest: LRU end of the list of cached translation pages
 * @youngest: MRU end of that list
 */
struct aftl_cmt {
	struct aftl_trans_page *all;
	u32 capacity;
	u32 max_evicting;
	u32 cached;
	u32 evicting;
	u32 oldest;
	u32 youngest;
};

#endif
