// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "human-units.h"

static void format_scaled_number(char text[HUMAN_SIZE], u64 value, u64 unit, const char *name,
				 unsigned int digits)
{
	u64 whole = value / unit;
	unsigned int before = whole >= 1000 ? 4 : whole >= 100 ? 3 : whole >= 10 ? 2 : 1;
	unsigned int decimals = digits > before ? digits - before : 0;
	u64 scale = decimals == 3 ? 1000 : decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
	u64 rounded = scaled_ratio(value, unit, scale * 2);

	rounded = (rounded + 1) / 2;
	if (!value)
		scnprintf(text, HUMAN_SIZE, "0 %s", name);
	else if (decimals)
		scnprintf(text, HUMAN_SIZE, "%llu.%0*llu %s", (unsigned long long)(rounded / scale),
			  (int)decimals, (unsigned long long)(rounded % scale), name);
	else
		scnprintf(text, HUMAN_SIZE, "%llu %s", (unsigned long long)rounded, name);
}

void human_format_scaled_number(char text[HUMAN_SIZE], u64 value, u64 unit, const char *name)
{
	format_scaled_number(text, value, unit, name, 4);
}

static void format_time_digits(char text[HUMAN_SIZE], u64 ns, unsigned int digits)
{
	if (ns < 1000000)
		format_scaled_number(text, ns, 1000, "us", digits);
	else if (ns < 1000000000)
		format_scaled_number(text, ns, 1000000, "ms", digits);
	else
		format_scaled_number(text, ns, 1000000000, "s ", digits);
}

void human_format_time(char text[HUMAN_SIZE], u64 ns)
{
	format_time_digits(text, ns, 4);
}

void human_format_histogram_bin_time(char text[HUMAN_SIZE], u64 ns)
{
	format_time_digits(text, ns, 3);
}

void human_format_time_without_padding(char text[HUMAN_SIZE], u64 ns)
{
	size_t last;

	human_format_time(text, ns);
	last = strlen(text) - 1;
	if (text[last] == ' ')
		text[last] = '\0';
}

void human_format_bytes(char text[HUMAN_SIZE], u64 bytes)
{
	if (bytes < 1 << 30)
		human_format_scaled_number(text, bytes, 1 << 20, "MiB");
	else
		human_format_scaled_number(text, bytes, 1 << 30, "GiB");
}

void format_fixed_point(char text[HUMAN_SIZE], u64 value, unsigned int decimals, const char *end)
{
	u64 scale = 1;

	for (unsigned int i = 0; i < decimals; i++)
		scale *= 10;
	scnprintf(text, HUMAN_SIZE, "%llu.%0*llu%s", (unsigned long long)(value / scale),
		  (int)decimals, (unsigned long long)(value % scale), end);
}
