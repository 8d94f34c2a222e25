// SPDX-License-Identifier: GPL-2.0-only
#include <sys/mman.h>

#include "expected-data.h"

int expected_data_create(struct expected_data *data, u64 count, struct aftl_error *error)
{
	void *units = mmap(NULL, count * sizeof(*data->units), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (units == MAP_FAILED)
		return aftl_fail(error, -ENOMEM,
				 "no memory to remember what %llu units hold; leave --verify out",
				 (unsigned long long)count);
	data->units = units;
	data->count = count;
	return 0;
}

void expected_data_free(struct expected_data *data)
{
	if (data->units)
		munmap(data->units, data->count * sizeof(*data->units));
	data->units = NULL;
}

bool expected_data_begin_write(struct expected_data *data, u64 first, u32 count,
			       const struct payload *what, bool keeps)
{
	bool alone = true;

	for (u32 i = 0; i < count; i++) {
		struct expected_unit *unit = &data->units[first + i];

		alone = alone && !unit->writers;
		unit->writers++;
		unit->newest = what->sequence;
		unit->class = what->class;
		if (!keeps)
			unit->unknown = what->sequence;
	}
	return alone;
}

void expected_data_end_write(struct expected_data *data, u64 first, u32 count, u32 sequence,
			     bool alone, bool failed)
{
	for (u32 i = 0; i < count; i++) {
		struct expected_unit *unit = &data->units[first + i];

		unit->writers--;
		if (failed && unit->unknown < sequence)
			unit->unknown = sequence;
		if (alone && unit->oldest < sequence)
			unit->oldest = sequence;
	}
}

void expected_data_begin_read(const struct expected_data *data, u64 first, u32 count, u32 *floors)
{
	for (u32 i = 0; i < count; i++)
		floors[i] = data->units[first + i].oldest;
}

/* Find the write of a unit's data by the identity that they begin with, else try the newest one. */
static bool identify_write_that_stored_unit(const struct expected_data *data, const void *bytes,
					    u64 unit, struct payload *what, u32 *flips)
{
	const struct expected_unit *now = &data->units[unit];

	if (payload_read_head(bytes, data->unit_bytes, data->seed, what, flips))
		return true;
	if (!now->newest)
		return false;
	*what = (struct payload){ unit, now->newest, now->class };
	*flips = payload_count_flips(bytes, data->unit_bytes, data->seed, what);
	return is_payload_recognised(data->unit_bytes, *flips);
}

enum data_verdict expected_data_classify_read_unit(const struct expected_data *data,
						   const void *bytes, u64 unit, u32 floor,
						   struct payload *what, u32 *flips)
{
	const struct expected_unit *now = &data->units[unit];
	bool any = !floor || now->unknown >= floor;

	if (!identify_write_that_stored_unit(data, bytes, unit, what, flips))
		return any ? DATA_FOREIGN : DATA_LOST;
	if (what->unit != unit)
		return any ? DATA_FOREIGN : DATA_MISPLACED;
	if (what->sequence < floor || what->sequence > now->newest)
		return any ? DATA_FOREIGN : DATA_STALE;
	return DATA_GOOD;
}
