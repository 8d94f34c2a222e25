/* SPDX-License-Identifier: GPL-2.0-only */
/* Set of tagged byte ranges of a file or a device: one writer at a time, any number of readers. */
#ifndef AFTL_TAG_RANGES_H
#define AFTL_TAG_RANGES_H

#include <linux/atomic.h>
#include <linux/maple_tree.h>

#include <linux/approxftl.h>

/* Largest byte offset in a file. */
#define AFTL_LAST_BYTE ((u64)LLONG_MAX)

/* Number of ranges that are read under the lock of a tree at a time: writes wait for the lock. */
#define AFTL_RANGES_SLICE 256

/**
 * struct aftl_ranges - tagged ranges of a file or a device
 * @tree: byte offset to tag; has no entry for untagged bytes
 * @count: number of ranges; adjacent ranges with the same tag are one range
 */
struct aftl_ranges {
	struct maple_tree tree;
	u32 count;
};

/*
 * A tag is a quality level, 0 for precise data, or AFTL_TAG_NONE for untagged data. Smaller is
 * stricter: of several tags the smallest applies.
 */
#define AFTL_TAG_NONE (APPROXFTL_LEVEL_MAX + 1)

/**
 * aftl_class_to_tag() - convert a class to a tag
 * @class: enum approxftl_class
 *
 * Return: quality level or AFTL_TAG_NONE.
 */
static inline u32 aftl_class_to_tag(u32 class)
{
	static const u8 tags[] = {
		[APPROXFTL_PRECISE] = 0, [APPROXFTL_APPROXIMATE] = 1, [APPROXFTL_LEVEL_2] = 2,
		[APPROXFTL_LEVEL_3] = 3, [APPROXFTL_NONE] = AFTL_TAG_NONE,
	};

	return tags[class];
}

/**
 * aftl_tag_to_class() - convert a tag to a class
 * @tag: quality level or AFTL_TAG_NONE
 *
 * Return: enum approxftl_class.
 */
static inline u32 aftl_tag_to_class(u32 tag)
{
	static const u8 classes[] = {
		APPROXFTL_PRECISE, APPROXFTL_APPROXIMATE, APPROXFTL_LEVEL_2, APPROXFTL_LEVEL_3,
		[AFTL_TAG_NONE] = APPROXFTL_NONE,
	};

	return classes[tag];
}

/* Number of tagged files, devices, threads and processes; while 0, a write needs no look-up. */
extern atomic_t aftl_tags_in_use;

/**
 * aftl_tagged_ranges_init_tree() - initialise an empty set
 * @ranges: set
 */
void aftl_tagged_ranges_init_tree(struct aftl_ranges *ranges);

/**
 * aftl_tagged_ranges_destroy() - free all ranges of a set
 * @ranges: set that nobody else uses any more
 *
 * Context: process.
 */
void aftl_tagged_ranges_destroy(struct aftl_ranges *ranges);

/**
 * aftl_tag_byte_range() - tag the bytes from @first to @last
 * @ranges: set that nobody else changes meanwhile
 * @first: first byte
 * @last: last byte
 * @tag: quality level, or AFTL_TAG_NONE to remove the tag
 * @room: number of ranges by which the set may grow
 *
 * Context: process; may sleep.
 * Return: 0, -ENOSPC or -ENOMEM.
 */
int __must_check aftl_tag_byte_range(struct aftl_ranges *ranges, u64 first, u64 last, u32 tag,
				     u32 room);

/**
 * aftl_get_tag_of_byte_range() - look up the tag of the bytes from @first to @last
 * @ranges: set
 * @first: first byte
 * @last: last byte
 *
 * Context: takes the tree's lock; does not sleep.
 * Return: 0 if any of the bytes are tagged precise; else the smallest quality level if all of them
 * are tagged; else AFTL_TAG_NONE.
 */
u32 aftl_get_tag_of_byte_range(const struct aftl_ranges *ranges, u64 first, u64 last);

/**
 * aftl_tagged_ranges_list() - list the ranges in order
 * @ranges: set
 * @cursor: in: list ranges that end at or after this byte; out: the byte after the last listed
 *	range, or APPROXFTL_TO_END if no more follow
 * @last: list no range that begins after this byte
 * @extents: array that is filled in
 * @room: size of @extents
 *
 * Context: takes the tree's lock; does not sleep.
 * Return: number of extents filled in.
 */
u32 aftl_tagged_ranges_list(const struct aftl_ranges *ranges, u64 *cursor, u64 last,
			    struct approxftl_extent *extents, u32 room);

#endif
