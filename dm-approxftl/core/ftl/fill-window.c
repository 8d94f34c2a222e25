// SPDX-License-Identifier: GPL-2.0-only
/* Programs of a shuffled fill with static allocation of LUNs, by LUN and in the order of lpns. */
#include "core/ftl/controller.h"
#include "core/ftl/fill-window.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/ftl/memory.h"
#include "core/ftl/program.h"

/* Limit of writes in a window: their entries should stay in the processor's cache. */
#define WINDOW_WRITES 1048576U

/* Windows of a fill, at least, so that they take little memory. */
#define WINDOWS 8U

/* Programs in the queues of all LUNs, if each LUN has one at least. */
#define QUEUED_PROGRAMS 8192U

void aftl_fill_window_init(struct aftl *ftl, struct aftl_fill_window *window,
			   const struct aftl_fill_order *order)
{
	u32 luns = ftl->geo.luns;
	u32 programs = min(order->units / WINDOWS, WINDOW_WRITES) / ftl->program_units;
	u32 i;

	*window = (struct aftl_fill_window){
		.order = *order,
		.size = max(programs, 1U) * ftl->program_units,
		/* An odd size spreads the queues over the sets of the processor's cache. */
		.queue_size = (QUEUED_PROGRAMS / luns) | 1,
	};
	window->entries = aftl_memory_alloc(ftl, window->size, sizeof(u32));
	window->luns = aftl_memory_alloc(ftl, luns, sizeof(u32));
	window->queued = aftl_memory_alloc(ftl, luns, sizeof(u32));
	window->programs = aftl_memory_alloc(ftl, (size_t)luns * window->queue_size,
					     sizeof(*window->programs));
	if (!window->entries || !window->luns || !window->queued || !window->programs) {
		aftl_fill_window_free(ftl, window);
		return;
	}
	for (i = 0; i < luns; i++)
		window->luns[i] = aftl_lun_by_allocation_order(&ftl->geo, i);
}

/*
 * Queue the next programs of a fill; their L2P entries go to the window. Return: logical pages.
 * @window and @geo are copies, so that the compiler can keep them in registers.
 */
static u32 queue_programs(struct aftl *ftl, const struct aftl_fill_window window,
			  const struct aftl_fill_run *runs, struct aftl_fill_order order, u32 units)
{
	const u32 program_units = ftl->program_units;
	const u32 pages = ftl->geo.program_pages;
	const u32 luns = ftl->geo.luns;
	const u32 skip = (u32)((u64)program_units * order.step % order.units);
	u32 *entry = window.entries + window.used;
	u32 write;

	for (write = 0; write < units; write += program_units) {
		u32 lun = window.luns[order.at / program_units % luns];
		const struct aftl_fill_run *run = &runs[lun];
		u32 queued = window.queued[lun];
		u32 page = run->page + queued * pages;
		u32 end = write + program_units;
		u32 next;
		u32 i;

		if (queued >= run->left || queued == window.queue_size)
			break;
		window.programs[lun * window.queue_size + queued] =
			(struct aftl_fill_program){ order.at, write };
		window.queued[lun]++;
		next = run->class << AFTL_PPN_BITS |
		       (from_ppn(aftl_page_ppn(&ftl->media, run->block, page)) + 1);
		for (i = write; i < end; i++)
			*entry++ = next++;
		order.at = aftl_fill_order_next_lpn(&order, order.at, skip);
	}
	return write;
}

u32 aftl_fill_window_commit_programs(struct aftl *ftl, struct aftl_fill_window *window,
				     struct aftl_fill_run *runs,
				     const struct aftl_fill_order *order, u32 units)
{
	u32 room = min(units, window->size - window->used);
	u32 done = queue_programs(ftl, *window, runs, *order, room - room % ftl->program_units);
	u32 i;

	for (i = 0; done && i < ftl->geo.luns; i++) {
		if (!window->queued[i])
			continue;
		aftl_commit_queued_fill_programs_of_lun(ftl, &ftl->luns[i], &runs[i], *order,
							window->programs +
								(size_t)i * window->queue_size,
							window->queued[i]);
		window->queued[i] = 0;
	}
	window->used += done;
	return done;
}

/* L2P entries whose prefetches overlap. */
#define PREFETCHED 32U

void aftl_fill_window_store_l2p_entries(struct aftl *ftl, struct aftl_fill_window *window)
{
	const struct aftl_fill_order order = window->order;
	const u32 used = window->used;
	struct aftl_fill_steps steps;
	u32 at[PREFETCHED];
	u32 entries[PREFETCHED];
	u32 lpn = order.at;
	u32 write = 0;
	u32 count;
	u32 left;
	u32 i;

	if (!used)
		return;
	if (window->steps.count != used)
		window->steps = aftl_fill_find_steps(order.step, order.units, used);
	steps = window->steps;
	for (left = used; left; left -= count) {
		for (count = 0; count < left && count < PREFETCHED; count++) {
			at[count] = lpn;
			entries[count] = window->entries[write];
			prefetch(aftl_l2p_entry(ftl, lpn));
			aftl_fill_take_step(&steps, order.units, &write, &lpn);
		}
		for (i = 0; i < count; i++)
			if (entries[i])
				*aftl_l2p_entry(ftl, at[i]) = entries[i];
	}
	aftl_fill_order_advance_by_writes(&window->order, used);
	window->used = 0;
}

void aftl_fill_window_free(struct aftl *ftl, struct aftl_fill_window *window)
{
	aftl_memory_free(ftl, window->entries);
	aftl_memory_free(ftl, window->luns);
	aftl_memory_free(ftl, window->queued);
	aftl_memory_free(ftl, window->programs);
	*window = (struct aftl_fill_window){ 0 };
}
