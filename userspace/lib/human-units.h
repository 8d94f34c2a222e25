/* SPDX-License-Identifier: GPL-2.0-only */
/* Quantities for people: four digits and a unit, so that columns line up. */
#ifndef AFTL_HUMAN_UNITS_H
#define AFTL_HUMAN_UNITS_H

#include "aftl-host.h"

#define HUMAN_SIZE 32

/* Print @value / @unit with four digits, followed by the unit's @name. */
void human_format_scaled_number(char text[HUMAN_SIZE], u64 value, u64 unit, const char *name);

void human_format_time(char text[HUMAN_SIZE], u64 ns);

/* Format @ns as human_format_time() does, but with three digits, for a bin of a histogram. */
void human_format_histogram_bin_time(char text[HUMAN_SIZE], u64 ns);

/* Format @ns as human_format_time() does, but without padding after the unit, for running text. */
void human_format_time_without_padding(char text[HUMAN_SIZE], u64 ns);

void human_format_bytes(char text[HUMAN_SIZE], u64 bytes);

/* Print @value / 10^@decimals, then the string @end, such as a unit. */
void format_fixed_point(char text[HUMAN_SIZE], u64 value, unsigned int decimals, const char *end);

/* Return @part * @scale / @whole, or 0 if @whole is 0. */
static inline u64 scaled_ratio(u64 part, u64 whole, u64 scale)
{
	return whole ? (u64)((__uint128_t)part * scale / whole) : 0;
}

#endif
