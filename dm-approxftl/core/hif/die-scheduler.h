/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The die scheduler as host calls use it. No function that the scheduler calls may include this.
 */
#ifndef AFTL_DIE_SCHEDULER_H
#define AFTL_DIE_SCHEDULER_H

#include "core/ftl/device.h"

void aftl_lun_event(struct aftl *ftl, struct aftl_lun *lun);
void aftl_lun_fastpath_done(struct aftl *ftl, struct aftl_lun *lun);
void aftl_schedule(struct aftl *ftl);

/*
 * Start every operation that can start now. Each function of the host interface that changes the
 * device calls this once, at its end.
 */
static inline void aftl_dispatch(struct aftl *ftl)
{
	if (ftl->runnable || unlikely(ftl->retry))
		aftl_schedule(ftl);
}

#endif
