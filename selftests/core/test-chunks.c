// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chunked arrays: every entry has its own address, no allocation is too large, and all memory is
 * freed.
 */
#include <limits.h>
#include <stdlib.h>

#include "core/nand/oob.h"
#include "tap.h"

/* Number of entries in a chunk of u8, u32 or u64. */
#define CHUNK ((u32)BIT(30))
#define CHUNK_32 (CHUNK / 4)
#define CHUNK_64 (CHUNK / 8)

/* Number of allocations that succeed before the host's allocator fails. */
static int left;
static u64 held;
static u64 largest;
/* Allocate one byte only, because the test never touches the array's memory. */
static bool untouched;

static void *count_allocation(void *host, size_t bytes)
{
	CHECK(host == &left);
	if (!left--)
		return NULL;
	held += bytes;
	largest = max_t(u64, largest, bytes);
	return calloc(1, untouched ? 1 : bytes);
}

static void free_and_count_chunk(void *host, void *memory, size_t bytes)
{
	CHECK(host == &left);
	held -= bytes;
	free(memory);
}

static const u32 ends[] = { 1, CHUNK_32 - 1, CHUNK_32, CHUNK_32 + 1, 3 * CHUNK_32,
			    AFTL_PPNS_MAX };

TAP_TEST(arrays_of_each_length_are_allocated_and_freed)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		struct aftl_chunks chunks = { 0 };

		left = INT_MAX;
		CHECK(!aftl_chunks_are_allocated(&chunks));
		CHECK(aftl_chunks_alloc(&chunks, ends[i], sizeof(u32), count_allocation, &left));
		CHECK(aftl_chunks_are_allocated(&chunks));
		CHECK_EQ(held, (u64)ends[i] * sizeof(u32));
		aftl_chunks_free(&chunks, ends[i], sizeof(u32), free_and_count_chunk, &left);
		CHECK_EQ(held, 0);
		CHECK(!aftl_chunks_are_allocated(&chunks));
	}
}

/*
 * Allocate and free @entries of @size bytes; each allocation must be below INT_MAX, as in a kernel.
 */
static void check_chunked_array(u32 entries, u32 size)
{
	struct aftl_chunks chunks = { 0 };

	left = AFTL_CHUNKS;
	largest = 0;
	untouched = true;
	CHECK(aftl_chunks_alloc(&chunks, entries, size, count_allocation, &left));
	CHECK(largest < INT_MAX);
	CHECK_EQ(held, (u64)entries * size);
	aftl_chunks_free(&chunks, entries, size, free_and_count_chunk, &left);
	CHECK_EQ(held, 0);
	untouched = false;
}

TAP_TEST(no_allocation_exceeds_the_limit_of_a_kernel)
{
	u32 size;

	for (size = 1; size <= sizeof(u64); size++)
		check_chunked_array(AFTL_PPNS_MAX, size);
}

/* Allocations of OOB metadata stay small, although a page of 64 units has 400 bytes of them. */
TAP_TEST(no_allocation_of_oob_metadata_exceeds_the_kernels_limit)
{
	struct aftl_geometry geo = { .page_units = 1 };
	struct aftl_media media = { .geo = &geo };

	for (; geo.page_units <= AFTL_PROGRAM_UNITS_MAX; geo.page_units++) {
		media.models_errors = !media.models_errors;
		aftl_oob_layout_init(&media);
		check_chunked_array(AFTL_PPNS_MAX / geo.page_units, media.oob_layout.bytes);
		media.models_errors = !media.models_errors;
		aftl_oob_layout_init(&media);
		check_chunked_array(AFTL_PPNS_MAX / geo.page_units, media.oob_layout.bytes);
	}
}

/* OOB entries must not overlap, even if the size of an entry is no power of two. */
TAP_TEST(oob_metadata_of_pages_do_not_overlap)
{
	enum { NEAR = 1 << 26 };
	static const u32 at[] = { 0, 1, NEAR - 1, NEAR, NEAR + 1, 2 * NEAR - 1, 2 * NEAR };
	struct aftl_geometry geo = { .page_units = 3 };
	struct aftl_media media = { .geo = &geo };
	u32 size;
	u32 i;

	aftl_oob_layout_init(&media);
	CHECK_EQ(media.oob_layout.near, NEAR);
	left = INT_MAX;
	size = media.oob_layout.bytes;
	CHECK(aftl_chunks_alloc(&media.oob, 2 * NEAR + 1, size, count_allocation, &left));
	for (i = 0; i < ARRAY_SIZE(at); i++)
		memset(aftl_oob_entry(&media, at[i]), 'a' + (int)i, size);
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		CHECK_EQ(*(char *)aftl_oob_entry(&media, at[i]), 'a' + i);
		CHECK_EQ(((char *)aftl_oob_entry(&media, at[i]))[size - 1], 'a' + i);
	}
	aftl_chunks_free(&media.oob, 2 * NEAR + 1, size, free_and_count_chunk, &left);
}

TAP_TEST(array_entries_do_not_overlap)
{
	enum { END = CHUNK_64 };
	static const u32 at[] = { 0, 1, END - 1, END, END + 1, 2 * END - 1, 2 * END, 3 * END,
				  7 * END + 5, AFTL_PPNS_MAX - 1 };
	struct aftl_chunks chunks = { 0 };
	u32 i;

	left = INT_MAX;
	CHECK(aftl_chunks_alloc(&chunks, AFTL_PPNS_MAX, sizeof(u64), count_allocation, &left));
	for (i = 0; i < ARRAY_SIZE(at); i++)
		*aftl_chunk_entry(&chunks, u64, at[i]) += i + 1;
	for (i = 0; i < ARRAY_SIZE(at); i++)
		CHECK_EQ(*aftl_chunk_entry(&chunks, u64, at[i]), i + 1);
	CHECK(aftl_chunk_entry(&chunks, u64, 1) == aftl_chunk_entry(&chunks, u64, 0) + 1);
	aftl_chunks_free(&chunks, AFTL_PPNS_MAX, sizeof(u64), free_and_count_chunk, &left);
}

TAP_TEST(a_failed_allocation_leaks_no_memory)
{
	int fails;

	for (fails = 0; fails < 3; fails++) {
		struct aftl_chunks chunks = { 0 };

		left = fails;
		CHECK(!aftl_chunks_alloc(&chunks, CHUNK + 1, sizeof(u16), count_allocation, &left));
		left = INT_MAX;
		aftl_chunks_free(&chunks, CHUNK + 1, sizeof(u16), free_and_count_chunk, &left);
		CHECK_EQ(held, 0);
	}
}
