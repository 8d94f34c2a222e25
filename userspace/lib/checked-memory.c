// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checked-memory.h"
#include "exit-codes.h"

static __thread void (*on_failure)(void);

void memory_set_failure_handler(void (*call)(void))
{
	on_failure = call;
}

void *memory_exit_if_null(void *memory)
{
	if (memory)
		return memory;
	if (on_failure)
		on_failure();
	fputs("approxftl: out of memory\n", stderr);
	exit(EXIT_FAILED);
}

void *memory_alloc_zeroed(size_t count, size_t size)
{
	return memory_exit_if_null(calloc(count ? count : 1, size));
}

char *memory_copy_text(const char *text)
{
	return memory_exit_if_null(strdup(text));
}

void *memory_resize(void *memory, size_t count, size_t size)
{
	return memory_exit_if_null(reallocarray(memory, count, size));
}
