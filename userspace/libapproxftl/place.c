// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds the devices that store a path, from sysfs.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "control-node.h"
#include "place.h"

/* Maximum number of block devices on top of each other; deeper stacks are not examined. */
#define MOST_DEEP 16

enum answer {
	NO = 0,
	YES = 1,
	UNKNOWN = 2,
};

/* Return whether the device is a dm-approxftl device. This needs permission to open its node. */
static enum answer is_node_of_target_device(int control, const char *path)
{
	struct approxftl_extent extent;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint64_t cursor = 0;
	int ret;

	if (fd < 0)
		return errno == ENOENT ? NO : UNKNOWN;
	ret = aftl_lib_control_list_tagged_ranges(control, true, fd, &cursor, &extent, 1);
	close(fd);
	return ret < 0 ? NO : YES;
}

static bool get_device_node_name(const char *folder, char name[NAME_MAX])
{
	char line[NAME_MAX + 16];
	char path[PATH_MAX];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/uevent", folder);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "DEVNAME=%254s", name) == 1;
	fclose(file);
	return found;
}

static void get_sysfs_directory_of_device(dev_t number, char folder[64])
{
	snprintf(folder, 64, "/sys/dev/block/%u:%u", major(number), minor(number));
}

int aftl_lib_open_device_by_dev_t(dev_t number)
{
	char name[NAME_MAX], node[NAME_MAX + 8], folder[64];
	int fd;

	get_sysfs_directory_of_device(number, folder);
	if (!get_device_node_name(folder, name))
		return -ENODEV;
	snprintf(node, sizeof(node), "/dev/%s", name);
	fd = open(node, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static enum answer is_sysfs_device_on_target(int control, const char *folder, unsigned int depth);

/* Return whether any device below a device is a dm-approxftl device. */
static enum answer is_device_below_on_target(int control, const char *folder, unsigned int depth)
{
	enum answer answer = NO;
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *slaves;

	if (snprintf(path, sizeof(path), "%s/slaves", folder) >= (int)sizeof(path))
		return UNKNOWN;
	slaves = opendir(path);
	if (!slaves)
		return NO;
	while (answer != YES && (entry = readdir(slaves))) {
		char below[PATH_MAX + NAME_MAX + 2];
		enum answer one;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		one = is_sysfs_device_on_target(control, below, depth + 1);
		answer = one == NO ? answer : one;
	}
	closedir(slaves);
	return answer;
}

/* Return whether a device is a dm-approxftl device, or any device below it is. */
static enum answer is_sysfs_device_on_target(int control, const char *folder, unsigned int depth)
{
	char name[NAME_MAX];
	char node[NAME_MAX + 8];
	enum answer answer;

	if (depth > MOST_DEEP || !get_device_node_name(folder, name))
		return UNKNOWN;
	if (strncmp(name, "dm-", 3) != 0)
		return is_device_below_on_target(control, folder, depth);
	snprintf(node, sizeof(node), "/dev/%s", name);
	answer = is_node_of_target_device(control, node);
	return answer == NO ? is_device_below_on_target(control, folder, depth) : answer;
}

static enum answer is_device_number_on_target(int control, dev_t number)
{
	char folder[64];

	get_sysfs_directory_of_device(number, folder);
	if (access(folder, F_OK))
		return NO;
	return is_sysfs_device_on_target(control, folder, 0);
}

/* btrfs reports made-up device numbers: check the source of its mount instead. */
static enum answer is_mount_source_on_target(int control, const char *line)
{
	const char *rest = strstr(line, " - ");
	char kind[64], source[PATH_MAX];
	struct stat status;

	if (!rest || sscanf(rest, " - %63s %4095s", kind, source) != 2)
		return UNKNOWN;
	if (!strcmp(kind, "overlay") || !strncmp(kind, "fuse", 4))
		return UNKNOWN;
	if (source[0] != '/' || stat(source, &status) || !S_ISBLK(status.st_mode))
		return NO;
	return is_device_number_on_target(control, status.st_rdev);
}

static enum answer is_mount_of_path_on_target(int control, const char *path)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	enum answer answer = UNKNOWN;
	unsigned long long mount;
	struct statx status;
	char *line = NULL;
	size_t room = 0;

	if (!mounts)
		return UNKNOWN;
	if (!statx(AT_FDCWD, path, 0, STATX_MNT_ID, &status) && status.stx_mask & STATX_MNT_ID)
		while (getline(&line, &room, mounts) > 0)
			if (sscanf(line, "%llu ", &mount) == 1 && mount == status.stx_mnt_id)
				answer = is_mount_source_on_target(control, line);
	free(line);
	fclose(mounts);
	return answer;
}

/* Return whether a dm-approxftl device stores a file; this may work without privileges. */
static enum answer is_device_of_file_on_target(int control, const char *path)
{
	unsigned int unit_bytes, reason;
	struct approxftl_unit unit;
	uint64_t cursor = 0;
	int fd, ret;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return UNKNOWN;
	ret = aftl_lib_control_list_stored_units(control, fd, &cursor, 1, &unit, 1, &unit_bytes,
						 &reason);
	close(fd);
	return ret < 0 ? UNKNOWN : YES;
}

int aftl_lib_is_path_on_target(int control, const char *path)
{
	enum answer answer;
	struct stat status;

	if (stat(path, &status))
		return -errno;
	if (S_ISBLK(status.st_mode))
		return is_device_number_on_target(control, status.st_rdev) != NO;
	if ((S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) &&
	    is_device_of_file_on_target(control, path) == YES)
		return 1;
	answer = major(status.st_dev) ? is_device_number_on_target(control, status.st_dev) :
					is_mount_of_path_on_target(control, path);
	return answer != NO;
}
