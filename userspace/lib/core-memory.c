// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <stdlib.h>

#include "checked-memory.h"
#include "core-memory.h"

#ifdef __linux__
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Each host request touches a random entry of each of four large arrays of the FTL, and would miss
 * in the TLB for each of them. Back these arrays by huge pages where the system has them.
 */
#define HUGE_PAGE (2UL << 20)
#define LARGE (2 * HUGE_PAGE)

static size_t round_up_to_huge_page(size_t bytes)
{
	return (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

/* Bytes of all large arrays of the process, for may_use_huge_pages(). */
static atomic_size_t in_use;

/*
 * Huge pages would allocate more memory than a sparsely used array touches. Use them only while
 * all large arrays together take less than a quarter of the machine's memory.
 */
static bool may_use_huge_pages(size_t all)
{
	long pages = sysconf(_SC_PHYS_PAGES);

	return pages > 0 && all / (size_t)sysconf(_SC_PAGESIZE) < (size_t)pages / 4;
}

/* Map zeroed memory aligned to a huge page; unmap the excess on both sides. */
static void *map_huge_pages(size_t bytes)
{
	size_t wanted = round_up_to_huge_page(bytes);
	size_t before;
	char *memory;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	memory = mmap(NULL, wanted + HUGE_PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	before = -(size_t)memory & (HUGE_PAGE - 1);
	if (before)
		munmap(memory, before);
	munmap(memory + before + wanted, HUGE_PAGE - before);
	memory += before;
	if (may_use_huge_pages(atomic_fetch_add(&in_use, wanted) + wanted))
		madvise(memory, wanted, MADV_HUGEPAGE);
	return memory;
}

static bool is_allocation_large(size_t bytes)
{
	return bytes >= LARGE;
}

static void unmap_huge_pages(void *memory, size_t bytes)
{
	munmap(memory, round_up_to_huge_page(bytes));
	atomic_fetch_sub(&in_use, round_up_to_huge_page(bytes));
}

void core_memory_advise_huge_pages(void *memory, size_t bytes)
{
	size_t skip = -(size_t)memory & (HUGE_PAGE - 1);

	if (is_allocation_large(bytes))
		madvise((char *)memory + skip, (bytes - skip) & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
}
#else
static bool is_allocation_large(size_t bytes __maybe_unused)
{
	return false;
}

static void *map_huge_pages(size_t bytes __maybe_unused)
{
	return NULL;
}

static void unmap_huge_pages(void *memory __maybe_unused, size_t bytes __maybe_unused)
{
}

void core_memory_advise_huge_pages(void *memory __maybe_unused, size_t bytes __maybe_unused)
{
}
#endif

void *core_memory_alloc(void *host, size_t bytes)
{
	(void)host;
	return is_allocation_large(bytes) ? map_huge_pages(bytes) : calloc(1, bytes);
}

void *core_memory_alloc_or_exit(void *host, size_t bytes)
{
	(void)host;
	return is_allocation_large(bytes) ? memory_exit_if_null(map_huge_pages(bytes)) :
					    memory_alloc_zeroed(1, bytes);
}

void core_memory_free(void *host, void *memory, size_t bytes)
{
	(void)host;
	if (is_allocation_large(bytes))
		unmap_huge_pages(memory, bytes);
	else
		free(memory);
}
