/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A block device as the medium of a volume: asynchronous transfers of memory pages, and the
 * synchronous calls of struct aftl_backing (core/persist/volume.h) for metadata frames of 4096
 * bytes.
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
 * struct aftl_behalf - cgroup and I/O priority of a write
 * @cgroup: ID of the submitter's cgroup, 0 for the root. The write is charged to it if it still
 *	exists then: no reference is held, because data may be buffered for long.
 * @ioprio: I/O priority of the submitter's bio; 0 for none
 */
struct aftl_behalf {
	u64 cgroup;
	u16 ioprio;
};

/**
 * struct aftl_bdev - a block device, or the part of it that has one volume
 * @medium: calls for the volume
 * @bdev: block device
 * @start: byte at which the medium begins; all offsets are relative to it
 * @bios: bios for all I/O
 * @frames: pool for frames that medium.write() has copied, and for nothing else
 * @volume_bytes: bytes that medium.alloc() has allocated
 * @lock: protects @writes and @error
 * @writes: number of writes in flight
 * @idle: woken when @writes drops to 0
 * @error: error of the first write that failed permanently; flushes fail from then on
 * @probe_lock: protects @probe
 * @probe: frame that aftl_bdev_is_alive() reads into
 * @lanes_lock: protects @lanes
 * @lanes: a list of reads to submit for each cgroup
 * @submitters: workqueue that submits them
 */
struct aftl_bdev {
	struct aftl_backing medium;
	struct block_device *bdev;
	u64 start;
	struct bio_set bios;
	mempool_t frames;
	atomic64_t volume_bytes;
	spinlock_t lock; /* protects @writes and @error */
	unsigned int writes;
	wait_queue_head_t idle;
	int error;
	struct mutex probe_lock; /* protects the page @probe */
	struct page *probe;
	spinlock_t lanes_lock; /* protects the list @lanes */
	struct list_head lanes;
	struct workqueue_struct *submitters;
};

/**
 * struct aftl_bdev_io - a transfer to or from the device
 * @done: called when it ends, in any context; may free the structure
 * @device: the device; set when the transfer starts
 */
struct aftl_bdev_io {
	void (*done)(struct aftl_bdev_io *io, int error);
	struct aftl_bdev *device;
};

/**
 * aftl_bdev_init() - use a block device as a medium
 * @device: filled in
 * @bdev: block device
 * @start: byte at which the medium begins, a multiple of the frame size
 * @submitters: workqueue for reads of cgroups; still owned by the caller
 *
 * Context: process; may sleep. Return: 0 or -ENOMEM.
 */
int __must_check aftl_bdev_init(struct aftl_bdev *device, struct block_device *bdev, u64 start,
				struct workqueue_struct *submitters);

/* Let all flushes fail from now on; the first call logs @error. Context: any. */
void aftl_bdev_set_error(struct aftl_bdev *device, int error);

/* Return the cgroup and I/O priority of @bio, for a later aftl_bdev_write(). Context: any. */
struct aftl_behalf aftl_bdev_get_submitter(struct bio *bio);

/*
 * Return true if @error of a read says that the sectors are bad. The caller gives up the data only
 * if aftl_bdev_is_alive() is true, too: a fault of the whole device may be temporary.
 */
bool aftl_bdev_is_error_of_sector(int error);

/* Return true if a volume header can be read. Context: process; waits for the device. */
bool aftl_bdev_is_alive(struct aftl_bdev *device);

/* Return the bytes of memory of a struct aftl_bdev: of @device, or of a new one. */
u64 aftl_bdev_memory_bytes(const struct aftl_bdev *device);
u64 aftl_bdev_needed_bytes(void);

/* Wait for writes and queued reads of @device, and free its parts. Context: process; sleeps. */
void aftl_bdev_exit(struct aftl_bdev *device);

/**
 * aftl_bdev_write() - start to write the beginnings of memory pages to consecutive offsets
 * @device: device
 * @io: valid, as the pages, until @io->done() is called, which decides if an error is permanent
 *	and then calls aftl_bdev_set_error()
 * @pages: the pages; the array may be reused when this returns
 * @count: number of @pages, at most BIO_MAX_VECS
 * @offset: offset on the medium
 * @bytes: bytes of each page
 * @behalf: cgroup and I/O priority
 *
 * Context: process, no lock held. This and the other transfers may sleep for a bio, which comes
 * back without help of the caller.
 */
void aftl_bdev_write(struct aftl_bdev *device, struct aftl_bdev_io *io, struct page **pages,
		     u32 count, u64 offset, u32 bytes, const struct aftl_behalf *behalf);

/*
 * Count a failed write as in flight from aftl_bdev_begin_write_retry(), called in @io->done(),
 * to aftl_bdev_end_write_retry(), so that flushes wait for its repetition. Context: any.
 */
void aftl_bdev_begin_write_retry(struct aftl_bdev *device);
void aftl_bdev_end_write_retry(struct aftl_bdev *device);

/* Write or read @bytes of one page, and wait. Context: process. Return: 0, or an error code. */
int __must_check aftl_bdev_write_page(struct aftl_bdev *device, struct page *page, u64 offset,
				      u32 bytes);
int __must_check aftl_bdev_read_page(struct aftl_bdev *device, struct page *page, u64 offset,
				     u32 bytes);

/* Start to read @bytes into each page from consecutive offsets; see aftl_bdev_write(). */
void aftl_bdev_read(struct aftl_bdev *device, struct aftl_bdev_io *io, struct page **pages,
		    u32 count, u64 offset, u32 bytes);

/*
 * Start to read into the pages of @bio at @at, @at.bi_size bytes. The read is charged to the cgroup
 * of @bio. To throttle a cgroup, the block layer lets the submitter sleep: so each cgroup but the
 * root has a worker of its own that submits its reads. Context: as aftl_bdev_write().
 */
void aftl_bdev_read_bio(struct aftl_bdev *device, struct aftl_bdev_io *io, struct bio *bio,
			struct bvec_iter at, u64 offset);

#endif
