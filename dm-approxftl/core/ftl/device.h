/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Structures and functions that the modules of the core share. Private to the core: hosts include
 * ftl.h, policies include policy.h.
 *
 * The host serialises all calls for one device, so nothing here takes a lock. Only
 * aftl_host_pause() and the host's callbacks may sleep.
 */
#ifndef AFTL_DEVICE_H
#define AFTL_DEVICE_H

#include "core/base/events.h"
#include "core/nand/read-timing.h"
#include "core/ftl/ftl.h"
#include "core/policy/lun-rules.h"

/* Invalid command, block or LUN index; the end of a list linked by indices. */
#define AFTL_NIL U32_MAX

/* The program of this write has begun. */
#define AFTL_COMMAND_PROGRAMMING 0x01
/*
 * A newer write of the same logical page was programmed first, or it was discarded: if this one is
 * programmed, it is not mapped.
 */
#define AFTL_COMMAND_SUPERSEDED 0x04
/*
 * With a power-loss protected buffer: the write is recorded with the page that it is programmed to.
 */
#define AFTL_COMMAND_STORED 0x08

/**
 * struct aftl_command - one page read, or the write of one logical page
 * @seq: order of arrival at the controller
 * @queued_ns: time of that arrival
 * @request: host request to complete; NULL after a buffered write has been acknowledged
 * @lpn: first logical page
 * @units: reads: number of consecutive logical pages in the same physical page
 * @next: next command in a queue, a program group or the free list
 * @prev: writes: previous command in the queue of the LUN
 * @lun: writes: LUN in whose queue the command is; AFTL_NIL if it is in none
 * @hash_next: writes: next command in the hash chain of pending writes
 * @class: writes: enum aftl_class
 * @level: writes: quality level of the data
 * @stream: writes: write stream that the policy chose
 * @epoch: writes: flush epoch of arrival; a flush waits for all earlier epochs
 * @flags: AFTL_COMMAND_*
 * @sensed: reads: logical pages that a multi-plane read has sensed and not transferred yet
 * @sensed_page: reads: their physical page, counted through the device
 * @hint: writes: placement id, lifetime and temperature from the host
 */
struct aftl_command {
	u64 seq;
	u64 queued_ns;
	struct aftl_request *request;
	aftl_lpn_t lpn;
	u32 units;
	u32 next;
	u32 prev;
	u32 lun;
	u32 hash_next;
	u8 class;
	u8 level;
	u8 stream;
	u8 epoch;
	u8 flags;
	u8 sensed;
	u32 sensed_page;
	struct aftl_hint hint;
};

/*
 * FIFO of commands, linked by index. @waited counts the commands with a host request that cannot
 * complete before they are programmed.
 */
struct aftl_queue {
	u32 head;
	u32 tail;
	u32 count;
	u32 waited;
};

enum aftl_work_kind {
	AFTL_WORK_NONE,
	AFTL_WORK_READ,
	AFTL_WORK_PROGRAM,
	AFTL_WORK_RELOC_READ,
	AFTL_WORK_RELOC_PROGRAM,
	AFTL_WORK_RELOC_COPY,
	AFTL_WORK_ERASE,
	/* Translation pages: load for a waiting read, read for a read-modify-write, program. */
	AFTL_WORK_TP_LOAD,
	AFTL_WORK_TP_MERGE,
	AFTL_WORK_TP_PROGRAM,
	/* RAIN: read a page for the reconstruction in another LUN, program parity. */
	AFTL_WORK_STRIPE_READ,
	AFTL_WORK_PARITY_PROGRAM,
};

/* Current phase of a LUN's array. The LUN's event fires at the end of the phase. */
enum aftl_phase {
	AFTL_PHASE_IDLE,
	AFTL_PHASE_SENSE,
	AFTL_PHASE_DATA_OUT,
	AFTL_PHASE_PROGRAM,
	AFTL_PHASE_ERASE,
	/* An operation has been suspended; the die accepts no command yet. */
	AFTL_PHASE_SUSPEND,
	AFTL_PHASE_DEAD,
};

/**
 * struct aftl_work - operation that a LUN executes
 * @kind: enum aftl_work_kind
 * @phase: enum aftl_phase
 * @suspends: number of times it has been suspended
 * @yields: erase: host programs that were executed while it was suspended
 * @commands: list of host commands that it serves
 * @units: read: logical pages to transfer
 * @device_page: read: page number in the device
 * @planes: read: further commands of a multi-plane read whose data are not transferred yet
 * @service_ns: array and channel time spent so far
 * @array_ns: start of the array phase; the operation can be suspended from then on
 * @end_ns: end of the operation; an earlier event of this LUN suspends it
 * @placement: program: pages that are programmed
 */
struct aftl_work {
	u8 kind;
	u8 phase;
	u32 suspends;
	u32 yields;
	u32 commands;
	u32 units;
	u32 device_page;
	u32 planes;
	u64 service_ns;
	u64 array_ns;
	u64 end_ns;
	struct aftl_placement placement;
};

/* Most physical pages gathered for one relocation program: less than one program plus one page. */
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
 * @erases: erase count of @block at that time; the entry is void after an erase
 * @begin: first physical page of the range in the block
 * @end: end of the range, exclusive
 */
struct aftl_repeat {
	struct aftl_block *block;
	u32 erases;
	u32 begin;
	u32 end;
};

/* Blocks of a LUN that may wait for a repeated program. Repeats run before any other program. */
#define AFTL_REPEAT_BLOCKS 8

/**
 * struct aftl_reloc - background task of a LUN: relocate valid pages, then erase if wanted
 * @kind: enum aftl_reloc_kind
 * @cause: enum aftl_cause that its programs are counted for
 * @pass: number of the pass over the block, an argument of the policy's relocate()
 * @erase: erase the block when it holds no valid page
 * @begun: a page has been gathered in this pass; @class and @stream are those of that page
 * @from: source block
 * @begin: first physical page in @from that a pass covers
 * @cursor: next physical page in @from to examine
 * @end: end of the range in @from, exclusive
 * @class: class of the gathered pages
 * @stream: stream of the gathered pages
 * @count: number of gathered pages
 * @slots: read and not yet programmed elsewhere
 */
struct aftl_reloc {
	u8 kind;
	u8 cause;
	u8 pass;
	bool erase;
	bool begun;
	struct aftl_block *from;
	u32 begin;
	u32 cursor;
	u32 end;
	u32 class;
	u32 stream;
	u32 count;
	aftl_ppn_t slots[AFTL_RELOC_PPNS_MAX];
};

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

/* Purpose of a reconstruction from a stripe. */
enum aftl_reconstruct_kind {
	AFTL_RECONSTRUCT_NONE,
	AFTL_RECONSTRUCT_READ,
	AFTL_RECONSTRUCT_RELOC,
};

/**
 * struct aftl_reconstruct - reconstruction of a page of this LUN from the rest of its stripe
 * @kind: enum aftl_reconstruct_kind; a LUN reconstructs one page at a time
 * @wanted: ECC fails for the page that the array is reading: reconstruct it afterwards
 * @block: superblock number
 * @page: page number in each block of the superblock
 * @left: bit mask of the members of the die group whose page has not been read yet
 * @commands: AFTL_RECONSTRUCT_READ: host command that waits for it
 * @units: AFTL_RECONSTRUCT_READ: logical pages to return
 * @service_ns: AFTL_RECONSTRUCT_READ: array and channel time so far
 */
struct aftl_reconstruct {
	u8 kind;
	bool wanted;
	u32 block;
	u32 page;
	u64 left;
	u32 commands;
	u32 units;
	u64 service_ns;
};

/**
 * struct aftl_superblock_state - state of a superblock beyond that of its blocks
 * @next: next superblock in the parity queue of the same LUN
 * @parity_queued: the superblock is in that queue
 * @rebuilt: members whose pages have been rebuilt as far as possible, one bit each
 */
struct aftl_superblock_state {
	u32 next;
	bool parity_queued;
	u64 rebuilt;
};

/**
 * struct aftl_die_group - LUNs whose blocks of the same number form a superblock
 * @victim: number of the superblock that GC empties; AFTL_NIL if there is none
 * @cause: enum aftl_cause of that GC
 * @urgent: a LUN cannot write before that GC has finished
 * @erased: bit mask of the members that have erased their block
 * @retry_seq: no victim is worth collecting before the device has accepted so many writes
 * @collected: number of superblocks erased
 */
struct aftl_die_group {
	u32 victim;
	u8 cause;
	bool urgent;
	u64 erased;
	u64 retry_seq;
	u32 collected;
};

/* Next operation that relocation or the CMT requests from the array. */
enum aftl_step {
	AFTL_STEP_NONE,
	AFTL_STEP_COPY,
	AFTL_STEP_READ,
	AFTL_STEP_PROGRAM,
	AFTL_STEP_FINISH,
	AFTL_STEP_ERASE,
};

/**
 * struct aftl_lun - one independently operating unit of the flash array
 * @index: number of the LUN, below geo.luns; also its event source
 * @pending_write_lanes: bit mask of the write queues that are not empty
 * @bus_ns: time at which the channel is free; shared by the LUNs of a channel
 * @work: operation in progress
 * @reads: host reads
 * @repeat_blocks: number of valid entries in @repeats
 * @free_blocks: number of erased blocks
 * @valid: number of valid physical pages
 * @in_flight: logical pages allocated to this LUN and not programmed, including those that wait for
 *	their fine pass
 * @max_valid: most valid pages that leave GC enough space to work
 * @slc_blocks: SLC cache blocks in use, open or closed
 * @slc_waiting: there may be open SLC cache blocks besides @slc_open, with superblocks
 * @programs_since_read: programs since the last read, for the read/write fairness bound
 * @read_turn: the last operation went before reads for an expired write: a read is next
 * @idle_exhausted: the policy had no idle-time task at the last offer
 * @runnable: the LUN is in the list of LUNs to be scheduled
 * @out_of_blocks: a relocation found no free page; collect only blocks without valid pages until a
 *	block is erased
 * @below_reserve: fewer free blocks than the policy needs, and not by its own doing (loaded from a
 *	snapshot): relocations use @fallback until there are enough
 * @refresh_due: the refresh scan found a block with old data that has not been taken yet
 * @slc_block_empty: a closed SLC cache block may hold no valid page
 * @next_runnable: next LUN in the list of runnable LUNs
 * @stripe_requests: bit mask of the members of the die group that need a page of this LUN for a
 *	reconstruction
 * @busy_ns: total time at work
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
 * @fill_blocks: by class: block of the last preconditioning program if the next may follow it
 *	without asking the policy
 * @handle_blocks: open block of each placement handle except the default one; NULL without handles
 * @foggy: blocks with word lines between their passes; an array of foggy_blocks entries
 * @fine_pending_writes: word lines with host writes that wait for their fine pass
 * @fine_pending_moves: word lines with relocated data that wait for their fine pass
 * @forced_gc: blocks that GC may still collect though the free blocks are above the watermark
 * @failing_blocks: number of blocks that wait to be retired
 * @refresh_block: next block of the refresh scan; blocks_per_lun if the scan is complete
 * @disturbed: closed block that reached the read-disturb limit, or NULL
 * @wear_due: erases since the last move of wear levelling began, or fewer: see wear-level.c
 * @wear_most: highest erase count of a block that is not bad
 * @wear_least: lower bound of the erase counts of these blocks
 * @gc_rate: pages to relocate for each page that the host writes, in 1/256
 * @gc_credit: pages that paced GC may relocate now, in 1/256; negative if it is ahead
 */
struct aftl_lun {
	u32 index;
	u32 pending_write_lanes;
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
	struct aftl_work suspended;
	u64 suspended_ns;
	struct aftl_queue writes[AFTL_WRITE_STREAMS];
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
	struct aftl_block *fill_blocks[AFTL_CLASSES];
	struct aftl_block **handle_blocks;
	struct aftl_foggy_block *foggy;
	u32 fine_pending_writes;
	u32 fine_pending_moves;
	u32 forced_gc;
	u32 failing_blocks;
	u32 refresh_block;
	struct aftl_block *disturbed;
	u32 wear_due;
	u32 wear_most;
	u32 wear_least;
	u32 gc_rate;
	s64 gc_credit;
};

static_assert(!offsetof(struct aftl_lun, index), "for aftl_lun_index()");

/* FIFO of requests that complete a constant time (@delay_ns) after their last part. */
struct aftl_completion_queue {
	struct aftl_request *head;
	struct aftl_request *tail;
	u64 delay_ns;
};

/*
 * With a link model, reads and all other requests use different directions of the link and
 * therefore different queues. The queue for cache hits exists with a read cache only, because each
 * event source slows down the others.
 */
enum {
	AFTL_COMPLETION_READ,
	AFTL_COMPLETION_ECC_READ,
	AFTL_COMPLETION_WRITE,
	AFTL_COMPLETION_CACHE_HIT,
	AFTL_COMPLETION_QUEUES
};

#define AFTL_EPOCHS 64

/**
 * struct aftl_zone - a range of logical pages that is written sequentially
 * @written: logical pages below the write pointer
 * @coming: logical pages of the current write that have not been allocated to a LUN yet
 * @state: enum aftl_zone_state
 * @slot: slot of an active zone: index of its stream and of its open blocks; 0 if it has none
 */
struct aftl_zone {
	u32 written;
	u32 coming;
	u8 state;
	u8 slot;
};

/**
 * struct aftl_zone_reset - a zone reset in progress, a slice at a time
 * @request: the request that resets; NULL if none does
 * @zone: the zone that is being reset
 * @end: the zone after the last one
 * @cleared: logical pages at the start of @zone that are unmapped already
 */
struct aftl_zone_reset {
	struct aftl_request *request;
	u32 zone;
	u32 end;
	u32 cleared;
};

/**
 * struct aftl_zones - the zones of a device; all 0 without zones
 * @all: the zones, by number
 * @owner: zone that uses a slot; AFTL_NIL if the slot is free
 * @pending: logical pages in flight for each slot
 * @open: number of open zones
 * @active: number of open or closed zones
 * @turn: where the search for an implicitly opened zone to close starts
 * @reset: the reset in progress, which precedes everything else
 */
struct aftl_zones {
	struct aftl_zone *all;
	u32 owner[1 + AFTL_HANDLES_MAX];
	u32 pending[1 + AFTL_HANDLES_MAX];
	u32 open;
	u32 active;
	u32 turn;
	struct aftl_zone_reset reset;
};

/*
 * The translation page, or a set of changes to it, is in the CMT; in the LRU list unless it is
 * being evicted.
 */
#define AFTL_TP_CACHED 0x01
/* Changed since it was last programmed. */
#define AFTL_TP_DIRTY 0x02
/* The CMT has the changed entries only; the others are in the copy on flash. */
#define AFTL_TP_PARTIAL 0x04
/* A read of the translation page from flash is in progress. */
#define AFTL_TP_LOADING 0x08
/* In the eviction queue of its LUN: dropped from the CMT after its program, unless reused. */
#define AFTL_TP_EVICTING 0x10
/* Used during its eviction, so it stays in the CMT. */
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

/* The data have arrived in the controller. */
#define AFTL_READ_CACHE_READY 0x01
/* Read ahead, and not requested by the host yet. */
#define AFTL_READ_CACHE_PREFETCHED 0x02

/**
 * struct aftl_read_cache_entry - a logical page in the read cache, with its bit errors
 * @lpn: logical page
 * @ppn: physical page that was read
 * @erases: erase count of the block at that time
 * @flips: number of bit errors in the data
 * @generation: write generation of the data
 * @again: number of reprograms of the page at that time
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

/* Number of sequential read streams that read-ahead tracks. */
#define AFTL_READ_STREAMS 16

/**
 * struct aftl_read_stream - a sequential read stream of the host
 * @next: logical page at which the next read of the stream would start
 * @ahead: end of the range that has been read ahead or queued for it
 * @turn: time stamp of the last read, for LRU replacement; 0 if the stream is unused
 */
struct aftl_read_stream {
	u32 next;
	u32 ahead;
	u64 turn;
};

/**
 * struct aftl_host_queues - requests that wait for resources, one list for each host queue
 * @head: oldest request of each queue
 * @tail: youngest request of each queue
 * @count: number of requests in all queues
 * @queue: queue that is being served
 * @left: requests that this queue may still issue before the next queue is served
 */
struct aftl_host_queues {
	struct aftl_request *head[AFTL_QUEUES_MAX];
	struct aftl_request *tail[AFTL_QUEUES_MAX];
	u32 count;
	u32 queue;
	u32 left;
};

/**
 * struct aftl_lane_lun - LUN that the next writes of a lane go to
 * @lun: index of the LUN
 * @left: logical pages that still go there before another LUN is chosen
 */
struct aftl_lane_lun {
	u32 lun;
	u32 left;
};

/* Writes that may read the rest of a logical page at the same time; further ones wait. */
#define AFTL_REST_READS 128

/* One device. There is no state outside of it. */
struct aftl {
	struct aftl_config config;
	struct aftl_geometry geo;
	struct aftl_media media;
	struct aftl_cell cell;
	struct aftl_chip chip;
	struct aftl_read_timing sense;
	struct aftl_stats stats;
	const struct aftl_policy_type *named_type; /* as the host named it */
	const struct aftl_policy_type *type; /* with all methods: @named_type or &@ftl_type */
	struct aftl_policy_type ftl_type;
	struct aftl_policy *policy;
	struct aftl_policy_core core;
	const struct aftl_host_ops *ops;
	void *host;
	u64 memory_bytes;

	u64 now_ns;
	u64 age_ns;
	u64 hour;
	u64 hour_ns; /* start of @hour in age_ns + now_ns */
	bool running;
	bool filling;
	bool suspending;
	bool read_only;
	bool buffer_lost;
	bool ignore_policy_copy;
	bool retry;
	bool draining;
	u32 work; /* units of work done, see aftl_work() */
	u32 collecting; /* LUNs with forced_gc */
	u32 wake_next;
	u8 waking; /* AFTL_WAKE_*: which LUNs from wake_next on are still to be woken */
	u32 lost_units;
	u32 placing_cause; /* enum aftl_cause of the placement that the policy is asked for */
	/* Handle whose block is being opened; 0: the policy's */
	u32 placing_handle;
	struct aftl_events events;
	u32 event_completions;
	u32 event_clock;

	/* LUNs to be scheduled, in the order in which they became runnable. */
	struct aftl_lun *runnable;
	struct aftl_lun *last_runnable;

	struct aftl_chunks l2p;
	struct aftl_lun *luns;
	u32 *victims;
	u64 *bus_ns;

	/* Derived from the configuration by aftl_apply_config(). */
	u32 program_units;
	u32 foggy_blocks;
	u32 fine_pending_units;
	u64 unit_transfer_ns;
	u64 unit_link_ns;
	u64 max_block_reads;
	u32 copy_passes;
	u32 streams;
	u32 slc_static_blocks;
	u32 slc_max_blocks;
	u32 handles;
	struct aftl_cmt cmt;
	struct aftl_zones zones;
	struct aftl_read_cache read_cache;
	struct aftl_read_stream read_streams[AFTL_READ_STREAMS];
	u64 read_stream_turn;
	u32 prefetch_units;
	bool reads_are_tracked;
	/*
	 * Derived from the host's callbacks and the policy: whether anybody wants to know of array
	 * operations, host reads and accepted writes.
	 */
	bool array_is_observed;
	bool reads_are_observed;
	bool writes_are_observed;
	struct aftl_wait_state *waits;
	struct aftl_superblock_state *superblocks;
	/* State for a victim selector, one entry for each superblock of the group asked for. */
	struct aftl_block *superblock_candidates;
	struct aftl_die_group *die_groups;
	u32 gc_blocks;
	u32 gc_max_valid;
	u32 gc_idle_valid;

	struct aftl_command *commands;
	u32 command_count;
	u32 free_reads;
	u32 free_writes;
	u32 free_read_count;
	u32 free_write_count;
	u32 unflushable;
	u32 write_commands;

	/* Used write commands from which on full programs start, and queues that hold one. */
	u32 buffer_high;
	u32 full_write_queues;
	u32 *pending;
	u32 pending_mask;

	u64 next_day_ns;
	u32 refresh_lun;

	/* Position in the LUN allocation order of the next LUN. */
	u32 rotation;
	struct aftl_lun_rule lun_rule;
	const void *lun_params;
	u32 allocation_units;
	struct aftl_lane_lun lane_luns[AFTL_WRITE_STREAMS];
	struct aftl_request *wait_head[2];
	struct aftl_request *wait_tail[2];
	struct aftl_host_queues host_queues[2];
	u32 queues;

	/*
	 * Writes that read the rest of a page which they cover in part. @waits_for_rest: the write
	 * at wait_head[1] waits for one of them, not for the write buffer. @rest_read_ended: if the
	 * next one waits for the buffer, LUNs do not know of it yet.
	 */
	struct aftl_request *rest_reads[AFTL_REST_READS];
	u32 rest_read_count;
	bool waits_for_rest;
	bool rest_read_ended;
	struct aftl_completion_queue completions[AFTL_COMPLETION_QUEUES];
	/*
	 * When the controller and the link can take the next request; [0] to the host, [1] from it.
	 */
	u64 command_ns[2];
	u64 link_ns[2];
	bool link_paced;
	bool completion_is_special; /* link_paced, or the host wants to know of waits */
	u64 seq;
	u32 requests;

	u32 outstanding[AFTL_EPOCHS];
	u32 epoch;
	u32 oldest_epoch;
	struct aftl_request *flushes;
	struct aftl_request *last_flush;
};

void aftl_update_hour(struct aftl *ftl);

/* Device age in hours: aftl_hours() without a division in the common case. */
static inline u64 aftl_hour(struct aftl *ftl)
{
	if (unlikely(ftl->age_ns + ftl->now_ns - ftl->hour_ns >= AFTL_HOUR_NS))
		aftl_update_hour(ftl);
	return ftl->hour;
}

static inline struct aftl_lun *aftl_block_lun(struct aftl *ftl, const struct aftl_block *block)
{
	return &ftl->luns[aftl_block_index(&ftl->media, block) / ftl->geo.blocks_per_lun];
}

/* oob-extra.c: OOB metadata that few blocks have */
int __must_check aftl_oob_extra_alloc(struct aftl *ftl);
/* Free what aftl_oob_extra_alloc() allocated. */
void aftl_oob_extra_free(struct aftl *ftl);
/* Allocate the metadata of @block before a non-zero age or inherited error is stored in it. */
void aftl_oob_extra_need(struct aftl *ftl, struct aftl_block *block);
/* Reset the state of an erased block, including its extra OOB metadata. */
void aftl_reset_erased_block(struct aftl *ftl, struct aftl_block *block);

static inline void aftl_oob_store_origin(struct aftl *ftl, struct aftl_block *block, aftl_ppn_t ppn,
					 struct aftl_origin origin)
{
	u16 *inherited;

	if (!aftl_models_errors(&ftl->media))
		return;
	if (unlikely(origin.inherited))
		aftl_oob_extra_need(ftl, block);
	*aftl_oob_generation(&ftl->media, ppn) = origin.generation;
	inherited = aftl_inherited_errors_at(&ftl->media, block, ppn);
	if (unlikely(inherited))
		*inherited = origin.inherited;
}

static inline void aftl_oob_set_hours(struct aftl *ftl, struct aftl_block *block, u32 page,
				      u16 hours)
{
	u16 *at;

	if (unlikely(hours) && !ftl->media.oob_layout.hours)
		aftl_oob_extra_need(ftl, block);
	at = aftl_hours_at(&ftl->media, block, page);
	if (unlikely(at))
		*at = hours;
}

/* Return true if the die has failed; the data in it are lost. */
static inline bool aftl_lun_dead(const struct aftl_lun *lun)
{
	return lun->work.phase == AFTL_PHASE_DEAD;
}

/* Return true if @ppn is in a dead LUN. */
static inline bool aftl_ppn_in_dead_lun(const struct aftl *ftl, aftl_ppn_t ppn)
{
	u32 block = aftl_block_index(&ftl->media, aftl_ppn_block(&ftl->media, ppn));

	return aftl_lun_dead(&ftl->luns[block / ftl->geo.blocks_per_lun]);
}

/* Return true if @lun can take @units more logical pages; pages in flight are counted as used. */
static inline bool aftl_lun_has_room(const struct aftl_lun *lun, u32 units)
{
	return lun->valid + lun->in_flight + units <= lun->max_valid;
}

/* The stream that a policy returned, or stream 0 if it does not exist. */
static inline u32 aftl_checked_stream(struct aftl *ftl, u32 stream)
{
	if (likely(stream < ftl->streams))
		return stream;
	ftl->stats.counters.policy_bugs++;
	return 0;
}

static inline bool aftl_has_write_buffer(const struct aftl *ftl)
{
	return ftl->config.buffer != 0;
}

static inline u32 aftl_stored_class(const struct aftl *ftl, u32 class)
{
	return ftl->type->ignores_tags ? AFTL_PRECISE : class;
}

/* Writes in the controller that may still be programmed. */
static inline u32 aftl_writes_in_flight(const struct aftl *ftl)
{
	return ftl->write_commands - ftl->free_write_count - ftl->unflushable;
}

static inline u32 aftl_used_write_commands(const struct aftl *ftl)
{
	return ftl->write_commands - ftl->free_write_count;
}

/* Return true if a request waits for a write command or for space. */
static inline bool aftl_write_waits(const struct aftl *ftl)
{
	return ftl->wait_head[1] && likely(!ftl->waits_for_rest);
}

/* Fill level of the write buffer in 1/10000. */
static inline u32 aftl_buffer_use(const struct aftl *ftl)
{
	u64 used = aftl_used_write_commands(ftl);

	return aftl_has_write_buffer(ftl) ? (u32)(used * 10000 / ftl->write_commands) : 0;
}

/* Is work of the scheduler left at this moment of device time? */
static inline bool aftl_dispatch_pending(const struct aftl *ftl)
{
	return ftl->runnable || unlikely(ftl->retry);
}

/*
 * Work that the scheduler does in one call, at least: some 50 us. It ends with the LUN or the
 * request that exceeds it, which takes no longer than that again.
 */
#define AFTL_SLICE_WORK 256

/* Has enough been done since ftl->work was @begin? */
static inline bool aftl_slice_over(const struct aftl *ftl, u32 begin)
{
	return ftl->work - begin >= AFTL_SLICE_WORK;
}

static inline void aftl_mark_runnable(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->runnable)
		return;
	lun->runnable = true;
	lun->next_runnable = NULL;
	if (ftl->runnable)
		ftl->last_runnable->next_runnable = lun;
	else
		ftl->runnable = lun;
	ftl->last_runnable = lun;
}

/*
 * Make an idle LUN runnable: it got work or its operation has ended. The scheduler runs before the
 * host's call returns. A busy LUN becomes runnable at the end of its operation.
 */
static inline void aftl_wake_lun(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE)
		aftl_mark_runnable(ftl, lun);
}

/* Make @lun runnable for a write, which may suspend an erase. */
static inline void aftl_wake_for_write(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE ||
	    (unlikely(ftl->config.suspend_for_write) && lun->work.phase == AFTL_PHASE_ERASE))
		aftl_mark_runnable(ftl, lun);
}

/* Make @lun runnable for a read, which may suspend a program or an erase. */
static inline void aftl_wake_for_read(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE || ftl->config.suspend || aftl_lun_dead(lun))
		aftl_mark_runnable(ftl, lun);
}

static inline void aftl_set_collect(struct aftl *ftl, struct aftl_lun *lun, u32 blocks)
{
	ftl->collecting += (blocks != 0) - (lun->forced_gc != 0);
	lun->forced_gc = blocks;
}

/* LUNs, and those of them that writes wait at. */
#define AFTL_WAKE_IDLE 0x01
#define AFTL_WAKE_WRITES 0x02

/* Most LUNs that are looked through at once. */
#define AFTL_SLICE_LUNS 1024

static inline void aftl_wake_lun_kinds(struct aftl *ftl, struct aftl_lun *lun, u32 kinds)
{
	if (kinds & AFTL_WAKE_IDLE)
		aftl_wake_lun(ftl, lun);
	if (kinds & AFTL_WAKE_WRITES && (lun->pending_write_lanes || lun->fine_pending_writes))
		aftl_wake_for_write(ftl, lun);
}

/* Wake all LUNs of @kind; where there are many, the scheduler does it before it looks at one. */
static inline void aftl_wake_luns(struct aftl *ftl, u32 kind)
{
	u32 i;

	if (unlikely(ftl->geo.luns > AFTL_SLICE_LUNS)) {
		ftl->waking |= kind;
		ftl->wake_next = 0;
		ftl->retry = true;
		return;
	}
	for (i = 0; i < ftl->geo.luns; i++)
		aftl_wake_lun_kinds(ftl, &ftl->luns[i], kind);
}

static inline void aftl_wake_all(struct aftl *ftl)
{
	aftl_wake_luns(ftl, AFTL_WAKE_IDLE);
}

/* Tell the host that @blocks blocks from @first on have been retired. */
static inline void aftl_notify_retired(struct aftl *ftl, u32 first, u32 blocks)
{
	if (ftl->ops->retire)
		ftl->ops->retire(ftl->host, first, blocks);
}

/* snapshot.c: start the device after media and L2P table have been loaded and audited. */
void aftl_start_restored(struct aftl *ftl);

/* inspect.c: the part of aftl_audit() that does not visit every physical page. */
int __must_check aftl_audit_counts(const struct aftl *ftl, struct aftl_error *error);

/* device.c: derive values from a new configuration. */
void aftl_apply_config(struct aftl *ftl);

/*
 * Give other tasks of the host a chance to run, between two slices of a long call. May sleep.
 * Return: 0, or the host's error code, with which the caller must end.
 */
static inline int aftl_host_pause(const struct aftl *ftl)
{
	return ftl->ops->pause ? ftl->ops->pause(ftl->host) : 0;
}

/* l2p.c: the logical-to-physical mapping table */

/* Return true if the host has lost the data of @ppn. */
static inline bool aftl_ppn_is_lost(const struct aftl *ftl, aftl_ppn_t ppn)
{
	return unlikely(ftl->lost_units) && aftl_ppn_lost(&ftl->media, ppn);
}

static inline u32 *aftl_l2p_entry(const struct aftl *ftl, u32 unit)
{
	return aftl_chunk_entry(&ftl->l2p, u32, unit);
}

static inline bool aftl_l2p_lookup(const struct aftl *ftl, aftl_lpn_t lpn, aftl_ppn_t *ppn)
{
	u32 entry = *aftl_l2p_entry(ftl, from_lpn(lpn)) & AFTL_PPN_MASK;

	*ppn = to_ppn(entry - 1);
	return entry;
}

static inline u32 aftl_l2p_level(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return *aftl_l2p_entry(ftl, from_lpn(lpn)) >> AFTL_PPN_BITS;
}

/* Prefetch the L2P entries of the logical pages in @page, which will be relocated soon. */
void aftl_prefetch_relocation(const struct aftl *ftl, u32 page);

/* Map @lpn to @ppn in @block and invalidate its old physical page. */
void aftl_l2p_update(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
		     aftl_lpn_t lpn, aftl_ppn_t ppn, u32 level);

/* Map a relocated @lpn to @ppn when the old physical page @former in block @from is known. */
void aftl_l2p_relocate(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *from,
		       aftl_ppn_t former, struct aftl_block *block, aftl_lpn_t lpn, aftl_ppn_t ppn,
		       u32 level);

/* Return true if @lpn was mapped. */
bool aftl_l2p_unmap(struct aftl *ftl, aftl_lpn_t lpn);

/* Mark a valid page as lost: reads fail until its logical page is written again. */
void aftl_l2p_mark_lost(struct aftl *ftl, aftl_ppn_t ppn);

/* memory.c: memory of the host, zeroed and counted in memory_bytes; NULL on failure */

void *aftl_memory_alloc(struct aftl *ftl, size_t count, size_t size);
/* Allocate while the device runs. Never NULL; only for hosts with alloc_later(). */
void *aftl_memory_alloc_runtime(struct aftl *ftl, size_t count, size_t size);
void aftl_memory_free(struct aftl *ftl, void *memory);

/* policy-services.c: services of the core for policies */

void aftl_policy_services_init(struct aftl *ftl);

/* Number of host commands that wait for @lun. */
u32 aftl_lun_queued(const struct aftl_lun *lun);

/* policy-instance.c: the policy of the device and its state */

/* Check the array declarations of @type. */
int __must_check aftl_policy_instance_check(const struct aftl_policy_type *type,
					    struct aftl_error *error);

/* Create the device's policy and the policies that it consists of; NULL without memory. */
struct aftl_policy *aftl_policy_instance_create(struct aftl *ftl);

/* Add a policy as a part of another one: see aftl_policy_part(). */
struct aftl_policy *aftl_policy_instance_add(struct aftl_policy *whole,
					     const struct aftl_policy_type *type);
void aftl_policy_instance_destroy(struct aftl_policy *policy);

/* Get word @index of the state of the policy and its parts. Return: false past the end. */
bool aftl_policy_instance_save(const struct aftl_policy *policy, u64 index, u64 *word);

/* Set word @index of that state. Words past the end are ignored. */
void aftl_policy_instance_restore(struct aftl_policy *policy, u64 index, u64 word);

/* Tell the policy that all words have been restored. */
void aftl_policy_instance_restored(struct aftl_policy *policy);

/* block-manager.c: free blocks, victim lists, bad blocks */

void aftl_block_manager_init(struct aftl *ftl);

/* Clear the lists before blocks are loaded; derive the limits afterwards. */
void aftl_block_manager_clear(struct aftl *ftl);
void aftl_block_manager_restored(struct aftl *ftl);

/* After a policy change or a load: give LUNs with too few free blocks a fallback block. */
void aftl_block_manager_check_reserve(struct aftl *ftl);
bool aftl_fallback_take_open(struct aftl *ftl, struct aftl_lun *lun);
struct aftl_block *aftl_free_block_select(struct aftl *ftl, const struct aftl_lun *lun);
void aftl_block_wear_recount(const struct aftl *ftl, struct aftl_lun *lun);
struct aftl_block *aftl_free_block_take(struct aftl *ftl, struct aftl_lun *lun, u32 stream);
void aftl_assign_parity(struct aftl *ftl, u32 group, u32 number);
void aftl_assign_parity_block(struct aftl *ftl, u32 group, u32 number);
void aftl_free_block_add(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_block_open(struct aftl *ftl, struct aftl_block *block, enum aftl_order order, u32 kind);
void aftl_block_close(struct aftl *ftl, struct aftl_block *block);
void aftl_victim_list_add(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_victim_list_remove(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

/* Return the block in the victim lists with the fewest valid pages, or NULL. */
struct aftl_block *aftl_victim_fewest_valid(struct aftl *ftl, struct aftl_lun *lun);

void aftl_victim_select_by_rule(struct aftl *ftl, struct aftl_victim_candidates *closed,
				struct aftl_block **victim);

/* Return a closed block with at most @most_valid valid pages for GC, or NULL. */
struct aftl_block *aftl_gc_select_victim(struct aftl *ftl, struct aftl_lun *lun, u32 most_valid);

/* Blocks of each LUN that hold no host data: open blocks, GC reserve, SLC cache. */
static inline u32 aftl_reserved_blocks(const struct aftl *ftl)
{
	if (unlikely(ftl->geo.zones))
		return ftl->type->reserve + 2;
	return ftl->type->open_blocks + ftl->handles + ftl->type->reserve + 1 +
	       (ftl->geo.superblock_luns ? 2 + ftl->handles : 0) +
	       max(ftl->slc_static_blocks, (u32)(ftl->slc_max_blocks != 0));
}

/*
 * @block is full or taken away: it is not an open block of the core any more.
 */
static inline void aftl_forget_core_block(struct aftl_lun *lun, const struct aftl_block *block)
{
	if (unlikely(block->handle) && lun->handle_blocks &&
	    lun->handle_blocks[block->handle - 1] == block)
		lun->handle_blocks[block->handle - 1] = NULL;
	if (block == lun->fallback)
		lun->fallback = NULL;
	if (block == lun->slc_open)
		lun->slc_open = NULL;
}

bool aftl_program_has_valid(const struct aftl *ftl, u32 first);
void aftl_block_retire(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_free_block_remove(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_block_close_partial(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

/* Account for one valid page less in @block. */
void aftl_block_invalidate(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

/* Free blocks that host writes must leave to relocation. */
static inline u32 aftl_gc_reserve(const struct aftl *ftl)
{
	return ftl->type->reserve;
}

/* Free blocks that are set aside for the static SLC cache. */
static inline u32 aftl_slc_missing_blocks(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return ftl->slc_static_blocks > lun->slc_blocks ? ftl->slc_static_blocks - lun->slc_blocks :
							  0;
}

/* Return true if host writes must wait for GC before they get another block (emergency GC). */
static inline bool aftl_gc_urgent(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->free_blocks <= aftl_gc_reserve(ftl) + aftl_slc_missing_blocks(ftl, lun);
}

/* Return true if the free blocks are below the watermark of parameter "gc". */
static inline bool aftl_below_gc_watermark(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->free_blocks < ftl->gc_blocks + aftl_slc_missing_blocks(ftl, lun);
}

/*
 * Return true if a background task may be due that does not wait for idle time. If this is false,
 * aftl_reloc_next_step() finds nothing, so the scheduler skips it.
 */
static inline bool aftl_reloc_due(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->reloc.kind | lun->failing_blocks | lun->repeat_blocks | lun->slc_blocks |
		       lun->forced_gc | lun->refresh_due | ftl->geo.superblock_luns |
		       ftl->geo.zones ||
	       lun->disturbed || ftl->config.wear_gap || aftl_below_gc_watermark(ftl, lun);
}

/* Repeated programs must not use the last free blocks, which GC needs. */
static inline bool aftl_repeat_allowed(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->repeat_blocks && !lun->out_of_blocks && !lun->below_reserve &&
	       !aftl_gc_urgent(ftl, lun);
}

/* Return true if a program has to be repeated before anything else is programmed. */
static inline bool aftl_reloc_repeat_due(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->reloc.kind == AFTL_RELOC_REPEAT || aftl_repeat_allowed(ftl, lun);
}

/* slc-cache.c: SLC write cache */

/* Return true if @block belongs to the SLC cache. Without a cache, a policy may open SLC blocks. */
static inline bool aftl_is_slc_block(const struct aftl *ftl, const struct aftl_block *block)
{
	return unlikely(block->bits == 1) && ftl->slc_max_blocks;
}

void aftl_slc_cache_configure(struct aftl *ftl);
int __must_check aftl_slc_cache_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_slc_cache_place(struct aftl *ftl, struct aftl_lun *lun,
			  const struct aftl_program_request *need,
			  struct aftl_placement *placement);
struct aftl_block *aftl_slc_cache_select_fold(struct aftl *ftl, const struct aftl_lun *lun);
struct aftl_block *aftl_slc_cache_select_urgent_fold(struct aftl *ftl, struct aftl_lun *lun,
						     bool urgent);
bool aftl_slc_cache_adopt(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_slc_cache_recount(struct aftl *ftl);

/* placement-handle.c: placement handles (FDP) */

/* Placement handle of a stream; 0, the default handle, for the streams of the policy. */
static inline u32 aftl_stream_handle(const struct aftl *ftl, u32 stream)
{
	return unlikely(stream >= ftl->streams) ? stream - ftl->streams + 1 : 0;
}

/*
 * Stream to which valid pages of @block are relocated if they have to stay with their handle; 0 if
 * the policy chooses.
 */
static inline u32 aftl_isolated_stream(const struct aftl *ftl, const struct aftl_block *block)
{
	if (likely(!block->handle) || !(ftl->config.placement_isolation || ftl->geo.trans_pages))
		return 0;
	return ftl->streams + block->handle - 1;
}

int __must_check aftl_handle_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_handle_alloc(struct aftl *ftl);
bool aftl_handle_assign_stream(struct aftl *ftl, struct aftl_request *request);
int aftl_handle_place(struct aftl *ftl, struct aftl_lun *lun,
		      const struct aftl_program_request *need, struct aftl_placement *placement);
void aftl_handle_closed(struct aftl *ftl, const struct aftl_block *block);
bool aftl_handle_adopt(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_handle_restored(struct aftl *ftl);

/* translation-page.c: translation pages on flash and the cached mapping table (CMT) */

struct aftl_payload;

static inline struct aftl_trans_page *aftl_trans_page_of(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return &ftl->cmt.all[from_lpn(lpn) >> ftl->geo.trans_page_shift];
}

/* Logical pages from @lpn to the end of its translation page. */
static inline u32 aftl_trans_page_remaining(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return BIT(ftl->geo.trans_page_shift) -
	       (from_lpn(lpn) & (BIT(ftl->geo.trans_page_shift) - 1));
}

/* Return true if host writes must wait for the eviction of translation pages. */
static inline bool aftl_cmt_evictions_full(const struct aftl *ftl)
{
	return unlikely(ftl->cmt.evicting) && ftl->cmt.evicting > ftl->cmt.max_evicting &&
	       !ftl->read_only;
}

void aftl_cmt_configure(struct aftl *ftl);
int __must_check aftl_cmt_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_cmt_alloc(struct aftl *ftl);
bool aftl_cmt_lookup(struct aftl *ftl, aftl_lpn_t lpn);
aftl_lpn_t aftl_cmt_begin_load(struct aftl *ftl, aftl_lpn_t lpn);
struct aftl_trans_page *aftl_cmt_end_load(struct aftl *ftl, aftl_lpn_t lpn);
void aftl_cmt_mark_dirty(struct aftl *ftl, aftl_lpn_t lpn);
enum aftl_step aftl_cmt_next_step(struct aftl *ftl, struct aftl_lun *lun, aftl_ppn_t *ppn);
void aftl_cmt_merged(struct aftl *ftl, struct aftl_lun *lun);
struct aftl_program_request aftl_cmt_need(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_cmt_fill_payload(struct aftl *ftl, struct aftl_lun *lun,
			   const struct aftl_placement *placement, struct aftl_payload *payload);
void aftl_cmt_flush(struct aftl *ftl);
void aftl_cmt_lun_died(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_cmt_restore(struct aftl *ftl, u32 number, u8 flags);
void aftl_cmt_rebuild(struct aftl *ftl);
int aftl_cmt_audit(const struct aftl *ftl, struct aftl_error *error);

/* read-cache.c: controller read cache */

int __must_check aftl_read_cache_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_read_cache_alloc(struct aftl *ftl);
struct aftl_read_cache_entry *aftl_read_cache_find(const struct aftl *ftl, aftl_lpn_t lpn);
void aftl_read_cache_touch(struct aftl *ftl, struct aftl_read_cache_entry *entry);
struct aftl_read_cache_entry *aftl_read_cache_add(struct aftl *ftl, aftl_lpn_t lpn, aftl_ppn_t ppn);
void aftl_read_cache_clear(struct aftl *ftl);

/* zone.c: zones (ZNS) */

static inline bool aftl_zone_active(const struct aftl_zone *zone)
{
	return zone->state >= AFTL_ZONE_IMPLICIT && zone->state <= AFTL_ZONE_CLOSED;
}

static inline struct aftl_zone *aftl_zone_at(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return &ftl->zones.all[from_lpn(lpn) / ftl->geo.zone_units];
}

/* Return true if no more writes of the zone will come, so that partial pages are programmed now. */
static inline bool aftl_zone_no_more_writes(const struct aftl_zone *zone)
{
	return !aftl_zone_active(zone) && !zone->coming;
}

int __must_check aftl_zone_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_zone_alloc(struct aftl *ftl);
int aftl_zone_activate(struct aftl *ftl, struct aftl_zone *zone, enum aftl_zone_state state);
int aftl_zone_start_write(struct aftl *ftl, struct aftl_request *request);
void aftl_zone_end_writes(struct aftl *ftl, struct aftl_zone *zone, enum aftl_zone_state state);
void aftl_zone_clear(struct aftl *ftl, struct aftl_zone *zone);
struct aftl_lun *aftl_zone_write_lun(struct aftl *ftl, aftl_lpn_t lpn);
bool aftl_zone_assign_slot(struct aftl *ftl, struct aftl_request *request);
void aftl_zone_admitted(struct aftl *ftl, struct aftl_zone *zone, u32 units);
void aftl_zone_lpn_done(struct aftl *ftl, u32 stream);
void aftl_zone_fallback_block(struct aftl *ftl, struct aftl_lun *lun, aftl_lpn_t lpn);
void aftl_zone_block_retired(struct aftl *ftl, struct aftl_lun *lun);
void aftl_zone_lun_died(struct aftl *ftl, const struct aftl_lun *lun);
bool aftl_zone_restored(struct aftl *ftl);
void aftl_zone_rebuild(struct aftl *ftl, u32 zone, u32 written, enum aftl_zone_state noted);
bool aftl_zone_finish_excess(struct aftl *ftl);
void aftl_zone_reserve_slot(struct aftl *ftl, aftl_lpn_t lpn);
void aftl_zone_reopen_blocks(struct aftl *ftl);

/* superblock.c: superblocks, RAIN parity, reconstruction */

static inline u32 aftl_die_group_of(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->index / ftl->geo.superblock_luns;
}

/* Number of @lun in its die group. */
static inline u32 aftl_die_group_member(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->index % ftl->geo.superblock_luns;
}

static inline struct aftl_lun *aftl_die_group_lun(struct aftl *ftl, u32 group, u32 member)
{
	return &ftl->luns[group * ftl->geo.superblock_luns + member];
}

/* Block of superblock @number in member @member of die group @group. */
static inline struct aftl_block *aftl_superblock_block(const struct aftl *ftl, u32 group,
						       u32 number, u32 member)
{
	u32 lun = group * ftl->geo.superblock_luns + member;

	return &ftl->media.blocks[lun * ftl->geo.blocks_per_lun + number];
}

/*
 * Data that share superblocks: of one block kind of the policy, of one placement handle, or of
 * the SLC cache.
 */
static inline u32 aftl_superblock_stream(u32 kind, u32 handle, bool slc)
{
	return kind | handle << 8 | (u32)slc << 16;
}

static inline struct aftl_superblock_state *aftl_superblock_at(const struct aftl *ftl, u32 group,
							       u32 number)
{
	return &ftl->superblocks[group * ftl->geo.blocks_per_lun + number];
}

static inline u32 aftl_superblock_number(const struct aftl *ftl, const struct aftl_block *block)
{
	return aftl_block_index(&ftl->media, block) % ftl->geo.blocks_per_lun;
}

/* Return true if unreadable pages are reconstructed from their stripe. */
static inline bool aftl_has_rain(const struct aftl *ftl)
{
	return unlikely(ftl->config.rain);
}

int __must_check aftl_superblock_check(const struct aftl *ftl, const struct aftl_config *config,
				       struct aftl_error *error);
bool aftl_superblock_alloc(struct aftl *ftl);
struct aftl_block *aftl_superblock_select_free(struct aftl *ftl, const struct aftl_lun *lun,
					       u32 stream);
u32 aftl_superblock_parity_member(const struct aftl *ftl, u32 group, u32 number);
bool aftl_superblock_unused(const struct aftl *ftl, u32 group, u32 number);
void aftl_parity_queue_due(struct aftl *ftl, const struct aftl_block *block);
bool aftl_parity_next_program(struct aftl *ftl, struct aftl_lun *lun,
			      struct aftl_placement *placement);
void aftl_parity_programmed(struct aftl *ftl, struct aftl_lun *lun);
void aftl_superblock_erased(struct aftl *ftl, u32 group, u32 number);
void aftl_superblock_suspend(struct aftl *ftl);
void aftl_superblock_resume(struct aftl *ftl);
struct aftl_block *aftl_parity_block_of(struct aftl *ftl, const struct aftl_block *block);
bool aftl_stripe_can_reconstruct(const struct aftl *ftl, aftl_ppn_t ppn);
bool aftl_stripe_reconstruct(const struct aftl *ftl, aftl_ppn_t ppn, struct aftl_errors *errors);
void aftl_reconstruct_begin(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 device_page);
bool aftl_reconstruct_page_done(struct aftl *ftl, struct aftl_lun *lun, u32 member);
void aftl_reconstruct_cancel(struct aftl *ftl, struct aftl_lun *lun);
int aftl_superblock_audit(const struct aftl *ftl, struct aftl_error *error);

/* superblock-gc.c: GC and erase of superblocks */

void aftl_superblock_rebuilt(struct aftl *ftl, const struct aftl_block *block);
void aftl_superblock_sync_erases(struct aftl *ftl);
void aftl_superblock_assign_parity(struct aftl *ftl);
void aftl_block_mark_lost(struct aftl *ftl, const struct aftl_block *block);
bool aftl_superblock_gc_start(struct aftl *ftl, struct aftl_lun *lun, u32 cause, u32 limit);
bool aftl_superblock_gc_start_block(struct aftl *ftl, const struct aftl_block *block, u32 cause);
bool aftl_superblock_gc_emptied(struct aftl *ftl, u32 group);
struct aftl_block *aftl_superblock_gc_member(struct aftl *ftl, const struct aftl_lun *lun);
struct aftl_block *aftl_superblock_gc_rebuild_block(struct aftl *ftl, const struct aftl_lun *lun,
						    bool idle);
void aftl_superblock_gc_erased(struct aftl *ftl, struct aftl_lun *lun);
void aftl_superblock_gc_finish(struct aftl *ftl, u32 group);
void aftl_superblock_lun_died(struct aftl *ftl, const struct aftl_lun *lun);

/* Return true if the superblock GC of this LUN's group goes before host writes. */
static inline bool aftl_superblock_gc_urgent(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return unlikely(ftl->geo.superblock_luns) &&
	       ftl->die_groups[aftl_die_group_of(ftl, lun)].urgent;
}

/* Return true if this LUN gets its next free block only after other LUNs have done their part. */
static inline bool aftl_superblock_gc_delays(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return unlikely(ftl->geo.superblock_luns) &&
	       (ftl->die_groups[aftl_die_group_of(ftl, lun)].victim != AFTL_NIL ||
		lun->reconstruct.kind);
}

/* lun-allocation.c: allocation of a LUN for a write */

/* Position of the first LUN in the allocation order, with or without preconditioning. */
static inline u32 aftl_first_allocation_turn(const struct aftl_geometry *geo)
{
	return 1 % geo->luns;
}

struct aftl_lun *aftl_allocate_lun(struct aftl *ftl, aftl_lpn_t lpn, u32 class, u32 stream,
				   u32 units);

/* program.c: program and erase transactions */

/**
 * struct aftl_payload - logical pages that are programmed together
 * @count: number of logical pages
 * @promoted: relocations that make approximate data precise
 * @piggybacked: relocations in a host program, which come first
 * @dropped: relocations overwritten between the two passes; they count as padding
 * @from: physical page of a relocation; AFTL_NO_PPN for a host write
 * @tag: buffer tag of a host write; AFTL_NIL for a relocation
 * @stale: a newer version exists: programmed, but not mapped
 */
struct aftl_payload {
	u32 count;
	u32 promoted;
	u32 piggybacked;
	u32 dropped;
	aftl_lpn_t lpn[AFTL_PROGRAM_UNITS_MAX];
	aftl_ppn_t from[AFTL_PROGRAM_UNITS_MAX];
	struct aftl_origin origin[AFTL_PROGRAM_UNITS_MAX];
	u32 tag[AFTL_PROGRAM_UNITS_MAX];
	bool stale[AFTL_PROGRAM_UNITS_MAX];
};

/**
 * struct aftl_fine_pending - data of a word line that waits for its fine pass
 * @need: whom it was programmed for; all 0 if there is nothing
 * @commands: host writes, whose data stay in the write buffer
 * @payload: logical pages of the coarse pass
 */
struct aftl_fine_pending {
	struct aftl_program_request need;
	u32 commands;
	struct aftl_payload payload;
};

/**
 * struct aftl_foggy_block - an open block with word lines between their coarse and fine pass
 * @block: the block; NULL if the entry is unused
 * @held: for each of them, by the number of the word line
 */
struct aftl_foggy_block {
	struct aftl_block *block;
	struct aftl_fine_pending held[AFTL_FOGGY_WORD_LINES];
};

/* fine-pending.c: data that wait for the fine pass */

bool aftl_fine_pending_room(const struct aftl *ftl, const struct aftl_lun *lun,
			    const struct aftl_block *block);
struct aftl_fine_pending *aftl_fine_pending_at(const struct aftl *ftl,
					       struct aftl_foggy_block *foggy, u32 page);
void aftl_fine_pending_begin(struct aftl *ftl, struct aftl_lun *lun,
			     const struct aftl_program_request *need,
			     const struct aftl_placement *placement,
			     const struct aftl_payload *payload);
void aftl_fine_pending_end(struct aftl *ftl, struct aftl_lun *lun,
			   struct aftl_fine_pending *pending);
bool aftl_fine_pending_close(struct aftl *ftl, struct aftl_block *block);
void aftl_fine_pending_drop_moves(struct aftl *ftl, struct aftl_lun *lun);
u32 aftl_fine_pending_give_up(struct aftl *ftl, struct aftl_lun *lun);

/* fine-pass.c: fine passes, and coarse passes for padding */

struct aftl_fine_pending *aftl_fine_pass_due(struct aftl *ftl, struct aftl_lun *lun,
					     struct aftl_placement *placement);
void aftl_fine_pass_commit(struct aftl *ftl, struct aftl_lun *lun,
			   struct aftl_fine_pending *pending,
			   const struct aftl_placement *placement);
bool aftl_foggy_pass_pad(struct aftl *ftl, struct aftl_lun *lun, bool moves,
			 struct aftl_placement *placement);
void aftl_fine_pass_run_untimed(struct aftl *ftl, struct aftl_lun *lun);

int __must_check aftl_program_place(struct aftl *ftl, struct aftl_lun *lun,
				    const struct aftl_program_request *need,
				    struct aftl_placement *placement);
/* Commit a program to media and L2P table. A coarse pass without data has no @payload. */
void aftl_program_commit(struct aftl *ftl, struct aftl_lun *lun,
			 const struct aftl_program_request *need,
			 const struct aftl_placement *placement,
			 const struct aftl_payload *payload);
void aftl_program_fill_step(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
			    u32 class, const struct aftl_payload *payload);

/**
 * struct aftl_fill_order - order in which preconditioning first writes the logical pages
 * @at: next logical page
 * @step: distance to the one after it; coprime to @units
 * @units: number of logical pages; the order wraps around there
 * @seq: sequence number of the next write
 */
struct aftl_fill_order {
	u32 at;
	u32 step;
	u32 units;
	u64 seq;
};

/* Logical page that is @ahead positions after the next one. */
static inline u32 aftl_fill_order_lpn(const struct aftl_fill_order *order, u32 ahead)
{
	u64 at = order->at + (u64)ahead * order->step;

	return likely(at < order->units) ? at : at % order->units;
}

static inline void aftl_fill_order_skip(struct aftl_fill_order *order, u32 units)
{
	order->at = aftl_fill_order_lpn(order, units);
	order->seq += units;
}

void aftl_program_fill_rounds(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
			      struct aftl_fill_order order, u32 rounds);

/* Add the content of a valid page to a payload. */
void aftl_payload_add_move(struct aftl *ftl, struct aftl_payload *payload, aftl_ppn_t ppn);

/* Start the payload of a host program with the pages that the policy relocates in it. */
void aftl_payload_add_carried(struct aftl *ftl, const struct aftl_placement *placement,
			      struct aftl_payload *payload);

/* Commit a program of parity, which maps no logical page. */
void aftl_program_parity(struct aftl *ftl, struct aftl_lun *lun,
			 const struct aftl_placement *placement);

/*
 * Start an erase with the policy's erase mode; its cost is in lun->erased. aftl_erase_commit() must
 * follow.
 */
void aftl_erase_begin(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_block *block);
void aftl_erase_commit(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

/* Logical pages that fit into @placement. */
static inline u32 aftl_placement_units(const struct aftl *ftl,
				       const struct aftl_placement *placement)
{
	return placement->pages * ftl->geo.page_units;
}

/* sensing.c: read latency and read count of one page */
bool aftl_ppn_programming(struct aftl *ftl, aftl_ppn_t ppn);

u64 aftl_sense_page(struct aftl *ftl, struct aftl_block *block, u32 page, u64 hour);
u64 aftl_sense_valid(struct aftl *ftl, struct aftl_block *block, u32 page, u64 hour);

/* relocation.c: background tasks */

enum aftl_step aftl_reloc_next_step(struct aftl *ftl, struct aftl_lun *lun, bool urgent);
bool aftl_reloc_start_gc(struct aftl *ftl, struct aftl_lun *lun);
u32 aftl_reloc_page(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_reloc_gather(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_reloc_needs_stripe(struct aftl *ftl, struct aftl_lun *lun);
int aftl_reloc_commit(struct aftl *ftl, struct aftl_lun *lun, struct aftl_placement *placement);
void aftl_reloc_cancel(struct aftl *ftl, struct aftl_lun *lun);
void aftl_reloc_erased(struct aftl *ftl, struct aftl_lun *lun);
void aftl_reloc_programmed(struct aftl *ftl, struct aftl_lun *lun,
			   const struct aftl_placement *placement);
bool aftl_reloc_idle_wanted(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_reloc_start_idle(struct aftl *ftl, struct aftl_lun *lun);

/* gc-pace.c: paced GC */

bool aftl_gc_pace_due(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_gc_pace_begin(const struct aftl *ftl, struct aftl_lun *lun);
void aftl_gc_pace_earn(struct aftl_lun *lun, u32 units);
void aftl_gc_pace_spend(struct aftl_lun *lun, u32 units);

/* wear-level.c: wear levelling */

struct aftl_block *aftl_wear_select_cold(struct aftl *ftl, struct aftl_lun *lun);

/* refresh.c: retention refresh */

void aftl_refresh_set_clock(struct aftl *ftl);
void aftl_refresh_restart_scan(struct aftl *ftl);
void aftl_refresh_scan_event(struct aftl *ftl);
void aftl_refresh_suspend(struct aftl *ftl);
bool aftl_refresh_page_due(const struct aftl *ftl, const struct aftl_block *block, u32 page);
struct aftl_block *aftl_refresh_take_block(struct aftl *ftl, struct aftl_lun *lun);

/* Execute the next background task completely, in zero device time. */
bool aftl_reloc_run_untimed(struct aftl *ftl, struct aftl_lun *lun);

/* flash-array.c: operations of the array of a LUN */

void aftl_array_sense_plane(struct aftl *ftl, struct aftl_lun *lun, u32 device_page);
void aftl_array_sense(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 device_page,
		      u64 sense_ns, u32 units);
bool aftl_array_read_through(struct aftl *ftl, struct aftl_lun *lun, u32 device_page, u64 sense_ns,
			     u32 units);
void aftl_array_sense_reloc(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 units);
void aftl_array_sense_stripe_page(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
				  u32 page);
void aftl_array_sense_trans_page(struct aftl *ftl, struct aftl_lun *lun, u32 kind, aftl_ppn_t ppn);
void aftl_array_data_out(struct aftl *ftl, struct aftl_lun *lun);
void aftl_array_program(struct aftl *ftl, struct aftl_lun *lun, u32 kind,
			const struct aftl_placement *placement);
void aftl_array_copy(struct aftl *ftl, struct aftl_lun *lun,
		     const struct aftl_placement *placement);
void aftl_array_erase(struct aftl *ftl, struct aftl_lun *lun);
void aftl_array_suspend(struct aftl *ftl, struct aftl_lun *lun);
void aftl_array_suspend_for(struct aftl *ftl, struct aftl_lun *lun, bool write);
void aftl_array_resume(struct aftl *ftl, struct aftl_lun *lun);

#endif
