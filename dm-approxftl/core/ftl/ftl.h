/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface of the FTL core for its hosts.
 *
 * A host creates a device, submits requests with their arrival times, and advances device time. The
 * core calls back when a request is complete and when data have to move. The core has no clock,
 * takes no lock, and allocates memory in aftl_create() only, unless the host offers alloc_later().
 * The host serialises all calls for one device.
 *
 * The state after N requests depends on the configuration, the policy and the requests with their
 * arrival times alone, never on when the host advanced time.
 */
#ifndef AFTL_FTL_H
#define AFTL_FTL_H

#include "core/ftl/advance.h"
#include "core/ftl/failures.h"
#include "core/ftl/fault.h"
#include "core/ftl/host-buffer.h"
#include "core/ftl/host-ops.h"
#include "core/ftl/device-report.h"
#include "core/nand/bit-flips.h"
#include "core/nand/valid-bits.h"
#include "core/policy/param-registry.h"
#include "core/policy/policies.h"

/**
 * aftl_create() - create a device
 * @out: the device, on success only
 * @config: checked against itself and against the policy
 * @type: policy type
 * @ops: callbacks of the host, kept by reference
 * @host: first argument of the callbacks
 * @error: error message, on failure
 *
 * Return: 0, -EINVAL (the message says what does not fit) or -ENOMEM.
 */
int __must_check aftl_create(struct aftl **out, const struct aftl_config *config,
			     const struct aftl_policy_type *type, const struct aftl_host_ops *ops,
			     void *host, struct aftl_error *error);

/* Destroy a device, or NULL. Requests in flight are dropped without completion. */
void aftl_destroy(struct aftl *ftl);

/**
 * aftl_precondition() - precondition the device as configured
 * @ftl: device
 *
 * Runs the FTL without advancing time, then resets the statistics. Call it once, before the first
 * request. The preconditioned data have no content: the host sees relocations and erases of
 * physical pages that it never programmed, and decides what they read as.
 *
 * Return: 0; -ENOSPC if the policy ran out of blocks; or the error code of the host's pause().
 *	After an error only aftl_destroy() may be called.
 */
int __must_check aftl_precondition(struct aftl *ftl);

/**
 * aftl_submit() - submit a request
 * @ftl: device
 * @request: in the host's memory until it is complete
 *
 * Processes all events before its arrival time first. Immediate consequences that take long, such
 * as a zone reset, are left to aftl_process_next_event(), a slice in each call;
 * aftl_next_event_ns() is then the present.
 *
 * Return: 0, or -EINVAL if the request is malformed or beyond the end of the device; it is not
 *	completed then.
 */
int __must_check aftl_submit(struct aftl *ftl, struct aftl_request *request);

/**
 * aftl_try_read_fastpath() - submit and complete a read of an otherwise idle device
 * @ftl: device
 * @request: a read, in the host's memory until it is complete
 *
 * A shortcut for hosts that would let time pass until the read is complete: if no other event
 * occurs before that, the read is executed in one step and complete() is called. The resulting
 * state is that of aftl_submit() and aftl_process_next_event().
 *
 * Return: false if other events are due or the request is no such read; nothing has changed then.
 */
bool __must_check aftl_try_read_fastpath(struct aftl *ftl, struct aftl_request *request);

/**
 * aftl_prefetch_l2p_entry() - prefetch the L2P entry of a logical page
 * @ftl: device
 * @unit: logical page of a request that will be submitted soon
 *
 * A performance hint that changes no state. aftl_prefetch_ppn_state(), called a little later,
 * prefetches the state of the physical page: OOB metadata for a read, the valid bit for others.
 */
void aftl_prefetch_l2p_entry(const struct aftl *ftl, u32 unit);
void aftl_prefetch_ppn_state(const struct aftl *ftl, u32 unit, bool read);

/* Number of requests submitted and not complete. */
u32 aftl_pending_requests(const struct aftl *ftl);

/**
 * aftl_set_drain_mode() - start or stop to drain the write buffer
 * @ftl: device
 * @draining: true: program buffered writes without waiting for a full page
 */
void aftl_set_drain_mode(struct aftl *ftl, bool draining);

/**
 * aftl_set_param() - change a parameter of a running device
 * @ftl: device
 * @key: name of a parameter that may change at run time, see aftl_param_change()
 * @text: value, as on a command line
 * @error: error message, on failure
 *
 * Operations in progress are not affected.
 *
 * Return: 0, or -EINVAL with a message; nothing has changed then.
 */
int __must_check aftl_set_param(struct aftl *ftl, const char *key, const char *text,
				struct aftl_error *error);

/* Check whether aftl_set_param() would succeed. Changes nothing. */
int __must_check aftl_check_param(const struct aftl *ftl, const char *key, const char *text,
				  struct aftl_error *error);

/**
 * aftl_start_lun_gc() - collect garbage of @lun until no block yields free pages
 * @ftl: device
 * @lun: number of the LUN
 *
 * Works as GC of an idle LUN does, but whatever the number of free blocks. Takes device time.
 */
int __must_check aftl_start_lun_gc(struct aftl *ftl, u32 lun);

/* Number of LUNs in which aftl_start_lun_gc() has not finished. */
u32 aftl_count_luns_in_gc(const struct aftl *ftl);

/**
 * aftl_is_read_only() - return true if the device ran out of good blocks and refuses writes
 * @ftl: device
 */
bool aftl_is_read_only(const struct aftl *ftl);

#endif
