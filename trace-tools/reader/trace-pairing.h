/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From events of a block trace to requests: each queue event finds its completion.
 *
 * Devices that get whole bios show queue and completion only. Those behind a request queue
 * merge and split: a completion may then be that of several queue events, or of a part of one.
 * A request is complete when all of its bytes are.
 */
#ifndef AFTL_TRACE_PAIRING_H
#define AFTL_TRACE_PAIRING_H

#include "trace-request.h"

/* Requests come out in the order of their begin. One that has no end is not waited for after
 * so many others.
 */
#define TRACE_PAIRING_WINDOW 262144

#define TRACE_PAIRING_SECTOR 512

struct trace_pairing;

/**
 * struct trace_pairing_counts - what did not go as usual
 * @unfinished: requests that no completion was seen of
 * @unbegun: completions whose begin was not seen
 * @failed: requests that ended with an error
 * @untagged: notes of a class whose write was not seen
 */
struct trace_pairing_counts {
	u64 unfinished;
	u64 unbegun;
	u64 failed;
	u64 untagged;
};

/* @issue: a request begins when it is issued to the device, not when it is queued. */
struct trace_pairing *trace_pairing_create(bool issue);
void trace_pairing_free(struct trace_pairing *pairing);

/* What happened next; @stream: number of the device. */
void trace_pairing_put(struct trace_pairing *pairing, const struct trace_event *event, u16 stream);

/**
 * trace_pairing_put_run() - what happened next, as long as it is about requests of one device
 * @events: each a struct trace_event
 * @device: of the requests
 * @stream: its number
 *
 * Return: how many events it has taken. It stops when there are requests to take, too.
 */
u32 trace_pairing_put_run(struct trace_pairing *pairing, const void *const *events, u32 count,
			  u32 device, u16 stream);

/* No event will come any more. */
void trace_pairing_end(struct trace_pairing *pairing);

/* The next request, if it is known; they come in runs. */
bool trace_pairing_take(struct trace_pairing *pairing, struct trace_request *request);

const struct trace_pairing_counts *trace_pairing_counts(const struct trace_pairing *pairing);

#endif
