/* SPDX-License-Identifier: GPL-2.0-only */
/* How a host advances device time. */
#ifndef AFTL_ADVANCE_H
#define AFTL_ADVANCE_H

#include "core/base/types.h"

struct aftl;
struct aftl_geometry;

/*
 * Device time of the next event; the current time if work is left that is due now; U64_MAX if there
 * is no event.
 */
u64 aftl_next_event_ns(const struct aftl *ftl);

/* End of device time, after 292 years; later times are treated as equal to it. */
#define AFTL_TIME_MAX (U64_MAX / 2)

/**
 * aftl_get_max_callbacks_per_host_call() - bound of the callbacks of one call
 * @geo: geometry of the device
 *
 * Upper bound of the calls of program(), copy(), programmed(), unstored(), unmap(), zone(), erase()
 * and retire(), taken together, in one call of aftl_process_next_event(), aftl_submit(),
 * aftl_advance_age(), aftl_set_param(), aftl_fail_unit(), aftl_fail_block(), aftl_fail_lun(),
 * aftl_start_lun_gc(), aftl_set_drain_mode(), aftl_quiesce_device_by_slice() or
 * aftl_unquiesce_device(), if complete() submits nothing. aftl_process_events_until() is one
 * aftl_process_next_event() for each event. Each zone request in flight adds AFTL_ZONE_HOST_CALLS,
 * because one call may execute all that wait.
 */
#define AFTL_ZONE_HOST_CALLS 4

u32 aftl_get_max_callbacks_per_host_call(const struct aftl_geometry *geo);

/**
 * aftl_process_next_event() - process the next event if due at @now_ns, else advance to @now_ns
 * @ftl: device
 * @now_ns: device time
 *
 * Each call does one slice of work, some 100 us, however large the device is. So does every other
 * call, except those that may pause(), if the device had reached the present before. Two cases take
 * longer: a LUN that dies or runs out of blocks (by its number of blocks), and a LUN whose next
 * writes were discarded meanwhile (by their number).
 *
 * Return: true if an event was processed; there may be more.
 */
bool aftl_process_next_event(struct aftl *ftl, u64 now_ns);

/**
 * aftl_get_amount_of_work_done() - number of work items done so far
 * @ftl: device
 *
 * Counts events, LUNs that were looked at, and logical pages that were admitted, programmed or
 * unmapped, each of which takes some tenths of a microsecond. A host compares two counts to limit
 * the work between them.
 */
u32 aftl_get_amount_of_work_done(const struct aftl *ftl);

/**
 * aftl_process_events_until() - process all events up to and including @now_ns
 * @ftl: device
 * @now_ns: device time to reach
 */
void aftl_process_events_until(struct aftl *ftl, u64 now_ns);

/**
 * aftl_run_to_completion() - process events until a request completes
 * @ftl: device
 * @limit_ns: device time beyond which no event is processed
 *
 * Also processes all other events of that device time, as if aftl_process_events_until() was called
 * for each event. For a host that must act on a completion before device time goes on.
 */
void aftl_run_to_completion(struct aftl *ftl, u64 limit_ns);

/* Current device time. */
u64 aftl_device_time_ns(const struct aftl *ftl);

/*
 * Return true if requests are in flight, buffered writes are being drained, or work of the present
 * is left.
 */
bool aftl_has_pending_work(const struct aftl *ftl);

/* Advance device time until aftl_has_pending_work() is false or there is no event left. */
void aftl_drain_requests(struct aftl *ftl);

/**
 * aftl_advance_age() - advance the age of the cells without any operation
 * @ftl: device
 * @ns: device time that passes
 */
void aftl_advance_age(struct aftl *ftl, u64 ns);

/* Device age in hours, as in the cell model. */
u64 aftl_device_age_hours(const struct aftl *ftl);

#endif
