/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that are installed beside this one.
 */
#ifndef AFTL_SIBLING_PROGRAM_H
#define AFTL_SIBLING_PROGRAM_H

#include <stddef.h>

/* The name of one beside this program, or if there is none the bare name, for PATH. */
void sibling_program(const char *name, char *path, size_t size);

#endif
