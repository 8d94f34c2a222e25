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

#define SIM_CHANGES 64

/**
 * struct sim_changes - changes of a run
 * @all: in the order of the stream; several after one request are done one after the other
 * @count: how many
 */
struct sim_changes {
	struct sim_change all[SIM_CHANGES];
	u32 count;
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

/* Read N:KEY=VALUE,... into @changes; 0 or -EINVAL. */
int sim_changes_parse(struct sim_changes *changes, const char *list, struct aftl_error *error);

/* Requests before the last of them. */
static inline u64 sim_changes_last(const struct sim_changes *changes)
{
	return changes->count ? changes->all[changes->count - 1].at : 0;
}

#endif
