/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests and the scheduler, as the files of this room share them. Each uses those
 * above it: complete, read and write, stripe, ahead and zones, request and schedule, calls and
 * fault.
 */
#ifndef AFTL_FRONT_H
#define AFTL_FRONT_H

#include "core/ftl/command.h"

/* What the core knows of a request that has just arrived. */
static inline void aftl_request_arrive(struct aftl *ftl, struct aftl_request *request)
{
	request->arrival_ns = ftl->now_ns;
	request->status = 0;
	request->service_ns = 0;
	request->admitted = 0;
	request->stream = 0;
	request->met = 0;
	ftl->requests++;
}

/* complete.c: parts, lines, epochs */

static inline void aftl_request_append(struct aftl_request **head, struct aftl_request **tail,
				       struct aftl_request *request)
{
	request->next = NULL;
	if (*head)
		(*tail)->next = request;
	else
		*head = request;
	*tail = request;
}

/* A request that has left a list leads to nobody: its host may look at it much later. */
static inline struct aftl_request *aftl_request_take(struct aftl_request **head)
{
	struct aftl_request *request = *head;

	*head = request->next;
	request->next = NULL;
	return request;
}

/* On its way a read meets the array and ECC, the array alone, and data that were read before. */
#define AFTL_MET_ECC 0x01
#define AFTL_MET_ARRAY 0x02
#define AFTL_MET_RECENT 0x04

void aftl_request_part_done(struct aftl *ftl, struct aftl_request *request, u64 service_ns);
void aftl_requests_complete(struct aftl *ftl, u32 line);
void aftl_request_alone_done(struct aftl *ftl, struct aftl_request *request, u64 service_ns);
void aftl_flush_wait(struct aftl *ftl, struct aftl_request *request);
void aftl_epoch_leave(struct aftl *ftl, u32 epoch);

/* write.c, read.c: host commands on a LUN */

bool aftl_write_admit(struct aftl *ftl, struct aftl_request *request);
u32 aftl_write_ready(struct aftl *ftl, struct aftl_lun *lun, u64 *retry_ns);
bool aftl_write_stuck(const struct aftl *ftl, const struct aftl_lun *lun, u32 lane, u64 *retry_ns);
void aftl_write_fine(struct aftl *ftl, struct aftl_lun *lun, struct aftl_held *held);
int aftl_write_start(struct aftl *ftl, struct aftl_lun *lun, u32 lane);
void aftl_write_done(struct aftl *ftl, u32 commands, u64 service_ns);
void aftl_write_fail(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_write_forget(struct aftl *ftl, aftl_unit_t unit);
void aftl_write_name(struct aftl *ftl, struct aftl_request *request);
void aftl_write_unstore(struct aftl *ftl, u32 commands);
void aftl_write_rebind(struct aftl *ftl, struct aftl_lun *lun, u32 commands);
bool aftl_read_admit(struct aftl *ftl, struct aftl_request *request);
bool aftl_read_start(struct aftl *ftl, struct aftl_lun *lun);
struct aftl_lun *aftl_read_start_alone(struct aftl *ftl, struct aftl_request *request);
u32 aftl_read_run(struct aftl *ftl, aftl_unit_t unit, u32 limit);
bool aftl_read_start_ahead(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_read_done(struct aftl *ftl, struct aftl_lun *lun, u64 service_ns);
void aftl_read_recovered(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_repair *repair);
void aftl_read_spoilt(struct aftl *ftl, struct aftl_lun *lun);
void aftl_load_done(struct aftl *ftl, struct aftl_lun *lun);
void aftl_read_interrupt(struct aftl *ftl, struct aftl_lun *lun);
void aftl_read_fail(struct aftl *ftl, struct aftl_lun *lun);

/* ahead.c: reads that nobody has asked for yet */

void aftl_read_ahead(struct aftl *ftl, const struct aftl_request *request);

/* stripe.c: reads by way of the rest of a stripe */

bool aftl_stripe_start(struct aftl *ftl, struct aftl_lun *lun, u32 kind);
void aftl_stripe_done(struct aftl *ftl, struct aftl_lun *lun);
void aftl_stripe_none_left(struct aftl *ftl, struct aftl_lun *lun);
void aftl_stripe_lun_died(struct aftl *ftl, struct aftl_lun *lun);

/* zones.c: what the host says of whole zones */

bool aftl_zones_offline(const struct aftl *ftl, const struct aftl_request *request);
int aftl_zones_manage(struct aftl *ftl, const struct aftl_request *request);

/* request.c: arrival and admission */

void aftl_request_start(struct aftl *ftl, struct aftl_request *request);
void aftl_request_admit_waiting(struct aftl *ftl, bool write);
void aftl_requests_push(struct aftl *ftl);

/* schedule.c: what is next */

void aftl_lun_event(struct aftl *ftl, struct aftl_lun *lun);
void aftl_lun_read_alone(struct aftl *ftl, struct aftl_lun *lun);
void aftl_schedule(struct aftl *ftl);

/*
 * Something happened: begin all that can begin now. To be called by each function of hosts
 * that changes something, once, at its end.
 */
static inline void aftl_settle(struct aftl *ftl)
{
	if (ftl->awake || unlikely(ftl->retry))
		aftl_schedule(ftl);
}

#endif
