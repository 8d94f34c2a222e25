/* SPDX-License-Identifier: GPL-2.0-only */
/* State of relocation in a LUN. */
#ifndef AFTL_RELOC_TASK_H
#define AFTL_RELOC_TASK_H

#include "core/base/geometry.h"

struct aftl_block;

/* Limit of ppns gathered for one relocation program: an almost full one may get a page more. */
#define AFTL_RELOC_PPNS_MAX (2 * AFTL_PROGRAM_UNITS_MAX)

enum aftl_reloc_kind {
	AFTL_RELOC_NONE,
	AFTL_RELOC_EMPTY,
	AFTL_RELOC_REFRESH,
	AFTL_RELOC_REPEAT,
	AFTL_RELOC_REWRITE,
	AFTL_RELOC_REBUILD,
};

/**
 * struct aftl_repeat - programs of a block whose content the policy wants programmed again
 * @block: block with these programs; NULL if the entry is unused
 * @erases: erase count of @block when it was added; the entry is void after an erase
 * @begin: first physical page of the range in the block
 * @end: end of the range, exclusive
 */
struct aftl_repeat {
	struct aftl_block *block;
	u32 erases;
	u32 begin;
	u32 end;
};

/* Blocks of a LUN with rejected programs to repeat: one more drops the oldest block's entry. */
#define AFTL_REPEAT_BLOCKS 8

/**
 * struct aftl_reloc - background task of a LUN: relocate valid pages, then erase if wanted
 * @kind: enum aftl_reloc_kind
 * @cause: enum aftl_cause that its programs are counted for
 * @pass: number of the pass over the block, an argument of the policy's relocate()
 * @erase: erase the block when it holds no valid page
 * @begun: a page has been gathered in this pass; @class and @stream are those of that page
 * @from: source block
 * @first: ppn of the first physical page of @from
 * @begin: first physical page in @from that a pass covers
 * @cursor: next physical page in @from to examine
 * @prefetched: first physical page in @from that this pass has not prefetched yet
 * @end: end of the range in @from, exclusive
 * @class: class of the gathered pages
 * @stream: stream of the gathered pages
 * @count: number of gathered pages
 * @slots: ppns that were read and not yet programmed elsewhere
 */
struct aftl_reloc {
	u8 kind;
	u8 cause;
	u8 pass;
	bool erase;
	bool begun;
	struct aftl_block *from;
	u32 first;
	u32 begin;
	u32 cursor;
	u32 prefetched;
	u32 end;
	u32 class;
	u32 stream;
	u32 count;
	aftl_ppn_t slots[AFTL_RELOC_PPNS_MAX];
};

/**
 * struct aftl_gc_pace - budget of paced GC in a LUN
 * @rate: pages to relocate for each page that host writes program, in 1 / 2^20
 * @credit: pages that paced GC may relocate now, in 1 / 2^20; negative if it has relocated
 *	more
 */
struct aftl_gc_pace {
	u64 rate;
	s64 credit;
};

/**
 * struct aftl_gc_margin - free blocks that background GC of a LUN keeps beyond those it must keep
 * @blocks: their number, at least one
 * @unused: fewest of them that were still free at an erase of the current period
 * @erases: erases in the current period
 * @emergency: emergency GC has run since the last erase
 */
struct aftl_gc_margin {
	u32 blocks;
	u32 unused;
	u32 erases;
	bool emergency;
};

/**
 * struct aftl_wear - erase counts of a LUN, for wear levelling
 * @due: erases since the last wear-levelling move began; a search without result lowers it
 * @most: highest erase count of a block that is not bad
 * @least: lower bound of the erase counts of these blocks
 */
struct aftl_wear {
	u32 due;
	u32 most;
	u32 least;
};

/**
 * struct aftl_refresh - daily search for old data
 * @next_day_ns: device time of the next search
 * @lun: number of the LUN that is being searched
 */
struct aftl_refresh {
	u64 next_day_ns;
	u32 lun;
};

#endif
