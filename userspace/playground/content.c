// SPDX-License-Identifier: GPL-2.0-only
/* Stores the user's bytes on the device, and reads them with the device's bit errors. */
#include "checked-memory.h"
#include "play.h"

u8 *playground_get_data_buffer(u32 bytes)
{
	if (bytes > play.content_bytes)
		play.content = memory_resize(play.content, bytes, 1);
	play.content_bytes = max(bytes, play.content_bytes);
	return play.content;
}

static bool is_unit_part_of_content_read(u32 unit)
{
	u64 end = (unit - play.reading + 1ULL) * play.drive.geo->unit_bytes;

	return play.returning && unit >= play.reading && end <= play.content_bytes;
}

void playground_flip_bits(void *host, struct aftl_request *request, const struct aftl_read *read)
{
	const struct aftl_cell *cell = aftl_cell(play.drive.ftl);
	u32 unit = from_lpn(read->lpn);
	u8 *bytes;

	(void)host;
	(void)request;
	if (!is_unit_part_of_content_read(unit))
		return;
	bytes = play.content + (size_t)(unit - play.reading) * play.drive.geo->unit_bytes;
	if (read->lost)
		memset(bytes, 0, play.drive.geo->unit_bytes);
	for (u32 i = 0; i < read->flips; i++) {
		u32 bit = aftl_get_bit_flip_position(cell, read->lpn, read->generation, i);

		bytes[bit / 8] ^= 1 << bit % 8;
	}
}

static int submit_content_write(u8 op, u32 unit, u32 units, u32 class)
{
	struct aftl_request *request = request_pool_take_request(&play.drive.pool);
	struct aftl_error error;

	*request = (struct aftl_request){
		.arrival_ns = aftl_device_time_ns(play.drive.ftl),
		.op = op,
		.unit = unit,
		.units = units,
		.class = (u8)class,
	};
	if (!aftl_submit(play.drive.ftl, request))
		return playground_complete_all_requests();
	sim_drive_complete_request(&play.drive, request);
	aftl_fail(&error, -EINVAL, "the device has %u units; %u units from unit %u on exceed them",
		  play.drive.geo->units, units, unit);
	return playground_report_error(-EINVAL, &error);
}

int playground_write(u32 unit, u32 units, u32 class)
{
	return submit_content_write(AFTL_OP_WRITE, unit, units, class);
}

/* Complete the request stream first: its reads must not flip bits of the user's content. */
int playground_read(u32 unit, u32 units)
{
	int ret = playground_complete_all_requests();

	play.reading = unit;
	play.returning = true;
	if (!ret)
		ret = submit_content_write(AFTL_OP_READ, unit, units, AFTL_PRECISE);
	play.returning = false;
	return ret;
}
