/* SPDX-License-Identifier: GPL-2.0-only */
/* Translation pages on flash and the cached mapping table (CMT). */
#ifndef AFTL_TRANSLATION_PAGE_H
#define AFTL_TRANSLATION_PAGE_H

#include "core/ftl/controller.h"
#include "core/ftl/lun-work.h"

struct aftl_lun;
struct aftl_payload;

static inline struct aftl_trans_page *aftl_trans_page_of_lpn(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return &ftl->cmt.all[from_lpn(lpn) >> ftl->geo.trans_page_shift];
}

/* Logical pages from @lpn to the end of its translation page. */
static inline u32 aftl_count_lpns_to_trans_page_end(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return BIT(ftl->geo.trans_page_shift) -
	       (from_lpn(lpn) & (BIT(ftl->geo.trans_page_shift) - 1));
}

/* Return true if host writes must wait for the eviction of translation pages. */
static inline bool aftl_cmt_has_too_many_evictions(const struct aftl *ftl)
{
	return ftl->cmt.evicting && ftl->cmt.evicting > ftl->cmt.max_evicting &&
	       !ftl->read_only;
}

void aftl_cmt_configure(struct aftl *ftl);
int __must_check aftl_cmt_check_config(const struct aftl *ftl, struct aftl_error *error);
bool aftl_cmt_alloc(struct aftl *ftl);
bool aftl_cmt_has_entry_of_lpn(struct aftl *ftl, aftl_lpn_t lpn);
aftl_lpn_t aftl_cmt_begin_page_load(struct aftl *ftl, aftl_lpn_t lpn);
struct aftl_trans_page *aftl_cmt_end_page_load(struct aftl *ftl, aftl_lpn_t lpn);
void aftl_cmt_mark_entry_dirty(struct aftl *ftl, aftl_lpn_t lpn);
enum aftl_step aftl_cmt_next_step(struct aftl *ftl, struct aftl_lun *lun, aftl_ppn_t *ppn);
void aftl_cmt_finish_rmw_read(struct aftl *ftl, struct aftl_lun *lun);
struct aftl_program_request aftl_cmt_need(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_cmt_add_evictions_to_payload(struct aftl *ftl, struct aftl_lun *lun,
				       const struct aftl_placement *placement,
				       struct aftl_payload *payload);
void aftl_cmt_queue_dirty_pages(struct aftl *ftl);
void aftl_cmt_recache_pages_without_fine_pass(struct aftl *ftl, struct aftl_lun *lun);
void aftl_cmt_move_dead_lun_evictions(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_cmt_restore_trans_page(struct aftl *ftl, u32 number, u8 flags);
void aftl_cmt_cache_all_pages_as_dirty(struct aftl *ftl);
int aftl_cmt_audit(const struct aftl *ftl, struct aftl_error *error);

#endif
