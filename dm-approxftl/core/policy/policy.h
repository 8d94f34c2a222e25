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

#include "core/policy/core-services.h"

struct aftl;
struct aftl_lun;
struct aftl_policy;
struct aftl_policy_type;
struct aftl_program_request;

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

/* Return the block that contains the current version of @lpn, or NULL. */
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

#endif
