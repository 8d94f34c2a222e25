/* SPDX-License-Identifier: GPL-2.0-only */
/* The host writes, programs and relocations that a policy of the NAND layer decides about. */
#ifndef AFTL_PLACEMENT_H
#define AFTL_PLACEMENT_H

#include "core/nand/program-command.h"

/**
 * struct aftl_host_write - a host write request on arrival
 * @lpn: first logical page of the request
 * @units: logical pages of the request
 * @class: enum aftl_class
 * @level: quality level; 0: precise
 * @hint: hints of the host
 */
struct aftl_host_write {
	aftl_lpn_t lpn;
	u32 units;
	u32 class;
	u32 level;
	struct aftl_hint hint;
};

/**
 * struct aftl_program_request - a program that is about to be placed
 * @lpn: first logical page
 * @units: logical pages ready to be programmed, at most one program's worth
 * @class: enum aftl_class of all of them
 * @stream: result of stream() or relocate() for all of them
 * @cause: why they are programmed, enum aftl_cause
 * @from: source block of relocated data, NULL for host writes
 * @buffer_use: utilisation of the write buffer in 1/10000, 0 without a buffer
 * @hint: hints of the first logical page, and of the others if stream() separates hints. Flash does
 *	not store hints, so that relocated data has none
 */
struct aftl_program_request {
	aftl_lpn_t lpn;
	u32 units;
	u32 class;
	u32 stream;
	u32 cause;
	const struct aftl_block *from;
	u32 buffer_use;
	struct aftl_hint hint;
};

/**
 * struct aftl_piggyback - a page whose valid data is relocated along with a host write
 * @from: its block, in the same LUN; not a block of a placement handle, zone or translation page
 * @page: its page in @from
 */
struct aftl_piggyback {
	struct aftl_block *from;
	u32 page;
};

/**
 * struct aftl_placement - place and mode of a program
 * @block: open block of the LUN; not a block of a placement handle, zone or translation page
 * @page: first page
 * @pages: pages to program: one program step of the block, or fewer in a super layer or a switched
 *	word line
 * @mode: enum aftl_mode
 * @ispp: ISPP parameters relative to the default
 * @monitor: report errors and verifies to programmed() even with default ISPP parameters
 * @note: free for the policy; programmed() gets it back
 * @piggyback: host writes: pages to relocate with the same program, ahead of the host data. The
 *	array belongs to the policy and is read before the next method is called
 * @piggybacked: number of entries, fewer than @pages; invalid data in them is skipped
 */
struct aftl_placement {
	struct aftl_block *block;
	u32 page;
	u32 pages;
	u32 mode;
	struct aftl_ispp ispp;
	bool monitor;
	u16 note;
	const struct aftl_piggyback *piggyback;
	u32 piggybacked;
};

/**
 * struct aftl_relocation - valid data that the core is about to relocate
 * @from: source block
 * @page: its page in @from
 * @class: stored data class
 * @mode: program mode of the page
 * @cause: GC, WEAR, REFRESH, RETIRE or, for an idle task, REWRITE
 * @bad: the page was misprogrammed: it used margins that its word line did not have
 * @pass: 0 .. copy_passes - 1
 */
struct aftl_relocation {
	const struct aftl_block *from;
	u32 page;
	u32 class;
	u32 mode;
	u32 cause;
	bool bad;
	u32 pass;
};

#endif
