// SPDX-License-Identifier: GPL-2.0-only
#include "zone-stream.h"
#include "tap.h"

static u32 draw_zone_stream_u32(const struct zone_stream *stream, u32 n)
{
	return (u32)aftl_random_below(stream->random, n);
}

static bool draw_zone_stream_bool(const struct zone_stream *stream, u32 percent)
{
	return draw_zone_stream_u32(stream, 100) < percent;
}

static void submit_zone_request(const struct zone_stream *stream, struct test_device *device,
				enum aftl_op op, u32 unit, u32 units, u32 flags)
{
	u32 class = stream->approx && op == AFTL_OP_WRITE &&
				    draw_zone_stream_bool(stream, stream->approx) ?
			    AFTL_APPROX :
			    AFTL_PRECISE;

	CHECK_EQ(test_submit_io(device, op, unit, units, class, flags,
				aftl_device_time_ns(device->ftl) +
				     draw_zone_stream_u32(stream, 300000)),
		 0);
}

static void write_zone(const struct zone_stream *stream, struct test_device *device, u32 zone)
{
	const struct aftl_geometry *geo = aftl_geometry(device->ftl);
	u32 flags = draw_zone_stream_bool(stream, stream->flushes / 2) ? AFTL_REQUEST_FUA : 0;
	u32 units = 1 + draw_zone_stream_u32(stream, min(geo->zone_capacity, 16U));
	u32 written;

	aftl_zone_state(device->ftl, zone, &written);
	if (written < geo->zone_capacity)
		units = min(units, geo->zone_capacity - written);
	if (draw_zone_stream_bool(stream, 30) || written + units > geo->zone_units)
		submit_zone_request(stream, device, AFTL_OP_WRITE, zone * geo->zone_units, units,
				    flags | AFTL_REQUEST_APPEND);
	else
		submit_zone_request(stream, device, AFTL_OP_WRITE, zone * geo->zone_units + written,
				    units, flags);
}

static void submit_zone_management_request(const struct zone_stream *stream,
					   struct test_device *device, u32 zone)
{
	static const u8 ops[] = {
		AFTL_OP_ZONE_OPEN, AFTL_OP_ZONE_CLOSE, AFTL_OP_ZONE_FINISH, AFTL_OP_ZONE_RESET,
		AFTL_OP_ZONE_RESET, AFTL_OP_ZONE_RESET, AFTL_OP_ZONE_RESET, AFTL_OP_ZONE_RESET,
	};

	submit_zone_request(stream, device, ops[draw_zone_stream_u32(stream, ARRAY_SIZE(ops))],
			    zone * aftl_geometry(device->ftl)->zone_units, 0, 0);
}

void zone_stream_submit_request(const struct zone_stream *stream, struct test_device *device)
{
	u32 zones = aftl_geometry(device->ftl)->zones;
	u32 limit = draw_zone_stream_bool(stream, 70) ? min(stream->few, zones) : zones;
	u32 zone = draw_zone_stream_u32(stream, limit);

	if (draw_zone_stream_bool(stream, stream->reads))
		submit_zone_request(stream, device, AFTL_OP_READ,
				    draw_zone_stream_u32(stream, test_unit_count(device)), 1, 0);
	else if (draw_zone_stream_bool(stream, stream->flushes))
		submit_zone_request(stream, device, AFTL_OP_FLUSH, 0, 0, 0);
	else if (draw_zone_stream_bool(stream, 12))
		submit_zone_management_request(stream, device, zone);
	else
		write_zone(stream, device, zone);
}
