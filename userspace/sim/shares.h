/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shares as a user writes them: 0.5 or 50%.
 */
#ifndef AFTL_SHARES_H
#define AFTL_SHARES_H

#include "core/base/params.h"

/* Parts of a share: a percentage has two decimals, a fraction four. */
#define SHARE_WHOLE 10000

/**
 * struct share - what was written
 * @value: of SHARE_WHOLE
 * @percent: with a percent sign
 * @finer: there are decimals that @value has no room for
 */
struct share {
	u64 value;
	bool percent;
	bool finer;
};

/**
 * share_parse() - read a fraction, or a percentage with its sign
 *
 * Return: false if @text is neither.
 */
bool share_parse(const char *text, struct share *share);

/* Writes @value of SHARE_WHOLE in one notation or the other. */
void share_print(u64 value, bool percent, char text[AFTL_VALUE_SIZE]);

/* Writes @value / 10^@decimals as a plain decimal without zeroes at its end. */
void decimal_print(u64 value, unsigned int decimals, char text[AFTL_VALUE_SIZE]);

#endif
