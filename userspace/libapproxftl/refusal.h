/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stores the message that approxftl_reason() returns.
 */
#ifndef AFTL_LIB_REFUSAL_H
#define AFTL_LIB_REFUSAL_H

/* The functions store a message for this thread and return @error, which is negative. */

/* Store a message that is formatted like printf(), and return @error. */
int aftl_lib_set_refusal(int error, const char *format, ...);

/* Store a message that says why operation @what was refused: @reason or, if that is 0, @error. */
int aftl_lib_set_operation_refusal(int error, unsigned int reason, const char *what);

#endif
