// SPDX-License-Identifier: GPL-2.0-only
/* Completion of bios. */
#include "disk/disk.h"
#include "store/dev.h"
#include "store/trace.h"

static blk_status_t request_to_block_status(struct aftl_request *request)
{
	if (unlikely(aftl_request_io(request)->failed))
		return aftl_request_io(request)->failed;
	switch (request->status) {
	case 0:
		return BLK_STS_OK;
	case -ENOSPC:
		return BLK_STS_NOSPC;
	case -EOVERFLOW:
		return BLK_STS_ZONE_ACTIVE_RESOURCE;
	case -EBUSY:
		return BLK_STS_ZONE_OPEN_RESOURCE;
	default:
		return request->op == AFTL_OP_READ ? BLK_STS_MEDIUM : BLK_STS_IOERR;
	}
}

static void record_completion_lateness(struct aftl_disk *disk, const struct aftl_request *request)
{
	u64 late_ns = 0;

	if (disk->scale != AFTL_TIMING_OFF) {
		late_ns = aftl_disk_completion_lateness(disk, request);
		spin_lock_bh(&disk->late_lock);
		aftl_histogram_add(&disk->late, late_ns);
		spin_unlock_bh(&disk->late_lock);
	}
	trace_aftl_complete(disk, request, late_ns);
}

void aftl_disk_end_io(struct aftl_disk *disk, struct aftl_io *io, blk_status_t status)
{
	struct bio *bio = aftl_io_bio(io);

	if (!list_empty(&io->bytes))
		disk->store->type->release(disk->store, &io->bytes);
	if (io->contents)
		aftl_io_copy_pinned_pages_to_bio(disk, io);
	if (io->fetches)
		aftl_dev_free_fetches(disk->durable, io);
	if (unlikely(io->zone_claims))
		aftl_dev_release_ops_of_zone_request(disk->durable, io);
	bio->bi_status = status;
	bio_endio(bio);
}

/* Set the bio's sector to where its zone append was written; dm takes the zone offset from it. */
static void report_zone_append_sector(const struct aftl_disk *disk, struct aftl_request *request)
{
	struct bio *bio = aftl_io_bio(aftl_request_io(request));

	if (request->flags & AFTL_REQUEST_APPEND)
		bio->bi_iter.bi_sector = (sector_t)request->unit << disk->unit_shift;
}

void aftl_disk_finish_requests(struct aftl_disk *disk, struct aftl_request *done)
{
	while (done) {
		struct aftl_request *request = done;

		done = request->next;
		record_completion_lateness(disk, request);
		report_zone_append_sector(disk, request);
		aftl_disk_end_io(disk, aftl_request_io(request), request_to_block_status(request));
	}
}
