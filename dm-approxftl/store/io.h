/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bio under way, and its bytes.
 */
#ifndef AFTL_IO_H
#define AFTL_IO_H

#include <linux/device-mapper.h>

#include "core/ftl/ftl.h"

struct aftl_dev_fetch;
struct aftl_disk;

/* Largest bio: it is handled in one go. */
#define AFTL_IO_SECTORS (SZ_256K >> SECTOR_SHIFT)

/**
 * struct aftl_flush - waits in the durable store for a commit
 * @node: in the store's list
 * @end: number of the first operation that it need not wait for
 * @now_ns: device time when it was asked for
 * @age_ns: see aftl_age_ns()
 * @memory: see aftl_policy_memory()
 */
struct aftl_flush {
	struct list_head node;
	u32 end;
	u64 now_ns;
	u64 age_ns;
	u64 memory;
};

/**
 * struct aftl_content - of a unit, as it was when the FTL read it
 * @read: what the FTL says of it
 * @flip_key: see aftl_io_flip_key(), if bits are to be inverted
 * @page: what the store holds for it
 */
struct aftl_content {
	struct aftl_read read;
	u64 flip_key;
	struct page *page;
};

/**
 * struct aftl_io - one bio under way
 * @request: what the FTL sees of it
 * @bio: which; NULL for a request of our own
 * @bytes: payload, and what it replaced; see store.h
 * @contents: what a read of a store in memory has got, to be copied at its end; else NULL
 * @content: one of them; that is all where there is no memory, or no need, for more
 * @content_room: how many there can be
 * @content_count: how many there are
 * @fetches: reads from a durable store, NULL for other stores and requests
 * @fetch_count: how many
 * @fetches_pooled: from the pool of the store
 * @fetching: those that are not over, and one for the FTL
 * @zone_claims: of a request about zones to a durable store, room in its queue; else 0
 * @commits: ends when what came before it is durable
 * @flush: then, where it waits for that
 * @failed: why the durable store could not do it, or BLK_STS_OK
 */
struct aftl_io {
	struct aftl_request request;
	struct bio *bio;
	struct list_head bytes;
	struct aftl_content *contents;
	struct aftl_content content;
	u32 content_room;
	u32 content_count;
	struct aftl_dev_fetch *fetches;
	u32 fetch_count;
	bool fetches_pooled;
	atomic_t fetching;
	u32 zone_claims;
	bool commits;
	blk_status_t failed;
	struct aftl_flush flush;
};

static inline struct aftl_io *aftl_request_io(struct aftl_request *request)
{
	return container_of(request, struct aftl_io, request);
}

static inline struct bio *aftl_io_bio(const struct aftl_io *io)
{
	return io->bio;
}

/* Copy the data of @bio at @at, a unit's worth, to @to; or back, zeroes from NULL. */
void aftl_copy_from_bio(char *to, struct bio *bio, struct bvec_iter at);
void aftl_copy_to_bio(struct bio *bio, struct bvec_iter at, const char *from);

/* Where the data of @lpn are in the bio of @io. */
struct bvec_iter aftl_io_position(const struct aftl_disk *disk, const struct aftl_io *io,
				  aftl_lpn_t lpn);

/* Room for what a read of a store in memory gets. May sleep, but not start I/O. */
void aftl_io_prepare_contents(struct aftl_io *io);

/* Hold what @read is about until the end of the bio. Context: under the disk's lock. */
void aftl_io_hold(const struct aftl_disk *disk, struct aftl_io *io, const struct aftl_read *read);

/* Put what is held into the bio. Context: any but a hard interrupt; no lock is needed. */
void aftl_io_copy(const struct aftl_disk *disk, struct aftl_io *io);

/*
 * Put the unit that @read is about into the bio: bytes at @from, then their errors.
 * Context: under the disk's lock.
 */
void aftl_io_fill(const struct aftl_disk *disk, struct aftl_io *io, const struct aftl_read *read,
		  const char *from);

/*
 * Which bits of the unit have errors: what is needed of parameters that may change. Context:
 * under the disk's lock.
 */
u64 aftl_io_flip_key(const struct aftl_disk *disk, const struct aftl_read *read);

/*
 * The bytes are there: invert those bits of them that have errors. Context: any; of the FTL
 * only its geometry is looked at, which does not change.
 */
void aftl_io_flip(const struct aftl_disk *disk, struct aftl_io *io,
		  const struct aftl_read *read, u64 key);

#endif
