// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bios: on their way into the FTL, their data, and their end.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "bio/bio.h"
#include "disk/disk.h"
#include "store/durable.h"
#include "tags/tags.h"
#include "target/target.h"
#include "trace.h"

void aftl_copy_from_bio(char *to, struct bio *bio, struct bvec_iter at)
{
	struct bvec_iter iter;
	struct bio_vec segment;

	__bio_for_each_segment(segment, bio, iter, at) {
		memcpy_from_bvec(to, &segment);
		to += segment.bv_len;
	}
}

static void zero_unit(struct bio *bio, struct bvec_iter at)
{
	struct bvec_iter iter;
	struct bio_vec segment;

	__bio_for_each_segment(segment, bio, iter, at)
		memzero_bvec(&segment);
}

void aftl_copy_to_bio(struct bio *bio, struct bvec_iter at, const char *from)
{
	struct bvec_iter iter;
	struct bio_vec segment;

	if (!from) {
		zero_unit(bio, at);
		return;
	}
	__bio_for_each_segment(segment, bio, iter, at) {
		memcpy_to_bvec(&segment, from);
		from += segment.bv_len;
	}
}

struct bvec_iter aftl_io_position(const struct aftl_disk *disk, struct aftl_io *io,
				  aftl_unit_t unit)
{
	u32 unit_bytes = aftl_unit_sectors(disk) << SECTOR_SHIFT;
	struct bio *bio = aftl_io_bio(io);
	struct bvec_iter at = bio->bi_iter;

	bio_advance_iter(bio, &at, (from_unit(unit) - io->request.unit) * unit_bytes);
	at.bi_size = unit_bytes;
	return at;
}

static void flip_bit(struct bio *bio, struct bvec_iter at, u32 position)
{
	struct bio_vec segment;
	u8 *byte;

	bio_advance_iter(bio, &at, position / BITS_PER_BYTE);
	segment = bio_iter_iovec(bio, at);
	byte = bvec_kmap_local(&segment);
	*byte ^= 1U << position % BITS_PER_BYTE;
	kunmap_local(byte);
}

u64 aftl_io_flip_key(const struct aftl_disk *disk, const struct aftl_read *read)
{
	lockdep_assert_held(&disk->lock);
	return aftl_flip_key(aftl_cell(disk->ftl), read->unit, read->lineage);
}

void aftl_io_flip(const struct aftl_disk *disk, struct aftl_io *io, const struct aftl_read *read,
		  u64 key)
{
	const struct aftl_geometry *geo = aftl_geometry(disk->ftl);
	struct bvec_iter at = aftl_io_position(disk, io, read->unit);
	u32 i;

	for (i = 0; i < read->flips; i++)
		flip_bit(aftl_io_bio(io), at, aftl_flip_at(geo, key, i));
}

void aftl_io_fill(const struct aftl_disk *disk, struct aftl_io *io, const struct aftl_read *read,
		  const char *from)
{
	aftl_copy_to_bio(aftl_io_bio(io), aftl_io_position(disk, io, read->unit), from);
	aftl_io_flip(disk, io, read, aftl_io_flip_key(disk, read));
}

/* What the FTL asks of its host. All of it happens under the disk's lock. */

/* Large arrays come in pieces: the last of them must not starve others before it fails. */
static void *host_alloc(void *host, size_t bytes)
{
	if ((long)(bytes >> PAGE_SHIFT) >= si_mem_available())
		return NULL;
	return kvzalloc(bytes, GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
}

static void host_free(void *host, void *memory, size_t bytes)
{
	kvfree(memory);
}

/* Whoever makes, fills, saves, loads or checks a device holds no spinlock meanwhile. */
static int host_pause(void *host)
{
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static void add_done(struct aftl_disk *disk, struct aftl_request *request)
{
	request->next = NULL;
	if (disk->done)
		disk->done_tail->next = request;
	else
		disk->done = request;
	disk->done_tail = request;
}

static void host_complete(void *host, struct aftl_request *request)
{
	struct aftl_disk *disk = host;

	lockdep_assert_held(&disk->lock);
	add_done(disk, request);
}

static void host_accept(void *host, struct aftl_request *request, aftl_unit_t unit, u32 tag)
{
	struct aftl_disk *disk = host;

	disk->store->type->accept(disk->store, unit, tag, &aftl_request_io(request)->bytes);
}

/* Returns whether there are bytes to be fetched. */
static bool must_fetch(const struct aftl_disk *disk, struct aftl_io *io,
		       const struct aftl_read *read)
{
	if (read->lost)
		return false;
	if (read->source == AFTL_SOURCE_ZERO)
		zero_unit(aftl_io_bio(io), aftl_io_position(disk, io, read->unit));
	return read->source != AFTL_SOURCE_ZERO;
}

static void host_read(void *host, struct aftl_request *request, const struct aftl_read *read)
{
	struct aftl_disk *disk = host;
	struct aftl_io *io = aftl_request_io(request);

	if (!must_fetch(disk, io, read))
		return;
	disk->store->type->fetch(disk->store, read->unit, aftl_io_bio(io),
				 aftl_io_position(disk, io, read->unit));
	aftl_io_flip(disk, io, read, aftl_io_flip_key(disk, read));
}

static void host_array(void *host, const struct aftl_array_event *event)
{
	trace_aftl_array(host, event);
}

const struct aftl_host_ops aftl_io_host = {
	.alloc = host_alloc,
	.free = host_free,
	.pause = host_pause,
	.complete = host_complete,
	.accept = host_accept,
	.read = host_read,
	.array = host_array,
};

/* The same for a disk with a durable store, which is told of everything. */

static struct aftl_dev *host_dev(void *host)
{
	return ((struct aftl_disk *)host)->durable;
}

static bool programmed_again(const struct aftl *ftl, aftl_slot_t slot)
{
	const struct aftl_media *media = aftl_media(ftl);

	return aftl_page_again(media->attr[aftl_slot_device_page(media, slot)]);
}

static void durable_complete(void *host, struct aftl_request *request)
{
	struct aftl_disk *disk = host;
	struct aftl_io *io = aftl_request_io(request);

	lockdep_assert_held(&disk->lock);
	if (io->commits && !request->status)
		aftl_dev_commit(disk->durable, io);
	else if (!io->fetches || aftl_dev_reads_done(io))
		add_done(disk, request);
}

static void durable_read(void *host, struct aftl_request *request, const struct aftl_read *read)
{
	struct aftl_disk *disk = host;
	struct aftl_io *io = aftl_request_io(request);

	if (must_fetch(disk, io, read))
		aftl_dev_read(disk->durable, io, read);
}

static void durable_program(void *host, u32 tag, aftl_unit_t unit, aftl_slot_t slot)
{
	struct aftl_disk *disk = host;

	aftl_dev_program(disk->durable, tag, slot, programmed_again(disk->ftl, slot));
}

static void durable_copy(void *host, aftl_unit_t unit, aftl_slot_t from, aftl_slot_t to)
{
	struct aftl_disk *disk = host;

	aftl_dev_copy(disk->durable, from, to, programmed_again(disk->ftl, to));
}

static void durable_release(void *host, u32 tag)
{
	aftl_dev_release(host_dev(host), tag);
}

static void durable_programmed(void *host, aftl_slot_t first)
{
	aftl_dev_programmed(host_dev(host), first);
}

static void durable_unmap(void *host, aftl_unit_t first, u32 units)
{
	aftl_dev_unmap(host_dev(host), first, units);
}

static void durable_erase(void *host, aftl_slot_t first, u32 slots)
{
	aftl_dev_erase(host_dev(host), from_slot(first) / slots);
}

static void durable_retire(void *host, u32 first, u32 blocks)
{
	aftl_dev_retire(host_dev(host), first, blocks);
}

const struct aftl_host_ops aftl_io_host_durable = {
	.alloc = host_alloc,
	.free = host_free,
	.pause = host_pause,
	.complete = durable_complete,
	.accept = host_accept,
	.program = durable_program,
	.release = durable_release,
	.copy = durable_copy,
	.programmed = durable_programmed,
	.unmap = durable_unmap,
	.erase = durable_erase,
	.retire = durable_retire,
	.array = host_array,
	.read = durable_read,
};

static blk_status_t to_block_status(struct aftl_request *request)
{
	if (aftl_request_io(request)->failed)
		return BLK_STS_IOERR;
	switch (request->status) {
	case 0:
		return BLK_STS_OK;
	case -ENOSPC:
		return BLK_STS_NOSPC;
	default:
		return request->op == AFTL_OP_READ ? BLK_STS_MEDIUM : BLK_STS_IOERR;
	}
}

static void note_completion(struct aftl_disk *disk, const struct aftl_request *request)
{
	u64 late_ns = 0;

	if (disk->scale != AFTL_TIMING_OFF) {
		late_ns = aftl_disk_late(disk, request);
		spin_lock_bh(&disk->late_lock);
		aftl_histogram_add(&disk->late, late_ns);
		spin_unlock_bh(&disk->late_lock);
	}
	trace_aftl_complete(disk, request, late_ns);
}

static void end_bio(struct aftl_disk *disk, struct aftl_io *io, blk_status_t status)
{
	struct bio *bio = aftl_io_bio(io);

	disk->store->type->release(disk->store, &io->bytes);
	if (io->fetches)
		aftl_dev_forget_reads(disk->durable, io);
	bio->bi_status = status;
	bio_endio(bio);
}

void aftl_io_finish(struct aftl_disk *disk, struct aftl_request *done)
{
	while (done) {
		struct aftl_request *request = done;

		done = request->next;
		note_completion(disk, request);
		end_bio(disk, aftl_request_io(request), to_block_status(request));
	}
}

void aftl_io_commit_done(struct aftl_disk *disk, struct aftl_io *io, int error)
{
	io->failed = error;
	io->request.next = NULL;
	aftl_io_finish(disk, &io->request);
}

/* The way in. */

static bool is_flush(const struct bio *bio)
{
	return bio->bi_opf & REQ_PREFLUSH && !bio_sectors(bio);
}

/* Returns AFTL_OPS for what the target does not do. */
static u8 bio_request_op(const struct bio *bio)
{
	if (is_flush(bio))
		return AFTL_OP_FLUSH;
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return AFTL_OP_READ;
	case REQ_OP_WRITE:
		return AFTL_OP_WRITE;
	case REQ_OP_DISCARD:
		return AFTL_OP_DISCARD;
	case REQ_OP_WRITE_ZEROES:
		return AFTL_OP_WRITE_ZEROES;
	default:
		return AFTL_OPS;
	}
}

/* Returns false if the limits do not allow such a bio; a write of two classes is split. */
static bool describe(const struct aftl_target *target, struct bio *bio,
		     struct aftl_request *request)
{
	u32 shift = target->disk->unit_shift;
	sector_t sector = dm_target_offset(target->ti, bio->bi_iter.bi_sector);

	memset(request, 0, sizeof(*request));
	request->op = bio_request_op(bio);
	if (request->op == AFTL_OPS)
		return false;
	if (request->op == AFTL_OP_FLUSH)
		return true;
	if ((sector | bio_sectors(bio)) & (aftl_unit_sectors(target->disk) - 1))
		return false;
	if (request->op == AFTL_OP_WRITE && bio_sectors(bio))
		request->class = aftl_tag_bio(target, bio);
	request->unit = sector >> shift;
	request->units = bio_sectors(bio) >> shift;
	request->flags = bio->bi_opf & REQ_FUA ? AFTL_REQUEST_FUA : 0;
	return true;
}

static bool discards(const struct aftl_request *request)
{
	return request->op == AFTL_OP_DISCARD || request->op == AFTL_OP_WRITE_ZEROES;
}

static void submitted(struct aftl_disk *disk, struct aftl_io *io)
{
	const struct aftl_request *request = &io->request;

	trace_aftl_submit(disk, request);
	disk->submitted++;
	if (discards(request))
		disk->store->type->forget(disk->store, to_unit(request->unit), request->units,
					  &io->bytes);
}

static void submit(struct aftl_disk *disk, struct aftl_io *io)
{
	int ret = aftl_disk_enter(disk, false);

	io->request.arrival_ns = aftl_now(disk->ftl);
	if (!ret)
		ret = aftl_submit(disk->ftl, &io->request);
	if (!ret)
		submitted(disk, io);
	aftl_disk_leave(disk);
	if (ret)
		end_bio(disk, io, BLK_STS_IOERR);
}

/* What only a durable store needs. Returns false if it has failed. */
static bool prepare_durable(struct aftl_disk *disk, struct aftl_io *io)
{
	const struct aftl_request *request = &io->request;

	if (request->op != AFTL_OP_READ && aftl_dev_error(disk->durable))
		return false;
	if (request->op == AFTL_OP_READ)
		aftl_dev_prepare_reads(disk->durable, io);
	else
		io->commits = request->op == AFTL_OP_FLUSH || request->flags & AFTL_REQUEST_FUA;
	return true;
}

static blk_status_t prepare(struct aftl_disk *disk, struct aftl_io *io, struct bio *bio)
{
	INIT_LIST_HEAD(&io->bytes);
	io->fetches = NULL;
	io->commits = false;
	io->failed = false;
	if (disk->durable && !prepare_durable(disk, io))
		return BLK_STS_IOERR;
	if (io->request.op == AFTL_OP_WRITE &&
	    disk->store->type->gather(disk->store, bio, &io->bytes))
		return BLK_STS_RESOURCE;
	return BLK_STS_OK;
}

int aftl_io_map(struct dm_target *ti, struct bio *bio)
{
	struct aftl_target *target = ti->private;
	struct aftl_disk *disk = target->disk;
	struct aftl_io *io = dm_per_bio_data(bio, sizeof(*io));
	blk_status_t status;

	if (!describe(target, bio, &io->request))
		return DM_MAPIO_KILL;
	status = prepare(disk, io, bio);
	if (status)
		end_bio(disk, io, status);
	else
		submit(disk, io);
	return DM_MAPIO_SUBMITTED;
}
