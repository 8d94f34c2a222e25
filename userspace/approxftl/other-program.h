/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs that are programs of their own: "approxftl trace" runs approxftl-trace.
 */
#ifndef AFTL_OTHER_PROGRAM_H
#define AFTL_OTHER_PROGRAM_H

#include "exit-codes.h"

/**
 * run_other_program() - become approxftl-VERB, VERB being argv[1]
 *
 * It is looked for beside this program, then in PATH. Returns only if there is none, or if
 * it cannot be run, which is said.
 *
 * Return: EXIT_NO_INPUT if there is none, EXIT_FAILED.
 */
enum exit_code run_other_program(char **argv);

/* The same for a verb that this version comes with: that it is not there is said, too. */
enum exit_code other_program_main(int argc, char **argv);

#endif
