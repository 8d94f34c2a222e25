/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocators that never return NULL: on failure the program prints an error message and exits.
 *
 * Use them for small allocations only. The emulated device is large, and its allocations may
 * fail.
 */
#ifndef AFTL_CHECKED_MEMORY_H
#define AFTL_CHECKED_MEMORY_H

#include <stddef.h>

/* Return @memory, the result of an allocation; if it is NULL, exit with an error message. */
void *memory_exit_if_null(void *memory);

/*
 * If memory lacks in this thread, call a function that does not return, instead of exiting: a
 * library must not end its program. NULL restores the exit.
 */
void memory_set_failure_handler(void (*call)(void));

/* Allocate memory, which the caller frees with free(). */
void *memory_alloc_zeroed(size_t count, size_t size);
char *memory_copy_text(const char *text);

/* Resize @memory, which is NULL or from an allocator of this file, to @count items. */
void *memory_resize(void *memory, size_t count, size_t size);

#endif
