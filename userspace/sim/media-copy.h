/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a result keeps of the flash, for --block-table and --page-map.
 */
#ifndef AFTL_MEDIA_COPY_H
#define AFTL_MEDIA_COPY_H

#include "run.h"

/* Are there all the blocks that --page-map names? */
int __must_check media_check_blocks(const struct aftl_geometry *geo,
				    const struct sim_options *options, struct aftl_error *error);

/* Copies what @options ask for into @result. */
void media_copy(const struct aftl *ftl, const struct sim_options *options,
		struct sim_result *result);

/* Copies the blocks of @ftl, which is number @index of several that are alike. */
void media_copy_blocks(const struct aftl *ftl, u32 index, struct sim_result *result);

/* What @block is used for; empty if there is nothing in it. */
const char *sim_kind_name(const struct aftl_policy_type *policy, const struct aftl_block *block);

void media_copy_release(struct sim_result *result);

#endif
