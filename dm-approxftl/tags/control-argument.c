// SPDX-License-Identifier: GPL-2.0-only
/* Checks of ioctl arguments (ranges, cursors, descriptors) for the other files control*.c. */
#include <linux/file.h>

#include "tags/control.h"

int aftl_control_get_range_limits(const struct approxftl_range *range, u64 *first, u64 *last)
{
	if (!range->length)
		return -EINVAL;
	if (range->offset > AFTL_LAST_BYTE)
		return -EOVERFLOW;
	*first = range->offset;
	*last = AFTL_LAST_BYTE;
	if (range->length == APPROXFTL_TO_END)
		return 0;
	if (range->length - 1 > AFTL_LAST_BYTE - range->offset)
		return -EOVERFLOW;
	*last = range->offset + range->length - 1;
	return 0;
}

int aftl_control_call_fn_on_fd(struct aftl_control *control, int fd, aftl_control_file_fn fn,
			       void *argument)
{
	struct file *file = fget(fd);
	int ret;

	if (!file)
		return -EBADF;
	ret = fn(control, file, argument);
	fput(file);
	return ret;
}

int aftl_control_check_query_cursor(const struct approxftl_query *query)
{
	return query->cursor > AFTL_LAST_BYTE && query->cursor != APPROXFTL_TO_END ? -EINVAL : 0;
}
