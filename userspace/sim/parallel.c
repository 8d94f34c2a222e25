// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checked-memory.h"
#include "complain.h"
#include "interruption.h"
#include "parallel.h"
#include "progress.h"

/**
 * struct child - a run in progress
 * @pid: its process
 * @fd: file that receives its outcome
 * @index: number of the run
 */
struct child {
	pid_t pid;
	int fd;
	unsigned int index;
};

/**
 * struct pool - all child processes
 * @work: runs to perform
 * @outcomes: by number of the run
 * @children: children in progress
 * @running: number of children in progress
 * @jobs: maximum number of children
 * @begun: number of runs that were started, in order
 * @told: the children were sent a signal to end
 * @done: requests of each run so far, which the children store in shared memory
 * @progress: progress of all runs
 */
struct pool {
	const struct sim_work *work;
	struct sim_outcome *outcomes;
	struct child *children;
	unsigned int running;
	unsigned int jobs;
	unsigned int begun;
	bool told;
	u64 *done;
	struct progress progress;
};

/* Fork a child for the next run; return false if its file or the process cannot be created now. */
static bool start_child_process(struct pool *pool)
{
	struct child *child = &pool->children[pool->running];
	pid_t parent = getpid();
	sigset_t every, before;

	child->index = pool->begun;
	child->fd = memfd_create("approxftl-outcome", MFD_CLOEXEC);
	if (child->fd < 0)
		return false;
	/* Ctrl-C and the parent's signal may both arrive before the child survives the second. */
	sigfillset(&every);
	sigprocmask(SIG_SETMASK, &every, &before);
	child->pid = fork();
	if (child->pid)
		sigprocmask(SIG_SETMASK, &before, NULL);
	if (!child->pid) {
		struct sim_outcome *outcome = memory_alloc_zeroed(1, sizeof(*outcome));
		const struct sim_work *work = pool->work;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(EXIT_FAILED);
		interruption_survive_second_signal();
		sigprocmask(SIG_SETMASK, &before, NULL);
		progress_set_count_receiver(&pool->done[child->index]);
		work->run(work->options, child->index, outcome);
		_exit(sim_outcome_write(outcome, child->fd) ? EXIT_DONE : EXIT_FAILED);
	}
	if (child->pid < 0) {
		close(child->fd);
		return false;
	}
	pool->running++;
	pool->begun++;
	return true;
}

static void start_child_processes(struct pool *pool)
{
	const struct sim_work *work = pool->work;

	while (pool->begun < work->count && pool->running < pool->jobs && !is_stop_requested()) {
		if (start_child_process(pool))
			continue;
		if (pool->running)
			return;
		work->run(work->options, pool->begun, &pool->outcomes[pool->begun]);
		pool->begun++;
	}
}

static void read_child_outcome(struct pool *pool, struct child *child, int status)
{
	struct sim_outcome *outcome = &pool->outcomes[child->index];

	if (WIFSIGNALED(status)) {
		outcome->killed = WTERMSIG(status);
		close(child->fd);
	} else if (!sim_outcome_read(outcome, child->fd) || status) {
		*outcome = (struct sim_outcome){ .code = EXIT_FAILED, .lost = true };
	}
	*child = pool->children[--pool->running];
}

/* Reap a child process that has ended; return false if there is none. */
static bool reap_ended_child(struct pool *pool)
{
	int status;

	for (unsigned int i = 0; i < pool->running; i++) {
		if (waitpid(pool->children[i].pid, &status, WNOHANG) <= 0)
			continue;
		read_child_outcome(pool, &pool->children[i], status);
		return true;
	}
	return false;
}

static void forward_stop_signal_to_children(struct pool *pool)
{
	for (unsigned int i = 0; is_stop_requested() && !pool->told && i < pool->running; i++)
		kill(pool->children[i].pid, SIGTERM);
	pool->told = is_stop_requested();
}

static void show_pool_progress(struct pool *pool)
{
	bool filled = pool->work->options->params.fill != AFTL_FILL_NONE;
	u64 done = 0;

	for (unsigned int i = 0; i < pool->begun; i++)
		done += pool->done[i];
	/* A run that writes its starting state has no requests yet. */
	pool->progress.what = filled && !done ? "all runs write their starting state first" :
					       "all runs";
	progress_report(&pool->progress, done);
}

/* Block signals except inside ppoll(), so that no SIGCHLD is lost between check and sleep. */
static void wait_for_child_signal(struct pool *pool)
{
	const struct timespec moment = { .tv_nsec = 200000000 };
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	forward_stop_signal_to_children(pool);
	while (!reap_ended_child(pool)) {
		ppoll(NULL, 0, &moment, &before);
		forward_stop_signal_to_children(pool);
		show_pool_progress(pool);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void ignore_wakeup_signal(int number)
{
	(void)number;
}

/* Return the number of requests of all runs; 0 if unknown. */
static u64 count_requests_of_all_runs(const struct sim_work *work)
{
	const struct sim_options *options = work->options;
	u64 total;

	if (options->trace || __builtin_add_overflow(options->requests, options->warmup, &total) ||
	    __builtin_mul_overflow(total, work->count, &total))
		return 0;
	return total;
}

static void run_child_pool(struct pool *pool)
{
	const struct sigaction action = { .sa_handler = ignore_wakeup_signal };

	sigaction(SIGCHLD, &action, NULL);
	progress_begin(&pool->progress, sim_choose_progress_visibility(pool->work->options),
		       "all runs", count_requests_of_all_runs(pool->work));
	for (start_child_processes(pool); pool->running; start_child_processes(pool))
		wait_for_child_signal(pool);
	progress_end(&pool->progress);
	for (unsigned int i = pool->begun; i < pool->work->count; i++) {
		pool->outcomes[i].lost = true;
		aftl_fail(&pool->outcomes[i].error, -EINTR, "interrupted before the run began");
	}
}

void sim_run_in_parallel(const struct sim_work *work, unsigned int jobs,
			 struct sim_outcome *outcomes)
{
	size_t size = work->count * sizeof(u64);
	struct pool pool = {
		.work = work,
		.outcomes = outcomes,
		.jobs = jobs,
		.done = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
	};

	if (pool.done == MAP_FAILED) {
		complain_as("sim", "no memory for %u runs: %s", work->count, strerror(errno));
		exit(EXIT_FAILED);
	}
	pool.children = memory_alloc_zeroed(jobs, sizeof(*pool.children));
	run_child_pool(&pool);
	free(pool.children);
	munmap(pool.done, size);
}
