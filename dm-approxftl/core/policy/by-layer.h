/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the layers of a 3D block are like: word lines of one layer are alike, layers
 * differ. How fast they can be programmed, which of them come out bad: for cubeFTL and what
 * it is compared with. And what is remembered of them for reads.
 *
 * What they are like follows from seed, block, layer and wear: two looks agree.
 */
#ifndef AFTL_POLICY_BY_LAYER_H
#define AFTL_POLICY_BY_LAYER_H

#include "core/policy/policy.h"

/**
 * aftl_layer_errors() - errors between the erased state and P1 that a program leaves
 * @policy: the policy itself
 * @block: block in question
 * @layer: layer in question
 *
 * In 1/4096 of their mean on new flash, never 0: what a controller monitors on a leader.
 */
u16 aftl_layer_errors(const struct aftl_policy *policy, const struct aftl_block *block, u32 layer);

/**
 * aftl_follower_ns() - array time of a word line whose leader had @errors
 * @leader_ns: array time with default parameters
 * @errors: as from aftl_layer_errors()
 *
 * Needless verifies are skipped; the spare margin raises the first voltage and lowers
 * the last one, which saves loops.
 */
u64 aftl_follower_ns(u64 leader_ns, u32 errors);

/**
 * aftl_careful_ns() - array time with what a layer can do without in any condition
 * @policy: the policy itself
 * @leader_ns: array time with default parameters
 * @page: any page of the layer
 */
u64 aftl_careful_ns(const struct aftl_policy *policy, u64 leader_ns, u32 page);

/**
 * aftl_came_out_bad() - a word line programmed with its leader's parameters has more errors
 * @policy: the policy itself
 * @block: block in question
 * @page: its first page
 *
 * The share of such word lines is the parameter misprograms.
 */
bool aftl_came_out_bad(const struct aftl_policy *policy, const struct aftl_block *block, u32 page);

/**
 * aftl_references_new() - a reference table: the last good shift of each layer, 2 bytes
 * @ftl: device
 * @geo: its shape
 *
 * Return: the table, for aftl_policy_free(), or NULL without memory.
 */
u16 *aftl_references_new(struct aftl *ftl, const struct aftl_geometry *geo);

/* Entry of the layer of @page. */
u16 *aftl_reference_of(const struct aftl_policy *policy, u16 *references,
		       const struct aftl_block *block, u32 page);

/* For snapshots: so many numbers of an array are a word. */
#define AFTL_U16_IN_WORD 4U

static inline u64 aftl_u16_words(u64 count)
{
	return div64_u64(count + AFTL_U16_IN_WORD - 1, AFTL_U16_IN_WORD);
}

u64 aftl_pack_u16(const u16 *values, u64 count, u64 index);
void aftl_unpack_u16(u16 *values, u64 count, u64 index, u64 word);

static inline u64 aftl_reference_count(const struct aftl_geometry *geo)
{
	return (u64)geo->blocks * geo->layers;
}

#endif
