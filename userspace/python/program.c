// SPDX-License-Identifier: GPL-2.0-only
/* Program of the Python package, built by setup.py: studies run their points in this process. */
#include "complain.h"
#include "sim.h"
#include "standard-streams.h"
#include "version.h"

int main(int argc, char **argv)
{
	standard_streams_set_up();
	if (argc == 2 && !strcmp(argv[1], "version")) {
		printf("approxftl %s\n", approxftl_version());
		return EXIT_DONE;
	}
	if (argc < 2 || strcmp(argv[1], "sim") != 0) {
		complain("a Python package has only the verb sim; \"make install\" installs %s",
			 argc < 2 ? "all" : argv[1]);
		return EXIT_USAGE;
	}
	return standard_streams_end("approxftl sim", sim_main(argc, argv));
}
