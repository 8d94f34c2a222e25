/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hotness classes (zones in the paper): shared by ReSSD and the TLC device that it is compared
 * with.
 */
#ifndef AFTL_POLICY_HOTNESS_H
#define AFTL_POLICY_HOTNESS_H

#include "core/policy/nand-policy.h"

/* Class 0 is cold, class 3 the hottest; block kinds 0 to 3 of a policy are for these classes. */
#define AFTL_HOTNESS_COLD 0
#define AFTL_HOTNESS_CLASSES 4
#define AFTL_HOTNESS_NAMES "cold", "hot_1", "hot_2", "hot_3"

enum { AFTL_KIND_COLLECTED = AFTL_HOTNESS_CLASSES, AFTL_KIND_DISPLACED, AFTL_HOTNESS_KINDS };

/* Age limits of the hotness classes: parameter group 0 of each policy that uses these classes. */
extern const struct aftl_param_group aftl_hotness_params;

/**
 * aftl_overwritten_data_age_ns() - age of the block that holds the data that a write replaces
 * @policy: the policy itself
 * @write: a host write
 *
 * Return: U64_MAX for first writes and during preconditioning, when no time passes.
 */
u64 aftl_overwritten_data_age_ns(struct aftl_policy *policy, const struct aftl_host_write *write);

/**
 * aftl_hotness_class() - hotness class of a write, by the age of the block that holds the old
 *	version
 * @policy: the policy itself
 * @write: a host write
 *
 * Only updates are hot; see aftl_overwritten_data_age_ns().
 */
u32 aftl_hotness_class(struct aftl_policy *policy, const struct aftl_host_write *write);

#endif
