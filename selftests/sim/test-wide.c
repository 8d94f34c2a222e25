// SPDX-License-Identifier: GPL-2.0-only
/*
 * Request generators and shards handle addresses up to 64 TiB.
 */
#include <stdlib.h>

#include "request-stream.h"
#include "shard-cut.h"
#include "sim-options.h"
#include "tap.h"

#define UNITS 0x400000000ULL

static const struct aftl_geometry geo = { .units = 1U << 28, .unit_bytes = 4096, .page_units = 4 };

/* Count the sixteenths of the address space that 2000 requests of a stream reach. */
static u32 count_address_sixteenths_with_requests(const char *workload)
{
	char option[] = "--workload";
	char *argv[2] = { option, (char *)workload };
	struct sim_options options;
	struct sim_request request;
	struct sim_stream *stream;
	struct aftl_error error;
	u32 seen = 0;
	u32 i;

	if (sim_options_parse(&options, ARRAY_SIZE(argv), argv, &error) ||
	    sim_stream_open(&stream, &options, &options.params, &geo, UNITS, &error))
		return 0;
	for (i = 0; i < 2000 && stream->next(stream, &request, &error) > 0; i++)
		seen |= 1U << min(request.unit >> 30, 31ULL);
	stream->close(stream);
	return (u32)__builtin_popcount(seen);
}

TAP_TEST(random_streams_reach_all_of_64_tib)
{
	CHECK_EQ(count_address_sixteenths_with_requests("uniform"), 16);
	CHECK_EQ(count_address_sixteenths_with_requests("zipf"), 16);
	CHECK_EQ(count_address_sixteenths_with_requests("drift"), 2);
	CHECK_EQ(count_address_sixteenths_with_requests("zones"), 1);
	CHECK_EQ(count_address_sixteenths_with_requests("sequential"), 1);
}

/* Split a request that covers the last unit of one chunk and two whole chunks, in three shards. */
TAP_TEST(shards_get_the_units_of_their_range)
{
	const struct aftl_shards layout = { .count = 64, .chunk_shift = 4, .units = UNITS };
	const struct sim_request request = {
		.unit = UNITS / 2 + 62 * 16 + 15,
		.units = 33,
		.op = AFTL_OP_READ,
	};
	struct shard_list lists[64] = { { NULL } };

	shard_lists_add_request(lists, &layout, &request, 7, 0);
	CHECK_EQ(lists[62].count + lists[63].count + lists[0].count, 3);
	CHECK_EQ(lists[62].work->request.unit, UNITS / 2 / 64 + 15);
	CHECK_EQ(lists[63].work->request.unit, UNITS / 2 / 64);
	CHECK_EQ(lists[0].work->request.unit, UNITS / 2 / 64 + 16);
	CHECK_EQ(lists[0].work->request.units, 16);
	CHECK_EQ(lists[0].work->number, 7);
	CHECK(lists[0].work->whole && lists[0].work->whole == lists[62].work->whole);
	free(lists[0].work->whole);
	free(lists[62].work);
	free(lists[63].work);
	free(lists[0].work);
}
