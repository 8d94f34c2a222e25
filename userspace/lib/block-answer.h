/* SPDX-License-Identifier: GPL-2.0-only */
/* Parsers of the target's answers to the messages "blocks" and "lost" (lost units). */
#ifndef AFTL_BLOCK_ANSWER_H
#define AFTL_BLOCK_ANSWER_H

#include "core/base/params.h"

/**
 * struct block_states - totals over all blocks of a device
 * @blocks: number of blocks
 * @bad: number of bad blocks among them
 * @erases_min: lowest erase count of a good block
 * @erases_max: highest erase count of a good block
 * @erases_sum: erases of all good blocks
 * @wear_sum: wear of all good blocks, in 1/10000 of a full erase
 */
struct block_states {
	u64 blocks;
	u64 bad;
	u64 erases_min;
	u64 erases_max;
	u64 erases_sum;
	u64 wear_sum;
};

/**
 * parse_block_list_reply() - add the blocks of an answer to @survey
 * @next: receives the first block of the next query; 0 after the last answer
 *
 * Return: 0, or -EINVAL with an error message.
 */
int __must_check parse_block_list_reply(struct block_states *survey, const char *text, u32 *next,
					struct aftl_error *error);

static inline u64 block_states_count_good_blocks(const struct block_states *survey)
{
	return survey->blocks - survey->bad;
}

/* Maximum number of runs of lost units that are listed. */
#define LOST_RUNS_LISTED 20

/**
 * struct lost_runs - runs of units that the backing device lost
 * @first: first unit of each run
 * @units: length of each run in units
 * @count: number of runs
 */
struct lost_runs {
	unsigned long long first[LOST_RUNS_LISTED];
	unsigned long long units[LOST_RUNS_LISTED];
	unsigned int count;
};

/**
 * parse_lost_units_reply() - parse the first LOST_RUNS_LISTED runs of an answer
 */
void parse_lost_units_reply(struct lost_runs *runs, const char *text);

#endif
