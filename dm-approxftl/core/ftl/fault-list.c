// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers of armed faults. A trigger makes a fault due. The event of the fault list follows the
 * other events of that device time, and makes one due fault happen. So a fault never happens inside
 * the work that triggers it, and the order of events does not depend on how late the host calls
 * aftl_process_next_event().
 */
#include "core/ftl/controller.h"
#include "core/ftl/fault-list.h"

void aftl_faults_schedule_next_event(struct aftl *ftl)
{
	const struct aftl_fault_list *list = &ftl->faults;
	u64 when_ns = list->due ? ftl->now_ns : AFTL_NEVER;
	u32 i;

	for (i = 0; i < list->count && !list->due; i++)
		if (list->all[i].state == AFTL_FAULT_PENDING &&
		    list->all[i].trigger == AFTL_FAULT_TIME)
			when_ns = min(when_ns, list->since_ns + list->all[i].after);
	aftl_events_set_time(&ftl->events, ftl->event_faults, when_ns);
}

void aftl_mark_triggered_faults_due(struct aftl *ftl, u8 trigger, u64 reached)
{
	struct aftl_fault_list *list = &ftl->faults;
	u32 due = list->due;
	u32 i;

	for (i = 0; i < list->count; i++) {
		struct aftl_fault *fault = &list->all[i];

		if (fault->state != AFTL_FAULT_PENDING || fault->trigger != trigger ||
		    (trigger == AFTL_FAULT_TIME ? fault->after > reached :
						  fault->after != reached))
			continue;
		fault->state = AFTL_FAULT_DUE;
		list->due++;
		list->programs -= trigger == AFTL_FAULT_PROGRAM;
	}
	if (list->due != due)
		aftl_faults_schedule_next_event(ftl);
}

void aftl_faults_count_request(struct aftl *ftl, const struct aftl_request *request)
{
	if (request->op == AFTL_OP_WRITE)
		aftl_mark_triggered_faults_due(ftl, AFTL_FAULT_WRITE, ++ftl->faults.writes);
	else if (request->op == AFTL_OP_READ)
		aftl_mark_triggered_faults_due(ftl, AFTL_FAULT_READ, ++ftl->faults.reads);
}

void aftl_mark_faults_of_programmed_lpn_as_due(struct aftl *ftl, aftl_lpn_t lpn)
{
	aftl_mark_triggered_faults_due(ftl, AFTL_FAULT_PROGRAM, from_lpn(lpn));
}
