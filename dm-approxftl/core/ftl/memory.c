// SPDX-License-Identifier: GPL-2.0-only
/* Memory allocation from the host, which wants the size of an allocation back on free. */
#include "core/ftl/controller.h"
#include "core/ftl/memory.h"

/* Header with the size of an allocation; one cache line, so that the memory after it is aligned. */
struct allocation {
	u64 bytes;
	u64 reserved[7];
};

static void *memory_alloc_by_callback(struct aftl *ftl, size_t count, size_t size,
				      void *(*alloc)(void *host, size_t bytes))
{
	u64 bytes = (u64)count * size + sizeof(struct allocation);
	struct allocation *memory = alloc(ftl->host, bytes);

	if (!memory)
		return NULL;
	memory->bytes = bytes;
	ftl->memory_bytes += bytes;
	return memory + 1;
}

void *aftl_memory_alloc(struct aftl *ftl, size_t count, size_t size)
{
	return memory_alloc_by_callback(ftl, count, size, ftl->ops->alloc);
}

void *aftl_memory_alloc_on_demand(struct aftl *ftl, size_t count, size_t size)
{
	return memory_alloc_by_callback(ftl, count, size, ftl->ops->alloc_later);
}

void aftl_memory_free(struct aftl *ftl, void *memory)
{
	struct allocation *allocation;

	if (!memory)
		return;
	allocation = (struct allocation *)memory - 1;
	ftl->memory_bytes -= allocation->bytes;
	ftl->ops->free(ftl->host, allocation, allocation->bytes);
}
