/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting time of requests, divided by the reasons of the wait, if the host asks for it (struct
 * aftl_host_ops, waits). All functions are called only if ftl->waits is not NULL.
 */
#ifndef AFTL_WAIT_H
#define AFTL_WAIT_H

#include "core/ftl/request.h"

struct aftl_lun;

int __must_check aftl_wait_alloc_stats(struct aftl *ftl);
void aftl_wait_free_stats(struct aftl *ftl);

/* Record that @lun's array starts an operation that ends at @end_ns, after waiting for the bus. */
void aftl_note_lun_operation(struct aftl *ftl, const struct aftl_lun *lun, u64 bus_ns, u64 end_ns);
/* Record that @lun's array suspends its operation, and accepts commands from @end_ns on. */
void aftl_note_lun_suspend(struct aftl *ftl, const struct aftl_lun *lun, u64 end_ns);

/* Record that @request, which has no command at a die, waits for @reason from now on. */
void aftl_note_wait_reason(struct aftl *ftl, struct aftl_request *request, enum aftl_wait reason);
/* Record that command @index of @request is queued at @lun; AFTL_NIL: no command is needed. */
void aftl_note_queued_command(struct aftl *ftl, struct aftl_request *request, u32 index, u32 lun);
/* Record that command @index moves to the queue of @lun. */
void aftl_note_moved_command(struct aftl *ftl, u32 index, u32 lun);
/* Record that a page operation for command @index ends; its flash time is @service_ns. */
void aftl_note_ended_command(struct aftl *ftl, u32 index, u64 service_ns);
/* Record that the last part of @request has ended; its completion follows at @complete_ns. */
void aftl_note_ended_request(struct aftl *ftl, struct aftl_request *request, u64 link_ns,
			     u64 complete_ns);

#endif
