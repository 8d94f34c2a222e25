/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "approxftl trace record": a program runs while blktrace watches a device.
 */
#ifndef AFTL_TRACE_RECORD_H
#define AFTL_TRACE_RECORD_H

#include "exit-codes.h"

/**
 * trace_record_main() - the verb; its arguments are in argv[1] and later
 *
 * Return: the exit status of the program that ran, 128 and the number of the signal that ended
 * it, or what went wrong before and after.
 */
enum exit_code trace_record_main(int argc, char **argv);

#endif
