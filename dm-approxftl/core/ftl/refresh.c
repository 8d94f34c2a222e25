// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retention refresh: data older than the policy's limit or parameter "refresh" are relocated.
 *
 * A scan visits all blocks once for each day of device age, in slices. One event source fires for
 * the next slice, or for the next day if nothing is left to scan. LUNs are scanned in turns; one in
 * which a block with old data was found is skipped until it relocates that block.
 */
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/refresh.h"
#include "core/ftl/run-queue.h"

/*
 * SLICE_NS: device time between two slices of a scan. SLICE_PAGES: pages that a slice examines, in
 * a few microseconds of processor time.
 */
#define SLICE_NS 100000ULL
#define SLICE_PAGES 1024

/* Pages of work that a scan counts for a block without valid pages, which it skips. */
#define EMPTY_PAGES 16

/* Age in hours at which a page is relocated; 0: never. */
static u32 page_retention_limit_hours(const struct aftl *ftl, u16 attr)
{
	u32 class = aftl_page_class(attr);

	if (ftl->type->retention_hours)
		return ftl->type->retention_hours(ftl->policy, class, aftl_page_mode(attr));
	return class == AFTL_APPROX ? (u32)div64_u64(ftl->config.refresh, AFTL_HOUR_NS) : 0;
}

/**
 * aftl_page_refresh_is_due() - return true if a page is older than its retention limit
 * @ftl: device
 * @block: block of the page
 * @page: number of the page in @block
 */
bool aftl_page_refresh_is_due(const struct aftl *ftl, const struct aftl_block *block, u32 page)
{
	u32 index = aftl_page_number_in_device(&ftl->media, block, page);
	u16 attr = *aftl_page_attr_ptr(&ftl->media, index);
	u32 limit;

	if (!(attr & AFTL_PAGE_PROGRAMMED))
		return false;
	limit = page_retention_limit_hours(ftl, attr);
	return limit &&
	       aftl_device_age_hours(ftl) >= (u64)block->first_hour +
				  aftl_get_program_timestamp_of_page(&ftl->media, block, page) +
				  limit;
}

/* Return true if a valid page of @block is too old; its pages differ in age, so examine all. */
static bool block_needs_refresh(const struct aftl *ftl, const struct aftl_block *block)
{
	u32 page;

	if (!block->valid || aftl_device_age_hours(ftl) == block->first_hour)
		return false;
	for (page = 0; page < ftl->geo.pages; page++)
		if (aftl_page_refresh_is_due(ftl, block, page) &&
		    aftl_page_has_valid_data(&ftl->media, block, page))
			return true;
	return false;
}

static struct aftl_block *refresh_next_block(struct aftl *ftl, const struct aftl_lun *lun)
{
	return &ftl->media.blocks[lun->index * ftl->geo.blocks_per_lun + lun->refresh_block];
}

static bool refresh_scan_is_pending(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->refresh_block < ftl->geo.blocks_per_lun && !lun->refresh_due &&
	       !aftl_lun_is_dead(lun);
}

/* Find the next LUN with blocks left to scan and without a found block to relocate, or NULL. */
static struct aftl_lun *refresh_next_lun(struct aftl *ftl)
{
	u32 tries;

	for (tries = 0; tries < ftl->geo.luns; tries++) {
		struct aftl_lun *lun = &ftl->luns[(ftl->refresh.lun + tries) % ftl->geo.luns];

		if (refresh_scan_is_pending(ftl, lun))
			return lun;
	}
	return NULL;
}

static void refresh_schedule_next_scan_slice(struct aftl *ftl)
{
	u64 slice_ns = refresh_next_lun(ftl) ? ftl->now_ns + SLICE_NS : AFTL_NEVER;

	aftl_events_set_time(&ftl->events, ftl->event_clock,
			     min(slice_ns, ftl->refresh.next_day_ns));
}

/**
 * aftl_refresh_set_daily_event() - set the event of the next day after a change of age or limits
 * @ftl: device
 */
void aftl_refresh_set_daily_event(struct aftl *ftl)
{
	u64 into_day = (ftl->age_ns + ftl->now_ns) % AFTL_DAY_NS;
	bool counts = ftl->config.refresh || ftl->type->retention_hours;

	ftl->refresh.next_day_ns = counts ? ftl->now_ns + AFTL_DAY_NS - into_day : AFTL_NEVER;
	refresh_schedule_next_scan_slice(ftl);
}

/**
 * aftl_refresh_restart_scan() - start a new scan of all blocks
 * @ftl: device; the caller calls aftl_refresh_set_daily_event() afterwards
 */
void aftl_refresh_restart_scan(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++) {
		ftl->luns[i].refresh_block = 0;
		ftl->luns[i].refresh_due = false;
	}
}

static void refresh_scan_next_blocks(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 pages = 0;

	while (pages < SLICE_PAGES && lun->refresh_block < ftl->geo.blocks_per_lun) {
		const struct aftl_block *block = refresh_next_block(ftl, lun);

		if (block_needs_refresh(ftl, block)) {
			lun->refresh_due = true;
			aftl_wake_idle_lun(ftl, lun);
			return;
		}
		lun->refresh_block++;
		pages += block->valid ? ftl->geo.pages : EMPTY_PAGES;
		ftl->work += block->valid ? ftl->geo.pages / 8 : 1;
	}
}

/**
 * aftl_handle_refresh_scan_event() - handle the event of the next slice or day
 * @ftl: device
 */
void aftl_handle_refresh_scan_event(struct aftl *ftl)
{
	struct aftl_lun *lun = refresh_next_lun(ftl);

	if (lun) {
		ftl->refresh.lun = (lun->index + 1) % ftl->geo.luns;
		refresh_scan_next_blocks(ftl, lun);
	}
	if (ftl->now_ns < ftl->refresh.next_day_ns) {
		refresh_schedule_next_scan_slice(ftl);
		return;
	}
	aftl_refresh_restart_scan(ftl);
	aftl_refresh_set_daily_event(ftl);
}

/**
 * aftl_refresh_take_block() - get the block with old data that the scan found in @lun
 * @ftl: device
 * @lun: LUN whose array is idle
 *
 * Return: the block; NULL if none was found, or if its data have been relocated meanwhile.
 */
struct aftl_block *aftl_refresh_take_block(struct aftl *ftl, struct aftl_lun *lun)
{
	u64 slice_ns = ftl->now_ns + SLICE_NS;
	struct aftl_block *block;

	if (!lun->refresh_due)
		return NULL;
	block = refresh_next_block(ftl, lun);
	lun->refresh_due = false;
	lun->refresh_block++;
	if (refresh_scan_is_pending(ftl, lun) && ftl->events.when[ftl->event_clock] > slice_ns)
		aftl_events_set_time(&ftl->events, ftl->event_clock, slice_ns);
	return block_needs_refresh(ftl, block) ? block : NULL;
}

/**
 * aftl_refresh_forget_due_blocks() - forget found blocks that no task relocates yet
 * @ftl: device
 *
 * A later scan finds these blocks again, so a device behaves as after a load of its snapshot.
 */
void aftl_refresh_forget_due_blocks(struct aftl *ftl)
{
	u32 i;

	ftl->refresh.lun = 0;
	for (i = 0; i < ftl->geo.luns; i++) {
		ftl->luns[i].refresh_due = false;
		ftl->luns[i].disturbed = NULL;
	}
}
