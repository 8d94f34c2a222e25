/* SPDX-License-Identifier: GPL-2.0-only */
/* The outcome of a run, which a child process passes to its parent. */
#ifndef AFTL_OUTCOME_H
#define AFTL_OUTCOME_H

#include "run.h"

/**
 * struct sim_outcome - outcome of a run
 * @code: exit code of sim_run()
 * @killed: signal that killed the run's process; the other fields are then unset
 * @lost: the run ended without a result, or never started
 * @error: error message of sim_run()
 * @result: the result, if @code implies one
 */
struct sim_outcome {
	enum exit_code code;
	int killed;
	bool lost;
	struct aftl_error error;
	struct sim_result result;
};

static inline bool did_run_produce_result(const struct sim_outcome *outcome)
{
	return !outcome->lost && !outcome->killed &&
	       (outcome->code == EXIT_DONE || outcome->code == EXIT_NOT_VERIFIED ||
		outcome->code == EXIT_INTERRUPTED);
}

/**
 * sim_outcome_write() - pass an outcome to the parent or a child process
 * @fd: descriptor of an empty file
 *
 * Pointers to static data, such as names and policies, are copied as addresses: both processes
 * must be related by fork() without exec().
 */
bool sim_outcome_write(const struct sim_outcome *outcome, int fd);

/* Read an outcome from the start of the file. Return false if it is incomplete. */
bool sim_outcome_read(struct sim_outcome *outcome, int fd);

#endif
