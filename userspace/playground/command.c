// SPDX-License-Identifier: GPL-2.0-only
/* The verb "sim" of approxftl as a WASI command. */
#include "complain.h"
#include "sim.h"

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "sim"))
		return sim_main(argc, argv);
	complain("the playground supports only approxftl sim");
	return EXIT_USAGE;
}
