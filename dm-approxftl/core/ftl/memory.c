// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory comes from the host, which wants its size back.
 */
#include "core/ftl/device.h"

struct allocation {
	u64 bytes;
	u64 reserved;
};

void *aftl_memory_take(struct aftl *ftl, size_t count, size_t size)
{
	u64 bytes = (u64)count * size + sizeof(struct allocation);
	struct allocation *memory = ftl->ops->alloc(ftl->host, bytes);

	if (!memory)
		return NULL;
	memory->bytes = bytes;
	ftl->memory_bytes += bytes;
	return memory + 1;
}

void aftl_memory_give(struct aftl *ftl, void *memory)
{
	struct allocation *allocation;

	if (!memory)
		return;
	allocation = (struct allocation *)memory - 1;
	ftl->memory_bytes -= allocation->bytes;
	ftl->ops->free(ftl->host, allocation, allocation->bytes);
}
