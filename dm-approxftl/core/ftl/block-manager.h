/* SPDX-License-Identifier: GPL-2.0-only */
/* Free blocks, victim lists, bad blocks. */
#ifndef AFTL_BLOCK_MANAGER_H
#define AFTL_BLOCK_MANAGER_H

#include "core/ftl/controller.h"
#include "core/ftl/lun.h"

void aftl_block_manager_init(struct aftl *ftl);

/* Empty the free and victim lists before a load; finish_load() then computes the limits of GC. */
void aftl_block_manager_clear(struct aftl *ftl);
void aftl_block_manager_finish_load(struct aftl *ftl);

/* After a policy change or a load: give LUNs with too few free blocks a fallback block. */
void aftl_block_manager_ensure_fallback_blocks(struct aftl *ftl);
bool aftl_choose_block_as_fallback(struct aftl *ftl, struct aftl_lun *lun);
struct aftl_block *aftl_free_block_most_worn(struct aftl *ftl, const struct aftl_lun *lun);
struct aftl_block *aftl_free_block_select(struct aftl *ftl, const struct aftl_lun *lun);
/* Return true if the good blocks that are not failing have room for all logical pages. */
bool aftl_host_data_fit_in_nonfailing_blocks(const struct aftl *ftl);
void aftl_lun_update_min_max_erase_counts(const struct aftl *ftl, struct aftl_lun *lun);
struct aftl_block *aftl_free_block_take(struct aftl *ftl, struct aftl_lun *lun, u32 stream);
void aftl_assign_parity_block_and_check_capacity(struct aftl *ftl, u32 group, u32 number);
void aftl_assign_parity_block(struct aftl *ftl, u32 group, u32 number);
void aftl_free_list_add_block(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_free_list_remove_block(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_block_open(struct aftl *ftl, struct aftl_block *block, enum aftl_order order, u32 kind);
void aftl_block_close(struct aftl *ftl, struct aftl_block *block);
void aftl_close_unfilled_block(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_enter_read_only_if_needed(struct aftl *ftl);
void aftl_block_mark_bad(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_block_retire(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

/* Subtract one from the valid pages of @block, which is in a victim list. */
void aftl_move_victim_to_list_of_fewer_valid(struct aftl *ftl, struct aftl_lun *lun,
					     struct aftl_block *block);
/* Account for one valid page less in @block. */
static inline void aftl_block_decrement_valid_count(struct aftl *ftl, struct aftl_lun *lun,
						    struct aftl_block *block)
{
	if (block->state == AFTL_BLOCK_CLOSED && block->listed) {
		aftl_move_victim_to_list_of_fewer_valid(ftl, lun, block);
		return;
	}
	block->valid--;
	lun->slc_block_empty |= block->bits && !block->valid;
}

bool aftl_program_has_valid_pages(const struct aftl *ftl, u32 first);
void aftl_victim_list_add(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_victim_list_remove(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

/* Return the block in the victim lists with the fewest valid pages, or NULL. */
struct aftl_block *aftl_victim_fewest_valid(struct aftl *ftl, struct aftl_lun *lun);
void aftl_victim_choose_by_selector(struct aftl *ftl, struct aftl_victim_candidates *closed,
				    struct aftl_block **victim);

/* Return a closed block with at most @most_valid valid pages for GC, or NULL. */
struct aftl_block *aftl_gc_select_victim(struct aftl *ftl, struct aftl_lun *lun, u32 most_valid);

/* Drop @lun's pointer to @block, the full or retired open block of a placement handle or zone. */
static inline void aftl_lun_drop_open_block_pointer(struct aftl_lun *lun,
						    const struct aftl_block *block)
{
	if (block->handle && lun->handle_blocks &&
	    lun->handle_blocks[block->handle - 1] == block)
		lun->handle_blocks[block->handle - 1] = NULL;
	if (block->handle && lun->zone_slc_blocks &&
	    lun->zone_slc_blocks[block->handle - 1] == block)
		lun->zone_slc_blocks[block->handle - 1] = NULL;
	if (block == lun->fallback)
		lun->fallback = NULL;
	if (block == lun->slc_open)
		lun->slc_open = NULL;
}

/* Tell the host that @blocks blocks from @first on have been retired. */
static inline void aftl_notify_blocks_retired(struct aftl *ftl, u32 first, u32 blocks)
{
	if (ftl->ops->retire)
		ftl->ops->retire(ftl->host, first, blocks);
}

#endif
