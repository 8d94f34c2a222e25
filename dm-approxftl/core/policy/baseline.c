// SPDX-License-Identifier: GPL-2.0-only
/*
 * baseline: page mapping with one open block for each LUN; everything is precise.
 *
 * pageftl is the same policy under the name that cubeFTL's paper uses for its baseline. traditional
 * is AGCR's baseline: all programs have medium cost.
 */
#include "core/policy/policies.h"
#include "core/policy/ftl-policy.h"

const struct aftl_policy_type aftl_policy_baseline = {
	.name = "baseline",
	.about = "page mapping in sequential order, everything precise",
	.kinds = { "precise" },
	.fill_run = aftl_fill_to_block_end,
	AFTL_FTL_POLICY(NULL, 1, 1),
};

const struct aftl_policy_type aftl_policy_pageftl = {
	.name = "pageftl",
	.about = "page mapping, word lines layer by layer, all with the leader's parameters",
	.kinds = { "horizontal" },
	.fill_run = aftl_fill_to_block_end,
	AFTL_FTL_POLICY(NULL, 1, 1),
};

const struct aftl_policy_type aftl_policy_traditional = {
	.name = "traditional",
	.about = "page mapping, every write and every read at medium cost",
	.kinds = { "mixed" },
	.fill_run = aftl_fill_to_block_end,
	AFTL_FTL_POLICY(NULL, 1, 1),
};
