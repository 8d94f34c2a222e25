// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stores tags in an extended attribute, so that they survive an unmount.
 */
#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

#include "attribute.h"
#include "control-node.h"
#include "handle.h"
#include "refusal.h"

static int report_attribute_too_long(void)
{
	return aftl_lib_set_refusal(-E2BIG,
				    "the ranges do not fit into an attribute of %d bytes; %s",
				    AFTL_LIB_ATTRIBUTE_MAX, "tag fewer and longer ones");
}

static int print_attribute_ranges(struct approxftl *a, int fd, char *text, size_t *length)
{
	struct approxftl_extent extents[64];
	off_t from = 0;
	int i, count;

	do {
		count = approxftl_query(a, fd, from, extents, 64);
		for (i = 0; i < count; i++)
			if (!aftl_lib_attribute_print(text, length, &extents[i]))
				return report_attribute_too_long();
		if (count == 64)
			from = extents[63].length == APPROXFTL_TO_END ?
				       APPROXFTL_TO_END :
				       extents[63].offset + extents[63].length;
	} while (count == 64);
	return count < 0 ? count : 0;
}

static int remove_tag_attribute(int fd)
{
	if (fremovexattr(fd, AFTL_LIB_ATTRIBUTE) && errno != ENODATA)
		return aftl_lib_set_operation_refusal(-errno, 0, "remember");
	return 0;
}

int approxftl_remember(struct approxftl *a, int fd)
{
	char text[AFTL_LIB_ATTRIBUTE_MAX + 1] = "";
	size_t length = 0;
	int ret;

	if (!approxftl_active(a))
		return 0;
	ret = print_attribute_ranges(a, fd, text, &length);
	if (ret)
		return ret;
	if (!length)
		return remove_tag_attribute(fd);
	if (fsetxattr(fd, AFTL_LIB_ATTRIBUTE, text, length, 0))
		return aftl_lib_set_operation_refusal(-errno, 0, "remember");
	return 0;
}

/* Return: length of the attribute user.approxftl, 0 if absent, or a negative error number. */
static int read_tag_attribute_text(int fd, char *text)
{
	ssize_t length = fgetxattr(fd, AFTL_LIB_ATTRIBUTE, text, AFTL_LIB_ATTRIBUTE_MAX);

	if (length < 0 && errno != ENODATA && errno != EOPNOTSUPP)
		return aftl_lib_set_operation_refusal(-errno, 0, "recall");
	if (length < 0)
		length = 0;
	text[length] = '\0';
	return length;
}

static int check_tag_attribute(const char *text)
{
	struct approxftl_extent extent;
	const char *rest = text;
	int ret;

	do
		ret = aftl_lib_attribute_parse(&rest, &extent);
	while (ret > 0);
	if (ret)
		return aftl_lib_set_refusal(ret,
					    "the attribute makes no sense from \"%.20s\" on; %s",
					    rest, "remember the file again");
	return 0;
}

/* Apply all ranges or none: without the range of a header, the header would become approximate. */
int approxftl_recall(struct approxftl *a, int fd)
{
	char text[AFTL_LIB_ATTRIBUTE_MAX + 1];
	struct approxftl_extent extent;
	const char *rest = text;
	int count = 0;
	int ret;

	if (!approxftl_active(a))
		return 0;
	ret = read_tag_attribute_text(fd, text);
	if (ret > 0)
		ret = check_tag_attribute(text);
	if (ret < 0)
		return ret;
	while (aftl_lib_attribute_parse(&rest, &extent) > 0) {
		ret = approxftl_tag(a, fd, extent.offset, extent.length, extent.kind);
		if (ret)
			return ret;
		count++;
	}
	return count;
}

int approxftl_watch(struct approxftl *a, int fd, bool on)
{
	unsigned int reason = 0;
	int ret;

	if (!approxftl_active(a))
		return 0;
	ret = aftl_lib_control_watch_file_system(a->control, fd, on, &reason);
	return ret ? aftl_lib_set_operation_refusal(ret, reason, "watch") : 0;
}
