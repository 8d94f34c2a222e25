/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a run has ended, and how that gets from one process to another.
 */
#ifndef AFTL_OUTCOME_H
#define AFTL_OUTCOME_H

#include "run.h"

/**
 * struct sim_outcome - of one run
 * @code: as sim_run() gives it
 * @killed: the signal that ended it; then there is nothing else
 * @lost: it ended without a result, or was never begun
 * @error: the sentence, as sim_run() gives it
 * @result: if @code says that there is one
 */
struct sim_outcome {
	enum exit_code code;
	int killed;
	bool lost;
	struct aftl_error error;
	struct sim_result result;
};

static inline bool sim_outcome_has_result(const struct sim_outcome *outcome)
{
	return !outcome->lost && !outcome->killed &&
	       (outcome->code == EXIT_DONE || outcome->code == EXIT_NOT_VERIFIED ||
		outcome->code == EXIT_INTERRUPTED);
}

/**
 * sim_outcome_write() - for a process that this one was forked from, or was forked from this one
 * @fd: of an empty file
 *
 * What is of the program, such as names and policies, goes as an address.
 */
bool sim_outcome_write(const struct sim_outcome *outcome, int fd);

/* The other side, from the begin of the file. False if it has not all. */
bool sim_outcome_read(struct sim_outcome *outcome, int fd);

#endif
