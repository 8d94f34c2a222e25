/* SPDX-License-Identifier: GPL-2.0-only */
/* OOB metadata that few blocks have: page ages, inherited errors. */
#ifndef AFTL_OOB_EXTRA_H
#define AFTL_OOB_EXTRA_H

#include "core/ftl/controller.h"

/* Allocate extra OOB metadata for all blocks, unless the host has alloc_later(). */
int __must_check aftl_oob_extra_alloc(struct aftl *ftl);

/* Free what aftl_oob_extra_alloc() allocated. */
void aftl_oob_extra_free(struct aftl *ftl);

/* Allocate the metadata of @block before a non-zero age or inherited error is stored in it. */
void aftl_oob_extra_alloc_for_block(struct aftl *ftl, struct aftl_block *block);

/* Reset the state of an erased block, including its extra OOB metadata. */
void aftl_oob_reset_erased_block(struct aftl *ftl, struct aftl_block *block);

/* Store the origin of the data in @ppn; @record is the OOB record of its page. */
static inline void aftl_oob_record_store_origin(struct aftl *ftl, struct aftl_block *block,
						aftl_ppn_t ppn, void *record,
						struct aftl_origin origin)
{
	u16 *inherited;

	if (!aftl_has_error_model(&ftl->media))
		return;
	if (origin.inherited && unlikely(!block->extra_used))
		aftl_oob_extra_alloc_for_block(ftl, block);
	*aftl_oob_record_generation(&ftl->media, record, aftl_ppn_in_page(&ftl->media, ppn)) =
		origin.generation;
	inherited = aftl_oob_inherited_errors_ptr(&ftl->media, block, ppn);
	if (inherited)
		*inherited = origin.inherited;
}

static inline void aftl_oob_store_generation_and_errors(struct aftl *ftl, struct aftl_block *block,
							aftl_ppn_t ppn, struct aftl_origin origin)
{
	u32 page = aftl_page_of_ppn(&ftl->media, ppn);

	aftl_oob_record_store_origin(ftl, block, ppn, aftl_oob_entry(&ftl->media, page), origin);
}

static inline void aftl_oob_set_program_timestamp_of_page(struct aftl *ftl,
							  struct aftl_block *block, u32 page,
							  u16 hours)
{
	u16 *at;

	if (hours && !ftl->media.oob_layout.hours && !block->extra_used)
		aftl_oob_extra_alloc_for_block(ftl, block);
	at = aftl_get_program_timestamp_ptr_of_page(&ftl->media, block, page);
	if (at)
		*at = hours;
}

#endif
