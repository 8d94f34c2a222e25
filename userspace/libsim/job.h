/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs: the state of a thread during a long call of the library. */
#ifndef LIBSIM_JOB_H
#define LIBSIM_JOB_H

#include <setjmp.h>
#include <stdatomic.h>

#include "core/policy/ftl-policy.h"
#include "libsim.h"
#include "sim-options.h"

/**
 * struct simlib_policy - a policy whose decisions are functions of the calling program
 * @name: name of the policy @streams: names of its streams @type: the core's type of the policy
 * @methods: the core's methods for @type, which call @functions @functions: functions that decide
 * @columns: memory for the description of victim candidates
 */
struct simlib_policy {
	char name[64];
	char streams[AFTL_KINDS_MAX][64];
	struct aftl_policy_type type;
	struct aftl_ftl_policy methods;
	struct simlib_policy_functions functions;
	s64 *columns;
};

void copy_geometry_to_simlib_facts(struct simlib_facts *facts, const struct aftl_geometry *geo);

/**
 * struct simlib_job - a long call
 * @stop: simlib_job_stop() was called, so the call shall end
 * @progress: requests so far
 * @messages: lines of text
 * @used: length of @messages
 * @json: JSON text, or NULL
 * @log: simulated requests, for simlib_job_requests()
 * @policy: a policy of the calling program, or NULL
 * @no_memory: point where the call continues if a small allocation fails
 */
struct simlib_job {
	atomic_bool stop;
	u64 progress;
	char *messages;
	size_t used;
	char *json;
	struct request_log log;
	struct simlib_policy *policy;
	jmp_buf no_memory;
};

/**
 * job_call_and_capture_messages() - call @work, with messages and stop flag redirected to @job
 * @work: returns an enum exit_code
 *
 * Memory that @work has allocated is lost if a small allocation fails.
 */
int job_call_and_capture_messages(struct simlib_job *job,
				  int (*work)(struct simlib_job *job, void *context),
				  void *context);

/**
 * struct simlib_arguments - command line of a long call
 */
struct simlib_arguments {
	int argc;
	char **argv;
	bool keep_requests;
	struct simlib_device **out;
};

/* Parse the command line. Return: an enum exit_code; a wrong command line causes a message. */
int job_parse_arguments(const struct simlib_job *job, struct sim_options *options,
			const struct simlib_arguments *arguments);

#endif
