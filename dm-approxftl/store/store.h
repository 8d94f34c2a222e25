/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of a store: it keeps the data of an emulated device.
 *
 * A store in memory keeps the newest data of each logical page. It ignores relocations: a copy is
 * identical to its source, because bit errors are applied when a logical page is read and are not
 * stored. The durable store, dev.h, keeps the data of each physical page and follows relocations.
 *
 * A write has two steps, so that nothing is allocated and no payload is copied under the disk's
 * lock: gather() copies the bio's data in the submitter's context, and accept() makes the data of
 * one logical page current when the FTL accepts the write. accept() and forget() append the pages
 * that they replace to the list that they are given, which is freed when the bio is complete. A
 * read from a store in memory has two steps, too: hold() under the disk's lock, copy() without it.
 */
#ifndef AFTL_STORE_H
#define AFTL_STORE_H

#include <linux/bio.h>

#include "core/base/geometry.h"

struct aftl_store;

/**
 * struct aftl_store_type - operations of a kind of store
 * @name: first word of the table line
 * @about: description in one phrase
 */
struct aftl_store_type {
	const char *name;
	const char *about;

	/*
	 * Create an empty store for a device whose mapping unit is not larger than a memory page.
	 * @node is the NUMA node of its memory, or NUMA_NO_NODE. NULL for the durable store, see
	 * aftl_dev_open(). Context: process; may sleep. Return: the store, or NULL without memory.
	 */
	struct aftl_store *(*create)(const struct aftl_geometry *geo, int node);

	/* Free the store with its data. Context: process; may sleep. */
	void (*destroy)(struct aftl_store *store);

	/*
	 * Append a page for each logical page of @bio to @bytes, with its data. Context: process;
	 * may sleep, but must not start I/O for memory. Return: 0; or -ENOMEM, and the caller
	 * releases @bytes.
	 */
	int (*gather)(struct aftl_store *store, struct bio *bio, struct list_head *bytes);

	/*
	 * Make the first page of @bytes the data of @lpn, which is in the write buffer as @tag, and
	 * append the page that it replaces to @bytes. An empty @bytes changes nothing in a store
	 * in memory. Context: under the disk's lock.
	 */
	void (*accept)(struct aftl_store *store, aftl_lpn_t lpn, u32 tag,
		       struct list_head *bytes);

	/* Move the memory pages of @units lpns to the list @bytes. Context: disk's lock held. */
	void (*forget)(struct aftl_store *store, aftl_lpn_t lpn, u32 units,
		       struct list_head *bytes);

	/*
	 * Take a reference to the data of @lpn for copy(); a write replaces the page, but does not
	 * change it. hold() and copy() are NULL for a store that has to wait for its data. Context:
	 * under the disk's lock. Return: the page; NULL if the store has none for @lpn.
	 */
	struct page *(*hold)(struct aftl_store *store, aftl_lpn_t lpn);

	/*
	 * Copy the data of the page @held, which hold() returned, to @bio at @at, and drop the
	 * reference. Context: any but a hard interrupt.
	 */
	void (*copy)(struct page *held, struct bio *bio, struct bvec_iter at);

	/* Free the memory pages in the list @bytes. Context: any but a hard interrupt. */
	void (*release)(struct aftl_store *store, struct list_head *bytes);

	/*
	 * Return true if the store has data of @lpn. NULL for a store whose data do not move when a
	 * table is reloaded. Context: under the disk's lock, or while no I/O is in flight.
	 */
	bool (*holds)(struct aftl_store *store, aftl_lpn_t lpn);

	/* Return the bytes of memory for data; approximate, because it is read without a lock. */
	u64 (*held)(struct aftl_store *store);

	/* Return the bytes of the store's memory that is not used for data. */
	u64 (*overhead)(struct aftl_store *store);

	/* Return the bytes that a new store of a device with this geometry takes without data. */
	u64 (*need)(const struct aftl_geometry *geo);
};

/**
 * struct aftl_store - base of a store, embedded in the structure of its type
 * @type: its operations
 */
struct aftl_store {
	const struct aftl_store_type *type;
};

extern const struct aftl_store_type aftl_store_none;
extern const struct aftl_store_type aftl_store_ram;
extern const struct aftl_store_type aftl_store_dev;

#endif
