/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device as the parts of the core share it. Not for hosts or policies.
 */
#ifndef AFTL_DEVICE_H
#define AFTL_DEVICE_H

#include "core/base/events.h"
#include "core/flash/sense.h"
#include "core/ftl/ftl.h"
#include "core/policy/luns.h"

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
 * @unit: first unit
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
	aftl_unit_t unit;
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
	AFTL_WORK_JOB_READ,
	AFTL_WORK_JOB_PROGRAM,
	AFTL_WORK_JOB_COPY,
	AFTL_WORK_ERASE,
	/* Of sheets of the map: read for who waits, read to be written, written. */
	AFTL_WORK_LOAD,
	AFTL_WORK_MERGE,
	AFTL_WORK_SHEETS,
	/* Of stripes: a page read for another LUN, parity written. */
	AFTL_WORK_STRIPE,
	AFTL_WORK_PARITY,
};

/* What the array of a LUN is going through; the event is the end of the phase. */
enum aftl_phase {
	AFTL_PHASE_IDLE,
	AFTL_PHASE_SENSE,
	AFTL_PHASE_RETURN,
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
#define AFTL_JOB_SLOTS (2 * AFTL_PROGRAM_UNITS_MAX)

enum aftl_job_kind {
	AFTL_JOB_NONE,
	AFTL_JOB_EMPTY,
	AFTL_JOB_REFRESH,
	AFTL_JOB_REDO,
	AFTL_JOB_REWRITE,
	AFTL_JOB_REBUILD,
};

/**
 * struct aftl_redo - programs of a block that the policy wants once more elsewhere
 * @block: NULL if there are none
 * @erases: of the block; after an erase there is nothing to do
 * @begin: slots of the block from the first such program ...
 * @end: ... to the end of the last
 */
struct aftl_redo {
	struct aftl_block *block;
	u32 erases;
	u32 begin;
	u32 end;
};

/* Blocks of a LUN that may wait for that; they have their turn before any write. */
#define AFTL_REDO_BLOCKS 8

/**
 * struct aftl_job - background work of a LUN: moving data, then perhaps an erase
 * @kind: enum aftl_job_kind
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
struct aftl_job {
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
	aftl_slot_t slots[AFTL_JOB_SLOTS];
};

/**
 * struct aftl_leaving - sheets of the map that wait at a LUN to be written
 * @head: number of the first
 * @tail: of the last
 * @count: how many
 * @merging: number of the one that is being read
 */
struct aftl_leaving {
	u32 head;
	u32 tail;
	u32 count;
	u32 merging;
};

/* For whom the rest of a stripe is read. */
enum aftl_repair_kind {
	AFTL_REPAIR_NONE,
	AFTL_REPAIR_READ,
	AFTL_REPAIR_JOB,
};

/**
 * struct aftl_repair - a page of a LUN that is put together from the rest of its stripe
 * @kind: enum aftl_repair_kind; one at a time
 * @wanted: the read that the array is at will need it
 * @block: number of the superblock
 * @page: in each of its blocks
 * @left: bit by member: its page has not come yet
 * @commands: of a read: the host's command that it is for
 * @units: of a read: units that it returns
 * @service_ns: of a read: time so far
 */
struct aftl_repair {
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
 * struct aftl_super - what is kept of a superblock besides its blocks
 * @next: the next that has parity to be written in the same LUN
 * @due: it is in that list
 * @given_up: of its blocks in dead LUNs what can be rebuilt has been
 */
struct aftl_super {
	u32 next;
	bool due;
	bool given_up;
};

/**
 * struct aftl_group - LUNs whose blocks of one number are a superblock
 * @victim: number of the superblock that is collected; AFTL_NIL: none
 * @cause: enum aftl_cause of that
 * @pressed: somebody waits for it
 * @erased: bit by member: its array has been at it
 * @again: nothing is worth collecting before the device has seen so many commands
 * @collected: superblocks that have been erased
 */
struct aftl_group {
	u32 victim;
	u8 cause;
	bool pressed;
	u64 erased;
	u64 again;
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
 * @write_lanes: bit by lane: its queue is not empty
 * @bus_ns: when its channel will be free
 * @work: what its array does now
 * @reads: host reads
 * @redo_blocks: how many entries
 * @free_blocks: erased blocks
 * @valid: slots with current data
 * @bound: units on their way to this LUN, those included that are between passes
 * @room: most slots with current data that leave garbage collection room to work
 * @cached: blocks of that kind, open or closed
 * @in_row: programs since a read had its turn
 * @chores: idle time has been used up: the policy had nothing to do
 * @awake: the scheduler has to look at it
 * @stuck: a move found no place; until a block comes free only blocks without valid
 *	data are worth a thought
 * @cramped: too few free blocks for the policy, which did not leave them so; until
 *	there are enough moves go to @refuge
 * @refresh_due: it has some, and waits to be taken
 * @cache_dead: in one that is closed there may be nothing valid
 * @next_awake: who woke after it
 * @asked: bit by member of its group: its repair wants a page of this one
 * @busy_ns: time at work
 * @parked: a suspended operation, kind NONE if there is none
 * @parked_ns: array time that it still needs
 * @writes: host writes by lane
 * @outcome: of its last program, which may be under way
 * @job: background work
 * @repair: page of its own that comes from other LUNs
 * @ahead: reads ahead of the host, when nobody waits for another
 * @leaving: sheets of the map
 * @idle_since_ns: when it ran out of work
 * @reading_for: member that it reads a page for, or AFTL_NIL
 * @parity_head: number of the superblock whose parity it writes next
 * @parity_tail: the last of these
 * @parity_due: how many
 * @erased: what the erase that is under way costs
 * @redo: programs that the policy wants once more, oldest block first
 * @good_blocks: blocks that are not bad
 * @free_head: oldest erased block
 * @free_tail: youngest erased block
 * @victims: closed blocks by valid slots, heads of lists
 * @fewest: no closed block has fewer valid slots
 * @refuge: block of the core for what a policy placed illegally
 * @cache: block of the core for host writes with one bit in a cell
 * @filled: by class, block of the last program of a fill if the next one may go on there unasked
 * @placed: open block of each placement handle but the default one; NULL without handles
 * @foggy: blocks with word lines between their passes, so many as the device allows
 * @held_writes: word lines between their passes with host writes
 * @held_moves: the same with what its job moves
 * @collect: victims that it may still take though it has enough free blocks
 * @failing_blocks: blocks that wait to be retired
 * @refresh_block: next block that is searched for old data, blocks_per_lun: none
 * @disturbed: closed block that was read too often; NULL: none, or nobody has read it since
 * @wear_due: erases since the last look at the wear gap
 * @gc_rate: of the victim, units to relocate for each unit of the host, in 1/256
 * @gc_credit: units that paced collection may relocate, in 1/256; negative: it is ahead
 */
struct aftl_lun {
	u32 index;
	u32 write_lanes;
	u64 *bus_ns;
	struct aftl_work work;
	struct aftl_queue reads;
	u32 redo_blocks;
	u32 free_blocks;
	u32 valid;
	u32 bound;
	u32 room;
	u32 cached;
	u32 in_row;
	bool chores;
	bool awake;
	bool stuck;
	bool cramped;
	bool refresh_due;
	bool cache_dead;
	struct aftl_lun *next_awake;
	u64 asked;
	u64 busy_ns;
	struct aftl_work parked;
	u64 parked_ns;
	struct aftl_queue writes[AFTL_LANES];
	struct aftl_outcome outcome;
	struct aftl_job job;
	struct aftl_repair repair;
	struct aftl_queue ahead;
	struct aftl_leaving leaving;
	u64 idle_since_ns;
	u32 reading_for;
	u32 parity_head;
	u32 parity_tail;
	u32 parity_due;
	struct aftl_erased erased;
	struct aftl_redo redo[AFTL_REDO_BLOCKS];
	u32 good_blocks;
	u32 free_head;
	u32 free_tail;
	u32 *victims;
	u32 fewest;
	struct aftl_block *refuge;
	struct aftl_block *cache;
	struct aftl_block *filled[AFTL_CLASSES];
	struct aftl_block **placed;
	struct aftl_foggy *foggy;
	u32 held_writes;
	u32 held_moves;
	u32 collect;
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
struct aftl_line {
	struct aftl_request *head;
	struct aftl_request *tail;
	u64 delay_ns;
};

/*
 * Where the link takes time all but reads have a line, as they have a way, of their own. The
 * last one is there with a cache of reads only: each source of events costs others time.
 */
enum { AFTL_LINE_PLAIN, AFTL_LINE_DECODED, AFTL_LINE_INWARD, AFTL_LINE_RECENT, AFTL_LINES };

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
#define AFTL_SHEET_CACHED 0x01
/* It has changed since it was written. */
#define AFTL_SHEET_DIRTY 0x02
/* Only changes are in memory, all else is in its slot. */
#define AFTL_SHEET_PARTIAL 0x04
/* Somebody waits for it, and a read of it is under way. */
#define AFTL_SHEET_LOADING 0x08
/* It waits at its LUN to be written, and then to be forgotten ... */
#define AFTL_SHEET_LEAVING 0x10
/* ... unless it was used meanwhile. */
#define AFTL_SHEET_USED 0x20

/**
 * struct aftl_sheet - a piece of the map: the entries of units that follow each other
 * @waiting: reads that wait for it, the oldest first
 * @last_waiting: the youngest
 * @older: of those that are cached, the one that was used before it
 * @younger: the one that was used after it; or who leaves after it
 * @flags: AFTL_SHEET_*
 */
struct aftl_sheet {
	struct aftl_request *waiting;
	struct aftl_request *last_waiting;
	u32 older;
	u32 younger;
	u8 flags;
};

/**
 * struct aftl_sheets - the sheets of a device; without any all 0
 * @all: by number
 * @kept: so many are in memory and stay there
 * @limit: of those that leave, so many may wait before host writes do
 * @cached: in memory, with those that leave
 * @leaving: these
 * @oldest: of those that stay the one that was not used for the longest
 * @youngest: the one that was used last
 */
struct aftl_sheets {
	struct aftl_sheet *all;
	u32 kept;
	u32 limit;
	u32 cached;
	u32 leaving;
	u32 oldest;
	u32 youngest;
};

/* It has arrived in the controller. */
#define AFTL_RECENT_READY 0x01
/* It was read ahead, and nobody has asked for it yet. */
#define AFTL_RECENT_AHEAD 0x02

/**
 * struct aftl_recent_unit - a unit that has been read, with the bits that came of it
 * @unit: which
 * @slot: from where
 * @erases: of the block, then
 * @flips: errors in the bytes
 * @lineage: of the bytes
 * @again: programs of the page after its first, then
 * @flags: AFTL_RECENT_*
 * @older: who was used before it
 * @younger: who was used after it
 * @next: in its chain
 */
struct aftl_recent_unit {
	aftl_unit_t unit;
	aftl_slot_t slot;
	u32 erases;
	u32 flips;
	u16 lineage;
	u8 again;
	u8 flags;
	u32 older;
	u32 younger;
	u32 next;
};

/**
 * struct aftl_recent - what reads have brought into the controller; without it all 0
 * @all: units, the first @used of them
 * @chains: of those, by unit
 * @mask: of a chain
 * @count: as many as there is room for
 * @oldest: the one that was not used for the longest
 * @youngest: the one that was used last
 */
struct aftl_recent {
	struct aftl_recent_unit *all;
	u32 *chains;
	u32 mask;
	u32 count;
	u32 used;
	u32 oldest;
	u32 youngest;
};

/* So many readers that go on in order are told apart. */
#define AFTL_READERS 16

/**
 * struct aftl_reader - reads of the host that follow each other
 * @next: unit that the next one would begin with
 * @ahead: up to where has been read, or will be
 * @turn: when the last one came; 0: there was none
 */
struct aftl_reader {
	u32 next;
	u32 ahead;
	u64 turn;
};

/**
 * struct aftl_turns - requests that wait behind the next one, by queue of the host
 * @head: the oldest of each queue
 * @tail: the youngest
 * @count: all of them
 * @queue: whose turn it is
 * @left: so many more of it until it is another's
 */
struct aftl_turns {
	struct aftl_request *head[AFTL_QUEUES_MAX];
	struct aftl_request *tail[AFTL_QUEUES_MAX];
	u32 count;
	u32 queue;
	u32 left;
};

/**
 * struct aftl_bind - which LUN the next write of a lane goes to
 * @lun: index
 * @left: units that still go there
 */
struct aftl_bind {
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
	struct aftl_sense sense;
	struct aftl_stats stats;
	const struct aftl_policy_type *type;
	struct aftl_policy *policy;
	struct aftl_core core;
	const struct aftl_host_ops *ops;
	void *host;
	u64 memory_bytes;

	u64 now_ns;
	u64 age_ns;
	u64 hour;
	u64 hour_ns; /* when it began, in both together */
	bool running;
	bool filling;
	bool parking;
	bool read_only;
	bool buffer_lost;
	bool copies_alone;
	bool retry;
	bool hurry;
	u32 lost_units;
	u32 placing; /* enum aftl_cause of what is being placed */
	struct aftl_events events;
	u32 event_lines;
	u32 event_clock;

	/* LUNs that the scheduler has to look at, in the order in which they woke. */
	struct aftl_lun *awake;
	struct aftl_lun *last_awake;

	struct aftl_chunks map;
	struct aftl_lun *luns;
	u32 *victims;
	u64 *bus_ns;

	/* Derived from the configuration once, because every operation needs them. */
	u32 program_units;
	u32 foggy_blocks;
	u32 held_units;
	u64 unit_transfer_ns;
	u64 unit_link_ns;
	u64 most_reads;
	u32 copy_passes;
	u32 streams;
	u32 cache_kept;
	u32 cache_most;
	u32 handles;
	struct aftl_sheets sheets;
	struct aftl_zones zones;
	struct aftl_recent recent;
	struct aftl_reader readers[AFTL_READERS];
	u64 reader_turn;
	u32 ahead_units;
	bool reads_watched;
	struct aftl_super *supers;
	struct aftl_group *groups;
	u32 gc_blocks;
	u32 gc_most_valid;
	u32 gc_idle_valid;

	struct aftl_command *commands;
	u32 command_count;
	u32 free_reads;
	u32 free_writes;
	u32 free_read_count;
	u32 free_write_count;
	u32 stranded;
	u32 write_commands;
	u32 *pending;
	u32 pending_mask;

	u64 day_ns;
	u32 refresh_lun;

	/* Position in the order "stripe" of the LUN whose turn is next. */
	u32 rotation;
	struct aftl_lun_rule lun_rule;
	const void *lun_params;
	u32 bind_units;
	struct aftl_bind bind[AFTL_LANES];
	struct aftl_request *wait_head[2];
	struct aftl_request *wait_tail[2];
	struct aftl_turns turns[2];
	u32 queues;
	struct aftl_line lines[AFTL_LINES];
	/* When the controller, and then the link, can take another request: out, in. */
	u64 command_ns[2];
	u64 link_ns[2];
	bool paced;
	u64 seq;
	u32 requests;

	u32 outstanding[AFTL_EPOCHS];
	u32 epoch;
	u32 oldest_epoch;
	struct aftl_request *flushes;
	struct aftl_request *last_flush;
};

/* time.c */
void aftl_find_hour(struct aftl *ftl);

/* The same as aftl_hours(), which divides. */
static inline u64 aftl_hour(struct aftl *ftl)
{
	if (unlikely(ftl->age_ns + ftl->now_ns - ftl->hour_ns >= AFTL_HOUR_NS))
		aftl_find_hour(ftl);
	return ftl->hour;
}

static inline struct aftl_lun *aftl_block_lun(struct aftl *ftl, const struct aftl_block *block)
{
	return &ftl->luns[aftl_block_index(&ftl->media, block) / ftl->geo.blocks_per_lun];
}

/* extra.c */
int __must_check aftl_extras_take(struct aftl *ftl);
/* Of those that have been taken. */
void aftl_extras_give(struct aftl *ftl);
/* Before @block keeps other hours or errors than none. */
void aftl_extra_need(struct aftl *ftl, struct aftl_block *block);
/* What an erase changes. */
void aftl_wipe(struct aftl *ftl, struct aftl_block *block);

static inline void aftl_origin_store(struct aftl *ftl, struct aftl_block *block, aftl_slot_t slot,
				     struct aftl_origin origin)
{
	u16 *baked;

	if (!aftl_has_origins(&ftl->media))
		return;
	if (unlikely(origin.baked))
		aftl_extra_need(ftl, block);
	*aftl_lineage_at(&ftl->media, slot) = origin.lineage;
	baked = aftl_baked_at(&ftl->media, block, slot);
	if (unlikely(baked))
		*baked = origin.baked;
}

static inline void aftl_page_set_hours(struct aftl *ftl, struct aftl_block *block, u32 page,
				       u16 hours)
{
	u16 *at;

	if (unlikely(hours) && !ftl->media.imprint.hours)
		aftl_extra_need(ftl, block);
	at = aftl_hours_at(&ftl->media, block, page);
	if (unlikely(at))
		*at = hours;
}

/* Nothing in it works any more; what it holds is lost. */
static inline bool aftl_lun_dead(const struct aftl_lun *lun)
{
	return lun->work.phase == AFTL_PHASE_DEAD;
}

/* What is in @slot is lost with its LUN. */
static inline bool aftl_slot_gone(const struct aftl *ftl, aftl_slot_t slot)
{
	u32 block = aftl_block_index(&ftl->media, aftl_slot_block(&ftl->media, slot));

	return aftl_lun_dead(&ftl->luns[block / ftl->geo.blocks_per_lun]);
}

/* For so many units more, those included that are on their way. */
static inline bool aftl_lun_has_room(const struct aftl_lun *lun, u32 units)
{
	return lun->valid + lun->bound + units <= lun->room;
}

/* What a policy answers, if it has a name. */
static inline u32 aftl_named_stream(struct aftl *ftl, u32 stream)
{
	if (likely(stream < ftl->streams))
		return stream;
	ftl->stats.counters.policy_bugs++;
	return 0;
}

static inline bool aftl_buffered(const struct aftl *ftl)
{
	return ftl->config.buffer != 0;
}

static inline u32 aftl_stored_class(const struct aftl *ftl, u32 class)
{
	return ftl->type->ignores_tags ? AFTL_PRECISE : class;
}

/* Writes in the controller that may still be programmed. */
static inline u32 aftl_writes_under_way(const struct aftl *ftl)
{
	return ftl->write_commands - ftl->free_write_count - ftl->stranded;
}

/* Utilisation of the write buffer in 1/10000. */
static inline u32 aftl_buffer_use(const struct aftl *ftl)
{
	u64 used = ftl->write_commands - ftl->free_write_count;

	return aftl_buffered(ftl) ? (u32)(used * 10000 / ftl->write_commands) : 0;
}

static inline void aftl_be_awake(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->awake)
		return;
	lun->awake = true;
	lun->next_awake = NULL;
	if (ftl->awake)
		ftl->last_awake->next_awake = lun;
	else
		ftl->awake = lun;
	ftl->last_awake = lun;
}

/*
 * Something came for @lun, or its array is free: the scheduler looks at it before
 * the call of the host returns. A busy array wakes it at its end.
 */
static inline void aftl_wake(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE)
		aftl_be_awake(ftl, lun);
}

/* The same for a write, which may interrupt an erase. */
static inline void aftl_wake_for_write(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE ||
	    (unlikely(ftl->config.suspend_for_write) && lun->work.phase == AFTL_PHASE_ERASE))
		aftl_be_awake(ftl, lun);
}

/* The same for a read, which may interrupt what the array does. */
static inline void aftl_wake_for_read(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE || ftl->config.suspend || aftl_lun_dead(lun))
		aftl_be_awake(ftl, lun);
}

static inline void aftl_wake_all(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		aftl_wake(ftl, &ftl->luns[i]);
}

/* Tell a host that must know. */
static inline void aftl_tell_retired(struct aftl *ftl, u32 first, u32 blocks)
{
	if (ftl->ops->retire)
		ftl->ops->retire(ftl->host, first, blocks);
}

/* snapshot.c */

/* Media and map have been put back, and an audit has found them right: let the device live. */
void aftl_restored(struct aftl *ftl);

/* inspect.c: aftl_audit() without a look at each slot. */
int __must_check aftl_audit_books(const struct aftl *ftl, struct aftl_error *error);

/* build.c: the configuration is new */
void aftl_derive(struct aftl *ftl);

/*
 * Between two slices of a long call: let the host's others have the processor.
 * Return: 0, or the host's wish to end it.
 */
static inline int aftl_pause(const struct aftl *ftl)
{
	return ftl->ops->pause ? ftl->ops->pause(ftl->host) : 0;
}

/* map.c: which slot holds a unit */

/* Has the host lost the bytes of the unit in @slot? */
static inline bool aftl_lost_in(const struct aftl *ftl, aftl_slot_t slot)
{
	return unlikely(ftl->lost_units) && aftl_slot_lost(&ftl->media, slot);
}

static inline u32 *aftl_map_at(const struct aftl *ftl, u32 unit)
{
	return aftl_entry(&ftl->map, u32, unit);
}

static inline bool aftl_map_get(const struct aftl *ftl, aftl_unit_t unit, aftl_slot_t *slot)
{
	u32 entry = *aftl_map_at(ftl, from_unit(unit)) & AFTL_SLOT_MASK;

	*slot = to_slot(entry - 1);
	return entry;
}

static inline u32 aftl_map_level(const struct aftl *ftl, aftl_unit_t unit)
{
	return *aftl_map_at(ftl, from_unit(unit)) >> AFTL_SLOT_BITS;
}

/* The content of @page of the device will be copied soon, and its places in the map change. */
void aftl_expect_copies(const struct aftl *ftl, u32 page);

/* @unit is now in @slot of @block; its former slot becomes invalid. */
void aftl_map_set(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
		  aftl_unit_t unit, aftl_slot_t slot, u32 level);

/* The same for a move inside @lun, where the former place is known. */
void aftl_map_move(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *from,
		   aftl_slot_t former, struct aftl_block *block, aftl_unit_t unit,
		   aftl_slot_t slot, u32 level);

/* Returns whether @unit was mapped. */
bool aftl_map_clear(struct aftl *ftl, aftl_unit_t unit);

/* The bytes of @slot, which is valid, are lost: reads fail until the unit is written again. */
void aftl_map_lose(struct aftl *ftl, aftl_slot_t slot);

/* memory.c: zeroed, and counted in memory_bytes; NULL if there is none */

void *aftl_memory_take(struct aftl *ftl, size_t count, size_t size);
/* While it runs; never NULL. Of hosts that offer it only. */
void *aftl_memory_take_later(struct aftl *ftl, size_t count, size_t size);
void aftl_memory_give(struct aftl *ftl, void *memory);

/* contract.c: what the core does for policies */

void aftl_contract_init(struct aftl *ftl);

/* Commands that wait at @lun. */
u32 aftl_lun_queued(const struct aftl_lun *lun);

/* instance.c: the policy of the device and its state */

/* Are the arrays of @type possible? */
int __must_check aftl_instance_check(const struct aftl_policy_type *type,
				     struct aftl_error *error);

/* The device's policy with its parts, or NULL without memory. */
struct aftl_policy *aftl_instance_create(struct aftl *ftl);

/* See aftl_policy_part(). */
struct aftl_policy *aftl_instance_part(struct aftl_policy *whole,
				       const struct aftl_policy_type *type);
void aftl_instance_destroy(struct aftl_policy *policy);

/* Word @index of its state, and of that of its parts; false past the last. */
bool aftl_instance_save(const struct aftl_policy *policy, u64 index, u64 *word);

/* The same back, any word; words past the last are left out. */
void aftl_instance_restore(struct aftl_policy *policy, u64 index, u64 word);

/* All words are there. */
void aftl_instance_restored(struct aftl_policy *policy);

/* supply.c: free blocks, closed blocks by valid count, bad blocks */

void aftl_supply_init(struct aftl *ftl);

/* Before and after blocks are loaded: no lists; the limits that follow from them. */
void aftl_supply_clear(struct aftl *ftl);
void aftl_supply_restored(struct aftl *ftl);

/*
 * The policy finds other free and open blocks than it would have left: where they are
 * too few, the core makes room by itself.
 */
void aftl_supply_resettle(struct aftl *ftl);
struct aftl_block *aftl_supply_take(struct aftl *ftl, struct aftl_lun *lun, u32 kind);
void aftl_supply_designate(struct aftl *ftl, u32 group, u32 number);
void aftl_supply_find_keeper(struct aftl *ftl, u32 group, u32 number);
void aftl_supply_give(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_supply_open(struct aftl *ftl, struct aftl_block *block, enum aftl_order order, u32 kind);
void aftl_supply_close(struct aftl *ftl, struct aftl_block *block);
void aftl_supply_list(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_supply_unlist(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

/* The listed block with the fewest valid slots, or NULL. */
struct aftl_block *aftl_supply_fewest(struct aftl *ftl, struct aftl_lun *lun);

/* A closed block to collect that has at most so many valid slots, or NULL. */
struct aftl_block *aftl_supply_victim(struct aftl *ftl, struct aftl_lun *lun, u32 most_valid);

/* Of each LUN, out of the host's reach: what its policy and the cache work with. */
static inline u32 aftl_kept_blocks(const struct aftl *ftl)
{
	if (unlikely(ftl->geo.zones))
		return ftl->type->reserve + 2;
	return ftl->type->open_blocks + ftl->handles + ftl->type->reserve + 1 +
	       (ftl->geo.super_luns ? 2 : 0) +
	       max(ftl->cache_kept, (u32)(ftl->cache_most != 0));
}

/* A block of the core's own is full, or is taken from it. */
static inline void aftl_forget_own(struct aftl_lun *lun, const struct aftl_block *block)
{
	if (unlikely(block->handle) && lun->placed && lun->placed[block->handle - 1] == block)
		lun->placed[block->handle - 1] = NULL;
	if (block == lun->refuge)
		lun->refuge = NULL;
	if (block == lun->cache)
		lun->cache = NULL;
}

bool aftl_step_valid(const struct aftl *ftl, u32 first);
void aftl_supply_retire(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_supply_remove_free(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_supply_close_early(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

/* One valid slot fewer in @block. */
void aftl_supply_shrink(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

/* Free blocks that host writes must leave to moves. */
static inline u32 aftl_reserve(const struct aftl *ftl)
{
	return ftl->type->reserve;
}

/* Free blocks that are the cache's, and nobody else's. */
static inline u32 aftl_cache_due(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return ftl->cache_kept > lun->cached ? ftl->cache_kept - lun->cached : 0;
}

/* Host writes would have to wait for garbage collection before their next block. */
static inline bool aftl_urgent(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->free_blocks <= aftl_reserve(ftl) + aftl_cache_due(ftl, lun);
}

/* Below what the parameter "gc" says? */
static inline bool aftl_short(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->free_blocks < ftl->gc_blocks + aftl_cache_due(ftl, lun);
}

/*
 * May there be background work that does not wait for idle time? Where this says no
 * aftl_job_next() finds none.
 */
static inline bool aftl_job_due(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->job.kind | lun->failing_blocks | lun->redo_blocks | lun->cached |
		       lun->collect | lun->refresh_due | ftl->geo.super_luns | ftl->geo.zones ||
	       lun->disturbed || ftl->config.wear_gap || aftl_short(ftl, lun);
}

/* The last free blocks are for moves that make others free. */
static inline bool aftl_may_redo(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->redo_blocks && !lun->stuck && !lun->cramped && !aftl_urgent(ftl, lun);
}

/* Before anything else is written: are there programs to repeat? */
static inline bool aftl_job_redo_due(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->job.kind == AFTL_JOB_REDO || aftl_may_redo(ftl, lun);
}

/* cache.c: host writes with one bit in a cell */

/* Without a cache such a block is like others, or its policy's. */
static inline bool aftl_cache_has(const struct aftl *ftl, const struct aftl_block *block)
{
	return unlikely(block->bits == 1) && ftl->cache_most;
}

void aftl_cache_derive(struct aftl *ftl);
int __must_check aftl_cache_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_cache_place(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
		      struct aftl_placement *placement);
struct aftl_block *aftl_cache_fold(struct aftl *ftl, const struct aftl_lun *lun);
struct aftl_block *aftl_cache_press(struct aftl *ftl, struct aftl_lun *lun, bool urgent);
bool aftl_cache_adopt(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_cache_recount(struct aftl *ftl);

/* handle.c: placement handles, each with reclaim units of its own */

/* Handle of data that go as @stream; 0: the default one, for streams of the policy. */
static inline u32 aftl_handle_of(const struct aftl *ftl, u32 stream)
{
	return unlikely(stream >= ftl->streams) ? stream - ftl->streams + 1 : 0;
}

/* As what stream do valid data of @block go where they stay apart? 0: as the policy says. */
static inline u32 aftl_handle_keeps(const struct aftl *ftl, const struct aftl_block *block)
{
	if (likely(!block->handle) || !(ftl->config.placement_isolation || ftl->geo.sheets))
		return 0;
	return ftl->streams + block->handle - 1;
}

int __must_check aftl_handle_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_handle_take(struct aftl *ftl);
bool aftl_handle_write(struct aftl *ftl, struct aftl_request *request);
int aftl_handle_place(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
		      struct aftl_placement *placement);
void aftl_handle_closed(struct aftl *ftl, const struct aftl_block *block);
bool aftl_handle_adopt(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_handle_restored(struct aftl *ftl);

/* sheet.c: the map on flash, of which some is in memory */

struct aftl_payload;

static inline struct aftl_sheet *aftl_sheet_of(const struct aftl *ftl, aftl_unit_t unit)
{
	return &ftl->sheets.all[from_unit(unit) >> ftl->geo.sheet_shift];
}

/* Units from @unit on whose entries are in the same sheet. */
static inline u32 aftl_sheet_rest(const struct aftl *ftl, aftl_unit_t unit)
{
	return BIT(ftl->geo.sheet_shift) - (from_unit(unit) & (BIT(ftl->geo.sheet_shift) - 1));
}

/* Too many sheets have to be written: writes of the host wait. */
static inline bool aftl_sheets_full(const struct aftl *ftl)
{
	return unlikely(ftl->sheets.leaving) && ftl->sheets.leaving > ftl->sheets.limit &&
	       !ftl->read_only;
}

void aftl_sheet_derive(struct aftl *ftl);
int __must_check aftl_sheet_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_sheet_take(struct aftl *ftl);
bool aftl_sheet_ready(struct aftl *ftl, aftl_unit_t unit);
aftl_unit_t aftl_sheet_load(struct aftl *ftl, aftl_unit_t unit);
struct aftl_sheet *aftl_sheet_loaded(struct aftl *ftl, aftl_unit_t unit);
void aftl_sheet_change(struct aftl *ftl, aftl_unit_t unit);
enum aftl_step aftl_sheet_next(struct aftl *ftl, struct aftl_lun *lun, aftl_slot_t *slot);
void aftl_sheet_merged(struct aftl *ftl, struct aftl_lun *lun);
struct aftl_need aftl_sheet_need(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_sheet_payload(struct aftl *ftl, struct aftl_lun *lun,
			const struct aftl_placement *placement, struct aftl_payload *payload);
void aftl_sheet_write_all(struct aftl *ftl);
void aftl_sheet_lun_died(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_sheet_restore(struct aftl *ftl, u32 number, u8 flags);
void aftl_sheet_found(struct aftl *ftl);
int aftl_sheet_audit(const struct aftl *ftl, struct aftl_error *error);

/* recent.c: what reads have brought into the controller */

int __must_check aftl_recent_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_recent_take(struct aftl *ftl);
struct aftl_recent_unit *aftl_recent_find(const struct aftl *ftl, aftl_unit_t unit);
void aftl_recent_use(struct aftl *ftl, struct aftl_recent_unit *recent);
struct aftl_recent_unit *aftl_recent_add(struct aftl *ftl, aftl_unit_t unit, aftl_slot_t slot);
void aftl_recent_forget(struct aftl *ftl);

/* zone.c: zones, each with blocks of its own */

static inline bool aftl_zone_active(const struct aftl_zone *zone)
{
	return zone->state >= AFTL_ZONE_IMPLICIT && zone->state <= AFTL_ZONE_CLOSED;
}

static inline struct aftl_zone *aftl_zone_at(const struct aftl *ftl, aftl_unit_t unit)
{
	return &ftl->zones.all[from_unit(unit) / ftl->geo.zone_units];
}

/* Will there be nothing more of it? Then what fills no page goes as it is. */
static inline bool aftl_zone_over(const struct aftl_zone *zone)
{
	return !aftl_zone_active(zone) && !zone->coming;
}

int __must_check aftl_zone_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_zone_take(struct aftl *ftl);
int aftl_zone_activate(struct aftl *ftl, struct aftl_zone *zone, enum aftl_zone_state state);
int aftl_zone_write(struct aftl *ftl, struct aftl_request *request);
void aftl_zone_leave(struct aftl *ftl, struct aftl_zone *zone, enum aftl_zone_state state);
void aftl_zone_empty(struct aftl *ftl, struct aftl_zone *zone);
struct aftl_lun *aftl_zone_lun(struct aftl *ftl, aftl_unit_t unit);
bool aftl_zone_join(struct aftl *ftl, struct aftl_request *request);
void aftl_zone_admitted(struct aftl *ftl, struct aftl_zone *zone, u32 units);
void aftl_zone_unit_done(struct aftl *ftl, u32 stream);
void aftl_zone_refuge(struct aftl *ftl, struct aftl_lun *lun, aftl_unit_t unit);
void aftl_zone_retired(struct aftl *ftl, struct aftl_lun *lun);
void aftl_zone_lun_died(struct aftl *ftl, const struct aftl_lun *lun);
bool aftl_zone_restored(struct aftl *ftl);
void aftl_zone_found(struct aftl *ftl, u32 zone, u32 written, enum aftl_zone_state noted);
bool aftl_zone_excess(struct aftl *ftl);
void aftl_zone_hold(struct aftl *ftl, aftl_unit_t unit);
void aftl_zone_reopen(struct aftl *ftl);

/* super.c: superblocks, and the parity of their stripes */

static inline u32 aftl_group_of(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->index / ftl->geo.super_luns;
}

/* Place of @lun among those of its group. */
static inline u32 aftl_member_of(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->index % ftl->geo.super_luns;
}

static inline struct aftl_lun *aftl_member(struct aftl *ftl, u32 group, u32 member)
{
	return &ftl->luns[group * ftl->geo.super_luns + member];
}

/* Block of superblock @number in @member of @group. */
static inline struct aftl_block *aftl_super_block(const struct aftl *ftl, u32 group, u32 number,
						  u32 member)
{
	u32 lun = group * ftl->geo.super_luns + member;

	return &ftl->media.blocks[lun * ftl->geo.blocks_per_lun + number];
}

static inline struct aftl_super *aftl_super_at(const struct aftl *ftl, u32 group, u32 number)
{
	return &ftl->supers[group * ftl->geo.blocks_per_lun + number];
}

static inline u32 aftl_super_number(const struct aftl *ftl, const struct aftl_block *block)
{
	return aftl_block_index(&ftl->media, block) % ftl->geo.blocks_per_lun;
}

/* Are host reads or moves put together from the rest of their stripes? */
static inline bool aftl_has_rain(const struct aftl *ftl)
{
	return unlikely(ftl->config.rain);
}

int __must_check aftl_super_check(const struct aftl *ftl, const struct aftl_config *config,
				  struct aftl_error *error);
bool aftl_super_take(struct aftl *ftl);
struct aftl_block *aftl_super_choose(struct aftl *ftl, const struct aftl_lun *lun, u32 kind);
u32 aftl_super_keeper(const struct aftl *ftl, u32 group, u32 number);
bool aftl_super_fresh(const struct aftl *ftl, u32 group, u32 number);
void aftl_parity_look(struct aftl *ftl, const struct aftl_block *block);
bool aftl_parity_next(struct aftl *ftl, struct aftl_lun *lun, struct aftl_placement *placement);
void aftl_parity_written(struct aftl *ftl, struct aftl_lun *lun);
void aftl_parity_forget(struct aftl *ftl, u32 group, u32 number);
void aftl_super_rest(struct aftl *ftl);
void aftl_super_wake(struct aftl *ftl);
struct aftl_block *aftl_parity_beside(struct aftl *ftl, const struct aftl_block *block);
bool aftl_stripe_has(const struct aftl *ftl, aftl_slot_t slot);
bool aftl_stripe_mends(const struct aftl *ftl, aftl_slot_t slot, struct aftl_errors *errors);
void aftl_repair_begin(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 device_page);
bool aftl_repair_got(struct aftl *ftl, struct aftl_lun *lun, u32 member);
void aftl_repair_drop(struct aftl *ftl, struct aftl_lun *lun);
int aftl_super_audit(const struct aftl *ftl, struct aftl_error *error);

/* group.c: superblocks are collected, and erased */

void aftl_group_rebuilt(struct aftl *ftl, const struct aftl_block *block);
void aftl_group_found(struct aftl *ftl);
void aftl_group_settled(struct aftl *ftl);
void aftl_block_lose(struct aftl *ftl, const struct aftl_block *block);
bool aftl_group_collect(struct aftl *ftl, struct aftl_lun *lun, u32 cause, u32 limit);
bool aftl_group_empty(struct aftl *ftl, const struct aftl_block *block, u32 cause);
bool aftl_group_emptied(struct aftl *ftl, u32 group);
struct aftl_block *aftl_group_member(struct aftl *ftl, const struct aftl_lun *lun);
struct aftl_block *aftl_group_orphan(struct aftl *ftl, const struct aftl_lun *lun, bool idle);
void aftl_group_erased(struct aftl *ftl, struct aftl_lun *lun);
void aftl_group_finish(struct aftl *ftl, u32 group);
void aftl_group_lun_died(struct aftl *ftl, const struct aftl_lun *lun);

/* Its share in that comes before what its host writes. */
static inline bool aftl_group_pressed(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return unlikely(ftl->geo.super_luns) && ftl->groups[aftl_group_of(ftl, lun)].pressed;
}

/* Its next free block comes when others have done their share. */
static inline bool aftl_group_waits(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return unlikely(ftl->geo.super_luns) &&
	       (ftl->groups[aftl_group_of(ftl, lun)].victim != AFTL_NIL || lun->repair.kind);
}

/* bind.c: which LUN a write goes to */

/* Position of the LUN that the host's first write goes to, after a fill as without. */
static inline u32 aftl_first_turn(const struct aftl_geometry *geo)
{
	return 1 % geo->luns;
}

struct aftl_lun *aftl_bind(struct aftl *ftl, aftl_unit_t unit, u32 class, u32 stream, u32 units);

/* program.c: the transaction of one program */

/**
 * struct aftl_payload - units that are about to be programmed together
 * @count: units
 * @promoted: of them, moves that make approximate data precise
 * @carried: of them, moves beside host data; they come first
 * @dropped: of them, moves that were overwritten between two passes: as good as padding
 * @from: former place of a move; AFTL_NO_SLOT for a host write
 * @tag: of a host write; AFTL_NIL for a move
 * @stale: a newer version exists: programmed, but not mapped
 */
struct aftl_payload {
	u32 count;
	u32 promoted;
	u32 carried;
	u32 dropped;
	aftl_unit_t unit[AFTL_PROGRAM_UNITS_MAX];
	aftl_slot_t from[AFTL_PROGRAM_UNITS_MAX];
	struct aftl_origin origin[AFTL_PROGRAM_UNITS_MAX];
	u32 tag[AFTL_PROGRAM_UNITS_MAX];
	bool stale[AFTL_PROGRAM_UNITS_MAX];
};

/**
 * struct aftl_held - what a word line between its passes is to hold
 * @need: whom it was programmed for; all 0 if there is nothing
 * @commands: host writes, which stay in the controller
 * @payload: as it was when the coarse pass began
 */
struct aftl_held {
	struct aftl_need need;
	u32 commands;
	struct aftl_payload payload;
};

/**
 * struct aftl_foggy - a block with word lines between their passes
 * @block: NULL: none
 * @held: for each of them, by the number of the word line
 */
struct aftl_foggy {
	struct aftl_block *block;
	struct aftl_held held[AFTL_FOGGY_WORD_LINES];
};

/* held.c: what is between its passes */

bool aftl_held_room(const struct aftl *ftl, const struct aftl_lun *lun,
		    const struct aftl_block *block);
struct aftl_held *aftl_held_at(const struct aftl *ftl, struct aftl_foggy *foggy, u32 page);
void aftl_held_begin(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
		     const struct aftl_placement *placement, const struct aftl_payload *payload);
void aftl_held_end(struct aftl *ftl, struct aftl_lun *lun, struct aftl_held *held);
bool aftl_held_close(struct aftl *ftl, struct aftl_block *block);
void aftl_held_drop_moves(struct aftl *ftl, struct aftl_lun *lun);
u32 aftl_held_give_up(struct aftl *ftl, struct aftl_lun *lun);

/* passes.c: the second pass, and coarse ones with nothing in them */

struct aftl_held *aftl_pass_due(struct aftl *ftl, struct aftl_lun *lun,
				struct aftl_placement *placement);
void aftl_pass_commit(struct aftl *ftl, struct aftl_lun *lun, struct aftl_held *held,
		      const struct aftl_placement *placement);
bool aftl_pass_pad(struct aftl *ftl, struct aftl_lun *lun, bool moves,
		   struct aftl_placement *placement);
void aftl_pass_rush(struct aftl *ftl, struct aftl_lun *lun);

int __must_check aftl_program_place(struct aftl *ftl, struct aftl_lun *lun,
				    const struct aftl_need *need,
				    struct aftl_placement *placement);
/* A first pass may have no @payload: nothing is in it. */
void aftl_program_commit(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
			 const struct aftl_placement *placement,
			 const struct aftl_payload *payload);
void aftl_program_go_on(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
			u32 class, const struct aftl_payload *payload);

/**
 * struct aftl_course - units in the order in which a fill writes them first
 * @at: the next one
 * @step: from one to the next; it shares no factor with @units
 * @units: all of them: beyond the last one is the first
 * @seq: number of the next write
 */
struct aftl_course {
	u32 at;
	u32 step;
	u32 units;
	u64 seq;
};

/* The one so many after the next. */
static inline u32 aftl_course_unit(const struct aftl_course *course, u32 ahead)
{
	u64 at = course->at + (u64)ahead * course->step;

	return likely(at < course->units) ? at : at % course->units;
}

static inline void aftl_course_skip(struct aftl_course *course, u32 units)
{
	course->at = aftl_course_unit(course, units);
	course->seq += units;
}

void aftl_program_rounds(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
			 struct aftl_course course, u32 rounds);

/* Add the content of @slot, which is valid. */
void aftl_program_move(struct aftl *ftl, struct aftl_payload *payload, aftl_slot_t slot);

/* Begin the payload of a host write with what the policy takes along. */
void aftl_program_carry(struct aftl *ftl, const struct aftl_placement *placement,
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

u64 aftl_sense(struct aftl *ftl, struct aftl_block *block, u32 page, u64 hour);
u64 aftl_sense_valid(struct aftl *ftl, struct aftl_block *block, u32 page, u64 hour);

/* job.c: background work */

enum aftl_step aftl_job_next(struct aftl *ftl, struct aftl_lun *lun, bool urgent);
bool aftl_job_collect(struct aftl *ftl, struct aftl_lun *lun);
u32 aftl_job_page(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_job_gather(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_job_needs_stripe(struct aftl *ftl, struct aftl_lun *lun);
int aftl_job_commit(struct aftl *ftl, struct aftl_lun *lun, struct aftl_placement *placement);
void aftl_job_drop(struct aftl *ftl, struct aftl_lun *lun);
void aftl_job_erased(struct aftl *ftl, struct aftl_lun *lun);
void aftl_job_programmed(struct aftl *ftl, struct aftl_lun *lun,
			 const struct aftl_placement *placement);
bool aftl_job_wanted(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_job_offer(struct aftl *ftl, struct aftl_lun *lun);

/* gc-pace.c: the share of collection that each host write waits for */

bool aftl_gc_pace_due(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_gc_pace_begin(const struct aftl *ftl, struct aftl_lun *lun);
void aftl_gc_pace_earn(struct aftl_lun *lun, u32 units);
void aftl_gc_pace_spend(struct aftl_lun *lun, u32 units);

/* refresh.c: the day, and the search for data that is too old */

void aftl_refresh_clock(struct aftl *ftl);
void aftl_refresh_day(struct aftl *ftl);
void aftl_refresh_event(struct aftl *ftl);
void aftl_refresh_park(struct aftl *ftl);
bool aftl_refresh_due(const struct aftl *ftl, const struct aftl_block *block, u32 page);
struct aftl_block *aftl_refresh_take(struct aftl *ftl, struct aftl_lun *lun);

/* Do the whole of the next piece of background work now, without time. */
bool aftl_job_rush(struct aftl *ftl, struct aftl_lun *lun);

/* array.c: the array of a LUN */

void aftl_array_sense(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 device_page,
		      u64 sense_ns, u32 units);
bool aftl_array_bring(struct aftl *ftl, struct aftl_lun *lun, u32 device_page, u64 sense_ns,
		      u32 units);
void aftl_array_sense_job(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 units);
void aftl_array_sense_stripe(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
			     u32 page);
void aftl_array_sense_sheet(struct aftl *ftl, struct aftl_lun *lun, u32 kind, aftl_slot_t slot);
void aftl_array_return(struct aftl *ftl, struct aftl_lun *lun);
void aftl_array_program(struct aftl *ftl, struct aftl_lun *lun, u32 kind,
			const struct aftl_placement *placement);
void aftl_array_copy(struct aftl *ftl, struct aftl_lun *lun,
		     const struct aftl_placement *placement);
void aftl_array_erase(struct aftl *ftl, struct aftl_lun *lun);
void aftl_array_park(struct aftl *ftl, struct aftl_lun *lun);
void aftl_array_interrupt(struct aftl *ftl, struct aftl_lun *lun, bool write);
void aftl_array_resume(struct aftl *ftl, struct aftl_lun *lun);

#endif
