/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contract between the FTL core and a policy.
 *
 * A policy has opinions: which open block takes a write, how a page is
 * programmed, which block is collected, what is copied as what, how a block is
 * erased, what a die does when it is idle. The core has the transactions: the
 * map, legality, ordering, accounting, time. A wrong policy may be slow; it
 * cannot lose data: what it proposes is checked, and refused proposals are
 * counted as "policy_bugs" and go to a block of the core's own.
 *
 * All methods of one device are called one at a time, must not sleep and must
 * not allocate except in create(). Methods marked optional may be NULL.
 *
 * How the published systems use it:
 *
 * - ApproxFTL: stream() makes small requests hot; place() is algorithm 1 over five
 *   open blocks per LUN and pool, in the orders SEQUENTIAL and TWO_PASS and the
 *   modes REDUCED, BETWEEN, AFTER; accept_free() and gentle() keep the wear rule;
 *   copy() moves approximate pages in pass 0, the others in pass 1, and promotes;
 *   victim_rank() breaks ties; @note holds the copy count.
 * - AGCR: stream() and host_read() keep the access history of each unit and queue
 *   re-writes; place() answers COARSE, NORMAL or FINE; the read time follows from the
 *   errors that the step leaves; chore() hands out AFTL_IDLE_TASK_REWRITE in idle time, and
 *   place() sees AFTL_CAUSE_REWRITE; copy() makes the cost of a page its stream, so that
 *   pages of one cost are moved together and stay what they are.
 * - cubeFTL: order LEADER_FIRST; place() reads need->buffer_use and answers a
 *   leader (NORMAL) or follower (FOLLOWER, with what it can do without in
 *   placement->ispp); programmed() delivers what the leader has shown, compares
 *   followers with it and may ask for a program to be repeated elsewhere;
 *   reference() and found() are its reference table.
 * - TVR: stream() from update intervals; place() answers REDUCED for short-lived
 *   data; retention_hours() gives the budget, after which the core moves the page
 *   and place() sees AFTL_CAUSE_REFRESH.
 * - ReSSD: stream() is the zone of the old version's age (aftl_policy_lpn_block());
 *   order SUPER_LAYER, mode MLC; place() may answer a dead page of the open layers
 *   with placement->pages = 1, which the core programs again; invalidated() returns
 *   candidates; placement->piggyback frees a super layer beside host writes, chore() does
 *   it with AFTL_IDLE_TASK_RELOCATE; closing a block early is aftl_policy_close_block().
 * - IPS: order SWITCHED; place() answers SLC with the pages of one bit, or SWITCHED with
 *   the rest of a word line, as aftl_switch_next_page() says; chore() hands out
 *   AFTL_IDLE_TASK_RELOCATE for what may come beside.
 */
#ifndef AFTL_POLICY_H
#define AFTL_POLICY_H

#include "core/nand/chip.h"
#include "core/base/params.h"

struct aftl;
struct aftl_lun;
struct aftl_policy;

/**
 * struct aftl_host_write - a host write as it arrives
 * @lpn: first unit of the request
 * @units: size of the request
 * @class: enum aftl_class
 * @level: of its data: 0 if they are precise
 * @hint: what the host says of the data
 */
struct aftl_host_write {
	aftl_lpn_t lpn;
	u32 units;
	u32 class;
	u32 level;
	struct aftl_hint hint;
};

/**
 * struct aftl_program_request - a program that is about to be dispatched
 * @lpn: its first unit
 * @units: how many are ready, at most one program's worth
 * @class: enum aftl_class, the same for all of them
 * @stream: what stream() or copy() answered, the same for all of them
 * @cause: enum aftl_cause
 * @from: block that copied data comes from, NULL for host writes
 * @buffer_use: utilisation of the write buffer in 1/10000, 0 without a buffer
 * @hint: what the host said of the first unit; of the others where stream() tells hints
 *	apart. Flash does not keep it: of moves nothing is said
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
 * struct aftl_piggyback - a page whose valid data come along
 * @from: its block, of the same LUN; none that the core has for handles, zones or the map
 * @page: its page in @from
 */
struct aftl_piggyback {
	struct aftl_block *from;
	u32 page;
};

/**
 * struct aftl_placement - where and how to program
 * @block: an open block of the LUN, none that the core has for handles, zones or the map
 * @page: first page
 * @pages: pages to program: one program step of the block, or less in a super layer or a
 *	word line that is switched
 * @mode: enum aftl_mode
 * @ispp: how its steps differ from the default ones
 * @monitor: programmed() is to be told errors and verifies, even with default steps
 * @note: whatever the policy wants to know in programmed()
 * @piggyback: of a host write: pages that come along; they are programmed first, the host's data
 *	after them. A list of the policy's own, which is read before its next method is called
 * @piggybacked: how many, fewer than @pages; what is not valid in them is left out
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
 * struct aftl_relocation - valid data that the core is about to copy
 * @from: its block
 * @page: its page in @from
 * @class: as it is stored
 * @mode: as it was programmed
 * @cause: GC, WEAR, REFRESH, RETIRE or, of a chore, REWRITE
 * @bad: its program came out bad: it spent margins that the word line did not have
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

/**
 * struct aftl_victim_candidates - the closed blocks of a LUN that may be collected now
 * @policy: for what the core does for policies
 * @lun: the LUN
 * @most_valid: blocks with more valid slots are left out: too little would come free
 * @params: values of a rule's own parameters
 */
struct aftl_victim_candidates {
	struct aftl_policy *policy;
	struct aftl_lun *lun;
	u32 most_valid;
	const void *params;
};

/**
 * struct aftl_lun_request - units of a stream that are about to be bound to a LUN
 * @policy: for what the core does for policies
 * @lpn: the first of them
 * @class: enum aftl_class
 * @stream: of the policy's, as stream() said
 * @units: a LUN has room if it has room for so many
 * @turn: position of the LUN whose turn it is, see aftl_lun_request_at()
 * @params: values of a rule's own parameters
 */
struct aftl_lun_request {
	struct aftl_policy *policy;
	aftl_lpn_t lpn;
	u32 class;
	u32 stream;
	u32 units;
	u32 turn;
	const void *params;
};

enum aftl_idle_task_kind {
	AFTL_IDLE_TASK_NONE,
	AFTL_IDLE_TASK_REWRITE,
	AFTL_IDLE_TASK_EMPTY,
	AFTL_IDLE_TASK_RELOCATE,
};

/**
 * struct aftl_idle_task - work for an idle LUN
 * @kind: nothing, write @lpn once more, move everything valid out of @block, or move
 *	what is valid in some of its pages
 * @lpn: for REWRITE
 * @block: for EMPTY and MOVE; after EMPTY it is erased if it is closed
 * @page: for MOVE: first page
 * @pages: for MOVE: how many
 */
struct aftl_idle_task {
	enum aftl_idle_task_kind kind;
	aftl_lpn_t lpn;
	struct aftl_block *block;
	u32 page;
	u32 pages;
};

#define AFTL_KINDS_MAX 8

/* What there is an equal share of an array for. */
enum aftl_array_scope {
	AFTL_PER_LUN,
	AFTL_PER_LUN_LAYER,
	AFTL_PER_BLOCK,
	AFTL_PER_LAYER,
	AFTL_PER_LPN,
	AFTL_ARRAY_SCOPES,
};

#define AFTL_ARRAYS_MAX 2

/**
 * struct aftl_policy_array - state of a policy that the core allocates, counts, saves, restores
 *	and frees
 * @count: numbers for each; 0: there is no such array
 * @width: bytes of a number: 1, 2, 4 or 8
 * @each: enum aftl_array_scope
 * @wanted: optional: is there one with these parameters?
 */
struct aftl_policy_array {
	u16 count;
	u8 width;
	u8 each;
	bool (*wanted)(const struct aftl_policy *policy);
};

#define AFTL_GROUPS_MAX 2

/**
 * struct aftl_policy_type - a policy by name
 * @name: on the command line and the table line
 * @about: one phrase for a person
 * @kinds: names of the block kinds, for statistics; the index is block->kind
 * @streams: names of what stream() and copy() answer, for statistics; none: they answer 0
 * @host_streams: placement ids that a host is told to use, from 1; 0: it makes no difference
 * @open_blocks: most blocks of a LUN that are open at the same time
 * @reserve: free blocks of a LUN that only moves may take; moving the valid data
 *	of one block must never need more
 * @copy_passes: how often copy() sees each valid page of a victim; without copy()
 *	the core moves one class after the other
 * @least_steps: program steps that a block must have for this policy
 * @word_line_steps: a program step must be a whole word line
 * @two_passes: all that it places are the steps of aftl_place_sequential(): word lines may get
 *	a coarse and a fine pass, the latter from the core
 * @no_parity: it programs word lines again whose parity has been written, or blocks of few bits
 * @steady: where a program goes follows from its LUN, its class and whether the host writes it:
 *	the next step of the block that the last such one went to, until that is full
 * @ignores_tags: everything is stored as precise
 * @lun_fixed: lun() is asked for each unit, and one that it names is waited for
 * @size: bytes of an instance that begins with struct aftl_policy; 0: it is no more
 * @lun_size: bytes of its own for each LUN, for what blocks and pages tell: pointers to
 *	open blocks
 * @arrays: state that they do not tell. A device that was found again on its media has
 *	forgotten it; so has one that another policy had
 * @params: what it adds to the parameters
 */
struct aftl_policy_type {
	const char *name;
	const char *about;
	const char *kinds[AFTL_KINDS_MAX];
	const char *streams[AFTL_STREAMS];
	u32 host_streams;
	u32 open_blocks;
	u32 reserve;
	u32 copy_passes;
	u32 least_steps;
	bool word_line_steps;
	bool two_passes;
	bool no_parity;
	bool steady;
	bool ignores_tags;
	bool lun_fixed;
	size_t size;
	size_t lun_size;
	struct aftl_policy_array arrays[AFTL_ARRAYS_MAX];
	const struct aftl_param_group *params[AFTL_GROUPS_MAX];

	/*
	 * Optional. The instance is zeroed but for what the core has put into struct
	 * aftl_policy; here it makes its parts. All blocks are free or closed by other
	 * policies at that time; adopt() tells about the latter. Returns false without
	 * memory.
	 */
	bool (*create)(struct aftl_policy *policy);

	/*
	 * Optional. A block that was left open by the same policy before a reload
	 * or a restart. Returns false to have it closed.
	 */
	bool (*adopt)(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_block *block);

	/*
	 * Optional, both or none. One word of state that neither blocks nor pages
	 * remember, for a restart.
	 */
	u64 (*save_word)(const struct aftl_policy *policy);
	void (*restore_word)(struct aftl_policy *policy, u64 memory);

	/*
	 * Optional. The arrays come from a snapshot and may hold anything: make it
	 * something that is possible.
	 */
	void (*sanitize_arrays)(struct aftl_policy *policy);

	/*
	 * Optional if the policy keeps no pointers to open blocks. The core has
	 * closed @block before it was full: forget it.
	 */
	void (*closed)(struct aftl_policy *policy, const struct aftl_block *block);

	/*
	 * Optional, default 0. Called once per host write request; one of those that the type
	 * names. Data of different streams share no program: what hints are to keep apart has to
	 * differ here.
	 */
	u32 (*stream)(struct aftl_policy *policy, const struct aftl_host_write *write);

	/*
	 * Optional. A request for @lpn will come soon: prefetch() what is kept of it,
	 * and change nothing.
	 */
	void (*prefetch_state)(const struct aftl_policy *policy, aftl_lpn_t lpn);

	/*
	 * Optional. The host reads @lpn, whose page was programmed in @mode; AFTL_MODES
	 * if the controller has not written it yet.
	 */
	void (*host_read)(struct aftl_policy *policy, aftl_lpn_t lpn, u32 mode);

	/*
	 * Chooses the place of a program that will certainly be carried out: the
	 * policy moves its cursors now. Returns 0, or -ENOSPC when it needs a free
	 * block and aftl_policy_open_block() gave none.
	 */
	int (*place)(struct aftl_policy *policy, struct aftl_lun *lun,
		     const struct aftl_program_request *need, struct aftl_placement *placement);

	/*
	 * Optional. place() has answered -ENOSPC to a host write: close with
	 * aftl_policy_close_block() what can be done without, if collecting it would help.
	 */
	void (*out_of_blocks)(struct aftl_policy *policy, struct aftl_lun *lun);

	/*
	 * Optional, for a whole of which this policy is a part: the mode that it finds right
	 * for @need, where another part names the place.
	 */
	u32 (*mode)(struct aftl_policy *policy, const struct aftl_program_request *need);

	/*
	 * Optional. The program is over, with @outcome. Returns true if its content has to
	 * be programmed once more in another place.
	 */
	bool (*programmed)(struct aftl_policy *policy, struct aftl_lun *lun,
			   const struct aftl_placement *placement,
			   const struct aftl_program_result *outcome);

	/* Optional. A slot of @page in @block has just become invalid. */
	void (*invalidated)(struct aftl_policy *policy, struct aftl_block *block, u32 page);

	/*
	 * Optional, default: the rule that the parameter "allocate" names. Number of the LUN
	 * to which writes of a stream go until a program is full. One without room is passed
	 * over for the next in turn that has some.
	 */
	u32 (*lun)(struct aftl_policy *policy, const struct aftl_lun_request *binding);

	/*
	 * Optional, default 0. Steps from the default read references to those that a read of
	 * @page begins with, at most AFTL_SHIFT_MAX; the chip retries until it finds the best.
	 */
	u32 (*reference)(struct aftl_policy *policy, const struct aftl_block *block, u32 page);

	/* Optional. The same for those that were right, after each read. */
	void (*reference_found)(struct aftl_policy *policy, const struct aftl_block *block, u32 page,
		      u32 shift);

	/*
	 * Optional, default: the rule that the parameter "victim" names. One of @closed, or
	 * NULL for the one with the fewest valid slots.
	 */
	struct aftl_block *(*select_victim)(struct aftl_policy *policy, const struct aftl_victim_candidates *closed);

	/*
	 * Optional, default: all equal. Among the closed blocks with the fewest
	 * valid slots the one with the smallest rank is collected.
	 */
	u32 (*victim_rank)(struct aftl_policy *policy, struct aftl_lun *lun,
			   const struct aftl_block *block);

	/*
	 * Optional, default: each class in a pass of its own, class as it is, stream 0.
	 * Returns whether this page is moved in this pass; may change class and
	 * stream, but never makes precise data approximate. All pages of a pass have one class
	 * and one stream, and nothing is left when a block is to be erased: a policy that has
	 * done otherwise is not asked again.
	 */
	bool (*relocate)(struct aftl_policy *policy, const struct aftl_relocation *move, u32 *class,
		     u32 *stream);

	/*
	 * Optional, default: no. Called before each erase: is a lower voltage enough? It is
	 * for what was programmed to a lower top voltage; of anything else it leaves residue,
	 * and a full erase has to follow.
	 */
	bool (*shallow_erase)(struct aftl_policy *policy, const struct aftl_block *block);

	/*
	 * Optional, default: the first free block. Offered the free blocks of a LUN
	 * in the order of their erases; if none is accepted the first is taken.
	 */
	bool (*accept_free)(struct aftl_policy *policy, const struct aftl_block *block);

	/*
	 * Optional, default: the configured refresh age for approximate pages.
	 * Age in hours at which a page of this kind is rewritten; 0 never.
	 */
	u32 (*retention_hours)(struct aftl_policy *policy, u32 class, u32 mode);

	/* Optional. The LUN has been idle for the configured time. */
	void (*idle_task)(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_idle_task *chore);
};

struct aftl_policy;

/**
 * struct aftl_policy_services - what the core does, by the functions below; as any method they are
 *			  called one at a time and never sleep
 * @part: see aftl_policy_part()
 * @spare: see aftl_policy_has_spare_blocks()
 * @open: a free block of the LUN for what is being placed, whose cause is said, opened in an
 *	  order and as a kind, or NULL
 * @close: see aftl_policy_close_block()
 * @find: where the current version of a unit is; false if nowhere
 * @hours: see aftl_policy_age_hours()
 * @queued: see aftl_policy_queued()
 * @room: see aftl_lun_request_fits()
 * @works: see aftl_lun_request_alive()
 * @work: see aftl_lun_request_backlog()
 * @command_seq: a number that each command and each erase of a block changes
 */
struct aftl_policy_services {
	struct aftl_policy *(*part)(struct aftl_policy *whole, const struct aftl_policy_type *type);
	bool (*spare)(const struct aftl *ftl, const struct aftl_lun *lun);
	struct aftl_block *(*open)(struct aftl *ftl, struct aftl_lun *lun, u32 cause,
				   enum aftl_order order, u32 kind);
	void (*close)(struct aftl *ftl, struct aftl_block *block);
	bool (*find)(const struct aftl *ftl, aftl_lpn_t lpn, aftl_ppn_t *ppn);
	u64 (*hours)(const struct aftl *ftl);
	u32 (*queued)(const struct aftl_lun *lun);
	bool (*room)(const struct aftl *ftl, u32 lun, u32 units);
	bool (*works)(const struct aftl *ftl, u32 lun);
	u32 (*work)(const struct aftl *ftl, u32 lun);
	u64 (*command_seq)(const struct aftl *ftl, const struct aftl_lun *lun);
};

/**
 * struct aftl_policy_core - a device as its policy sees it
 * @config: its parameters
 * @geo: its shape
 * @media: its blocks and pages
 * @chip: what its programs show
 * @now_ns: device time
 * @filling: see aftl_policy_filling()
 * @services: what it does
 */
struct aftl_policy_core {
	const struct aftl_config *config;
	const struct aftl_geometry *geo;
	const struct aftl_media *media;
	struct aftl_chip *chip;
	const u64 *now_ns;
	const bool *filling;
	const struct aftl_policy_services *services;
};

/**
 * struct aftl_policy - an instance; embedded in the policy's own structure
 * @type: what it is an instance of
 * @ftl: its device, for the services
 * @core: what it may see of it, and ask of it
 * @next: the next of its parts, if it has any, in the order in which they were made
 * @luns: an element of its own for each LUN
 * @arrays: as its type names them; NULL where there is none
 * @params: values of its own parameters, as its type names them
 */
struct aftl_policy {
	const struct aftl_policy_type *type;
	struct aftl *ftl;
	const struct aftl_policy_core *core;
	struct aftl_policy *next;
	void *luns;
	void *arrays[AFTL_ARRAYS_MAX];
	const void *params[AFTL_GROUPS_MAX];
};

/* What the core does for policies */

static inline const struct aftl_config *aftl_policy_config(const struct aftl_policy *policy)
{
	return policy->core->config;
}

static inline const struct aftl_geometry *aftl_policy_geometry(const struct aftl_policy *policy)
{
	return policy->core->geo;
}

static inline const struct aftl_media *aftl_policy_media(const struct aftl_policy *policy)
{
	return policy->core->media;
}

/**
 * aftl_policy_part() - an instance of another policy, as a part of @whole, for create()
 * @whole: the policy itself
 * @type: of the part
 *
 * Its state is kept with that of @whole, which hands its methods what it likes.
 *
 * Return: the part, or NULL without memory.
 */
static inline struct aftl_policy *aftl_policy_part(struct aftl_policy *whole,
						   const struct aftl_policy_type *type)
{
	return whole->core->services->part(whole, type);
}

static inline u32 aftl_policy_luns(const struct aftl_policy *policy)
{
	return policy->core->geo->luns;
}

/* Index of @lun below aftl_policy_luns(): what a LUN begins with. */
static inline u32 aftl_lun_index(const struct aftl_lun *lun)
{
	return *(const u32 *)lun;
}

/* Has @lun more free blocks than are kept for moves? */
static inline bool aftl_policy_has_spare_blocks(const struct aftl_policy *policy, const struct aftl_lun *lun)
{
	return policy->core->services->spare(policy->ftl, lun);
}

/**
 * aftl_policy_open_block() - take a free block of @lun for programs in @order
 * @policy: the policy itself
 * @lun: LUN that needs a block
 * @need: what is being placed; the last free blocks are kept for moves
 * @order: enum aftl_order
 * @kind: index into the policy's kinds
 *
 * Return: the block with @kind set, or NULL.
 */
struct aftl_block *aftl_policy_open_block(struct aftl_policy *policy, struct aftl_lun *lun,
				    const struct aftl_program_request *need, enum aftl_order order, u32 kind);

/**
 * aftl_policy_open_sparse_block() - the same, to use fewer bits of each cell than there are
 * @policy: the policy itself
 * @lun: LUN that needs a block
 * @need: for whom: only for host writes, for moves have to make room
 * @bits: how many; of each word line only so many pages are programmed, in sequential order
 * @kind: index into the policy's kinds
 *
 * One of one bit that is open when the device is saved is closed when it is loaded.
 *
 * Return: the block, or NULL, too, if a cell of this device does not have more bits, or if one
 * bit is what the device's own cache uses.
 */
struct aftl_block *aftl_policy_open_sparse_block(struct aftl_policy *policy, struct aftl_lun *lun,
					 const struct aftl_program_request *need, u32 bits, u32 kind);

/**
 * aftl_lun_request_at() - LUN at a position of the order that the parameter "stripe" names
 * @binding: as lun() has it
 * @position: any number; after the last LUN comes the first
 */
static inline u32 aftl_lun_request_at(const struct aftl_lun_request *binding, u32 position)
{
	return aftl_allocation_order_lun(binding->policy->core->geo, position);
}

/* Has @lun room for these units? None has that is dead. */
static inline bool aftl_lun_request_fits(const struct aftl_lun_request *binding, u32 lun)
{
	const struct aftl_policy *policy = binding->policy;

	return policy->core->services->room(policy->ftl, lun, binding->units);
}

/* Is @lun alive? */
static inline bool aftl_lun_request_alive(const struct aftl_lun_request *binding, u32 lun)
{
	return binding->policy->core->services->works(binding->policy->ftl, lun);
}

/* Reads and programs of the host that wait for @lun, and what its array is at. */
static inline u32 aftl_lun_request_backlog(const struct aftl_lun_request *binding, u32 lun)
{
	return binding->policy->core->services->work(binding->policy->ftl, lun);
}

/* May @block be collected? */
bool aftl_victim_candidates_has(const struct aftl_victim_candidates *closed, const struct aftl_block *block);

/**
 * aftl_victim_candidates_next() - go through the blocks that may be collected, by address
 * @closed: as victim() has it
 * @block: the one before; NULL begins
 *
 * Return: the next, NULL after the last.
 */
struct aftl_block *aftl_victim_candidates_next(const struct aftl_victim_candidates *closed,
				    const struct aftl_block *block);

/**
 * aftl_victim_candidates_draw() - a block of the LUN that chance names
 * @closed: as victim() has it
 * @number: of the draw; the same one is the same block until a command comes or a block
 *	     is erased
 *
 * Return: the block, or NULL if it may not be collected.
 */
struct aftl_block *aftl_victim_candidates_draw(const struct aftl_victim_candidates *closed, u32 number);

/* Nanoseconds since @block was opened. */
u64 aftl_victim_age_ns(const struct aftl_victim_candidates *closed, const struct aftl_block *block);

/**
 * aftl_policy_close_block() - no more programs for this block, though it is not full
 * @policy: the policy itself
 * @block: block in question
 */
static inline void aftl_policy_close_block(struct aftl_policy *policy, struct aftl_block *block)
{
	policy->core->services->close(policy->ftl, block);
}

/**
 * aftl_policy_restamp_block() - the data of @block count from now on as written now
 * @policy: the policy itself
 * @block: block in question
 */
static inline void aftl_policy_restamp_block(struct aftl_policy *policy, struct aftl_block *block)
{
	block->opened_ns = *policy->core->now_ns;
}

/**
 * aftl_policy_set_block_kind() - change the kind of an open block
 * @policy: the policy itself
 * @block: block in question
 * @kind: index into the policy's kinds
 */
void aftl_policy_set_block_kind(struct aftl_policy *policy, struct aftl_block *block, u32 kind);

/**
 * aftl_policy_lpn_block() - block that holds the current version of @lpn, or NULL
 * @policy: the policy itself
 * @lpn: logical unit
 */
const struct aftl_block *aftl_policy_lpn_block(const struct aftl_policy *policy, aftl_lpn_t lpn);

/**
 * aftl_policy_lpn_mode() - enum aftl_mode of the current version of @lpn
 * @policy: the policy itself
 * @lpn: logical unit
 *
 * Return: AFTL_MODES if it is nowhere on flash.
 */
u32 aftl_policy_lpn_mode(const struct aftl_policy *policy, aftl_lpn_t lpn);

/* Device time in nanoseconds. */
static inline u64 aftl_policy_now(const struct aftl_policy *policy)
{
	return *policy->core->now_ns;
}

/* Age of the device in hours: what first_hour of a block counts in. */
static inline u64 aftl_policy_age_hours(const struct aftl_policy *policy)
{
	return policy->core->services->hours(policy->ftl);
}

/*
 * The device is being brought into its starting state: what is written now has been
 * there before the first request.
 */
static inline bool aftl_policy_filling(const struct aftl_policy *policy)
{
	return *policy->core->filling;
}

/*
 * Host commands that wait at @lun; in place() for a host write those about to be
 * programmed are among them.
 */
static inline u32 aftl_policy_queued(const struct aftl_policy *policy, const struct aftl_lun *lun)
{
	return policy->core->services->queued(lun);
}

/**
 * aftl_policy_monitor_page() - what a program of @page with default steps shows
 * @policy: the policy itself
 * @block: block in question
 * @page: page of the block, programmed
 *
 * As programmed() was told if it was monitored; a controller reads it back.
 */
struct aftl_program_result aftl_policy_monitor_page(const struct aftl_policy *policy,
					const struct aftl_block *block, u32 page);

/**
 * aftl_is_last_program_step() - will @block be full after one more program step?
 * @geo: shape of the device
 * @block: block in question
 *
 * A full block leaves the policy's hands: it may be collected and erased.
 */
static inline bool aftl_is_last_program_step(const struct aftl_geometry *geo, const struct aftl_block *block)
{
	return block->programmed + aftl_block_step(geo, block) == aftl_block_pages(geo, block);
}

static inline bool aftl_block_full(const struct aftl_geometry *geo, const struct aftl_block *block)
{
	return block->programmed == aftl_block_pages(geo, block);
}

/**
 * aftl_place_sequential() - next step of the sequential block in @open
 * @policy: the policy itself
 * @lun: LUN that needs a block
 * @need: the program it is for
 * @open: the policy's pointer to it; a new block is opened when it is NULL, and it
 *	is NULL again after the last step
 * @kind: index into the policy's kinds
 * @placement: takes the answer
 *
 * What nearly every policy needs for at least one of its open blocks.
 */
int aftl_place_sequential(struct aftl_policy *policy, struct aftl_lun *lun,
			  const struct aftl_program_request *need, struct aftl_block **open, u32 kind,
			  struct aftl_placement *placement);

/* Registry: policies.c */

/**
 * aftl_policy_find() - the type called @name, or NULL
 * @name: as on a command line
 */
const struct aftl_policy_type *aftl_policy_find(const char *name);

/**
 * aftl_policy_at() - type number @index, NULL past the last
 * @index: position, from 0
 */
const struct aftl_policy_type *aftl_policy_at(unsigned int index);

#endif
