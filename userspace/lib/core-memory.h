/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of the FTL core as a host in userspace gives it: struct aftl_host_ops.
 */
#ifndef AFTL_CORE_MEMORY_H
#define AFTL_CORE_MEMORY_H

#include "aftl-host.h"

void *core_memory_alloc(void *host, size_t bytes);
/* Of what is small; a program that cannot have it ends with a sentence. */
void *core_memory_alloc_later(void *host, size_t bytes);
void core_memory_free(void *host, void *memory, size_t bytes);

#endif
