// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opens and closes handles.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control-node.h"
#include "handle.h"
#include "place.h"
#include "refusal.h"

static int report_no_kernel_target(int error)
{
	if (error == -ENOENT || error == -ENXIO || error == -ENODEV)
		return aftl_lib_set_refusal(-ENODEV, "there is no %s; %s", "/dev/approxftl",
					    "load the module dm-approxftl and make a device");
	if (error == -EACCES)
		return aftl_lib_set_refusal(error, "%s cannot be opened: %s; %s", "/dev/approxftl",
					    strerror(-error),
					    "its group may: adduser USER approxftl, and log in again");
	return aftl_lib_set_refusal(error, "%s cannot be opened: %s", "/dev/approxftl",
				    strerror(-error));
}

/* Close the control device if @path is not on a dm-approxftl device. */
static int check_path_is_on_target_device(struct approxftl *a, const char *path)
{
	int ret = aftl_lib_is_path_on_target(a->control, path);

	if (ret > 0)
		return 0;
	close(a->control);
	a->control = -1;
	if (ret < 0)
		return aftl_lib_set_refusal(ret, "%s: %s", path, strerror(-ret));
	return aftl_lib_set_refusal(-ENODEV, "%s is not on a device of dm-approxftl; %s", path,
				    "\"approxftl list\" lists them");
}

static int connect_control_device(struct approxftl *a, const char *path)
{
	struct approxftl_info info;
	int ret;

	a->control = aftl_lib_device_open();
	if (a->control < 0)
		return report_no_kernel_target(a->control);
	ret = aftl_lib_control_get_caps(a->control, &info);
	if (!ret)
		return path ? check_path_is_on_target_device(a, path) : 0;
	close(a->control);
	a->control = -1;
	return aftl_lib_set_refusal(ret, "/dev/approxftl does not answer: %s", strerror(-ret));
}

/* A missing device is an error only with APPROXFTL_REQUIRE; a missing path is always an error. */
static bool may_device_be_missing(const char *path, unsigned int flags)
{
	return !(flags & APPROXFTL_REQUIRE) && (!path || !access(path, F_OK));
}

static int init_library_handle(struct approxftl *a, const char *path, unsigned int flags)
{
	int ret = pthread_mutex_init(&a->lock, NULL);

	if (ret)
		return -ret;
	ret = aftl_lib_regions_init(a);
	if (!ret) {
		ret = connect_control_device(a, path);
		if (!ret)
			return 0;
		a->control = -1;
		if (may_device_be_missing(path, flags))
			return 0;
		aftl_lib_regions_free(a);
	}
	pthread_mutex_destroy(&a->lock);
	return ret;
}

int approxftl_open(const char *path, unsigned int flags, struct approxftl **out)
{
	struct approxftl *a;
	int ret;

	*out = NULL;
	if (flags & ~APPROXFTL_REQUIRE)
		return aftl_lib_set_refusal(-EINVAL, "unknown flags 0x%x; update the library",
					    flags);
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	ret = init_library_handle(a, path, flags);
	if (ret)
		free(a);
	else
		*out = a;
	return ret;
}

void approxftl_close(struct approxftl *a)
{
	if (!a)
		return;
	aftl_lib_regions_free(a);
	pthread_mutex_destroy(&a->lock);
	if (a->control >= 0)
		close(a->control);
	free(a);
}

bool approxftl_active(const struct approxftl *a)
{
	return a->control >= 0;
}

int approxftl_caps(struct approxftl *a, struct approxftl_info *info)
{
	int ret;

	memset(info, 0, sizeof(*info));
	if (!approxftl_active(a))
		return 0;
	ret = aftl_lib_control_get_caps(a->control, info);
	return ret ? aftl_lib_set_operation_refusal(ret, 0, "capabilities") : 0;
}
