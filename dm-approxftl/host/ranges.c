// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tagged byte ranges in a maple tree.
 *
 * Readers take the tree's lock. Lockless readers would need nodes to be freed by RCU, but
 * mt_free_walk() of Linux 6.12 crashes on trees of some thousand ranges: it mistakes the metadata
 * of a node with fifteen children for the sixteenth child.
 */
#include <linux/sched.h>
#include <linux/xarray.h>

#include "host/ranges.h"

atomic_t aftl_tags_in_use __read_mostly;

void aftl_tagged_ranges_init_tree(struct aftl_ranges *ranges)
{
	mt_init(&ranges->tree);
	ranges->count = 0;
}

void aftl_tagged_ranges_destroy(struct aftl_ranges *ranges)
{
	mtree_destroy(&ranges->tree);
}

/* Cast away const: a reader takes the lock but does not change the tree. */
static struct maple_tree *get_tree_of_ranges(const struct aftl_ranges *ranges)
{
	return (struct maple_tree *)&ranges->tree;
}

static u32 get_tag_of_tree_entry(const void *entry)
{
	return xa_to_value(entry);
}

/* Extend a new range over adjacent ranges with the same tag, which it replaces. */
static void widen_tagged_range(const struct aftl_ranges *ranges, u64 *first, u64 *last, u32 tag)
{
	MA_STATE(mas, get_tree_of_ranges(ranges), *first ? *first - 1 : 0, 0);
	void *entry;

	mas_lock(&mas);
	entry = mas_walk(&mas);
	if (entry && get_tag_of_tree_entry(entry) == tag)
		*first = min_t(u64, *first, mas.index);
	mas_set(&mas, *last + 1);
	entry = mas_walk(&mas);
	if (entry && get_tag_of_tree_entry(entry) == tag)
		*last = mas.last;
	mas_unlock(&mas);
}

/* Return the number of ranges if @added new ranges replace those from @first to @last. */
static u32 count_ranges_after_tagging(const struct aftl_ranges *ranges, u64 first, u64 last,
				      u32 added)
{
	MA_STATE(mas, get_tree_of_ranges(ranges), first, first);
	u32 count = ranges->count + added;
	u32 seen = 0;
	void *entry;

	mas_lock(&mas);
	mas_for_each(&mas, entry, last) {
		count += (mas.index < first) + (mas.last > last);
		count--;
		if (++seen % AFTL_RANGES_SLICE)
			continue;
		mas_pause(&mas);
		mas_unlock(&mas);
		cond_resched();
		mas_lock(&mas);
	}
	mas_unlock(&mas);
	return count;
}

int aftl_tag_byte_range(struct aftl_ranges *ranges, u64 first, u64 last, u32 tag, u32 room)
{
	bool tagged = tag != AFTL_TAG_NONE;
	u32 count;
	int ret;

	if (tagged)
		widen_tagged_range(ranges, &first, &last, tag);
	count = count_ranges_after_tagging(ranges, first, last, tagged);
	if (count > ranges->count && count - ranges->count > room)
		return -ENOSPC;
	ret = mtree_store_range(&ranges->tree, first, last, tagged ? xa_mk_value(tag) : NULL,
				GFP_KERNEL_ACCOUNT);
	if (!ret)
		WRITE_ONCE(ranges->count, count);
	return ret;
}

u32 aftl_get_tag_of_byte_range(const struct aftl_ranges *ranges, u64 first, u64 last)
{
	MA_STATE(mas, get_tree_of_ranges(ranges), first, first);
	u32 tag = AFTL_TAG_NONE;
	u64 next = first;
	void *entry;

	mas_lock(&mas);
	mas_for_each(&mas, entry, last) {
		tag = min(tag, get_tag_of_tree_entry(entry));
		if (!tag)
			break;
		if (mas.index <= next)
			next = mas.last + 1;
	}
	mas_unlock(&mas);
	return !tag || next > last ? tag : AFTL_TAG_NONE;
}

static void describe_range_as_extent(struct approxftl_extent *extent, u64 first, u64 last, u32 tag)
{
	extent->offset = first;
	extent->length = last == AFTL_LAST_BYTE ? APPROXFTL_TO_END : last - first + 1;
	extent->class = tag ? APPROXFTL_APPROXIMATE : APPROXFTL_PRECISE;
	extent->level = tag;
}

u32 aftl_tagged_ranges_list(const struct aftl_ranges *ranges, u64 *cursor, u64 last,
			    struct approxftl_extent *extents, u32 room)
{
	MA_STATE(mas, get_tree_of_ranges(ranges), *cursor, *cursor);
	bool more = false;
	u32 count = 0;
	void *entry;

	mas_lock(&mas);
	mas_for_each(&mas, entry, last) {
		more = count == room;
		if (more)
			break;
		describe_range_as_extent(&extents[count++], mas.index, mas.last,
					 get_tag_of_tree_entry(entry));
		*cursor = mas.last + 1;
	}
	mas_unlock(&mas);
	if (!more)
		*cursor = APPROXFTL_TO_END;
	return count;
}
