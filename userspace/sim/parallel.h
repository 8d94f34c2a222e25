/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several runs at a time, each in a process of its own.
 */
#ifndef AFTL_PARALLEL_H
#define AFTL_PARALLEL_H

#include "outcome.h"

/**
 * struct sim_work - runs that know nothing of each other
 * @options: of the command line
 * @run: does run number @index, and fills in @outcome
 * @count: how many
 */
struct sim_work {
	const struct sim_options *options;
	void (*run)(const struct sim_options *options, unsigned int index,
		    struct sim_outcome *outcome);
	unsigned int count;
};

/**
 * sim_jobs() - how many of @work at a time
 *
 * As --jobs says, or as many as there are processors; fewer if the devices of so many would not
 * fit into the memory that is there, which is said.
 */
unsigned int sim_jobs(const struct sim_work *work);

/* How many threads a run may have: as --jobs says, or as many as there are processors. */
unsigned int sim_threads(const struct sim_options *options);

/**
 * sim_parallel() - do @work with @jobs processes
 * @outcomes: by number of the run; what was not begun when a signal came is lost
 *
 * A signal that interrupts this program interrupts those under way; what kills it kills them.
 */
void sim_parallel(const struct sim_work *work, unsigned int jobs, struct sim_outcome *outcomes);

#endif
