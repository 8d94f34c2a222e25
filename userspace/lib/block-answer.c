// SPDX-License-Identifier: GPL-2.0-only
#include "block-answer.h"

/* Upper bound of the length of a line of the target's answer. */
#define LINE_SIZE 160

/* Parse a line of the answer: "number state kind erases wear valid reads" or "next number". */
static bool parse_block_list_line(struct block_states *survey, const char *line, u32 *next)
{
	unsigned int number, erases, wear;
	char state[16];

	if (sscanf(line, "next %9u", next) == 1)
		return true;
	if (sscanf(line, "%9u %15s %*s %9u %9u", &number, state, &erases, &wear) != 4)
		return false;
	if (strcmp(state, "bad") != 0) {
		bool first = !block_states_count_good_blocks(survey);

		survey->erases_min = first ? erases : min(survey->erases_min, (u64)erases);
		survey->erases_max = max(survey->erases_max, (u64)erases);
		survey->erases_sum += erases;
		survey->wear_sum += wear;
		survey->blocks++;
	} else {
		survey->blocks++;
		survey->bad++;
	}
	return true;
}

int parse_block_list_reply(struct block_states *survey, const char *text, u32 *next,
			   struct aftl_error *error)
{
	char line[LINE_SIZE];

	*next = 0;
	while (*text) {
		size_t length = strcspn(text, "\n");

		scnprintf(line, sizeof(line), "%.*s", (int)min(length, sizeof(line) - 1), text);
		if (!parse_block_list_line(survey, line, next))
			return aftl_fail(error, -EINVAL,
					 "\"%.60s\" in the answer to \"blocks\" is no block; the module is not of this program's version",
					 line);
		text += length + (text[length] == '\n');
	}
	return 0;
}

void parse_lost_units_reply(struct lost_runs *runs, const char *text)
{
	u32 *count = &runs->count;

	for (*count = 0; *count < LOST_RUNS_LISTED &&
	     sscanf(text, "%19llu %19llu", &runs->first[*count], &runs->units[*count]) == 2;
	     text += text[0] == '\n') {
		++*count;
		text += strcspn(text, "\n");
	}
}
