/* SPDX-License-Identifier: GPL-2.0-only */
/* Decide whether a device needs attention, and list the reasons. */
#ifndef AFTL_HEALTH_VERDICT_H
#define AFTL_HEALTH_VERDICT_H

#include "block-answer.h"
#include "target-status.h"

enum health_verdict {
	HEALTH_GOOD,
	HEALTH_ATTENTION,
	HEALTH_FAILED,
};

#define HEALTH_REASONS 9

/**
 * struct health - inputs of the verdict, and the verdict
 * @status: status of the device
 * @counters: counters of the device
 * @endurance: erases after which a block goes bad; 0: never
 * @survey: totals over all blocks
 * @verdict: the worst of all reasons' verdicts
 * @reasons: one phrase each
 * @reason_count: number of reasons
 */
struct health {
	struct target_status status;
	struct aftl_counters counters;
	u64 endurance;
	struct block_states survey;
	enum health_verdict verdict;
	char reasons[HEALTH_REASONS][100];
	unsigned int reason_count;
};

extern const char *const health_verdict_words[];

/* Set the device's health verdict and the reasons for it. */
void health_judge_device(struct health *health);

/* Mean erase count relative to the endurance, in 1/10000; 0 if the endurance is unlimited. */
u64 health_compute_used_endurance(const struct health *health);

#endif
