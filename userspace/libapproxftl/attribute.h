/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text format of the attribute user.approxftl.
 */
#ifndef AFTL_LIB_ATTRIBUTE_H
#define AFTL_LIB_ATTRIBUTE_H

#include "approxftl.h"

#define AFTL_LIB_ATTRIBUTE "user.approxftl"
#define AFTL_LIB_ATTRIBUTE_MAX 4096

/**
 * aftl_lib_attribute_print() - append a range to a text
 * @text: buffer of AFTL_LIB_ATTRIBUTE_MAX + 1 bytes
 * @length: length of the text; updated
 *
 * Return: false if the buffer is full.
 */
bool aftl_lib_attribute_print(char *text, size_t *length, const struct approxftl_extent *extent);

/**
 * aftl_lib_attribute_parse() - parse the next range
 * @text: position in the text; updated
 *
 * Return: 1, 0 at the end, or -EINVAL.
 */
int aftl_lib_attribute_parse(const char **text, struct approxftl_extent *extent);

#endif
