// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "core-memory.h"

void *core_memory_alloc(void *host, size_t bytes)
{
	(void)host;
	return calloc(1, bytes);
}

void core_memory_free(void *host, void *memory, size_t bytes)
{
	(void)host;
	(void)bytes;
	free(memory);
}
