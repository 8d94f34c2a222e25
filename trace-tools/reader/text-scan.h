/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses fields of a text line. Each function moves the cursor behind the text it consumed.
 */
#ifndef AFTL_TEXT_SCAN_H
#define AFTL_TEXT_SCAN_H

#include "aftl-host.h"

/**
 * struct text_cursor - the unread rest of a line
 * @at: next character
 * @end: end of the line
 */
struct text_cursor {
	const char *at;
	const char *end;
};

static inline bool is_text_digit(const char *at)
{
	return *at >= '0' && *at <= '9';
}

/* Parse a decimal number that fits in 64 bits. */
static inline bool text_get_u64(struct text_cursor *text, u64 *value)
{
	const char *at = text->at;
	u64 number = 0;

	while (at < text->end && is_text_digit(at)) {
		u64 digit = (u64)(*at - '0');

		if (number > (U64_MAX - digit) / 10)
			return false;
		number = number * 10 + digit;
		at++;
	}
	if (at == text->at)
		return false;
	text->at = at;
	*value = number;
	return true;
}

/* Parse a number that is not greater than @most. */
static inline bool text_get_bounded_u64(struct text_cursor *text, u64 most, u64 *value)
{
	return text_get_u64(text, value) && *value <= most;
}

/* Parse the digits behind a decimal point, and return them in units of 1 / @unit, rounded down. */
static inline u64 text_get_decimals(struct text_cursor *text, u64 unit)
{
	u64 value = 0, divisor = 1;

	for (; text->at < text->end && is_text_digit(text->at); text->at++) {
		if (divisor >= unit)
			continue;
		value = value * 10 + (u64)(*text->at - '0');
		divisor *= 10;
	}
	return divisor == 1 ? 0 : (u64)((__uint128_t)value * unit / divisor);
}

/* Parse a number, with or without decimals, and multiply it by @unit. */
static inline bool text_get_scaled_decimal(struct text_cursor *text, u64 unit, u64 *value)
{
	u64 whole;

	if (!text_get_u64(text, &whole) || __builtin_mul_overflow(whole, unit, value))
		return false;
	if (text->at < text->end && *text->at == '.') {
		text->at++;
		return !__builtin_add_overflow(*value, text_get_decimals(text, unit), value);
	}
	return true;
}

static inline bool text_skip_if_equal(struct text_cursor *text, char wanted)
{
	if (text->at >= text->end || *text->at != wanted)
		return false;
	text->at++;
	return true;
}

static inline bool is_text_at_end(const struct text_cursor *text)
{
	return text->at == text->end;
}

/* Skip blanks and tabs, if there are any. */
static inline bool text_skip_blanks(struct text_cursor *text)
{
	while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
		text->at++;
	return true;
}

/* Skip blanks and tabs; at least one is required. */
static inline bool text_skip_required_blanks(struct text_cursor *text)
{
	const char *before = text->at;

	text_skip_blanks(text);
	return text->at > before;
}

/* Take the text up to @stop, which stays unread, or up to the end of the line. */
static inline struct text_cursor text_get_until(struct text_cursor *text, char stop)
{
	const char *found = memchr(text->at, stop, (size_t)(text->end - text->at));
	struct text_cursor word = { text->at, found ? found : text->end };

	text->at = word.end;
	return word;
}

/* Take the text up to the next blank. */
static inline struct text_cursor text_get_word(struct text_cursor *text)
{
	struct text_cursor word = { text->at, text->at };

	while (word.end < text->end && *word.end != ' ' && *word.end != '\t')
		word.end++;
	text->at = word.end;
	return word;
}

static inline bool is_text_equal(struct text_cursor word, const char *wanted)
{
	size_t length = strlen(wanted);

	return (size_t)(word.end - word.at) == length && !memcmp(word.at, wanted, length);
}

/* Return true if the text equals a word; ignore case. */
static inline bool is_text_equal_nocase(struct text_cursor word, const char *wanted)
{
	for (; *wanted && word.at < word.end; wanted++, word.at++)
		if ((*word.at | 0x20) != (*wanted | 0x20))
			return false;
	return !*wanted && word.at == word.end;
}

#endif
