/* SPDX-License-Identifier: GPL-2.0-only */
/* Completion of host requests, and flush epochs. */
#ifndef AFTL_COMPLETION_H
#define AFTL_COMPLETION_H

#include "core/ftl/request.h"

struct aftl;

/* State of the reads of logical pages that a write covers in part (read-modify-write). */
enum aftl_rest {
	AFTL_REST_UNKNOWN,
	/* Flash reads of the rest of partly covered pages are in progress. */
	AFTL_REST_READING,
	/* The host has the bytes of the first and last page that the write does not cover. */
	AFTL_REST_READ,
};

/*
 * Data path of a read, which determines its completion delay: the array and ECC, the array without
 * ECC (approximate data), or the controller's read cache.
 */
#define AFTL_PATH_ECC 0x01
#define AFTL_PATH_ARRAY 0x02
#define AFTL_PATH_READ_CACHE 0x04

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

void aftl_complete_part_of_request(struct aftl *ftl, struct aftl_request *request, u64 service_ns);
void aftl_handle_completion_queue_event(struct aftl *ftl, u32 line);
void aftl_read_fastpath_complete(struct aftl *ftl, struct aftl_request *request, u64 service_ns);
void aftl_flush_enqueue(struct aftl *ftl, struct aftl_request *request);
void aftl_flush_epoch_count_ended_write(struct aftl *ftl, u32 epoch);

/* A request has one part for each logical page; a flash read can end several parts. */
static inline void aftl_complete_parts_of_request(struct aftl *ftl, struct aftl_request *request,
						  u32 parts, u64 service_ns)
{
	while (parts--)
		aftl_complete_part_of_request(ftl, request, service_ns);
}

#endif
