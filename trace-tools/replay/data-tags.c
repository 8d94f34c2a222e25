// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/ioctl.h>

#include "data-tags.h"
#include "uapi/linux/approxftl.h"

int data_tags_open(struct aftl_error *error)
{
	int control = open(APPROXFTL_PATH, O_RDWR | O_CLOEXEC);

	if (control >= 0)
		return control;
	if (errno == ENOENT)
		return aftl_fail(error, -ENOENT, "there is no " APPROXFTL_PATH
				 "; the module dm-approxftl makes it");
	return aftl_fail(error, -errno, APPROXFTL_PATH ": cannot open: %s", strerror(errno));
}

static const u8 classes[DATA_KINDS] = {
	APPROXFTL_PRECISE, APPROXFTL_APPROXIMATE, APPROXFTL_LEVEL_2, APPROXFTL_LEVEL_3,
};

int data_tags_tag_memfd(int control, int memfd, enum data_kind kind, struct aftl_error *error)
{
	struct approxftl_range range = {
		.size = sizeof(range),
		.fd = memfd,
		.class = classes[kind],
		.length = APPROXFTL_TO_END,
	};

	if (!ioctl(control, APPROXFTL_TAG, &range))
		return 0;
	if (errno == EINVAL && kind > DATA_APPROXIMATE)
		return data_tags_tag_memfd(control, memfd, DATA_APPROXIMATE, error);
	return aftl_fail(error, -errno, "cannot tag the memory of requests: %s (reason %u)",
			 strerror(errno), range.reason);
}
