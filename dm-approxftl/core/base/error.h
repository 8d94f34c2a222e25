/* SPDX-License-Identifier: GPL-2.0-only */
/* Error messages. */
#ifndef AFTL_ERROR_H
#define AFTL_ERROR_H

#include "aftl-host.h"

/**
 * struct aftl_error - error message that names the cause and the remedy
 */
struct aftl_error {
	char text[240];
};

/**
 * aftl_fail() - format a message into @error
 * @error: takes the message
 * @code: negative error code
 * @format: as for printf()
 *
 * Return: @code
 */
__printf(3, 4) int aftl_fail(struct aftl_error *error, int code, const char *format, ...);

#endif
