// SPDX-License-Identifier: GPL-2.0-only
/* Shuffled fill with the allocation rule "static" and programs of one logical page. */
#include "core/ftl/controller.h"
#include "core/ftl/fill-static.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/ftl/memory.h"
#include "core/ftl/pause.h"
#include "core/ftl/program.h"
#include "core/base/random.h"

/* Smaller granules would need too much memory. */
#define LEAST_GRANULE_SHIFT 3U

/*
 * LUNs, and lpns of each LUN, whose L2P entries are stored together: with 64 LUNs these entries
 * are successive and stay in the processor's first cache.
 */
#define TILE_LUNS 64U
#define TILE_LPNS 64U

/* Tiles between two calls of the host's pause(). */
#define SLICE_TILES 16U

/**
 * struct aftl_fill_row - how to compute the L2P entries of the lpns of a LUN
 * @number: number of the write of the next lpn
 * @rank: rank of this write among those of the LUN
 * @count: number of lpns of the LUN
 * @last: number of the write of its last lpn
 * @before: number of the write of the lpn before the first, if there were one
 * @more: difference of the ranks of two successive lpns, if neither @last nor @before is between
 * @granules: L2P entries of the granules
 */
struct aftl_fill_row {
	u32 number;
	u32 rank;
	u32 count;
	u32 last;
	u32 before;
	u32 more;
	const u32 *granules;
};

static struct aftl_lun *fill_lun_at_place(struct aftl *ftl, u32 place)
{
	return &ftl->luns[aftl_lun_by_allocation_order(&ftl->geo, place)];
}

static bool is_any_lun_dead(const struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		if (aftl_lun_is_dead(&ftl->luns[i]))
			return true;
	return false;
}

static bool alloc_fill_state(struct aftl *ftl, struct aftl_fill_static *fill)
{
	u32 luns = ftl->geo.luns;
	u32 times;

	aftl_events_set_number_of_sources(&fill->events, luns, 1);
	times = aftl_events_get_time_array_length(&fill->events);
	fill->luns = aftl_memory_alloc(ftl, luns, sizeof(*fill->luns));
	fill->tile = aftl_memory_alloc(ftl, TILE_LUNS, sizeof(*fill->tile));
	fill->entries = aftl_memory_alloc(ftl, (size_t)luns * fill->granules, sizeof(u32));
	fill->events.when = aftl_memory_alloc(ftl, times, sizeof(u64));
	fill->events.winner = aftl_memory_alloc(ftl, aftl_events_count_tree_nodes(&fill->events),
						sizeof(u32));
	return fill->luns && fill->tile && fill->entries && fill->events.when &&
	       fill->events.winner;
}

/* Find the first write of each LUN: there is one soon, for the order is shuffled. */
static void find_first_write_of_luns(struct aftl *ftl, struct aftl_fill_static *fill)
{
	u32 luns = ftl->geo.luns;
	u32 left = min(luns, fill->order.units);
	u32 lpn = fill->order.at;
	u32 number;

	for (number = 0; left; number++) {
		struct aftl_fill_lun *lun = &fill->luns[lpn % luns];

		if (!lun->count) {
			left--;
			lun->count = (fill->order.units - lpn % luns - 1) / luns + 1;
			lun->next = (struct aftl_fill_write){ lpn / luns, number };
			aftl_events_set_time(&fill->events, lpn % luns, number);
		}
		lpn = aftl_fill_order_next_lpn(&fill->order, lpn, fill->order.step);
	}
}

void aftl_fill_static_init(struct aftl *ftl, struct aftl_fill_static *fill,
			   const struct aftl_fill_order *order)
{
	u32 most = DIV_ROUND_UP(order->units, ftl->geo.luns);
	u32 shift = (u32)__builtin_ctz(ftl->geo.pages);

	if (ftl->program_units > 1 || shift < LEAST_GRANULE_SHIFT || is_any_lun_dead(ftl))
		return;
	*fill = (struct aftl_fill_static){
		.order = *order,
		.inverse = aftl_fill_order_inverse(order),
		.granule_shift = shift,
		.granules = (most >> shift) + 1,
	};
	if (!alloc_fill_state(ftl, fill)) {
		aftl_fill_static_free(ftl, fill);
		return;
	}
	fill->step = (u32)((u64)ftl->geo.luns * fill->inverse.step % order->units);
	fill->steps[0] = aftl_fill_find_steps(fill->step, order->units, most);
	fill->steps[1] = aftl_fill_find_steps(fill->step, order->units, most - 1);
	aftl_events_init(&fill->events);
	find_first_write_of_luns(ftl, fill);
}

void aftl_fill_static_free(struct aftl *ftl, struct aftl_fill_static *fill)
{
	aftl_memory_free(ftl, fill->luns);
	aftl_memory_free(ftl, fill->tile);
	aftl_memory_free(ftl, fill->entries);
	aftl_memory_free(ftl, fill->events.when);
	aftl_memory_free(ftl, fill->events.winner);
	*fill = (struct aftl_fill_static){ 0 };
}

/**
 * struct stored_run - writes of a LUN whose OOB metadata are to be stored
 * @steps: how to find the next write of the LUN
 * @units: number of logical pages of the fill
 * @luns: number of LUNs
 * @place: LUN in allocation order, which is its first lpn
 * @page: page of the device that takes the first write
 * @end: page after the last
 * @attr: attributes of the pages
 * @seq: sequence number of the first write of the fill
 */
struct stored_run {
	struct aftl_fill_steps steps;
	u32 units;
	u32 luns;
	u32 place;
	u32 page;
	u32 end;
	u16 attr;
	u64 seq;
};

/*
 * Store the OOB metadata of @run, whose first write is @write. @media and @run are copies, so that
 * the compiler can keep them in registers. Return: the next write.
 */
static struct aftl_fill_write store_oob_of_run(struct aftl_media media, struct stored_run run,
					       struct aftl_fill_write write)
{
	for (; run.page < run.end; run.page++) {
		aftl_lpn_t *lpn = aftl_oob_entry(&media, run.page);
		u16 *numbers = (u16 *)lpn + media.oob_layout.attr;

		*lpn = to_lpn(run.place + write.position * run.luns);
		*numbers = run.attr;
		if (media.models_errors)
			*++numbers = (u16)aftl_hash64(run.seq + write.number);
		aftl_fill_take_step(&run.steps, run.units, &write.position, &write.number);
	}
	return write;
}

static const struct aftl_fill_steps *get_fill_steps(const struct aftl_fill_static *fill,
						    const struct aftl_fill_lun *lun)
{
	return &fill->steps[lun->count != fill->steps[0].count];
}

/*
 * Store the OOB metadata of the programs in a LUN for which the policy is not asked. They are
 * counted when their time has come: until then, nobody looks at the LUN.
 */
static void store_next_run(struct aftl *ftl, struct aftl_fill_static *fill, u32 place,
			   const struct aftl_fill_run *run)
{
	struct aftl_fill_lun *lun = &fill->luns[place];
	u32 page;

	lun->after = lun->next;
	lun->stored = min(run->left, lun->count - lun->done);
	if (!lun->stored)
		return;
	page = aftl_page_number_in_device(&ftl->media, run->block, run->page);
	lun->after = store_oob_of_run(ftl->media,
				      (struct stored_run){
					      .steps = *get_fill_steps(fill, lun),
					      .units = fill->order.units,
					      .luns = ftl->geo.luns,
					      .place = place,
					      .page = page,
					      .end = page + lun->stored,
					      .attr = aftl_page_attr(run->class, run->mode, 0),
					      .seq = ftl->seq - fill->write,
				      },
				      lun->next);
}

/* Store the L2P entries of programmed pages: @count entries, of which @entry is the first. */
static void store_l2p_entries_of_programs(struct aftl *ftl, u32 entry, u32 count)
{
	for (; count; count--, entry++) {
		aftl_ppn_t ppn = to_ppn((entry & AFTL_PPN_MASK) - 1);

		*aftl_l2p_entry(ftl, from_lpn(aftl_ppn_lpn(&ftl->media, ppn))) = entry;
	}
}

/* Record the next @count writes of a LUN, whose L2P entries are @entry and the following ones. */
static void record_fill_writes(struct aftl *ftl, struct aftl_fill_static *fill, u32 place,
			       u32 entry, u32 count)
{
	struct aftl_fill_lun *lun = &fill->luns[place];
	u32 size = 1U << fill->granule_shift;

	while (count) {
		u32 *first = &fill->entries[place * fill->granules +
					    (lun->done >> fill->granule_shift)];
		u32 before = lun->done & (size - 1);
		u32 some = min(count, size - before);

		if (!before) {
			*first = entry;
		} else if (*first + before != entry || !*first) {
			if (*first)
				store_l2p_entries_of_programs(ftl, *first, before);
			*first = 0;
			store_l2p_entries_of_programs(ftl, entry, some);
		}
		lun->done += some;
		entry += some;
		count -= some;
	}
}

/* Count the first @count stored programs of a LUN. */
static void count_stored_programs(struct aftl *ftl, struct aftl_fill_static *fill, u32 place,
				  struct aftl_fill_run *run, u32 count)
{
	struct aftl_lun *lun = fill_lun_at_place(ftl, place);
	u32 page;

	if (!count)
		return;
	page = aftl_page_number_in_device(&ftl->media, run->block, run->page);
	aftl_count_first_fill_writes_of_lun(ftl, lun, run, page, count);
	record_fill_writes(ftl, fill, place, run->class << AFTL_PPN_BITS | (page + 1), count);
	fill->luns[place].next = fill->luns[place].after;
	fill->luns[place].stored = 0;
}

/* Count the stored programs of a LUN before the next write of the fill; erase the later ones. */
static void count_programs_before_next_write(struct aftl *ftl, struct aftl_fill_static *fill,
					     u32 place, struct aftl_fill_run *run)
{
	struct aftl_fill_lun *lun = &fill->luns[place];
	struct aftl_fill_write write = lun->next;
	u32 count;
	u32 i;

	for (count = 0; count < lun->stored && write.number < fill->write; count++)
		aftl_fill_take_step(get_fill_steps(fill, lun), fill->order.units, &write.position,
				    &write.number);
	for (i = count; i < lun->stored; i++)
		memset(aftl_oob_entry(&ftl->media,
				      aftl_page_number_in_device(&ftl->media, run->block,
								 run->page + i)),
		       0, ftl->media.oob_layout.bytes);
	count_stored_programs(ftl, fill, place, run, count);
}

u32 aftl_fill_static_skip_to_policy_call(struct aftl *ftl, struct aftl_fill_static *fill,
					 struct aftl_fill_run *runs)
{
	u32 place = aftl_events_earliest_source(&fill->events);
	u64 event = min_t(u64, aftl_events_earliest_ns(&fill->events), fill->order.units);
	u32 writes = (u32)event - fill->write;

	if (!writes)
		count_stored_programs(ftl, fill, place, &runs[fill_lun_at_place(ftl, place)->index],
				      fill->luns[place].stored);
	fill->write += writes;
	return writes;
}

bool aftl_fill_static_has_room(struct aftl *ftl, const struct aftl_fill_static *fill)
{
	u32 place = aftl_events_earliest_source(&fill->events);

	return aftl_lun_has_room_for_units(fill_lun_at_place(ftl, place), 1);
}

void aftl_fill_static_continue(struct aftl *ftl, struct aftl_fill_static *fill,
			       struct aftl_fill_run *runs)
{
	u32 place = aftl_events_earliest_source(&fill->events);
	struct aftl_fill_lun *lun = &fill->luns[place];
	u32 lpn = place + lun->next.position * ftl->geo.luns;

	fill->write++;
	record_fill_writes(ftl, fill, place, *aftl_l2p_entry(ftl, lpn), 1);
	aftl_fill_take_step(get_fill_steps(fill, lun), fill->order.units, &lun->next.position,
			    &lun->next.number);
	store_next_run(ftl, fill, place, &runs[fill_lun_at_place(ftl, place)->index]);
	if (lun->done + lun->stored == lun->count) {
		aftl_events_set_time(&fill->events, place, AFTL_NEVER);
		return;
	}
	aftl_events_set_time(&fill->events, place, lun->after.number);
	aftl_prefetch_l2p_entry(ftl, place + lun->after.position * ftl->geo.luns);
}

/*
 * The rank of the next lpn is higher by the number of writes of the LUN in the interval between the
 * numbers of both writes, modulo the number of all its writes. If x(i) is the number of the write
 * of lpn i before it is reduced modulo the number of logical pages n, then write i is in the
 * interval of width x(1) - x(0) from y on if floor((x(i) - y) / n) exceeds floor((x(i-1) - y) / n).
 * So there are floor((x(count - 1) - y) / n) - floor((x(-1) - y) / n) writes in it.
 */
static struct aftl_fill_row make_fill_row(const struct aftl_fill_static *fill, u32 place)
{
	u32 units = fill->order.units;
	const struct aftl_fill_lun *lun = &fill->luns[place];
	u32 first = (u32)((fill->inverse.at + (u64)place * fill->inverse.step) % units);
	u64 last = first + (u64)(lun->count - 1) * fill->step;
	bool wraps = first < fill->step;
	u32 quotient = (u32)div64_u64(last, units);

	return (struct aftl_fill_row){
		.number = first,
		.rank = aftl_fill_count_values_below(fill->step, units, lun->count, first, first),
		.count = lun->count,
		.last = (u32)(last - (u64)quotient * units),
		.before = first - fill->step + (wraps ? units : 0),
		.more = quotient + wraps,
		.granules = fill->entries + (size_t)place * fill->granules,
	};
}

/*
 * Store the entries of the next @count lpns of a LUN, from @lpn on. @l2p and @lun are copies, so
 * that the compiler can keep them in registers. Return: @lun for the lpns after these.
 */
static struct aftl_fill_row store_l2p_entries_of_lun(const struct aftl_fill_static *fill,
						     struct aftl_chunks l2p,
						     struct aftl_fill_row lun, u32 lpn, u32 luns,
						     u32 count)
{
	const u32 units = fill->order.units;
	const u32 shift = fill->granule_shift;
	const u32 step = fill->step;
	const u32 writes = fill->write;

	for (; count; count--, lpn += luns) {
		u32 entry = lun.granules[lun.rank >> shift];

		if (likely(lun.number < writes && entry))
			*aftl_chunk_entry(&l2p, u32, lpn) =
				entry + (lun.rank & ((1U << shift) - 1));
		lun.rank += lun.more - (lun.number > lun.last) + (lun.number > lun.before);
		lun.rank -= lun.rank < lun.count ? 0 : lun.count;
		lun.number += step;
		lun.number -= lun.number < units ? 0 : units;
	}
	return lun;
}

/* Store the entries of up to TILE_LUNS LUNs, from @place in allocation order on. */
static int store_l2p_entries_of_luns(struct aftl *ftl, const struct aftl_fill_static *fill,
				     u32 place, u32 end)
{
	struct aftl_fill_row *luns = fill->tile;
	u32 stride = ftl->geo.luns;
	u32 position;
	int ret = 0;
	u32 i;

	for (i = place; i < end; i++)
		luns[i - place] = make_fill_row(fill, i);
	for (position = 0; !ret && position < luns->count; position += TILE_LPNS) {
		for (i = place; i < end; i++) {
			struct aftl_fill_row *lun = &luns[i - place];
			u32 left = lun->count - min(lun->count, position);

			*lun = store_l2p_entries_of_lun(fill, ftl->l2p, *lun,
							i + position * stride, stride,
							min(left, TILE_LPNS));
		}
		if (position / TILE_LPNS % SLICE_TILES == 0)
			ret = aftl_call_pause_callback(ftl);
	}
	return ret;
}

static int store_all_l2p_entries(struct aftl *ftl, const struct aftl_fill_static *fill)
{
	u32 count = min(ftl->geo.luns, fill->order.units);
	u32 place;
	int ret = 0;

	for (place = 0; !ret && place < count; place += TILE_LUNS)
		ret = store_l2p_entries_of_luns(ftl, fill, place,
						place + min(count - place, TILE_LUNS));
	return ret;
}

int aftl_fill_static_end(struct aftl *ftl, struct aftl_fill_static *fill,
			 struct aftl_fill_run *runs)
{
	u32 place;
	int ret;

	for (place = 0; place < ftl->geo.luns; place++)
		count_programs_before_next_write(ftl, fill, place,
						 &runs[fill_lun_at_place(ftl, place)->index]);
	ret = store_all_l2p_entries(ftl, fill);
	aftl_fill_static_free(ftl, fill);
	return ret;
}
