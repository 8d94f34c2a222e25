// SPDX-License-Identifier: GPL-2.0-only
#include "checked-memory.h"
#include "shard-cut.h"

static struct shard_work *add_shard_work(struct shard_list *list)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 256;
		list->work = memory_resize(list->work, list->room, sizeof(*list->work));
	}
	return &list->work[list->count++];
}

void shard_list_add_command(struct shard_list *list, u8 order, u64 at_ns)
{
	*add_shard_work(list) = (struct shard_work){ .request = { .time_ns = at_ns, .op = order } };
}

static bool is_discard_request(const struct sim_request *request)
{
	return request->op == AFTL_OP_DISCARD || request->op == AFTL_OP_WRITE_ZEROES;
}

static bool is_zone_request(const struct sim_request *request)
{
	return request->op >= AFTL_OPS;
}

/* Return the number of parts into which a host request is split among the shards. */
static u32 count_shard_parts_of_request(const struct aftl_shards *layout,
					const struct sim_request *request)
{
	u64 first = (u64)request->unit >> layout->chunk_shift;
	u64 last = ((u64)request->unit + request->units - 1) >> layout->chunk_shift;

	if (request->op == AFTL_OP_FLUSH)
		return layout->count;
	if (is_zone_request(request))
		return 1;
	return is_discard_request(request) ? min(last - first + 1, (u64)layout->count) :
					     last - first + 1;
}

static struct shard_work *add_request_part(struct shard_list *list, const struct shard_work *like,
					   u32 part, u32 unit, u32 units)
{
	struct shard_work *work = add_shard_work(list);

	*work = *like;
	work->request.unit = unit;
	work->request.units = units;
	work->part = part;
	return work;
}

/* Only the parts with the request's first and last unit keep head_skip and tail_skip. */
static void clear_skips_of_inner_parts(struct shard_work *work, bool first, bool last)
{
	if (!first)
		work->request.head_skip = 0;
	if (!last)
		work->request.tail_skip = 0;
}

static void add_flush_to_all_shards(struct shard_list *lists, const struct aftl_shards *layout,
				    const struct shard_work *like)
{
	for (u32 i = 0; i < layout->count; i++)
		add_request_part(&lists[i], like, i, 0, 0);
}

/* Add one part for each shard: a discarded range of the device is one range in each shard. */
static void split_discard_among_shards(struct shard_list *lists, const struct aftl_shards *layout,
				       const struct shard_work *like)
{
	u64 begin = like->request.unit;
	u64 end = begin + like->request.units;
	u32 part = 0;

	for (u32 i = 0; i < layout->count; i++) {
		u32 first = aftl_count_shard_lpns_below_device_lpn(layout, i, begin);
		u32 units = aftl_count_shard_lpns_below_device_lpn(layout, i, end) - first;

		if (units)
			clear_skips_of_inner_parts(add_request_part(&lists[i], like, part++, first,
								    units),
						   i == aftl_shard_of_lpn(layout, begin),
						   i == aftl_shard_of_lpn(layout, end - 1));
	}
}

static void cut_request_at_chunk_ends(struct shard_list *lists, const struct aftl_shards *layout,
				      const struct shard_work *like)
{
	u64 unit = like->request.unit;
	u64 end = unit + like->request.units;
	u32 part = 0;

	while (unit < end) {
		u32 units = aftl_count_units_to_chunk_end(layout, unit, (u32)(end - unit));

		clear_skips_of_inner_parts(add_request_part(&lists[aftl_shard_of_lpn(layout, unit)],
							    like, part++,
							    aftl_lpn_within_shard(layout, unit),
							    units),
					   unit == like->request.unit, unit + units == end);
		unit += units;
	}
}

void shard_lists_add_request(struct shard_list *lists, const struct aftl_shards *layout,
			     const struct sim_request *request, u64 number, u8 epoch)
{
	struct shard_work like = { .request = *request, .number = number };
	u32 parts = count_shard_parts_of_request(layout, request);

	if (parts > 1) {
		struct whole *whole =
			memory_alloc_zeroed(1, sizeof(*whole) + parts * sizeof(whole->parts[0]));

		atomic_init(&whole->left, parts);
		whole->count = parts;
		whole->request = *request;
		whole->number = number;
		whole->epoch = epoch;
		like.whole = whole;
	}
	if (request->op == AFTL_OP_FLUSH)
		add_flush_to_all_shards(lists, layout, &like);
	else if (is_zone_request(request))
		add_request_part(&lists[aftl_shard_of_lpn(layout, request->unit)], &like, 0,
				 aftl_lpn_within_shard(layout, request->unit), request->units);
	else if (is_discard_request(request))
		split_discard_among_shards(lists, layout, &like);
	else
		cut_request_at_chunk_ends(lists, layout, &like);
}
