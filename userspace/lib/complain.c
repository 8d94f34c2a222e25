// SPDX-License-Identifier: GPL-2.0-only
#include "complain.h"

static __thread void (*message_taker)(void *context, const char *text);
static __thread void *message_context;

void redirect_messages_to_function(void (*take)(void *context, const char *text), void *context)
{
	message_taker = take;
	message_context = context;
}

static void print_or_redirect_message(const char *before, const char *verb, const char *text)
{
	if (message_taker)
		message_taker(message_context, text);
	else
		fprintf(stderr, "%s%s: %s\n", before, verb, text);
}

void complain(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vscnprintf(text, sizeof(text), format, args);
	va_end(args);
	print_or_redirect_message("", "approxftl", text);
}

const char *get_message_prefix_of_command(const char *verb)
{
	return strncmp(verb, "approx", 6) ? "approxftl " : "";
}

void complain_as(const char *verb, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vscnprintf(text, sizeof(text), format, args);
	va_end(args);
	print_or_redirect_message(get_message_prefix_of_command(verb), verb, text);
}

int report_command_failure(const char *verb, const struct aftl_error *error, int code)
{
	complain_as(verb, "%s", error->text);
	return code;
}

#define WORD_MAX 40

static bool are_name_characters_equal(char a, char b)
{
	return (a == '_' ? '-' : a) == (b == '_' ? '-' : b);
}

/* Edit distance: insertions, deletions, replacements and swaps of neighbours count 1 each. */
static unsigned int compute_edit_distance(const char *a, const char *b)
{
	unsigned int rows[3][WORD_MAX + 1];
	unsigned int *before = rows[0], *above = rows[1], *row = rows[2], *spare;
	size_t length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		above[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			row[j] = above[j - 1] + !are_name_characters_equal(a[i - 1], b[j - 1]);
			row[j] = min(row[j], min(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min(row[j], before[j - 2] + 1);
		}
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[length];
}

const char *find_closest_word(const char *wrong, const char *const *words)
{
	unsigned int least = strlen(wrong) / 3 + 1;
	const char *best = NULL;

	if (strlen(wrong) > WORD_MAX)
		return NULL;
	for (; *words; words++) {
		unsigned int found =
			strlen(*words) > WORD_MAX ? U32_MAX : compute_edit_distance(wrong, *words);

		if (found < least || (found == least && !best)) {
			least = found;
			best = *words;
		}
	}
	return best;
}
