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
 * - ApproxFTL: heat() makes small requests hot; place() is algorithm 1 over five
 *   open blocks per LUN and pool, in the orders SEQUENTIAL and TWO_PASS and the
 *   modes REDUCED, BETWEEN, AFTER; accept_free() and gentle() keep the wear rule;
 *   copy() moves approximate pages in pass 0, the others in pass 1, and promotes;
 *   victim_rank() breaks ties; @note holds the copy count.
 * - AGCR: heat() and host_read() keep the access history of each unit and queue
 *   re-writes; place() answers COARSE, NORMAL or FINE; the read time follows from the
 *   errors that the step leaves; chore() hands out AFTL_CHORE_REWRITE in idle time, and
 *   place() sees AFTL_CAUSE_REWRITE; copy() makes the cost of a page its heat, so that
 *   pages of one cost are moved together and stay what they are.
 * - cubeFTL: order LEADER_FIRST; place() reads need->buffer_use and answers a
 *   leader (NORMAL) or follower (FOLLOWER, its time in placement->program_ns);
 *   programmed() delivers the leader's result and may ask for the program to be
 *   repeated elsewhere; reference() and found() are its reference table.
 * - TVR: heat() from update intervals; place() answers REDUCED for short-lived
 *   data, with its time in placement->program_ns; retention_hours() gives the budget,
 *   after which the core moves the page and place() sees AFTL_CAUSE_REFRESH.
 * - ReSSD: heat() is the zone of the old version's age (aftl_policy_old_block());
 *   order SUPER_LAYER, mode MLC; place() may answer a dead page of the open layers
 *   with placement->pages = 1, which the core programs again; invalidated() returns
 *   candidates; placement->carry frees a super layer beside host writes, chore() does
 *   it with AFTL_CHORE_MOVE; closing a block early is aftl_policy_close().
 */
#ifndef AFTL_POLICY_H
#define AFTL_POLICY_H

#include "core/flash/media.h"

struct aftl;
struct aftl_lun;
struct aftl_policy;

/**
 * struct aftl_write - a host write as it arrives
 * @unit: first unit of the request
 * @units: size of the request
 * @class: enum aftl_class
 */
struct aftl_write {
	aftl_unit_t unit;
	u32 units;
	u32 class;
};

/**
 * struct aftl_need - a program that is about to be dispatched
 * @unit: its first unit
 * @units: how many are ready, at most one program's worth
 * @class: enum aftl_class, the same for all of them
 * @heat: what heat() or copy() answered, the same for all of them
 * @cause: enum aftl_cause
 * @from: block that copied data comes from, NULL for host writes
 * @buffer_use: utilisation of the write buffer in 1/10000, 0 without a buffer
 */
struct aftl_need {
	aftl_unit_t unit;
	u32 units;
	u32 class;
	u32 heat;
	u32 cause;
	const struct aftl_block *from;
	u32 buffer_use;
};

/* Most pages that a program of host data takes along. */
#define AFTL_CARRY_MAX 2

/**
 * struct aftl_placement - where and how to program
 * @block: an open block of the LUN
 * @page: first page
 * @pages: pages to program: one program step, or less in a super layer
 * @mode: enum aftl_mode
 * @program_ns: array time; 0 takes the configuration's time of @mode
 * @carry_from: block of the same LUN that valid pages come along from, for a host write
 * @carry: those pages; they are programmed first, the host's data after them
 * @carried: how many, fewer than @pages; what is not valid in them is left out
 */
struct aftl_placement {
	struct aftl_block *block;
	u32 page;
	u32 pages;
	u32 mode;
	u64 program_ns;
	struct aftl_block *carry_from;
	u32 carry[AFTL_CARRY_MAX];
	u32 carried;
};

/**
 * struct aftl_move - valid data that the core is about to copy
 * @from: its block
 * @page: its page in @from
 * @class: as it is stored
 * @mode: as it was programmed
 * @cause: GC, WEAR, REFRESH, RETIRE or, of a chore, REWRITE
 * @pass: 0 .. copy_passes - 1
 */
struct aftl_move {
	const struct aftl_block *from;
	u32 page;
	u32 class;
	u32 mode;
	u32 cause;
	u32 pass;
};

/**
 * struct aftl_closed - the closed blocks of a LUN that may be collected now
 * @policy: for what the core does for policies
 * @lun: the LUN
 * @most_valid: blocks with more valid slots are left out: too little would come free
 */
struct aftl_closed {
	struct aftl_policy *policy;
	struct aftl_lun *lun;
	u32 most_valid;
};

enum aftl_chore_kind {
	AFTL_CHORE_NONE,
	AFTL_CHORE_REWRITE,
	AFTL_CHORE_EMPTY,
	AFTL_CHORE_MOVE,
};

/**
 * struct aftl_chore - work for an idle LUN
 * @kind: nothing, write @unit once more, move everything valid out of @block, or move
 *	what is valid in some of its pages
 * @unit: for REWRITE
 * @block: for EMPTY and MOVE; after EMPTY it is erased if it is closed
 * @page: for MOVE: first page
 * @pages: for MOVE: how many
 */
struct aftl_chore {
	enum aftl_chore_kind kind;
	aftl_unit_t unit;
	struct aftl_block *block;
	u32 page;
	u32 pages;
};

#define AFTL_KINDS_MAX 8

/**
 * struct aftl_policy_type - a policy by name
 * @name: on the command line and the table line
 * @about: one phrase for a person
 * @kinds: names of the block kinds, for statistics; the index is block->kind
 * @open_blocks: most blocks of a LUN that are open at the same time
 * @reserve: free blocks of a LUN that only moves may take; moving the valid data
 *	of one block must never need more
 * @copy_passes: how often copy() sees each valid page of a victim; without copy()
 *	the core moves one class after the other
 * @least_steps: program steps that a block must have for this policy
 * @word_line_steps: a program step must be a whole word line
 * @ignores_tags: everything is stored as precise
 */
struct aftl_policy_type {
	const char *name;
	const char *about;
	const char *kinds[AFTL_KINDS_MAX];
	u32 open_blocks;
	u32 reserve;
	u32 copy_passes;
	u32 least_steps;
	bool word_line_steps;
	bool ignores_tags;

	/*
	 * May allocate with aftl_policy_alloc(). All blocks are free or closed by
	 * other policies at that time; adopt() tells about the latter.
	 * Returns NULL without memory.
	 */
	struct aftl_policy *(*create)(struct aftl *ftl);

	/* Frees what create() allocated. */
	void (*destroy)(struct aftl_policy *policy);

	/*
	 * Optional. A block that was left open by the same policy before a reload
	 * or a restart. Returns false to have it closed.
	 */
	bool (*adopt)(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_block *block);

	/*
	 * Optional, both or none. One word of state that neither blocks nor pages
	 * remember, for a restart.
	 */
	u64 (*remember)(const struct aftl_policy *policy);
	void (*recall)(struct aftl_policy *policy, u64 memory);

	/*
	 * Optional, both or none. More such words, for snapshots only: @index counts
	 * from 0 until save() returns false. restore() must bear any word; a device
	 * that was found again on its media has none of them.
	 */
	bool (*save)(const struct aftl_policy *policy, u64 index, u64 *word);
	void (*restore)(struct aftl_policy *policy, u64 index, u64 word);

	/*
	 * Optional if the policy keeps no pointers to open blocks. The core has
	 * closed @block before it was full: forget it.
	 */
	void (*closed)(struct aftl_policy *policy, const struct aftl_block *block);

	/* Optional, default 0. Called once per host write request, below AFTL_HEATS. */
	u32 (*heat)(struct aftl_policy *policy, const struct aftl_write *write);

	/*
	 * Optional. A request for @unit will come soon: prefetch() what is kept of it,
	 * and change nothing.
	 */
	void (*hint)(const struct aftl_policy *policy, aftl_unit_t unit);

	/*
	 * Optional. The host reads @unit, whose page was programmed in @mode; AFTL_MODES
	 * if the controller has not written it yet.
	 */
	void (*host_read)(struct aftl_policy *policy, aftl_unit_t unit, u32 mode);

	/*
	 * Chooses the place of a program that will certainly be carried out: the
	 * policy moves its cursors now. Returns 0, or -ENOSPC when it needs a free
	 * block and aftl_policy_open() gave none.
	 */
	int (*place)(struct aftl_policy *policy, struct aftl_lun *lun,
		     const struct aftl_need *need, struct aftl_placement *placement);

	/*
	 * Optional. The program is over. Returns true if its content has to be
	 * programmed once more in another place.
	 */
	bool (*programmed)(struct aftl_policy *policy, struct aftl_lun *lun,
			   const struct aftl_placement *placement);

	/* Optional. A slot of @page in @block has just become invalid. */
	void (*invalidated)(struct aftl_policy *policy, struct aftl_block *block, u32 page);

	/*
	 * Optional, default 0. Steps from the default read references to those that a read of
	 * @page begins with, at most AFTL_SHIFT_MAX; the chip retries until it finds the best.
	 */
	u32 (*reference)(struct aftl_policy *policy, const struct aftl_block *block, u32 page);

	/* Optional. The same for those that were right, after each read. */
	void (*found)(struct aftl_policy *policy, const struct aftl_block *block, u32 page,
		      u32 shift);

	/*
	 * Optional, default: the rule that the parameter "victim" names. One of @closed, or
	 * NULL for the one with the fewest valid slots.
	 */
	struct aftl_block *(*victim)(struct aftl_policy *policy, const struct aftl_closed *closed);

	/*
	 * Optional, default: all equal. Among the closed blocks with the fewest
	 * valid slots the one with the smallest rank is collected.
	 */
	u32 (*victim_rank)(struct aftl_policy *policy, struct aftl_lun *lun,
			   const struct aftl_block *block);

	/*
	 * Optional, default: each class in a pass of its own, class as it is, heat 0.
	 * Returns whether this page is moved in this pass; may change class and
	 * heat, but never makes precise data approximate.
	 */
	bool (*copy)(struct aftl_policy *policy, const struct aftl_move *move, u32 *class,
		     u32 *heat);

	/*
	 * Optional, default: no. Called before each erase: is a lower voltage enough? It is
	 * for what was programmed to a lower top voltage; of anything else it leaves residue,
	 * and a full erase has to follow.
	 */
	bool (*gentle)(struct aftl_policy *policy, const struct aftl_block *block);

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
	void (*chore)(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_chore *chore);
};

/**
 * struct aftl_policy - an instance; embedded in the policy's own structure
 * @type: what it is an instance of
 * @ftl: its device
 * @luns: from aftl_policy_new(): an element of the policy's own for each LUN
 */
struct aftl_policy {
	const struct aftl_policy_type *type;
	struct aftl *ftl;
	void *luns;
};

/* What the core does for policies */

const struct aftl_config *aftl_policy_config(const struct aftl_policy *policy);
const struct aftl_geometry *aftl_policy_geometry(const struct aftl_policy *policy);
const struct aftl_media *aftl_policy_media(const struct aftl_policy *policy);

/**
 * aftl_policy_alloc() - zeroed memory in create(); NULL if there is none
 * @ftl: device
 * @count: elements
 * @size: bytes of an element
 */
void *aftl_policy_alloc(struct aftl *ftl, size_t count, size_t size);
void aftl_policy_free(struct aftl *ftl, void *memory);

/**
 * aftl_policy_new() - an instance of the device's policy, for create()
 * @ftl: device
 * @size: bytes of the policy's own structure, which begins with struct aftl_policy
 * @lun_size: bytes that it wants for each LUN, in @luns
 *
 * Return: the instance, zeroed but for type and device, or NULL without memory.
 */
struct aftl_policy *aftl_policy_new(struct aftl *ftl, size_t size, size_t lun_size);

/* What destroy() is for an instance of aftl_policy_new(). */
void aftl_policy_delete(struct aftl_policy *policy);

u32 aftl_policy_luns(const struct aftl *ftl);

/* Index of @lun below aftl_policy_luns(). */
u32 aftl_lun_index(const struct aftl_lun *lun);

/**
 * aftl_policy_open() - take a free block of @lun for programs in @order
 * @policy: the policy itself
 * @lun: LUN that needs a block
 * @need: for whom; the last free blocks are kept for moves
 * @order: enum aftl_order
 * @kind: index into the policy's kinds
 *
 * Return: the block with @kind set, or NULL.
 */
struct aftl_block *aftl_policy_open(struct aftl_policy *policy, struct aftl_lun *lun,
				    const struct aftl_need *need, enum aftl_order order, u32 kind);

/**
 * aftl_closed_next() - go through the blocks that may be collected, by address
 * @closed: as victim() has it
 * @block: the one before; NULL begins
 *
 * Return: the next, NULL after the last.
 */
struct aftl_block *aftl_closed_next(const struct aftl_closed *closed,
				    const struct aftl_block *block);

/**
 * aftl_closed_draw() - a block of the LUN that chance names
 * @closed: as victim() has it
 * @number: of the draw; the same one is the same block until something is written
 *
 * Return: the block, or NULL if it may not be collected.
 */
struct aftl_block *aftl_closed_draw(const struct aftl_closed *closed, u32 number);

/* Nanoseconds since @block was opened. */
u64 aftl_closed_age(const struct aftl_closed *closed, const struct aftl_block *block);

/**
 * aftl_policy_close() - no more programs for this block, though it is not full
 * @policy: the policy itself
 * @block: block in question
 */
void aftl_policy_close(struct aftl_policy *policy, struct aftl_block *block);

/**
 * aftl_policy_restamp() - the data of @block count from now on as written now
 * @policy: the policy itself
 * @block: block in question
 */
void aftl_policy_restamp(struct aftl_policy *policy, struct aftl_block *block);

/**
 * aftl_policy_turn() - change the kind of an open block
 * @policy: the policy itself
 * @block: block in question
 * @kind: index into the policy's kinds
 */
void aftl_policy_turn(struct aftl_policy *policy, struct aftl_block *block, u32 kind);

/**
 * aftl_policy_old_block() - block that holds the current version of @unit, or NULL
 * @policy: the policy itself
 * @unit: logical unit
 */
const struct aftl_block *aftl_policy_old_block(const struct aftl_policy *policy, aftl_unit_t unit);

/**
 * aftl_policy_mode() - enum aftl_mode of the current version of @unit
 * @policy: the policy itself
 * @unit: logical unit
 *
 * Return: AFTL_MODES if it is nowhere on flash.
 */
u32 aftl_policy_mode(const struct aftl_policy *policy, aftl_unit_t unit);

/* Device time in nanoseconds. */
u64 aftl_policy_now(const struct aftl_policy *policy);

/* Age of the device in hours: what first_hour of a block counts in. */
u64 aftl_policy_hours(const struct aftl_policy *policy);

/*
 * The device is being brought into its starting state: what is written now has been
 * there before the first request.
 */
bool aftl_policy_filling(const struct aftl_policy *policy);

/*
 * Host commands that wait at @lun; in place() for a host write those about to be
 * programmed are among them.
 */
u32 aftl_lun_queued(const struct aftl_lun *lun);

/**
 * aftl_policy_program_ns() - array time that the configuration gives @placement
 * @policy: the policy itself
 * @placement: block, page and mode count
 */
u64 aftl_policy_program_ns(const struct aftl_policy *policy,
			   const struct aftl_placement *placement);

/**
 * aftl_last_step() - will @block be full after one more program step?
 * @geo: shape of the device
 * @block: block in question
 *
 * A full block leaves the policy's hands: it may be collected and erased.
 */
static inline bool aftl_last_step(const struct aftl_geometry *geo, const struct aftl_block *block)
{
	return block->programmed + geo->program_pages == geo->pages;
}

static inline bool aftl_block_full(const struct aftl_geometry *geo, const struct aftl_block *block)
{
	return block->programmed == geo->pages;
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
			  const struct aftl_need *need, struct aftl_block **open, u32 kind,
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
