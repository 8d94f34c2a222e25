// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture-device.h"
#include "checked-memory.h"
#include "target-line.h"

/* Read a sysfs attribute of the device, without its line end; false if it does not exist. */
static bool read_device_attribute(const struct capture_device *device, const char *attribute,
				  char *text, size_t size)
{
	char path[128];
	FILE *file;
	bool got;

	scnprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s", device->major, device->minor,
		  attribute);
	file = fopen(path, "re");
	if (!file)
		return false;
	got = fgets(text, (int)size, file);
	fclose(file);
	text[got ? strcspn(text, "\n") : 0] = '\0';
	return got;
}

/* Get the kernel's name of the device, which blktrace uses, from the target of its sysfs link. */
static int find_sysfs_device_name(struct capture_device *device, const char *path,
				  struct aftl_error *error)
{
	char link[64], target[PATH_MAX];
	ssize_t length;
	char *slash;

	scnprintf(link, sizeof(link), "/sys/dev/block/%u:%u", device->major, device->minor);
	length = readlink(link, target, sizeof(target) - 1);
	if (length <= 0)
		return aftl_fail(error, -ENOENT,
				 "%.120s is on no block device that can be traced; name the device",
				 path);
	target[length] = '\0';
	slash = strrchr(target, '/');
	scnprintf(device->name, sizeof(device->name), "%s", slash ? slash + 1 : target);
	scnprintf(device->path, sizeof(device->path), "/dev/%s", device->name);
	return 0;
}

/* Find the mount point in a line of mountinfo: "36 35 98:0 /root /mount/point options ..." */
static void find_mount_point(struct capture_device *device)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	unsigned int major, minor;
	char *line = NULL;
	size_t size = 0;
	char where[1024];

	while (mounts && getline(&line, &size, mounts) > 0) {
		if (sscanf(line, "%*u %*u %u:%u %*s %1023s", &major, &minor, where) != 3 ||
		    major != device->major || minor != device->minor)
			continue;
		scnprintf(device->mount, sizeof(device->mount), "%s", where);
		break;
	}
	free(line);
	if (mounts)
		fclose(mounts);
}

int capture_device_find(struct capture_device *device, const char *path, struct aftl_error *error)
{
	struct stat found;
	dev_t number;
	int ret;
	char text[32];
	struct aftl_error unused;
	char name[DM_DEVICE_NAME];

	*device = (struct capture_device){ .size_bytes = 0 };
	if (stat(path, &found))
		return aftl_fail(error, -errno, "%.120s: %s", path, strerror(errno));
	number = S_ISBLK(found.st_mode) ? found.st_rdev : found.st_dev;
	device->major = major(number);
	device->minor = minor(number);
	ret = find_sysfs_device_name(device, path, error);
	if (ret)
		return ret;
	if (read_device_attribute(device, "size", text, sizeof(text)))
		device->size_bytes = strtoull(text, NULL, 10) * TARGET_SECTOR;
	find_mount_point(device);
	/* Query the device-mapper target. A device that is no emulated SSD is not an error. */
	device->emulated = read_device_attribute(device, "dm/name", name, sizeof(name)) &&
			   !dm_device_find_by_name(&device->dm, name, &unused);
	return 0;
}

int read_target_state_of_captured_device(struct capture_state *state,
					 const struct capture_device *device,
					 struct aftl_error *error)
{
	int ret;

	*state = (struct capture_state){ NULL, NULL, NULL };
	if (!device->emulated)
		return 0;
	ret = dm_device_get_table_or_status(device->dm.name, DM_DEVICE_TEXT_TABLE, &state->table,
					    error);
	if (!ret)
		ret = dm_device_get_table_or_status(device->dm.name, DM_DEVICE_TEXT_STATUS,
						    &state->status, error);
	return ret ? ret : dm_device_message(&device->dm, "stats", &state->stats, error);
}

void free_target_state_of_captured_device(struct capture_state *state)
{
	free(state->table);
	free(state->status);
	free(state->stats);
}

void capture_device_sync(const struct capture_device *device)
{
	int fd = open(*device->mount ? device->mount : device->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	/* Ignore write errors of syncfs(): the application gets them without a capture, too. */
	if (*device->mount ? syncfs(fd) : fsync(fd))
		fprintf(stderr, "approxftl trace: %s: cannot sync: %s\n", device->path,
			strerror(errno));
	close(fd);
}

/* Parse lines "name value". */
static void write_capture_stats_json(struct json_writer *json, const char *stats)
{
	char name[64];
	unsigned long long value;
	int used;

	json_begin_object(json, "stats");
	while (sscanf(stats, "%63s %llu%n", name, &value, &used) == 2) {
		json_u64(json, name, value);
		stats += used;
	}
	json_end_object(json);
}

static void write_capture_state_json(struct json_writer *json, const char *key,
				     const struct capture_state *state)
{
	json_begin_object(json, key);
	json_string(json, "table", state->table);
	json_string(json, "status", state->status);
	write_capture_stats_json(json, state->stats);
	json_end_object(json);
}

/* Write the parameters of the traced device that a simulation of the same device needs. */
static void write_target_json(struct json_writer *json, const struct capture_state *state)
{
	struct target_line *line = memory_alloc_zeroed(1, sizeof(*line));
	char timing[AFTL_VALUE_SIZE];
	struct aftl_error unused;

	target_line_init(line);
	if (!target_line_parse(line, state->table, &unused)) {
		target_line_format_timing(line, timing);
		json_begin_object(json, "target");
		json_string(json, "store", line->store);
		json_string(json, "profile", line->profile);
		json_string(json, "policy", line->policy->name);
		json_string(json, "timing", timing);
		json_u64(json, "seed", line->config.seed);
		json_end_object(json);
	}
	free(line);
}

void capture_device_write_json(const struct capture_device *device,
			       const struct capture_state *before,
			       const struct capture_state *after, struct json_writer *json)
{
	struct utsname machine;

	json_begin_object(json, "device");
	json_string(json, "name", device->emulated ? device->dm.name : device->name);
	json_u64(json, "major", device->major);
	json_u64(json, "minor", device->minor);
	json_u64(json, "size_bytes", device->size_bytes);
	if (*device->mount)
		json_string(json, "mounted_on", device->mount);
	json_end_object(json);
	if (!uname(&machine))
		json_string(json, "kernel", machine.release);
	if (!device->emulated)
		return;
	write_target_json(json, before);
	write_capture_state_json(json, "before", before);
	write_capture_state_json(json, "after", after);
}
