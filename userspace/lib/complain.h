/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sentences for a person, on stderr.
 */
#ifndef AFTL_COMPLAIN_H
#define AFTL_COMPLAIN_H

#include "aftl-host.h"

/* "approxftl: ..." and a line end. */
__printf(1, 2) void complain(const char *format, ...);

/* What stands before the name of a verb: "approxftl "; nothing before that of a program. */
const char *spoken_before(const char *verb);

/* "approxftl VERB: ..." or "PROGRAM: ...", and a line end. */
__printf(2, 3) void complain_of(const char *verb, const char *format, ...);

/**
 * closest_word() - which of @words was probably meant
 * @words: ends with NULL
 *
 * Return: one of @words, or NULL if none is near.
 */
const char *closest_word(const char *wrong, const char *const *words);

#endif
