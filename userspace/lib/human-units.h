/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Quantities for a person: four digits and a unit, so that columns of them line up.
 */
#ifndef AFTL_HUMAN_UNITS_H
#define AFTL_HUMAN_UNITS_H

#include "aftl-host.h"

#define HUMAN_SIZE 32

/* @value / @unit, called @name. */
void human_scaled(char text[HUMAN_SIZE], u64 value, u64 unit, const char *name);

void human_time(char text[HUMAN_SIZE], u64 ns);

/* The same with three digits, for the value of a histogram's bin. */
void human_binned_time(char text[HUMAN_SIZE], u64 ns);

/* The same for a sentence: no blank where the unit is one letter. */
void human_span(char text[HUMAN_SIZE], u64 ns);

void human_bytes(char text[HUMAN_SIZE], u64 bytes);

/* @value / 10^@decimals, followed by @end. */
void human_fixed(char text[HUMAN_SIZE], u64 value, unsigned int decimals, const char *end);

/* @part * @scale / @whole, 0 for no whole. */
static inline u64 scaled_ratio(u64 part, u64 whole, u64 scale)
{
	return whole ? (u64)((__uint128_t)part * scale / whole) : 0;
}

#endif
