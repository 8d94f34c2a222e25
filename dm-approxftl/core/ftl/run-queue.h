/* SPDX-License-Identifier: GPL-2.0-only */
/* LUNs to be scheduled, and slices of the scheduler's work. */
#ifndef AFTL_RUN_QUEUE_H
#define AFTL_RUN_QUEUE_H

#include "core/ftl/controller.h"
#include "core/ftl/lun.h"

/* Return true if the scheduler has work left that is due at the current device time. */
static inline bool aftl_scheduler_has_work(const struct aftl *ftl)
{
	return ftl->runnable || ftl->retry;
}

/*
 * Work after which the scheduler ends a call, some 50 us. It first completes the LUN or request it
 * is at, which may take as long again.
 */
#define AFTL_SLICE_WORK 256

/* Return true if a slice of work is done; @begin is ftl->work at the start of the slice. */
static inline bool aftl_work_slice_is_over(const struct aftl *ftl, u32 begin)
{
	return ftl->work - begin >= AFTL_SLICE_WORK;
}

static inline void aftl_mark_lun_runnable(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->runnable)
		return;
	lun->runnable = true;
	lun->next_runnable = NULL;
	if (ftl->runnable)
		ftl->last_runnable->next_runnable = lun;
	else
		ftl->runnable = lun;
	ftl->last_runnable = lun;
}

/*
 * Make an idle LUN runnable: it got work or its operation has ended. The scheduler runs before the
 * host's call returns. A busy LUN becomes runnable at the end of its operation.
 */
static inline void aftl_wake_idle_lun(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE)
		aftl_mark_lun_runnable(ftl, lun);
}

/* Make @lun runnable for a write, which may suspend an erase. */
static inline void aftl_wake_lun_for_write(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE ||
	    (ftl->config.suspend_for_write && lun->work.phase == AFTL_PHASE_ERASE))
		aftl_mark_lun_runnable(ftl, lun);
}

/* Make @lun runnable for a read, which may suspend a program or an erase. */
static inline void aftl_wake_lun_for_read(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE || ftl->config.suspend || aftl_lun_is_dead(lun))
		aftl_mark_lun_runnable(ftl, lun);
}

static inline void aftl_request_gc_of_blocks(struct aftl *ftl, struct aftl_lun *lun, u32 blocks)
{
	ftl->collecting += (blocks != 0) - (lun->forced_gc != 0);
	lun->forced_gc = blocks;
}

/* Kinds of LUNs to wake: all idle ones, or those with buffered writes. */
#define AFTL_WAKE_IDLE 0x01
#define AFTL_WAKE_WRITES 0x02
/* Limit of LUNs that one slice of the scheduler's work looks at. */
#define AFTL_SLICE_LUNS 1024

static inline void aftl_wake_lun_selected_by_flags(struct aftl *ftl, struct aftl_lun *lun,
						   u32 kinds)
{
	if (kinds & AFTL_WAKE_IDLE)
		aftl_wake_idle_lun(ftl, lun);
	if (kinds & AFTL_WAKE_WRITES && (lun->pending_write_lanes || lun->fine_pending_writes))
		aftl_wake_lun_for_write(ftl, lun);
}

/*
 * Wake all LUNs of @kind. On a device of many LUNs the scheduler wakes them, a slice at a time,
 * before it starts operations.
 */
static inline void aftl_wake_idle_luns_or_luns_with_writes(struct aftl *ftl, u32 kind)
{
	u32 i;

	if (ftl->geo.luns > AFTL_SLICE_LUNS) {
		ftl->waking |= kind;
		ftl->wake_next = 0;
		ftl->retry = true;
		return;
	}
	for (i = 0; i < ftl->geo.luns; i++)
		aftl_wake_lun_selected_by_flags(ftl, &ftl->luns[i], kind);
}

static inline void aftl_wake_all_luns(struct aftl *ftl)
{
	aftl_wake_idle_luns_or_luns_with_writes(ftl, AFTL_WAKE_IDLE);
}

#endif
