/* SPDX-License-Identifier: GPL-2.0-only */
/* Registry of the built-in policies. */
#ifndef AFTL_POLICIES_H
#define AFTL_POLICIES_H

#include "core/policy/nand-policy.h"

#define POLICY(name) extern const struct aftl_policy_type aftl_policy_##name;
#include "core/policy/policy-list.h"
#undef POLICY

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
