// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads ahead of the host. Who reads on from where a read has ended will go on so: what comes
 * next is brought into the cache of reads, a page at a time, as far as the parameter
 * "read_ahead" says. It waits until no read of the host wants the array, interrupts nothing,
 * and leaves half of the commands to others.
 */
#include "core/front/front.h"

/* Pages or gaps that one request may lead to: a window opens in several. */
#define STEPS 64

/* The reader who goes on with @request, or room for another one. */
static struct aftl_reader *find_reader(struct aftl *ftl, const struct aftl_request *request)
{
	struct aftl_reader *oldest = ftl->readers;
	struct aftl_reader *reader;

	for (reader = ftl->readers; reader < ftl->readers + AFTL_READERS; reader++) {
		if (reader->turn && reader->next == request->unit)
			return reader;
		if (reader->turn < oldest->turn)
			oldest = reader;
	}
	oldest->turn = 0;
	return oldest;
}

/* Nobody can be told without reading a sheet of the map where that is. */
static bool is_known(const struct aftl *ftl, aftl_unit_t unit)
{
	return !ftl->geo.sheets ||
	       (aftl_sheet_of(ftl, unit)->flags & (AFTL_SHEET_CACHED | AFTL_SHEET_PARTIAL)) ==
		       AFTL_SHEET_CACHED;
}

/* Units from @unit on that one page has; 0: there is nothing to be read. */
static u32 page_run(struct aftl *ftl, aftl_unit_t unit)
{
	u32 limit = ftl->geo.units - from_unit(unit);

	if (unlikely(ftl->geo.sheets))
		limit = min(limit, aftl_sheet_rest(ftl, unit));
	return aftl_recent_find(ftl, unit) ? 0 : aftl_read_run(ftl, unit, limit);
}

static bool queue(struct aftl *ftl, aftl_unit_t unit, u32 units)
{
	struct aftl_command *command;
	struct aftl_lun *lun;
	aftl_slot_t slot;
	u32 index;

	if (ftl->free_read_count <= ftl->config.depth / 2 || !aftl_map_get(ftl, unit, &slot))
		return false;
	index = aftl_command_get(ftl, false);
	command = &ftl->commands[index];
	command->request = NULL;
	command->unit = unit;
	command->units = units;
	lun = aftl_block_lun(ftl, aftl_slot_block(&ftl->media, slot));
	aftl_queue_add(ftl, &lun->ahead, index);
	aftl_wake(ftl, lun);
	return true;
}

/* Returns whether it may go on. */
static bool step(struct aftl *ftl, struct aftl_reader *reader, u32 end)
{
	aftl_unit_t unit = to_unit(reader->ahead);
	u32 run;

	if (!is_known(ftl, unit))
		return false;
	run = page_run(ftl, unit);
	if (run && (run > end - reader->ahead || !queue(ftl, unit, run)))
		return false;
	reader->ahead += max(run, 1U);
	return true;
}

/*
 * aftl_read_ahead() - @request has been admitted: who goes on reading finds what comes next
 */
void aftl_read_ahead(struct aftl *ftl, const struct aftl_request *request)
{
	struct aftl_reader *reader = find_reader(ftl, request);
	bool goes_on = reader->turn;
	u32 steps = STEPS;
	u32 end;

	reader->turn = ++ftl->reader_turn;
	reader->next = request->unit + request->units;
	if (!goes_on)
		reader->ahead = 0;
	reader->ahead = max(reader->ahead, reader->next);
	end = reader->next + min(ftl->ahead_units, ftl->geo.units - reader->next);
	while (goes_on && steps-- && reader->ahead < end && step(ftl, reader, end))
		;
}
