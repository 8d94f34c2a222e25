// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Wrappers of the ioctls of the control device, one function each.
 */
#include <assert.h>
#include <errno.h>
#include <linux/approxftl.h>
#include <string.h>
#include <sys/uio.h>

#include "control-node.h"

static_assert(sizeof(struct approxftl_extent) == 24, "the library's has the same layout");
static_assert(sizeof(struct approxftl_unit) == 32, "the library's has the same layout");

static uint64_t pointer_to_address(const void *memory)
{
	return (uint64_t)(uintptr_t)memory;
}

int aftl_lib_control_get_caps(int control, struct approxftl_info *info)
{
	struct approxftl_caps caps = { .size = sizeof(caps) };
	int ret = aftl_lib_device_ioctl(control, APPROXFTL_CAPS, &caps);

	if (ret)
		return ret;
	info->version = caps.version;
	info->devices = caps.devices;
	info->can = caps.can;
	info->may = caps.may;
	info->max_files = caps.max_files;
	info->max_ranges = caps.max_ranges;
	return 0;
}

/* Tag a whole file, also by write hint if its device honours it. -ENOTTY: the module is too old. */
static int tag_whole_file_and_set_write_hint(int control, int fd, unsigned int kind,
					     unsigned int *reason)
{
	struct approxftl_tag_fd tag = { .size = sizeof(tag), .fd = fd, .class = kind };
	int ret = aftl_lib_device_ioctl(control, APPROXFTL_TAG_FD, &tag);

	*reason = tag.reason;
	return ret;
}

int aftl_lib_control_tag(int control, bool device, int fd, off_t offset, off_t length,
			 unsigned int kind, unsigned int *reason)
{
	struct approxftl_range range = {
		.size = sizeof(range),
		.fd = fd,
		.class = kind,
		.offset = offset,
		.length = length,
	};
	int ret = -ENOTTY;

	if (!device && !offset && (uint64_t)length == APPROXFTL_TO_END)
		ret = tag_whole_file_and_set_write_hint(control, fd, kind, reason);
	if (ret != -ENOTTY)
		return ret;
	ret = aftl_lib_device_ioctl(control, device ? APPROXFTL_DEVICE_TAG : APPROXFTL_TAG,
				    &range);
	*reason = range.reason;
	return ret;
}

int aftl_lib_control_list_tagged_ranges(int control, bool device, int fd, uint64_t *cursor,
					struct approxftl_extent *out, unsigned int room)
{
	struct approxftl_query query = {
		.size = sizeof(query),
		.fd = fd,
		.cursor = *cursor,
		.extents = pointer_to_address(out),
		.room = room,
	};
	int ret = aftl_lib_device_ioctl(control, device ? APPROXFTL_DEVICE_QUERY : APPROXFTL_QUERY,
					&query);

	*cursor = query.cursor;
	return ret ? ret : (int)query.count;
}

int aftl_lib_control_set_thread_class(int control, unsigned int kind, const char *label)
{
	struct approxftl_scope scope = {
		.size = sizeof(scope),
		.whose = APPROXFTL_THREAD,
		.class = kind,
		.label = pointer_to_address(label),
		.label_length = label ? strlen(label) : 0,
	};

	return aftl_lib_device_ioctl(control, APPROXFTL_SCOPE, &scope);
}

int aftl_lib_control_add_label(int control, const char *label)
{
	struct approxftl_note note = {
		.size = sizeof(note),
		.length = strlen(label),
		.label = pointer_to_address(label),
	};

	return aftl_lib_device_ioctl(control, APPROXFTL_NOTE, &note);
}

ssize_t aftl_lib_control_write(int control, int fd, const void *data, size_t bytes, off_t offset,
			       unsigned int kind, unsigned int *reason)
{
	const struct iovec piece = { .iov_base = (void *)data, .iov_len = bytes };
	struct approxftl_pwritev pwritev = {
		.size = sizeof(pwritev),
		.fd = fd,
		.class = kind,
		.offset = offset,
		.iov = pointer_to_address(&piece),
		.iov_count = 1,
	};
	int ret = aftl_lib_device_ioctl(control, APPROXFTL_PWRITEV, &pwritev);

	*reason = pwritev.reason;
	return ret ? ret : (ssize_t)pwritev.written;
}

int aftl_lib_control_list_stored_units(int control, int fd, uint64_t *cursor, off_t length,
				       struct approxftl_unit *out, unsigned int room,
				       unsigned int *unit_bytes, unsigned int *reason)
{
	struct approxftl_stored stored = {
		.size = sizeof(stored),
		.fd = fd,
		.cursor = *cursor,
		.length = length,
		.units = pointer_to_address(out),
		.room = room,
	};
	int ret = aftl_lib_device_ioctl(control, APPROXFTL_STORED, &stored);

	*cursor = stored.cursor;
	*unit_bytes = stored.unit_bytes;
	*reason = stored.reason;
	return ret ? ret : (int)stored.count;
}

int aftl_lib_control_watch_file_system(int control, int fd, bool on, unsigned int *reason)
{
	struct approxftl_watch watch = { .size = sizeof(watch), .fd = fd, .on = on };
	int ret = aftl_lib_device_ioctl(control, APPROXFTL_WATCH, &watch);

	*reason = watch.reason;
	return ret;
}
