/* SPDX-License-Identifier: GPL-2.0-only */
/* Shares as the user types them: 0.5 or 50%. */
#ifndef AFTL_SHARES_H
#define AFTL_SHARES_H

#include "core/base/params.h"

/* A share of 1 (100 %) in units of share.value: fractions have four decimals, percentages two. */
#define SHARE_WHOLE 10000

/**
 * struct share - a parsed share
 * @value: in 1 / SHARE_WHOLE
 * @percent: it had a percent sign
 * @finer: it had more decimals than @value can represent
 */
struct share {
	u64 value;
	bool percent;
	bool finer;
};

/**
 * parse_fraction_or_percentage() - parse a fraction, or a percentage with its sign
 *
 * Return: false if @text is invalid.
 */
bool parse_fraction_or_percentage(const char *text, struct share *share);

/*
 * Refuse the value 1 of a parameter in percent, which may mean 1 % or, as a fraction, 100 %. The
 * target accepts it in a table line, which is a stable format.
 */
int __must_check check_percentage_is_unambiguous(const char *key, const char *value,
						 struct aftl_error *error);

/* Print @value, in 1 / SHARE_WHOLE, as a percentage or a fraction. */
void format_fraction_or_percentage(u64 value, bool percent, char text[AFTL_VALUE_SIZE]);

/* Print @value / 10^@decimals without trailing zeroes. */
void format_decimal_number(u64 value, unsigned int decimals, char text[AFTL_VALUE_SIZE]);

#endif
