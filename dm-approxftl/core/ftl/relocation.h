/* SPDX-License-Identifier: GPL-2.0-only */
/* Background tasks. */
#ifndef AFTL_RELOCATION_H
#define AFTL_RELOCATION_H

#include "core/ftl/gc-watermark.h"

/*
 * Return true if a background task may be due that does not wait for idle time. If this is false,
 * aftl_reloc_next_step() finds nothing, so the scheduler skips it.
 */
static inline bool aftl_may_reloc_task_be_due(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->reloc.kind | lun->failing_blocks | lun->repeat_blocks | lun->slc_blocks |
		       lun->forced_gc | lun->refresh_due | ftl->geo.superblock_luns |
		       ftl->geo.zones ||
	       lun->disturbed || ftl->config.wear_gap || aftl_lun_is_below_gc_watermark(ftl, lun);
}

/* Repeated programs must not use the last free blocks, which GC needs. */
static inline bool aftl_may_lun_repeat_rejected_programs(const struct aftl *ftl,
							 const struct aftl_lun *lun)
{
	return lun->repeat_blocks && !lun->out_of_blocks && !lun->below_reserve &&
	       !aftl_gc_is_urgent(ftl, lun);
}

/* Return true if a program that the policy has rejected must be repeated before any other. */
static inline bool aftl_is_program_repeat_due(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->reloc.kind == AFTL_RELOC_REPEAT ||
	       aftl_may_lun_repeat_rejected_programs(ftl, lun);
}

enum aftl_step aftl_reloc_next_step(struct aftl *ftl, struct aftl_lun *lun, bool urgent);
bool aftl_reloc_start_gc(struct aftl *ftl, struct aftl_lun *lun);
u32 aftl_reloc_get_cursor_page(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_reloc_gather_pages(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_reloc_needs_reconstruct(struct aftl *ftl, struct aftl_lun *lun);
int aftl_reloc_program_gathered_pages(struct aftl *ftl, struct aftl_lun *lun,
				      struct aftl_placement *placement);
int aftl_reloc_program_sensed_page(struct aftl *ftl, struct aftl_lun *lun,
				   struct aftl_placement *placement);
void aftl_reloc_cancel_task(struct aftl *ftl, struct aftl_lun *lun);
void aftl_reloc_erase_done(struct aftl *ftl, struct aftl_lun *lun);
void aftl_reloc_program_done(struct aftl *ftl, struct aftl_lun *lun,
			     const struct aftl_placement *placement);
bool aftl_idle_task_is_wanted(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_reloc_start_idle_task(struct aftl *ftl, struct aftl_lun *lun);

#endif
