/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Controller-side knowledge about the layers of a 3D block, for cubeFTL and its baselines: ISPP
 * parameters, misprogrammed word lines and read references.
 */
#ifndef AFTL_POLICY_LAYER_PARAMS_H
#define AFTL_POLICY_LAYER_PARAMS_H

#include "core/policy/nand-policy.h"

/**
 * aftl_encode_leader_program_result() - pack a program's monitored result into 16 bits; never 0
 * @outcome: result of the program
 */
u16 aftl_encode_leader_program_result(const struct aftl_program_result *outcome);

/**
 * aftl_get_follower_ispp() - ISPP parameters of a follower word line by its leader's result
 * @shown: packed result, see aftl_encode_leader_program_result()
 *
 * Needless verifies are skipped; the spare margin raises the first voltage and lowers the last one,
 * which saves ISPP loops.
 */
struct aftl_ispp aftl_get_follower_ispp(u16 shown);

/**
 * aftl_vertftl_get_voltage_reduction_mv() - safe reduction of a layer's last program voltage
 * @policy: the policy itself
 * @page: any page of the layer
 */
u16 aftl_vertftl_get_voltage_reduction_mv(const struct aftl_policy *policy, u32 page);

/**
 * aftl_is_word_line_misprogrammed() - true if a word line has far more errors than its leader
 * @shown: packed result of the leader; 0: unknown
 * @outcome: result of the word line
 *
 * More errors are allowed if the word line uses margins that may cause these.
 */
bool aftl_is_word_line_misprogrammed(u16 shown, const struct aftl_program_result *outcome);

/* Array of the policy for read references: the last shift that worked, by layer. */
#define AFTL_REFERENCE_TABLE .count = 1, .width = sizeof(u16), .each = AFTL_PER_LAYER

/* Entry of the read reference table @references for the layer that contains @page. */
u16 *aftl_layer_read_ref_ptr(const struct aftl_policy *policy, u16 *references,
			     const struct aftl_block *block, u32 page);

#endif
