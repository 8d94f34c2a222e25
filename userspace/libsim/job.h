/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs: state of a thread during a long call. */
#ifndef LIBSIM_JOB_H
#define LIBSIM_JOB_H

#include <setjmp.h>
#include <stdatomic.h>

#include "libsim.h"
#include "sim-options.h"

/**
 * struct simlib_job - a long call
 * @stop: the owner wants it to end
 * @progress: requests so far
 * @messages: lines of text
 * @used: length of @messages
 * @json: JSON text, or NULL
 * @log: requests
 * @no_memory: where to continue if a small allocation fails
 */
struct simlib_job {
	atomic_bool stop;
	u64 progress;
	char *messages;
	size_t used;
	char *json;
	struct request_log log;
	jmp_buf no_memory;
};

/**
 * job_perform() - call @work with this thread's messages and stop flag redirected to @job
 * @work: returns an enum exit_code
 *
 * Memory that @work has allocated is lost if a small allocation fails.
 */
int job_perform(struct simlib_job *job, int (*work)(struct simlib_job *job, void *context),
		void *context);

/**
 * struct simlib_arguments - arguments of a long call
 */
struct simlib_arguments {
	int argc;
	char **argv;
	bool keep_requests;
	struct simlib_device **out;
};

/* Parse the command line; return an enum exit_code after a message. */
int job_parse(struct sim_options *options, const struct simlib_arguments *arguments);

#endif
