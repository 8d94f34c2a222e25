/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What policies lend to hybrid beside their own methods, each from the file of its name.
 */
#ifndef AFTL_POLICY_PARTS_H
#define AFTL_POLICY_PARTS_H

#include "core/policy/policy.h"

/* Is the write of @unit that AGCR's @policy heard of last of low cost? */
bool aftl_agcr_low_cost(const struct aftl_policy *policy, aftl_unit_t unit);

/* A host write finds no block: ReSSD's @policy gives up a candidate. */
void aftl_ressd_give_up(struct aftl_policy *policy, const struct aftl_lun *lun);

/* Was the version of @unit that a write replaces younger than data without margins may be? */
bool aftl_tvr_was_short_lived(const struct aftl_policy *policy, aftl_unit_t unit);

/* Array time of @placement, whose mode is the standard one, without margins. */
u64 aftl_tvr_program_ns(const struct aftl_policy *policy, const struct aftl_placement *placement);

/* Age in hours at which data without margins is written again. */
u32 aftl_tvr_hours(const struct aftl_policy *policy);

#endif
