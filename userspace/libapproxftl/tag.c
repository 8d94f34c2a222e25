// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tags ranges of files and devices.
 */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "control-node.h"
#include "handle.h"
#include "refusal.h"

/* Check a range without the kernel: invalid ranges are refused even if there is no device. */
static int check_tag_range(off_t offset, off_t length)
{
	if (offset < 0)
		return aftl_lib_set_refusal(-EINVAL, "the range begins before byte 0; %s",
					    "give its first byte");
	if (length < 0 && length != APPROXFTL_TO_END)
		return aftl_lib_set_refusal(-EINVAL, "the range is shorter than nothing; %s",
					    "give a length, or APPROXFTL_TO_END");
	return 0;
}

static int is_fd_device(int fd, bool *device)
{
	struct stat status;

	if (fstat(fd, &status))
		return aftl_lib_set_operation_refusal(-errno, 0, "the descriptor");
	*device = S_ISBLK(status.st_mode);
	return 0;
}

static int send_tag_request(struct approxftl *a, int fd, off_t offset, off_t length,
			    unsigned int kind, const char *what)
{
	int ret = check_tag_range(offset, length);
	unsigned int reason = 0;
	bool device = false;

	if (ret || !length || !approxftl_active(a))
		return ret;
	ret = is_fd_device(fd, &device);
	if (ret)
		return ret;
	ret = aftl_lib_control_tag(a->control, device, fd, offset, length, kind, &reason);
	return ret ? aftl_lib_set_operation_refusal(ret, reason, what) : 0;
}

int approxftl_tag(struct approxftl *a, int fd, off_t offset, off_t length,
		  enum approxftl_class kind)
{
	if (!aftl_lib_can_tag_declare_class(kind))
		return aftl_lib_set_refusal(-EINVAL, "data are approximate or precise; %s",
					    "approxftl_untag() takes it back");
	return send_tag_request(a, fd, offset, length, kind, "tag");
}

int approxftl_untag(struct approxftl *a, int fd, off_t offset, off_t length)
{
	return send_tag_request(a, fd, offset, length, APPROXFTL_NONE, "untag");
}

int approxftl_protect(struct approxftl *a, int fd, off_t offset, off_t length)
{
	return send_tag_request(a, fd, offset, length, APPROXFTL_PRECISE, "protect");
}

/* The kernel may return fewer ranges than fit into @out, so repeat the query. */
int approxftl_query(struct approxftl *a, int fd, off_t from, struct approxftl_extent *out,
		    size_t room)
{
	size_t most = room < INT_MAX ? room : INT_MAX;
	uint64_t cursor = from;
	size_t count = 0;
	bool device = false;
	int ret;

	if (from == APPROXFTL_TO_END || !approxftl_active(a))
		return 0;
	ret = from < 0 ? check_tag_range(from, 0) : is_fd_device(fd, &device);
	while (!ret && count < most && cursor != UINT64_MAX) {
		ret = aftl_lib_control_list_tagged_ranges(a->control, device, fd, &cursor,
							  out + count, most - count);
		if (ret < 0)
			return aftl_lib_set_operation_refusal(ret, 0, "query");
		count += ret;
		ret = 0;
	}
	return ret ? ret : (int)count;
}
