/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target's answer to the message "luns".
 */
#ifndef AFTL_TARGET_LUNS_H
#define AFTL_TARGET_LUNS_H

#include "core/base/params.h"

/**
 * struct target_lun - a line of the answer
 * @good_blocks: blocks that are not bad
 * @free_blocks: of these, erased ones
 * @valid_units: that hold data
 * @queued: commands that wait for it
 * @busy_ns: array time so far
 * @cached_blocks: blocks of the cache of one bit in a cell
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
 * struct target_luns - all of them
 * @list: to be freed with free()
 * @count: how many
 */
struct target_luns {
	struct target_lun *list;
	unsigned int count;
};

/**
 * target_luns_parse() - read an answer
 *
 * Words that follow the last known one of a line belong to a newer target and are skipped.
 *
 * Return: 0, or -EINVAL with a sentence and an empty list.
 */
int __must_check target_luns_parse(struct target_luns *luns, const char *text,
				   struct aftl_error *error);

/* Makes the times of @now those since @before, which has the same LUNs; what is counted stays. */
void target_luns_since(struct target_luns *now, const struct target_luns *before);

#endif
