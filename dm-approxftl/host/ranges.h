/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges of bytes with a class: changed by one at a time, read by anybody.
 */
#ifndef AFTL_TAG_RANGES_H
#define AFTL_TAG_RANGES_H

#include <linux/atomic.h>
#include <linux/maple_tree.h>

#include <linux/approxftl.h>

/* The last byte that a file can have. */
#define AFTL_LAST_BYTE ((u64)LLONG_MAX)

/**
 * struct aftl_ranges - what is said of a file or of a disk
 * @tree: byte to what is said; bytes of which nothing is said are not in it
 * @count: ranges in it; neighbours of which the same is said are one range
 */
struct aftl_ranges {
	struct maple_tree tree;
	u32 count;
};

/*
 * What is said of data, the most careful first: a quality level, 0 for precise, or nothing.
 */
#define AFTL_SAY_NONE (APPROXFTL_LEVEL_MAX + 1)

/* @class: enum approxftl_class */
static inline u32 aftl_say(u32 class)
{
	static const u8 says[] = {
		[APPROXFTL_PRECISE] = 0, [APPROXFTL_APPROXIMATE] = 1, [APPROXFTL_LEVEL_2] = 2,
		[APPROXFTL_LEVEL_3] = 3, [APPROXFTL_NONE] = AFTL_SAY_NONE,
	};

	return says[class];
}

static inline u32 aftl_said_class(u32 say)
{
	static const u8 classes[] = {
		APPROXFTL_PRECISE, APPROXFTL_APPROXIMATE, APPROXFTL_LEVEL_2, APPROXFTL_LEVEL_3,
		[AFTL_SAY_NONE] = APPROXFTL_NONE,
	};

	return classes[say];
}

/* Things that might make a write approximate; a write looks no further when it is 0. */
extern atomic_t aftl_tags_in_use;

void aftl_ranges_init(struct aftl_ranges *ranges);
void aftl_ranges_destroy(struct aftl_ranges *ranges);

/**
 * aftl_ranges_set() - say @say of the bytes from @first to @last
 * @ranges: not changed by anybody else meanwhile
 * @first: first byte
 * @last: last byte
 * @say: a quality level; AFTL_SAY_NONE takes back what was said
 * @room: ranges that there may be more than now
 *
 * Return: 0, -ENOSPC or -ENOMEM.
 */
int __must_check aftl_ranges_set(struct aftl_ranges *ranges, u64 first, u64 last, u32 say,
				 u32 room);

/**
 * aftl_ranges_say() - what is said of the bytes from @first to @last
 *
 * Does not sleep. Return: 0 if that is said of any of them, the smallest quality level if one is
 * said of each, else AFTL_SAY_NONE.
 */
u32 aftl_ranges_say(const struct aftl_ranges *ranges, u64 first, u64 last);

/**
 * aftl_ranges_list() - the ranges, in order
 * @ranges: of what
 * @cursor: which to begin with: that ends at this byte or after; moved on
 * @extents: takes them
 * @room: how many fit
 *
 * Does not sleep. Return: how many there are.
 */
u32 aftl_ranges_list(const struct aftl_ranges *ranges, u64 *cursor,
		     struct approxftl_extent *extents, u32 room);

#endif
