// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "uuid.h"

void uuid_format(const u8 uuid[AFTL_UUID_BYTES], char text[UUID_TEXT_SIZE])
{
	static const char hex[] = "0123456789abcdef";

	for (unsigned int i = 0; i < AFTL_UUID_BYTES; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*text++ = '-';
		*text++ = hex[uuid[i] >> 4];
		*text++ = hex[uuid[i] & 15];
	}
	*text = '\0';
}

#define NO_DIGIT 16U

static unsigned int hex_digit_value(char letter)
{
	if (letter >= '0' && letter <= '9')
		return (unsigned int)(letter - '0');
	letter |= 32;
	return letter >= 'a' && letter <= 'f' ? (unsigned int)(letter - 'a') + 10 : NO_DIGIT;
}

int uuid_parse(u8 uuid[AFTL_UUID_BYTES], const char *text, struct aftl_error *error)
{
	const char *at = text;
	unsigned int i;

	for (i = 0; i < AFTL_UUID_BYTES; i++) {
		if ((i == 4 || i == 6 || i == 8 || i == 10) && *at++ != '-')
			break;
		if (hex_digit_value(at[0]) == NO_DIGIT || hex_digit_value(at[1]) == NO_DIGIT)
			break;
		uuid[i] = (u8)(hex_digit_value(at[0]) << 4 | hex_digit_value(at[1]));
		at += 2;
	}
	if (i == AFTL_UUID_BYTES && !*at)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "\"%.40s\" is no UUID such as 8e41f2c6-0b3a-4d5e-9f70-123456789abc", text);
}

int uuid_generate(u8 uuid[AFTL_UUID_BYTES], struct aftl_error *error)
{
	if (getrandom(uuid, AFTL_UUID_BYTES, 0) != AFTL_UUID_BYTES)
		return aftl_fail(error, -errno, "cannot get random numbers: %s", strerror(errno));
	/* Mark the UUID as version 4 of RFC 9562. */
	uuid[6] = (uuid[6] & 0x0f) | 0x40;
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
	return 0;
}
