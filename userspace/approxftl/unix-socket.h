/* SPDX-License-Identifier: GPL-2.0-only */
/* Connect to Unix domain sockets, and make them. */
#ifndef AFTL_UNIX_SOCKET_H
#define AFTL_UNIX_SOCKET_H

#include "core/base/params.h"

/* Connect to a socket. Return: its descriptor, or a negative error number. */
int __must_check unix_socket_connect(const char *path, struct aftl_error *error);

/*
 * Make a socket and listen. A socket whose server has ended is replaced. Only this user can
 * connect. Return: its descriptor, or a negative error number.
 */
int __must_check unix_socket_listen(const char *path, struct aftl_error *error);

#endif
