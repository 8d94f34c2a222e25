/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a command ends. They are documented in approxftl(1).
 */
#ifndef AFTL_EXIT_CODES_H
#define AFTL_EXIT_CODES_H

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NO_INPUT = 3,
	EXIT_NOT_VERIFIED = 4,
	EXIT_INTERRUPTED = 130,
};

#endif
