// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <libdevmapper.h>
#include <stdlib.h>
#include <unistd.h>

#include "checked-memory.h"
#include "dm-device.h"
#include "kernel-log.h"
#include "target-line.h"

#define CONTROL "/dev/mapper/control"

/* Last error message of libdevmapper, which is kept here instead of being printed. */
static char complaint[200];

__printf(5, 6) static void record_dm_error(int level, const char *file, int line, int number,
					   const char *format, ...)
{
	va_list args;

	(void)file;
	(void)line;
	(void)number;
	/* Log levels of libdevmapper up to 3 are errors. */
	if ((level & 0x7) > 3)
		return;
	va_start(args, format);
	vscnprintf(complaint, sizeof(complaint), format, args);
	va_end(args);
}

/* The control node can exist without the driver; opening it loads an installed driver. */
static bool has_device_mapper(void)
{
	int fd = open(CONTROL, O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return true;
	}
	return errno == ENOENT ? !access("/sys/module/dm_mod", F_OK) :
				 errno != ENODEV && errno != ENXIO;
}

int check_device_mapper_ready(struct aftl_error *error)
{
	dm_log_with_errno_init(record_dm_error);
	if (!has_device_mapper())
		return aftl_fail(error, -ENODEV,
				 "the kernel has no device-mapper; try: modprobe dm-mod");
	if (geteuid() && access(CONTROL, R_OK | W_OK))
		return aftl_fail(error, -EACCES,
				 "you may not use device-mapper; be root, such as by sudo");
	return 0;
}

/* ioctl()s */

/**
 * struct task - a request to device-mapper
 * @dmt: libdevmapper's task
 * @log: descriptor of kernel_log_open_at_end()
 */
struct task {
	struct dm_task *dmt;
	int log;
};

static int report_no_memory(struct aftl_error *error)
{
	return aftl_fail(error, -ENOMEM, "not enough memory for a request to device-mapper");
}

static int dm_task_begin(struct task *task, int type, const char *name, struct aftl_error *error)
{
	complaint[0] = '\0';
	task->log = -1;
	task->dmt = dm_task_create(type);
	if (!task->dmt)
		return complaint[0] ? aftl_fail(error, -EIO, "%s", complaint) :
				      report_no_memory(error);
	if (!name || dm_task_set_name(task->dmt, name))
		return 0;
	dm_task_destroy(task->dmt);
	return aftl_fail(error, -EINVAL, "\"%.60s\" cannot be the name of a device", name);
}

static void dm_task_end(struct task *task)
{
	if (task->log >= 0)
		close(task->log);
	dm_task_destroy(task->dmt);
}

static int report_kernel_refusal(const struct task *task, struct aftl_error *error)
{
	int number = dm_task_get_errno(task->dmt);

	if (number == EACCES || number == EPERM)
		return aftl_fail(error, -EACCES,
				 "you may not use device-mapper; be root, such as by sudo");
	return aftl_fail(error, number ? -number : -EIO, "%s",
			 complaint[0] ? complaint : strerror(number ? number : EIO));
}

/* On failure, report the target's own message if the kernel log is readable. */
static int dm_task_run_and_report_failure(struct task *task, struct aftl_error *error)
{
	struct aftl_error sentence;
	int ret;

	task->log = kernel_log_open_at_end();
	if (dm_task_run(task->dmt))
		return 0;
	ret = report_kernel_refusal(task, error);
	if (kernel_log_read_target_error(task->log, &sentence))
		*error = sentence;
	else if (task->log < 0)
		scnprintf(error->text + strlen(error->text),
			  sizeof(error->text) - strlen(error->text),
			  "; the kernel's log, which may not be read here, says why: dmesg | tail");
	task->log = -1;
	return ret;
}

/* Run a task and wait until its device nodes exist, made by udev or else by libdevmapper. */
static int dm_task_run_and_wait_for_udev(struct task *task, struct aftl_error *error)
{
	u32 cookie = 0;
	int ret;

	if (!dm_task_set_cookie(task->dmt, &cookie, 0))
		return aftl_fail(error, -EIO, "%s", complaint);
	ret = dm_task_run_and_report_failure(task, error);
	dm_udev_wait(cookie);
	dm_task_update_nodes();
	return ret;
}

/* Queries */

static bool is_dm_device_of_approxftl(struct dm_task *dmt, u64 *sectors)
{
	u64 start;
	char *type = NULL;
	char *params = NULL;

	dm_get_next_target(dmt, NULL, &start, sectors, &type, &params);
	return type && !strcmp(type, TARGET_NAME);
}

/* Find device @name. Return: 0, 1 if its target is another, -ENXIO (no message), or an error. */
static int get_dm_device_info(struct dm_device *device, const char *name, struct aftl_error *error)
{
	struct dm_info info;
	struct task task;
	u64 sectors = 0;
	int ret = dm_task_begin(&task, DM_DEVICE_TABLE, name, error);

	if (ret)
		return ret;
	ret = dm_task_run_and_report_failure(&task, error);
	if (!ret && !dm_task_get_info(task.dmt, &info))
		ret = report_no_memory(error);
	if (!ret && !info.exists)
		ret = -ENXIO;
	if (!ret && !is_dm_device_of_approxftl(task.dmt, &sectors))
		ret = 1;
	if (!ret) {
		*device = (struct dm_device){
			.major = info.major,
			.minor = info.minor,
			.sectors = sectors,
			.open_count = (u32)info.open_count,
			.suspended = info.suspended,
			.deferred = info.deferred_remove,
		};
		scnprintf(device->name, sizeof(device->name), "%s", name);
	}
	dm_task_end(&task);
	return ret;
}

int dm_device_find_by_name(struct dm_device *device, const char *name, struct aftl_error *error)
{
	int ret;

	if (!strncmp(name, "/dev/mapper/", 12))
		name += 12;
	ret = get_dm_device_info(device, name, error);
	if (ret == -ENXIO)
		return aftl_fail(error, -ENXIO,
				 "there is no device %.60s; \"approxftl list\" shows which there are",
				 name);
	if (ret == 1)
		return aftl_fail(error, -ENXIO,
				 "%.60s is a device of another target, not approxftl", name);
	return ret;
}

/* Map @sector to the device below it by a linear target of the table that task @dmt has read. */
static int map_sector_by_linear_target(struct dm_task *dmt, u64 *sector, u64 *sectors, u32 *major,
				       u32 *minor)
{
	char *type, *params;
	void *next = NULL;

	do {
		unsigned long long below;
		u64 start, length;

		type = NULL;
		next = dm_get_next_target(dmt, next, &start, &length, &type, &params);
		if (!type || *sector < start || *sector - start >= length)
			continue;
		if (strcmp(type, "linear") != 0 ||
		    sscanf(params, "%u:%u %llu", major, minor, &below) != 3)
			return 0;
		*sectors = start + length - *sector;
		*sector = *sector - start + below;
		return 1;
	} while (next);
	return 0;
}

int dm_device_map_sector_to_lower_device(const char *name, u64 *sector, u64 *sectors, u32 *major,
					 u32 *minor, struct aftl_error *error)
{
	struct task task;
	int ret = dm_task_begin(&task, DM_DEVICE_TABLE, name, error);

	if (ret)
		return ret;
	ret = dm_task_run_and_report_failure(&task, error);
	if (!ret)
		ret = map_sector_by_linear_target(task.dmt, sector, sectors, major, minor);
	dm_task_end(&task);
	return ret;
}

static int compare_device_names(const void *a, const void *b)
{
	return strcmp(((const struct dm_device *)a)->name, ((const struct dm_device *)b)->name);
}

/* A device that was removed meanwhile is left out of the list. */
static void add_devices_from_dm_names(const struct dm_names *names, struct dm_device **devices,
				      unsigned int *count)
{
	struct aftl_error unused;
	struct dm_device device;

	while (names->dev) {
		if (!get_dm_device_info(&device, names->name, &unused)) {
			*devices = memory_resize(*devices, *count + 1, sizeof(device));
			(*devices)[(*count)++] = device;
		}
		if (!names->next)
			break;
		names = (const void *)((const char *)names + names->next);
	}
}

int dm_device_list(struct dm_device **devices, unsigned int *count, struct aftl_error *error)
{
	struct dm_names *names;
	struct task task;
	int ret = dm_task_begin(&task, DM_DEVICE_LIST, NULL, error);

	*devices = NULL;
	*count = 0;
	if (ret)
		return ret;
	ret = dm_task_run_and_report_failure(&task, error);
	names = ret ? NULL : dm_task_get_names(task.dmt);
	if (names)
		add_devices_from_dm_names(names, devices, count);
	if (*count)
		qsort(*devices, *count, sizeof(**devices), compare_device_names);
	dm_task_end(&task);
	return ret;
}

int dm_device_get_table_or_status(const char *name, enum dm_device_text what, char **text,
				  struct aftl_error *error)
{
	char *type = NULL, *params = NULL;
	struct task task;
	u64 start, length;
	int ret = dm_task_begin(&task, what == DM_DEVICE_TEXT_TABLE ? DM_DEVICE_TABLE :
								   DM_DEVICE_STATUS,
				name, error);

	if (ret)
		return ret;
	ret = dm_task_run_and_report_failure(&task, error);
	if (!ret) {
		dm_get_next_target(task.dmt, NULL, &start, &length, &type, &params);
		if (!type || strcmp(type, TARGET_NAME) != 0)
			ret = aftl_fail(error, -ENXIO, "device %.60s was removed meanwhile", name);
		else
			*text = memory_copy_text(params);
	}
	dm_task_end(&task);
	return ret;
}

/* Changes */

int dm_device_check_name(const char *name, struct aftl_error *error)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#+-.:=@_";

	if (*name && *name != '-' && strlen(name) < DM_DEVICE_NAME &&
	    !name[strspn(name, letters)] && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "\"%.60s\" cannot be the name of a device; use up to %u letters, digits and #+-.:=@_",
			 name, DM_DEVICE_NAME - 1);
}

int dm_device_check_name_is_unused(const char *name, struct aftl_error *error)
{
	struct dm_info info;
	struct task task;
	int ret = dm_task_begin(&task, DM_DEVICE_INFO, name, error);

	if (ret)
		return ret;
	ret = dm_task_run_and_report_failure(&task, error);
	if (!ret && dm_task_get_info(task.dmt, &info) && info.exists)
		ret = aftl_fail(error, -EEXIST,
				"there is a device %.60s already; choose another name, or remove it first",
				name);
	dm_task_end(&task);
	return ret;
}

static bool is_target_loaded(void)
{
	return !access("/sys/module/dm_approxftl", F_OK);
}

int dm_device_create(const char *name, u64 sectors, const char *arguments,
		     struct aftl_error *error)
{
	struct task task;
	int ret = dm_device_check_name(name, error);

	if (!ret)
		ret = dm_device_check_name_is_unused(name, error);
	if (!ret)
		ret = dm_task_begin(&task, DM_DEVICE_CREATE, name, error);
	if (ret)
		return ret;
	if (!dm_task_add_target(task.dmt, 0, sectors, TARGET_NAME, arguments))
		ret = report_no_memory(error);
	else
		ret = dm_task_run_and_wait_for_udev(&task, error);
	/* The kernel tried to load the module: a target that is still missing is not installed. */
	if (ret && !is_target_loaded())
		ret = aftl_fail(error, -ENOENT,
				"the kernel has no target approxftl; try: modprobe dm-approxftl (\"approxftl doctor\" knows more)");
	dm_task_end(&task);
	return ret;
}

int dm_device_remove(const char *name, enum dm_device_remove how, struct aftl_error *error)
{
	struct task task;
	int ret = dm_task_begin(&task, DM_DEVICE_REMOVE, name, error);

	if (ret)
		return ret;
	/* udev may still probe a new device: let libdevmapper retry the removal. */
	if (how == DM_DEVICE_REMOVE_DEFERRED)
		ret = dm_task_deferred_remove(task.dmt) ? 0 : report_no_memory(error);
	else if (dm_udev_get_sync_support())
		ret = dm_task_retry_remove(task.dmt) ? 0 : report_no_memory(error);
	if (!ret)
		ret = dm_task_run_and_wait_for_udev(&task, error);
	dm_task_end(&task);
	return ret;
}

static int load_error_table(const struct dm_device *device, struct aftl_error *error)
{
	struct task task;
	int ret = dm_task_begin(&task, DM_DEVICE_RELOAD, device->name, error);

	if (ret)
		return ret;
	ret = dm_task_add_target(task.dmt, 0, device->sectors, "error", "") ?
		      dm_task_run_and_report_failure(&task, error) :
		      report_no_memory(error);
	dm_task_end(&task);
	return ret;
}

/* Switch tables without flushing I/O or freezing the file system. */
static int resume_dm_device_without_flush(const struct dm_device *device, struct aftl_error *error)
{
	struct task task;
	int ret = dm_task_begin(&task, DM_DEVICE_RESUME, device->name, error);

	if (ret)
		return ret;
	ret = dm_task_no_flush(task.dmt) && dm_task_skip_lockfs(task.dmt) ?
		      dm_task_run_and_wait_for_udev(&task, error) : report_no_memory(error);
	dm_task_end(&task);
	return ret;
}

int dm_device_switch_to_error_target(const struct dm_device *device, struct aftl_error *error)
{
	int ret = load_error_table(device, error);

	return ret ? ret : resume_dm_device_without_flush(device, error);
}

int dm_device_message(const struct dm_device *device, const char *message, char **answer,
		      struct aftl_error *error)
{
	const char *said;
	struct task task;
	int ret = dm_task_begin(&task, DM_DEVICE_TARGET_MSG, device->name, error);

	if (ret)
		return ret;
	if (!dm_task_set_sector(task.dmt, 0) || !dm_task_set_message(task.dmt, message))
		ret = report_no_memory(error);
	else
		ret = dm_task_run_and_report_failure(&task, error);
	if (!ret) {
		said = dm_task_get_message_response(task.dmt);
		*answer = memory_copy_text(said ? said : "");
	}
	dm_task_end(&task);
	return ret;
}

void dm_device_get_library_version(char *text, size_t size)
{
	if (!dm_get_library_version(text, size))
		scnprintf(text, size, "of unknown version");
}
