// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrays in chunks: every entry has a place of its own, no piece is too large, and all come back.
 */
#include <limits.h>
#include <stdlib.h>

#include "core/base/chunks.h"
#include "tap.h"

#define CHUNK BIT(AFTL_CHUNK_BITS)

/* Counts down to the allocation that fails. */
static int left;
static u64 held;
static u64 largest;

static void *take(void *host, size_t bytes)
{
	CHECK(host == &left);
	if (!left--)
		return NULL;
	held += bytes;
	largest = max_t(u64, largest, bytes);
	return calloc(1, bytes);
}

static void give(void *host, void *memory, size_t bytes)
{
	CHECK(host == &left);
	held -= bytes;
	free(memory);
}

static const u32 ends[] = { 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, AFTL_MAX_SLOTS };

static void each_length(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		struct aftl_chunks chunks = { 0 };

		left = INT_MAX;
		CHECK(!aftl_chunks_there(&chunks));
		CHECK(aftl_chunks_take(&chunks, ends[i], sizeof(u32), take, &left));
		CHECK(aftl_chunks_there(&chunks));
		CHECK_EQ(held, (u64)ends[i] * sizeof(u32));
		aftl_chunks_give(&chunks, ends[i], sizeof(u32), give, &left);
		CHECK_EQ(held, 0);
		CHECK(!aftl_chunks_there(&chunks));
	}
}

static void no_piece_is_too_large(void)
{
	struct aftl_chunks chunks = { 0 };

	left = INT_MAX;
	largest = 0;
	CHECK(aftl_chunks_take(&chunks, AFTL_MAX_SLOTS, sizeof(u64), take, &left));
	CHECK(largest <= INT_MAX);
	CHECK_EQ(held, (u64)AFTL_MAX_SLOTS * sizeof(u64));
	aftl_chunks_give(&chunks, AFTL_MAX_SLOTS, sizeof(u64), give, &left);
	CHECK_EQ(held, 0);
}

/* What is known of a page of 16 units is a hundred bytes. */
static void nor_of_pages(void)
{
	struct aftl_chunks chunks = { 0 };

	left = INT_MAX;
	largest = 0;
	CHECK(aftl_chunks_take(&chunks, AFTL_MAX_SLOTS / 16, 16 * 6 + 4, take, &left));
	CHECK(largest <= INT_MAX);
	aftl_chunks_give(&chunks, AFTL_MAX_SLOTS / 16, 16 * 6 + 4, give, &left);
}

static void entries_are_apart(void)
{
	static const u32 at[] = { 0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK,
				  3 * CHUNK, 7 * CHUNK + 5, AFTL_MAX_SLOTS - 1 };
	struct aftl_chunks chunks = { 0 };
	u32 i;

	left = INT_MAX;
	CHECK(aftl_chunks_take(&chunks, AFTL_MAX_SLOTS, sizeof(u16), take, &left));
	for (i = 0; i < ARRAY_SIZE(at); i++)
		*aftl_entry(&chunks, u16, at[i]) += i + 1;
	for (i = 0; i < ARRAY_SIZE(at); i++)
		CHECK_EQ(*aftl_entry(&chunks, u16, at[i]), i + 1);
	CHECK(aftl_entry(&chunks, u16, 1) == aftl_entry(&chunks, u16, 0) + 1);
	aftl_chunks_give(&chunks, AFTL_MAX_SLOTS, sizeof(u16), give, &left);
}

static void each_piece_may_be_missing(void)
{
	int fails;

	for (fails = 0; fails < 3; fails++) {
		struct aftl_chunks chunks = { 0 };

		left = fails;
		CHECK(!aftl_chunks_take(&chunks, 2 * CHUNK + 1, sizeof(u8), take, &left));
		left = INT_MAX;
		aftl_chunks_give(&chunks, 2 * CHUNK + 1, sizeof(u8), give, &left);
		CHECK_EQ(held, 0);
	}
}

int main(void)
{
	tap_run("arrays of each length are given and taken back", each_length);
	tap_run("no piece is too large for a kernel", no_piece_is_too_large);
	tap_run("nor any of what is known of pages", nor_of_pages);
	tap_run("entries are apart", entries_are_apart);
	tap_run("each piece may be missing", each_piece_may_be_missing);
	return tap_finish();
}
