// SPDX-License-Identifier: GPL-2.0-only
/*
 * approxftl-app: the programs of the ApproxFTL paper with their data in annotated files.
 */
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "app-run.h"
#include "interruption.h"
#include "output-file.h"
#include "sibling-program.h"
#include "standard-streams.h"

static int report_app_error(const struct aftl_error *error, enum exit_code code)
{
	fprintf(stderr, "approxftl app: %s\n", error->text);
	return code;
}

static enum exit_code report_app_run(const struct app_run *run, struct output_file *json, int argc,
				     char **argv)
{
	struct aftl_error error;

	if (json->stream)
		app_run_print_json(run, json->stream, argc, argv);
	if (json->stream && output_file_close(json, &error))
		return report_app_error(&error, EXIT_FAILED);
	if (!run->options->json || strcmp(run->options->json, "-") != 0)
		app_run_print(run);
	if (did_app_run_pass_checks(run))
		return EXIT_DONE;
	aftl_fail(&error, 0, run->flips.damaged ?
		  "precise data are damaged: the device, or what is below it, is at fault" :
		  "the precise run has not given the right result: more --rounds, or a bug");
	return report_app_error(&error, EXIT_NOT_VERIFIED);
}

/* Open the file of --json first, so that a wrong name fails before the run. */
static enum exit_code run_app_and_report(const struct app_options *options, int argc, char **argv)
{
	struct output_file json = { .path = options->json };
	struct aftl_error error;
	struct app_run run;
	int ret;

	if (options->json && output_file_open(&json, options->json, "--json", true, &error))
		return report_app_error(&error, EXIT_FAILED);
	ret = run_app(&run, options, &error);
	if (!ret)
		return report_app_run(&run, &json, argc, argv);
	output_file_abandon(&json);
	return report_app_error(&error, get_exit_code_of_input_error(ret));
}

/* Return true if a program is written in Python; it parses its own command line. */
static bool is_python_app(const char *name)
{
	return !strcmp(name, "weights") || !strcmp(name, "embeddings");
}

/* Replace this process by a program written in Python; return only on failure. */
static enum exit_code exec_python_app(char **argv)
{
	struct aftl_error error;
	char path[2 * PATH_MAX];
	char name[32];

	snprintf(name, sizeof(name), "approxftl-%.20s", argv[1]);
	find_sibling_program(name, path, sizeof(path));
	execvp(path, argv + 1);
	aftl_fail(&error, -errno, "cannot run %s: %s", name, strerror(errno));
	return report_app_error(&error, errno == ENOENT ? EXIT_NO_INPUT : EXIT_FAILED);
}

int main(int argc, char **argv)
{
	struct app_options options;
	struct aftl_error error;

	standard_streams_set_up();
	interruption_exit_with_message("approxftl app: interrupted\n");
	if (argc > 1 && is_python_app(argv[1]))
		return exec_python_app(argv);
	if (app_options_parse(&options, argc, argv, &error))
		return report_app_error(&error, EXIT_USAGE);
	if (!options.help)
		return standard_streams_end("approxftl app",
					    run_app_and_report(&options, argc, argv));
	app_options_print_help();
	return standard_streams_end("approxftl app", EXIT_DONE);
}
