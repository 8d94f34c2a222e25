// SPDX-License-Identifier: GPL-2.0-only
#include "kernel-sentence.h"

/* Length of "253:0: ", the device, at the begin of @text; 0 if there is none. */
static size_t device_length(const char *text)
{
	size_t length = strspn(text, "0123456789:");

	return length && text[length - 1] == ':' && text[length] == ' ' ? length + 1 : 0;
}

/* Without the " (-EINVAL)" that device-mapper adds. */
static size_t sentence_length(const char *text)
{
	size_t length = strcspn(text, "\n");
	size_t at;

	for (at = length; at > 3; at--)
		if (!strncmp(text + at - 3, " (-", 3) && text[length - 1] == ')')
			return at - 3;
	return length;
}

/* Of a table line: "table: 253:0: approxftl: 253:0: ", of the target: "approxftl: 253:0: ". */
static const char *skip_origin(const char *text)
{
	if (!strncmp(text, "table: ", 7)) {
		text += 7;
		text += device_length(text);
	}
	if (strncmp(text, "approxftl: ", 11) != 0)
		return NULL;
	text += 11;
	return text + device_length(text);
}

bool kernel_sentence(const char *record, struct aftl_error *sentence)
{
	const char *text = strstr(record, "device-mapper: ");

	text = text ? skip_origin(text + 15) : NULL;
	if (!text)
		return false;
	scnprintf(sentence->text, sizeof(sentence->text), "%.*s", (int)sentence_length(text), text);
	return true;
}
