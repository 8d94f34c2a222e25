// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is on flash, and how it has fared.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "control.h"
#include "handle.h"
#include "refusal.h"

/* Units asked for at a time. */
#define BATCH 256

/**
 * struct survey - a walk over what is stored
 * @handle: by which
 * @fd: of what
 * @cursor: where to go on; UINT64_MAX at the end
 * @end: first byte that is not of interest; UINT64_MAX if there is none
 * @unit_bytes: takes the size of a unit
 */
struct survey {
	const struct approxftl *handle;
	int fd;
	uint64_t cursor;
	uint64_t end;
	unsigned int unit_bytes;
};

static int begin(struct survey *survey, const struct approxftl *a, int fd, off_t from,
		 off_t length)
{
	if (from < 0 || (length < 0 && length != APPROXFTL_TO_END))
		return aftl_lib_refuse(-EINVAL, "the range makes no sense; %s",
				       "give its first byte and a length, or APPROXFTL_TO_END");
	*survey = (struct survey){ .handle = a, .fd = fd, .cursor = from, .end = UINT64_MAX };
	if (length != APPROXFTL_TO_END)
		survey->end = (uint64_t)from + length;
	if (survey->cursor >= survey->end)
		survey->cursor = UINT64_MAX;
	return 0;
}

static int look(struct survey *survey, struct approxftl_unit *out, unsigned int room)
{
	off_t left = survey->end == UINT64_MAX ? APPROXFTL_TO_END :
						 (off_t)(survey->end - survey->cursor);
	unsigned int reason = 0;
	int ret;

	ret = aftl_lib_control_stored(survey->handle->control, survey->fd, &survey->cursor, left,
				      out, room, &survey->unit_bytes, &reason);
	if (survey->cursor >= survey->end)
		survey->cursor = UINT64_MAX;
	if (ret == -EBADF)
		return aftl_lib_refuse(ret, "what is stored: open the file for reading");
	return ret < 0 ? aftl_lib_refused(ret, reason, "what is stored") : ret;
}

int approxftl_stored(struct approxftl *a, int fd, off_t *from, off_t length,
		     struct approxftl_unit *out, size_t room)
{
	size_t most = room < INT_MAX ? room : INT_MAX;
	struct survey survey = { .cursor = UINT64_MAX };
	size_t count = 0;
	int ret;

	if (*from == APPROXFTL_TO_END)
		return 0;
	ret = begin(&survey, a, fd, *from, length);
	if (ret)
		return ret;
	if (!approxftl_active(a))
		survey.cursor = UINT64_MAX;
	while (count < most && survey.cursor != UINT64_MAX) {
		ret = look(&survey, out + count, most - count);
		if (ret < 0)
			return ret;
		count += ret;
	}
	*from = survey.cursor == UINT64_MAX ? APPROXFTL_TO_END : (off_t)survey.cursor;
	return count;
}

static void add_unit(struct approxftl_errors *sum, const struct approxftl_unit *unit)
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

int approxftl_errors(struct approxftl *a, int fd, off_t offset, off_t length,
		     struct approxftl_errors *out)
{
	struct approxftl_unit units[BATCH];
	struct survey survey = { .cursor = UINT64_MAX };
	int i, ret;

	memset(out, 0, sizeof(*out));
	ret = begin(&survey, a, fd, offset, length);
	if (ret || !approxftl_active(a))
		return ret;
	while (survey.cursor != UINT64_MAX) {
		ret = look(&survey, units, BATCH);
		if (ret < 0)
			return ret;
		for (i = 0; i < ret; i++)
			add_unit(out, &units[i]);
	}
	out->unit_bytes = survey.unit_bytes;
	return 0;
}
