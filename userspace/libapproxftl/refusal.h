/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stores the message that approxftl_reason() returns.
 */
#ifndef AFTL_LIB_REFUSAL_H
#define AFTL_LIB_REFUSAL_H

/* Both functions store a message for this thread and return @error, which is negative. */

/* Format the message like printf(). */
int aftl_lib_refuse(int error, const char *format, ...);

/* @what names the operation. @reason is enum approxftl_reason; 0 for the text of @error. */
int aftl_lib_refuse_operation(int error, unsigned int reason, const char *what);

#endif
