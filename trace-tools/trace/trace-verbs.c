// SPDX-License-Identifier: GPL-2.0-only
#include "complain.h"
#include "trace-verbs.h"

enum exit_code trace_complain(int ret, const struct aftl_error *error)
{
	if (ret == -EINTR)
		return EXIT_INTERRUPTED;
	complain_of("trace", "%s", error->text);
	return exit_code_of_input(ret);
}

enum exit_code trace_complain_usage(const struct aftl_error *error)
{
	complain_of("trace", "%s", error->text);
	return EXIT_USAGE;
}
