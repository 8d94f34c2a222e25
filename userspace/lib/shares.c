// SPDX-License-Identifier: GPL-2.0-only
#include "core/policy/param-registry.h"
#include "shares.h"

#define DIGITS "0123456789"
#define FRACTION_DECIMALS 4
#define PERCENT_DECIMALS 2
/* Upper bound of a parsed number: larger than any share; times SHARE_WHOLE it fits 64 bits. */
#define HUGE_WHOLE 1000000000000ULL

/* Append @count decimal digits to @value: those of @text, padded with zeroes. */
static u64 append_zero_padded_digits(u64 value, const char *text, size_t length, size_t count)
{
	for (size_t i = 0; i < count; i++)
		value = value * 10 + (i < length ? (u64)(text[i] - '0') : 0);
	return value;
}

static u64 parse_whole_number(const char *text, size_t length)
{
	u64 value = 0;

	for (size_t i = 0; i < length && value < HUGE_WHOLE; i++)
		value = value * 10 + (u64)(text[i] - '0');
	return value;
}

bool parse_fraction_or_percentage(const char *text, struct share *share)
{
	size_t whole = strspn(text, DIGITS);
	const char *part = text + whole + (text[whole] == '.');
	size_t length = text[whole] == '.' ? strspn(part, DIGITS) : 0;
	const char *end = part + length;
	size_t decimals = *end ? PERCENT_DECIMALS : FRACTION_DECIMALS;

	if (!whole || (part > text + whole && !length))
		return false;
	if (*end && (*end != '%' || end[1]))
		return false;
	share->percent = *end == '%';
	share->finer = length > decimals &&
		       decimals + strspn(part + decimals, "0") < length;
	share->value =
		append_zero_padded_digits(parse_whole_number(text, whole), part, length, decimals);
	return true;
}

int check_percentage_is_unambiguous(const char *key, const char *value, struct aftl_error *error)
{
	int index = aftl_param_find(key);
	char fraction[AFTL_VALUE_SIZE];
	struct share share;

	if (index < 0 || aftl_param_at(index)->type != AFTL_PARAM_PERCENT ||
	    !parse_fraction_or_percentage(value, &share) || share.percent || !share.value ||
	    share.value > SHARE_WHOLE)
		return 0;
	format_fraction_or_percentage(share.value, true, fraction);
	return aftl_fail(error, -EINVAL, "%s: %.20s may mean %.20s%% or %s; write one of these",
			 key, value, value, fraction);
}

void format_fraction_or_percentage(u64 value, bool percent, char text[AFTL_VALUE_SIZE])
{
	size_t length;

	format_decimal_number(value, percent ? PERCENT_DECIMALS : FRACTION_DECIMALS, text);
	length = strlen(text);
	if (percent)
		scnprintf(text + length, AFTL_VALUE_SIZE - length, "%%");
}

void format_decimal_number(u64 value, unsigned int decimals, char text[AFTL_VALUE_SIZE])
{
	u64 scale = 1;
	int length;

	for (unsigned int i = 0; i < decimals; i++)
		scale *= 10;
	length = scnprintf(text, AFTL_VALUE_SIZE, "%llu.%0*llu",
			   (unsigned long long)(value / scale), (int)decimals,
			   (unsigned long long)(value % scale));
	while (text[length - 1] == '0')
		length--;
	text[length - (text[length - 1] == '.')] = '\0';
}
