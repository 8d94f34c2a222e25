/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is changed while a device has its data, in words: KEY=VALUE.
 */
#ifndef SIM_CHANGES_H
#define SIM_CHANGES_H

#include "core/base/params.h"
#include "core/policy/policy.h"
#include "key-value.h"

/**
 * struct sim_change - a change
 * @at: requests of the stream that are submitted before it
 * @policy: another one, or NULL
 * @key: a parameter, "age" for time that passes, or "policy"
 * @value: as it stands on a command line
 */
struct sim_change {
	u64 at;
	const struct aftl_policy_type *policy;
	char key[KEY_SIZE];
	char value[AFTL_VALUE_SIZE];
};

/**
 * sim_change_parse() - read KEY=VALUE
 * @change: takes all but @at
 * @pair: which
 * @error: the sentence
 *
 * Whether a device can be changed so is said when it is.
 *
 * Return: 0 or -EINVAL
 */
int sim_change_parse(struct sim_change *change, const char *pair, struct aftl_error *error);

#endif
