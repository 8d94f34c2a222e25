/* SPDX-License-Identifier: GPL-2.0-only */
/* Retention refresh. */
#ifndef AFTL_REFRESH_H
#define AFTL_REFRESH_H

#include "core/base/types.h"

struct aftl;
struct aftl_block;
struct aftl_lun;

void aftl_refresh_set_daily_event(struct aftl *ftl);
void aftl_refresh_restart_scan(struct aftl *ftl);
void aftl_handle_refresh_scan_event(struct aftl *ftl);
void aftl_refresh_forget_due_blocks(struct aftl *ftl);
bool aftl_page_refresh_is_due(const struct aftl *ftl, const struct aftl_block *block, u32 page);
struct aftl_block *aftl_refresh_take_block(struct aftl *ftl, struct aftl_lun *lun);

#endif
