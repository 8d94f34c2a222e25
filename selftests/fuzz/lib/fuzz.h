/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzz harnesses share.
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

/* A refusal says why. */
static inline void check_sentence(const struct aftl_error *error)
{
	size_t length = strnlen(error->text, sizeof(error->text));

	demand(length > 5 && length < sizeof(error->text));
}

#endif
