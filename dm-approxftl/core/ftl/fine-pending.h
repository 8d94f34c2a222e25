/* SPDX-License-Identifier: GPL-2.0-only */
/* Data that wait for the fine pass of a two-pass program. */
#ifndef AFTL_FINE_PENDING_H
#define AFTL_FINE_PENDING_H

#include "core/ftl/program.h"
#include "core/policy/nand-policy.h"

struct aftl_lun;

/**
 * struct aftl_fine_pending - data of a word line that waits for its fine pass
 * @need: program request of the coarse pass; zeroed if the entry is unused
 * @commands: host writes, whose data stay in the write buffer
 * @payload: logical pages of the coarse pass
 */
struct aftl_fine_pending {
	struct aftl_program_request need;
	u32 commands;
	struct aftl_payload payload;
};

/**
 * struct aftl_foggy_block - an open block with word lines between their coarse and fine pass
 * @block: the block; NULL if the entry is unused
 * @held: data of each word line, by word line number modulo the size of the array
 */
struct aftl_foggy_block {
	struct aftl_block *block;
	struct aftl_fine_pending held[AFTL_FOGGY_WORD_LINES];
};

/* Return true if the pending data are relocated: neither host writes nor translation pages. */
static inline bool aftl_is_pending_fine_pass_of_relocation(const struct aftl_fine_pending *pending)
{
	return pending->need.cause != AFTL_CAUSE_HOST && pending->need.cause != AFTL_CAUSE_MAP;
}

bool aftl_block_may_await_fine_pass(const struct aftl *ftl, const struct aftl_lun *lun,
				    const struct aftl_block *block);
u32 aftl_fine_pending_count_block_units(const struct aftl *ftl, const struct aftl_lun *lun,
					const struct aftl_block *block);
struct aftl_fine_pending *aftl_fine_pending_of_page(const struct aftl *ftl,
						    struct aftl_foggy_block *foggy, u32 page);
void aftl_fine_pending_add_word_line(struct aftl *ftl, struct aftl_lun *lun,
				     const struct aftl_program_request *need,
				     const struct aftl_placement *placement,
				     const struct aftl_payload *payload);
void aftl_fine_pending_drop_word_line(struct aftl *ftl, struct aftl_lun *lun,
				      struct aftl_fine_pending *pending);
bool aftl_fine_pending_close_block(struct aftl *ftl, struct aftl_block *block);
void aftl_fine_pending_drop_relocs(struct aftl *ftl, struct aftl_lun *lun);
struct aftl_fine_pending *aftl_fine_pending_find_map(const struct aftl *ftl,
						     const struct aftl_lun *lun, u32 nth);
u32 aftl_fine_pending_take_writes_of_dead_lun(struct aftl *ftl, struct aftl_lun *lun);

#endif
