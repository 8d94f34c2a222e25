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

int data_tags_mark(int control, int memfd, enum data_kind kind, struct aftl_error *error)
{
	struct approxftl_range range = {
		.size = sizeof(range),
		.fd = memfd,
		.class = kind == DATA_APPROXIMATE ? APPROXFTL_APPROXIMATE : APPROXFTL_PRECISE,
		.length = APPROXFTL_TO_END,
	};

	if (!ioctl(control, APPROXFTL_TAG, &range))
		return 0;
	return aftl_fail(error, -errno, "cannot tag the memory of requests: %s (reason %u)",
			 strerror(errno), range.reason);
}
