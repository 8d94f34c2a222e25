// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "complain.h"
#include "file-claims.h"
#include "interruption.h"
#include "job.h"
#include "option-rows.h"
#include "parameter-file.h"
#include "policy-load.h"
#include "progress.h"
#include "sim.h"
#include "version.h"

static __thread struct simlib_job *current;

const char *simlib_version(void)
{
	return approxftl_version();
}

struct simlib_job *simlib_job_create(void)
{
	interruption_disable_signal_handlers();
	return calloc(1, sizeof(struct simlib_job));
}

void simlib_job_destroy(struct simlib_job *job)
{
	free(job->messages);
	free(job->json);
	request_log_release(&job->log);
	free(job);
}

void simlib_job_offer_policy(struct simlib_job *job, struct simlib_policy *policy)
{
	job->policy = policy;
}

void simlib_job_stop(struct simlib_job *job)
{
	atomic_store(&job->stop, true);
}

u64 simlib_job_progress(const struct simlib_job *job)
{
	return __atomic_load_n(&job->progress, __ATOMIC_RELAXED);
}

const char *simlib_job_messages(const struct simlib_job *job)
{
	return job->messages ? job->messages : "";
}

const char *simlib_job_json(const struct simlib_job *job)
{
	return job->json;
}

const struct request_log *simlib_job_requests(const struct simlib_job *job)
{
	return &job->log;
}

/* Append a message to the job's messages; without memory the message is lost. */
static void append_job_message(void *context, const char *text)
{
	struct simlib_job *job = context;
	size_t length = strlen(text);
	char *grown = realloc(job->messages, job->used + length + 2);

	if (!grown)
		return;
	job->messages = grown;
	job->used += (size_t)sprintf(grown + job->used, "%s%s", job->used ? "\n" : "", text);
}

static void abort_job_without_memory(void)
{
	longjmp(current->no_memory, 1);
}

int job_call_and_capture_messages(struct simlib_job *job,
				  int (*work)(struct simlib_job *job, void *context),
				  void *context)
{
	int code;

	current = job;
	redirect_messages_to_function(append_job_message, job);
	memory_set_failure_handler(abort_job_without_memory);
	interruption_set_stop_flag_of_thread(&job->stop);
	progress_set_count_receiver(&job->progress);
	set_policy_of_thread(job->policy ? &job->policy->type : NULL);
	if (setjmp(job->no_memory)) {
		append_job_message(job, "out of memory");
		code = EXIT_FAILED;
	} else {
		code = work(job, context);
	}
	set_policy_of_thread(NULL);
	progress_set_count_receiver(NULL);
	interruption_set_stop_flag_of_thread(NULL);
	memory_set_failure_handler(NULL);
	redirect_messages_to_function(NULL, NULL);
	release_file_claims();
	parameter_file_reset_text_buffer();
	return code;
}

int simlib_option_kind(const char *name)
{
	size_t length = strlen(name);
	const struct option_row *row = option_find_by_name(name, length);

	if (row)
		return row->kind == KIND_SWITCH ? SIMLIB_OPTION_SWITCH : SIMLIB_OPTION_VALUE;
	return is_option_name_a_device_param(name, length) ? SIMLIB_OPTION_PARAMETER :
							     SIMLIB_OPTION_UNKNOWN;
}

int job_parse_arguments(const struct simlib_job *job, struct sim_options *options,
			const struct simlib_arguments *arguments)
{
	struct aftl_error error;

	if (sim_options_parse(options, arguments->argc - 2, arguments->argv + 2, &error))
		return report_command_failure("sim", &error, EXIT_USAGE);
	if (sim_options_count_runs(options) != 1) {
		complain_as("sim", "a run has one policy and one seed; sweep() runs several");
		return EXIT_USAGE;
	}
	if (!job->policy || (!options->raid && options->params.shards == 1))
		return EXIT_DONE;
	complain_as("sim", "%s: a policy in Python is that of a single device; leave it out",
		    options->raid ? "raid" : "shards");
	return EXIT_USAGE;
}

static int run_simulation_job(struct simlib_job *job, void *context)
{
	const struct simlib_arguments *arguments = context;
	struct sim_options options;
	int code = job_parse_arguments(job, &options, arguments);
	size_t size;
	FILE *json;

	if (code)
		return code;
	if (arguments->keep_requests && !options.raid && options.params.shards == 1)
		options.log = &job->log;
	json = memory_exit_if_null(open_memstream(&job->json, &size));
	return sim_perform(&options, arguments->argc, arguments->argv, json);
}

int simlib_simulate(struct simlib_job *job, int argc, char **argv, bool keep_requests)
{
	struct simlib_arguments arguments = {
		.argc = argc,
		.argv = argv,
		.keep_requests = keep_requests,
	};

	return job_call_and_capture_messages(job, run_simulation_job, &arguments);
}
