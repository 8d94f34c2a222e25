/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pairs the events of a block trace into requests: each queue event with its completion.
 *
 * Bio-based devices have queue and completion events only. Request-based devices merge and split:
 * one completion may then cover several queue events, or a part of one. A request is complete when
 * all of its bytes are.
 */
#ifndef AFTL_TRACE_PAIRING_H
#define AFTL_TRACE_PAIRING_H

#include "trace-request.h"

/*
 * Requests are delivered in the order of their begin; a request without a completion is given up
 * when this many later requests have begun.
 */
#define TRACE_PAIRING_WINDOW 262144

#define TRACE_PAIRING_SECTOR 512

struct trace_pairing;

/**
 * struct trace_pairing_counts - anomalies in a block trace
 * @unfinished: requests without a completion
 * @unbegun: completions without a queue (or issue) event
 * @failed: requests that ended with an error
 * @untagged: class notes whose write was not found
 */
struct trace_pairing_counts {
	u64 unfinished;
	u64 unbegun;
	u64 failed;
	u64 untagged;
};

/* Create the state of a pairing. @issue: requests begin with an issue event, not a queue event. */
struct trace_pairing *trace_pairing_create(bool issue);
void trace_pairing_free(struct trace_pairing *pairing);

/* Process the trace's next event; @stream: the reader's number for the event's device. */
void trace_pairing_add_event(struct trace_pairing *pairing, const struct trace_event *event,
			     u16 stream);

/**
 * trace_pairing_add_events() - process consecutive events about requests of one device
 * @events: each a struct trace_event
 * @device: the device
 * @stream: number of the device
 *
 * Return: number of events processed. The function also stops when requests can be taken.
 */
u32 trace_pairing_add_events(struct trace_pairing *pairing, const void *const *events, u32 count,
			     u32 device, u16 stream);

/* End the pairing: no more events follow, so pending requests can be delivered. */
void trace_pairing_end_all_requests(struct trace_pairing *pairing);

/* Get the next complete request of the trace, if any; they become available in batches. */
bool trace_pairing_take_request(struct trace_pairing *pairing, struct trace_request *request);

const struct trace_pairing_counts *trace_pairing_counts(const struct trace_pairing *pairing);

#endif
