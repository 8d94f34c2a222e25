/* SPDX-License-Identifier: GPL-2.0-only */
/* Set-up of the standard streams at the start of a program, and their check at its end. */
#ifndef AFTL_STANDARD_STREAMS_H
#define AFTL_STANDARD_STREAMS_H

#include "exit-codes.h"

/*
 * Open a placeholder for each of the descriptors 0 to 2 that the caller has closed. Otherwise
 * the next file to be opened would take the number and receive output meant for a standard
 * stream. Call this before any file is opened.
 */
void standard_streams_set_up(void);

/**
 * standard_streams_end() - flush standard output and detect a full disk or a closed pipe
 * @name: name of the program, for the error message
 * @code: exit code so far
 *
 * Return: @code, or EXIT_FAILED if @code is 0 and standard output could not be written.
 */
enum exit_code standard_streams_end(const char *name, enum exit_code code);

#endif
