// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes data and tags them in one call.
 */
#include <errno.h>
#include <unistd.h>

#include "control-node.h"
#include "handle.h"
#include "refusal.h"

static ssize_t write_data_without_tag(int fd, const void *data, size_t bytes, off_t offset)
{
	ssize_t written = pwrite(fd, data, bytes, offset);

	return written < 0 ? aftl_lib_set_operation_refusal(-errno, 0, "write") : written;
}

ssize_t approxftl_pwrite(struct approxftl *a, int fd, const void *data, size_t bytes,
			 off_t offset, enum approxftl_class kind)
{
	unsigned int reason = 0;
	ssize_t written;

	if (offset < 0 || !aftl_lib_can_tag_declare_class(kind))
		return aftl_lib_set_refusal(-EINVAL, "data are written approximate or precise; %s",
					    "from byte 0 on");
	if (!approxftl_active(a))
		return write_data_without_tag(fd, data, bytes, offset);
	written = aftl_lib_control_write(a->control, fd, data, bytes, offset, kind, &reason);
	return written < 0 ? aftl_lib_set_operation_refusal(written, reason, "write") : written;
}
