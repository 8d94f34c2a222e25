/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KEY=VALUE pairs and comma-separated lists on a command line. Keys may have dashes for
 * underscores.
 */
#ifndef AFTL_KEY_VALUE_H
#define AFTL_KEY_VALUE_H

#include "aftl-host.h"

/* Size of a key's buffer. A longer key is truncated; no valid key is that long. */
#define KEY_SIZE 48

/* Return the length of the key of @pair, or 0 if @pair is not of the form KEY=VALUE. */
size_t get_length_of_pair_key(const char *pair);

/* Copy the first @length characters of @text, with dashes replaced by underscores. */
void copy_key_with_underscores(char key[KEY_SIZE], const char *text, size_t length);

/* Buffer size for a list's item; a longer item is truncated. */
#define LIST_ITEM 4096

/* Copy the next item of a comma-separated list and advance @list. Return false at the end. */
bool copy_next_list_item(const char **list, char item[LIST_ITEM]);

#endif
