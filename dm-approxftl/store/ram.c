// SPDX-License-Identifier: GPL-2.0-only
/*
 * A store in memory: one memory page for each logical page that was written and not discarded, even
 * if the mapping unit is smaller.
 *
 * The table of pages is fully allocated, 8 bytes for each logical page, so that accept() needs no
 * memory. The disk's lock protects it; this file takes no lock.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "core/base/chunks.h"
#include "store/io.h"
#include "store/store.h"

/*
 * Allocations fail rather than start I/O, which may write to this store, or invoke the OOM killer.
 */
#define CONTENT_GFP (GFP_NOIO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)
#define TABLE_GFP (GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * struct ram_store - the store
 * @store: base of the store
 * @pages: table by lpn; NULL if the logical page has no data
 * @units: number of entries of @pages
 * @used: number of pages in @pages
 * @unit_bytes: size of a mapping unit
 * @node: NUMA node of the table and the pages
 * @spare: a replaced page for the next write, or NULL; exchanged atomically, without a lock
 */
struct ram_store {
	struct aftl_store store;
	struct aftl_chunks pages;
	u32 units;
	u32 used;
	u32 unit_bytes;
	int node;
	struct page *spare;
};

static struct ram_store *to_ram(struct aftl_store *store)
{
	return container_of(store, struct ram_store, store);
}

static struct page **get_page_entry_of_unit(const struct ram_store *ram, u32 unit)
{
	return aftl_chunk_entry(&ram->pages, struct page *, unit);
}

static void *alloc_ram_table_chunk(void *host, size_t bytes)
{
	const struct ram_store *ram = host;

	if ((long)(bytes >> PAGE_SHIFT) >= si_mem_available())
		return NULL;
	return kvmalloc_node(bytes, TABLE_GFP, ram->node);
}

static void free_ram_table_chunk(void *host, void *memory, size_t bytes)
{
	kvfree(memory);
}

static void free_ram_store_table(struct ram_store *ram)
{
	aftl_chunks_free(&ram->pages, ram->units, sizeof(struct page *), free_ram_table_chunk,
			 NULL);
	kfree(ram);
}

static struct aftl_store *ram_store_create(const struct aftl_geometry *geo, int node)
{
	struct ram_store *ram = kzalloc_node(sizeof(*ram), GFP_KERNEL, node);

	if (!ram)
		return NULL;
	ram->store.type = &aftl_store_ram;
	ram->units = geo->units;
	ram->unit_bytes = geo->unit_bytes;
	ram->node = node;
	if (aftl_chunks_alloc(&ram->pages, ram->units, sizeof(struct page *), alloc_ram_table_chunk,
			      ram))
		return &ram->store;
	free_ram_store_table(ram);
	return NULL;
}

/*
 * Take the spare page, else allocate one. An overwrite frees as many pages as it needs, so that the
 * next overwrite finds a spare page.
 */
static struct page *take_spare_or_new_page(struct ram_store *ram)
{
	struct page *page = xchg(&ram->spare, NULL);

	return page ? page : alloc_pages_node(ram->node, CONTENT_GFP, 0);
}

/*
 * Make a replaced page the spare one, unless a reader still holds it: then only drop the reference.
 * No new reader can find the page.
 */
static void recycle_replaced_page(struct ram_store *ram, struct page *page)
{
	if (page_count(page) != 1 || cmpxchg(&ram->spare, NULL, page))
		put_page(page);
}

static void ram_store_release_pages(struct aftl_store *store, struct list_head *bytes)
{
	struct page *page;
	struct page *next;

	list_for_each_entry_safe(page, next, bytes, lru)
		recycle_replaced_page(to_ram(store), page);
	INIT_LIST_HEAD(bytes);
}

static void ram_store_destroy(struct aftl_store *store)
{
	struct ram_store *ram = to_ram(store);
	u32 i;

	for (i = 0; i < ram->units; i++) {
		if (*get_page_entry_of_unit(ram, i))
			__free_page(*get_page_entry_of_unit(ram, i));
		cond_resched();
	}
	if (ram->spare)
		__free_page(ram->spare);
	free_ram_store_table(ram);
}

static int ram_store_copy_from_bio(struct aftl_store *store, struct bio *bio,
				   struct list_head *bytes)
{
	struct bvec_iter rest = bio->bi_iter;
	u32 unit_bytes = to_ram(store)->unit_bytes;

	while (rest.bi_size) {
		struct page *page = take_spare_or_new_page(to_ram(store));
		struct bvec_iter at = rest;

		if (!page)
			return -ENOMEM;
		at.bi_size = unit_bytes;
		aftl_copy_from_bio(page_address(page), bio, at);
		list_add_tail(&page->lru, bytes);
		bio_advance_iter(bio, &rest, unit_bytes);
	}
	return 0;
}

static void ram_store_accept_unit(struct aftl_store *store, aftl_lpn_t lpn, u32 tag,
				  struct list_head *bytes)
{
	struct ram_store *ram = to_ram(store);
	struct page **place = get_page_entry_of_unit(ram, from_lpn(lpn));
	struct page *page = list_first_entry_or_null(bytes, struct page, lru);

	if (!page)
		return;
	list_del(&page->lru);
	if (*place)
		list_add_tail(&(*place)->lru, bytes);
	else
		ram->used++;
	*place = page;
}

static void ram_store_forget_units(struct aftl_store *store, aftl_lpn_t lpn, u32 units,
				   struct list_head *bytes)
{
	struct ram_store *ram = to_ram(store);
	u32 i;

	for (i = from_lpn(lpn); i < from_lpn(lpn) + units; i++) {
		struct page **place = get_page_entry_of_unit(ram, i);

		if (!*place)
			continue;
		list_add_tail(&(*place)->lru, bytes);
		*place = NULL;
		ram->used--;
	}
}

static struct page *ram_store_hold(struct aftl_store *store, aftl_lpn_t lpn)
{
	struct page *page = *get_page_entry_of_unit(to_ram(store), from_lpn(lpn));

	if (likely(page))
		get_page(page);
	return page;
}

static void ram_store_copy_to_bio(struct page *held, struct bio *bio, struct bvec_iter at)
{
	aftl_copy_to_bio(bio, at, held ? page_address(held) : NULL);
	if (likely(held))
		put_page(held);
}

static bool ram_store_has_data(struct aftl_store *store, aftl_lpn_t lpn)
{
	return *get_page_entry_of_unit(to_ram(store), from_lpn(lpn));
}

static u64 ram_store_count_data_bytes(struct aftl_store *store)
{
	return (u64)READ_ONCE(to_ram(store)->used) << PAGE_SHIFT;
}

static u64 ram_store_needed_bytes(const struct aftl_geometry *geo)
{
	return sizeof(struct ram_store) + (u64)geo->units * sizeof(struct page *);
}

static u64 ram_store_overhead_bytes(struct aftl_store *store)
{
	return sizeof(struct ram_store) + (u64)to_ram(store)->units * sizeof(struct page *);
}

const struct aftl_store_type aftl_store_ram = {
	.name = "ram",
	.about = "keeps data in memory until the device is removed",
	.create = ram_store_create,
	.destroy = ram_store_destroy,
	.gather = ram_store_copy_from_bio,
	.accept = ram_store_accept_unit,
	.forget = ram_store_forget_units,
	.hold = ram_store_hold,
	.copy = ram_store_copy_to_bio,
	.release = ram_store_release_pages,
	.holds = ram_store_has_data,
	.held = ram_store_count_data_bytes,
	.overhead = ram_store_overhead_bytes,
	.need = ram_store_needed_bytes,
};
