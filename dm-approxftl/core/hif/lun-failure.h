/* SPDX-License-Identifier: GPL-2.0-only */
/* The failure of a LUN, in slices. */
#ifndef AFTL_LUN_FAILURE_H
#define AFTL_LUN_FAILURE_H

#include "core/base/types.h"

struct aftl;
struct aftl_lun;

void aftl_lun_failure_begin(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_lun_failure_continue(struct aftl *ftl, u32 begin);

#endif
