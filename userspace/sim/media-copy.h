/* SPDX-License-Identifier: GPL-2.0-only */
/* Copy the state of blocks and pages into a result, for --block-table and --page-map. */
#ifndef AFTL_MEDIA_COPY_H
#define AFTL_MEDIA_COPY_H

#include "run.h"

/* Check that all blocks that --page-map names exist. */
int __must_check media_check_page_map_blocks_exist(const struct aftl_geometry *geo,
						   const struct sim_options *options,
						   struct aftl_error *error);

/* Copy the tables of blocks and pages that @options request into @result. */
void media_copy_block_and_page_tables(const struct aftl *ftl, const struct sim_options *options,
				      struct sim_result *result);

/* Copy the blocks of @ftl, which is number @index of several equal devices. */
void media_copy_block_table(const struct aftl *ftl, u32 index, struct sim_result *result);

/* Return the policy's name for the kind of @block; an empty text if the block is empty. */
const char *sim_get_block_kind_name(const struct aftl_policy_type *policy,
				    const struct aftl_block *block);

void media_free_copied_tables(struct sim_result *result);

#endif
