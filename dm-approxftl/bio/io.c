// SPDX-License-Identifier: GPL-2.0-only
/*
 * The map method: translate bios to requests and submit them to the FTL.
 */
#include <linux/ioprio.h>

#include "bio/bio.h"
#include "compat.h"
#include "disk/targets.h"
#include "store/dev.h"
#include "store/trace.h"
#include "tags/tags.h"

static bool is_flush_bio(const struct bio *bio)
{
	return bio->bi_opf & REQ_PREFLUSH && !bio_sectors(bio);
}

/* Return the enum aftl_op of @bio; AFTL_ZONE_OPS if the target does not support its operation. */
static u8 map_bio_to_aftl_op(const struct bio *bio)
{
	if (is_flush_bio(bio))
		return AFTL_OP_FLUSH;
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return AFTL_OP_READ;
	case REQ_OP_WRITE:
	case REQ_OP_ZONE_APPEND:
		return AFTL_OP_WRITE;
	case REQ_OP_DISCARD:
		return AFTL_OP_DISCARD;
	case REQ_OP_WRITE_ZEROES:
		return AFTL_OP_WRITE_ZEROES;
	case REQ_OP_ZONE_OPEN:
		return AFTL_OP_ZONE_OPEN;
	case REQ_OP_ZONE_CLOSE:
		return AFTL_OP_ZONE_CLOSE;
	case REQ_OP_ZONE_FINISH:
		return AFTL_OP_ZONE_FINISH;
	case REQ_OP_ZONE_RESET:
		return AFTL_OP_ZONE_RESET;
	case REQ_OP_ZONE_RESET_ALL:
		return AFTL_OP_ZONE_RESET_ALL;
	default:
		return AFTL_ZONE_OPS;
	}
}

/*
 * Select the controller's queue by I/O priority: the first for real-time, the last for idle; the
 * eight levels of best-effort are divided among all. IOPRIO_CLASS_NONE is best-effort level 4.
 */
static u8 select_host_queue(const struct aftl_disk *disk, const struct bio *bio)
{
	u32 queues = aftl_queue_weight_count(READ_ONCE(aftl_config(disk->ftl)->queue_weights));
	u32 level = IOPRIO_BE_NORM;

	if (likely(queues < 2) || IOPRIO_PRIO_CLASS(bio->bi_ioprio) == IOPRIO_CLASS_RT)
		return 0;
	if (IOPRIO_PRIO_CLASS(bio->bi_ioprio) == IOPRIO_CLASS_IDLE)
		return queues - 1;
	if (IOPRIO_PRIO_CLASS(bio->bi_ioprio) == IOPRIO_CLASS_BE)
		level = bio->bi_ioprio % IOPRIO_BE_NR;
	return level * queues / IOPRIO_BE_NR;
}

static sector_t get_sector_in_target(const struct aftl_target *target, const struct bio *bio)
{
	return dm_target_offset(target->ti, bio->bi_iter.bi_sector);
}

/*
 * REQ_NOUNMAP demands that zeroed sectors stay allocated. The target refuses such a bio: the block
 * layer then falls back to writing pages of zeroes.
 */
static bool bio_needs_written_zeroes(const struct bio *bio)
{
	return bio_op(bio) == REQ_OP_WRITE_ZEROES && bio->bi_opf & REQ_NOUNMAP;
}

/*
 * Fill in @request, except for its range. A write whose logical pages differ in quality level is
 * split. Returns false for a bio that the target's limits exclude.
 */
static bool fill_request_from_bio(const struct aftl_target *target, struct bio *bio,
				  struct aftl_request *request)
{
	memset(request, 0, sizeof(*request));
	request->op = map_bio_to_aftl_op(bio);
	if (request->op == AFTL_ZONE_OPS)
		return false;
	if (request->op == AFTL_OP_FLUSH)
		return true;
	if ((get_sector_in_target(target, bio) | bio_sectors(bio)) &
	    ((1U << target->table.device->unit_shift) - 1))
		return false;
	if (request->op == AFTL_OP_WRITE && bio_sectors(bio)) {
		request->level = aftl_tag_bio(target, bio);
		request->class = request->level ? AFTL_APPROX : AFTL_PRECISE;
		request->hint.life = aftl_bio_write_hint(bio);
		if (aftl_bio_write_stream(bio) != aftl_get_write_stream_of_tag(&target->options))
			request->hint.stream = aftl_bio_write_stream(bio);
	}
	/* Device-mapper duplicates the bio for each shard: trace only the first duplicate. */
	if (request->op == AFTL_OP_WRITE_ZEROES && !dm_bio_get_target_bio_nr(bio))
		aftl_blktrace_emit_write_zeroes(target, bio);
	request->queue = select_host_queue(target->table.device->disks[0], bio);
	request->flags = bio->bi_opf & REQ_FUA ? AFTL_REQUEST_FUA : 0;
	if (bio_op(bio) == REQ_OP_ZONE_APPEND)
		request->flags |= AFTL_REQUEST_APPEND;
	return true;
}

static bool is_request_discard_or_zeroing(const struct aftl_request *request)
{
	return request->op == AFTL_OP_DISCARD || request->op == AFTL_OP_WRITE_ZEROES;
}

/*
 * Device-mapper duplicates flushes, discards and write-zeroes for each shard. Select the shard by
 * the number of the duplicate, and reduce the bio's range to the part in that shard.
 */
static struct aftl_disk *map_duplicated_bio_to_shard(const struct aftl_device *device,
						     const struct bio *bio, u64 unit,
						     struct aftl_request *request)
{
	u32 index = dm_bio_get_target_bio_nr(bio);
	u64 end = unit + request->units;

	request->unit = aftl_count_shard_lpns_below_device_lpn(&device->shards, index, unit);
	request->units =
		aftl_count_shard_lpns_below_device_lpn(&device->shards, index, end) - request->unit;
	return device->disks[index];
}

/*
 * Map a read, a write or a zone request to its shard. The request lies in one shard only, because
 * device-mapper splits bios at the limits that limit_target_io() in target.c sets.
 */
static struct aftl_disk *map_bio_within_shard(const struct aftl_device *device, u64 unit,
					      struct aftl_request *request)
{
	struct aftl_spot spot = aftl_device_locate_unit(device, unit, request->units);

	request->unit = spot.unit;
	return WARN_ON_ONCE(spot.units < request->units) ? NULL : spot.disk;
}

/* Map the bio to a shard and a range within it. Returns NULL if the shard does not exist. */
static struct aftl_disk *map_bio_to_shard(const struct aftl_target *target, struct bio *bio,
					  struct aftl_request *request)
{
	const struct aftl_device *device = target->table.device;
	u64 unit = get_sector_in_target(target, bio) >> device->unit_shift;

	request->unit = unit;
	request->units = bio_sectors(bio) >> device->unit_shift;
	if (likely(device->shards.count == 1))
		return device->disks[0];
	if (request->op == AFTL_OP_FLUSH || is_request_discard_or_zeroing(request))
		return map_duplicated_bio_to_shard(device, bio, unit, request);
	/* aftl_split_zone_reset_all() keeps REQ_OP_ZONE_RESET_ALL from devices with shards. */
	if (unlikely(request->op == AFTL_OP_ZONE_RESET_ALL))
		return NULL;
	return map_bio_within_shard(device, unit, request);
}

static void count_submitted_io(struct aftl_disk *disk, struct aftl_io *io)
{
	const struct aftl_request *request = &io->request;

	trace_aftl_submit(disk, request);
	disk->submitted++;
	if (is_request_discard_or_zeroing(request))
		disk->store->type->forget(disk->store, to_lpn(request->unit), request->units,
					  &io->bytes);
}

/*
 * Try to complete a read at once with "timing off". The bio ends when the disk is unlocked, after
 * count_submitted_io() has used the request. A durable store is excluded: its read from the backing
 * device may end the bio earlier.
 */
static bool complete_read_without_timing(struct aftl_disk *disk, struct aftl_io *io)
{
	return disk->scale == AFTL_TIMING_OFF && !disk->durable &&
	       aftl_try_read_fastpath(disk->ftl, &io->request);
}

static void submit_io_to_shards(struct aftl_disk *disk, struct aftl_io *io)
{
	int ret = aftl_disk_lock_and_advance(disk, false);

	io->request.arrival_ns = aftl_device_time_ns(disk->ftl);
	if (!ret && !complete_read_without_timing(disk, io))
		ret = aftl_submit(disk->ftl, &io->request);
	if (!ret)
		count_submitted_io(disk, io);
	aftl_disk_unlock_and_end_bios(disk);
	if (ret)
		aftl_disk_end_io(disk, io, BLK_STS_IOERR);
}

/* Prepare a request to a durable store; may sleep. Returns false for writes to a failed store. */
static bool prepare_durable_io(struct aftl_disk *disk, struct aftl_io *io)
{
	const struct aftl_request *request = &io->request;

	if (request->op != AFTL_OP_READ && aftl_dev_get_error(disk->durable))
		return false;
	if (unlikely(request->op >= AFTL_OPS))
		aftl_dev_reserve_ops_of_zone_request(disk->durable, io);
	if (request->op == AFTL_OP_READ)
		aftl_dev_alloc_fetches(disk->durable, io);
	else
		io->commits = disk->durable->safe || request->op == AFTL_OP_FLUSH ||
			      request->flags & AFTL_REQUEST_FUA;
	return true;
}

static blk_status_t init_io_of_bio(struct aftl_disk *disk, struct aftl_io *io, struct bio *bio)
{
	io->bio = bio;
	INIT_LIST_HEAD(&io->bytes);
	io->contents = NULL;
	io->fetches = NULL;
	io->zone_claims = 0;
	io->commits = false;
	io->failed = BLK_STS_OK;
	if (disk->durable && !prepare_durable_io(disk, io))
		return BLK_STS_IOERR;
	if (!disk->durable && io->request.op == AFTL_OP_READ)
		aftl_io_alloc_array_of_pinned_pages(io);
	if (io->request.op == AFTL_OP_WRITE &&
	    disk->store->type->gather(disk->store, bio, &io->bytes))
		return BLK_STS_RESOURCE;
	return BLK_STS_OK;
}

int aftl_map_bio(struct dm_target *ti, struct bio *bio)
{
	struct aftl_target *target = ti->private;
	struct aftl_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct aftl_disk *disk;
	blk_status_t status;

	if (unlikely(bio_needs_written_zeroes(bio))) {
		bio->bi_status = BLK_STS_NOTSUPP;
		bio_endio(bio);
		return DM_MAPIO_SUBMITTED;
	}
	if (!fill_request_from_bio(target, bio, &io->request))
		return DM_MAPIO_KILL;
	disk = map_bio_to_shard(target, bio, &io->request);
	if (unlikely(!disk))
		return DM_MAPIO_KILL;
	if (unlikely(is_request_discard_or_zeroing(&io->request) && !io->request.units)) {
		bio_endio(bio);
		return DM_MAPIO_SUBMITTED;
	}
	status = init_io_of_bio(disk, io, bio);
	if (status)
		aftl_disk_end_io(disk, io, status);
	else
		submit_io_to_shards(disk, io);
	return DM_MAPIO_SUBMITTED;
}
