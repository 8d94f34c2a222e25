/* SPDX-License-Identifier: GPL-2.0-only */
/* Find programs that are installed in the directory of this program. */
#ifndef AFTL_SIBLING_PROGRAM_H
#define AFTL_SIBLING_PROGRAM_H

#include <stddef.h>

/* Return the path of @name beside this program, or the bare name, for a search in PATH. */
void find_sibling_program(const char *name, char *path, size_t size);

#endif
