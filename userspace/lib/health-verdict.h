/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a device needs attention, and why.
 */
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
 * struct health - what a verdict is made of, and the verdict
 * @status: of the device
 * @counters: of the device
 * @endurance: erases after which a block goes bad; 0: never
 * @survey: of all its blocks
 * @verdict: the worst of the reasons
 * @reasons: one phrase each
 * @reason_count: how many
 */
struct health {
	struct target_status status;
	struct aftl_counters counters;
	u64 endurance;
	struct block_survey survey;
	enum health_verdict verdict;
	char reasons[HEALTH_REASONS][100];
	unsigned int reason_count;
};

extern const char *const health_verdict_words[];

/* Fills in the verdict and its reasons. */
void health_judge(struct health *health);

/* Mean erases of the endurance, in 1/10000; 0 if blocks last for ever. */
u64 health_used(const struct health *health);

#endif
