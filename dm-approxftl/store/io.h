/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bio in flight: the request that the FTL gets for it, and its data.
 */
#ifndef AFTL_IO_H
#define AFTL_IO_H

#include <linux/device-mapper.h>

#include "core/ftl/ftl.h"

struct aftl_dev_fetch;
struct aftl_disk;

/* Size limit of a bio, which is handled as a whole. */
#define AFTL_IO_SECTORS (SZ_256K >> SECTOR_SHIFT)

/**
 * struct aftl_flush - a request that waits in the durable store for a commit
 * @node: entry of aftl_dev.flushes
 * @end: number of the first operation that need not be durable for this request
 * @persists: @end is not known yet: the worker first queues operations that persist buffered data
 * @now_ns: device time at which it was queued
 * @age_ns: aftl_get_device_age_ns() at that time
 * @memory: aftl_get_policy_state_word() at that time
 */
struct aftl_flush {
	struct list_head node;
	u32 end;
	bool persists;
	u64 now_ns;
	u64 age_ns;
	u64 memory;
};

/**
 * struct aftl_content - data of a logical page, as they were when the FTL read it
 * @read: the FTL's description of the read
 * @flip_key: key that selects the bits with errors; only set if @read has bit errors
 * @page: result of hold() of the store; not set for AFTL_SOURCE_ZERO
 */
struct aftl_content {
	struct aftl_read read;
	u64 flip_key;
	struct page *page;
};

/**
 * struct aftl_io - a bio in flight
 * @request: the FTL's request
 * @bio: the bio; NULL for a request that the target makes itself
 * @bytes: list of memory pages: payload to be written, then the pages that it replaced; see store.h
 * @contents: data held by a read from a store in memory, to be copied when it ends; else NULL
 * @content: the only entry of @contents if one is enough, or memory is short
 * @content_room: size of @contents
 * @content_count: entries of @contents that are used
 * @fetches: reads from a durable store; NULL for other stores and requests
 * @fetch_count: entries of @fetches that are used
 * @fetches_pooled: @fetches is from the pool of the store
 * @fetching: number of fetches in flight, plus one until the FTL has completed the request
 * @zone_claims: operations that a zone request to a durable store has reserved; else 0
 * @commits: completes after a commit of everything before it
 * @failed: error of the durable store, or BLK_STS_OK
 * @flush: used while it waits for the commit
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

/* Copy the data of @bio from position @at to the buffer @to. Context: any. */
void aftl_copy_from_bio(char *to, struct bio *bio, struct bvec_iter at);
/* Copy the buffer @from (NULL: zeroes) to the data of @bio at position @at. Context: any. */
void aftl_copy_to_bio(struct bio *bio, struct bvec_iter at, const char *from);

/* Return the position and size of the data of @lpn in the bio of @io. Context: any. */
struct bvec_iter aftl_io_lpn_offset(const struct aftl_disk *disk, const struct aftl_io *io,
				    aftl_lpn_t lpn);

/* Allocate @io->contents for a read. Cannot fail. Context: process; may sleep, starts no I/O. */
void aftl_io_alloc_array_of_pinned_pages(struct aftl_io *io);

/*
 * Take a reference to the page that @read reads, for aftl_io_copy_pinned_pages_to_bio(); copy the
 * data at once if
 * @io has no room for a reference. Context: under the disk's lock.
 */
void aftl_io_pin_page_or_copy_at_once(const struct aftl_disk *disk, struct aftl_io *io,
				      const struct aftl_read *read);

/*
 * Copy the data that aftl_io_pin_page_or_copy_at_once() has pinned to the bio, and invert the bits
 * with errors. Context: not a hard interrupt.
 */
void aftl_io_copy_pinned_pages_to_bio(const struct aftl_disk *disk, struct aftl_io *io);

/*
 * Copy the data of @read's logical page from @from (NULL: zeroes) to the bio of @io, and invert the
 * bits that have errors. Context: under the disk's lock.
 */
void aftl_io_fill_bio_of_read(const struct aftl_disk *disk, struct aftl_io *io,
			      const struct aftl_read *read, const char *from);

/*
 * Return the key that selects the bits with errors, for aftl_io_flip_bits(). It depends on
 * parameters that may change, so it is taken when the FTL reads. Context: under the disk's lock.
 */
u64 aftl_io_compute_key_of_bit_flips(const struct aftl_disk *disk, const struct aftl_read *read);

/*
 * Invert the bits of the logical page of @read that have errors; its data are in the bio. Context:
 * any; no lock is needed, because it uses only the geometry of the FTL, which does not change.
 */
void aftl_io_flip_bits(const struct aftl_disk *disk, struct aftl_io *io,
		       const struct aftl_read *read, u64 key);

#endif
