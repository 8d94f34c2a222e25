// SPDX-License-Identifier: GPL-2.0-only
/*
 * State, statistics and digest of a device, and the audit of all invariants.
 */
#include "core/ftl/command.h"
#include "core/ftl/controller.h"
#include "core/ftl/inspect.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lost-data.h"
#include "core/ftl/lun.h"
#include "core/ftl/pause.h"
#include "core/ftl/pending-writes.h"
#include "core/ftl/placement-handle.h"
#include "core/ftl/policy-services.h"
#include "core/ftl/read-cache.h"
#include "core/ftl/superblock.h"
#include "core/ftl/translation-page.h"
#include "core/ftl/zone.h"
#include "core/base/random.h"

/* Number of logical pages or ppns to process between two calls of the host's pause(). */
#define SLICE_UNITS 1024

/* Distance, in ppns, at which the audit prefetches entries of the L2P table. */
#define AHEAD 32

u32 aftl_pending_requests(const struct aftl *ftl)
{
	return ftl->requests;
}

u32 aftl_count_buffer_tags(const struct aftl *ftl)
{
	return ftl->write_commands;
}

bool aftl_get_buffered_write(const struct aftl *ftl, u32 tag, struct aftl_buffered_lpn *what)
{
	const struct aftl_command *command = &ftl->commands[tag];

	*what = (struct aftl_buffered_lpn){ command->lpn, command->level, command->hint };
	return !(command->flags & (AFTL_COMMAND_PROGRAMMING | AFTL_COMMAND_SUPERSEDED));
}

u32 aftl_count_luns_in_gc(const struct aftl *ftl)
{
	return ftl->collecting;
}

bool aftl_is_read_only(const struct aftl *ftl)
{
	return ftl->read_only;
}

bool aftl_buffer_is_lost(const struct aftl *ftl)
{
	return ftl->buffer_lost;
}

aftl_ppn_t aftl_lookup(const struct aftl *ftl, aftl_lpn_t lpn, u32 *class)
{
	aftl_ppn_t ppn;

	if (from_lpn(lpn) >= ftl->geo.units || !aftl_l2p_lookup(ftl, lpn, &ppn))
		return AFTL_NO_PPN;
	*class = aftl_l2p_quality_level(ftl, lpn) != AFTL_PRECISE;
	return ppn;
}

const u32 *aftl_l2p_table(const struct aftl *ftl)
{
	return ftl->l2p.chunk[1] ? NULL : ftl->l2p.chunk[0];
}

u32 aftl_lpn_quality_level(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return from_lpn(lpn) < ftl->geo.units ? aftl_l2p_quality_level(ftl, lpn) : AFTL_PRECISE;
}

u32 aftl_count_lost_units(const struct aftl *ftl)
{
	return ftl->lost_units;
}

bool aftl_lpn_is_lost(const struct aftl *ftl, aftl_lpn_t lpn)
{
	aftl_ppn_t ppn;

	return from_lpn(lpn) < ftl->geo.units && aftl_l2p_lookup(ftl, lpn, &ppn) &&
	       aftl_ppn_is_marked_lost(&ftl->media, ppn);
}

u32 aftl_find_lost_lpns(const struct aftl *ftl, u32 unit, u32 end, bool lost)
{
	while (unit < end && aftl_lpn_is_lost(ftl, to_lpn(unit)) != lost)
		unit++;
	return unit;
}

bool aftl_get_lpn_read_errors(const struct aftl *ftl, aftl_lpn_t lpn, struct aftl_errors *errors)
{
	const struct aftl_read_cache_entry *recent;
	aftl_ppn_t ppn;

	*errors = (struct aftl_errors){ .lost = aftl_lpn_is_lost(ftl, lpn) };
	if (errors->lost)
		return true;
	if (!aftl_has_error_model(&ftl->media) || from_lpn(lpn) >= ftl->geo.units ||
	    !aftl_l2p_lookup(ftl, lpn, &ppn))
		return false;
	*errors = aftl_cell_read_errors(&ftl->cell, ppn, aftl_device_age_hours(ftl));
	if (!(aftl_has_rain(ftl) && aftl_stripe_reconstruct(ftl, ppn, errors)))
		errors->lost |= aftl_block_of_ppn(&ftl->media, ppn)->state == AFTL_BLOCK_BAD;
	recent = aftl_read_cache_find(ftl, lpn);
	if (recent && recent->flags & AFTL_READ_CACHE_READY) {
		errors->flips = recent->flips;
		errors->lost = false;
	}
	return true;
}

bool aftl_lpn_is_unreadable(const struct aftl *ftl, aftl_lpn_t lpn)
{
	struct aftl_errors errors;
	aftl_ppn_t ppn;

	if (aftl_lpn_is_buffered(ftl, lpn) || !aftl_l2p_lookup(ftl, lpn, &ppn))
		return false;
	if (aftl_get_lpn_read_errors(ftl, lpn, &errors))
		return errors.lost;
	return aftl_ppn_is_in_dead_lun(ftl, ppn) &&
	       !(aftl_has_rain(ftl) && aftl_stripe_can_reconstruct_ppn(ftl, ppn));
}

const struct aftl_stats *aftl_get_stats(const struct aftl *ftl)
{
	return &ftl->stats;
}

void aftl_reset_stats(struct aftl *ftl)
{
	u32 i;

	memset(&ftl->stats, 0, sizeof(ftl->stats));
	ftl->stats.since_ns = ftl->now_ns;
	for (i = 0; i < ftl->geo.luns; i++)
		ftl->luns[i].busy_ns = 0;
}

void aftl_restore_stats(struct aftl *ftl, const struct aftl_stats *before, u64 now_ns,
			bool same_policy)
{
	struct aftl_stats *stats = &ftl->stats;
	u64 span_ns = max(now_ns - before->since_ns, ftl->now_ns - stats->since_ns);

	aftl_stats_accumulate(stats, before);
	aftl_histogram_merge(&stats->read_response, &before->read_response);
	aftl_histogram_merge(&stats->write_response, &before->write_response);
	aftl_histogram_merge(&stats->flush_response, &before->flush_response);
	aftl_histogram_merge(&stats->read_service, &before->read_service);
	aftl_histogram_merge(&stats->write_service, &before->write_service);
	if (!same_policy) {
		memset(stats->kind_blocks, 0, sizeof(stats->kind_blocks));
		memset(stats->kind_pages, 0, sizeof(stats->kind_pages));
		memset(stats->stream_units, 0, sizeof(stats->stream_units));
	}
	stats->since_ns = ftl->now_ns - min(span_ns, ftl->now_ns);
}

const struct aftl_geometry *aftl_geometry(const struct aftl *ftl)
{
	return &ftl->geo;
}

const struct aftl_media *aftl_media(const struct aftl *ftl)
{
	return &ftl->media;
}

const struct aftl_cell *aftl_cell(const struct aftl *ftl)
{
	return &ftl->cell;
}

const struct aftl_config *aftl_config(const struct aftl *ftl)
{
	return &ftl->config;
}

const struct aftl_policy_type *aftl_policy_type(const struct aftl *ftl)
{
	return ftl->named_type;
}

u64 aftl_get_fill_progress(const struct aftl *ftl)
{
	return ftl->seq;
}

u64 aftl_memory_bytes(const struct aftl *ftl)
{
	return ftl->memory_bytes;
}

void aftl_get_lun_info(const struct aftl *ftl, u32 index, struct aftl_lun_info *info)
{
	const struct aftl_lun *lun = &ftl->luns[index];

	info->busy_ns = lun->busy_ns;
	info->good_blocks = lun->good_blocks;
	info->free_blocks = lun->free_blocks;
	info->cached_blocks = lun->slc_blocks;
	info->valid_units = lun->valid;
	info->queued = aftl_count_queued_commands(lun);
}

/* Hash four page attributes at a time: hashes wait for each other, so fewer hashes are faster. */
static u64 digest_page_attrs(const struct aftl_media *media, u32 page, u32 pages, u64 digest)
{
	u32 end = page + pages;
	u64 four = 0;

	for (; page + 4 <= end; page += 4) {
		u32 i;

		for (i = 0; i < 4; i++)
			four = four >> 16 | (u64)*aftl_page_attr_ptr(media, page + i) << 48;
		digest = aftl_hash64(digest ^ four);
	}
	for (; page < end; page++)
		digest = aftl_hash64(digest ^ *aftl_page_attr_ptr(media, page));
	return digest;
}

static u64 digest_block(const struct aftl *ftl, const struct aftl_block *block, u64 digest)
{
	digest = aftl_hash64_pair(digest, (u64)block->erases << 32 | block->wear);
	digest = aftl_hash64_pair(digest, (u64)block->state << 32 | (u64)block->handle << 24 |
						  block->kind << 16 | block->bits << 8 |
						  aftl_first_checkerboard_colour(block));
	if (!block->programmed)
		return digest;
	return digest_page_attrs(&ftl->media, aftl_page_number_in_device(&ftl->media, block, 0),
				 ftl->geo.pages, digest);
}

/*
 * Sum the hashes of all L2P entries, so that their order does not matter. The host may schedule
 * other work in pause(); an error code of pause() is ignored, as a digest cannot return it.
 */
static u64 digest_l2p_table(const struct aftl *ftl)
{
	u64 digest = 0;
	u32 i;

	for (i = 0; i < aftl_count_mappable_pages(&ftl->geo); i++) {
		if (*aftl_l2p_entry(ftl, i))
			digest += aftl_hash64((u64)i << 32 | *aftl_l2p_entry(ftl, i));
		if (i % SLICE_UNITS == 0)
			aftl_call_pause_callback(ftl);
	}
	return digest;
}

u64 aftl_compute_device_digest(const struct aftl *ftl)
{
	u64 digest = aftl_hash64_pair(digest_l2p_table(ftl), ftl->geo.ppns);
	u32 i;

	for (i = 0; i < ftl->geo.blocks; i++) {
		digest = digest_block(ftl, &ftl->media.blocks[i], digest);
		aftl_call_pause_callback(ftl);
	}
	return digest;
}

static int yield_during_audit(const struct aftl *ftl, struct aftl_error *error)
{
	int ret = aftl_call_pause_callback(ftl);

	return ret ? aftl_fail(error, ret, "interrupted while the device was checked") : 0;
}

/* Audit: return true if the block of @ppn mixes translation pages with data. */
static bool does_block_mix_data_and_trans_pages(const struct aftl *ftl, aftl_ppn_t ppn, u32 unit)
{
	bool of_map = aftl_block_has_trans_pages(ftl, aftl_block_of_ppn(&ftl->media, ppn));
	bool is_tp = unit >= ftl->geo.units;

	return ftl->geo.trans_pages && of_map != is_tp;
}

static int audit_lpn(const struct aftl *ftl, u32 i, aftl_ppn_t ppn, struct aftl_error *error)
{
	u16 attr;

	if (ftl->geo.zones && i < ftl->geo.units &&
	    i % ftl->geo.zone_units >= aftl_zone_of_lpn(ftl, to_lpn(i))->written)
		return aftl_fail(error, -EUCLEAN, "unit %u is beyond its zone's write pointer", i);
	if (does_block_mix_data_and_trans_pages(ftl, ppn, i))
		return aftl_fail(error, -EUCLEAN, "unit %u and a translation page share a block",
				 i);
	attr = aftl_ppn_attr(&ftl->media, ppn);
	if (!(attr & AFTL_PAGE_PROGRAMMED) ||
	    aftl_page_class(attr) != (aftl_l2p_quality_level(ftl, to_lpn(i)) != AFTL_PRECISE))
		return aftl_fail(error, -EUCLEAN, "unit %u differs from its page in data class", i);
	if (aftl_ppn_quality_level(&ftl->media, ppn) != aftl_l2p_quality_level(ftl, to_lpn(i)))
		return aftl_fail(error, -EUCLEAN, "unit %u and its ppn differ in quality level", i);
	return 0;
}

/*
 * Audit one valid ppn: the L2P table must map its lpn to it. If that is true of all valid ppns, and
 * as many lpns are mapped as ppns are valid, the whole table is correct. The audit goes by ppn,
 * because neighbouring lpns are far apart in memory.
 */
static int audit_ppn(const struct aftl *ftl, aftl_ppn_t ppn, struct aftl_error *error)
{
	u32 unit = from_lpn(aftl_ppn_lpn(&ftl->media, ppn));
	aftl_ppn_t mapped;

	if (unit >= aftl_count_mappable_pages(&ftl->geo) ||
	    !aftl_l2p_lookup(ftl, to_lpn(unit), &mapped) || mapped != ppn)
		return aftl_fail(error, -EUCLEAN,
				 "slot %u is valid, but unit %u is not mapped to it", from_ppn(ppn),
				 unit);
	return audit_lpn(ftl, unit, ppn, error);
}

static bool is_audited_ppn_valid(const struct aftl *ftl, u32 slot)
{
	return slot < ftl->geo.ppns && aftl_ppn_is_valid(&ftl->media, to_ppn(slot));
}

/* Prefetch the L2P entry that the audit of ppn @slot will compare. */
static void audit_prefetch_l2p_entry(const struct aftl *ftl, u32 slot)
{
	u32 unit = is_audited_ppn_valid(ftl, slot) ?
			   from_lpn(aftl_ppn_lpn(&ftl->media, to_ppn(slot))) :
			   U32_MAX;

	if (unit < aftl_count_mappable_pages(&ftl->geo))
		prefetch(aftl_l2p_entry(ftl, unit));
}

static int audit_ppns(const struct aftl *ftl, struct aftl_error *error)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < ftl->geo.ppns; i++) {
		audit_prefetch_l2p_entry(ftl, i + AHEAD);
		if (is_audited_ppn_valid(ftl, i))
			ret = audit_ppn(ftl, to_ppn(i), error);
		if (!ret && i % SLICE_UNITS == 0)
			ret = yield_during_audit(ftl, error);
	}
	return ret;
}

static u32 audit_count_lost_ppns(const struct aftl_media *media, u32 slots)
{
	u32 lost = 0;
	u32 i;

	for (i = 0; i < DIV_ROUND_UP(slots, 64); i++)
		lost += hweight64(media->lost[i] & media->valid[i]);
	return lost;
}

struct block_census {
	u32 valid;
	u32 approx;
	u32 programmed;
};

static void audit_add_page_to_block_counts(const struct aftl *ftl, u32 page,
					   struct block_census *census)
{
	u16 attr = *aftl_page_attr_ptr(&ftl->media, page);
	u32 valid = 0;
	u32 i;

	for (i = 0; i < ftl->geo.page_units; i++)
		valid += aftl_ppn_is_valid(&ftl->media, to_ppn(page * ftl->geo.page_units + i));
	census->programmed += !!(attr & AFTL_PAGE_PROGRAMMED);
	census->valid += valid;
	census->approx += aftl_page_class(attr) == AFTL_APPROX ? valid : 0;
}

static struct block_census audit_count_block(const struct aftl *ftl, const struct aftl_block *block)
{
	struct block_census census = { 0 };
	u32 first = aftl_page_number_in_device(&ftl->media, block, 0);
	u32 page;

	for (page = first; page < first + ftl->geo.pages; page++)
		audit_add_page_to_block_counts(ftl, page, &census);
	return census;
}

static int audit_block(const struct aftl *ftl, u32 index, u32 *lun_valid, u32 *lun_free,
		       struct aftl_error *error)
{
	const struct aftl_block *block = &ftl->media.blocks[index];
	struct block_census census = audit_count_block(ftl, block);

	*lun_valid += census.valid;
	*lun_free += block->state == AFTL_BLOCK_FREE && !block->parity;
	if (census.valid != block->valid || census.approx != block->valid_approx)
		return aftl_fail(error, -EUCLEAN,
				 "block %u holds %u valid units (%u approximate), its counts say %u (%u)",
				 index, census.valid, census.approx, block->valid,
				 block->valid_approx);
	if (census.programmed != block->programmed)
		return aftl_fail(error, -EUCLEAN, "block %u has %u programmed pages, but counts %u",
				 index, census.programmed, block->programmed);
	if (block->state == AFTL_BLOCK_FREE && block->programmed)
		return aftl_fail(error, -EUCLEAN, "free block %u is not erased", index);
	if (block->programmed &&
	    !aftl_is_stored_program_order_valid(&ftl->geo, block->bits, block->order))
		return aftl_fail(error, -EUCLEAN,
				 "block %u has program order %u and %u bits per cell, which the chip cannot have",
				 index, block->order, block->bits);
	return 0;
}

static int audit_victim_lists(const struct aftl *ftl, const struct aftl_lun *lun,
			      struct aftl_error *error)
{
	u32 valid;
	u32 index;

	for (valid = 0; valid <= ftl->geo.block_ppns; valid++) {
		u32 head = lun->victims[valid];

		if (head != AFTL_NIL && valid < lun->min_valid)
			return aftl_fail(error, -EUCLEAN,
					 "LUN %u has a victim below its least valid count",
					 lun->index);
		for (index = head; index != AFTL_NIL; index = ftl->media.blocks[index].next) {
			const struct aftl_block *block = &ftl->media.blocks[index];

			if (block->state != AFTL_BLOCK_CLOSED || block->valid != valid)
				return aftl_fail(error, -EUCLEAN,
						 "block %u stands in the wrong victim list",
						 index);
		}
	}
	return 0;
}

static int audit_lun(const struct aftl *ftl, const struct aftl_lun *lun, struct aftl_error *error)
{
	u32 first = lun->index * ftl->geo.blocks_per_lun;
	u32 valid = 0;
	u32 free = 0;
	u32 i;
	int ret;

	for (i = first; i < first + ftl->geo.blocks_per_lun; i++) {
		ret = audit_block(ftl, i, &valid, &free, error);
		if (!ret)
			ret = yield_during_audit(ftl, error);
		if (ret)
			return ret;
	}
	if (valid != lun->valid || free != lun->free_blocks)
		return aftl_fail(error, -EUCLEAN,
				 "LUN %u has %u valid units and %u free blocks, it counts %u and %u",
				 lun->index, valid, free, lun->valid, lun->free_blocks);
	return audit_victim_lists(ftl, lun, error);
}

static int audit_device_totals(const struct aftl *ftl, struct aftl_error *error)
{
	u64 mapped = 0;
	u64 valid = 0;
	u32 lost = audit_count_lost_ppns(&ftl->media, ftl->geo.ppns);
	u32 i;
	int ret;

	for (i = 0; i < aftl_count_mappable_pages(&ftl->geo); i++) {
		mapped += *aftl_l2p_entry(ftl, i) != 0;
		ret = i % SLICE_UNITS ? 0 : yield_during_audit(ftl, error);
		if (ret)
			return ret;
	}
	for (i = 0; i < ftl->geo.luns; i++)
		valid += ftl->luns[i].valid;
	if (mapped != valid)
		return aftl_fail(error, -EUCLEAN, "%llu units are mapped, but %llu ppns are valid",
				 (unsigned long long)mapped, (unsigned long long)valid);
	if (lost != ftl->lost_units)
		return aftl_fail(error, -EUCLEAN, "%u ppns are lost, but the count is %u", lost,
				 ftl->lost_units);
	return 0;
}

int aftl_audit_counters_and_block_lists(const struct aftl *ftl, struct aftl_error *error)
{
	int ret = audit_device_totals(ftl, error);
	u32 i;

	if (!ret)
		ret = aftl_cmt_audit(ftl, error);
	if (!ret)
		ret = aftl_superblock_audit(ftl, error);
	for (i = 0; !ret && i < ftl->geo.luns; i++)
		ret = audit_lun(ftl, &ftl->luns[i], error);
	return ret;
}

int aftl_audit(const struct aftl *ftl, struct aftl_error *error)
{
	int ret = aftl_audit_counters_and_block_lists(ftl, error);

	return ret ? ret : audit_ppns(ftl, error);
}
