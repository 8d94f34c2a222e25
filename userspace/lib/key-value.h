/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KEY=VALUE as it stands on a command line, and lists. Dashes in keys are as good as underscores.
 */
#ifndef AFTL_KEY_VALUE_H
#define AFTL_KEY_VALUE_H

#include "aftl-host.h"

/* A longer key is cut; there is none of that length. */
#define KEY_SIZE 48

/* Length of the key of @pair, 0 if @pair is not of the form KEY=VALUE. */
size_t key_length(const char *pair);

/* The first @length letters of @text, with underscores. */
void key_copy(char key[KEY_SIZE], const char *text, size_t length);

/* A longer item of a list is cut. */
#define LIST_ITEM 64

/* The items of a list with commas, one after the other. False at the end. */
bool list_next(const char **list, char item[LIST_ITEM]);

#endif
