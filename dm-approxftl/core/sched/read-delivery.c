// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery of logical pages that a read returns: from flash, from the data of a program in progress
 * or from the read cache, or zeroes.
 */
#include "core/ftl/controller.h"
#include "core/ftl/l2p.h"
#include "core/ftl/superblock.h"
#include "core/sched/read-delivery.h"

void aftl_deliver_unit_to_host(struct aftl *ftl, struct aftl_request *request,
			       const struct aftl_read *read)
{
	if (ftl->ops->read)
		ftl->ops->read(ftl->host, request, read);
}

void aftl_deliver_zero_page(struct aftl *ftl, struct aftl_request *request, aftl_lpn_t lpn)
{
	struct aftl_read read = { .lpn = lpn, .source = AFTL_SOURCE_ZERO };

	ftl->stats.counters.unmapped_read_units += aftl_request_is_host_read(request);
	aftl_deliver_unit_to_host(ftl, request, &read);
}

void aftl_deliver_lost_page(struct aftl *ftl, struct aftl_request *request, aftl_lpn_t lpn)
{
	struct aftl_read read = {
		.lpn = lpn,
		.source = AFTL_SOURCE_FLASH,
		.ppn = AFTL_NO_PPN,
		.lost = true,
	};

	ftl->stats.counters.read_lost_units++;
	request->status = -EIO;
	aftl_deliver_unit_to_host(ftl, request, &read);
}

/* Return true if @ppn cannot be reconstructed from its stripe, or if there is no RAIN. */
bool aftl_ppn_is_not_reconstructable(const struct aftl *ftl, aftl_ppn_t ppn)
{
	return !(ftl->config.rain && aftl_stripe_can_reconstruct_ppn(ftl, ppn));
}

static_assert(AFTL_COUNTER_DISTANCE_IS(read_precise_flipped_bits, read_level_3_flipped_bits,
				       AFTL_LEVELS - 1),
	      "flipped bits are counted by level");

static inline void count_flipped_bits_of_read(struct aftl *ftl, const struct aftl_read *read)
{
	struct aftl_counters *counters = &ftl->stats.counters;

	counters->read_flipped_bits += read->flips;
	(&counters->read_precise_flipped_bits)[aftl_l2p_quality_level(ftl, read->lpn)] +=
		read->flips;
}

/* Count a logical page that a read returns to the host, and its flipped bits. */
static inline void count_lpn_returned_by_read(struct aftl *ftl, const struct aftl_request *request,
					      const struct aftl_read *read, bool approximate)
{
	if (!aftl_request_is_host_read(request))
		return;
	ftl->stats.counters.read_approx_units += approximate;
	if (!read->lost)
		count_flipped_bits_of_read(ftl, read);
}

void aftl_deliver_flash_page(struct aftl *ftl, struct aftl_request *request,
			     const struct aftl_read *read, u32 class)
{
	count_lpn_returned_by_read(ftl, request, read, class == AFTL_APPROX);
	if (read->lost) {
		ftl->stats.counters.read_lost_units++;
		request->status = -EIO;
	}
	aftl_deliver_unit_to_host(ftl, request, read);
}

/*
 * Serve @lpn from the data of the program in progress of its page @ppn. It has the errors inherited
 * from a relocation, but none of the cells, which are being programmed.
 */
void aftl_deliver_programming_page(struct aftl *ftl, struct aftl_request *request, aftl_lpn_t lpn,
				   aftl_ppn_t ppn)
{
	struct aftl_read read = { .lpn = lpn, .source = AFTL_SOURCE_FLASH, .ppn = ppn };

	if (aftl_has_error_model(&ftl->media)) {
		struct aftl_origin origin =
			aftl_oob_origin(&ftl->media, aftl_block_of_ppn(&ftl->media, ppn), ppn);

		read.lost = origin.inherited == AFTL_INHERITED_LOST;
		read.flips = read.lost ? 0 : origin.inherited;
		read.generation = origin.generation;
	}
	read.lost |= aftl_ppn_is_lost(ftl, ppn);
	ftl->stats.counters.buffer_read_units += aftl_request_is_host_read(request);
	aftl_deliver_flash_page(ftl, request, &read,
				aftl_page_class(aftl_ppn_attr(&ftl->media, ppn)));
}

/* The read cache holds data after ECC, so its reads take no array or ECC delay. */
void aftl_deliver_cached_page(struct aftl *ftl, struct aftl_request *request,
			      struct aftl_read_cache_entry *recent)
{
	struct aftl_read read = {
		.lpn = recent->lpn,
		.source = AFTL_SOURCE_FLASH,
		.ppn = recent->ppn,
		.flips = recent->flips,
		.generation = recent->generation,
	};

	ftl->stats.counters.read_cache_units++;
	count_lpn_returned_by_read(ftl, request, &read,
				   aftl_l2p_quality_level(ftl, read.lpn) != AFTL_PRECISE);
	recent->flags &= ~AFTL_READ_CACHE_PREFETCHED;
	aftl_read_cache_mark_entry_used(ftl, recent);
	aftl_deliver_unit_to_host(ftl, request, &read);
}
