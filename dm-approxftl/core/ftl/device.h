/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device as the parts of the core share it. Not for hosts or policies.
 */
#ifndef AFTL_DEVICE_H
#define AFTL_DEVICE_H

#include "core/base/events.h"
#include "core/nand/read-timing.h"
#include "core/ftl/ftl.h"
#include "core/policy/lun-rules.h"

/* No command, no block: end of an index-linked list. */
#define AFTL_NIL U32_MAX

/* Its program has begun. */
#define AFTL_COMMAND_PROGRAMMING 0x01
/* Buffered, and a newer write or a discard made it pointless. */
#define AFTL_COMMAND_DROPPED 0x02
/* A newer write was programmed first: this one is programmed but not mapped. */
#define AFTL_COMMAND_SUPERSEDED 0x04
/* Where the buffer survives power loss: what tables say of its program counts. */
#define AFTL_COMMAND_STORED 0x08

/**
 * struct aftl_command - one page read, or one unit to be programmed
 * @seq: order of arrival at the controller
 * @queued_ns: time of that arrival
 * @request: whom to tell; NULL once a buffered write has been acknowledged
 * @lpn: first unit
 * @units: reads: how many consecutive units of one page
 * @next: in a queue, a program group or the free list
 * @hash_next: writes: next in the chain of pending units
 * @class: writes: enum aftl_class
 * @level: writes: of the data
 * @stream: writes: as the policy said
 * @epoch: writes: between which two flushes it arrived
 * @flags: AFTL_COMMAND_*
 * @hint: writes: as the host said
 */
struct aftl_command {
	u64 seq;
	u64 queued_ns;
	struct aftl_request *request;
	aftl_lpn_t lpn;
	u32 units;
	u32 next;
	u32 hash_next;
	u8 class;
	u8 level;
	u8 stream;
	u8 epoch;
	u8 flags;
	struct aftl_hint hint;
};

/*
 * First in, first out, linked through the commands. Of those that count, waited
 * have a request that cannot complete before they are programmed.
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
	/* Of sheets of the map: read for who waits, read to be written, written. */
	AFTL_WORK_TP_LOAD,
	AFTL_WORK_TP_MERGE,
	AFTL_WORK_TP_PROGRAM,
	/* Of stripes: a page read for another LUN, parity written. */
	AFTL_WORK_STRIPE_READ,
	AFTL_WORK_PARITY_PROGRAM,
};

/* What the array of a LUN is going through; the event is the end of the phase. */
enum aftl_phase {
	AFTL_PHASE_IDLE,
	AFTL_PHASE_SENSE,
	AFTL_PHASE_DATA_OUT,
	AFTL_PHASE_PROGRAM,
	AFTL_PHASE_ERASE,
	AFTL_PHASE_DEAD,
};

/**
 * struct aftl_work - the operation of a LUN
 * @kind: enum aftl_work_kind
 * @phase: enum aftl_phase
 * @suspends: how often it has been suspended
 * @yields: of an erase, programs of the host in its place
 * @commands: host commands that it carries
 * @units: units that a read returns
 * @device_page: of a read
 * @service_ns: array and channel time so far
 * @array_ns: when the array phase begins: from then on it can be suspended
 * @end_ns: when it is over; an event before that suspends it
 * @placement: of a program
 */
struct aftl_work {
	u8 kind;
	u8 phase;
	u32 suspends;
	u32 yields;
	u32 commands;
	u32 units;
	u32 device_page;
	u64 service_ns;
	u64 array_ns;
	u64 end_ns;
	struct aftl_placement placement;
};

/* Gathered slots: less than a program's worth plus one page. */
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
 * struct aftl_repeat - programs of a block that the policy wants once more elsewhere
 * @block: NULL if there are none
 * @erases: of the block; after an erase there is nothing to do
 * @begin: slots of the block from the first such program ...
 * @end: ... to the end of the last
 */
struct aftl_repeat {
	struct aftl_block *block;
	u32 erases;
	u32 begin;
	u32 end;
};

/* Blocks of a LUN that may wait for that; they have their turn before any write. */
#define AFTL_REPEAT_BLOCKS 8

/**
 * struct aftl_reloc - background work of a LUN: moving data, then perhaps an erase
 * @kind: enum aftl_reloc_kind
 * @cause: enum aftl_cause that its programs count for
 * @pass: for the policy's copy()
 * @erase: erase the block when nothing valid is left
 * @begun: a page has been taken in this pass: @class and @stream are its
 * @from: block that is searched
 * @begin: slot in @from where each pass begins
 * @cursor: slot in @from that is looked at next
 * @end: slot in @from where each pass ends
 * @class: of the gathered slots
 * @stream: of the gathered slots
 * @count: slots gathered
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
 * struct aftl_eviction_queue - sheets of the map that wait at a LUN to be written
 * @head: number of the first
 * @tail: of the last
 * @count: how many
 * @merging: number of the one that is being read
 */
struct aftl_eviction_queue {
	u32 head;
	u32 tail;
	u32 count;
	u32 merging;
};

/* For whom the rest of a stripe is read. */
enum aftl_reconstruct_kind {
	AFTL_RECONSTRUCT_NONE,
	AFTL_RECONSTRUCT_READ,
	AFTL_RECONSTRUCT_RELOC,
};

/**
 * struct aftl_reconstruct - a page of a LUN that is put together from the rest of its stripe
 * @kind: enum aftl_reconstruct_kind; one at a time
 * @wanted: the read that the array is at will need it
 * @block: number of the superblock
 * @page: in each of its blocks
 * @left: bit by member: its page has not come yet
 * @commands: of a read: the host's command that it is for
 * @units: of a read: units that it returns
 * @service_ns: of a read: time so far
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
 * struct aftl_superblock_state - what is kept of a superblock besides its blocks
 * @next: the next that has parity to be written in the same LUN
 * @parity_queued: it is in that list
 * @rebuild_done: of its blocks in dead LUNs what can be rebuilt has been
 */
struct aftl_superblock_state {
	u32 next;
	bool parity_queued;
	bool rebuild_done;
};

/**
 * struct aftl_die_group - LUNs whose blocks of one number are a superblock
 * @victim: number of the superblock that is collected; AFTL_NIL: none
 * @cause: enum aftl_cause of that
 * @urgent: somebody waits for it
 * @erased: bit by member: its array has been at it
 * @retry_seq: nothing is worth collecting before the device has seen so many commands
 * @collected: superblocks that have been erased
 */
struct aftl_die_group {
	u32 victim;
	u8 cause;
	bool urgent;
	u64 erased;
	u64 retry_seq;
	u32 collected;
};

/* What a job wants the array to do next. */
enum aftl_step {
	AFTL_STEP_NONE,
	AFTL_STEP_COPY,
	AFTL_STEP_READ,
	AFTL_STEP_PROGRAM,
	AFTL_STEP_FINISH,
	AFTL_STEP_ERASE,
};

/**
 * struct aftl_lun - one independent unit of the array
 * @index: below geo.luns; also its event source
 * @pending_write_lanes: bit by lane: its queue is not empty
 * @bus_ns: when its channel will be free
 * @work: what its array does now
 * @reads: host reads
 * @repeat_blocks: how many entries
 * @free_blocks: erased blocks
 * @valid: slots with current data
 * @in_flight: units on their way to this LUN, those included that are between passes
 * @max_valid: most slots with current data that leave garbage collection room to work
 * @slc_blocks: blocks of that kind, open or closed
 * @programs_since_read: programs since a read had its turn
 * @idle_exhausted: idle time has been used up: the policy had nothing to do
 * @runnable: the scheduler has to look at it
 * @out_of_blocks: a move found no place; until a block comes free only blocks without valid
 *	data are worth a thought
 * @below_reserve: too few free blocks for the policy, which did not leave them so; until
 *	there are enough moves go to @refuge
 * @refresh_due: it has some, and waits to be taken
 * @slc_block_empty: in one that is closed there may be nothing valid
 * @next_runnable: who woke after it
 * @stripe_requests: bit by member of its group: its repair wants a page of this one
 * @busy_ns: time at work
 * @suspended: a suspended operation, kind NONE if there is none
 * @suspended_ns: array time that it still needs
 * @writes: host writes by lane
 * @outcome: of its last program, which may be under way
 * @reloc: background work
 * @reconstruct: page of its own that comes from other LUNs
 * @prefetches: reads ahead of the host, when nobody waits for another
 * @evictions: sheets of the map
 * @idle_since_ns: when it ran out of work
 * @reconstructing_for: member that it reads a page for, or AFTL_NIL
 * @parity_head: number of the superblock whose parity it writes next
 * @parity_tail: the last of these
 * @parity_due: how many
 * @erased: what the erase that is under way costs
 * @repeats: programs that the policy wants once more, oldest block first
 * @good_blocks: blocks that are not bad
 * @free_head: oldest erased block
 * @free_tail: youngest erased block
 * @victims: closed blocks by valid slots, heads of lists
 * @min_valid: no closed block has fewer valid slots
 * @fallback: block of the core for what a policy placed illegally
 * @slc_open: block of the core for host writes with one bit in a cell
 * @fill_blocks: by class, block of the last program of a fill if the next one may go on there unasked
 * @handle_blocks: open block of each placement handle but the default one; NULL without handles
 * @foggy: blocks with word lines between their passes, so many as the device allows
 * @fine_pending_writes: word lines between their passes with host writes
 * @fine_pending_moves: the same with what its job moves
 * @forced_gc: victims that it may still take though it has enough free blocks
 * @failing_blocks: blocks that wait to be retired
 * @refresh_block: next block that is searched for old data, blocks_per_lun: none
 * @disturbed: closed block that was read too often; NULL: none, or nobody has read it since
 * @wear_due: erases since the last look at the wear gap
 * @gc_rate: of the victim, units to relocate for each unit of the host, in 1/256
 * @gc_credit: units that paced collection may relocate, in 1/256; negative: it is ahead
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
	u32 programs_since_read;
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
	u32 gc_rate;
	s64 gc_credit;
};

static_assert(!offsetof(struct aftl_lun, index), "for aftl_lun_index()");

/*
 * Requests that complete a constant time after their last part.
 */
struct aftl_completion_queue {
	struct aftl_request *head;
	struct aftl_request *tail;
	u64 delay_ns;
};

/*
 * Where the link takes time all but reads have a line, as they have a way, of their own. The
 * last one is there with a cache of reads only: each source of events costs others time.
 */
enum { AFTL_COMPLETION_READ, AFTL_COMPLETION_ECC_READ, AFTL_COMPLETION_WRITE, AFTL_COMPLETION_CACHE_HIT, AFTL_COMPLETION_QUEUES };

#define AFTL_EPOCHS 64

/**
 * struct aftl_zone - a range of units that is written in ascending order
 * @written: units up to the write pointer
 * @coming: of these, units of the write whose turn it is that are not bound yet
 * @state: enum aftl_zone_state
 * @slot: handle whose stream and open blocks it has; 0: none
 */
struct aftl_zone {
	u32 written;
	u32 coming;
	u8 state;
	u8 slot;
};

/**
 * struct aftl_zones - the zones of a device; without them all 0
 * @all: by number
 * @owner: zone of each slot, AFTL_NIL: it is free
 * @pending: units under way of each slot
 * @open: zones that are open, and
 * @active: those that are open or closed
 * @turn: where the search for one to be closed begins
 */
struct aftl_zones {
	struct aftl_zone *all;
	u32 owner[1 + AFTL_HANDLES_MAX];
	u32 pending[1 + AFTL_HANDLES_MAX];
	u32 open;
	u32 active;
	u32 turn;
};

/* It is in memory, or changes of it are; it is in the list of its like unless it leaves. */
#define AFTL_TP_CACHED 0x01
/* It has changed since it was written. */
#define AFTL_TP_DIRTY 0x02
/* Only changes are in memory, all else is in its slot. */
#define AFTL_TP_PARTIAL 0x04
/* Somebody waits for it, and a read of it is under way. */
#define AFTL_TP_LOADING 0x08
/* It waits at its LUN to be written, and then to be forgotten ... */
#define AFTL_TP_EVICTING 0x10
/* ... unless it was used meanwhile. */
#define AFTL_TP_REUSED 0x20

/**
 * struct aftl_trans_page - a piece of the map: the entries of units that follow each other
 * @waiting: reads that wait for it, the oldest first
 * @last_waiting: the youngest
 * @older: of those that are cached, the one that was used before it
 * @younger: the one that was used after it; or who leaves after it
 * @flags: AFTL_SHEET_*
 */
struct aftl_trans_page {
	struct aftl_request *waiting;
	struct aftl_request *last_waiting;
	u32 older;
	u32 younger;
	u8 flags;
};

/**
 * struct aftl_cmt - the sheets of a device; without any all 0
 * @all: by number
 * @capacity: so many are in memory and stay there
 * @max_evicting: of those that leave, so many may wait before host writes do
 * @cached: in memory, with those that leave
 * @evicting: these
 * @oldest: of those that stay the one that was not used for the longest
 * @youngest: the one that was used last
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

/* It has arrived in the controller. */
#define AFTL_READ_CACHE_READY 0x01
/* It was read ahead, and nobody has asked for it yet. */
#define AFTL_READ_CACHE_PREFETCHED 0x02

/**
 * struct aftl_read_cache_entry - a unit that has been read, with the bits that came of it
 * @lpn: which
 * @ppn: from where
 * @erases: of the block, then
 * @flips: errors in the bytes
 * @generation: of the bytes
 * @again: programs of the page after its first, then
 * @flags: AFTL_RECENT_*
 * @older: who was used before it
 * @younger: who was used after it
 * @next: in its chain
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
 * struct aftl_read_cache - what reads have brought into the controller; without it all 0
 * @all: units, the first @used of them
 * @chains: of those, by unit
 * @mask: of a chain
 * @count: as many as there is room for
 * @oldest: the one that was not used for the longest
 * @youngest: the one that was used last
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

/* So many readers that go on in order are told apart. */
#define AFTL_READ_STREAMS 16

/**
 * struct aftl_read_stream - reads of the host that follow each other
 * @next: unit that the next one would begin with
 * @ahead: up to where has been read, or will be
 * @turn: when the last one came; 0: there was none
 */
struct aftl_read_stream {
	u32 next;
	u32 ahead;
	u64 turn;
};

/**
 * struct aftl_host_queues - requests that wait behind the next one, by queue of the host
 * @head: the oldest of each queue
 * @tail: the youngest
 * @count: all of them
 * @queue: whose turn it is
 * @left: so many more of it until it is another's
 */
struct aftl_host_queues {
	struct aftl_request *head[AFTL_QUEUES_MAX];
	struct aftl_request *tail[AFTL_QUEUES_MAX];
	u32 count;
	u32 queue;
	u32 left;
};

/**
 * struct aftl_lane_lun - which LUN the next write of a lane goes to
 * @lun: index
 * @left: units that still go there
 */
struct aftl_lane_lun {
	u32 lun;
	u32 left;
};

/*
 * One device. Everything hangs off it; nothing is shared between devices.
 */
struct aftl {
	struct aftl_config config;
	struct aftl_geometry geo;
	struct aftl_media media;
	struct aftl_cell cell;
	struct aftl_chip chip;
	struct aftl_read_timing sense;
	struct aftl_stats stats;
	const struct aftl_policy_type *type;
	struct aftl_policy *policy;
	struct aftl_policy_core core;
	const struct aftl_host_ops *ops;
	void *host;
	u64 memory_bytes;

	u64 now_ns;
	u64 age_ns;
	u64 hour;
	u64 hour_ns; /* when it began, in both together */
	bool running;
	bool filling;
	bool suspending;
	bool read_only;
	bool buffer_lost;
	bool ignore_policy_copy;
	bool retry;
	bool draining;
	u32 lost_units;
	u32 placing_cause; /* enum aftl_cause of what is being placed */
	struct aftl_events events;
	u32 event_completions;
	u32 event_clock;

	/* LUNs that the scheduler has to look at, in the order in which they woke. */
	struct aftl_lun *runnable;
	struct aftl_lun *last_runnable;

	struct aftl_chunks l2p;
	struct aftl_lun *luns;
	u32 *victims;
	u64 *bus_ns;

	/* Derived from the configuration once, because every operation needs them. */
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
	struct aftl_superblock_state *superblocks;
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
	u32 *pending;
	u32 pending_mask;

	u64 next_day_ns;
	u32 refresh_lun;

	/* Position in the order "stripe" of the LUN whose turn is next. */
	u32 rotation;
	struct aftl_lun_rule lun_rule;
	const void *lun_params;
	u32 allocation_units;
	struct aftl_lane_lun lane_luns[AFTL_WRITE_STREAMS];
	struct aftl_request *wait_head[2];
	struct aftl_request *wait_tail[2];
	struct aftl_host_queues host_queues[2];
	u32 queues;
	struct aftl_completion_queue completions[AFTL_COMPLETION_QUEUES];
	/* When the controller, and then the link, can take another request: out, in. */
	u64 command_ns[2];
	u64 link_ns[2];
	bool link_paced;
	u64 seq;
	u32 requests;

	u32 outstanding[AFTL_EPOCHS];
	u32 epoch;
	u32 oldest_epoch;
	struct aftl_request *flushes;
	struct aftl_request *last_flush;
};

/* time.c */
void aftl_update_hour(struct aftl *ftl);

/* The same as aftl_hours(), which divides. */
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

/* oob-extra.c */
int __must_check aftl_oob_extra_alloc(struct aftl *ftl);
/* Of those that have been taken. */
void aftl_oob_extra_free(struct aftl *ftl);
/* Before @block keeps other hours or errors than none. */
void aftl_oob_extra_need(struct aftl *ftl, struct aftl_block *block);
/* What an erase changes. */
void aftl_reset_erased_block(struct aftl *ftl, struct aftl_block *block);

static inline void aftl_oob_store_origin(struct aftl *ftl, struct aftl_block *block, aftl_ppn_t ppn,
				     struct aftl_origin origin)
{
	u16 *baked;

	if (!aftl_models_errors(&ftl->media))
		return;
	if (unlikely(origin.inherited))
		aftl_oob_extra_need(ftl, block);
	*aftl_oob_generation(&ftl->media, ppn) = origin.generation;
	baked = aftl_inherited_errors_at(&ftl->media, block, ppn);
	if (unlikely(baked))
		*baked = origin.inherited;
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

/* Nothing in it works any more; what it holds is lost. */
static inline bool aftl_lun_dead(const struct aftl_lun *lun)
{
	return lun->work.phase == AFTL_PHASE_DEAD;
}

/* What is in @ppn is lost with its LUN. */
static inline bool aftl_ppn_in_dead_lun(const struct aftl *ftl, aftl_ppn_t ppn)
{
	u32 block = aftl_block_index(&ftl->media, aftl_ppn_block(&ftl->media, ppn));

	return aftl_lun_dead(&ftl->luns[block / ftl->geo.blocks_per_lun]);
}

/* For so many units more, those included that are on their way. */
static inline bool aftl_lun_has_room(const struct aftl_lun *lun, u32 units)
{
	return lun->valid + lun->in_flight + units <= lun->max_valid;
}

/* What a policy answers, if it has a name. */
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

/* Utilisation of the write buffer in 1/10000. */
static inline u32 aftl_buffer_use(const struct aftl *ftl)
{
	u64 used = ftl->write_commands - ftl->free_write_count;

	return aftl_has_write_buffer(ftl) ? (u32)(used * 10000 / ftl->write_commands) : 0;
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
 * Something came for @lun, or its array is free: the scheduler looks at it before
 * the call of the host returns. A busy array wakes it at its end.
 */
static inline void aftl_wake_lun(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE)
		aftl_mark_runnable(ftl, lun);
}

/* The same for a write, which may interrupt an erase. */
static inline void aftl_wake_for_write(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE ||
	    (unlikely(ftl->config.suspend_for_write) && lun->work.phase == AFTL_PHASE_ERASE))
		aftl_mark_runnable(ftl, lun);
}

/* The same for a read, which may interrupt what the array does. */
static inline void aftl_wake_for_read(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE || ftl->config.suspend || aftl_lun_dead(lun))
		aftl_mark_runnable(ftl, lun);
}

static inline void aftl_wake_all(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		aftl_wake_lun(ftl, &ftl->luns[i]);
}

/* Tell a host that must know. */
static inline void aftl_notify_retired(struct aftl *ftl, u32 first, u32 blocks)
{
	if (ftl->ops->retire)
		ftl->ops->retire(ftl->host, first, blocks);
}

/* snapshot.c */

/* Media and map have been put back, and an audit has found them right: let the device live. */
void aftl_start_restored(struct aftl *ftl);

/* inspect.c: aftl_audit() without a look at each slot. */
int __must_check aftl_audit_counts(const struct aftl *ftl, struct aftl_error *error);

/* device.c: the configuration is new */
void aftl_apply_config(struct aftl *ftl);

/*
 * Between two slices of a long call: let the host's others have the processor.
 * Return: 0, or the host's wish to end it.
 */
static inline int aftl_host_pause(const struct aftl *ftl)
{
	return ftl->ops->pause ? ftl->ops->pause(ftl->host) : 0;
}

/* l2p.c: which slot holds a unit */

/* Has the host lost the bytes of the unit in @ppn? */
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

/* The content of @page of the device will be copied soon, and its places in the map change. */
void aftl_prefetch_relocation(const struct aftl *ftl, u32 page);

/* @lpn is now in @ppn of @block; its former slot becomes invalid. */
void aftl_l2p_update(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
		  aftl_lpn_t lpn, aftl_ppn_t ppn, u32 level);

/* The same for a move inside @lun, where the former place is known. */
void aftl_l2p_relocate(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *from,
		   aftl_ppn_t former, struct aftl_block *block, aftl_lpn_t lpn,
		   aftl_ppn_t ppn, u32 level);

/* Returns whether @lpn was mapped. */
bool aftl_l2p_unmap(struct aftl *ftl, aftl_lpn_t lpn);

/* The bytes of @ppn, which is valid, are lost: reads fail until the unit is written again. */
void aftl_l2p_mark_lost(struct aftl *ftl, aftl_ppn_t ppn);

/* memory.c: zeroed, and counted in memory_bytes; NULL if there is none */

void *aftl_memory_alloc(struct aftl *ftl, size_t count, size_t size);
/* While it runs; never NULL. Of hosts that offer it only. */
void *aftl_memory_alloc_runtime(struct aftl *ftl, size_t count, size_t size);
void aftl_memory_free(struct aftl *ftl, void *memory);

/* policy-services.c: what the core does for policies */

void aftl_policy_services_init(struct aftl *ftl);

/* Commands that wait at @lun. */
u32 aftl_lun_queued(const struct aftl_lun *lun);

/* policy-instance.c: the policy of the device and its state */

/* Are the arrays of @type possible? */
int __must_check aftl_policy_instance_check(const struct aftl_policy_type *type,
				     struct aftl_error *error);

/* The device's policy with its parts, or NULL without memory. */
struct aftl_policy *aftl_policy_instance_create(struct aftl *ftl);

/* See aftl_policy_part(). */
struct aftl_policy *aftl_policy_instance_add(struct aftl_policy *whole,
				       const struct aftl_policy_type *type);
void aftl_policy_instance_destroy(struct aftl_policy *policy);

/* Word @index of its state, and of that of its parts; false past the last. */
bool aftl_policy_instance_save(const struct aftl_policy *policy, u64 index, u64 *word);

/* The same back, any word; words past the last are left out. */
void aftl_policy_instance_restore(struct aftl_policy *policy, u64 index, u64 word);

/* All words are there. */
void aftl_policy_instance_restored(struct aftl_policy *policy);

/* block-manager.c: free blocks, closed blocks by valid count, bad blocks */

void aftl_block_manager_init(struct aftl *ftl);

/* Before and after blocks are loaded: no lists; the limits that follow from them. */
void aftl_block_manager_clear(struct aftl *ftl);
void aftl_block_manager_restored(struct aftl *ftl);

/*
 * The policy finds other free and open blocks than it would have left: where they are
 * too few, the core makes room by itself.
 */
void aftl_block_manager_check_reserve(struct aftl *ftl);
struct aftl_block *aftl_free_block_take(struct aftl *ftl, struct aftl_lun *lun, u32 kind);
void aftl_assign_parity(struct aftl *ftl, u32 group, u32 number);
void aftl_assign_parity_block(struct aftl *ftl, u32 group, u32 number);
void aftl_free_block_add(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_block_open(struct aftl *ftl, struct aftl_block *block, enum aftl_order order, u32 kind);
void aftl_block_close(struct aftl *ftl, struct aftl_block *block);
void aftl_victim_list_add(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_victim_list_remove(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

/* The listed block with the fewest valid slots, or NULL. */
struct aftl_block *aftl_victim_fewest_valid(struct aftl *ftl, struct aftl_lun *lun);

/* A closed block to collect that has at most so many valid slots, or NULL. */
struct aftl_block *aftl_gc_select_victim(struct aftl *ftl, struct aftl_lun *lun, u32 most_valid);

/* Of each LUN, out of the host's reach: what its policy and the cache work with. */
static inline u32 aftl_reserved_blocks(const struct aftl *ftl)
{
	if (unlikely(ftl->geo.zones))
		return ftl->type->reserve + 2;
	return ftl->type->open_blocks + ftl->handles + ftl->type->reserve + 1 +
	       (ftl->geo.superblock_luns ? 2 : 0) +
	       max(ftl->slc_static_blocks, (u32)(ftl->slc_max_blocks != 0));
}

/* A block of the core's own is full, or is taken from it. */
static inline void aftl_forget_core_block(struct aftl_lun *lun, const struct aftl_block *block)
{
	if (unlikely(block->handle) && lun->handle_blocks && lun->handle_blocks[block->handle - 1] == block)
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

/* One valid slot fewer in @block. */
void aftl_block_invalidate(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

/* Free blocks that host writes must leave to moves. */
static inline u32 aftl_gc_reserve(const struct aftl *ftl)
{
	return ftl->type->reserve;
}

/* Free blocks that are the cache's, and nobody else's. */
static inline u32 aftl_slc_missing_blocks(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return ftl->slc_static_blocks > lun->slc_blocks ? ftl->slc_static_blocks - lun->slc_blocks : 0;
}

/* Host writes would have to wait for garbage collection before their next block. */
static inline bool aftl_gc_urgent(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->free_blocks <= aftl_gc_reserve(ftl) + aftl_slc_missing_blocks(ftl, lun);
}

/* Below what the parameter "gc" says? */
static inline bool aftl_below_gc_watermark(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->free_blocks < ftl->gc_blocks + aftl_slc_missing_blocks(ftl, lun);
}

/*
 * May there be background work that does not wait for idle time? Where this says no
 * aftl_reloc_next_step() finds none.
 */
static inline bool aftl_reloc_due(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->reloc.kind | lun->failing_blocks | lun->repeat_blocks | lun->slc_blocks |
		       lun->forced_gc | lun->refresh_due | ftl->geo.superblock_luns | ftl->geo.zones ||
	       lun->disturbed || ftl->config.wear_gap || aftl_below_gc_watermark(ftl, lun);
}

/* The last free blocks are for moves that make others free. */
static inline bool aftl_repeat_allowed(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->repeat_blocks && !lun->out_of_blocks && !lun->below_reserve && !aftl_gc_urgent(ftl, lun);
}

/* Before anything else is written: are there programs to repeat? */
static inline bool aftl_reloc_repeat_due(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->reloc.kind == AFTL_RELOC_REPEAT || aftl_repeat_allowed(ftl, lun);
}

/* slc-cache.c: host writes with one bit in a cell */

/* Without a cache such a block is like others, or its policy's. */
static inline bool aftl_is_slc_block(const struct aftl *ftl, const struct aftl_block *block)
{
	return unlikely(block->bits == 1) && ftl->slc_max_blocks;
}

void aftl_slc_cache_configure(struct aftl *ftl);
int __must_check aftl_slc_cache_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_slc_cache_place(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_program_request *need,
		      struct aftl_placement *placement);
struct aftl_block *aftl_slc_cache_select_fold(struct aftl *ftl, const struct aftl_lun *lun);
struct aftl_block *aftl_slc_cache_select_urgent_fold(struct aftl *ftl, struct aftl_lun *lun, bool urgent);
bool aftl_slc_cache_adopt(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_slc_cache_recount(struct aftl *ftl);

/* placement-handle.c: placement handles, each with reclaim units of its own */

/* Handle of data that go as @stream; 0: the default one, for streams of the policy. */
static inline u32 aftl_stream_handle(const struct aftl *ftl, u32 stream)
{
	return unlikely(stream >= ftl->streams) ? stream - ftl->streams + 1 : 0;
}

/* As what stream do valid data of @block go where they stay apart? 0: as the policy says. */
static inline u32 aftl_isolated_stream(const struct aftl *ftl, const struct aftl_block *block)
{
	if (likely(!block->handle) || !(ftl->config.placement_isolation || ftl->geo.trans_pages))
		return 0;
	return ftl->streams + block->handle - 1;
}

int __must_check aftl_handle_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_handle_alloc(struct aftl *ftl);
bool aftl_handle_assign_stream(struct aftl *ftl, struct aftl_request *request);
int aftl_handle_place(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_program_request *need,
		      struct aftl_placement *placement);
void aftl_handle_closed(struct aftl *ftl, const struct aftl_block *block);
bool aftl_handle_adopt(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_handle_restored(struct aftl *ftl);

/* translation-page.c: the map on flash, of which some is in memory */

struct aftl_payload;

static inline struct aftl_trans_page *aftl_trans_page_of(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return &ftl->cmt.all[from_lpn(lpn) >> ftl->geo.trans_page_shift];
}

/* Units from @lpn on whose entries are in the same sheet. */
static inline u32 aftl_trans_page_remaining(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return BIT(ftl->geo.trans_page_shift) - (from_lpn(lpn) & (BIT(ftl->geo.trans_page_shift) - 1));
}

/* Too many sheets have to be written: writes of the host wait. */
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

/* read-cache.c: what reads have brought into the controller */

int __must_check aftl_read_cache_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_read_cache_alloc(struct aftl *ftl);
struct aftl_read_cache_entry *aftl_read_cache_find(const struct aftl *ftl, aftl_lpn_t lpn);
void aftl_read_cache_touch(struct aftl *ftl, struct aftl_read_cache_entry *recent);
struct aftl_read_cache_entry *aftl_read_cache_add(struct aftl *ftl, aftl_lpn_t lpn, aftl_ppn_t ppn);
void aftl_read_cache_clear(struct aftl *ftl);

/* zone.c: zones, each with blocks of its own */

static inline bool aftl_zone_active(const struct aftl_zone *zone)
{
	return zone->state >= AFTL_ZONE_IMPLICIT && zone->state <= AFTL_ZONE_CLOSED;
}

static inline struct aftl_zone *aftl_zone_at(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return &ftl->zones.all[from_lpn(lpn) / ftl->geo.zone_units];
}

/* Will there be nothing more of it? Then what fills no page goes as it is. */
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
void aftl_zone_unit_done(struct aftl *ftl, u32 stream);
void aftl_zone_fallback_block(struct aftl *ftl, struct aftl_lun *lun, aftl_lpn_t lpn);
void aftl_zone_block_retired(struct aftl *ftl, struct aftl_lun *lun);
void aftl_zone_lun_died(struct aftl *ftl, const struct aftl_lun *lun);
bool aftl_zone_restored(struct aftl *ftl);
void aftl_zone_rebuild(struct aftl *ftl, u32 zone, u32 written, enum aftl_zone_state noted);
bool aftl_zone_finish_excess(struct aftl *ftl);
void aftl_zone_reserve_slot(struct aftl *ftl, aftl_lpn_t lpn);
void aftl_zone_reopen_blocks(struct aftl *ftl);

/* superblock.c: superblocks, and the parity of their stripes */

static inline u32 aftl_die_group_of(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->index / ftl->geo.superblock_luns;
}

/* Place of @lun among those of its group. */
static inline u32 aftl_die_group_member(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->index % ftl->geo.superblock_luns;
}

static inline struct aftl_lun *aftl_die_group_lun(struct aftl *ftl, u32 group, u32 member)
{
	return &ftl->luns[group * ftl->geo.superblock_luns + member];
}

/* Block of superblock @number in @member of @group. */
static inline struct aftl_block *aftl_superblock_block(const struct aftl *ftl, u32 group, u32 number,
						  u32 member)
{
	u32 lun = group * ftl->geo.superblock_luns + member;

	return &ftl->media.blocks[lun * ftl->geo.blocks_per_lun + number];
}

static inline struct aftl_superblock_state *aftl_superblock_at(const struct aftl *ftl, u32 group, u32 number)
{
	return &ftl->superblocks[group * ftl->geo.blocks_per_lun + number];
}

static inline u32 aftl_superblock_number(const struct aftl *ftl, const struct aftl_block *block)
{
	return aftl_block_index(&ftl->media, block) % ftl->geo.blocks_per_lun;
}

/* Are host reads or moves put together from the rest of their stripes? */
static inline bool aftl_has_rain(const struct aftl *ftl)
{
	return unlikely(ftl->config.rain);
}

int __must_check aftl_superblock_check(const struct aftl *ftl, const struct aftl_config *config,
				  struct aftl_error *error);
bool aftl_superblock_alloc(struct aftl *ftl);
struct aftl_block *aftl_superblock_select_free(struct aftl *ftl, const struct aftl_lun *lun, u32 kind);
u32 aftl_superblock_parity_member(const struct aftl *ftl, u32 group, u32 number);
bool aftl_superblock_unused(const struct aftl *ftl, u32 group, u32 number);
void aftl_parity_queue_due(struct aftl *ftl, const struct aftl_block *block);
bool aftl_parity_next_program(struct aftl *ftl, struct aftl_lun *lun, struct aftl_placement *placement);
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

/* superblock-gc.c: superblocks are collected, and erased */

void aftl_superblock_rebuilt(struct aftl *ftl, const struct aftl_block *block);
void aftl_superblock_sync_erases(struct aftl *ftl);
void aftl_superblock_assign_parity(struct aftl *ftl);
void aftl_block_mark_lost(struct aftl *ftl, const struct aftl_block *block);
bool aftl_superblock_gc_start(struct aftl *ftl, struct aftl_lun *lun, u32 cause, u32 limit);
bool aftl_superblock_gc_start_block(struct aftl *ftl, const struct aftl_block *block, u32 cause);
bool aftl_superblock_gc_emptied(struct aftl *ftl, u32 group);
struct aftl_block *aftl_superblock_gc_member(struct aftl *ftl, const struct aftl_lun *lun);
struct aftl_block *aftl_superblock_gc_rebuild_block(struct aftl *ftl, const struct aftl_lun *lun, bool idle);
void aftl_superblock_gc_erased(struct aftl *ftl, struct aftl_lun *lun);
void aftl_superblock_gc_finish(struct aftl *ftl, u32 group);
void aftl_superblock_lun_died(struct aftl *ftl, const struct aftl_lun *lun);

/* Its share in that comes before what its host writes. */
static inline bool aftl_superblock_gc_urgent(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return unlikely(ftl->geo.superblock_luns) && ftl->die_groups[aftl_die_group_of(ftl, lun)].urgent;
}

/* Its next free block comes when others have done their share. */
static inline bool aftl_superblock_gc_delays(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return unlikely(ftl->geo.superblock_luns) &&
	       (ftl->die_groups[aftl_die_group_of(ftl, lun)].victim != AFTL_NIL || lun->reconstruct.kind);
}

/* lun-allocation.c: which LUN a write goes to */

/* Position of the LUN that the host's first write goes to, after a fill as without. */
static inline u32 aftl_first_allocation_turn(const struct aftl_geometry *geo)
{
	return 1 % geo->luns;
}

struct aftl_lun *aftl_allocate_lun(struct aftl *ftl, aftl_lpn_t lpn, u32 class, u32 stream, u32 units);

/* program.c: the transaction of one program */

/**
 * struct aftl_payload - units that are about to be programmed together
 * @count: units
 * @promoted: of them, moves that make approximate data precise
 * @piggybacked: of them, moves beside host data; they come first
 * @dropped: of them, moves that were overwritten between two passes: as good as padding
 * @from: former place of a move; AFTL_NO_PPN for a host write
 * @tag: of a host write; AFTL_NIL for a move
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
 * struct aftl_fine_pending - what a word line between its passes is to hold
 * @need: whom it was programmed for; all 0 if there is nothing
 * @commands: host writes, which stay in the controller
 * @payload: as it was when the coarse pass began
 */
struct aftl_fine_pending {
	struct aftl_program_request need;
	u32 commands;
	struct aftl_payload payload;
};

/**
 * struct aftl_foggy_block - a block with word lines between their passes
 * @block: NULL: none
 * @held: for each of them, by the number of the word line
 */
struct aftl_foggy_block {
	struct aftl_block *block;
	struct aftl_fine_pending held[AFTL_FOGGY_WORD_LINES];
};

/* fine-pending.c: what is between its passes */

bool aftl_fine_pending_room(const struct aftl *ftl, const struct aftl_lun *lun,
		    const struct aftl_block *block);
struct aftl_fine_pending *aftl_fine_pending_at(const struct aftl *ftl, struct aftl_foggy_block *foggy, u32 page);
void aftl_fine_pending_begin(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_program_request *need,
		     const struct aftl_placement *placement, const struct aftl_payload *payload);
void aftl_fine_pending_end(struct aftl *ftl, struct aftl_lun *lun, struct aftl_fine_pending *held);
bool aftl_fine_pending_close(struct aftl *ftl, struct aftl_block *block);
void aftl_fine_pending_drop_moves(struct aftl *ftl, struct aftl_lun *lun);
u32 aftl_fine_pending_give_up(struct aftl *ftl, struct aftl_lun *lun);

/* fine-pass.c: the second pass, and coarse ones with nothing in them */

struct aftl_fine_pending *aftl_fine_pass_due(struct aftl *ftl, struct aftl_lun *lun,
				struct aftl_placement *placement);
void aftl_fine_pass_commit(struct aftl *ftl, struct aftl_lun *lun, struct aftl_fine_pending *held,
		      const struct aftl_placement *placement);
bool aftl_foggy_pass_pad(struct aftl *ftl, struct aftl_lun *lun, bool moves,
		   struct aftl_placement *placement);
void aftl_fine_pass_run_untimed(struct aftl *ftl, struct aftl_lun *lun);

int __must_check aftl_program_place(struct aftl *ftl, struct aftl_lun *lun,
				    const struct aftl_program_request *need,
				    struct aftl_placement *placement);
/* A first pass may have no @payload: nothing is in it. */
void aftl_program_commit(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_program_request *need,
			 const struct aftl_placement *placement,
			 const struct aftl_payload *payload);
void aftl_program_fill_step(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
			u32 class, const struct aftl_payload *payload);

/**
 * struct aftl_fill_order - units in the order in which a fill writes them first
 * @at: the next one
 * @step: from one to the next; it shares no factor with @units
 * @units: all of them: beyond the last one is the first
 * @seq: number of the next write
 */
struct aftl_fill_order {
	u32 at;
	u32 step;
	u32 units;
	u64 seq;
};

/* The one so many after the next. */
static inline u32 aftl_fill_order_unit(const struct aftl_fill_order *course, u32 ahead)
{
	u64 at = course->at + (u64)ahead * course->step;

	return likely(at < course->units) ? at : at % course->units;
}

static inline void aftl_fill_order_skip(struct aftl_fill_order *course, u32 units)
{
	course->at = aftl_fill_order_unit(course, units);
	course->seq += units;
}

void aftl_program_fill_rounds(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
			 struct aftl_fill_order course, u32 rounds);

/* Add the content of @ppn, which is valid. */
void aftl_payload_add_move(struct aftl *ftl, struct aftl_payload *payload, aftl_ppn_t ppn);

/* Begin the payload of a host write with what the policy takes along. */
void aftl_payload_add_carried(struct aftl *ftl, const struct aftl_placement *placement,
			struct aftl_payload *payload);

/* Parity has no units: its slots are programmed and nobody's. */
void aftl_program_parity(struct aftl *ftl, struct aftl_lun *lun,
			 const struct aftl_placement *placement);

/* Ask the policy how; lun->erased is what it will cost. aftl_erase_commit() is to follow. */
void aftl_erase_begin(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_block *block);
void aftl_erase_commit(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

/* Units that one answer of the policy has room for. */
static inline u32 aftl_placement_units(const struct aftl *ftl,
				       const struct aftl_placement *placement)
{
	return placement->pages * ftl->geo.page_units;
}

/* sensing.c: a read of a page, for whatever purpose */

u64 aftl_read_timing(struct aftl *ftl, struct aftl_block *block, u32 page, u64 hour);
u64 aftl_sense_valid(struct aftl *ftl, struct aftl_block *block, u32 page, u64 hour);

/* relocation.c: background work */

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

/* gc-pace.c: the share of collection that each host write waits for */

bool aftl_gc_pace_due(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_gc_pace_begin(const struct aftl *ftl, struct aftl_lun *lun);
void aftl_gc_pace_earn(struct aftl_lun *lun, u32 units);
void aftl_gc_pace_spend(struct aftl_lun *lun, u32 units);

/* refresh.c: the day, and the search for data that is too old */

void aftl_refresh_set_clock(struct aftl *ftl);
void aftl_refresh_restart_scan(struct aftl *ftl);
void aftl_refresh_scan_event(struct aftl *ftl);
void aftl_refresh_suspend(struct aftl *ftl);
bool aftl_refresh_page_due(const struct aftl *ftl, const struct aftl_block *block, u32 page);
struct aftl_block *aftl_refresh_take_block(struct aftl *ftl, struct aftl_lun *lun);

/* Do the whole of the next piece of background work now, without time. */
bool aftl_reloc_run_untimed(struct aftl *ftl, struct aftl_lun *lun);

/* array.c: the array of a LUN */

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
