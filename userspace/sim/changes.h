/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes of a device's parameters, policy or age during a run (--change); data are kept. */
#ifndef SIM_CHANGES_H
#define SIM_CHANGES_H

#include "core/base/params.h"
#include "core/policy/nand-policy.h"
#include "key-value.h"

/**
 * struct sim_change - a change of the device during a run
 * @at: number of requests that are submitted before the change
 * @policy: the new policy, or NULL
 * @key: a parameter, "age" to let time pass, or "policy"
 * @value: the new value, as it stands on a command line
 */
struct sim_change {
	u64 at;
	const struct aftl_policy_type *policy;
	char key[KEY_SIZE];
	char value[AFTL_VALUE_SIZE];
};

#define SIM_CHANGES 64

/**
 * struct sim_changes - changes of the device during a run
 * @all: by request number; changes at the same request in the order of the command line
 * @count: number of changes
 */
struct sim_changes {
	struct sim_change all[SIM_CHANGES];
	u32 count;
};

/**
 * parse_device_change() - parse the KEY=VALUE of a change
 * @change: receives everything but @at
 * @pair: the text
 * @error: receives the error message
 *
 * The device checks the change when it is applied.
 *
 * Return: 0 or -EINVAL
 */
int parse_device_change(struct sim_change *change, const char *pair, struct aftl_error *error);

/* Parse the list N:KEY=VALUE,... of changes after N requests each. Return: 0 or -EINVAL. */
int parse_device_change_list(struct sim_changes *changes, const char *list,
			     struct aftl_error *error);

/* Return after how many requests the last change happens; 0 if there is none. */
static inline u64 sim_get_request_count_at_last_change(const struct sim_changes *changes)
{
	return changes->count ? changes->all[changes->count - 1].at : 0;
}

#endif
