/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data that say themselves where they belong, so that what comes back can be judged.
 *
 * A unit of the target, 512 or 4096 bytes, begins with three copies of what it is; the rest
 * are draws that depend on seed and that. Two bits in three must be right to know the unit
 * again, and three bits in four of the rest.
 */
#ifndef AFTL_PAYLOAD_H
#define AFTL_PAYLOAD_H

#include "aftl-host.h"

/**
 * struct payload - what a unit holds
 * @unit: its address, in units
 * @sequence: the write that brought it, counted from 1
 * @class: index into the class names of the stream
 */
struct payload {
	u64 unit;
	u32 sequence;
	u8 class;
};

/* Writes @bytes, a multiple of 512, that say @what. @data is aligned to 8 bytes. */
void payload_fill(void *data, u32 bytes, u64 seed, const struct payload *what);

/* Bits in which @data differ from what payload_fill() writes. */
u32 payload_flips(const void *data, u32 bytes, u64 seed, const struct payload *what);

/* Are so many flips still the same data? Others differ in about half of the bits. */
static inline bool payload_same(u32 bytes, u32 flips)
{
	return flips < bytes * 8 / 4;
}

/**
 * payload_read() - what do @data say that they are?
 * @flips: bits in which they differ from what they say
 *
 * Return: false if they say nothing with this seed.
 */
bool payload_read(const void *data, u32 bytes, u64 seed, struct payload *what, u32 *flips);

#endif
