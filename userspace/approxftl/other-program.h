/* SPDX-License-Identifier: GPL-2.0-only */
/* Verbs that are separate programs: "approxftl trace" runs approxftl-trace. */
#ifndef AFTL_OTHER_PROGRAM_H
#define AFTL_OTHER_PROGRAM_H

#include "exit-codes.h"

/**
 * run_other_program() - execute approxftl-VERB in place of this program; VERB is argv[1]
 *
 * The program is searched beside this one, then in PATH. Returns only on failure; prints an
 * error message if the program exists but cannot be run.
 *
 * Return: EXIT_NO_INPUT if there is no such program, else EXIT_FAILED.
 */
enum exit_code run_other_program(char **argv);

/* Like run_other_program(), but report a missing program: the verb is one of approxftl's own. */
enum exit_code other_program_main(int argc, char **argv);

#endif
