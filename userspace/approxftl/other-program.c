// SPDX-License-Identifier: GPL-2.0-only
/* Verbs that are separate programs, as in git. */
#include <limits.h>
#include <unistd.h>

#include "complain.h"
#include "other-program.h"
#include "sibling-program.h"

enum exit_code run_other_program(char **argv)
{
	char path[2 * PATH_MAX];
	char name[NAME_MAX];

	if (strchr(argv[1], '/') ||
	    snprintf(name, sizeof(name), "approxftl-%s", argv[1]) >= (int)sizeof(name))
		return EXIT_NO_INPUT;
	find_sibling_program(name, path, sizeof(path));
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
