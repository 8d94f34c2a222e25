// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loop at the end of each host call: it admits requests that wait for what has become free, and
 * lets the die scheduler start operations, one slice of work at a time.
 */
#include "core/ftl/controller.h"
#include "core/hif/dispatch.h"
#include "core/hif/hif.h"
#include "core/hif/lun-failure.h"
#include "core/sched/die-scheduler.h"

/*
 * Let a LUN fail, wake LUNs, reset zones and admit waiting requests, in this order. Return: true if
 * that is done, so that LUNs may start operations.
 */
static bool dispatch_wake_luns_and_admit_requests(struct aftl *ftl, u32 begin)
{
	struct aftl_request *reset = ftl->zones.reset.request;

	ftl->retry = false;
	if (ftl->lun_failure.lun && !aftl_lun_failure_continue(ftl, begin)) {
		ftl->retry = true;
		return false;
	}
	if (ftl->waking && !aftl_wake_slice_of_luns(ftl)) {
		ftl->retry = true;
		return false;
	}
	if (reset && !aftl_zones_continue_resets(ftl, begin)) {
		ftl->retry = true;
		return false;
	}
	if (reset)
		aftl_request_complete_at_once(ftl, reset, 0);
	aftl_admit_waiting_requests(ftl, false, begin);
	aftl_admit_waiting_requests(ftl, true, begin);
	return !ftl->zones.reset.request && !aftl_work_slice_is_over(ftl, begin);
}

/**
 * aftl_start_operations_until_slice_ends() - start one slice of the operations that can start now
 * @ftl: device
 *
 * A slice is AFTL_SLICE_WORK units of work or little more. The state at the end does not depend on
 * whether the host calls again at once or drops its lock in between, because nothing else happens
 * before aftl_scheduler_has_work() is false. It becomes false, because each LUN that is looked at
 * becomes busy or has nothing to start.
 */
void aftl_start_operations_until_slice_ends(struct aftl *ftl)
{
	u32 begin = ftl->work;
	bool started;

	do {
		started = false;
		if (ftl->retry && !dispatch_wake_luns_and_admit_requests(ftl, begin))
			continue;
		started = aftl_start_operation_of_next_runnable_lun(ftl);
	} while ((started || ftl->retry) && !aftl_work_slice_is_over(ftl, begin));
}
