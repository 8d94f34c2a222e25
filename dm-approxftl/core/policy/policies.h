/* SPDX-License-Identifier: GPL-2.0-only */
/* Types of the built-in policies. */
#ifndef AFTL_POLICIES_H
#define AFTL_POLICIES_H

#include "core/policy/nand-policy.h"

#define POLICY(name) extern const struct aftl_policy_type aftl_policy_##name;
#include "core/policy/policy-list.h"
#undef POLICY

#endif
