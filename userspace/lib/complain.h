/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sentences for a person, on stderr.
 */
#ifndef AFTL_COMPLAIN_H
#define AFTL_COMPLAIN_H

#include "aftl-host.h"

/* "approxftl: ..." and a line end. */
__printf(1, 2) void complain(const char *format, ...);

/* "approxftl VERB: ..." and a line end. */
__printf(2, 3) void complain_of(const char *verb, const char *format, ...);

/**
 * closest_word() - which of @words was probably meant
 * @words: ends with NULL
 *
 * Return: one of @words, or NULL if none is near.
 */
const char *closest_word(const char *wrong, const char *const *words);

#endif
