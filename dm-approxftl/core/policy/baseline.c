// SPDX-License-Identifier: GPL-2.0-only
/*
 * baseline: page mapping with one open block for each LUN; everything is precise.
 *
 * pageftl is the same policy under the name that cubeFTL's paper uses for its baseline. traditional
 * is AGCR's baseline: all programs have medium cost.
 */
#include "core/policy/policies.h"
#include "core/policy/open-blocks.h"

static int baseline_place(struct aftl_policy *policy, struct aftl_lun *lun,
			  const struct aftl_program_request *need, struct aftl_placement *placement)
{
	return aftl_open_blocks_place(policy, lun, need, AFTL_PRECISE, placement);
}

const struct aftl_policy_type aftl_policy_baseline = {
	.name = "baseline",
	.about = "page mapping in sequential order, everything precise",
	.kinds = { "precise" },
	.open_blocks = 1,
	.reserve = 1,
	.two_passes = true,
	.steady = true,
	.ignores_tags = true,
	AFTL_OPEN_BLOCKS_METHODS,
	.place = baseline_place,
};

const struct aftl_policy_type aftl_policy_pageftl = {
	.name = "pageftl",
	.about = "page mapping, word lines layer by layer, all with the leader's parameters",
	.kinds = { "horizontal" },
	.open_blocks = 1,
	.reserve = 1,
	.steady = true,
	.ignores_tags = true,
	AFTL_OPEN_BLOCKS_METHODS,
	.place = baseline_place,
};

const struct aftl_policy_type aftl_policy_traditional = {
	.name = "traditional",
	.about = "page mapping, every write and every read at medium cost",
	.kinds = { "mixed" },
	.open_blocks = 1,
	.reserve = 1,
	.steady = true,
	.ignores_tags = true,
	AFTL_OPEN_BLOCKS_METHODS,
	.place = baseline_place,
};
