/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Armed faults: each waits for its trigger, then happens once. Triggers count requests and time
 * from the moment at which a fault was armed while no other fault was waiting. Faults that happened
 * stay in the list as a record, and cost requests nothing. Also the failure of a LUN in progress.
 */
#ifndef AFTL_FAULT_LIST_H
#define AFTL_FAULT_LIST_H

#include "core/ftl/fault.h"

/**
 * struct aftl_fault_list - armed faults, and those that happened
 * @all: in the order in which they were armed
 * @count: number of faults in @all
 * @armed: number of faults that are pending or due
 * @due: number of faults whose trigger has come, and which have not happened
 * @programs: number of faults that wait for a program
 * @since_ns: device time at which the counts of triggers began
 * @writes: host writes since @since_ns
 * @reads: host reads since @since_ns
 */
struct aftl_fault_list {
	struct aftl_fault all[AFTL_FAULTS_MAX];
	u32 count;
	u32 armed;
	u32 due;
	u32 programs;
	u64 since_ns;
	u64 writes;
	u64 reads;
};

struct aftl_lun;

/**
 * struct aftl_lun_failure - progress of the failure of a LUN
 * @lun: the LUN; NULL if none is failing
 * @next: blocks that are retired, then superblocks that have a member for their parity
 * @writes: linked commands of the program that the failure aborted
 */
struct aftl_lun_failure {
	struct aftl_lun *lun;
	u32 next;
	u32 writes;
};

struct aftl;

/*
 * Set the event of the fault list: now if a fault is due, or the earliest time that a fault waits
 * for.
 */
void aftl_faults_schedule_next_event(struct aftl *ftl);

/* Make faults due that wait for @trigger with the request number, time or lpn @reached. */
void aftl_mark_triggered_faults_due(struct aftl *ftl, u8 trigger, u64 reached);

/* Count a host request that has just been admitted, while a fault is armed. */
void aftl_faults_count_request(struct aftl *ftl, const struct aftl_request *request);

/* Make due the faults that waited for the program of the newest host write of @lpn. */
void aftl_mark_faults_of_programmed_lpn_as_due(struct aftl *ftl, aftl_lpn_t lpn);

#endif
