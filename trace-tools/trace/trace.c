// SPDX-License-Identifier: GPL-2.0-only
/*
 * approxftl-trace: reads, converts, pairs and tags traces of block devices.
 */
#include <stdio.h>
#include <string.h>

#include "complain.h"
#include "standard-streams.h"
#include "trace-record.h"
#include "trace-verbs.h"
#include "version.h"

/**
 * struct trace_verb - a subcommand
 * @name: name on the command line
 * @help: one phrase for the help
 * @main: the function; argv[0] is the name of the subcommand
 */
struct trace_verb {
	const char *name;
	const char *help;
	enum exit_code (*main)(int argc, char **argv);
};

static const struct trace_verb verbs[] = {
	{ "record", "run a program while its device is traced", trace_record_main },
	{ "info", "what a trace is: format, units, span, mix", trace_info_main },
	{ "convert", "from any format to another", trace_convert_main },
	{ "pair", "latencies, queue depth, processes, tags of a trace", trace_pair_main },
	{ "tag", "say by rules which writes may lose bits", trace_tag_main },
	{ "fix", "make a capture readable by blkparse 1.2.0", trace_fix_main },
	{ "formats", "the formats that are read and written", trace_formats_main },
};

static const struct trace_verb *find_verb(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static void put_help(FILE *out)
{
	unsigned int i;

	fputs("Usage: approxftl trace VERB [OPTION ...] FILE ...\n\n", out);
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(out, "  %-8s  %s\n", verbs[i].name, verbs[i].help);
	fputs("\n\"approxftl trace VERB --help\" explains one.\n", out);
}

static enum exit_code complain_verb(const char *name)
{
	const char *names[ARRAY_SIZE(verbs) + 1] = { NULL };
	const char *meant;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		names[i] = verbs[i].name;
	meant = closest_word(name, names);
	if (meant)
		complain_of("trace", "there is no verb \"%s\"; did you mean %s?", name, meant);
	else
		complain_of("trace",
			    "there is no verb \"%s\"; \"approxftl trace --help\" lists them", name);
	return EXIT_USAGE;
}

static enum exit_code run(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct trace_verb *verb;

	if (!name) {
		put_help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(name, "-h") || !strcmp(name, "--help") || !strcmp(name, "help")) {
		put_help(stdout);
		return EXIT_DONE;
	}
	if (!strcmp(name, "-V") || !strcmp(name, "--version")) {
		printf("approxftl trace %s\n", approxftl_version());
		return EXIT_DONE;
	}
	verb = find_verb(name);
	return verb ? verb->main(argc - 1, argv + 1) : complain_verb(name);
}

int main(int argc, char **argv)
{
	standard_streams_begin();
	return standard_streams_end("approxftl trace", run(argc, argv));
}
