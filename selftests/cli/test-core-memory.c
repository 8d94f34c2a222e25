// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that memory of the core is zeroed, and has huge pages if a large device fits in memory.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core-memory.h"
#include "tap.h"

#define HUGE_PAGE (2UL << 20)

/* Return the size of the test program's address space in pages. */
static long read_address_space_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	CHECK(file && fscanf(file, "%ld", &pages) == 1);
	if (file)
		fclose(file);
	return pages;
}

/* Return true if the kernel lists @flag for the mapping that contains @memory. */
static bool has_mapping_flag(const void *memory, const char *flag)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	bool inside = false;
	bool found = false;
	unsigned long first, end;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &first, &end) == 2)
			inside = first <= (unsigned long)memory && (unsigned long)memory < end;
		else if (inside && !strncmp(line, "VmFlags:", 8))
			found = strstr(line, flag);
	}
	if (file)
		fclose(file);
	return found;
}

static void allocate_and_free_core_memory(size_t bytes)
{
	unsigned char *memory = core_memory_alloc(NULL, bytes);
	size_t i;

	if (!memory)
		tap_bail_out("no memory for %zu bytes", bytes);
	for (i = 0; i < bytes; i += 4093)
		CHECK_EQ(memory[i], 0);
	CHECK_EQ(memory[bytes - 1], 0);
	memset(memory, 0xa5, bytes);
	core_memory_free(NULL, memory, bytes);
}

TAP_TEST(allocated_memory_is_zeroed)
{
	static const size_t sizes[] = {
		1, 4096, 2 * HUGE_PAGE - 1, 2 * HUGE_PAGE, 2 * HUGE_PAGE + 1, 5 * HUGE_PAGE - 16,
	};
	unsigned int round, i;

	for (round = 0; round < 3; round++)
		for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			allocate_and_free_core_memory(sizes[i]);
}

TAP_TEST(large_allocations_are_returned_to_the_system)
{
	long before = read_address_space_pages();
	unsigned int i;

	for (i = 0; i < 50; i++)
		allocate_and_free_core_memory(2 * HUGE_PAGE + i * 4096);
	CHECK(read_address_space_pages() - before < 100);
}

TAP_TEST(huge_pages_are_used_up_to_the_size_of_memory)
{
	size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	void *modest, *immense;

	if (access("/sys/kernel/mm/transparent_hugepage", F_OK)) {
		tap_printf("this kernel has no huge pages");
		return;
	}
	modest = core_memory_alloc(NULL, memory / 16);
	immense = core_memory_alloc(NULL, memory / 4);
	CHECK(modest && !((uintptr_t)modest & (HUGE_PAGE - 1)));
	CHECK(modest && has_mapping_flag(modest, " hg"));
	CHECK(!immense || !has_mapping_flag(immense, " hg"));
	core_memory_free(NULL, modest, memory / 16);
	if (immense)
		core_memory_free(NULL, immense, memory / 4);
}

/* Huge pages must not be requested for arrays whose sizes together exceed the physical memory. */
TAP_TEST(huge_pages_are_used_up_to_the_size_of_memory_in_total)
{
	size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 16;
	unsigned int round, i, huge;
	void *pieces[6];

	for (round = 0; round < 2; round++) {
		for (i = 0, huge = 0; i < 6; i++) {
			pieces[i] = core_memory_alloc(NULL, bytes);
			huge += pieces[i] && has_mapping_flag(pieces[i], " hg");
		}
		if (!access("/sys/kernel/mm/transparent_hugepage", F_OK))
			CHECK_RANGE(huge, 3, 4);
		for (i = 0; i < 6; i++)
			if (pieces[i])
				core_memory_free(NULL, pieces[i], bytes);
	}
}

TAP_TEST(large_arrays_of_malloc_can_have_huge_pages)
{
	size_t bytes = 2 * HUGE_PAGE - 1;
	char *small = malloc(bytes), *large = malloc(2 * bytes);

	if (!small || !large)
		tap_bail_out("no memory for %zu bytes", bytes);
	core_memory_advise_huge_pages(small, bytes);
	core_memory_advise_huge_pages(large, 2 * bytes);
	if (!access("/sys/kernel/mm/transparent_hugepage", F_OK)) {
		CHECK(!has_mapping_flag(small + bytes / 2, " hg"));
		CHECK(has_mapping_flag(large + bytes, " hg"));
	}
	memset(large, 0xa5, 2 * bytes);
	free(small);
	free(large);
}

TAP_TEST(allocations_larger_than_memory_are_refused)
{
	CHECK(!core_memory_alloc(NULL, SIZE_MAX / 2));
	CHECK(!core_memory_alloc(NULL, SIZE_MAX));
}
