/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that nobody sees: what one program writes and another one reads.
 */
#ifndef AFTL_NAMELESS_FILE_H
#define AFTL_NAMELESS_FILE_H

#include "core/base/params.h"

/* Room for nameless_file_path(). */
#define NAMELESS_FILE_PATH 32

/**
 * nameless_file() - a file in $TMPDIR that is gone with the last process that has it open
 *
 * Return: its descriptor, which programs that are run inherit, or a negative error number.
 */
int __must_check nameless_file(struct aftl_error *error);

/* A path to it, for this process and for those that have inherited it. */
void nameless_file_path(int fd, char path[NAMELESS_FILE_PATH]);

#endif
