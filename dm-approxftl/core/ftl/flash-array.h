/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations of the array of a LUN. */
#ifndef AFTL_FLASH_ARRAY_H
#define AFTL_FLASH_ARRAY_H

#include "core/base/types.h"

struct aftl;
struct aftl_block;
struct aftl_lun;
struct aftl_placement;

void aftl_array_count_multi_plane_page(struct aftl *ftl, struct aftl_lun *lun, u32 device_page,
				       u64 ready_ns);
void aftl_array_sense(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 device_page,
		      u64 sense_ns, u32 units, u64 ready_ns);
bool aftl_array_try_synchronous_read(struct aftl *ftl, struct aftl_lun *lun, u32 device_page,
				     u64 sense_ns, u32 units);
void aftl_array_sense_reloc_page(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 units);
void aftl_array_sense_stripe_page(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
				  u32 page);
void aftl_array_sense_trans_page(struct aftl *ftl, struct aftl_lun *lun, u32 kind, aftl_ppn_t ppn);
void aftl_array_transfer_sensed_data(struct aftl *ftl, struct aftl_lun *lun);
void aftl_array_program(struct aftl *ftl, struct aftl_lun *lun, u32 kind,
			const struct aftl_placement *placement);
void aftl_array_copyback(struct aftl *ftl, struct aftl_lun *lun,
			 const struct aftl_placement *placement);
void aftl_array_erase(struct aftl *ftl, struct aftl_lun *lun);
void aftl_array_suspend_operation(struct aftl *ftl, struct aftl_lun *lun);
void aftl_array_try_suspend_for_read_or_write(struct aftl *ftl, struct aftl_lun *lun, bool write);
void aftl_array_resume_suspended_operation(struct aftl *ftl, struct aftl_lun *lun);

#endif
