// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lists the units stored on flash, and their errors.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "control-node.h"
#include "handle.h"
#include "refusal.h"
#include "shared.h"

/* Maximum number of units in the answer to a query. */
#define BATCH 256

/**
 * struct survey - an iteration over stored units
 * @handle: handle for the queries
 * @fd: file or device to examine
 * @device: device to query instead of @fd; -1: query @fd
 * @cursor: byte to continue from; UINT64_MAX at the end
 * @end: byte to stop at; UINT64_MAX for no limit
 * @unit_bytes: takes the size of a unit
 */
struct survey {
	const struct approxftl *handle;
	int fd;
	int device;
	uint64_t cursor;
	uint64_t end;
	unsigned int unit_bytes;
};

static int begin_stored_unit_query(struct survey *survey, const struct approxftl *a, int fd,
				   off_t from, off_t length)
{
	if (from < 0 || (length < 0 && length != APPROXFTL_TO_END))
		return aftl_lib_set_refusal(-EINVAL, "the range makes no sense; %s",
					    "give its first byte and a length, or APPROXFTL_TO_END");
	*survey = (struct survey){ .handle = a, .fd = fd, .device = -1, .cursor = UINT64_MAX };
	survey->end = length == APPROXFTL_TO_END ? UINT64_MAX : (uint64_t)from + length;
	if (!approxftl_active(a) || (uint64_t)from >= survey->end)
		return 0;
	survey->cursor = from;
	return aftl_lib_open_device_of_shared_file(a->control, fd, &survey->device);
}

static void end_stored_unit_query(const struct survey *survey)
{
	if (survey->device >= 0)
		close(survey->device);
}

/* Like aftl_lib_control_list_stored_units(), but queries the device for one extent of the file. */
static int query_stored_units_of_extent(struct survey *survey, struct approxftl_unit *out,
					unsigned int room, unsigned int *reason)
{
	struct aftl_lib_piece piece = { .stop = UINT64_MAX };
	uint64_t at = UINT64_MAX;
	int i, ret;

	ret = aftl_lib_get_file_extent_on_device(survey->fd, survey->cursor, survey->end, &piece);
	if (ret > 0) {
		at = piece.first - piece.shift;
		ret = aftl_lib_control_list_stored_units(survey->handle->control, survey->device,
							 &at, (off_t)(piece.stop - piece.first),
							 out, room, &survey->unit_bytes, reason);
	}
	for (i = 0; i < ret; i++)
		out[i].offset = (int64_t)((uint64_t)out[i].device_offset + piece.shift);
	survey->cursor = at == UINT64_MAX ? piece.stop : at + piece.shift;
	return ret;
}

static int query_next_stored_units(struct survey *survey, struct approxftl_unit *out,
				   unsigned int room)
{
	off_t left = survey->end == UINT64_MAX ? APPROXFTL_TO_END :
						 (off_t)(survey->end - survey->cursor);
	unsigned int reason = 0;
	int ret;

	if (survey->device >= 0)
		ret = query_stored_units_of_extent(survey, out, room, &reason);
	else
		ret = aftl_lib_control_list_stored_units(survey->handle->control, survey->fd,
							 &survey->cursor, left, out, room,
							 &survey->unit_bytes, &reason);
	if (survey->cursor >= survey->end)
		survey->cursor = UINT64_MAX;
	if (ret == -EBADF)
		aftl_lib_set_refusal(ret, "what is stored: open the file for reading");
	else if (ret < 0)
		aftl_lib_set_operation_refusal(ret, reason, "what is stored");
	return ret;
}

int approxftl_stored(struct approxftl *a, int fd, off_t *from, off_t length,
		     struct approxftl_unit *out, size_t room)
{
	size_t most = room < INT_MAX ? room : INT_MAX;
	struct survey survey = { .device = -1, .cursor = UINT64_MAX };
	size_t count = 0;
	int ret;

	if (*from == APPROXFTL_TO_END)
		return 0;
	ret = begin_stored_unit_query(&survey, a, fd, *from, length);
	if (ret)
		return ret;
	while (count < most && survey.cursor != UINT64_MAX) {
		ret = query_next_stored_units(&survey, out + count, most - count);
		if (ret < 0)
			break;
		count += ret;
	}
	end_stored_unit_query(&survey);
	if (ret < 0 && ret != -EINTR)
		return ret;
	*from = survey.cursor == UINT64_MAX ? APPROXFTL_TO_END : (off_t)survey.cursor;
	return ret < 0 && !count ? ret : (int)count;
}

static void add_stored_unit_errors_to_sum(struct approxftl_errors *sum,
					  const struct approxftl_unit *unit)
{
	if (unit->kind == APPROXFTL_NONE)
		return;
	sum->units++;
	sum->approximate_units += unit->kind == APPROXFTL_APPROXIMATE;
	if (unit->flags & APPROXFTL_UNIT_NO_MODEL) {
		sum->unmodelled_units++;
		return;
	}
	sum->lost_units += !!(unit->flags & APPROXFTL_UNIT_LOST);
	sum->flipped_units += !!unit->flips;
	sum->flipped_bits += unit->flips;
	sum->raw_errors += unit->raw;
}

/* Add up the errors of units of quality level @level, or of all units if it is out of range. */
static int sum_errors_of_stored_units(struct approxftl *a, int fd, off_t offset, off_t length,
				      unsigned int level, struct approxftl_errors *out)
{
	struct approxftl_unit units[BATCH];
	struct survey survey = { .device = -1, .cursor = UINT64_MAX };
	int i, ret;

	memset(out, 0, sizeof(*out));
	ret = begin_stored_unit_query(&survey, a, fd, offset, length);
	if (ret)
		return ret;
	while (survey.cursor != UINT64_MAX) {
		ret = query_next_stored_units(&survey, units, BATCH);
		if (ret < 0)
			break;
		for (i = 0; i < ret; i++)
			if (level > APPROXFTL_LEVEL_MAX || approxftl_unit_level(&units[i]) == level)
				add_stored_unit_errors_to_sum(out, &units[i]);
	}
	end_stored_unit_query(&survey);
	out->unit_bytes = survey.unit_bytes;
	return ret < 0 ? ret : 0;
}

int approxftl_errors(struct approxftl *a, int fd, off_t offset, off_t length,
		     struct approxftl_errors *out)
{
	return sum_errors_of_stored_units(a, fd, offset, length, APPROXFTL_LEVEL_MAX + 1, out);
}

int approxftl_level_errors(struct approxftl *a, int fd, off_t offset, off_t length,
			   unsigned int level, struct approxftl_errors *out)
{
	if (level > APPROXFTL_LEVEL_MAX)
		return aftl_lib_set_refusal(-EINVAL, "there is no such quality level; %s",
					    "it is 0 to 3");
	return sum_errors_of_stored_units(a, fd, offset, length, level, out);
}
