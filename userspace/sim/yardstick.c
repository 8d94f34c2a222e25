// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "human-units.h"
#include "interruption.h"
#include "run.h"
#include "shares.h"

/* Growing list of the writes and discards of units, for optimum_count_flash_programs(). */
struct operations {
	u32 *ops;
	u64 count;
	u64 room;
};

static int append_operation_to_list(struct operations *list, u64 op, struct aftl_error *error)
{
	if (list->count == list->room) {
		u64 room = max(2 * list->room, 1ULL << 16);
		u32 *grown = realloc(list->ops, room * sizeof(*grown));

		if (!grown)
			return aftl_fail(error, -ENOMEM,
					 "--yardstick: no memory for %llu operations; give fewer --requests",
					 (unsigned long long)room);
		list->ops = grown;
		list->room = room;
	}
	if (list->count == OPTIMUM_OPS_MAX)
		return aftl_fail(error, -E2BIG,
				 "--yardstick: more than %u writes of a unit; give fewer --requests",
				 OPTIMUM_OPS_MAX);
	list->ops[list->count++] = (u32)op;
	return 0;
}

/* Append the units of @request: discards drop whole units only, writes also replace part of one. */
static int add_request_operations(struct operations *list, const struct sim_request *request,
				  struct aftl_error *error)
{
	bool discard = request->op != AFTL_OP_WRITE;
	u64 begin = request->unit + (discard && request->head_skip);
	u64 end = request->unit + request->units - (discard && request->tail_skip);
	int ret = 0;

	if (request->op == AFTL_OP_READ || request->op == AFTL_OP_FLUSH)
		return 0;
	for (u64 unit = begin; unit < end && !ret; unit++)
		ret = append_operation_to_list(list, unit | (discard ? OPTIMUM_DISCARD : 0), error);
	return ret;
}

/* Draw the requests of the run a second time, to list their operations on units. */
static int read_stream_operations(struct sim_stream *stream, const struct sim_options *options,
				  struct sim_result *result, struct operations *list, u64 *begin,
				  struct aftl_error *error)
{
	u64 requests = result->warmup_requests + result->requests;
	struct sim_request request;
	int ret = 0;

	*begin = U64_MAX;
	for (u64 i = 0; i < requests && !ret; i++) {
		if (i == result->warmup_requests)
			*begin = list->count;
		ret = stream->next(stream, &request, error);
		if (ret <= 0)
			break;
		ret = add_request_operations(list, &request, error);
		if (i >= options->warmup && request.op == AFTL_OP_WRITE)
			result->yardstick.bytes +=
				sim_request_count_sectors(&request,
							  sim_sectors_per_unit(&result->geo)) *
				AFTL_SECTOR_BYTES;
	}
	*begin = min(*begin, list->count);
	return ret;
}

static int stop_optimum_search_if_interrupted(void)
{
	return is_stop_requested() ? -EINTR : 0;
}

static int find_min_programmed_units_of_stream(const struct sim_result *result,
					       const struct operations *list, u64 begin,
					       struct optimum *optimum)
{
	const struct aftl_config *config = &result->config;
	const struct aftl_geometry *geo = &result->geo;
	const struct optimum_device device = {
		.blocks = geo->blocks,
		.block_units = geo->block_ppns,
		.units = geo->units,
		.buffer_units = config->buffer ? (u32)max(config->buffer / geo->unit_bytes,
							  (u64)aftl_units_per_program(geo)) : 0,
	};
	struct optimum_stream stream = {
		.ops = list->ops,
		.count = list->count,
		.begin = begin,
	};

	if (config->fill != AFTL_FILL_NONE)
		stream.filled = (u32)(geo->units * config->fill_valid / SHARE_WHOLE);
	return optimum_count_flash_programs(&device, &stream, stop_optimum_search_if_interrupted,
					    optimum);
}

int sim_find_offline_optimum(const struct sim_options *options, struct sim_result *result,
			     struct aftl_error *error)
{
	struct operations list = { .ops = NULL };
	struct sim_stream *stream;
	u64 begin;
	int ret = sim_stream_open(&stream, options, &result->config, &result->geo,
				  result->units, error);

	if (ret)
		return ret;
	result->yardstick = (struct sim_yardstick){ .known = false };
	ret = read_stream_operations(stream, options, result, &list, &begin, error);
	stream->close(stream);
	if (!ret)
		ret = find_min_programmed_units_of_stream(result, &list, begin,
							  &result->yardstick.optimum);
	free(list.ops);
	if (ret == -ENOMEM)
		aftl_fail(error, ret,
			  "--yardstick: no memory for %llu operations; give fewer --requests",
			  (unsigned long long)list.count);
	result->yardstick.known = !ret;
	return ret;
}

u64 sim_get_min_write_amplification(const struct sim_result *result)
{
	return scaled_ratio(optimum_get_min_programmed_units(&result->yardstick.optimum) *
				    result->geo.unit_bytes,
			    result->yardstick.bytes, 10000);
}

u64 sim_get_offline_gc_amplification(const struct sim_result *result)
{
	u64 units = optimum_get_offline_programmed_units(&result->yardstick.optimum);

	return units == U64_MAX ? 0 :
				  scaled_ratio(units * result->geo.unit_bytes,
					       result->yardstick.bytes, 10000);
}
