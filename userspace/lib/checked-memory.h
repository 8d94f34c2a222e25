/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of a command: there is enough, or the command ends with a sentence.
 *
 * For what is small beside the emulated device, whose own allocations may fail.
 */
#ifndef AFTL_CHECKED_MEMORY_H
#define AFTL_CHECKED_MEMORY_H

#include <stddef.h>

/* @memory, which is not NULL. */
void *memory_checked(void *memory);

/* To be freed with free(). */
void *memory_zeroed(size_t count, size_t size);
char *memory_text(const char *text);

/* @memory, of one of these functions or NULL, with room for @count items. */
void *memory_grown(void *memory, size_t count, size_t size);

#endif
