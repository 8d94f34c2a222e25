/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common helpers of the fuzz harnesses.
 */
#ifndef AFTL_FUZZ_H
#define AFTL_FUZZ_H

#include <stdlib.h>

#include "core/base/params.h"

/* Allow unused parameters: harnesses use few of the parameters that a host callback must have. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define FUZZ_MEMORY_MAX (64 << 20)

int fuzz_input(const u8 *data, size_t size) __asm__("LLVMFuzzerTestOneInput");

static inline void fuzz_assert(bool condition)
{
	if (!condition)
		abort();
}

/* The bytes of the fuzzing input that were not read yet; after the input's end all bytes are 0. */
struct fuzz_bytes {
	const u8 *data;
	size_t left;
};

static inline u32 fuzz_take_byte(struct fuzz_bytes *bytes)
{
	if (!bytes->left)
		return 0;
	bytes->left--;
	return *bytes->data++;
}

static inline u32 fuzz_take_u16(struct fuzz_bytes *bytes)
{
	u32 high = fuzz_take_byte(bytes);

	return high << 8 | fuzz_take_byte(bytes);
}

/* Bytes allocated by the device under test; if not 0 when a harness ends, memory has leaked. */
static size_t fuzz_held;

static inline void *fuzz_alloc_and_count_bytes(void *host, size_t bytes)
{
	if (bytes > FUZZ_MEMORY_MAX || fuzz_held + bytes > FUZZ_MEMORY_MAX)
		return NULL;
	fuzz_held += bytes;
	return calloc(1, bytes);
}

static inline void fuzz_free_and_count_bytes(void *host, void *memory, size_t bytes)
{
	fuzz_held -= memory ? bytes : 0;
	free(memory);
}

/* If the core refuses the input, it must set an error message. */
static inline void check_refusal_has_message(const struct aftl_error *error)
{
	size_t length = strnlen(error->text, sizeof(error->text));

	fuzz_assert(length > 5 && length < sizeof(error->text));
}

#endif
