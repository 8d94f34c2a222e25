/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The FTL layer of the contract between the FTL core and a policy: for policies that separate data
 * and select victims of garbage collection (GC). The core keeps one open block for each LUN and
 * stream, which it fills from the first page to the last, and stores all data as precise. A policy
 * that chooses pages, program modes or read references uses nand-policy.h.
 *
 * A policy is a struct aftl_policy_type with .name, .about, AFTL_FTL_POLICY() and, if it has more
 * than one stream, AFTL_FTL_STREAMS(); if it has state, .size or .arrays; and its parameters in
 * .params. docs/policy-in-an-hour.md has complete files.
 *
 * A policy may read these members of a block: ->valid (ppns that hold current data), ->erases,
 * ->kind (its stream), ->opened_ns and ->programmed (pages); and call aftl_block_age_ns() and
 * aftl_block_ns_since_invalidation().
 */
#ifndef AFTL_FTL_POLICY_H
#define AFTL_FTL_POLICY_H

#include "core/policy/nand-policy.h"
#include "core/policy/open-blocks.h"
#include "core/policy/selection.h"

/**
 * struct aftl_page_write - a logical page that is about to be written
 * @lpn: logical page
 * @cause: AFTL_CAUSE_HOST, or why it is relocated, enum aftl_cause
 * @class: AFTL_APPROX if the host accepts errors; relocated data is precise
 * @hint: hints of the host; flash does not store them, so that relocated data has none
 * @from: source block of relocated data, NULL for a host write
 */
struct aftl_page_write {
	aftl_lpn_t lpn;
	u32 cause;
	u32 class;
	struct aftl_hint hint;
	const struct aftl_block *from;
};

/**
 * struct aftl_ftl_policy - methods of a policy of the FTL layer; all are optional
 * @block_ages: the policy uses aftl_block_age_ns() or aftl_block_ns_since_invalidation()
 * @clock: index of the array whose first number (u64) counts host writes; 0: there is none. Array 0
 *	then has, for each lpn, this count at the last host write (u32); 0: never written.
 *	Preconditioning does not call stream() for lpns that were never written: stream() must
 *	return a fixed stream for these, and change nothing but the two counts
 * @stream: the stream of a page, default 0. Called once for each logical page of a host write, when
 *	the core accepts it. For a relocated page it may be called several times; if a flash page
 *	has several logical pages, the first valid one decides for all
 * @select_victim: the block to collect, one of @closed, or NULL for the block with the least valid
 *	data. Default: the selector of the parameter "victim"
 * @lun: the LUN for the next pages of a stream, see struct aftl_lun_request; if that LUN has no
 *	room, the next one in the allocation order is used. Default: the parameter "allocate"
 * @idle: give an idle LUN a task, if there is one
 * @block_opened: @block has been opened for the stream @block->kind
 * @page_invalidated: a page of @block was overwritten, relocated or discarded
 * @block_collected: @block is about to be erased; it has no valid data any more
 * @restored: the arrays come from a snapshot and may contain anything: make them consistent
 */
struct aftl_ftl_policy {
	bool block_ages;
	u32 clock;
	u32 (*stream)(struct aftl_policy *policy, const struct aftl_page_write *page);
	struct aftl_block *(*select_victim)(struct aftl_policy *policy,
					    const struct aftl_victim_candidates *closed);
	u32 (*lun)(struct aftl_policy *policy, const struct aftl_lun_request *request);
	void (*idle)(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_idle_task *task);
	void (*block_opened)(struct aftl_policy *policy, const struct aftl_block *block);
	void (*page_invalidated)(struct aftl_policy *policy, const struct aftl_block *block);
	void (*block_collected)(struct aftl_policy *policy, const struct aftl_block *block);
	void (*restored)(struct aftl_policy *policy);
};

/*
 * AFTL_FTL_POLICY() - initialise members of a struct aftl_policy_type of the FTL layer
 *
 * @methods: struct aftl_ftl_policy, or NULL for the defaults
 * @count: number of streams, at most AFTL_KINDS_MAX
 * @moved: number of relocation passes over a victim block; pass p relocates the data of the streams
 * s with s % @moved == p, so the streams of one block's valid data must differ modulo @moved. If
 * stream() changes its answer after the pass for the new stream, the data goes to the next stream
 * of the last pass; make @count a multiple of @moved
 */
#define AFTL_FTL_POLICY(methods, count, moved)				\
	.ftl = methods,							\
	.open_blocks = count,						\
	.reserve = moved,						\
	.ignores_tags = true,						\
	.two_passes = true,						\
	AFTL_OPEN_BLOCKS_METHODS,					\
	.place = aftl_ftl_place_program_in_stream_block

/* Names of the streams, one for each stream, for statistics. */
#define AFTL_FTL_STREAMS(...)						\
	.kinds = { __VA_ARGS__ },					\
	.streams = { __VA_ARGS__ }

/*
 * State that a snapshot of the device saves, an entry of .arrays: one @type for each object of
 * @scope (AFTL_PER_LPN, AFTL_PER_BLOCK, AFTL_PER_LUN, AFTL_PER_DEVICE). All members of @type are of
 * the integer type @number. The last entry of .arrays is for the block ages of the FTL layer.
 */
#define AFTL_STATE(scope, type, number)					\
	{ .count = DIV_ROUND_UP(sizeof(type), sizeof(number)), .width = sizeof(number),		\
	  .each = scope }

static inline void *aftl_block_state_ptr(const struct aftl_policy *policy, u32 index, size_t bytes,
					 const struct aftl_block *block)
{
	return (u8 *)policy->arrays[index] +
	       bytes * aftl_block_index(aftl_policy_media(policy), block);
}

/* Entry of the policy's array @index, of @type, for a logical page, block, LUN or the device. */
#define aftl_lpn_state(policy, index, type, lpn)			\
	((type *)(policy)->arrays[index] + from_lpn(lpn))
#define aftl_block_state(policy, index, type, block)			\
	((type *)aftl_block_state_ptr(policy, index, sizeof(type), block))
#define aftl_device_state(policy, index, type) ((type *)(policy)->arrays[index])

/*
 * Mean age in nanoseconds of the data of @block, since the host wrote them. Relocation does not
 * reset the age: all relocated data count with the mean age of their source block.
 */
u64 aftl_block_age_ns(const struct aftl_policy *policy, const struct aftl_block *block);

/* Nanoseconds since data of @block was last invalidated, or since the block was opened. */
u64 aftl_block_ns_since_invalidation(const struct aftl_policy *policy,
				     const struct aftl_block *block);

/* The method place() of AFTL_FTL_POLICY(). */
int aftl_ftl_place_program_in_stream_block(struct aftl_policy *policy, struct aftl_lun *lun,
					   const struct aftl_program_request *need,
					   struct aftl_placement *placement);

#endif
