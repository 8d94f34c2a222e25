/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the contract between the FTL core and a policy that both layers share: the instance
 * of a policy, its state, the structures of victim selection, and the services of the core.
 *
 * The FTL layer, struct aftl_ftl_policy, chooses a write stream for each logical page, and victims
 * of GC. The NAND layer, struct aftl_policy_type, also chooses the place and the mode of each
 * program. The core owns the L2P table, the program constraints, ordering, accounting and time. A
 * wrong policy may be slow, but cannot lose data: the core checks each proposal, counts refused
 * ones in "policy_bugs", and uses a default instead.
 *
 * The methods of one device are called one at a time, must not sleep, and must not allocate memory
 * except in create(). Optional methods may be NULL.
 */
#ifndef AFTL_POLICY_H
#define AFTL_POLICY_H

#include "core/nand/chip.h"
#include "core/base/params.h"

struct aftl;
struct aftl_lun;
struct aftl_policy;
struct aftl_policy_type;
struct aftl_program_request;

/**
 * struct aftl_victim_candidates - closed blocks of a LUN that may be collected now
 * @policy: the policy, for services of the core
 * @lun: the LUN
 * @most_valid: blocks with more valid ppns are left out, because they would free too little
 * @params: values of the selector's own parameters
 * @superblocks: NULL, or one entry for each superblock of the die group, which stands for
 *	a block: @valid is the mean of its blocks, @opened_ns and @kind are those of the block
 *	that was opened first, @erases is the same for all; the other fields mean nothing
 */
struct aftl_victim_candidates {
	struct aftl_policy *policy;
	struct aftl_lun *lun;
	u32 most_valid;
	const void *params;
	struct aftl_block *superblocks;
};

/**
 * struct aftl_lun_request - a request for a LUN: lpns of a stream are about to be allocated to one
 * @policy: the policy, for services of the core
 * @lpn: first of the lpns
 * @class: enum aftl_class
 * @stream: stream of the policy, from stream()
 * @units: number of lpns for which a LUN must have room
 * @turn: position of the LUN whose turn it is, see aftl_lun_request_get_lun()
 * @params: values of the rule's own parameters
 * @members: LUNs of the reclaim group that the lpns go to, in allocation order; NULL: any LUN
 * @member_count: number of @members
 */
struct aftl_lun_request {
	struct aftl_policy *policy;
	aftl_lpn_t lpn;
	u32 class;
	u32 stream;
	u32 units;
	u32 turn;
	const void *params;
	const u32 *members;
	u32 member_count;
};

enum aftl_idle_task_kind {
	AFTL_IDLE_TASK_NONE,
	AFTL_IDLE_TASK_REWRITE,
	AFTL_IDLE_TASK_EMPTY,
	AFTL_IDLE_TASK_RELOCATE,
};

/**
 * struct aftl_idle_task - background work for an idle LUN
 * @kind: nothing; rewrite @lpn; relocate everything valid in @block; or relocate what is valid in
 *	some of its pages
 * @lpn: for REWRITE
 * @block: for EMPTY and RELOCATE; after EMPTY it is erased if it is closed
 * @page: for RELOCATE: first page
 * @pages: for RELOCATE: number of pages
 */
struct aftl_idle_task {
	enum aftl_idle_task_kind kind;
	aftl_lpn_t lpn;
	struct aftl_block *block;
	u32 page;
	u32 pages;
};

#define AFTL_KINDS_MAX 8

/* Objects for each of which an array of a policy has an entry */
enum aftl_array_scope {
	AFTL_PER_LUN,
	AFTL_PER_LUN_LAYER,
	AFTL_PER_BLOCK,
	AFTL_PER_LAYER,
	AFTL_PER_LPN,
	AFTL_PER_DEVICE,
	AFTL_ARRAY_SCOPES,
};

#define AFTL_ARRAYS_MAX 4

/**
 * struct aftl_policy_array - an array of a policy, which the core allocates, counts, saves,
 *	restores and frees
 * @count: numbers for each LUN, block, ...; 0: there is no such array
 * @width: bytes of a number: 1, 2, 4 or 8
 * @each: enum aftl_array_scope
 * @wanted: optional: return false if the array is not needed with the current parameters
 */
struct aftl_policy_array {
	u16 count;
	u8 width;
	u8 each;
	bool (*wanted)(const struct aftl_policy *policy);
};

#define AFTL_GROUPS_MAX 2

/**
 * struct aftl_policy_services - services of the core, called by the functions below; called one at
 *	a time, never sleep
 * @part: create an instance of another policy, as aftl_policy_part() does
 * @spare: return true if the LUN has more free blocks than the reserve for relocation
 * @open: take a free block of the LUN for a program of this cause and open it; NULL if there is
 *	none
 * @close: close a block that is not full
 * @find: look up the ppn of an lpn; false if it is not on flash
 * @hours: age of the device in hours
 * @queued: number of host commands that wait for the LUN
 * @room: return true if LUN number @lun has room for @units logical pages
 * @works: return true if LUN number @lun has not failed
 * @work: number of host reads and programs that wait for the LUN, with the one in progress
 * @command_seq: a number that changes with each command and each erase of the LUN
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
 * @config: parameters
 * @geo: geometry
 * @media: flash array
 * @chip: flash chip, for monitoring
 * @now_ns: device time
 * @fill_left_ns: time that the rest of preconditioning would take
 * @filling: preconditioning writes data that count as older than the first request
 * @services: services of the core
 */
struct aftl_policy_core {
	const struct aftl_config *config;
	const struct aftl_geometry *geo;
	const struct aftl_media *media;
	struct aftl_chip *chip;
	const u64 *now_ns;
	const u64 *fill_left_ns;
	const bool *filling;
	const struct aftl_policy_services *services;
};

/**
 * struct aftl_policy - an instance of a policy; embedded in the struct of the policy
 * @type: its type
 * @ftl: its device, an argument of the services
 * @core: configuration, state and services of its device
 * @next: next delegate, in the order of creation
 * @luns: state of the policy for each LUN, of type->lun_size
 * @arrays: arrays of the type; NULL where there is none
 * @params: values of the parameter groups of the type
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

/* Services of the core */

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
 * aftl_policy_part() - create an instance of another policy as a delegate; for create()
 * @whole: the delegating policy
 * @type: type of the delegate
 *
 * The core keeps the state of the delegate with that of @whole, which calls its methods.
 *
 * Return: the delegate, or NULL without memory.
 */
static inline struct aftl_policy *aftl_policy_part(struct aftl_policy *whole,
						   const struct aftl_policy_type *type)
{
	return whole->core->services->part(whole, type);
}

static inline u32 aftl_policy_count_luns(const struct aftl_policy *policy)
{
	return policy->core->geo->luns;
}

/* Return the index of @lun, which is the first member of the core's struct aftl_lun. */
static inline u32 aftl_lun_index(const struct aftl_lun *lun)
{
	return *(const u32 *)lun;
}

/* Return true if @lun has more free blocks than the reserve for relocation. */
static inline bool aftl_policy_has_spare_blocks(const struct aftl_policy *policy,
						const struct aftl_lun *lun)
{
	return policy->core->services->spare(policy->ftl, lun);
}

/**
 * aftl_lun_request_get_lun() - LUN at a position of the allocation order
 * @binding: argument of lun()
 * @position: any number; the order repeats after the last LUN
 *
 * If the lpns go to a reclaim group, only its LUNs have positions.
 */
static inline u32 aftl_lun_request_get_lun(const struct aftl_lun_request *binding, u32 position)
{
	if (unlikely(binding->members))
		return binding->members[position % binding->member_count];
	return aftl_lun_by_allocation_order(binding->policy->core->geo, position);
}

/* Return true if @lun has room for the request; a dead LUN has none. */
static inline bool aftl_lun_request_fits(const struct aftl_lun_request *binding, u32 lun)
{
	const struct aftl_policy *policy = binding->policy;

	return policy->core->services->room(policy->ftl, lun, binding->units);
}

static inline bool aftl_lun_request_is_lun_alive(const struct aftl_lun_request *binding, u32 lun)
{
	return binding->policy->core->services->works(binding->policy->ftl, lun);
}

/* Number of host reads and programs that wait for @lun, including the one in progress. */
static inline u32 aftl_lun_request_count_waiting(const struct aftl_lun_request *binding, u32 lun)
{
	return binding->policy->core->services->work(binding->policy->ftl, lun);
}

/* Return true if @block is one of the candidates. */
bool aftl_victim_candidates_contain(const struct aftl_victim_candidates *closed,
				    const struct aftl_block *block);

/**
 * aftl_victim_candidates_next() - iterate over the candidates by address
 * @closed: argument of select_victim()
 * @block: the previous candidate; NULL to begin
 *
 * Return: the next candidate, NULL after the last.
 */
struct aftl_block *aftl_victim_candidates_next(const struct aftl_victim_candidates *closed,
					       const struct aftl_block *block);

/**
 * aftl_victim_candidates_draw() - a block of the LUN drawn at random
 * @closed: argument of select_victim()
 * @number: number of the draw; repeats return the same block until the next command or erase
 *
 * Return: the block, or NULL if it is not a candidate.
 */
struct aftl_block *aftl_victim_candidates_draw(const struct aftl_victim_candidates *closed,
					       u32 number);

/* Nanoseconds since @block was opened. */
u64 aftl_victim_age_ns(const struct aftl_victim_candidates *closed, const struct aftl_block *block);

/**
 * aftl_policy_lpn_block() - block that contains the current version of @lpn, or NULL
 * @policy: the policy itself
 * @lpn: logical page
 */
const struct aftl_block *aftl_policy_lpn_block(const struct aftl_policy *policy, aftl_lpn_t lpn);

/* Device time in nanoseconds; negative during preconditioning, which ends at time 0. */
static inline s64 aftl_policy_now(const struct aftl_policy *policy)
{
	return (s64)(*policy->core->now_ns - *policy->core->fill_left_ns);
}

/* Age of the device in hours; the unit of block->first_hour. */
static inline u64 aftl_policy_age_hours(const struct aftl_policy *policy)
{
	return policy->core->services->hours(policy->ftl);
}

/* Return true while preconditioning writes data that counts as older than the first request. */
static inline bool aftl_policy_is_preconditioning(const struct aftl_policy *policy)
{
	return *policy->core->filling;
}

/* Registry (policies.c) */

/**
 * aftl_policy_find() - policy type @name, or NULL
 * @name: name of the policy
 */
const struct aftl_policy_type *aftl_policy_find(const char *name);

/**
 * aftl_policy_at() - policy type @index, NULL after the last
 * @index: index, from 0
 */
const struct aftl_policy_type *aftl_policy_at(unsigned int index);

#endif
