// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bios: on their way into the FTL, their data, and their end.
 */
#include <linux/mm.h>

#include "approxftl.h"

/* A bio's data from @unit on, one unit long. */
static struct bvec_iter unit_position(const struct aftl_disk *disk, struct bio *bio,
				      const struct aftl_request *request, aftl_unit_t unit)
{
	u32 unit_bytes = aftl_unit_sectors(disk) << SECTOR_SHIFT;
	struct bvec_iter at = bio->bi_iter;

	bio_advance_iter(bio, &at, (from_unit(unit) - request->unit) * unit_bytes);
	at.bi_size = unit_bytes;
	return at;
}

static void zero_unit(struct bio *bio, struct bvec_iter at)
{
	struct bvec_iter iter;
	struct bio_vec segment;

	__bio_for_each_segment(segment, bio, iter, at)
		memzero_bvec(&segment);
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

/* What the FTL asks of its host. All of it happens under the disk's lock. */

static void *host_alloc(void *host, size_t bytes)
{
	return kvzalloc(bytes, GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
}

static void host_free(void *host, void *memory, size_t bytes)
{
	kvfree(memory);
}

static void host_complete(void *host, struct aftl_request *request)
{
	struct aftl_disk *disk = host;

	lockdep_assert_held(&disk->lock);
	request->next = NULL;
	if (disk->done)
		disk->done_tail->next = request;
	else
		disk->done = request;
	disk->done_tail = request;
}

static void host_accept(void *host, struct aftl_request *request, aftl_unit_t unit, u32 tag)
{
	struct aftl_disk *disk = host;

	disk->store->type->accept(disk->store, unit, &aftl_request_io(request)->bytes);
}

static void host_read(void *host, struct aftl_request *request, const struct aftl_read *read)
{
	struct aftl_disk *disk = host;
	struct bio *bio = dm_bio_from_per_bio_data(aftl_request_io(request),
						   sizeof(struct aftl_io));
	struct bvec_iter at = unit_position(disk, bio, request, read->unit);
	u32 i;

	if (read->lost)
		return;
	if (read->source == AFTL_SOURCE_ZERO) {
		zero_unit(bio, at);
		return;
	}
	disk->store->type->fetch(disk->store, read->unit, bio, at);
	for (i = 0; i < read->flips; i++)
		flip_bit(bio, at, aftl_flip_position(aftl_cell(disk->ftl), read->unit,
						     read->lineage, i));
}

const struct aftl_host_ops aftl_io_host = {
	.alloc = host_alloc,
	.free = host_free,
	.complete = host_complete,
	.accept = host_accept,
	.read = host_read,
};

static blk_status_t to_block_status(const struct aftl_request *request)
{
	switch (request->status) {
	case 0:
		return BLK_STS_OK;
	case -ENOSPC:
		return BLK_STS_NOSPC;
	default:
		return request->op == AFTL_OP_READ ? BLK_STS_MEDIUM : BLK_STS_IOERR;
	}
}

static void note_lateness(struct aftl_disk *disk, const struct aftl_request *request)
{
	u64 late_ns = aftl_disk_late(disk, request);

	spin_lock_bh(&disk->late_lock);
	aftl_histogram_add(&disk->late, late_ns);
	spin_unlock_bh(&disk->late_lock);
}

static void end_bio(struct aftl_disk *disk, struct aftl_io *io, blk_status_t status)
{
	struct bio *bio = dm_bio_from_per_bio_data(io, sizeof(*io));

	disk->store->type->release(&io->bytes);
	bio->bi_status = status;
	bio_endio(bio);
}

void aftl_io_finish(struct aftl_disk *disk, struct aftl_request *done)
{
	while (done) {
		struct aftl_request *request = done;

		done = request->next;
		if (disk->scale != AFTL_TIMING_OFF)
			note_lateness(disk, request);
		end_bio(disk, aftl_request_io(request), to_block_status(request));
	}
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

/* What may happen to the data that @bio carries. */
static u8 bio_class(const struct aftl_target *target, const struct bio *bio)
{
	return bio_op(bio) == REQ_OP_WRITE && bio_sectors(bio) ? target->options.class :
								 AFTL_PRECISE;
}

/* Returns false if the limits do not allow such a bio. */
static bool describe(const struct aftl_target *target, const struct bio *bio,
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
	request->unit = sector >> shift;
	request->units = bio_sectors(bio) >> shift;
	request->class = bio_class(target, bio);
	request->flags = bio->bi_opf & REQ_FUA ? AFTL_REQUEST_FUA : 0;
	return true;
}

static bool discards(const struct aftl_request *request)
{
	return request->op == AFTL_OP_DISCARD || request->op == AFTL_OP_WRITE_ZEROES;
}

static void submit(struct aftl_disk *disk, struct aftl_io *io)
{
	struct aftl_request *request = &io->request;
	struct aftl_request *done;
	int ret;

	spin_lock_bh(&disk->lock);
	request->arrival_ns = aftl_disk_now(disk);
	ret = aftl_submit(disk->ftl, request);
	if (!ret && discards(request))
		disk->store->type->forget(disk->store, to_unit(request->unit), request->units,
					  &io->bytes);
	done = aftl_disk_settle(disk);
	spin_unlock_bh(&disk->lock);
	if (ret)
		end_bio(disk, io, BLK_STS_IOERR);
	aftl_io_finish(disk, done);
}

int aftl_io_map(struct dm_target *ti, struct bio *bio)
{
	struct aftl_target *target = ti->private;
	struct aftl_disk *disk = target->disk;
	struct aftl_io *io = dm_per_bio_data(bio, sizeof(*io));
	int ret = 0;

	if (!describe(target, bio, &io->request))
		return DM_MAPIO_KILL;
	INIT_LIST_HEAD(&io->bytes);
	if (io->request.op == AFTL_OP_WRITE)
		ret = disk->store->type->gather(disk->store, bio, &io->bytes);
	if (ret)
		end_bio(disk, io, BLK_STS_RESOURCE);
	else
		submit(disk, io);
	return DM_MAPIO_SUBMITTED;
}
