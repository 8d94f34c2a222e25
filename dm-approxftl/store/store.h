/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the bytes of the emulated device are.
 *
 * The stores in memory keep the newest bytes of each logical unit. They need not follow
 * the FTL's moves: a copy is identical to its origin, for bit errors are applied when a
 * unit is read and are not part of what is stored. The durable store, durable.h, keeps
 * what is in every slot of the media, and follows every move.
 *
 * Bytes reach a store in two steps, so that nothing is allocated and no payload copied
 * while the FTL is locked: gather() takes a bio's data in the submitter's context, and
 * accept() makes one unit of it current when the FTL lets the write into the
 * controller. What accept() and forget() replace comes back on the same list and is
 * freed when the bio is complete. They leave a store in two steps, too: hold() when the FTL
 * reads, copy() without its lock.
 */
#ifndef AFTL_STORE_H
#define AFTL_STORE_H

#include <linux/bio.h>

#include "core/base/geometry.h"

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
	 * An empty store for a device of that shape, units no larger than a page, with memory
	 * of @node or NUMA_NO_NODE; NULL without memory. May sleep. NULL for a store that needs
	 * more, see durable.h.
	 */
	struct aftl_store *(*create)(const struct aftl_geometry *geo, int node);

	/* May sleep. */
	void (*destroy)(struct aftl_store *store);

	/*
	 * Append the data of @bio to @bytes, unit by unit. May sleep, but not start
	 * I/O. Returns 0 or -ENOMEM; what has been appended stays there.
	 */
	int (*gather)(struct aftl_store *store, struct bio *bio, struct list_head *bytes);

	/*
	 * Make the head of @bytes the content of @lpn, which the controller knows by
	 * @tag, and append what it replaces. With an empty @bytes the content stays.
	 * Under the FTL's lock.
	 */
	void (*accept)(struct aftl_store *store, aftl_lpn_t lpn, u32 tag,
		       struct list_head *bytes);

	/* Move the content of @units units from @lpn on to @bytes. Under the FTL's lock. */
	void (*forget)(struct aftl_store *store, aftl_lpn_t lpn, u32 units,
		       struct list_head *bytes);

	/*
	 * The content of @lpn, to be let go by copy(): whoever replaces it meanwhile does not
	 * change it. NULL if nobody has written it. Under the FTL's lock. NULL, as copy(), for
	 * a store that has to wait for its bytes.
	 */
	struct page *(*hold)(struct aftl_store *store, aftl_lpn_t lpn);

	/* Copy what @held has of a unit to @bio at @at, and let it go. As release(). */
	void (*copy)(struct page *held, struct bio *bio, struct bvec_iter at);

	/* Free @bytes. Any context but a hard interrupt. */
	void (*release)(struct aftl_store *store, struct list_head *bytes);

	/*
	 * Does the store have bytes of @lpn? Under the FTL's lock, or without I/O. NULL
	 * for a store whose content stays where it is when a table is reloaded.
	 */
	bool (*holds)(struct aftl_store *store, aftl_lpn_t lpn);

	/* Memory held for content, about: no lock is held while all of it is looked at. */
	u64 (*held)(struct aftl_store *store);

	/* Memory of everything else. */
	u64 (*overhead)(struct aftl_store *store);

	/* The bytes that overhead() will return for a new store of a device of this geometry. */
	u64 (*need)(const struct aftl_geometry *geo);
};

/**
 * struct aftl_store - a store; embedded in that of its type
 */
struct aftl_store {
	const struct aftl_store_type *type;
};

extern const struct aftl_store_type aftl_store_none;
extern const struct aftl_store_type aftl_store_ram;
extern const struct aftl_store_type aftl_store_dev;

#endif
