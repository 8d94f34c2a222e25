// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "device-holders.h"

#define LINE_SIZE 4096

/* Lines of mountinfo look like "36 35 98:0 /root /mount/point options ...". */
static bool is_device_mounted(const struct dm_device *device, char *phrase, size_t size)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char line[LINE_SIZE];
	bool found = false;

	while (mounts && !found && fgets(line, sizeof(line), mounts)) {
		unsigned int major, minor;
		char where[256];

		found = sscanf(line, "%*u %*u %u:%u %*s %255s", &major, &minor, where) == 3 &&
			major == device->major && minor == device->minor;
		if (found)
			scnprintf(phrase, size, "mounted on %s; umount %s first", where, where);
	}
	if (mounts)
		fclose(mounts);
	return found;
}

static bool is_path_a_node_of_device(const struct dm_device *device, const char *path)
{
	struct stat found;

	return !stat(path, &found) && S_ISBLK(found.st_mode) &&
	       found.st_rdev == makedev(device->major, device->minor);
}

static bool is_device_used_for_swap(const struct dm_device *device, char *phrase, size_t size)
{
	FILE *swaps = fopen("/proc/swaps", "re");
	char line[LINE_SIZE];
	bool found = false;

	while (swaps && !found && fgets(line, sizeof(line), swaps)) {
		line[strcspn(line, " \t\n")] = '\0';
		found = is_path_a_node_of_device(device, line);
		if (found)
			scnprintf(phrase, size, "used as swap; swapoff %s first", line);
	}
	if (swaps)
		fclose(swaps);
	return found;
}

/* Return true if another block device is on top of this device; sysfs has a link for each. */
static bool has_stacked_device(const struct dm_device *device, char *phrase, size_t size)
{
	char path[80];
	const struct dirent *entry;
	bool found = false;
	DIR *holders;

	scnprintf(path, sizeof(path), "/sys/dev/block/%u:%u/holders", device->major,
		  device->minor);
	holders = opendir(path);
	while (holders && !found && (entry = readdir(holders))) {
		found = entry->d_name[0] != '.';
		if (found)
			scnprintf(phrase, size, "below block device %.60s", entry->d_name);
	}
	if (holders)
		closedir(holders);
	return found;
}

/* Return true if the kernel's NVMe target exports the device, for which sysfs has no holder. */
static bool is_nvme_namespace(const struct dm_device *device, char *phrase, size_t size)
{
	glob_t paths = { .gl_pathc = 0 };
	char path[300];
	bool found = false;

	if (!glob("/sys/kernel/config/nvmet/subsystems/*/namespaces/*/device_path", 0, NULL,
		  &paths))
		for (size_t i = 0; i < paths.gl_pathc && !found; i++) {
			FILE *file = fopen(paths.gl_pathv[i], "re");

			found = file && fgets(path, sizeof(path), file);
			if (file)
				fclose(file);
			if (found)
				path[strcspn(path, "\n")] = '\0';
			found = found && is_path_a_node_of_device(device, path);
		}
	globfree(&paths);
	if (found)
		scnprintf(phrase, size, "exported as NVMe; approxftl nvme %s --remove first",
			  device->name);
	return found;
}

static void get_process_name(const char *pid, char *name, size_t size)
{
	char path[300];
	FILE *comm;

	name[0] = '\0';
	scnprintf(path, sizeof(path), "/proc/%s/comm", pid);
	comm = fopen(path, "re");
	if (!comm)
		return;
	if (fgets(name, (int)size, comm))
		name[strcspn(name, "\n")] = '\0';
	fclose(comm);
}

static bool does_process_have_device_open(const struct dm_device *device, const char *pid)
{
	const struct dirent *entry;
	bool found = false;
	char path[300];
	DIR *files;

	scnprintf(path, sizeof(path), "/proc/%s/fd", pid);
	files = opendir(path);
	while (files && !found && (entry = readdir(files))) {
		struct stat file;

		found = !fstatat(dirfd(files), entry->d_name, &file, 0) && S_ISBLK(file.st_mode) &&
			file.st_rdev == makedev(device->major, device->minor);
	}
	if (files)
		closedir(files);
	return found;
}

static bool is_device_open_in_any_process(const struct dm_device *device, char *phrase, size_t size)
{
	const struct dirent *entry;
	DIR *processes = opendir("/proc");
	bool found = false;
	char name[32];

	while (processes && !found && (entry = readdir(processes))) {
		found = isdigit((unsigned char)entry->d_name[0]) &&
			does_process_have_device_open(device, entry->d_name);
		if (!found)
			continue;
		get_process_name(entry->d_name, name, sizeof(name));
		scnprintf(phrase, size, "held open by process %.20s (%s)", entry->d_name, name);
	}
	if (processes)
		closedir(processes);
	return found;
}

bool is_dm_device_in_use(const struct dm_device *device, char *phrase, size_t size)
{
	return is_device_mounted(device, phrase, size) ||
	       is_device_used_for_swap(device, phrase, size) ||
	       has_stacked_device(device, phrase, size) ||
	       is_nvme_namespace(device, phrase, size) ||
	       is_device_open_in_any_process(device, phrase, size);
}
