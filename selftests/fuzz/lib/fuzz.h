/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common helpers of the fuzz harnesses.
 */
#ifndef AFTL_FUZZ_H
#define AFTL_FUZZ_H

#include <stdlib.h>

#include "core/base/params.h"

int fuzz_input(const u8 *data, size_t size) __asm__("LLVMFuzzerTestOneInput");

static inline void demand(bool condition)
{
	if (!condition)
		abort();
}

/* A refusal must have a message. */
static inline void check_sentence(const struct aftl_error *error)
{
	size_t length = strnlen(error->text, sizeof(error->text));

	demand(length > 5 && length < sizeof(error->text));
}

#endif
