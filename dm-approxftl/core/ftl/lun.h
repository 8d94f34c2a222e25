/* SPDX-License-Identifier: GPL-2.0-only */
/* State of a LUN. */
#ifndef AFTL_LUN_H
#define AFTL_LUN_H

#include "core/ftl/cmt.h"
#include "core/ftl/lun-work.h"
#include "core/ftl/reconstruct.h"
#include "core/ftl/reloc-task.h"

struct aftl_foggy_block;

/**
 * struct aftl_lun - one independently operating unit of the flash array
 * @index: number of the LUN, below geo.luns; also its event source
 * @pending_write_lanes: bit mask of the write queues that are not empty, see AFTL_LANE_BITS
 * @lanes: number of write queues
 * @bus_ns: time at which the channel is free; shared by the LUNs of a channel
 * @work: operation in progress
 * @reads: host reads
 * @repeat_blocks: number of valid entries in @repeats
 * @free_blocks: number of erased blocks
 * @valid: number of valid physical pages
 * @in_flight: logical pages allocated to this LUN and not programmed, including those that wait for
 *	their fine pass
 * @max_valid: largest number of valid pages that leaves GC enough space
 * @slc_blocks: SLC cache blocks in use, open or closed
 * @slc_waiting: there may be open SLC cache blocks besides @slc_open, with superblocks
 * @programs_since_read: programs since the last read, for the read/write fairness bound
 * @read_turn: the last operation went before reads for an expired write: a read is next
 * @idle_exhausted: the policy had no idle-time task at the last offer
 * @runnable: the LUN is in the list of LUNs to be scheduled
 * @out_of_blocks: a relocation found no free page; collect only blocks without valid pages until a
 *	block is erased
 * @below_reserve: loaded with fewer free blocks than the policy needs: relocations use @fallback
 * @refresh_due: the refresh scan found a block with old data that has not been taken yet
 * @slc_block_empty: a closed SLC cache block may hold no valid page
 * @next_runnable: next LUN in the list of runnable LUNs
 * @stripe_requests: bit mask of the members of the die group that reconstruct from a page here
 * @busy_ns: total time at work
 * @sensed_ns: time at which the last read's transfer could begin: its page was sensed
 * @data_out_end_ns: end of that transfer
 * @suspended: suspended operation; kind AFTL_WORK_NONE if there is none
 * @suspended_ns: array time that the suspended operation still needs
 * @writes: host writes, one queue for each lane (data class and stream)
 * @outcome: result of the last program, which may be in progress
 * @reloc: background task
 * @reconstruct: reconstruction of a page of this LUN
 * @prefetches: read-ahead commands, executed when no other read waits
 * @evictions: dirty translation pages to program
 * @idle_since_ns: start of the current idle period
 * @reconstructing_for: member of the die group that the current stripe read serves, or AFTL_NIL
 * @parity_head: first superblock of the parity queue
 * @parity_tail: last superblock of the parity queue
 * @parity_due: length of the parity queue
 * @erased: cost of the erase in progress
 * @repeats: programs to repeat for the policy, oldest block first
 * @good_blocks: number of blocks that are not bad
 * @free_head: free block that was erased first
 * @free_tail: free block that was erased last
 * @victims: heads of the victim lists: closed blocks by number of valid pages
 * @min_valid: lower bound of the valid pages of any closed block
 * @fallback: open block of the core for data that the policy cannot place
 * @slc_open: open SLC cache block
 * @handle_blocks: open block of each placement handle except the default one; NULL without handles
 * @zone_slc_blocks: open SLC cache block of each active zone, with the same index; NULL without
 *	zones or without an SLC cache
 * @foggy: blocks with word lines between their passes; an array of foggy_blocks entries
 * @fine_pending_writes: word lines with host writes that wait for their fine pass
 * @fine_pending_moves: word lines with relocated data that wait for their fine pass
 * @forced_gc: blocks that GC may still collect though the free blocks are above the watermark
 * @failing_blocks: number of blocks that wait to be retired
 * @refresh_block: next block of the refresh scan; blocks_per_lun if the scan is complete
 * @disturbed: closed block that reached the read-disturb limit, or NULL
 * @wear: erase counts
 * @pace: budget of paced GC
 * @margin: free blocks that background GC keeps, with gc_idle_limit adaptive
 */
struct aftl_lun {
	u32 index;
	u64 pending_write_lanes;
	u32 lanes;
	u64 *bus_ns;
	struct aftl_work work;
	struct aftl_queue reads;
	u32 repeat_blocks;
	u32 free_blocks;
	u32 valid;
	u32 in_flight;
	u32 max_valid;
	u32 slc_blocks;
	bool slc_waiting;
	u32 programs_since_read;
	bool read_turn;
	bool idle_exhausted;
	bool runnable;
	bool out_of_blocks;
	bool below_reserve;
	bool refresh_due;
	bool slc_block_empty;
	struct aftl_lun *next_runnable;
	u64 stripe_requests;
	u64 busy_ns;
	u64 sensed_ns;
	u64 data_out_end_ns;
	struct aftl_work suspended;
	u64 suspended_ns;
	struct aftl_queue *writes;
	struct aftl_program_result outcome;
	struct aftl_reloc reloc;
	struct aftl_reconstruct reconstruct;
	struct aftl_queue prefetches;
	struct aftl_eviction_queue evictions;
	u64 idle_since_ns;
	u32 reconstructing_for;
	u32 parity_head;
	u32 parity_tail;
	u32 parity_due;
	struct aftl_erase_result erased;
	struct aftl_repeat repeats[AFTL_REPEAT_BLOCKS];
	u32 good_blocks;
	u32 free_head;
	u32 free_tail;
	u32 *victims;
	u32 min_valid;
	struct aftl_block *fallback;
	struct aftl_block *slc_open;
	struct aftl_block **handle_blocks;
	struct aftl_block **zone_slc_blocks;
	struct aftl_foggy_block *foggy;
	u32 fine_pending_writes;
	u32 fine_pending_moves;
	u32 forced_gc;
	u32 failing_blocks;
	u32 refresh_block;
	struct aftl_block *disturbed;
	struct aftl_wear wear;
	struct aftl_gc_pace pace;
	struct aftl_gc_margin margin;
};

static_assert(!offsetof(struct aftl_lun, index), "for aftl_lun_index()");

/* Return true if the die has failed; the data in it are lost. */
static inline bool aftl_lun_is_dead(const struct aftl_lun *lun)
{
	return lun->work.phase == AFTL_PHASE_DEAD;
}

#endif
