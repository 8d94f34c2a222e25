/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The types of the built-in policies, for the registry alone.
 */
#ifndef AFTL_POLICIES_H
#define AFTL_POLICIES_H

#include "policy.h"

extern const struct aftl_policy_type aftl_policy_baseline;
extern const struct aftl_policy_type aftl_policy_delta_b;
extern const struct aftl_policy_type aftl_policy_vth_b;
extern const struct aftl_policy_type aftl_policy_approxftl;
extern const struct aftl_policy_type aftl_policy_pageftl;
extern const struct aftl_policy_type aftl_policy_cubeftl;
extern const struct aftl_policy_type aftl_policy_cubeftl_minus;

#endif
