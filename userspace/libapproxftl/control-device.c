// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * System calls on the control device.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/approxftl.h>
#include <sys/ioctl.h>

#include "control-node.h"

int aftl_lib_device_open(void)
{
	int fd = open(APPROXFTL_PATH, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int aftl_lib_device_ioctl(int control, unsigned long number, void *argument)
{
	return ioctl(control, number, argument) ? -errno : 0;
}
