/* SPDX-License-Identifier: GPL-2.0-only */
/* The loop that admits waiting requests and starts LUN operations, as host calls use it. */
#ifndef AFTL_DISPATCH_H
#define AFTL_DISPATCH_H

#include "core/ftl/run-queue.h"

void aftl_start_operations_until_slice_ends(struct aftl *ftl);

/*
 * Start the operations that can start now, at most one slice of them. Each function of the host
 * interface that changes the device calls this once, at its end; aftl_process_next_event() starts
 * the rest before it does anything else.
 */
static inline void aftl_start_slice_of_lun_operations(struct aftl *ftl)
{
	if (aftl_scheduler_has_work(ftl))
		aftl_start_operations_until_slice_ends(ftl);
}

/* Start all operations that can start now, before a host call changes the device. */
static inline void aftl_start_all_possible_operations(struct aftl *ftl)
{
	while (aftl_scheduler_has_work(ftl))
		aftl_start_operations_until_slice_ends(ftl);
}

#endif
