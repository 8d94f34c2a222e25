// SPDX-License-Identifier: GPL-2.0-only
/*
 * Implements headers of userspace for WASI, which has no links, owners, signals and threads. The
 * functions of output-file.h write files in place; those of file-claims.h and interruption.h do
 * nothing; those of parallel.h, pipeline.h and trace-import.h use one thread.
 */
#include "file-claims.h"
#include "interruption.h"
#include "output-file.h"
#include "parallel.h"
#include "pipeline.h"
#include "trace-import.h"

int claim_input_file(const char *path, struct aftl_error *error)
{
	(void)path;
	(void)error;
	return 0;
}

int claim_output_file(const char *path, const char *option, struct aftl_error *error)
{
	(void)path;
	(void)option;
	(void)error;
	return 0;
}

void interruption_catch_stop_signals(void)
{
}

bool is_stop_requested(void)
{
	return false;
}

bool is_stop_requested_for_this_thread(void)
{
	return false;
}

void interruption_register_clean_up(void (*clean_up)(void))
{
	(void)clean_up;
}

static int report_wasi_file_error(const struct output_file *file, const char *what,
				  struct aftl_error *error)
{
	int code = errno ? errno : EIO;

	return aftl_fail(error, -code, "%.150s: cannot %s: %s", file->path, what, strerror(code));
}

int output_file_begin(struct output_file *file, const char *path, const char *option, bool force,
		      struct aftl_error *error)
{
	(void)option;
	(void)force;
	file->path = path;
	file->stream = NULL;
	file->apart = false;
	file->target[0] = '\0';
	if ((size_t)scnprintf(file->temporary, sizeof(file->temporary), "%s", path) == strlen(path))
		return 0;
	errno = ENAMETOOLONG;
	return report_wasi_file_error(file, "write", error);
}

int output_file_commit(struct output_file *file, struct aftl_error *error)
{
	(void)file;
	(void)error;
	return 0;
}

void output_file_abandon(struct output_file *file)
{
	if (file->stream && file->stream != stdout)
		fclose(file->stream);
	file->stream = NULL;
}

int output_file_open(struct output_file *file, const char *path, const char *option, bool force,
		     struct aftl_error *error)
{
	int ret = output_file_begin(file, path, option, force, error);

	if (ret)
		return ret;
	file->stream = strcmp(path, "-") ? fopen(path, "w") : stdout;
	return file->stream ? 0 : report_wasi_file_error(file, "create", error);
}

int output_file_close(struct output_file *file, struct aftl_error *error)
{
	FILE *stream = file->stream;
	bool failed = ferror(stream);

	file->stream = NULL;
	failed |= fflush(stream) != 0;
	failed |= stream != stdout && fclose(stream);
	return failed ? report_wasi_file_error(file, "write", error) : 0;
}

unsigned int sim_count_concurrent_runs(const struct sim_work *work)
{
	(void)work;
	return 1;
}

/* WASI never runs jobs in parallel, because sim_count_concurrent_runs() returns 1. */
void sim_run_in_parallel(const struct sim_work *work, unsigned int jobs,
			 struct sim_outcome *outcomes)
{
	(void)work;
	(void)jobs;
	(void)outcomes;
}

unsigned int sim_choose_thread_count(const struct sim_options *options)
{
	(void)options;
	return 1;
}

void pipeline_run_all_chunks(const struct pipeline *pipeline)
{
	for (u64 number = 0; pipeline->make(pipeline->context, number); number++)
		for (u32 lane = 0; lane < pipeline->lanes; lane++)
			pipeline->take(pipeline->context, number, lane);
}

void pipeline_call_each_consumer(void *context, void (*work)(void *context, u64 number, u32 lane),
				 u32 lanes, u32 threads)
{
	(void)threads;
	for (u32 lane = 0; lane < lanes; lane++)
		work(context, 0, lane);
}

enum exit_code trace_import(struct sim_options *options)
{
	(void)options;
	return EXIT_DONE;
}

void trace_import_release(struct sim_options *options)
{
	(void)options;
}
