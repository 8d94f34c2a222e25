// SPDX-License-Identifier: GPL-2.0-only
/*
 * approxftl: one command, several verbs.
 */
#include "complain.h"
#include "other-program.h"
#include "sim.h"
#include "standard-streams.h"
#include "verbs.h"
#include "version.h"

static enum exit_code help_main(int argc, char **argv);
static enum exit_code version_main(int argc, char **argv);

struct verb {
	const char *name;
	const char *about;
	enum exit_code (*main)(int argc, char **argv);
};

static const struct verb verbs[] = {
	{ "sim", "run a stream of requests on an emulated SSD", sim_main },
	{ "params", "list the parameters of a device", params_main },
	{ "profiles", "list the devices to start from", profiles_main },
	{ "policies", "list the flash translation policies", policies_main },
	{ "create", "make an emulated SSD in the running kernel", create_main },
	{ "list", "list the emulated SSDs of the running kernel", list_main },
	{ "status", "print the status of one of them", status_main },
	{ "stat", "print its counters, or rates at intervals", stat_main },
	{ "top", "show what devices do, as it happens", top_main },
	{ "health", "print its wear, its errors and a verdict", health_main },
	{ "message", "tell it something", message_main },
	{ "remove", "remove it", remove_main },
	{ "format", "make a volume, on which a device lasts", format_main },
	{ "check", "find out whether a volume is sound", check_main },
	{ "dump", "print what is in a volume", dump_main },
	{ "tag", "say which data may lose bits, and look at them", tag_main },
	{ "trace", "capture, convert and pair block traces", other_program_main },
	{ "synth", "make a synthetic stream of requests", other_program_main },
	{ "app", "run an application that tags its data", other_program_main },
	{ "replay", "replay a stream of requests on a device", other_program_main },
	{ "unkind", "try a disk by requests that nobody chose, and judge each block",
	  other_program_main },
	{ "study", "simulate what varies, as often as it takes, and draw figures of it",
	  other_program_main },
	{ "drives", "hold the emulation of real drives against measurements of them",
	  other_program_main },
	{ "calibrate", "find the parameters of a drive in what fio has measured of it",
	  other_program_main },
	{ "compare", "print results side by side", other_program_main },
	{ "report", "make a report of results, one HTML file", other_program_main },
	{ "figures", "draw figures of results", other_program_main },
	{ "demo", "emulated SSDs at work in a virtual machine, two policies side by side",
	  other_program_main },
	{ "lab", "run a command in a virtual machine with emulated SSDs", other_program_main },
	{ "doctor", "find out what is missing on this machine", doctor_main },
	{ "help", "print this, or the help of a verb", help_main },
	{ "version", "print the version", version_main },
};

static const struct verb *find_verb(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static void print_help(FILE *out)
{
	unsigned int i;

	fputs("approxftl - an emulated 3D-NAND SSD with approximate storage\n"
	      "\n"
	      "Usage: approxftl VERB [OPTION ...]\n"
	      "\n", out);
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].about);
	fputs("\n"
	      "\"approxftl VERB --help\" explains a verb.\n", out);
}

static enum exit_code complain_verb(const char *wrong)
{
	const char *names[ARRAY_SIZE(verbs) + 1] = { NULL };
	const char *meant;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		names[i] = verbs[i].name;
	meant = closest_word(wrong, names);
	if (meant)
		complain("unknown verb \"%s\"; did you mean %s?", wrong, meant);
	else
		complain("unknown verb \"%s\"; \"approxftl help\" lists them", wrong);
	return EXIT_USAGE;
}

static const char *without_dashes(const char *name)
{
	if (!strcmp(name, "-h") || !strcmp(name, "--help"))
		return "help";
	if (!strcmp(name, "-V") || !strcmp(name, "--version"))
		return "version";
	return name;
}

static enum exit_code help_main(int argc, char **argv)
{
	char option[] = "--help";
	const struct verb *verb;

	verb = find_verb(argc < 3 ? "help" : without_dashes(argv[2]));
	if (verb == find_verb("help")) {
		print_help(stdout);
		return EXIT_DONE;
	}
	if (!verb)
		return complain_verb(argv[2]);
	return verb->main(3, (char *[]){ argv[0], (char *)verb->name, option, NULL });
}

static enum exit_code version_main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[2], "--help")) {
		puts("Usage: approxftl version");
		return EXIT_DONE;
	}
	if (argc > 2) {
		complain("version takes no argument");
		return EXIT_USAGE;
	}
	printf("approxftl %s\n", approxftl_version());
	return EXIT_DONE;
}

/* Whoever puts an approxftl-VERB into PATH has a verb. */
static enum exit_code run_plugin(char **argv)
{
	enum exit_code code = run_other_program(argv);

	return code == EXIT_NO_INPUT ? complain_verb(argv[1]) : code;
}

int main(int argc, char **argv)
{
	const struct verb *verb;
	char name[40];

	standard_streams_begin();
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	verb = find_verb(without_dashes(argv[1]));
	if (!verb)
		return run_plugin(argv);
	scnprintf(name, sizeof(name), "approxftl %s", verb->name);
	return standard_streams_end(name, verb->main(argc, argv));
}
