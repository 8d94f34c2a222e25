/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target's answers to the messages "blocks FIRST COUNT" and "lost UNIT".
 */
#ifndef AFTL_BLOCK_ANSWER_H
#define AFTL_BLOCK_ANSWER_H

#include "core/base/params.h"

/**
 * struct block_survey - all blocks of answers, added up
 * @blocks: of the answers
 * @bad: of these, blocks that are not used any more
 * @erases_min: least erases of a good block
 * @erases_max: most
 * @erases_sum: of all good ones
 * @wear_sum: of all good ones, in 1/10000 of a full erase
 */
struct block_survey {
	u64 blocks;
	u64 bad;
	u64 erases_min;
	u64 erases_max;
	u64 erases_sum;
	u64 wear_sum;
};

/**
 * block_answer_add() - add the blocks of an answer to @survey
 * @next: the first block of the next question; 0 if there is none to ask
 *
 * Return: 0, or -EINVAL with a sentence.
 */
int __must_check block_answer_add(struct block_survey *survey, const char *text, u32 *next,
				  struct aftl_error *error);

static inline u64 block_survey_good(const struct block_survey *survey)
{
	return survey->blocks - survey->bad;
}

/* Runs of lost units that are listed. */
#define LOST_RUNS_LISTED 20

/**
 * struct lost_runs - units that are lost to the block device below
 * @first: of each run
 * @units: of each run
 * @count: of runs
 */
struct lost_runs {
	unsigned long long first[LOST_RUNS_LISTED];
	unsigned long long units[LOST_RUNS_LISTED];
	unsigned int count;
};

/**
 * lost_answer_read() - the first runs of an answer, as many as are listed
 */
void lost_answer_read(struct lost_runs *runs, const char *text);

#endif
