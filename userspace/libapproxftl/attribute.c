// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Converts ranges to text and back: "0+4096=precise 4096+", separated by blanks.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute.h"

static const char *const endings[] = {
	"=precise", "", [APPROXFTL_LEVEL_2] = "=approximate_2",
	[APPROXFTL_LEVEL_3] = "=approximate_3",
};

/* Return: class of a tagged range, from its kind and its level. */
static enum approxftl_class get_class_of_extent(const struct approxftl_extent *extent)
{
	return extent->kind == APPROXFTL_PRECISE || extent->level < 2 ?
		       (enum approxftl_class)extent->kind : approxftl_level_class(extent->level);
}

bool aftl_lib_attribute_print(char *text, size_t *length, const struct approxftl_extent *extent)
{
	size_t room = AFTL_LIB_ATTRIBUTE_MAX + 1 - *length;
	char count[24] = "";
	int used;

	if (extent->length != APPROXFTL_TO_END)
		snprintf(count, sizeof(count), "%lld", (long long)extent->length);
	used = snprintf(text + *length, room, "%s%lld+%s%s", *length ? " " : "",
			(long long)extent->offset, count, endings[get_class_of_extent(extent)]);
	if ((size_t)used >= room) {
		text[*length] = '\0';
		return false;
	}
	*length += used;
	return true;
}

static bool is_attribute_separator(char c)
{
	return c == ' ' || c == '\n';
}

static int parse_attribute_number(const char **text, int64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	errno = 0;
	*number = strtoll(*text, &end, 10);
	*text = end;
	return errno ? -EINVAL : 0;
}

static int parse_attribute_range(const char **text, struct approxftl_extent *extent)
{
	if (parse_attribute_number(text, &extent->offset) || *(*text)++ != '+')
		return -EINVAL;
	extent->length = APPROXFTL_TO_END;
	if (!isdigit((unsigned char)**text))
		return 0;
	return parse_attribute_number(text, &extent->length) || !extent->length ? -EINVAL : 0;
}

static bool is_attribute_word(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && !strncmp(text, word, length);
}

static int parse_attribute_class(const char **text, unsigned int *kind)
{
	size_t length = strcspn(*text, "\n ");

	for (*kind = 0; *kind <= APPROXFTL_LEVEL_3; ++*kind)
		if (endings[*kind] && is_attribute_word(*text, length, endings[*kind]))
			break;
	if (is_attribute_word(*text, length, "=approximate"))
		*kind = APPROXFTL_APPROXIMATE;
	if (*kind > APPROXFTL_LEVEL_3)
		return -EINVAL;
	*text += length;
	return 0;
}

int aftl_lib_attribute_parse(const char **text, struct approxftl_extent *extent)
{
	while (is_attribute_separator(**text))
		(*text)++;
	if (!**text)
		return 0;
	extent->level = 0;
	if (parse_attribute_range(text, extent) || parse_attribute_class(text, &extent->kind))
		return -EINVAL;
	return 1;
}
