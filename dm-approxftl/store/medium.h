/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A block device as the medium of a volume: pages to and from it without waiting, and
 * the waiting calls of core/persist/volume.h on top.
 */
#ifndef AFTL_MEDIUM_H
#define AFTL_MEDIUM_H

#include <linux/bio.h>
#include <linux/mempool.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "core/persist/volume.h"

/**
 * struct aftl_behalf - for whom a block device is written
 * @cgroup: number of the submitter's cgroup, to which the write is put down if the cgroup is still
 *	there then; 0 for the root. Buffered data may wait for long, so no reference is held.
 * @ioprio: with which priority; 0 for none
 */
struct aftl_behalf {
	u64 cgroup;
	u16 ioprio;
};

/**
 * struct aftl_bdev - a block device
 * @medium: what the volume sees
 * @bdev: the device
 * @start: where on it the medium begins; offsets are from there on
 * @bios: for all I/O
 * @frames: for what medium.write() has taken, which nobody else can hold
 * @volume_bytes: memory that medium.alloc() has given
 * @lock: of @writes and @error
 * @writes: under way
 * @idle: none is under way
 * @error: of the first write that failed for good; flushes fail from then on
 * @probe_lock: of @probe
 * @probe: a frame for aftl_bdev_answers()
 * @lanes_lock: of @lanes
 * @lanes: reads of cgroups that are about to be submitted
 * @submitters: submits them
 */
struct aftl_bdev {
	struct aftl_backing medium;
	struct block_device *bdev;
	u64 start;
	struct bio_set bios;
	mempool_t frames;
	atomic64_t volume_bytes;
	spinlock_t lock; /* writes, error */
	unsigned int writes;
	wait_queue_head_t idle;
	int error;
	struct mutex probe_lock; /* probe */
	struct page *probe;
	spinlock_t lanes_lock; /* lanes */
	struct list_head lanes;
	struct workqueue_struct *submitters;
};

/**
 * struct aftl_bdev_io - one transfer to or from the device
 * @done: called when it is over, in any context; may free the structure
 * @device: set when it starts
 */
struct aftl_bdev_io {
	void (*done)(struct aftl_bdev_io *io, int error);
	struct aftl_bdev *device;
};

/* @bdev from byte @start on, which is a frame's first. @submitters stays the caller's. */
int __must_check aftl_bdev_init(struct aftl_bdev *device, struct block_device *bdev, u64 start,
				struct workqueue_struct *submitters);

/* From now on nothing is durable any more; the first time says so in the log. */
void aftl_bdev_fail(struct aftl_bdev *device, int error);

/* Note the blkcg and I/O priority of @bio, for a later aftl_bdev_write(). */
struct aftl_behalf aftl_bdev_behalf(struct bio *bio);

/*
 * Does @error say that the place that was read is bad? That is believed where the device answers at
 * the same time: no unit is given up for a fault of the whole device, which may be over soon.
 */
bool aftl_bdev_blames_place(int error);

/* Returns whether a volume header can be read. Context: process; waits for the device. */
bool aftl_bdev_answers(struct aftl_bdev *device);

/* Memory of a block device, and of a new one without a volume. */
u64 aftl_bdev_bytes(const struct aftl_bdev *device);
u64 aftl_bdev_need(void);

/* Waits for what is under way. */
void aftl_bdev_exit(struct aftl_bdev *device);

/**
 * aftl_bdev_write() - begin to write the first @bytes bytes of each page, one after the other
 * @device: where
 * @io: in the caller's memory until @io->done has been called, as are the pages; who is told
 *	of an error there may call aftl_bdev_fail()
 * @pages: the bytes; the array may go when this returns
 * @count: of @pages, at most BIO_MAX_VECS
 * @offset: on the medium
 * @bytes: of a page
 * @behalf: for whom
 *
 * Context: process, no lock held. This and the next two may sleep for memory, which comes
 * back without the caller's help.
 */
void aftl_bdev_write(struct aftl_bdev *device, struct aftl_bdev_io *io, struct page **pages,
		     u32 count, u64 offset, u32 bytes, const struct aftl_behalf *behalf);

/*
 * The end of a write that waits for something else is put off: between these two calls flushes
 * wait. The first one from @io->done.
 */
void aftl_bdev_put_off(struct aftl_bdev *device);
void aftl_bdev_put_off_over(struct aftl_bdev *device);

/* Write or read that much of one page, and wait. */
int __must_check aftl_bdev_write_page(struct aftl_bdev *device, struct page *page, u64 offset,
				      u32 bytes);
int __must_check aftl_bdev_read_page(struct aftl_bdev *device, struct page *page, u64 offset,
				     u32 bytes);

/* Begin to read that much into the pages. */
void aftl_bdev_read(struct aftl_bdev *device, struct aftl_bdev_io *io, struct page **pages,
		    u32 count, u64 offset, u32 bytes);

/*
 * Begin to read into the pages of @bio at @at, as much as @at says. It is put down to the cgroup of
 * @bio. A cgroup may be throttled below, where the kernel has the submitter sleep: so each cgroup
 * but the root has a worker of its own for its reads.
 */
void aftl_bdev_read_bio(struct aftl_bdev *device, struct aftl_bdev_io *io, struct bio *bio,
			struct bvec_iter at, u64 offset);

#endif
