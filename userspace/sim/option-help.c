// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "command-line.h"
#include "option-rows.h"
#include "sim-options.h"

#define HELP_COLUMN 32
#define HELP_WIDTH 100

/* Print @text with line breaks between words; its first line begins in column @used. */
static void print_wrapped_text(const char *text, int used)
{
	while (*text) {
		size_t length = strcspn(text, " ");

		if (used + 1 + (int)length > HELP_WIDTH) {
			printf("\n%*s", HELP_COLUMN, "");
			used = HELP_COLUMN;
		}
		printf(" %.*s", (int)length, text);
		used += 1 + (int)length;
		text += length + (text[length] == ' ');
	}
	putchar('\n');
}

static void print_sim_option_help(const struct option_row *row)
{
	bool within = row->kind == KIND_FILE;
	char letter = option_get_short_letter(row);
	char name[OPTION_NAME], left[64], right[240];
	int used;

	scnprintf(left, sizeof(left), "  %c%c%c --%s%s%s%s", letter ? '-' : ' ',
		  letter ? letter : ' ', letter ? ',' : ' ',
		  option_get_dashed_name(row->name, name),
		  within ? "[=" : row->value ? " " : "", row->value ? row->value : "",
		  within ? "]" : "");
	used = printf("%-*s", HELP_COLUMN, left);
	scnprintf(right, sizeof(right), "%s%s%s%s", row->help, row->standard ? " (default " : "",
		  row->standard ? row->standard : "", row->standard ? ")" : "");
	print_wrapped_text(right, used);
}

void sim_options_print_json(void)
{
	struct json_writer json;
	char name[OPTION_NAME];

	command_help_json_begin(&json, "sim");
	for (unsigned int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];

		if (row->name)
			command_help_json_add_option(&json, option_get_dashed_name(row->name, name),
						     option_get_short_letter(row), row->value,
						     row->kind == KIND_FILE, row->help);
	}
	command_help_json_end(&json);
}

void sim_options_print_help(void)
{
	puts("approxftl sim - run a stream of requests on an emulated SSD, in virtual time\n"
	     "\n"
	     "Usage: approxftl sim [OPTION ...]\n"
	     "\n"
	     "The same arguments always give the same output, byte for byte. Options are written\n"
	     "as \"--name value\" or \"--name=value\". Sizes are like 16KiB, times like 700us.\n"
	     "Shares are fractions like 0.5 or percentages like 50%.");
	for (unsigned int i = 0; i < option_row_count; i++) {
		if (option_rows[i].name)
			print_sim_option_help(&option_rows[i]);
		else
			printf("\n%s\n", option_rows[i].help);
	}
	puts("\n"
	     "Every parameter of the device is an option, too: --op 7 --fill random --seed 3.\n"
	     "\"approxftl params\" explains them. The parameters \"depth\" and \"hot_size\" share their\n"
	     "names with options: they are set by --set depth=N and --set hot_size=BYTES.\n"
	     "\n"
	     "Exit status: 0 done, 1 failed, 2 usage, 3 no such file, 4 --verify found an error,\n"
	     "130 interrupted (what there was is printed).\n"
	     "\n"
	     "Example: ApproxFTL against a device that does not know approximate data\n"
	     "  approxftl sim --policy baseline,approxftl --approx-share 0.5 --write-share 100%");
}
