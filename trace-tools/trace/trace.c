// SPDX-License-Identifier: GPL-2.0-only
/*
 * approxftl-trace: reads, converts, pairs and tags traces of block devices.
 */
#include <stdio.h>
#include <string.h>

#include "complain.h"
#include "standard-streams.h"
#include "trace-record.h"
#include "trace-run.h"

/* "record" parses its own command line, which ends with the command line of the traced program. */
static const struct trace_verb trace_record = {
	.name = "record",
	.help = "run a program while its device is traced",
};

static const struct trace_verb *const verbs[] = {
	&trace_record, &trace_info, &trace_convert, &trace_pair, &trace_tag, &trace_fix,
	&trace_formats_list,
};

static const struct trace_verb *find_trace_verb(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	return NULL;
}

static void print_trace_help(FILE *out)
{
	fputs("Usage: approxftl trace VERB [OPTION ...] FILE ...\n\n", out);
	for (unsigned int i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(out, "  %-8s  %s\n", verbs[i]->name, verbs[i]->help);
	fputs("\n\"approxftl trace VERB --help\" explains one.\n", out);
}

static enum exit_code report_unknown_trace_verb(const char *name)
{
	const char *names[ARRAY_SIZE(verbs) + 1] = { NULL };
	const char *meant;

	for (unsigned int i = 0; i < ARRAY_SIZE(verbs); i++)
		names[i] = verbs[i]->name;
	meant = find_closest_word(name, names);
	if (meant)
		complain_as("trace", "there is no verb \"%s\"; did you mean %s?", name, meant);
	else
		complain_as("trace",
			    "there is no verb \"%s\"; \"approxftl trace --help\" lists them", name);
	return EXIT_USAGE;
}

static enum exit_code run_trace_verb(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct trace_verb *verb;

	if (!name) {
		print_trace_help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(name, "-h") || !strcmp(name, "--help") || !strcmp(name, "help")) {
		print_trace_help(stdout);
		return EXIT_DONE;
	}
	verb = find_trace_verb(name);
	if (!verb)
		return report_unknown_trace_verb(name);
	return verb == &trace_record ? trace_record_main(argc - 1, argv + 1) :
				       trace_run_verb(verb, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	standard_streams_set_up();
	return standard_streams_end("approxftl trace", run_trace_verb(argc, argv));
}
