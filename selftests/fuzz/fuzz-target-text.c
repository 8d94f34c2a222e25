// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table lines, messages and answers of the kernel target are decoded, or refused with a message.
 */
#include "block-answer.h"
#include "kernel-sentence.h"
#include "lib/fuzz.h"
#include "target-line.h"
#include "target-status.h"

static void check_refusal_message(int ret, const struct aftl_error *error)
{
	if (ret)
		check_refusal_has_message(error);
}

/* A table line that was decoded must print to a text that decodes to the same line. */
static void check_decoded_line(const char *text, struct aftl_error *error)
{
	struct target_line line, again;
	char printed[TARGET_LINE_SIZE], twice[TARGET_LINE_SIZE];
	int ret = target_line_parse(&line, text, error);

	check_refusal_message(ret, error);
	if (ret)
		return;
	target_line_print(&line, printed);
	fuzz_assert(!target_line_parse(&again, printed, error));
	target_line_print(&again, twice);
	fuzz_assert(!strcmp(printed, twice));
}

int fuzz_input(const u8 *data, size_t size)
{
	struct aftl_error error = { "" };
	struct target_status status;
	struct block_states survey = { 0 };
	struct target_stats stats;
	u32 next;
	char *text = malloc(size + 1);

	fuzz_assert(text);
	memcpy(text, data, size);
	text[size] = '\0';
	check_refusal_message(target_status_parse(&status, text, &error), &error);
	check_refusal_message(target_stats_parse(&stats, text, &error), &error);
	check_refusal_message(parse_block_list_reply(&survey, text, &next, &error), &error);
	fuzz_assert(survey.bad <= survey.blocks && survey.erases_min <= survey.erases_max);
	check_decoded_line(text, &error);
	kernel_log_get_target_message(text, &error);
	free(text);
	return 0;
}
