/* SPDX-License-Identifier: GPL-2.0-only */
/* Free blocks that background GC keeps with gc_idle_limit adaptive. */
#ifndef AFTL_GC_MARGIN_H
#define AFTL_GC_MARGIN_H

struct aftl;
struct aftl_block;
struct aftl_gc_margin;
struct aftl_lun;

/* Return false if no device can have @margin. */
bool aftl_gc_margin_is_possible(const struct aftl *ftl, const struct aftl_gc_margin *margin);
void aftl_gc_margin_reset(struct aftl_lun *lun);
void aftl_gc_margin_block_erased(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

#endif
