/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What approxftl_reason() says.
 */
#ifndef AFTL_LIB_REFUSAL_H
#define AFTL_LIB_REFUSAL_H

/* Both remember a sentence for this thread, and return @error, which is negative. */

/* As printf(). */
int aftl_lib_refuse(int error, const char *format, ...);

/* @what was tried. @reason is enum approxftl_reason; without one the error's text is taken. */
int aftl_lib_refused(int error, unsigned int reason, const char *what);

#endif
