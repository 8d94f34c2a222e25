// SPDX-License-Identifier: GPL-2.0-only
#include "key-value.h"

size_t get_length_of_pair_key(const char *pair)
{
	size_t length = strcspn(pair, "=");

	return pair[length] ? length : 0;
}

void copy_key_with_underscores(char key[KEY_SIZE], const char *text, size_t length)
{
	scnprintf(key, KEY_SIZE, "%.*s", (int)min(length, (size_t)KEY_SIZE - 1), text);
	for (size_t i = 0; key[i]; i++)
		if (key[i] == '-')
			key[i] = '_';
}

bool copy_next_list_item(const char **list, char item[LIST_ITEM])
{
	size_t length = strcspn(*list, ",");

	if (!**list)
		return false;
	scnprintf(item, LIST_ITEM, "%.*s", (int)min(length, (size_t)LIST_ITEM - 1), *list);
	*list += length + ((*list)[length] == ',');
	return true;
}
