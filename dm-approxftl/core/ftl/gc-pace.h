/* SPDX-License-Identifier: GPL-2.0-only */
/* Paced GC. */
#ifndef AFTL_GC_PACE_H
#define AFTL_GC_PACE_H

#include "core/base/types.h"

struct aftl;
struct aftl_lun;

bool aftl_paced_gc_is_due(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_gc_pace_set_rate_for_victim(const struct aftl *ftl, struct aftl_lun *lun);
void aftl_gc_pace_count_host_pages(struct aftl_lun *lun, u32 units);
void aftl_gc_pace_count_relocated_pages(struct aftl_lun *lun, u32 units);

#endif
