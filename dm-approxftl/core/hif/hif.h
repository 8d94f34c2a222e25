/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host interface: admission, execution and completion of host requests, and failures. Private
 * to core/hif; hosts use core/ftl/ftl.h.
 *
 * Calls for one device must not overlap: the host holds its lock. No function here sleeps.
 *
 * A file calls only files that come before it in this list: completion.c; host-read.c;
 * partial-write.c; host-write.c; reconstruct.c, read-ahead.c and zone-management.c; admission.c;
 * die-scheduler.c; fault.c, armed-fault.c and host-interface.c, which hosts call and which dispatch
 * by die-scheduler.h.
 */
#ifndef AFTL_HIF_H
#define AFTL_HIF_H

#include "core/ftl/controller.h"

struct aftl_lun;

/* State of the reads of logical pages that a write covers in part (read-modify-write). */
enum aftl_rest {
	AFTL_REST_UNKNOWN,
	/* Flash reads of the rest of partly covered pages are in progress. */
	AFTL_REST_READING,
	/* The host has the bytes of the first and last page that the write does not cover. */
	AFTL_REST_READ,
};

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

/* Return how many bytes of its first and of its last logical page @request does not cover. */
static inline u32 aftl_request_count_uncovered_bytes(const struct aftl_request *request)
{
	return AFTL_SECTOR_BYTES * (request->head_skip + request->tail_skip);
}

static inline u64 aftl_request_bytes(const struct aftl *ftl, const struct aftl_request *request)
{
	return (u64)request->units * ftl->geo.unit_bytes -
	       aftl_request_count_uncovered_bytes(request);
}

/* Return true if @request covers only a part of its logical page number @index. */
static inline bool aftl_request_page_is_partial(const struct aftl_request *request, u32 index)
{
	return (request->head_skip && !index) ||
	       (request->tail_skip && index == request->units - 1);
}

/* completion.c */

static inline void aftl_request_list_append(struct aftl_request **head, struct aftl_request **tail,
					    struct aftl_request *request)
{
	request->next = NULL;
	if (*head)
		(*tail)->next = request;
	else
		*head = request;
	*tail = request;
}

/* Remove the first request of a list, and clear request->next, as hosts may keep the request. */
static inline struct aftl_request *aftl_request_pop(struct aftl_request **head)
{
	struct aftl_request *request = *head;

	*head = request->next;
	request->next = NULL;
	return request;
}

/*
 * Data path of a read, which determines its completion delay: the array and ECC, the array without
 * ECC (approximate data), or the controller's read cache.
 */
#define AFTL_PATH_ECC 0x01
#define AFTL_PATH_ARRAY 0x02
#define AFTL_PATH_READ_CACHE 0x04

void aftl_complete_part_of_request(struct aftl *ftl, struct aftl_request *request, u64 service_ns);
void aftl_handle_completion_queue_event(struct aftl *ftl, u32 line);
void aftl_read_fastpath_complete(struct aftl *ftl, struct aftl_request *request, u64 service_ns);
void aftl_flush_enqueue(struct aftl *ftl, struct aftl_request *request);
void aftl_flush_epoch_count_ended_write(struct aftl *ftl, u32 epoch);

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

/* reconstruct.c */

bool aftl_reconstruct_start_read(struct aftl *ftl, struct aftl_lun *lun, u32 kind);
void aftl_reconstruct_read_done(struct aftl *ftl, struct aftl_lun *lun);
void aftl_reconstruct_finish_if_complete(struct aftl *ftl, struct aftl_lun *lun);
void aftl_reconstruct_handle_dead_lun(struct aftl *ftl, struct aftl_lun *lun);

/* zone-management.c */

bool aftl_read_touches_offline_zone(const struct aftl *ftl, const struct aftl_request *request);
int aftl_zone_execute_command(struct aftl *ftl, struct aftl_request *request);
bool aftl_zones_continue_resets(struct aftl *ftl, u32 begin);

/* admission.c */

void aftl_request_submit(struct aftl *ftl, struct aftl_request *request);
void aftl_request_complete_at_once(struct aftl *ftl, struct aftl_request *request, int status);
void aftl_admit_waiting_requests(struct aftl *ftl, bool write, u32 begin);
void aftl_wake_luns_with_writes(struct aftl *ftl);

#endif
