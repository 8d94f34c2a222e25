/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of the host, zeroed and counted in memory_bytes; NULL on failure. */
#ifndef AFTL_MEMORY_H
#define AFTL_MEMORY_H

#include "core/base/types.h"

struct aftl;

void *aftl_memory_alloc(struct aftl *ftl, size_t count, size_t size);

/* Allocate while the device runs. Never NULL; only for hosts with alloc_later(). */
void *aftl_memory_alloc_runtime(struct aftl *ftl, size_t count, size_t size);
void aftl_memory_free(struct aftl *ftl, void *memory);

#endif
