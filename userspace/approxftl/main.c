// SPDX-License-Identifier: GPL-2.0-only
/* approxftl: dispatch to the verbs. */
#include "complain.h"
#include "other-program.h"
#include "sim.h"
#include "standard-streams.h"
#include "verbs.h"
#include "version.h"

static enum exit_code help_main(int argc, char **argv);
static enum exit_code version_main(int argc, char **argv);

/**
 * struct verb - a verb, or the heading of a group if it has no name
 * @name: as typed
 * @about: one phrase for the help
 * @device_verb: its options and its function, if device-options.c parses its command line
 * @main: runs it otherwise; receives the arguments of the whole command
 *
 * A verb without both is a program of its own.
 */
struct verb {
	const char *name;
	const char *about;
	const struct device_verb *device_verb;
	enum exit_code (*main)(int argc, char **argv);
};

#define DEVICE_VERB(_name, phrase) \
	{ .name = #_name, .about = phrase, .device_verb = &verb_##_name }
#define VERB(_name, phrase, function) { .name = #_name, .about = phrase, .main = function }
#define PROGRAM(_name, phrase) { .name = #_name, .about = phrase }

static const struct verb verbs[] = {
	{ .about = "Simulate" },
	VERB(sim, "run a stream of requests on an emulated SSD", sim_main),
	DEVICE_VERB(params, "list the parameters of a device"),
	DEVICE_VERB(profiles, "list the devices to start from"),
	DEVICE_VERB(policies, "list the flash translation policies"),
	PROGRAM(synth, "make a synthetic stream of requests"),
	PROGRAM(study, "simulate every combination of parameters, and draw figures"),
	{ .about = "Run a device in the kernel" },
	DEVICE_VERB(create, "create an emulated SSD"),
	DEVICE_VERB(list, "list the emulated SSDs"),
	DEVICE_VERB(status, "print the status of a device"),
	DEVICE_VERB(stat, "print counters of a device, or rates at intervals"),
	DEVICE_VERB(top, "show continuously what devices do"),
	DEVICE_VERB(health, "print wear and errors of a device, and a verdict"),
	DEVICE_VERB(message, "send a message to a device"),
	DEVICE_VERB(fault, "let a device fail on purpose, now or later"),
	DEVICE_VERB(remove, "remove a device"),
	DEVICE_VERB(format, "make a volume for a durable device"),
	DEVICE_VERB(check, "check the consistency of a volume"),
	DEVICE_VERB(dump, "print the contents of a volume"),
	DEVICE_VERB(serve, "serve an emulated SSD as a network block device, without the kernel"),
	PROGRAM(nvme, "export a device in the kernel as an NVMe drive"),
	PROGRAM(torture, "write random requests to a disk, and verify each block"),
	{ .about = "Tag approximate data" },
	VERB(tag, "declare which data may lose bits, and query them", tag_main),
	PROGRAM(app, "run an application that tags its data"),
	{ .about = "Trace and replay" },
	PROGRAM(trace, "capture, convert and pair block traces"),
	PROGRAM(replay, "replay a stream of requests on a device"),
	{ .about = "Analyse" },
	PROGRAM(compare, "print results side by side"),
	PROGRAM(report, "make a report of results, one HTML file"),
	PROGRAM(figures, "draw figures of results"),
	PROGRAM(drives, "compare the emulation of real drives with measurements of them"),
	PROGRAM(worn, "show what file systems and databases do on a failing drive"),
	PROGRAM(calibrate, "fit the parameters of a drive to measurements by fio"),
	{ .about = "Start and help" },
	PROGRAM(demo, "run emulated SSDs in a virtual machine, two policies side by side"),
	PROGRAM(lab, "run a command in a virtual machine with emulated SSDs"),
	DEVICE_VERB(doctor, "find out what is missing on this machine"),
	VERB(help, "print this, or the help of a verb", help_main),
	VERB(version, "print the version", version_main),
};

static const struct verb *find_main_verb(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(verbs); i++)
		if (verbs[i].name && !strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static void print_approxftl_help(FILE *out)
{
	fputs("approxftl - an emulated 3D-NAND SSD with approximate storage\n"
	      "\n"
	      "Usage: approxftl VERB [OPTION ...]\n", out);
	for (unsigned int i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (verbs[i].name)
			fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].about);
		else
			fprintf(out, "\n%s:\n", verbs[i].about);
	}
	fputs("\n"
	      "\"approxftl VERB --help\" explains a verb.\n", out);
}

static enum exit_code report_unknown_verb(const char *wrong)
{
	const char *names[ARRAY_SIZE(verbs) + 1] = { NULL };
	const char *meant;
	unsigned int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (verbs[i].name)
			names[n++] = verbs[i].name;
	meant = find_closest_word(wrong, names);
	if (meant)
		complain("unknown verb \"%s\"; did you mean %s?", wrong, meant);
	else
		complain("unknown verb \"%s\"; \"approxftl help\" lists them", wrong);
	return EXIT_USAGE;
}

static enum exit_code run_main_verb(const struct verb *verb, int argc, char **argv)
{
	if (verb->device_verb)
		return device_verb_main(verb->device_verb, argc, argv);
	return (verb->main ? verb->main : other_program_main)(argc, argv);
}

static const char *skip_leading_dashes(const char *name)
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
	const struct verb *verb = find_main_verb(argc < 3 ? "help" : skip_leading_dashes(argv[2]));

	if (verb == find_main_verb("help")) {
		print_approxftl_help(stdout);
		return EXIT_DONE;
	}
	if (!verb)
		return report_unknown_verb(argv[2]);
	return run_main_verb(verb, 3, (char *[]){ argv[0], (char *)verb->name, option, NULL });
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

/* A program approxftl-VERB in PATH adds a verb. */
static enum exit_code run_program_from_path(char **argv)
{
	enum exit_code code = run_other_program(argv);

	return code == EXIT_NO_INPUT ? report_unknown_verb(argv[1]) : code;
}

int main(int argc, char **argv)
{
	const struct verb *verb;
	char name[40];

	standard_streams_set_up();
	if (argc < 2) {
		print_approxftl_help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "unkind")) {
		complain("the verb unkind is now called torture; the old name will be removed");
		argv[1] = "torture";
	}
	verb = find_main_verb(skip_leading_dashes(argv[1]));
	if (!verb)
		return run_program_from_path(argv);
	/* --version after a verb prints the common version of all programs. */
	if (argc == 3 && !strcmp(argv[2], "--version"))
		return version_main(2, argv);
	scnprintf(name, sizeof(name), "approxftl %s", verb->name);
	return standard_streams_end(name, run_main_verb(verb, argc, argv));
}
