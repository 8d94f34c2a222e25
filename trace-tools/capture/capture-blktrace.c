// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/blktrace_api.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture-blktrace.h"

#define LOG_NAME "blktrace.log"

/* Time limit for the start of blktrace, and interval of the checks whether it has started. */
#define PATIENCE_MS 10000
#define LOOK_MS 10

static bool is_command_in_path(const char *program)
{
	const char *list = getenv("PATH");
	char path[PATH_MAX];

	while (list && *list) {
		size_t length = strcspn(list, ":");

		scnprintf(path, sizeof(path), "%.*s/%s", (int)length, list, program);
		if (!access(path, X_OK))
			return true;
		list += length + (list[length] == ':');
	}
	return false;
}

int check_blktrace_possible(struct aftl_error *error)
{
	if (!is_command_in_path("blktrace"))
		return aftl_fail(error, -ENOENT,
				 "there is no blktrace in PATH; install the package blktrace");
	if (geteuid())
		return aftl_fail(error, -EPERM, "block devices are traced by root; use sudo");
	if (access("/sys/kernel/debug", F_OK))
		return aftl_fail(error, -ENOTSUP,
				 "this kernel has no debugfs, which blktrace needs");
	if (access("/sys/kernel/debug/block", F_OK))
		return aftl_fail(error, -ENOTSUP,
				 "there is no /sys/kernel/debug/block; mount -t debugfs none /sys/kernel/debug");
	return 0;
}

/* Run blktrace in a process group of its own: Ctrl-C must reach the traced program first. */
static void exec_blktrace(const struct capture_device *device, const char *directory,
			  u64 buffer_kib, u64 buffers)
{
	char log[PATH_MAX], size[24], count[24];
	int fd;

	scnprintf(log, sizeof(log), "%s/" LOG_NAME, directory);
	scnprintf(size, sizeof(size), "%llu", (unsigned long long)buffer_kib);
	scnprintf(count, sizeof(count), "%llu", (unsigned long long)buffers);
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(127);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGINT);
	execlp("blktrace", "blktrace", "-d", device->path, "-D", directory, "-o",
	       BLKTRACE_BASE_NAME, "-b", size, "-n", count, NULL);
	_exit(127);
}

/* Report the first line of blktrace's log as the cause of the failure. */
static int report_blktrace_failure(const struct blktrace_run *run, struct aftl_error *error)
{
	char path[PATH_MAX], line[160] = "";
	FILE *log;

	scnprintf(path, sizeof(path), "%s/" LOG_NAME, run->directory);
	log = fopen(path, "re");
	if (log && fgets(line, sizeof(line), log))
		line[strcspn(line, "\n")] = '\0';
	if (log)
		fclose(log);
	return aftl_fail(error, -EIO, "blktrace has failed: %.120s",
			 *line ? line : "no word of it");
}

static bool has_blktrace_files(const struct blktrace_run *run)
{
	DIR *directory = opendir(run->directory);
	const struct dirent *entry;
	bool found = false;

	while (directory && !found && (entry = readdir(directory)))
		found = !strncmp(entry->d_name, BLKTRACE_BASE_NAME ".blktrace.",
				 strlen(BLKTRACE_BASE_NAME ".blktrace."));
	if (directory)
		closedir(directory);
	return found;
}

/* Check whether blktrace has ended, and reap it. */
static bool has_blktrace_ended(struct blktrace_run *run)
{
	if (waitpid(run->pid, NULL, WNOHANG) != run->pid)
		return false;
	run->pid = 0;
	return true;
}

static void sleep_milliseconds(long ms)
{
	const struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

/*
 * Wait until blktrace records. blktrace creates its files, and starts the trace a little later, at
 * a time that cannot be observed. So start the trace here, too: the kernel refuses a second start
 * with EINVAL, and the trace runs whoever was first.
 */
static int wait_for_blktrace_start(struct blktrace_run *run, struct aftl_error *error)
{
	for (int ms = 0; !has_blktrace_files(run); ms += LOOK_MS) {
		if (has_blktrace_ended(run))
			return report_blktrace_failure(run, error);
		if (ms >= PATIENCE_MS)
			return aftl_fail(error, -ETIMEDOUT,
					 "blktrace has not begun to record in time; try again");
		sleep_milliseconds(LOOK_MS);
	}
	sleep_milliseconds(10L * LOOK_MS);
	if (ioctl(run->device, BLKTRACESTART) && errno != EINVAL)
		return aftl_fail(error, -errno, "cannot start the trace: %s", strerror(errno));
	return has_blktrace_ended(run) ? report_blktrace_failure(run, error) : 0;
}

/* Return: blktrace's wait status as from waitpid(); 0 if it was reaped earlier. */
static int terminate_blktrace(struct blktrace_run *run)
{
	int status = 0;

	if (run->pid > 0) {
		kill(run->pid, SIGINT);
		while (waitpid(run->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	run->pid = 0;
	close(run->device);
	return status;
}

/* Refuse a device that is being traced: a second blktrace would fail and end the first trace. */
static int check_device_not_traced(const struct capture_device *device, struct aftl_error *error)
{
	char path[PATH_MAX];

	scnprintf(path, sizeof(path), "/sys/kernel/debug/block/%s/trace0", device->name);
	if (access(path, F_OK))
		return 0;
	return aftl_fail(error, -EBUSY, "%s is being traced already; end the trace: blktrace -k %s",
			 device->path, device->path);
}

int blktrace_start(struct blktrace_run *run, const struct capture_device *device,
		   const char *directory, u64 buffer_kib, u64 buffers, struct aftl_error *error)
{
	int ret;

	*run = (struct blktrace_run){ .directory = directory };
	ret = check_device_not_traced(device, error);
	if (ret)
		return ret;
	run->device = open(device->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (run->device < 0)
		return aftl_fail(error, -errno, "%s: cannot open: %s", device->path,
				 strerror(errno));
	run->pid = fork();
	if (!run->pid)
		exec_blktrace(device, directory, buffer_kib, buffers);
	ret = run->pid < 0 ? aftl_fail(error, -errno, "blktrace: cannot create a process: %s",
				       strerror(errno)) :
			     wait_for_blktrace_start(run, error);
	if (ret)
		terminate_blktrace(run);
	return ret;
}

/* Parse the totals in blktrace's log: "Total: 12 events (dropped 0), 1 KiB data". */
static void read_blktrace_totals(struct blktrace_run *run)
{
	unsigned long long events, dropped;
	char path[PATH_MAX], line[160];
	FILE *log;

	scnprintf(path, sizeof(path), "%s/" LOG_NAME, run->directory);
	log = fopen(path, "re");
	while (log && fgets(line, sizeof(line), log)) {
		if (sscanf(line, " Total: %llu events (dropped %llu)", &events, &dropped) != 2)
			continue;
		run->events = events;
		run->dropped = dropped;
	}
	if (log)
		fclose(log);
}

int blktrace_stop(struct blktrace_run *run, struct aftl_error *error)
{
	bool ended = has_blktrace_ended(run);
	int status = terminate_blktrace(run);

	read_blktrace_totals(run);
	if (!ended && WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return report_blktrace_failure(run, error);
}
