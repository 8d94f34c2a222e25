// SPDX-License-Identifier: GPL-2.0-only
#include "trace-copy.h"

static const char usage[] =
	"Usage: approxftl trace convert [OPTION ...] IN ... OUT\n"
	"\n"
	"Reads a trace in any format that \"approxftl trace formats\" lists, and writes it in another.\n"
	"Several files become one stream in the order of time.\n";

enum exit_code trace_convert_main(int argc, char **argv)
{
	struct trace_run run;
	enum exit_code code = trace_run_begin(&run, VERB_CONVERT, usage, 1, argc, argv);

	if (!code && !run.options.help)
		code = trace_copy(&run, NULL, NULL);
	return trace_run_end(&run, code);
}
