/* SPDX-License-Identifier: GPL-2.0-only */
/* Wear levelling. */
#ifndef AFTL_WEAR_LEVEL_H
#define AFTL_WEAR_LEVEL_H

struct aftl;
struct aftl_block;
struct aftl_lun;

void aftl_wear_block_erased(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
struct aftl_block *aftl_wear_select_cold(struct aftl *ftl, struct aftl_lun *lun);

#endif
