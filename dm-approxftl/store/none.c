// SPDX-License-Identifier: GPL-2.0-only
/*
 * A store that keeps no data, to measure devices larger than memory. A written logical page reads
 * as its number, repeated as a little-endian 64-bit word. Takes no lock.
 */
#include <linux/slab.h>

#include "store/store.h"

static struct aftl_store *none_store_create(const struct aftl_geometry *geo, int node)
{
	struct aftl_store *store = kzalloc(sizeof(*store), GFP_KERNEL);

	if (store)
		store->type = &aftl_store_none;
	return store;
}

static void none_store_destroy(struct aftl_store *store)
{
	kfree(store);
}

static int none_store_ignore_bio_data(struct aftl_store *store, struct bio *bio,
				      struct list_head *bytes)
{
	return 0;
}

static void none_store_accept_unit(struct aftl_store *store, aftl_lpn_t lpn, u32 tag,
				   struct list_head *bytes)
{
}

static void none_store_forget_units(struct aftl_store *store, aftl_lpn_t lpn, u32 units,
				    struct list_head *bytes)
{
}

/* Fill a bio segment with copies of @word: it consists of whole sectors, hence of whole words. */
static void fill_segment_with_word(struct bio_vec *segment, __le64 word)
{
	__le64 *to = bvec_kmap_local(segment);
	u32 i;

	for (i = 0; i < segment->bv_len / sizeof(word); i++)
		to[i] = word;
	kunmap_local(to);
}

static struct page *none_store_hold(struct aftl_store *store, aftl_lpn_t lpn)
{
	return NULL;
}

/* The number of the logical page follows from bi_sector, the sector in the whole mapped device. */
static void none_store_copy_to_bio(struct page *held, struct bio *bio, struct bvec_iter at)
{
	u32 unit_shift = ilog2(at.bi_size >> SECTOR_SHIFT);
	struct bvec_iter iter;
	struct bio_vec segment;

	__bio_for_each_segment(segment, bio, iter, at)
		fill_segment_with_word(&segment, cpu_to_le64(at.bi_sector >> unit_shift));
}

static void none_store_release_pages(struct aftl_store *store, struct list_head *bytes)
{
}

static bool none_store_has_data(struct aftl_store *store, aftl_lpn_t lpn)
{
	return false;
}

static u64 none_store_count_data_bytes(struct aftl_store *store)
{
	return 0;
}

static u64 none_store_overhead_bytes(struct aftl_store *store)
{
	return sizeof(*store);
}

static u64 none_store_needed_bytes(const struct aftl_geometry *geo)
{
	return sizeof(struct aftl_store);
}

const struct aftl_store_type aftl_store_none = {
	.name = "none",
	.about = "keeps no data: what was written reads as the number of its unit",
	.create = none_store_create,
	.destroy = none_store_destroy,
	.gather = none_store_ignore_bio_data,
	.accept = none_store_accept_unit,
	.forget = none_store_forget_units,
	.hold = none_store_hold,
	.copy = none_store_copy_to_bio,
	.release = none_store_release_pages,
	.holds = none_store_has_data,
	.held = none_store_count_data_bytes,
	.overhead = none_store_overhead_bytes,
	.need = none_store_needed_bytes,
};
