// SPDX-License-Identifier: GPL-2.0-only
#include "kernel-sentence.h"

/* Return the length of a device number such as "253:0: " at the start of @text, or 0. */
static size_t get_device_prefix_length(const char *text)
{
	size_t length = strspn(text, "0123456789:");

	return length && text[length - 1] == ':' && text[length] == ' ' ? length + 1 : 0;
}

/* Return the length of the message without the " (-EINVAL)" that device-mapper appends. */
static size_t get_kernel_message_length(const char *text)
{
	size_t length = strcspn(text, "\n");

	for (size_t at = length; at > 3; at--)
		if (!strncmp(text + at - 3, " (-", 3) && text[length - 1] == ')')
			return at - 3;
	return length;
}

/*
 * Skip the origin of a kernel message: "table: 253:0: approxftl: 253:0: " if a constructor failed,
 * "approxftl: 253:0: " in other messages of the target.
 */
static const char *skip_prefix_of_kernel_message(const char *text)
{
	if (!strncmp(text, "table: ", 7)) {
		text += 7;
		text += get_device_prefix_length(text);
	}
	if (strncmp(text, "approxftl: ", 11) != 0)
		return NULL;
	text += 11;
	return text + get_device_prefix_length(text);
}

bool kernel_log_get_target_message(const char *record, struct aftl_error *sentence)
{
	const char *text = strstr(record, "device-mapper: ");

	text = text ? skip_prefix_of_kernel_message(text + 15) : NULL;
	if (!text)
		return false;
	scnprintf(sentence->text, sizeof(sentence->text), "%.*s",
		  (int)get_kernel_message_length(text), text);
	return true;
}
