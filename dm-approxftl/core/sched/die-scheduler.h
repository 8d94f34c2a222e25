/* SPDX-License-Identifier: GPL-2.0-only */
/* The die scheduler, as the host interface uses it. */
#ifndef AFTL_DIE_SCHEDULER_H
#define AFTL_DIE_SCHEDULER_H

#include "core/base/types.h"

struct aftl;
struct aftl_lun;

void aftl_handle_lun_event(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_lun_end_fastpath_read(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_wake_slice_of_luns(struct aftl *ftl);
void aftl_wake_luns_with_writes(struct aftl *ftl);
bool aftl_start_operation_of_next_runnable_lun(struct aftl *ftl);

#endif
