/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "approxftl trace record": runs a program while blktrace traces a device.
 */
#ifndef AFTL_TRACE_RECORD_H
#define AFTL_TRACE_RECORD_H

#include "exit-codes.h"

/**
 * trace_record_main() - run the subcommand, whose arguments are argv[1] and later
 *
 * Return: the exit status of the program, 128 plus the signal that killed it, or the exit code for
 * a failure before or after the run.
 */
enum exit_code trace_record_main(int argc, char **argv);

#endif
