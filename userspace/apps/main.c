// SPDX-License-Identifier: GPL-2.0-only
/*
 * approxftl-app: the programs of the ApproxFTL paper, with their data in files, and annotated.
 */
#include <stdlib.h>

#include "checked-memory.h"
#include "app-run.h"

static int refuse(const struct aftl_error *error, enum exit_code code)
{
	fprintf(stderr, "approxftl-app: %s\n", error->text);
	return code;
}

/* As the command is called by others: approxftl app ... */
static void print_json(const struct app_run *run, FILE *out, int argc, char **argv)
{
	char **words = memory_zeroed(argc + 1, sizeof(*words));
	int i;

	words[0] = argv[0];
	words[1] = memory_text("app");
	for (i = 1; i < argc; i++)
		words[i + 1] = argv[i];
	run_print_json(run, out, argc + 1, words);
	free(words[1]);
	free(words);
}

static int write_json(const struct app_run *run, int argc, char **argv, struct aftl_error *error)
{
	FILE *out;
	bool bad;

	if (!strcmp(run->options->json, "-")) {
		print_json(run, stdout, argc, argv);
		return 0;
	}
	out = fopen(run->options->json, "we");
	if (!out)
		return aftl_fail(error, -errno, "%.150s: cannot write: %s", run->options->json,
				 strerror(errno));
	print_json(run, out, argc, argv);
	bad = ferror(out);
	if (fclose(out) || bad)
		return aftl_fail(error, -EIO, "%.150s: cannot write", run->options->json);
	return 0;
}

static enum exit_code report(const struct app_run *run, int argc, char **argv)
{
	struct aftl_error error;

	if (!run->options->json || strcmp(run->options->json, "-") != 0)
		run_print(run);
	if (run->options->json && write_json(run, argc, argv, &error))
		return refuse(&error, EXIT_FAILED);
	if (run_verified(run))
		return EXIT_DONE;
	aftl_fail(&error, 0, run->flips.damaged ?
		  "precise data are damaged: the device, or what is below it, is at fault" :
		  "the precise run has not given the right result: more --rounds, or a bug");
	return refuse(&error, EXIT_NOT_VERIFIED);
}

int main(int argc, char **argv)
{
	struct app_options options;
	struct aftl_error error;
	struct app_run run;
	int ret;

	if (app_options_parse(&options, argc, argv, &error))
		return refuse(&error, EXIT_USAGE);
	if (options.help) {
		app_options_help();
		return EXIT_DONE;
	}
	ret = run_app(&run, &options, &error);
	if (ret)
		return refuse(&error, ret == -ENOENT ? EXIT_NO_INPUT : EXIT_FAILED);
	return report(&run, argc, argv);
}
