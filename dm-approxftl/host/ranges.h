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
 * @tree: byte to class; bytes of which nothing is said are not in it
 * @count: ranges in it; neighbours of one class are one range
 */
struct aftl_ranges {
	struct maple_tree tree;
	u32 count;
};

/* Things that might make a write approximate; a write looks no further when it is 0. */
extern atomic_t aftl_tags_in_use;

void aftl_ranges_init(struct aftl_ranges *ranges);
void aftl_ranges_destroy(struct aftl_ranges *ranges);

/**
 * aftl_ranges_set() - say @class of the bytes from @first to @last
 * @ranges: not changed by anybody else meanwhile
 * @first: first byte
 * @last: last byte
 * @class: enum approxftl_class; APPROXFTL_NONE takes back what was said
 * @room: ranges that there may be more than now
 *
 * Return: 0, -ENOSPC or -ENOMEM.
 */
int __must_check aftl_ranges_set(struct aftl_ranges *ranges, u64 first, u64 last, u32 class,
				 u32 room);

/**
 * aftl_ranges_class() - what is said of the bytes from @first to @last
 *
 * Does not sleep. Return: APPROXFTL_PRECISE if that is said of any of them,
 * APPROXFTL_APPROXIMATE if that is said of all, else APPROXFTL_NONE.
 */
u32 aftl_ranges_class(const struct aftl_ranges *ranges, u64 first, u64 last);

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
