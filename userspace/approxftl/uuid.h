/* SPDX-License-Identifier: GPL-2.0-only */
/* UUIDs of volumes. */
#ifndef AFTL_UUID_H
#define AFTL_UUID_H

#include "core/persist/volume-format.h"

#define UUID_TEXT_SIZE 37

void uuid_format(const u8 uuid[AFTL_UUID_BYTES], char text[UUID_TEXT_SIZE]);
int __must_check uuid_parse(u8 uuid[AFTL_UUID_BYTES], const char *text,
			    struct aftl_error *error);

/* Generate a random UUID. */
int __must_check uuid_generate(u8 uuid[AFTL_UUID_BYTES], struct aftl_error *error);

#endif
