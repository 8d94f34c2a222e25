// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translation pages and the cached mapping table (CMT), as in DFTL. A translation page holds the
 * L2P entries of consecutive logical pages in one mapping unit. It has a physical page and is
 * relocated as data are, in blocks of its own. The directory of translation pages is always in
 * memory; parameter "map_cache" sets the memory for translation pages. A host read waits until its
 * translation page is loaded. An update does not: it is merged with the copy on flash when the
 * translation page is evicted (read-modify-write). With two program passes, the controller keeps an
 * evicted translation page until its fine pass.
 *
 * Time, space and wear are emulated; the L2P entries themselves are always in memory.
 */
#include "core/base/random.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/fine-pending.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/ftl/memory.h"
#include "core/ftl/program.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/sensing.h"
#include "core/ftl/translation-page.h"
#include "core/ftl/write-buffer.h"

/*
 * Limit of the translation pages that wait for eviction: one program for each LUN. If more wait,
 * host writes wait, too.
 */
static u32 cmt_compute_max_evictions(const struct aftl *ftl)
{
	return ftl->geo.luns * ftl->program_units;
}

static u64 cmt_capacity_from_config(const struct aftl *ftl)
{
	return div64_u64(ftl->config.map_cache, ftl->geo.unit_bytes);
}

void aftl_cmt_configure(struct aftl *ftl)
{
	if (!ftl->geo.trans_pages)
		return;
	ftl->cmt.max_evicting = cmt_compute_max_evictions(ftl);
	ftl->cmt.capacity = (u32)max(cmt_capacity_from_config(ftl), (u64)ftl->cmt.max_evicting) -
			    ftl->cmt.max_evicting;
}

/* Check that policy and configuration allow a cached mapping table. */
int aftl_cmt_check_config(const struct aftl *ftl, struct aftl_error *error)
{
	const struct aftl_config *config = &ftl->config;
	u64 least = 2ULL * cmt_compute_max_evictions(ftl) * ftl->geo.unit_bytes;

	if (!ftl->geo.trans_pages)
		return 0;
	if (config->map_cache < least)
		return aftl_fail(error, -EINVAL,
				 "map_cache: %llu bytes hold too little of the map for what %u dies write at once; set at least %llu, or 0",
				 (unsigned long long)config->map_cache, ftl->geo.luns,
				 (unsigned long long)least);
	return 0;
}

bool aftl_cmt_alloc(struct aftl *ftl)
{
	if (!ftl->geo.trans_pages)
		return true;
	ftl->cmt.oldest = AFTL_NIL;
	ftl->cmt.youngest = AFTL_NIL;
	ftl->cmt.all = aftl_memory_alloc(ftl, ftl->geo.trans_pages, sizeof(*ftl->cmt.all));
	return ftl->cmt.all;
}

static u32 get_trans_page_number(const struct aftl *ftl, const struct aftl_trans_page *tp)
{
	return (u32)(tp - ftl->cmt.all);
}

static aftl_lpn_t trans_page_lpn(const struct aftl *ftl, u32 number)
{
	return to_lpn(ftl->geo.units + number);
}

/* LUN that holds @tp on flash; NULL if this translation page has never been programmed. */
static struct aftl_lun *trans_page_lun(struct aftl *ftl, const struct aftl_trans_page *tp)
{
	aftl_ppn_t ppn;

	if (!aftl_l2p_lookup(ftl, trans_page_lpn(ftl, get_trans_page_number(ftl, tp)), &ppn))
		return NULL;
	return aftl_block_lun(ftl, aftl_block_of_ppn(&ftl->media, ppn));
}

/*
 * LUN in which a translation page is programmed: the same one each time, until it dies. Return:
 * NULL if all LUNs are dead.
 */
static struct aftl_lun *trans_page_home_lun(const struct aftl *ftl,
					    const struct aftl_trans_page *tp)
{
	u32 turn = get_trans_page_number(ftl, tp) % ftl->geo.luns;
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++) {
		u32 place = (turn + i) % ftl->geo.luns;
		struct aftl_lun *lun = &ftl->luns[aftl_lun_by_allocation_order(&ftl->geo, place)];

		if (!aftl_lun_is_dead(lun))
			return lun;
	}
	return NULL;
}

/* Return true if a translation page has had its coarse, but not its fine pass, which maps it. */
static bool trans_page_awaits_fine_pass(const struct aftl *ftl, u32 number)
{
	const struct aftl_lun *lun = trans_page_home_lun(ftl, &ftl->cmt.all[number]);
	const struct aftl_fine_pending *pending;
	u32 nth = 0;
	u32 i;

	while (lun && (pending = aftl_fine_pending_find_map(ftl, lun, nth++)))
		for (i = 0; i < pending->payload.count; i++)
			if (from_lpn(pending->payload.lpn[i]) == ftl->geo.units + number)
				return true;
	return false;
}

/*
 * Return true if the copy of the translation page on flash is still being programmed: until the end
 * the controller has its entries, so it need not be read from flash.
 */
static bool trans_page_is_programming(struct aftl *ftl, const struct aftl_trans_page *tp)
{
	u32 number = get_trans_page_number(ftl, tp);
	aftl_ppn_t ppn;

	return trans_page_awaits_fine_pass(ftl, number) ||
	       (aftl_l2p_lookup(ftl, trans_page_lpn(ftl, number), &ppn) &&
		aftl_ppn_is_programming(ftl, ppn));
}

static bool trans_page_is_readable(struct aftl *ftl, const struct aftl_trans_page *tp)
{
	const struct aftl_lun *lun = trans_page_lun(ftl, tp);

	return lun && !aftl_lun_is_dead(lun);
}

static void cmt_add_to_lru(struct aftl *ftl, struct aftl_trans_page *tp)
{
	struct aftl_cmt *cmt = &ftl->cmt;
	u32 number = get_trans_page_number(ftl, tp);

	tp->older = cmt->youngest;
	tp->younger = AFTL_NIL;
	if (cmt->youngest != AFTL_NIL)
		cmt->all[cmt->youngest].younger = number;
	else
		cmt->oldest = number;
	cmt->youngest = number;
}

static void cmt_remove_from_lru(struct aftl *ftl, const struct aftl_trans_page *tp)
{
	struct aftl_cmt *cmt = &ftl->cmt;

	if (tp->older != AFTL_NIL)
		cmt->all[tp->older].younger = tp->younger;
	else
		cmt->oldest = tp->younger;
	if (tp->younger != AFTL_NIL)
		cmt->all[tp->younger].older = tp->older;
	else
		cmt->youngest = tp->older;
}

static void cmt_mark_recently_used(struct aftl *ftl, struct aftl_trans_page *tp)
{
	if (tp->flags & AFTL_TP_EVICTING) {
		tp->flags |= AFTL_TP_REUSED;
		return;
	}
	if (get_trans_page_number(ftl, tp) == ftl->cmt.youngest)
		return;
	cmt_remove_from_lru(ftl, tp);
	cmt_add_to_lru(ftl, tp);
}

static void cmt_drop_trans_page(struct aftl *ftl, struct aftl_trans_page *tp)
{
	tp->flags &= AFTL_TP_LOADING;
	ftl->cmt.cached--;
}

/*
 * Queue a dirty translation page for eviction. If its copy was in a dead LUN, it is rebuilt from
 * OOB metadata instead of by a read-modify-write.
 */
static void cmt_queue_eviction(struct aftl *ftl, struct aftl_trans_page *tp)
{
	struct aftl_lun *lun = trans_page_home_lun(ftl, tp);
	u32 number = get_trans_page_number(ftl, tp);

	if (!lun) {
		cmt_drop_trans_page(ftl, tp);
		return;
	}
	if (!trans_page_is_readable(ftl, tp))
		tp->flags &= ~AFTL_TP_PARTIAL;
	tp->flags |= AFTL_TP_EVICTING;
	tp->younger = AFTL_NIL;
	if (lun->evictions.count++)
		ftl->cmt.all[lun->evictions.tail].younger = number;
	else
		lun->evictions.head = number;
	lun->evictions.tail = number;
	ftl->cmt.evicting++;
	if (lun->evictions.count >= ftl->program_units)
		aftl_wake_idle_lun(ftl, lun);
}

/* Evict the least recently used translation pages until the CMT is within its capacity. */
static void cmt_evict_to_capacity(struct aftl *ftl)
{
	struct aftl_cmt *cmt = &ftl->cmt;

	while (cmt->cached - cmt->evicting > cmt->capacity) {
		struct aftl_trans_page *tp = &cmt->all[cmt->oldest];

		cmt_remove_from_lru(ftl, tp);
		if (tp->flags & AFTL_TP_DIRTY)
			cmt_queue_eviction(ftl, tp);
		else
			cmt_drop_trans_page(ftl, tp);
	}
}

static void cmt_link_trans_page_into_lru(struct aftl *ftl, struct aftl_trans_page *tp)
{
	tp->flags |= AFTL_TP_CACHED;
	ftl->cmt.cached++;
	cmt_add_to_lru(ftl, tp);
}

static void cmt_add_trans_page_and_evict(struct aftl *ftl, struct aftl_trans_page *tp, u8 flags)
{
	tp->flags |= flags;
	cmt_link_trans_page_into_lru(ftl, tp);
	cmt_evict_to_capacity(ftl);
}

/* Record that all entries of a translation page are in the controller. */
static void cmt_mark_trans_page_complete(struct aftl *ftl, struct aftl_trans_page *tp)
{
	tp->flags &= ~AFTL_TP_PARTIAL;
	if (tp->flags & AFTL_TP_CACHED)
		cmt_mark_recently_used(ftl, tp);
	else
		cmt_add_trans_page_and_evict(ftl, tp, 0);
}

/*
 * Rebuild from OOB metadata a translation page that a dead LUN held; the page becomes dirty.
 */
static void cmt_recover_trans_page(struct aftl *ftl, struct aftl_trans_page *tp)
{
	tp->flags &= ~AFTL_TP_PARTIAL;
	if (!(tp->flags & AFTL_TP_CACHED))
		cmt_add_trans_page_and_evict(ftl, tp, AFTL_TP_DIRTY);
}

/*
 * Return true if the L2P entry of @lpn is in memory, or if its translation page has never been
 * programmed: then there is nothing to load. A translation page that is being programmed is taken
 * back into the CMT.
 */
bool aftl_cmt_has_entry_of_lpn(struct aftl *ftl, aftl_lpn_t lpn)
{
	struct aftl_trans_page *tp = aftl_trans_page_of_lpn(ftl, lpn);

	if (likely((tp->flags & (AFTL_TP_CACHED | AFTL_TP_PARTIAL)) ==
		   AFTL_TP_CACHED)) {
		cmt_mark_recently_used(ftl, tp);
		return true;
	}
	if (trans_page_is_programming(ftl, tp)) {
		cmt_mark_trans_page_complete(ftl, tp);
		return true;
	}
	if (trans_page_is_readable(ftl, tp))
		return false;
	if (trans_page_lun(ftl, tp))
		cmt_recover_trans_page(ftl, tp);
	return true;
}

/*
 * Start loading the translation page of @lpn. Return: the lpn under which the translation page
 * itself is mapped.
 */
aftl_lpn_t aftl_cmt_begin_page_load(struct aftl *ftl, aftl_lpn_t lpn)
{
	struct aftl_trans_page *tp = aftl_trans_page_of_lpn(ftl, lpn);

	tp->flags |= AFTL_TP_LOADING;
	ftl->stats.counters.map_loads++;
	return trans_page_lpn(ftl, get_trans_page_number(ftl, tp));
}

/*
 * aftl_cmt_end_page_load() - record that a translation page has been loaded from flash
 * @lpn: result of aftl_cmt_begin_page_load()
 */
struct aftl_trans_page *aftl_cmt_end_page_load(struct aftl *ftl, aftl_lpn_t lpn)
{
	struct aftl_trans_page *tp = &ftl->cmt.all[from_lpn(lpn) - ftl->geo.units];

	tp->flags &= ~AFTL_TP_LOADING;
	cmt_mark_trans_page_complete(ftl, tp);
	return tp;
}

/* Record that the L2P entry of @lpn has changed. */
void aftl_cmt_mark_entry_dirty(struct aftl *ftl, aftl_lpn_t lpn)
{
	struct aftl_trans_page *tp;
	bool partial;

	if (from_lpn(lpn) >= ftl->geo.units)
		return;
	tp = aftl_trans_page_of_lpn(ftl, lpn);
	ftl->stats.counters.map_changes++;
	if (likely(tp->flags & AFTL_TP_CACHED)) {
		tp->flags |= AFTL_TP_DIRTY;
		cmt_mark_recently_used(ftl, tp);
		return;
	}
	ftl->stats.counters.map_change_misses++;
	partial = trans_page_is_readable(ftl, tp) &&
		  !trans_page_awaits_fine_pass(ftl, get_trans_page_number(ftl, tp));
	cmt_add_trans_page_and_evict(ftl, tp, AFTL_TP_DIRTY | (partial ? AFTL_TP_PARTIAL : 0));
}

/*
 * aftl_cmt_next_step() - select the next operation of @lun for its eviction queue
 * @ppn: takes the physical page to read first, for a read-modify-write
 *
 * Evictions wait until they fill a program. Loads for waiting reads precede them.
 */
enum aftl_step aftl_cmt_next_step(struct aftl *ftl, struct aftl_lun *lun, aftl_ppn_t *ppn)
{
	u32 number = lun->evictions.head;
	u32 i;

	if (lun->evictions.count < ftl->program_units)
		return AFTL_STEP_NONE;
	for (i = 0; i < ftl->program_units; i++, number = ftl->cmt.all[number].younger) {
		if (ftl->cmt.all[number].flags & AFTL_TP_LOADING)
			return AFTL_STEP_NONE;
		if (!(ftl->cmt.all[number].flags & AFTL_TP_PARTIAL))
			continue;
		lun->evictions.merging = number;
		return aftl_l2p_lookup(ftl, trans_page_lpn(ftl, number), ppn) ? AFTL_STEP_READ :
								       AFTL_STEP_NONE;
	}
	return AFTL_STEP_PROGRAM;
}

/* Record that the read for a read-modify-write of a translation page has completed. */
void aftl_cmt_finish_rmw_read(struct aftl *ftl, struct aftl_lun *lun)
{
	ftl->cmt.all[lun->evictions.merging].flags &= ~AFTL_TP_PARTIAL;
	ftl->stats.counters.map_merges++;
}

/* Describe the program of the next evictions of @lun, so that it can be placed. */
struct aftl_program_request aftl_cmt_need(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return (struct aftl_program_request){
		.lpn = trans_page_lpn(ftl, lun->evictions.head),
		.units = min(lun->evictions.count, ftl->program_units),
		.class = AFTL_PRECISE,
		.stream = ftl->streams,
		.cause = AFTL_CAUSE_MAP,
		.buffer_use = aftl_buffer_fill_level(ftl),
	};
}

/*
 * Take the first translation page from the eviction queue; keep it in the CMT if it was used
 * meanwhile.
 */
static aftl_lpn_t cmt_pop_eviction(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 number = lun->evictions.head;
	struct aftl_trans_page *tp = &ftl->cmt.all[number];
	bool stays = tp->flags & AFTL_TP_REUSED;

	lun->evictions.head = tp->younger;
	lun->evictions.count--;
	ftl->cmt.evicting--;
	if (stays) {
		tp->flags = AFTL_TP_CACHED;
		cmt_add_to_lru(ftl, tp);
	} else {
		cmt_drop_trans_page(ftl, tp);
	}
	return trans_page_lpn(ftl, number);
}

/* Fill the payload of a program with translation pages that @lun evicts. */
void aftl_cmt_add_evictions_to_payload(struct aftl *ftl, struct aftl_lun *lun,
				       const struct aftl_placement *placement,
				       struct aftl_payload *payload)
{
	u32 units = min(lun->evictions.count, aftl_count_lpns_of_placement(ftl, placement));
	bool full = aftl_cmt_has_too_many_evictions(ftl);
	u32 i;

	payload->count = units;
	payload->promoted = 0;
	payload->piggybacked = 0;
	payload->dropped = 0;
	for (i = 0; i < units; i++) {
		payload->lpn[i] = cmt_pop_eviction(ftl, lun);
		payload->from[i] = AFTL_NO_PPN;
		payload->origin[i] =
			(struct aftl_origin){ .generation = (u16)aftl_hash64(ftl->seq++) };
		payload->tag[i] = AFTL_NIL;
		payload->stale[i] = false;
	}
	cmt_evict_to_capacity(ftl);
	if (full && !aftl_cmt_has_too_many_evictions(ftl))
		aftl_wake_all_luns(ftl);
}

/* Queue all dirty translation pages for eviction; they stay in the CMT. */
void aftl_cmt_queue_dirty_pages(struct aftl *ftl)
{
	u32 number = ftl->cmt.oldest;

	while (number != AFTL_NIL) {
		struct aftl_trans_page *tp = &ftl->cmt.all[number];

		number = tp->younger;
		if (!(tp->flags & AFTL_TP_DIRTY))
			continue;
		cmt_remove_from_lru(ftl, tp);
		cmt_queue_eviction(ftl, tp);
		tp->flags |= AFTL_TP_REUSED;
	}
}

/*
 * aftl_cmt_recache_pages_without_fine_pass() - cache coarsely programmed translation pages again
 *
 * They become dirty. When a device stops, no further evictions bring about the fine passes that
 * the last programmed translation pages still need.
 */
void aftl_cmt_recache_pages_without_fine_pass(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_fine_pending *pending;
	u32 i;

	while ((pending = aftl_fine_pending_find_map(ftl, lun, 0))) {
		for (i = 0; i < pending->payload.count; i++) {
			aftl_lpn_t lpn = pending->payload.lpn[i];
			struct aftl_trans_page *tp = &ftl->cmt.all[from_lpn(lpn) - ftl->geo.units];

			if (!(tp->flags & AFTL_TP_CACHED))
				cmt_link_trans_page_into_lru(ftl, tp);
			tp->flags |= AFTL_TP_DIRTY;
		}
		aftl_fine_pending_drop_word_line(ftl, lun, pending);
	}
	if (!ftl->suspending)
		cmt_evict_to_capacity(ftl);
}

/*
 * aftl_cmt_move_dead_lun_evictions() - move the evictions of a dead LUN to other LUNs
 */
void aftl_cmt_move_dead_lun_evictions(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 number;
	u32 count;

	aftl_cmt_recache_pages_without_fine_pass(ftl, lun);
	number = lun->evictions.head;
	count = lun->evictions.count;
	lun->evictions = (struct aftl_eviction_queue){ .head = AFTL_NIL };
	ftl->cmt.evicting -= count;
	while (count--) {
		struct aftl_trans_page *tp = &ftl->cmt.all[number];

		number = tp->younger;
		cmt_queue_eviction(ftl, tp);
	}
}

/* Return true if a translation page can have @flags between two calls of the core. */
static bool trans_page_flags_are_valid(struct aftl *ftl, const struct aftl_trans_page *tp, u8 flags)
{
	if (!(flags & AFTL_TP_CACHED) || flags & AFTL_TP_LOADING)
		return false;
	if (flags & (AFTL_TP_PARTIAL | AFTL_TP_EVICTING) && !(flags & AFTL_TP_DIRTY))
		return false;
	if (flags & AFTL_TP_REUSED && !(flags & AFTL_TP_EVICTING))
		return false;
	return !(flags & AFTL_TP_PARTIAL) || trans_page_lun(ftl, tp);
}

/*
 * aftl_cmt_restore_trans_page() - restore a translation page of a saved CMT
 *
 * Call it in LRU order, for pages in eviction queues last. Return: false if the state is invalid.
 */
bool aftl_cmt_restore_trans_page(struct aftl *ftl, u32 number, u8 flags)
{
	struct aftl_trans_page *tp;

	if (number >= ftl->geo.trans_pages)
		return false;
	tp = &ftl->cmt.all[number];
	if (tp->flags || !trans_page_flags_are_valid(ftl, tp, flags))
		return false;
	tp->flags = flags;
	ftl->cmt.cached++;
	if (flags & AFTL_TP_EVICTING)
		cmt_queue_eviction(ftl, tp);
	else
		cmt_add_to_lru(ftl, tp);
	return true;
}

static bool trans_page_has_mapped_entries(const struct aftl *ftl, u32 number)
{
	u32 unit = number << ftl->geo.trans_page_shift;
	u32 end = min(unit + (u32)BIT(ftl->geo.trans_page_shift), ftl->geo.units);
	aftl_ppn_t ppn;

	for (; unit < end; unit++)
		if (aftl_l2p_lookup(ftl, to_lpn(unit), &ppn))
			return true;
	return false;
}

/*
 * After a crash, cache all translation pages as dirty: the L2P table was rebuilt from OOB metadata
 * and is newer than the copies on flash.
 */
void aftl_cmt_cache_all_pages_as_dirty(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.trans_pages; i++)
		if (trans_page_has_mapped_entries(ftl, i))
			cmt_add_trans_page_and_evict(ftl, &ftl->cmt.all[i], AFTL_TP_DIRTY);
}

/* A translation page that is not completely in memory must be on flash. */
static int audit_trans_page(const struct aftl *ftl, u32 number, struct aftl_error *error)
{
	u8 flags = ftl->cmt.all[number].flags;
	aftl_ppn_t ppn;

	if (aftl_l2p_lookup(ftl, trans_page_lpn(ftl, number), &ppn))
		return 0;
	if (flags & AFTL_TP_PARTIAL ||
	    (!(flags & AFTL_TP_CACHED) && trans_page_has_mapped_entries(ftl, number) &&
	     !trans_page_awaits_fine_pass(ftl, number)))
		return aftl_fail(error, -EUCLEAN,
				 "translation page %u is neither cached nor on flash", number);
	return 0;
}

static u32 cmt_count_pages_with_flag(const struct aftl *ftl, u8 flag)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < ftl->geo.trans_pages; i++)
		count += (ftl->cmt.all[i].flags & flag) != 0;
	return count;
}

/* Count an LRU list or, with @evicting, an eviction queue; U32_MAX if the list is corrupt. */
static u32 cmt_count_pages_of_lru_or_queue(const struct aftl *ftl, u32 number, u8 evicting,
					   u32 count)
{
	const u8 flags = AFTL_TP_CACHED | AFTL_TP_EVICTING;
	u32 found = 0;

	for (; number != AFTL_NIL; number = ftl->cmt.all[number].younger, found++)
		if (found == count ||
		    (ftl->cmt.all[number].flags & flags) != (AFTL_TP_CACHED | evicting))
			return U32_MAX;
	return found;
}

/* Check the lists of the CMT, and that each translation page is cached or on flash. */
int aftl_cmt_audit(const struct aftl *ftl, struct aftl_error *error)
{
	const struct aftl_cmt *cmt = &ftl->cmt;
	u32 evicting = 0;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < ftl->geo.trans_pages; i++)
		ret = audit_trans_page(ftl, i, error);
	for (i = 0; ftl->geo.trans_pages && i < ftl->geo.luns; i++) {
		const struct aftl_eviction_queue *queue = &ftl->luns[i].evictions;

		evicting += cmt_count_pages_of_lru_or_queue(ftl,
							    queue->count ? queue->head : AFTL_NIL,
							    AFTL_TP_EVICTING, queue->count);
	}
	if (ret || !ftl->geo.trans_pages)
		return ret;
	if (evicting != cmt->evicting ||
	    evicting != cmt_count_pages_with_flag(ftl, AFTL_TP_EVICTING) ||
	    cmt_count_pages_with_flag(ftl, AFTL_TP_CACHED) != cmt->cached ||
	    cmt_count_pages_of_lru_or_queue(ftl, cmt->oldest, 0, cmt->cached - evicting) !=
		    cmt->cached - evicting)
		return aftl_fail(error, -EUCLEAN,
				 "the lists of cached translation pages do not have %u entries",
				 cmt->cached);
	return 0;
}
