/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a controller knows of the layers of a 3D block: how fast they can be programmed, which
 * of them came out bad; for cubeFTL and what it is compared with. And what is remembered of
 * them for reads.
 *
 * What they are like follows from seed, block, layer and wear: two looks agree.
 */
#ifndef AFTL_POLICY_LAYER_PARAMS_H
#define AFTL_POLICY_LAYER_PARAMS_H

#include "core/policy/policy.h"

/**
 * aftl_leader_result() - what a program has shown, in 16 bits; never 0
 * @outcome: of the program
 */
u16 aftl_leader_result(const struct aftl_program_result *outcome);

/**
 * aftl_follower_ispp() - what a word line can do without whose leader has @shown that
 * @shown: as from aftl_leader_result()
 *
 * Needless verifies are skipped; the spare margin raises the first voltage and lowers
 * the last one, which saves loops.
 */
struct aftl_ispp aftl_follower_ispp(u16 shown);

/**
 * aftl_vertftl_final_mv() - how far the last voltage can be lowered in a layer, in any condition
 * @policy: the policy itself
 * @page: any page of the layer
 */
u16 aftl_vertftl_final_mv(const struct aftl_policy *policy, u32 page);

/**
 * aftl_is_misprogrammed() - has a word line many more errors than the one before it in its layer?
 * @shown: by that one
 * @outcome: of its program
 *
 * More than what the margins are worth that it went without.
 */
bool aftl_is_misprogrammed(u16 shown, const struct aftl_program_result *outcome);

/* An array for a reference table: the last good shift of each layer. */
#define AFTL_REFERENCE_TABLE .count = 1, .width = sizeof(u16), .each = AFTL_PER_LAYER

/* Entry of the layer of @page. */
u16 *aftl_reference_entry(const struct aftl_policy *policy, u16 *references,
		       const struct aftl_block *block, u32 page);

#endif
