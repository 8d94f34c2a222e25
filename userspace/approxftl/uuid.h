/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Universally unique identifiers, as volumes have them.
 */
#ifndef AFTL_UUID_H
#define AFTL_UUID_H

#include "core/persist/volume-format.h"

#define UUID_TEXT_SIZE 37

void uuid_print(const u8 uuid[AFTL_UUID_BYTES], char text[UUID_TEXT_SIZE]);
int __must_check uuid_parse(u8 uuid[AFTL_UUID_BYTES], const char *text,
			    struct aftl_error *error);

/* A random one. */
int __must_check uuid_draw(u8 uuid[AFTL_UUID_BYTES], struct aftl_error *error);

#endif
