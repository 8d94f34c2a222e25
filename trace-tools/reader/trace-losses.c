// SPDX-License-Identifier: GPL-2.0-only
#include "complain.h"
#include "trace-losses.h"

int trace_losses_print(struct trace_losses *losses, const char *file, const char *place, u64 at,
		       struct aftl_error *error, const char *format, ...)
{
	char text[120];
	va_list args;

	va_start(args, format);
	vscnprintf(text, sizeof(text), format, args);
	va_end(args);
	losses->told++;
	if (losses->strict)
		return aftl_fail(error, -EINVAL, "%.90s: %s %llu: %s", file, place,
				 (unsigned long long)at, text);
	if (losses->list)
		fprintf(losses->list, "%s: %s %llu: %s\n", file, place, (unsigned long long)at,
			text);
	else if (!losses->silent && losses->told <= TRACE_LOSSES_SHOWN)
		complain_as("trace", "%s: %s %llu: %s", file, place, (unsigned long long)at, text);
	return 0;
}
