/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of blocks: register_block_handlers() lists the modules of the controller that get them. */
#ifndef AFTL_BLOCK_EVENT_H
#define AFTL_BLOCK_EVENT_H

#include "core/base/types.h"

struct aftl;
struct aftl_block;
struct aftl_lun;

enum aftl_block_event {
	AFTL_ON_PROGRAM,	/* pages were programmed, and the block is still open */
	AFTL_ON_CLOSE,	/* no page of the block will be programmed before its erase */
	AFTL_ON_ERASE,	/* an erase has ended; the block still has its old metadata */
	AFTL_ON_RETIRE,	/* the block has gone bad */
	AFTL_BLOCK_EVENTS,
};

/* Array size for the handlers of an event and the NULL that ends them; four are used at most. */
#define AFTL_BLOCK_HANDLERS_MAX 8

typedef void (*aftl_block_handler)(struct aftl *ftl, struct aftl_lun *lun,
				   struct aftl_block *block);

/**
 * struct aftl_block_events - handlers of the events
 * @handlers: by event, in the order in which they are called; NULL after the last
 */
struct aftl_block_events {
	aftl_block_handler handlers[AFTL_BLOCK_EVENTS][AFTL_BLOCK_HANDLERS_MAX];
};

static inline void aftl_block_event_register(struct aftl_block_events *events,
					     enum aftl_block_event event,
					     aftl_block_handler handler)
{
	aftl_block_handler *at = events->handlers[event];

	while (*at)
		at++;
	*at = handler;
}

/* Tell all modules that have registered for @event that it has occurred for @block of @lun. */
static inline void aftl_block_event_notify(const struct aftl_block_events *events,
					   enum aftl_block_event event, struct aftl *ftl,
					   struct aftl_lun *lun, struct aftl_block *block)
{
	const aftl_block_handler *at;

	for (at = events->handlers[event]; *at; at++)
		(*at)(ftl, lun, block);
}

#endif
