/* SPDX-License-Identifier: GPL-2.0-only */
/* Unnamed temporary files, through which one program passes data to another. */
#ifndef AFTL_NAMELESS_FILE_H
#define AFTL_NAMELESS_FILE_H

#include "core/base/params.h"

/* Buffer size for nameless_file_print_path(). */
#define NAMELESS_FILE_PATH 32

/**
 * nameless_file_create() - create a file in $TMPDIR that vanishes with its last open descriptor
 *
 * Return: a descriptor that child programs inherit, or a negative error number.
 */
int __must_check nameless_file_create(struct aftl_error *error);

/* Print a path to the file that is valid in this process and in children that inherited @fd. */
void nameless_file_print_path(int fd, char path[NAMELESS_FILE_PATH]);

#endif
