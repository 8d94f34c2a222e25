/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocation of zeroed memory by the host's callbacks; aftl_memory_bytes() has the sum. */
#ifndef AFTL_MEMORY_H
#define AFTL_MEMORY_H

#include "core/base/types.h"

struct aftl;

void *aftl_memory_alloc(struct aftl *ftl, size_t count, size_t size);

/* Allocate memory at run time, for hosts with alloc_later(); never returns NULL. */
void *aftl_memory_alloc_on_demand(struct aftl *ftl, size_t count, size_t size);
void aftl_memory_free(struct aftl *ftl, void *memory);

#endif
