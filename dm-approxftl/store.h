/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the bytes of the emulated device are.
 *
 * A store keeps the newest bytes of each logical unit. It need not follow the FTL's
 * moves: a copy is identical to its origin, for bit errors are applied when a unit is
 * read and are not part of what is stored.
 *
 * Bytes reach a store in two steps, so that nothing is allocated and no payload copied
 * while the FTL is locked: gather() takes a bio's data in the submitter's context, and
 * accept() makes one unit of it current when the FTL lets the write into the
 * controller. What accept() and forget() replace comes back on the same list and is
 * freed when the bio is complete.
 */
#ifndef AFTL_STORE_H
#define AFTL_STORE_H

#include <linux/bio.h>

#include "types.h"

struct aftl_store;

/**
 * struct aftl_store_type - a kind of store
 * @name: first word of a table line
 * @about: one phrase for a person
 */
struct aftl_store_type {
	const char *name;
	const char *about;

	/*
	 * An empty store of @units units of @unit_bytes bytes, a power of two up to a
	 * page; NULL without memory. May sleep.
	 */
	struct aftl_store *(*create)(u32 units, u32 unit_bytes);

	/* May sleep. */
	void (*destroy)(struct aftl_store *store);

	/*
	 * Append the data of @bio to @bytes, unit by unit. May sleep, but not start
	 * I/O. Returns 0 or -ENOMEM; what has been appended stays there.
	 */
	int (*gather)(struct aftl_store *store, struct bio *bio, struct list_head *bytes);

	/*
	 * Make the head of @bytes the content of @unit and append what it replaces.
	 * With an empty @bytes the content stays. Under the FTL's lock.
	 */
	void (*accept)(struct aftl_store *store, aftl_unit_t unit, struct list_head *bytes);

	/* Move the content of @units units from @unit on to @bytes. Under the FTL's lock. */
	void (*forget)(struct aftl_store *store, aftl_unit_t unit, u32 units,
		       struct list_head *bytes);

	/*
	 * Copy the content of @unit to @bio at @at; zeroes if nobody has written it.
	 * Under the FTL's lock.
	 */
	void (*fetch)(struct aftl_store *store, aftl_unit_t unit, struct bio *bio,
		      struct bvec_iter at);

	/* Free @bytes. Any context but a hard interrupt. */
	void (*release)(struct list_head *bytes);

	/* Does the store have bytes of @unit? Under the FTL's lock, or without I/O. */
	bool (*holds)(struct aftl_store *store, aftl_unit_t unit);

	/* Memory held for content. */
	u64 (*held)(struct aftl_store *store);
};

/**
 * struct aftl_store - a store; embedded in that of its type
 */
struct aftl_store {
	const struct aftl_store_type *type;
};

extern const struct aftl_store_type aftl_store_none;
extern const struct aftl_store_type aftl_store_ram;

#endif
