// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read-ahead. A read that starts where an earlier one ended belongs to a sequential reader; the
 * next pages, as far as the parameter "read_ahead" says, are read into the read cache, one flash
 * page for each command. Such commands start only when the LUN has no host read, suspend nothing,
 * and use at most half of the read commands.
 */
#include "core/ftl/block.h"
#include "core/ftl/command.h"
#include "core/ftl/controller.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lost-data.h"
#include "core/ftl/lun.h"
#include "core/ftl/read-cache.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/translation-page.h"
#include "core/hif/hif.h"
#include "core/hif/host-read.h"

/*
 * Limit of flash pages or unmapped pages that one request queues for read-ahead; further requests
 * of a sequential reader queue the rest of its read-ahead.
 */
#define STEPS 64

/* Return the sequential reader that @request continues, or the least recent one to be replaced. */
static struct aftl_read_stream *read_ahead_find_reader(struct aftl *ftl,
						       const struct aftl_request *request)
{
	struct aftl_read_stream *oldest = ftl->read_ahead.streams;
	struct aftl_read_stream *reader;

	for (reader = ftl->read_ahead.streams;
	     reader < ftl->read_ahead.streams + AFTL_READ_STREAMS; reader++) {
		if (reader->turn && reader->next == request->unit)
			return reader;
		if (reader->turn < oldest->turn)
			oldest = reader;
	}
	oldest->turn = 0;
	return oldest;
}

/* With a cached mapping table, only pages whose translation page is in memory are read ahead. */
static bool read_ahead_l2p_entry_is_cached(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return !ftl->geo.trans_pages || (aftl_trans_page_of_lpn(ftl, lpn)->flags &
					 (AFTL_TP_CACHED | AFTL_TP_PARTIAL)) == AFTL_TP_CACHED;
}

/* Count the pages from @lpn on in its flash page; 0 if @lpn is cached, buffered or not on flash. */
static u32 read_ahead_count_lpns_in_page(struct aftl *ftl, aftl_lpn_t lpn)
{
	u32 limit = ftl->geo.units - from_lpn(lpn);
	aftl_ppn_t ppn;

	if (ftl->geo.trans_pages)
		limit = min(limit, aftl_count_lpns_to_trans_page_end(ftl, lpn));
	if (aftl_read_cache_find(ftl, lpn) ||
	    (aftl_l2p_lookup(ftl, lpn, &ppn) && aftl_ppn_is_in_dead_lun(ftl, ppn)))
		return 0;
	return aftl_count_lpns_of_flash_read(ftl, lpn, limit);
}

static bool read_ahead_queue_pages(struct aftl *ftl, aftl_lpn_t lpn, u32 units)
{
	struct aftl_command *command;
	struct aftl_lun *lun;
	aftl_ppn_t ppn;
	u32 index;

	if (ftl->free_read_count <= ftl->config.depth / 2 || !aftl_l2p_lookup(ftl, lpn, &ppn))
		return false;
	index = aftl_command_alloc(ftl, false);
	command = &ftl->commands[index];
	command->request = NULL;
	command->queued_ns = ftl->now_ns;
	command->lpn = lpn;
	command->units = units;
	lun = aftl_block_lun(ftl, aftl_block_of_ppn(&ftl->media, ppn));
	aftl_command_queue_append(ftl, &lun->prefetches, index);
	aftl_wake_idle_lun(ftl, lun);
	return true;
}

/* Queue a page for read-ahead. Return: false if it is beyond @end, or if no command is free. */
static bool read_ahead_queue_page(struct aftl *ftl, struct aftl_read_stream *reader, u32 end)
{
	aftl_lpn_t lpn = to_lpn(reader->ahead);
	u32 run;

	if (!read_ahead_l2p_entry_is_cached(ftl, lpn))
		return false;
	run = read_ahead_count_lpns_in_page(ftl, lpn);
	if (run && (run > end - reader->ahead || !read_ahead_queue_pages(ftl, lpn, run)))
		return false;
	reader->ahead += max(run, 1U);
	return true;
}

/**
 * aftl_queue_read_ahead() - record an admitted read, and read ahead if it is sequential
 * @ftl: device with a read cache
 * @request: the read
 */
void aftl_queue_read_ahead(struct aftl *ftl, const struct aftl_request *request)
{
	struct aftl_read_stream *reader = read_ahead_find_reader(ftl, request);
	bool goes_on = reader->turn;
	u32 steps = STEPS;
	u32 end;

	reader->turn = ++ftl->read_ahead.turn;
	reader->next = request->unit + request->units;
	if (!goes_on)
		reader->ahead = 0;
	reader->ahead = max(reader->ahead, reader->next);
	end = reader->next + min(ftl->read_ahead.units, ftl->geo.units - reader->next);
	while (goes_on && steps-- && reader->ahead < end && read_ahead_queue_page(ftl, reader, end))
		;
}
