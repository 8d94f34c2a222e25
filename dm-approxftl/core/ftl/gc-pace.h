/* SPDX-License-Identifier: GPL-2.0-only */
/* Paced GC. */
#ifndef AFTL_GC_PACE_H
#define AFTL_GC_PACE_H

#include "core/base/types.h"

struct aftl;
struct aftl_lun;

bool aftl_gc_pace_due(const struct aftl *ftl, const struct aftl_lun *lun);
void aftl_gc_pace_begin(const struct aftl *ftl, struct aftl_lun *lun);
void aftl_gc_pace_earn(struct aftl_lun *lun, u32 units);
void aftl_gc_pace_spend(struct aftl_lun *lun, u32 units);

#endif
