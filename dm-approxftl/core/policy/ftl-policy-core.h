/* SPDX-License-Identifier: GPL-2.0-only */
/* How the core calls a policy of the FTL layer. */
#ifndef AFTL_FTL_POLICY_CORE_H
#define AFTL_FTL_POLICY_CORE_H

#include "core/policy/ftl-policy.h"

struct aftl_fill_order;

/* Add @writes to the count of host writes: preconditioning calls stream() for some writes only. */
void aftl_ftl_add_to_host_write_clock(struct aftl_policy *policy, u32 writes);

/**
 * aftl_ftl_set_first_write_numbers() - store which write of preconditioning wrote each lpn first
 * @policy: a policy with a clock, see struct aftl_ftl_policy
 * @first: first of the logical pages
 * @count: number of logical pages
 * @order: order of the first writes; @order->at is the number of the write of @first, and is
 *	advanced by @count lpns. Skips writes that aftl_ftl_add_to_host_write_clock() did not count
 */
void aftl_ftl_set_first_write_numbers(struct aftl_policy *policy, aftl_lpn_t first, u32 count,
				      struct aftl_fill_order *order);

/* Return true if the policy has a clock (a count of host writes), see struct aftl_ftl_policy. */
static inline bool aftl_ftl_has_host_write_clock(const struct aftl_policy_type *type)
{
	return type->ftl && type->ftl->clock;
}

/**
 * aftl_ftl_policy_type() - complete a policy type with the methods by which the core calls it
 * @type: a policy of either layer
 * @complete: takes the completed type, if @type is of the FTL layer
 *
 * Return: @complete, or @type if it has no methods of the FTL layer.
 */
const struct aftl_policy_type *aftl_ftl_policy_type(const struct aftl_policy_type *type,
						    struct aftl_policy_type *complete);

#endif
