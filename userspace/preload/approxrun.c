// SPDX-License-Identifier: GPL-2.0-only
/*
 * approxrun: runs an unmodified program with approximate storage for the files that rules name.
 */
#define _GNU_SOURCE
#include <approxftl.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command-line.h"
#include "complain.h"
#include "rules.h"
#include "standard-streams.h"
#include "version.h"

#define PRELOAD "libapproxftl-preload.so"

/* Exit status if the program cannot be executed, as in shells. */
#define EXIT_CANNOT_RUN 126
#define EXIT_NO_PROGRAM 127

/**
 * struct options - values of the options
 * @rules: file of rules, as typed
 * @check: only check the rules
 * @require: fail if there is no device
 * @quiet: do not report refused tags
 * @verbose: report the class of each file
 * @help: print the help
 * @version: print the version
 */
struct options {
	const char *rules;
	bool check;
	bool require;
	bool quiet;
	bool verbose;
	bool help;
	bool version;
};

#define OPTION(letter, name, kind, field, value, help) \
	{ name, letter, COMMAND_##kind, offsetof(struct options, field), value, help, 0, 0, 0 }

static const struct command_option options_table[] = {
	OPTION('r', "rules", TEXT, rules, "FILE",
	       "lines of PATTERN [precise[=BYTES]] [process=NAME] [remember]"),
	OPTION('c', "check", SWITCH, check, NULL, "read the rules, and run nothing"),
	OPTION('R', "require", SWITCH, require, NULL,
	       "do not run without a device of dm-approxftl"),
	OPTION('q', "quiet", SWITCH, quiet, NULL, "do not say what was refused"),
	OPTION('v', "verbose", SWITCH, verbose, NULL, "say what each file was taken for"),
	OPTION('h', "help", SWITCH, help, NULL, "print this"),
	OPTION('V', "version", SWITCH, version, NULL, "print the version"),
};

/* Stop at the program's name: later options belong to the program. */
static const struct command_line command = {
	.name = "approxrun",
	.options = options_table,
	.count = ARRAY_SIZE(options_table),
	.column = 18,
	.ends = true,
};

static void print_approxrun_help(void)
{
	puts("Usage: approxrun -r RULES [OPTION ...] -- PROGRAM [ARGUMENT ...]\n"
	     "\n"
	     "Runs a program; of the files that it opens for writing those are approximate that the\n"
	     "rules name. Works with dynamically linked programs; see approxrun(1).\n");
	command_line_print_help(&command);
}

#define complain(...) complain_as("approxrun", __VA_ARGS__)

static enum exit_code parse_approxrun_options(struct options *options, int argc, char **argv)
{
	struct aftl_error error;

	if (command_line_parse(&command, options, argc, argv, &error)) {
		complain("%s", error.text);
		return EXIT_USAGE;
	}
	if (options->help) {
		print_approxrun_help();
		exit(standard_streams_end("approxrun", EXIT_DONE));
	}
	if (options->version) {
		printf("approxrun %s\n", approxftl_version());
		exit(standard_streams_end("approxrun", EXIT_DONE));
	}
	if (options->rules && (options->check || optind < argc))
		return EXIT_DONE;
	complain("%s missing; \"approxrun --help\" explains it",
		 options->rules ? "PROGRAM" : "-r RULES");
	return EXIT_USAGE;
}

/* Find the preload library: beside this program, or if installed in ../lib/approxftl. */
static bool find_preload_library(char *path, size_t size)
{
	static const char *const folders[] = { "", "../lib/approxftl/" };
	char own[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (length <= 0)
		return false;
	own[length] = '\0';
	*strrchr(own, '/') = '\0';
	for (unsigned int i = 0; i < ARRAY_SIZE(folders); i++)
		if (snprintf(path, size, "%s/%s" PRELOAD, own, folders[i]) < (int)size &&
		    !access(path, R_OK))
			return true;
	return false;
}

/* Put the library in front of the libraries already in LD_PRELOAD. */
static int set_preload_variable(void)
{
	const char *others = getenv("LD_PRELOAD");
	char path[PATH_MAX + sizeof(PRELOAD)];
	char *all;
	int ret;

	if (!find_preload_library(path, sizeof(path))) {
		complain("%s is neither beside approxrun nor in ../lib/approxftl", PRELOAD);
		return -ENOENT;
	}
	if (asprintf(&all, "%s%s%s", path, others ? ":" : "", others ? others : "") < 0)
		return -ENOMEM;
	ret = setenv("LD_PRELOAD", all, 1);
	free(all);
	return ret;
}

/* Pass an absolute path, because the program may change its directory. */
static int set_rules_variable(const struct options *options)
{
	char *path = realpath(options->rules, NULL);
	int ret;

	if (!path) {
		complain("%s: %s", options->rules, strerror(errno));
		return -errno;
	}
	ret = setenv(APPROXRUN_RULES, path, 1);
	free(path);
	if (!ret && (options->quiet || options->verbose))
		ret = setenv(APPROXRUN_TALK, options->quiet ? "quiet" : "verbose", 1);
	return ret;
}

static enum exit_code check_preload_rules(const struct options *options)
{
	char complaint[RULE_COMPLAINT];
	struct rules rules;
	int ret = rules_read(&rules, options->rules, complaint);

	rules_free(&rules);
	if (!ret)
		return EXIT_DONE;
	complain("%s", complaint);
	return ret == -EINVAL ? EXIT_USAGE : EXIT_NO_INPUT;
}

static enum exit_code check_any_device_exists(void)
{
	struct approxftl *library;

	if (approxftl_open(NULL, APPROXFTL_REQUIRE, &library)) {
		complain("%s", approxftl_reason(NULL));
		return EXIT_NO_INPUT;
	}
	approxftl_close(library);
	return EXIT_DONE;
}

static int exec_preloaded_program(char **argv)
{
	execvp(argv[0], argv);
	complain("%s: cannot run: %s", argv[0], strerror(errno));
	return errno == ENOENT ? EXIT_NO_PROGRAM : EXIT_CANNOT_RUN;
}

int main(int argc, char **argv)
{
	struct options options = { .rules = NULL };
	enum exit_code code = parse_approxrun_options(&options, argc, argv);

	if (!code)
		code = check_preload_rules(&options);
	if (!code && options.require)
		code = check_any_device_exists();
	if (code || options.check)
		return code;
	if (set_preload_variable() || set_rules_variable(&options))
		return EXIT_FAILED;
	return exec_preloaded_program(argv + optind);
}
