// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verbs that are programs of their own, as git has them.
 */
#include <limits.h>
#include <unistd.h>

#include "complain.h"
#include "other-program.h"

/* The directory of this program, without a slash at its end. */
static bool own_directory(char *directory, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", directory, size - 1);
	char *slash;

	if (length <= 0)
		return false;
	directory[length] = '\0';
	slash = strrchr(directory, '/');
	if (slash)
		*slash = '\0';
	return slash;
}

/* Beside this program, or the bare name, for PATH. */
static void find_program(const char *name, char *path, size_t size)
{
	char own[PATH_MAX];

	if (!own_directory(own, sizeof(own)) ||
	    snprintf(path, size, "%s/%s", own, name) >= (int)size || access(path, X_OK))
		snprintf(path, size, "%s", name);
}

enum exit_code run_other_program(char **argv)
{
	char path[2 * PATH_MAX];
	char name[NAME_MAX];

	if (strchr(argv[1], '/') ||
	    snprintf(name, sizeof(name), "approxftl-%s", argv[1]) >= (int)sizeof(name))
		return EXIT_NO_INPUT;
	find_program(name, path, sizeof(path));
	execvp(path, argv + 1);
	if (errno == ENOENT)
		return EXIT_NO_INPUT;
	complain("%s: cannot run: %s", path, strerror(errno));
	return EXIT_FAILED;
}

enum exit_code other_program_main(int argc __maybe_unused, char **argv)
{
	enum exit_code code = run_other_program(argv);

	if (code == EXIT_NO_INPUT)
		complain("%s: approxftl-%s is not installed; \"make install\" installs it",
			 argv[1], argv[1]);
	return code;
}
