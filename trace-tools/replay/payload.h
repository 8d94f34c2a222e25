/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Self-describing data, so that the content of a read can be checked.
 *
 * A unit of the target, 512 or 4096 bytes, begins with three copies of its identity; the rest is
 * pseudorandom, from the seed and the identity. A unit is recognised as long as two of the three
 * copies of each bit, and three quarters of all bits, are right.
 */
#ifndef AFTL_PAYLOAD_H
#define AFTL_PAYLOAD_H

#include "aftl-host.h"

/**
 * struct payload - identity of the data in a unit
 * @unit: number of the unit
 * @sequence: sequence number of the write, from 1
 * @class: index into the class names of the stream
 */
struct payload {
	u64 unit;
	u32 sequence;
	u8 class;
};

/* Generate @bytes of data, a multiple of 512, for identity @what. @data is aligned to 8 bytes. */
void payload_fill(void *data, u32 bytes, u64 seed, const struct payload *what);

/* Count the bits of a unit that differ from the data that payload_fill() generates for @what. */
u32 payload_count_flips(const void *data, u32 bytes, u64 seed, const struct payload *what);

/* Return true if data with @flips wrong bits are recognised; in other data half of the bits are. */
static inline bool is_payload_recognised(u32 bytes, u32 flips)
{
	return flips < bytes * 8 / 4;
}

/**
 * payload_read_head() - recover the identity of a unit from its data
 * @flips: takes the number of bits that differ from payload_fill()'s output
 *
 * Return: false if the data are not recognised with this seed.
 */
bool payload_read_head(const void *data, u32 bytes, u64 seed, struct payload *what, u32 *flips);

#endif
