// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admission of host reads. Each logical page comes from the write buffer, the data of a program in
 * progress, the read cache or flash, or reads as zeroes if it is not mapped. Pages of one flash
 * page that follow each other are read by one command. aftl_read_admit_request() resolves what
 * needs no flash and queues commands for the rest at their LUNs (core/sched/die-read.c).
 */
#include "core/ftl/block.h"
#include "core/ftl/command.h"
#include "core/ftl/controller.h"
#include "core/ftl/flash-array.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/ftl/pending-writes.h"
#include "core/ftl/read-cache.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/sensing.h"
#include "core/ftl/translation-page.h"
#include "core/ftl/wait.h"
#include "core/hif/hif.h"
#include "core/hif/host-read.h"
#include "core/sched/die-read.h"
#include "core/sched/read-delivery.h"

/* Serve @lpn from the newest buffered write that no discard has dropped. */
static bool read_deliver_buffered_page(struct aftl *ftl, struct aftl_request *request,
				       aftl_lpn_t lpn)
{
	struct aftl_read read = { .lpn = lpn, .source = AFTL_SOURCE_BUFFER };

	read.tag = aftl_pending_find_write_that_serves_reads(ftl, lpn);
	if (read.tag == AFTL_NIL)
		return false;
	ftl->stats.counters.buffer_read_units += aftl_request_is_host_read(request);
	if (ftl->type->host_read && aftl_request_is_host_read(request))
		ftl->type->host_read(ftl->policy, lpn, AFTL_MODES);
	aftl_deliver_unit_to_host(ftl, request, &read);
	return true;
}

/* Return true if flash page @page has the newest version of @lpn, and the buffer has none. */
static bool page_has_current_lpn_version(const struct aftl *ftl, aftl_lpn_t lpn, u32 page)
{
	aftl_ppn_t ppn;

	return aftl_l2p_lookup(ftl, lpn, &ppn) && aftl_flash_page_of_ppn(ftl, ppn) == page &&
	       !aftl_lpn_is_buffered(ftl, lpn);
}

/*
 * Count the logical pages from @lpn on, up to @limit, that the flash page of @ppn holds in order.
 */
static inline u32 count_consecutive_lpns_in_page(const struct aftl *ftl, aftl_lpn_t lpn,
						 aftl_ppn_t ppn, u32 limit)
{
	u32 page = aftl_flash_page_of_ppn(ftl, ppn);
	u32 run = 1;

	while (run < limit && run < ftl->geo.page_units &&
	       page_has_current_lpn_version(ftl, to_lpn(from_lpn(lpn) + run), page))
		run++;
	return run;
}

/**
 * aftl_count_lpns_of_flash_read() - logical pages from @lpn on that one flash read returns
 * @ftl: device
 * @lpn: first logical page
 * @limit: count no more than this
 *
 * Return: how many; 0 if @lpn is buffered, being programmed, not mapped or lost.
 */
u32 aftl_count_lpns_of_flash_read(struct aftl *ftl, aftl_lpn_t lpn, u32 limit)
{
	aftl_ppn_t ppn;

	if (aftl_lpn_is_buffered(ftl, lpn) || !aftl_l2p_lookup(ftl, lpn, &ppn) ||
	    aftl_ppn_is_lost_with_dead_lun(ftl, ppn) || aftl_ppn_is_programming(ftl, ppn))
		return 0;
	return count_consecutive_lpns_in_page(ftl, lpn, ppn, limit);
}

/* Report a read that was queued as command @index to the policy and to the statistics of waits. */
static void read_report_command_to_policy_and_stats(struct aftl *ftl, struct aftl_request *request,
						    u32 index, aftl_lpn_t lpn, aftl_ppn_t ppn,
						    u32 units)
{
	u16 attr = aftl_ppn_attr(&ftl->media, ppn);
	u32 i;

	request->path |= aftl_page_class(attr) == AFTL_PRECISE ? AFTL_PATH_ECC : AFTL_PATH_ARRAY;
	if (likely(!ftl->reads_are_observed))
		return;
	if (ftl->waits)
		aftl_note_queued_command(ftl, request, index,
					 aftl_block_lun(ftl, aftl_block_of_ppn(&ftl->media, ppn))
						 ->index);
	if (!ftl->type->host_read || !aftl_request_is_host_read(request))
		return;
	for (i = 0; i < units; i++)
		ftl->type->host_read(ftl->policy, to_lpn(from_lpn(lpn) + i), aftl_page_mode(attr));
}

static noinline bool read_try_cache(struct aftl *ftl, struct aftl_request *request, aftl_lpn_t lpn)
{
	struct aftl_read_cache_entry *recent = aftl_read_cache_find_ready(ftl, lpn);

	if (!recent)
		return false;
	request->path |= AFTL_PATH_READ_CACHE;
	if (ftl->type->host_read && aftl_request_is_host_read(request))
		ftl->type->host_read(ftl->policy, lpn,
				     aftl_page_mode(aftl_ppn_attr(&ftl->media, recent->ppn)));
	aftl_deliver_cached_page(ftl, request, recent);
	return true;
}

static void read_init_command(struct aftl *ftl, struct aftl_request *request, u32 index,
			      aftl_lpn_t lpn, aftl_ppn_t ppn, u32 units)
{
	struct aftl_command *command = &ftl->commands[index];

	command->seq = ftl->seq++;
	command->queued_ns = ftl->now_ns;
	command->request = request;
	command->lpn = lpn;
	command->units = units;
	command->sensed = 0;
	read_report_command_to_policy_and_stats(ftl, request, index, lpn, ppn, units);
}

static void read_queue_command(struct aftl *ftl, struct aftl_request *request, u32 index,
			       aftl_lpn_t lpn, aftl_ppn_t ppn, u32 units)
{
	struct aftl_lun *lun = aftl_block_lun(ftl, aftl_block_of_ppn(&ftl->media, ppn));

	read_init_command(ftl, request, index, lpn, ppn, units);
	aftl_command_queue_append(ftl, &lun->reads, index);
	aftl_wake_lun_for_read(ftl, lun);
}

static void read_queue_trans_page_load(struct aftl *ftl, u32 index, aftl_lpn_t tp_lpn)
{
	struct aftl_command *command = &ftl->commands[index];
	struct aftl_lun *lun;
	aftl_ppn_t ppn;

	if (!aftl_l2p_lookup(ftl, tp_lpn, &ppn))
		return;
	lun = aftl_block_lun(ftl, aftl_block_of_ppn(&ftl->media, ppn));
	command->seq = ftl->seq++;
	command->queued_ns = ftl->now_ns;
	command->request = NULL;
	command->lpn = tp_lpn;
	command->units = 1;
	aftl_command_queue_append(ftl, &lun->reads, index);
	aftl_wake_lun_for_read(ftl, lun);
}

/*
 * Let @request wait for the translation page that maps @lpn, and start to read that page from flash
 * unless it is being read. Requests for other pages are served meanwhile.
 *
 * Return: false if no command is free for the read.
 */
static noinline bool read_wait_for_map(struct aftl *ftl, struct aftl_request *request,
				       aftl_lpn_t lpn)
{
	struct aftl_trans_page *tp = aftl_trans_page_of_lpn(ftl, lpn);
	u32 index;

	if (!(tp->flags & AFTL_TP_LOADING)) {
		index = aftl_command_alloc(ftl, false);
		if (index == AFTL_NIL)
			return false;
		read_queue_trans_page_load(ftl, index, aftl_cmt_begin_page_load(ftl, lpn));
	}
	ftl->stats.counters.map_misses++;
	if (ftl->waits)
		aftl_note_wait_reason(ftl, request, AFTL_WAIT_MAP_MISS);
	aftl_request_list_append(&tp->waiting, &tp->last_waiting, request);
	return true;
}

/* Count one lookup of the cached mapping table; it covers the pages of one translation page. */
static u32 count_cmt_lookup_of_read(struct aftl *ftl, aftl_lpn_t lpn, u32 units)
{
	ftl->stats.counters.map_lookups++;
	return min(units, aftl_count_lpns_to_trans_page_end(ftl, lpn));
}

/*
 * Count the next consecutive pages that @request has to read. A read needs all pages that are not
 * admitted yet, a write only its first and last page, if covered in part. Return 0 if none is left.
 */
static u32 count_next_pages_to_read(struct aftl_request *request)
{
	u32 last = request->units - 1;

	if (likely(aftl_request_is_host_read(request)))
		return request->units - request->admitted;
	if (request->admitted <= last && !aftl_request_page_is_partial(request, request->admitted))
		request->admitted = max(request->admitted + 1, last);
	if (request->admitted > last || !aftl_request_page_is_partial(request, request->admitted))
		return 0;
	return request->admitted < last &&
			       aftl_request_page_is_partial(request, request->admitted + 1) ?
		       2 :
		       1;
}

/**
 * aftl_read_admit_request() - serve or queue the pages of @request, as far as commands are free
 * @ftl: device
 * @request: a read, or a write that reads the rest of its partly covered pages; request->admitted
 *	counts the pages that this function has handled
 *
 * Return: true if nothing is left to admit, or the request waits for a translation page; false if
 * it must wait for a command.
 */
bool aftl_read_admit_request(struct aftl *ftl, struct aftl_request *request)
{
	u32 left;

	while ((left = count_next_pages_to_read(request)) != 0) {
		aftl_lpn_t lpn = to_lpn(request->unit + request->admitted);
		aftl_ppn_t ppn;
		u32 units;
		u32 index;

		if (read_deliver_buffered_page(ftl, request, lpn) ||
		    (ftl->read_cache.count && read_try_cache(ftl, request, lpn))) {
			request->admitted++;
			aftl_complete_parts_of_request(ftl, request, 1, 0);
		} else if (ftl->geo.trans_pages && !aftl_cmt_has_entry_of_lpn(ftl, lpn)) {
			return read_wait_for_map(ftl, request, lpn);
		} else if (!aftl_l2p_lookup(ftl, lpn, &ppn)) {
			request->admitted++;
			aftl_deliver_zero_page(ftl, request, lpn);
			aftl_complete_parts_of_request(ftl, request, 1, 0);
		} else if (aftl_ppn_is_lost_with_dead_lun(ftl, ppn)) {
			request->admitted++;
			aftl_deliver_lost_page(ftl, request, lpn);
			aftl_complete_parts_of_request(ftl, request, 1, 0);
		} else if (aftl_ppn_is_programming(ftl, ppn)) {
			request->admitted++;
			if (ftl->type->host_read && aftl_request_is_host_read(request))
				ftl->type->host_read(ftl->policy, lpn, AFTL_MODES);
			aftl_deliver_programming_page(ftl, request, lpn, ppn);
			aftl_complete_parts_of_request(ftl, request, 1, 0);
		} else {
			index = aftl_command_alloc(ftl, false);
			if (index == AFTL_NIL)
				return false;
			units = count_consecutive_lpns_in_page(ftl, lpn, ppn, left);
			if (ftl->geo.trans_pages)
				units = count_cmt_lookup_of_read(ftl, lpn, units);
			request->admitted += units;
			read_queue_command(ftl, request, index, lpn, ppn, units);
		}
	}
	return true;
}

/**
 * aftl_read_needs_flash() - return true if a read of @lpn may have to read flash
 * @ftl: device
 * @lpn: logical page
 *
 * With a cached L2P table a page that is not in the write buffer may be on flash.
 */
bool aftl_read_needs_flash(const struct aftl *ftl, aftl_lpn_t lpn)
{
	aftl_ppn_t ppn;

	if (aftl_lpn_is_buffered(ftl, lpn))
		return false;
	return ftl->geo.trans_pages || aftl_l2p_lookup(ftl, lpn, &ppn);
}

/**
 * aftl_deliver_buffered_partly_written_pages() - deliver pages that @request covers in part
 * @ftl: device
 * @request: a write; aftl_read_needs_flash() is false for all of its pages
 */
void aftl_deliver_buffered_partly_written_pages(struct aftl *ftl, struct aftl_request *request)
{
	u32 last = request->units - 1;

	if (aftl_request_page_is_partial(request, 0))
		read_deliver_buffered_page(ftl, request, to_lpn(request->unit));
	if (last && aftl_request_page_is_partial(request, last))
		read_deliver_buffered_page(ftl, request, to_lpn(request->unit + last));
}

/**
 * aftl_start_reads_of_partly_written_pages() - begin to read the pages that a write covers in part
 * @ftl: device
 * @request: a write; its member parts is the number of these pages, and counts down as for a read
 */
void aftl_start_reads_of_partly_written_pages(struct aftl *ftl, struct aftl_request *request)
{
	if (ftl->waits)
		aftl_note_wait_reason(ftl, request, AFTL_WAIT_REST);
	if (ftl->wait_head[0] || !aftl_read_admit_request(ftl, request))
		aftl_request_list_append(&ftl->wait_head[0], &ftl->wait_tail[0], request);
}

/* Return true if the array is free and a new read would be its next operation. */
static bool may_lun_start_read_at_once(const struct aftl_lun *lun)
{
	return lun->work.phase == AFTL_PHASE_IDLE && lun->suspended.kind == AFTL_WORK_NONE &&
	       !lun->pending_write_lanes && !lun->programs_since_read && !lun->stripe_requests &&
	       !lun->runnable;
}

/* Find the LUN that is idle and has all of @request in one flash page; NULL if there is none. */
static struct aftl_lun *read_fastpath_find(struct aftl *ftl, const struct aftl_request *request,
					   aftl_ppn_t *ppn)
{
	aftl_lpn_t lpn = to_lpn(request->unit);
	struct aftl_lun *lun;

	if (ftl->free_reads == AFTL_NIL || aftl_lpn_is_buffered(ftl, lpn) ||
	    !aftl_l2p_lookup(ftl, lpn, ppn))
		return NULL;
	lun = aftl_block_lun(ftl, aftl_block_of_ppn(&ftl->media, *ppn));
	if (!may_lun_start_read_at_once(lun) || aftl_lun_is_dead(lun) ||
	    count_consecutive_lpns_in_page(ftl, lpn, *ppn, request->units) != request->units)
		return NULL;
	return lun;
}

/**
 * aftl_read_fastpath_start() - run a read without queueing, and advance time to its end
 * @ftl: device
 * @request: a read that read_fastpath_is_allowed() accepts
 *
 * The state afterwards is the same as by the normal path. If an event comes before the end of the
 * transfer, only the sensing is started, as on the normal path.
 *
 * Return: the LUN that has read or is sensing the data; NULL if nothing was started.
 */
struct aftl_lun *aftl_read_fastpath_start(struct aftl *ftl, struct aftl_request *request)
{
	u32 index = ftl->free_reads;
	u32 units = request->units;
	struct aftl_lun *lun;
	aftl_ppn_t ppn;
	u64 ns;

	lun = read_fastpath_find(ftl, request, &ppn);
	if (!lun)
		return NULL;
	aftl_init_arrived_request(ftl, request);
	request->admitted = units;
	request->parts = units;
	read_init_command(ftl, request, index, to_lpn(request->unit), ppn, units);
	ns = aftl_read_sense_page(ftl, &ftl->commands[index], ppn);
	lun->work.commands = index;
	if (!aftl_array_try_synchronous_read(ftl, lun, aftl_flash_page_of_ppn(ftl, ppn), ns, units))
		aftl_command_queue_append(ftl, &lun->reads, aftl_command_alloc(ftl, false));
	return lun;
}
