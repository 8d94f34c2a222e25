/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory allocation of the FTL core in userspace, for struct aftl_host_ops. */
#ifndef AFTL_CORE_MEMORY_H
#define AFTL_CORE_MEMORY_H

#include "aftl-host.h"

void *core_memory_alloc(void *host, size_t bytes);
/* Allocate a little memory at run time; on failure the program prints a message and exits. */
void *core_memory_alloc_or_exit(void *host, size_t bytes);
void core_memory_free(void *host, void *memory, size_t bytes);

/* Back a large array of malloc() that will be filled from its begin by huge pages, if possible. */
void core_memory_advise_huge_pages(void *memory, size_t bytes);

#endif
