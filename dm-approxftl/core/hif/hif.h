/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host interface: arrival, admission and execution of host requests, and failures. Private to
 * core/hif; hosts use core/ftl/ftl.h.
 *
 * Calls for one device must not overlap: the host holds its lock. No function here sleeps.
 *
 * A file calls only files that come before it in this list, and core/sched: host-read.c;
 * partial-write.c; host-write.c; read-ahead.c, zone-management.c and lun-failure.c; admission.c;
 * dispatch.c; fault.c, armed-fault.c and host-interface.c, which hosts call.
 */
#ifndef AFTL_HIF_H
#define AFTL_HIF_H

#include "core/ftl/controller.h"
#include "core/sched/completion.h"

/*
 * aftl_fail_next_block() - fail one more block, unless too few good ones are left for the capacity
 *
 * Return: true if a block has failed. The data of failing blocks move before the blocks are retired
 * and the device becomes read-only.
 */
bool aftl_fail_next_block(struct aftl *ftl);

/* Handle the event of the fault list: let one due fault happen. */
void aftl_handle_fault_event(struct aftl *ftl);

/* Reset the fields of a request that the core owns while it is in progress. */
static inline void aftl_init_arrived_request(struct aftl *ftl, struct aftl_request *request)
{
	request->arrival_ns = ftl->now_ns;
	request->status = 0;
	request->service_ns = 0;
	request->admitted = 0;
	request->stream = 0;
	request->asked = 0;
	request->path = 0;
	request->rest = AFTL_REST_UNKNOWN;
	ftl->requests++;
}

/* Return true if @request covers only a part of its logical page number @index. */
static inline bool aftl_request_page_is_partial(const struct aftl_request *request, u32 index)
{
	return (request->head_skip && !index) ||
	       (request->tail_skip && index == request->units - 1);
}

/* partial-write.c */

enum aftl_rest_step {
	AFTL_REST_STEP_ADMIT,
	AFTL_REST_STEP_READ,
	AFTL_REST_STEP_WAIT,
};

enum aftl_rest_step aftl_partial_next_step(struct aftl *ftl, struct aftl_request *request);
void aftl_zero_unwritten_part_of_discarded_page(struct aftl *ftl, struct aftl_request *request,
						aftl_lpn_t lpn);

/* read-ahead.c */

void aftl_queue_read_ahead(struct aftl *ftl, const struct aftl_request *request);

/* zone-management.c */

bool aftl_read_touches_offline_zone(const struct aftl *ftl, const struct aftl_request *request);
int aftl_zone_execute_command(struct aftl *ftl, struct aftl_request *request);
bool aftl_zones_continue_resets(struct aftl *ftl, u32 begin);

/* admission.c */

void aftl_request_submit(struct aftl *ftl, struct aftl_request *request);
void aftl_request_complete_at_once(struct aftl *ftl, struct aftl_request *request, int status);
void aftl_admit_waiting_requests(struct aftl *ftl, bool write, u32 begin);

#endif
