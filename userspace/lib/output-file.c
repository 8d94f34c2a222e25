// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file-claims.h"
#include "interruption.h"
#include "output-file.h"

/* Maximum number of output files of a thread at a time. */
#define PENDING 8
/* Maximum number of symbolic links to follow for an output's path. */
#define LINKS 40
/* Random names to try for a temporary file; a collision is very unlikely. */
#define NAMES 16
/* Bytes to copy at a time. */
#define COPIED 65536

static __thread struct output_file *pending[PENDING];
static pid_t owner;

/* At exit or after a signal, remove unfinished temporary files, but not in a forked child. */
static void remove_pending_files(void)
{
	for (unsigned int i = 0; i < PENDING && getpid() == owner; i++)
		if (pending[i])
			unlink(pending[i]->temporary);
}

static void unregister_finished_output(const struct output_file *file)
{
	for (unsigned int i = 0; i < PENDING; i++)
		if (pending[i] == file)
			pending[i] = NULL;
}

static void register_unfinished_output(struct output_file *file)
{
	if (owner != getpid()) {
		owner = getpid();
		atexit(remove_pending_files);
		interruption_register_clean_up(remove_pending_files);
	}
	for (unsigned int i = 0; i < PENDING; i++)
		if (!pending[i]) {
			pending[i] = file;
			return;
		}
}

/* Errors of outputs are -EIO: -ENOENT would count as a missing input for the exit code. */
static int report_output_error(const struct output_file *file, const char *what, int code,
			       struct aftl_error *error)
{
	return aftl_fail(error, -EIO, "%.150s: cannot %s: %s", file->path, what, strerror(code));
}

/* Return true if @path is the same file as standard output. */
static bool is_path_standard_output(const char *path, const struct stat *state)
{
	struct stat own;

	if (!strcmp(path, "-"))
		return true;
	return state && !fstat(STDOUT_FILENO, &own) && own.st_dev == state->st_dev &&
	       own.st_ino == state->st_ino;
}

/* True for a path of an open descriptor (/dev/fd/3): rename() must not replace the file. */
static bool is_descriptor_path(const char *path)
{
	char *folder = NULL, *name = strdup(path);
	char *slash = name ? strrchr(name, '/') : NULL;
	bool found;

	if (slash) {
		*slash = '\0';
		folder = realpath(*name ? name : "/", NULL);
	}
	found = folder && !strncmp(folder, "/proc/", 6);
	free(folder);
	free(name);
	return found;
}

/* Replace @path by the target of the symbolic link @path; false if it is not a link. */
static bool read_symbolic_link(char path[OUTPUT_FILE_NAME])
{
	char link[PATH_MAX], next[OUTPUT_FILE_NAME];
	ssize_t length = readlink(path, link, sizeof(link) - 1);
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0;

	if (length < 0)
		return false;
	link[length] = '\0';
	if (snprintf(next, sizeof(next), "%.*s%s", *link == '/' ? 0 : folder, path, link) >=
	    (int)sizeof(next))
		return false;
	memcpy(path, next, sizeof(next));
	return true;
}

/* Follow links one by one, because realpath() fails if the last target does not exist yet. */
static int resolve_output_links(struct output_file *file, struct aftl_error *error)
{
	unsigned int links = 0;

	if (snprintf(file->target, sizeof(file->target), "%s", file->path) >=
	    (int)sizeof(file->target))
		return report_output_error(file, "write", ENAMETOOLONG, error);
	while (!is_descriptor_path(file->target) && read_symbolic_link(file->target))
		if (++links > LINKS)
			return report_output_error(file, "write", ELOOP, error);
	return 0;
}

static int use_output_path_directly(struct output_file *file, const char *name)
{
	scnprintf(file->temporary, sizeof(file->temporary), "%s", name);
	file->target[0] = '\0';
	return 0;
}

/* Copy owner and mode of the file that is going to be replaced. */
static void copy_owner_and_mode(int fd, const struct stat *old)
{
	if (!old)
		return;
	if (fchown(fd, old->st_uid, old->st_gid))
		fchmod(fd, old->st_mode & 0777);
	else
		fchmod(fd, old->st_mode & 07777);
}

/*
 * Block signals between open() and register_unfinished_output(), so that the signal handler removes
 * exactly the files that this program has created.
 */
static int create_registered_temporary_file(struct output_file *file)
{
	sigset_t all, before;
	int fd, code;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	code = errno;
	if (fd >= 0)
		register_unfinished_output(file);
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = code;
	return fd;
}

/*
 * The name is random, because process ids repeat, above all in containers, and a killed program
 * leaves its temporary file behind. Return: a descriptor, or -1 with errno.
 */
static int create_temporary_file_in_directory(struct output_file *file, const char *folder,
					      int length)
{
	u64 random;
	int fd = -1;

	for (unsigned int i = 0; i < NAMES; i++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		if (snprintf(file->temporary, sizeof(file->temporary),
			     "%.*s.approxftl-%016llx.part", length, folder,
			     (unsigned long long)random) >= (int)sizeof(file->temporary)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		fd = create_registered_temporary_file(file);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	return fd;
}

/* The old file may be writable in a directory that is not: create the temporary file in $TMPDIR. */
static int create_temporary_file_in_tmpdir(struct output_file *file)
{
	const char *folder = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd;

	scnprintf(path, sizeof(path), "%s/", folder && *folder ? folder : "/tmp");
	fd = create_temporary_file_in_directory(file, path, (int)strlen(path));
	if (fd >= 0)
		fchmod(fd, 0600);
	file->apart = true;
	return fd;
}

static bool is_permission_error(int code)
{
	return code == EACCES || code == EPERM || code == EROFS;
}

static int create_temporary_file(struct output_file *file, const struct stat *old,
				 struct aftl_error *error)
{
	const char *slash = strrchr(file->target, '/');
	int fd;

	if (old && access(file->target, W_OK))
		return report_output_error(file, "write", errno, error);
	fd = create_temporary_file_in_directory(file, file->target,
						slash ? (int)(slash - file->target) + 1 : 0);
	if (fd < 0 && old && is_permission_error(errno))
		fd = create_temporary_file_in_tmpdir(file);
	if (fd < 0) {
		file->temporary[0] = '\0';
		return report_output_error(file, "create", errno, error);
	}
	if (!file->apart)
		copy_owner_and_mode(fd, old);
	close(fd);
	return 0;
}

int output_file_begin(struct output_file *file, const char *path, const char *option, bool force,
		      struct aftl_error *error)
{
	struct stat state;
	bool there;
	int ret;

	file->path = path;
	file->stream = NULL;
	file->temporary[0] = '\0';
	file->target[0] = '\0';
	file->apart = false;
	if (!*path)
		return report_output_error(file, "create", ENOENT, error);
	ret = claim_output_file(path, option, error);
	if (ret)
		return ret;
	there = !stat(path, &state);
	if (is_path_standard_output(path, there ? &state : NULL))
		return use_output_path_directly(file, "-");
	ret = resolve_output_links(file, error);
	if (ret)
		return ret;
	if (is_descriptor_path(file->target) || (there && !S_ISREG(state.st_mode)))
		return use_output_path_directly(file, path);
	if (there && !force)
		return aftl_fail(error, -EEXIST, "%.120s is there already; --force replaces it",
				 path);
	return create_temporary_file(file, there ? &state : NULL, error);
}

/* Copy file @from, from its position on, to file @to. Return: 0 or a positive error number. */
static int copy_file_from_current_offset(int from, int to)
{
	char bytes[COPIED];
	off_t size = 0;
	ssize_t got, put;

	while ((got = read(from, bytes, sizeof(bytes))) > 0)
		for (ssize_t done = 0; done < got; done += put, size += put) {
			put = write(to, bytes + done, (size_t)(got - done));
			if (put < 0)
				return errno;
		}
	return got < 0 || ftruncate(to, size) ? errno : 0;
}

/* Overwrite the existing file at the output's path. Return: 0 or a positive error number. */
static int overwrite_output_target(const struct output_file *file)
{
	int from = open(file->temporary, O_RDONLY | O_CLOEXEC);
	int to = from < 0 ? -1 : open(file->target, O_WRONLY | O_CLOEXEC);
	int code = to < 0 ? errno : copy_file_from_current_offset(from, to);

	if (to >= 0 && close(to) && !code)
		code = errno;
	if (from >= 0)
		close(from);
	return code;
}

/* Another user's file in a sticky directory, or a mount point, cannot be replaced by rename(). */
static bool does_error_forbid_rename(int code)
{
	return is_permission_error(code) || code == EBUSY || code == EXDEV;
}

static int rename_output_to_target(struct output_file *file, struct aftl_error *error)
{
	int code = file->apart || !rename(file->temporary, file->target) ? 0 : errno;

	if (!file->apart && !code)
		return 0;
	if (code && (!does_error_forbid_rename(code) || access(file->target, F_OK))) {
		unlink(file->temporary);
		return report_output_error(file, "rename to it", code, error);
	}
	file->apart = true;
	code = overwrite_output_target(file);
	if (!code) {
		unlink(file->temporary);
		return 0;
	}
	return aftl_fail(error, -code,
			 "%.80s: can be neither replaced nor written: %s; its new content is in %.90s",
			 file->path, strerror(code), file->temporary);
}

int output_file_commit(struct output_file *file, struct aftl_error *error)
{
	int ret = *file->target ? rename_output_to_target(file, error) : 0;

	unregister_finished_output(file);
	file->temporary[0] = '\0';
	return ret;
}

void output_file_abandon(struct output_file *file)
{
	if (file->stream && file->stream != stdout)
		fclose(file->stream);
	file->stream = NULL;
	if (*file->temporary && *file->target)
		unlink(file->temporary);
	unregister_finished_output(file);
	file->temporary[0] = '\0';
}

int output_file_open(struct output_file *file, const char *path, const char *option, bool force,
		     struct aftl_error *error)
{
	int ret = output_file_begin(file, path, option, force, error);

	if (ret)
		return ret;
	file->stream = strcmp(file->temporary, "-") ? fopen(file->temporary, "we") : stdout;
	if (file->stream)
		return 0;
	ret = report_output_error(file, "create", errno, error);
	output_file_abandon(file);
	return ret;
}

/* An earlier write error, whose errno is lost, is reported as EIO. */
static int flush_output_stream(struct output_file *file)
{
	FILE *stream = file->stream;
	bool failed = ferror(stream);
	int code;

	errno = 0;
	failed |= fflush(stream) != 0;
	code = errno;
	file->stream = NULL;
	if (stream != stdout && fclose(stream)) {
		failed = true;
		code = code ? code : errno;
	}
	return !failed ? 0 : code ? code : EIO;
}

int output_file_close(struct output_file *file, struct aftl_error *error)
{
	int code = flush_output_stream(file);

	if (!code)
		return output_file_commit(file, error);
	output_file_abandon(file);
	return report_output_error(file, "write", code, error);
}
