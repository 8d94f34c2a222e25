/* SPDX-License-Identifier: GPL-2.0-only */
/* Parser of the target's answer to the message "luns". */
#ifndef AFTL_TARGET_LUNS_H
#define AFTL_TARGET_LUNS_H

#include "core/base/params.h"

/**
 * struct target_lun - state of a LUN, as the target reports it
 * @good_blocks: blocks that are not bad
 * @free_blocks: erased blocks among them
 * @valid_units: units that hold valid data
 * @queued: commands that wait for the LUN
 * @busy_ns: time in array operations so far
 * @cached_blocks: blocks of the SLC cache
 */
struct target_lun {
	u64 good_blocks;
	u64 free_blocks;
	u64 valid_units;
	u64 queued;
	u64 busy_ns;
	u64 cached_blocks;
};

/**
 * struct target_luns - all LUNs of a device
 * @list: to be freed with free()
 * @count: number of LUNs
 */
struct target_luns {
	struct target_lun *list;
	unsigned int count;
};

/**
 * target_luns_parse() - parse an answer
 *
 * Words after the last known one of a line belong to a newer target and are skipped.
 *
 * Return: 0, or -EINVAL with an error message and an empty list.
 */
int __must_check target_luns_parse(struct target_luns *luns, const char *text,
				   struct aftl_error *error);

/* Subtract busy_ns in @before from busy_ns in @now, LUN by LUN; keep all other members. */
void target_luns_subtract_earlier_counts(struct target_luns *now, const struct target_luns *before);

#endif
