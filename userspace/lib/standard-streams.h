/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Standard input and output: what every program does with them first and last.
 */
#ifndef AFTL_STANDARD_STREAMS_H
#define AFTL_STANDARD_STREAMS_H

#include "exit-codes.h"

/*
 * Where the caller has closed one of the first three descriptors, the next file that is opened
 * would take its place and get what was meant for it. To be called before any file is opened.
 */
void standard_streams_begin(void);

/**
 * standard_streams_end() - a full disk or a closed pipe must not pass for success
 * @name: of the program, for the sentence
 * @code: how it would have ended
 *
 * Return: @code, or EXIT_FAILED if standard output could not be written.
 */
enum exit_code standard_streams_end(const char *name, enum exit_code code);

#endif
