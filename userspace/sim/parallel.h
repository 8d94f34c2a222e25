/* SPDX-License-Identifier: GPL-2.0-only */
/* Concurrent runs, each in a process of its own. */
#ifndef AFTL_PARALLEL_H
#define AFTL_PARALLEL_H

#include "outcome.h"

/**
 * struct sim_work - independent runs
 * @options: options of the command line
 * @run: performs run number @index and fills in @outcome
 * @count: number of runs
 */
struct sim_work {
	const struct sim_options *options;
	void (*run)(const struct sim_options *options, unsigned int index,
		    struct sim_outcome *outcome);
	unsigned int count;
};

/**
 * sim_count_concurrent_runs() - return the number of concurrent runs of @work
 *
 * The number is that of --jobs, or the number of processors. It is lower, and a note is printed,
 * if the devices of that many runs do not fit into the available memory.
 */
unsigned int sim_count_concurrent_runs(const struct sim_work *work);

/* Return the number of threads of --jobs, or the number of processors. */
unsigned int sim_choose_thread_count(const struct sim_options *options);

/**
 * sim_run_in_parallel() - perform @work with @jobs processes
 * @outcomes: by number of the run; runs that a signal kept from starting are lost
 *
 * A signal that interrupts this program interrupts the children; if it is killed, so are they.
 */
void sim_run_in_parallel(const struct sim_work *work, unsigned int jobs,
			 struct sim_outcome *outcomes);

#endif
