// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transfers to and from a block device, and the calls of a volume (struct aftl_backing).
 *
 * Takes @lock, @lanes_lock and @probe_lock of struct aftl_bdev.
 */
#include <linux/blk-cgroup.h>
#include <linux/blkdev.h>
#include <linux/cgroup.h>
#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "log.h"
#include "store/medium.h"

/* Numbers of reserved bios and metadata frames, for transfers while memory is short. */
#define BIOS 64
#define FRAMES 64

/**
 * struct bdev_bio - a bio of @bios
 * @io: transfer that the bio belongs to; &@own if it writes a metadata frame
 * @own: transfer that writes a metadata frame
 * @page: copy of the frame that is written
 * @bio: bio; the last member, because the bio_set allocates the others as front padding
 */
struct bdev_bio {
	struct aftl_bdev_io *io;
	struct aftl_bdev_io own;
	struct page *page;
	struct bio bio;
};

static struct bdev_bio *bio_to_bdev_bio(struct bio *bio)
{
	return container_of(bio, struct bdev_bio, bio);
}

static void bdev_count_write_in_flight(struct aftl_bdev *device)
{
	unsigned long flags;

	spin_lock_irqsave(&device->lock, flags);
	device->writes++;
	spin_unlock_irqrestore(&device->lock, flags);
}

void aftl_bdev_set_error(struct aftl_bdev *device, int error)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&device->lock, flags);
	first = !device->error;
	if (first)
		WRITE_ONCE(device->error, error);
	spin_unlock_irqrestore(&device->lock, flags);
	if (first)
		DMERR("%pg: error %d; writes fail from now on", device->bdev, error);
}

static void bdev_uncount_ended_write(struct aftl_bdev *device)
{
	unsigned long flags;

	spin_lock_irqsave(&device->lock, flags);
	if (!--device->writes)
		wake_up_all(&device->idle);
	spin_unlock_irqrestore(&device->lock, flags);
}

void aftl_bdev_begin_write_retry(struct aftl_bdev *device)
{
	bdev_count_write_in_flight(device);
}

void aftl_bdev_end_write_retry(struct aftl_bdev *device)
{
	bdev_uncount_ended_write(device);
}

static void bdev_handle_ended_bio(struct bio *bio)
{
	struct aftl_bdev_io *io = bio_to_bdev_bio(bio)->io;
	struct aftl_bdev *device = io->device;
	int error = blk_status_to_errno(bio->bi_status);
	bool write = op_is_write(bio_op(bio));

	/* A failed metadata write fails the device; io->done() may remap other failed writes. */
	if (write && error && bio_to_bdev_bio(bio)->io == &bio_to_bdev_bio(bio)->own)
		aftl_bdev_set_error(device, error);
	/* Free a read's bio before io->done(), which may free @device; a write keeps @device. */
	if (!write)
		bio_put(bio);
	io->done(io, error);
	if (!write)
		return;
	bio_put(bio);
	bdev_uncount_ended_write(device);
}

static sector_t bdev_sector_of_offset(const struct aftl_bdev *device, u64 offset)
{
	return (device->start + offset) >> SECTOR_SHIFT;
}

static struct bio *new_bdev_bio(struct aftl_bdev *device, blk_opf_t opf, u32 count)
{
	return bio_alloc_bioset(device->bdev, count, opf, GFP_NOIO, &device->bios);
}

static void prepare_bdev_bio(struct aftl_bdev *device, struct aftl_bdev_io *io, struct bio *bio,
			     u64 offset)
{
	io->device = device;
	bio_to_bdev_bio(bio)->io = io;
	if (op_is_write(bio_op(bio)))
		bdev_count_write_in_flight(device);
	bio->bi_iter.bi_sector = bdev_sector_of_offset(device, offset);
	bio->bi_end_io = bdev_handle_ended_bio;
}

static void start_bdev_bio(struct aftl_bdev *device, struct aftl_bdev_io *io, struct bio *bio,
			   u64 offset)
{
	prepare_bdev_bio(device, io, bio, offset);
	submit_bio_noacct(bio);
}

/* Cgroups */

/**
 * struct lane - reads of one cgroup that wait to be submitted
 * @work: submits them
 * @node: entry of @lanes of the device
 * @device: device
 * @css: of the cgroup; each bio holds a reference
 * @bios: the reads, oldest first
 */
struct lane {
	struct work_struct work;
	struct list_head node;
	struct aftl_bdev *device;
	struct cgroup_subsys_state *css;
	struct bio_list bios;
};

static struct lane *find_read_list_of_cgroup(struct aftl_bdev *device,
					     struct cgroup_subsys_state *css)
{
	struct lane *lane;

	lockdep_assert_held(&device->lanes_lock);
	list_for_each_entry(lane, &device->lanes, node)
		if (lane->css == css)
			return lane;
	return NULL;
}

static struct bio *pop_bio_of_lane(struct lane *lane)
{
	struct aftl_bdev *device = lane->device;
	struct bio *bio;

	spin_lock(&device->lanes_lock);
	bio = bio_list_pop(&lane->bios);
	if (!bio)
		list_del(&lane->node);
	spin_unlock(&device->lanes_lock);
	return bio;
}

static void submit_cgroup_bios_work(struct work_struct *work)
{
	struct lane *lane = container_of(work, struct lane, work);
	struct blk_plug plug;
	struct bio *bio;

	blk_start_plug(&plug);
	while ((bio = pop_bio_of_lane(lane)))
		submit_bio_noacct(bio);
	blk_finish_plug(&plug);
	kfree(lane);
}

/*
 * Add @bio to its cgroup's lane (list of reads to submit). If the cgroup has none, @lane (or NULL)
 * becomes its lane, else @lane is freed. Return: false if the cgroup has no lane.
 */
static bool add_bio_to_read_list_of_cgroup(struct aftl_bdev *device, struct lane *lane,
					   struct bio *bio)
{
	struct cgroup_subsys_state *css = bio_blkcg_css(bio);
	struct lane *found;

	spin_lock(&device->lanes_lock);
	found = find_read_list_of_cgroup(device, css);
	if (!found && lane) {
		INIT_WORK(&lane->work, submit_cgroup_bios_work);
		lane->device = device;
		lane->css = css;
		bio_list_init(&lane->bios);
		list_add(&lane->node, &device->lanes);
		queue_work(device->submitters, &lane->work);
		swap(found, lane);
	}
	if (found)
		bio_list_add(&found->bios, bio);
	spin_unlock(&device->lanes_lock);
	kfree(lane);
	return found;
}

/* Submit @bio from its cgroup's worker, or at once for the root or if memory is short. */
static void submit_bio_for_cgroup(struct aftl_bdev *device, struct bio *bio)
{
	struct cgroup_subsys_state *css = bio_blkcg_css(bio);

	if (!css || css == blkcg_root_css ||
	    !add_bio_to_read_list_of_cgroup(device,
					    kmalloc(sizeof(struct lane),
						    GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN),
					    bio))
		submit_bio_noacct(bio);
}

#ifdef CONFIG_BLK_CGROUP
struct aftl_behalf aftl_bdev_get_submitter(struct bio *bio)
{
	struct cgroup_subsys_state *css = bio_blkcg_css(bio);
	struct aftl_behalf behalf = { .ioprio = bio->bi_ioprio };

	/* Charge cgroups of version 2 only: with version 1 Linux charges no buffered writes. */
	if (css && css != blkcg_root_css && cgroup_subsys_on_dfl(io_cgrp_subsys))
		behalf.cgroup = cgroup_id(css->cgroup);
	return behalf;
}

/*
 * Charge the write to its cgroup without throttling it: for the host the write is complete already,
 * and flushes and other writes wait for it. With REQ_META the block layer charges the cgroup later,
 * see bio_issue_as_root_blkg().
 */
static void charge_bio_to_submitter(struct bio *bio, const struct aftl_behalf *behalf)
{
	struct cgroup *cgroup = behalf->cgroup ? cgroup_get_from_id(behalf->cgroup) : NULL;
	struct cgroup_subsys_state *css;

	if (IS_ERR_OR_NULL(cgroup))
		return;
	css = cgroup_get_e_css(cgroup, &io_cgrp_subsys);
	bio_associate_blkg_from_css(bio, css);
	bio->bi_opf |= REQ_META;
	css_put(css);
	cgroup_put(cgroup);
}
#else
struct aftl_behalf aftl_bdev_get_submitter(struct bio *bio)
{
	return (struct aftl_behalf){ .ioprio = bio->bi_ioprio };
}

static void charge_bio_to_submitter(struct bio *bio, const struct aftl_behalf *behalf)
{
}
#endif

static void add_pages_to_bio(struct bio *bio, struct page **pages, u32 count, u32 bytes)
{
	u32 i;

	for (i = 0; i < count; i++)
		__bio_add_page(bio, pages[i], bytes, 0);
}

void aftl_bdev_write(struct aftl_bdev *device, struct aftl_bdev_io *io, struct page **pages,
		     u32 count, u64 offset, u32 bytes, const struct aftl_behalf *behalf)
{
	struct bio *bio = new_bdev_bio(device, REQ_OP_WRITE, count);

	charge_bio_to_submitter(bio, behalf);
	bio->bi_ioprio = behalf->ioprio;
	add_pages_to_bio(bio, pages, count, bytes);
	start_bdev_bio(device, io, bio, offset);
}

void aftl_bdev_read(struct aftl_bdev *device, struct aftl_bdev_io *io, struct page **pages,
		    u32 count, u64 offset, u32 bytes)
{
	struct bio *bio = new_bdev_bio(device, REQ_OP_READ, count);

	add_pages_to_bio(bio, pages, count, bytes);
	start_bdev_bio(device, io, bio, offset);
}

void aftl_bdev_read_bio(struct aftl_bdev *device, struct aftl_bdev_io *io, struct bio *bio,
			struct bvec_iter at, u64 offset)
{
	struct bio *clone = bio_alloc_clone(device->bdev, bio, GFP_NOIO, &device->bios);

	clone->bi_opf = REQ_OP_READ;
	clone->bi_iter = at;
	prepare_bdev_bio(device, io, clone, offset);
	submit_bio_for_cgroup(device, clone);
}

/* Functions that transfer data and wait, and the callbacks of struct aftl_backing */

static struct page *get_page_of_buffer(const void *bytes)
{
	return is_vmalloc_addr(bytes) ? vmalloc_to_page(bytes) : virt_to_page(bytes);
}

static int submit_bio_and_wait(struct bio *bio)
{
	int ret = submit_bio_wait(bio);

	bio_put(bio);
	return ret;
}

static int transfer_bdev_page(struct aftl_bdev *device, blk_opf_t op, struct page *page, u64 offset,
			      u32 bytes)
{
	struct bio *bio = new_bdev_bio(device, op | REQ_SYNC, 1);

	bio->bi_iter.bi_sector = bdev_sector_of_offset(device, offset);
	__bio_add_page(bio, page, bytes, 0);
	return submit_bio_and_wait(bio);
}

int aftl_bdev_write_page(struct aftl_bdev *device, struct page *page, u64 offset, u32 bytes)
{
	return transfer_bdev_page(device, REQ_OP_WRITE, page, offset, bytes);
}

int aftl_bdev_read_page(struct aftl_bdev *device, struct page *page, u64 offset, u32 bytes)
{
	return transfer_bdev_page(device, REQ_OP_READ, page, offset, bytes);
}

static struct bio *make_frames_bio(struct aftl_bdev *device, void *bytes, u32 frames)
{
	struct bio *bio = new_bdev_bio(device, REQ_OP_READ | REQ_SYNC | REQ_META, frames);

	for (; frames; frames--, bytes += AFTL_FRAME_BYTES)
		__bio_add_page(bio, get_page_of_buffer(bytes), AFTL_FRAME_BYTES,
			       offset_in_page(bytes));
	return bio;
}

static int read_bdev_frames(struct aftl_bdev *device, u64 offset, void *bytes, u32 frames)
{
	struct bio *bio = make_frames_bio(device, bytes, frames);

	bio->bi_iter.bi_sector = bdev_sector_of_offset(device, offset);
	return submit_bio_and_wait(bio);
}

static int bdev_backing_read(void *host, u64 offset, void *bytes, u32 size)
{
	int ret = 0;

	while (!ret && size) {
		u32 part = min_t(u32, size, BIO_MAX_VECS * AFTL_FRAME_BYTES);

		ret = read_bdev_frames(host, offset, bytes, part / AFTL_FRAME_BYTES);
		offset += part;
		bytes += part;
		size -= part;
	}
	return ret;
}

/* struct read_ahead - read of metadata frames that begin_read() has started, until end_read() */
struct read_ahead {
	struct aftl_bdev_io io;
	struct completion over;
	int error;
};

static void bdev_backing_handle_ended_read(struct aftl_bdev_io *io, int error)
{
	struct read_ahead *ahead = container_of(io, struct read_ahead, io);

	ahead->error = error;
	complete(&ahead->over);
}

static void *bdev_backing_begin_read(void *host, u64 offset, void *bytes, u32 size)
{
	struct read_ahead *ahead = kmalloc(sizeof(*ahead), GFP_KERNEL | __GFP_NORETRY |
					   __GFP_NOWARN);

	if (!ahead)
		return NULL;
	ahead->io.done = bdev_backing_handle_ended_read;
	init_completion(&ahead->over);
	start_bdev_bio(host, &ahead->io, make_frames_bio(host, bytes, size / AFTL_FRAME_BYTES),
		       offset);
	return ahead;
}

static int bdev_backing_end_read(void *host, void *begun)
{
	struct read_ahead *ahead = begun;
	int ret;

	wait_for_completion_io(&ahead->over);
	ret = ahead->error;
	kfree(ahead);
	return ret;
}

static void bdev_backing_handle_ended_write(struct aftl_bdev_io *io, int error)
{
	struct bdev_bio *ours = container_of(io, struct bdev_bio, own);

	mempool_free(ours->page, &io->device->frames);
}

/* Start to write a copy of the frame, so that the caller may change it at once. */
static void start_frame_write(struct aftl_bdev *device, u64 offset, const void *bytes)
{
	struct page *page = mempool_alloc(&device->frames, GFP_NOIO);
	struct bio *bio = new_bdev_bio(device, REQ_OP_WRITE | REQ_META, 1);
	struct bdev_bio *ours = bio_to_bdev_bio(bio);

	memcpy(page_address(page), bytes, AFTL_FRAME_BYTES);
	__bio_add_page(bio, page, AFTL_FRAME_BYTES, 0);
	ours->page = page;
	ours->own.done = bdev_backing_handle_ended_write;
	start_bdev_bio(device, &ours->own, bio, offset);
}

static int bdev_backing_write(void *host, u64 offset, const void *bytes, u32 size)
{
	struct aftl_bdev *device = host;

	for (; size; size -= AFTL_FRAME_BYTES) {
		start_frame_write(device, offset, bytes);
		offset += AFTL_FRAME_BYTES;
		bytes += AFTL_FRAME_BYTES;
	}
	return READ_ONCE(device->error);
}

static void wait_for_bdev_writes(struct aftl_bdev *device)
{
	spin_lock_irq(&device->lock);
	wait_event_lock_irq(device->idle, !device->writes, device->lock);
	spin_unlock_irq(&device->lock);
}

static int bdev_backing_flush(void *host)
{
	struct aftl_bdev *device = host;

	wait_for_bdev_writes(device);
	if (READ_ONCE(device->error))
		return READ_ONCE(device->error);
	return submit_bio_and_wait(new_bdev_bio(device, REQ_OP_WRITE | REQ_PREFLUSH | REQ_SYNC, 0));
}

bool aftl_bdev_is_alive(struct aftl_bdev *device)
{
	void *bytes = page_address(device->probe);
	bool answers;

	mutex_lock(&device->probe_lock);
	answers = !read_bdev_frames(device, AFTL_FRAME_HEADER * AFTL_FRAME_BYTES, bytes, 1) ||
	      !read_bdev_frames(device, (AFTL_FRAME_HEADER + 1) * AFTL_FRAME_BYTES, bytes, 1);
	mutex_unlock(&device->probe_lock);
	return answers;
}

/* Errors of sectors are BLK_STS_MEDIUM, _IOERR, _PROTECTION and _TARGET, here as error numbers. */
bool aftl_bdev_is_error_of_sector(int error)
{
	switch (error) {
	case -ENODATA:
	case -EIO:
	case -EILSEQ:
	case -EREMOTEIO:
		return true;
	default:
		return false;
	}
}

static void *bdev_backing_alloc(void *host, size_t bytes)
{
	struct aftl_bdev *device = host;
	void *memory = kvzalloc(PAGE_ALIGN(bytes),
				GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);

	if (memory)
		atomic64_add(PAGE_ALIGN(bytes), &device->volume_bytes);
	return memory;
}

static void bdev_backing_free(void *host, void *memory, size_t bytes)
{
	struct aftl_bdev *device = host;

	atomic64_sub(PAGE_ALIGN(bytes), &device->volume_bytes);
	kvfree(memory);
}

/*
 * Return the size of the reserved memory of a device: memory pages for @frames and @probe, and
 * bios with BIO_MAX_VECS vectors each.
 */
u64 aftl_bdev_needed_bytes(void)
{
	return (FRAMES + 1) * PAGE_SIZE +
	       BIOS * (sizeof(struct bdev_bio) + BIO_MAX_VECS * sizeof(struct bio_vec));
}

u64 aftl_bdev_memory_bytes(const struct aftl_bdev *device)
{
	return aftl_bdev_needed_bytes() + (u64)atomic64_read(&device->volume_bytes);
}

static void free_resources_of_bdev(struct aftl_bdev *device)
{
	drain_workqueue(device->submitters);
	if (device->probe)
		__free_page(device->probe);
	mempool_exit(&device->frames);
	bioset_exit(&device->bios);
}

int aftl_bdev_init(struct aftl_bdev *device, struct block_device *bdev, u64 start,
		   struct workqueue_struct *submitters)
{
	int ret = bioset_init(&device->bios, BIOS, offsetof(struct bdev_bio, bio),
			      BIOSET_NEED_BVECS);

	if (!ret)
		ret = mempool_init_page_pool(&device->frames, FRAMES, 0);
	device->probe = ret ? NULL : alloc_page(GFP_KERNEL);
	device->submitters = submitters;
	if (!device->probe) {
		free_resources_of_bdev(device);
		return ret ? ret : -ENOMEM;
	}
	mutex_init(&device->probe_lock);
	spin_lock_init(&device->lanes_lock);
	INIT_LIST_HEAD(&device->lanes);
	spin_lock_init(&device->lock);
	init_waitqueue_head(&device->idle);
	device->bdev = bdev;
	device->start = start;
	device->medium = (struct aftl_backing){
		.host = device,
		.bytes = bdev_nr_bytes(bdev) - min_t(u64, start, bdev_nr_bytes(bdev)),
		.read = bdev_backing_read,
		.begin_read = bdev_backing_begin_read,
		.end_read = bdev_backing_end_read,
		.write = bdev_backing_write,
		.flush = bdev_backing_flush,
		.alloc = bdev_backing_alloc,
		.free = bdev_backing_free,
	};
	return 0;
}

void aftl_bdev_exit(struct aftl_bdev *device)
{
	wait_for_bdev_writes(device);
	free_resources_of_bdev(device);
}
