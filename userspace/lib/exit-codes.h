/* SPDX-License-Identifier: GPL-2.0-only */
/* Exit codes of the commands, documented in approxftl(1). */
#ifndef AFTL_EXIT_CODES_H
#define AFTL_EXIT_CODES_H

#include <errno.h>

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NO_INPUT = 3,
	EXIT_NOT_VERIFIED = 4,
	EXIT_INTERRUPTED = 130,
};

/* Return the exit code for error @ret of an input. Output errors are always passed as -EIO. */
static inline enum exit_code get_exit_code_of_input_error(int ret)
{
	return ret == -ENOENT || ret == -ENOTDIR || ret == -EISDIR || ret == -EACCES ?
		       EXIT_NO_INPUT : EXIT_FAILED;
}

#endif
