// SPDX-License-Identifier: GPL-2.0-only
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dm-device.h"
#include "doctor.h"
#include "human-units.h"

#define PATH_SIZE 512

/* Memory in bytes that the smallest devices need. */
#define MEMORY_LEAST (256ULL << 20)

#define MODULE "dm-approxftl"

__printf(2, 3) static void set_diagnosis_text(struct diagnosis *diagnosis, const char *format, ...)
{
	va_list args;

	diagnosis->finding = FINDING_OK;
	va_start(args, format);
	vscnprintf(diagnosis->found, sizeof(diagnosis->found), format, args);
	va_end(args);
}

static void report_component_missing(struct diagnosis *diagnosis, const char *what)
{
	diagnosis->finding = FINDING_MISSING;
	scnprintf(diagnosis->found, sizeof(diagnosis->found), "%s", what);
}

__printf(2, 3) static void set_remedy(struct diagnosis *diagnosis, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vscnprintf(diagnosis->remedy, sizeof(diagnosis->remedy), format, args);
	va_end(args);
}

/* Set the diagnosis to @good if the checked item is @there, else to @bad with its @remedy. */
static void set_diagnosis(struct diagnosis *diagnosis, bool there, const char *good,
			  const char *bad, const char *remedy)
{
	if (there) {
		set_diagnosis_text(diagnosis, "%s", good);
		return;
	}
	report_component_missing(diagnosis, bad);
	set_remedy(diagnosis, "%s", remedy);
}

/* Files of the machine */

__printf(2, 3) static bool machine_has_file(const struct machine *machine, const char *format, ...)
{
	char path[PATH_SIZE];
	va_list args;
	size_t used = (size_t)scnprintf(path, sizeof(path), "%s", machine->root);

	va_start(args, format);
	vscnprintf(path + used, sizeof(path) - used, format, args);
	va_end(args);
	return !access(path, F_OK);
}

static FILE *open_machine_file(const struct machine *machine, const char *name)
{
	char path[PATH_SIZE];

	scnprintf(path, sizeof(path), "%s%s", machine->root, name);
	return fopen(path, "re");
}

/* Copy the first line of file @name that contains @word; return false if there is none. */
static bool find_line_in_file(const struct machine *machine, const char *name, const char *word,
			      char *line, size_t size)
{
	FILE *file = open_machine_file(machine, name);
	bool seen = false;

	while (file && !seen && fgets(line, (int)size, file))
		seen = strstr(line, word);
	if (file)
		fclose(file);
	line[strcspn(seen ? line : "", "\n")] = '\0';
	return seen;
}

static bool is_program_in_path(const struct machine *machine, const char *program)
{
	const char *path = getenv("PATH");
	char folders[4096];
	char *rest = folders, *folder;

	scnprintf(folders, sizeof(folders), "%s:/usr/sbin:/sbin", path ? path : "/usr/bin:/bin");
	while ((folder = strsep(&rest, ":")))
		if (*folder == '/' && machine_has_file(machine, "%s/%s", folder, program))
			return true;
	return false;
}

/* Checks */

static void diagnose_root_privileges(const struct machine *machine, struct diagnosis *diagnosis)
{
	(void)machine;
	set_diagnosis(diagnosis, !geteuid(), "you are root",
		      "you are not root, who alone may make devices", "sudo approxftl ...");
}

static void diagnose_module_loading(const struct machine *machine, struct diagnosis *diagnosis)
{
	char line[4096];

	if (!machine_has_file(machine, "/proc/modules")) {
		report_component_missing(diagnosis, "this kernel cannot load modules");
		set_remedy(diagnosis,
			   "boot a kernel of the distribution, or use a virtual machine");
	} else if (find_line_in_file(machine, "/proc/cmdline", "nomodule", line, sizeof(line))) {
		report_component_missing(diagnosis, "the kernel was started with \"nomodule\"");
		set_remedy(diagnosis, "reboot without it, or use a virtual machine");
	} else if (find_line_in_file(machine, "/proc/sys/kernel/modules_disabled", "1", line,
				     sizeof(line))) {
		report_component_missing(diagnosis, "loading modules has been switched off");
		set_remedy(diagnosis,
			   "reboot; sysctl kernel.modules_disabled cannot be taken back");
	} else {
		set_diagnosis_text(diagnosis, "modules can be loaded");
	}
}

static void diagnose_device_mapper(const struct machine *machine, struct diagnosis *diagnosis)
{
	char line[4096];

	set_diagnosis(diagnosis,
		      machine_has_file(machine, "/sys/module/dm_mod") ||
			      find_line_in_file(machine, "/proc/misc", "device-mapper", line,
						sizeof(line)),
		      "in the kernel", "not in the kernel", "modprobe dm-mod");
}

static void diagnose_control_node(const struct machine *machine, struct diagnosis *diagnosis)
{
	set_diagnosis(diagnosis, machine_has_file(machine, "/dev/mapper/control"),
		      "/dev/mapper/control", "/dev/mapper/control is not there",
		      "modprobe dm-mod && dmsetup mknodes");
}

static bool is_module_loaded(const struct machine *machine)
{
	return machine_has_file(machine, "/sys/module/dm_approxftl");
}

/* Return true if the module is installed: modules.dep lists it after depmod ran. */
static bool is_module_installed(const struct machine *machine)
{
	char name[PATH_SIZE];
	char line[4096];

	scnprintf(name, sizeof(name), "/lib/modules/%s/modules.dep", machine->release);
	return find_line_in_file(machine, name, "/" MODULE ".ko", line, sizeof(line));
}

static void diagnose_kernel_headers(const struct machine *machine, struct diagnosis *diagnosis)
{
	if (machine_has_file(machine, "/lib/modules/%s/build/Makefile", machine->release)) {
		set_diagnosis_text(diagnosis, "/lib/modules/%s/build", machine->release);
	} else if (is_module_loaded(machine) || is_module_installed(machine)) {
		set_diagnosis_text(diagnosis, "not there, and not needed: the module is built");
	} else {
		report_component_missing(diagnosis, "not there: the module cannot be built");
		set_remedy(diagnosis, "apt-get install linux-headers-%s", machine->release);
	}
}

static void diagnose_installed_module(const struct machine *machine, struct diagnosis *diagnosis)
{
	if (is_module_installed(machine)) {
		set_diagnosis_text(diagnosis, "installed for %s", machine->release);
	} else if (is_module_loaded(machine)) {
		set_diagnosis_text(diagnosis,
				   "loaded, but not installed: the next boot will not find it");
	} else {
		report_component_missing(diagnosis, "not installed for this kernel");
		set_remedy(diagnosis,
			   "in the sources: make -C /lib/modules/%s/build M=$PWD modules modules_install && depmod -a",
			   machine->release);
	}
}

static void diagnose_module_loaded(const struct machine *machine, struct diagnosis *diagnosis)
{
	if (is_module_loaded(machine)) {
		set_diagnosis_text(diagnosis, "loaded");
	} else if (is_module_installed(machine)) {
		set_diagnosis_text(diagnosis,
				   "not loaded; the first \"approxftl create\" does that");
	} else {
		report_component_missing(diagnosis, "not loaded");
		set_remedy(diagnosis, "modprobe %s, once it is installed", MODULE);
	}
}

/*
 * The lockdown file has a line "none [integrity] confidentiality": brackets mark the current state.
 */
static bool is_kernel_locked_down(const struct machine *machine)
{
	char line[200];

	return find_line_in_file(machine, "/sys/kernel/security/lockdown", "[", line,
				 sizeof(line)) &&
	       !strstr(line, "[none]");
}

static void diagnose_module_signature(const struct machine *machine, struct diagnosis *diagnosis)
{
	char line[200];
	bool enforced = find_line_in_file(machine, "/sys/module/module/parameters/sig_enforce",
					  "Y", line, sizeof(line));

	set_diagnosis(diagnosis,
		      is_module_loaded(machine) || (!is_kernel_locked_down(machine) && !enforced),
		      "modules need no signature",
		      "Secure Boot or lockdown: only signed modules can be loaded",
		      "sign the module and enrol the key: mokutil --import /var/lib/dkms/mok.pub");
}

/* Check /dev/approxftl, which the loaded module creates, and by which programs tag data. */
static void diagnose_tag_support(const struct machine *machine, struct diagnosis *diagnosis)
{
	char path[PATH_SIZE];

	if (!is_module_loaded(machine)) {
		set_diagnosis_text(diagnosis, "/dev/approxftl comes when the module is loaded");
		return;
	}
	scnprintf(path, sizeof(path), "%s/dev/approxftl", machine->root);
	if (!access(path, R_OK | W_OK)) {
		set_diagnosis_text(diagnosis, "/dev/approxftl");
	} else if (access(path, F_OK)) {
		report_component_missing(diagnosis,
					 "/dev/approxftl is not there, though the module is loaded");
		set_remedy(diagnosis, "udevadm trigger --subsystem-match=misc");
	} else {
		report_component_missing(diagnosis, "you may not use /dev/approxftl");
		set_remedy(diagnosis, "adduser \"$USER\" approxftl, then log in again");
	}
}

static bool does_glob_match_any_path(const char *format, const char *root, const char *name)
{
	char pattern[PATH_SIZE];
	glob_t hits;
	bool any;

	scnprintf(pattern, sizeof(pattern), format, root, name);
	any = !glob(pattern, GLOB_NOSORT, NULL, &hits);
	globfree(&hits);
	return any;
}

/*
 * Look for a Python package in the directories of the distribution and of the administrator, and in
 * the virtual environment of "make deps", which contains all packages.
 */
static void diagnose_python_package(const struct machine *machine, struct diagnosis *diagnosis,
				    const char *package)
{
	const char *home = getenv("HOME");

	if (does_glob_match_any_path("%s/usr/lib/python3/dist-packages/%s", machine->root,
				     package) ||
	    does_glob_match_any_path("%s/usr/local/lib/python3*/dist-packages/%s", machine->root,
				     package)) {
		set_diagnosis_text(diagnosis, "installed");
	} else if (home && does_glob_match_any_path("%s%s/.cache/approxftl/venv-*/bin/python3",
						    machine->root, home)) {
		set_diagnosis_text(diagnosis, "installed for the programs in the build directory");
	} else {
		report_component_missing(diagnosis, "not installed");
		set_remedy(diagnosis, "apt-get install python3-%s", package);
	}
}

static void diagnose_numpy(const struct machine *machine, struct diagnosis *diagnosis)
{
	diagnose_python_package(machine, diagnosis, "numpy");
}

static void diagnose_jinja2(const struct machine *machine, struct diagnosis *diagnosis)
{
	diagnose_python_package(machine, diagnosis, "jinja2");
}

static void diagnose_libapproxftl(const struct machine *machine, struct diagnosis *diagnosis)
{
	char version[80];

	(void)machine;
	dm_device_get_library_version(version, sizeof(version));
	set_diagnosis_text(diagnosis, "libdevmapper %s", version);
}

static void diagnose_memory(const struct machine *machine, struct diagnosis *diagnosis)
{
	unsigned long long kib = 0;
	char text[HUMAN_SIZE];
	char line[200];

	if (!find_line_in_file(machine, "/proc/meminfo", "MemAvailable:", line, sizeof(line)) ||
	    sscanf(line, "MemAvailable: %12llu", &kib) != 1) {
		diagnosis->finding = FINDING_UNKNOWN;
		scnprintf(diagnosis->found, sizeof(diagnosis->found), "not to be seen");
		return;
	}
	human_format_bytes(text, kib << 10);
	scnprintf(line, sizeof(line), "%s available", text);
	set_diagnosis(diagnosis, kib << 10 >= MEMORY_LEAST, line,
		      "less than 256 MiB available: not enough for data in memory",
		      "use --store none, or a block device as store");
}

static void diagnose_program(const struct machine *machine, const struct doctor_check *check,
			     struct diagnosis *diagnosis)
{
	if (is_program_in_path(machine, check->program)) {
		set_diagnosis_text(diagnosis, "installed");
		return;
	}
	report_component_missing(diagnosis, "not installed");
	set_remedy(diagnosis, "apt-get install %s", check->package);
}

void doctor_run_check(const struct machine *machine, const struct doctor_check *check,
		      struct diagnosis *diagnosis)
{
	if (check->look)
		check->look(machine, diagnosis);
	else
		diagnose_program(machine, check, diagnosis);
}

const struct doctor_check doctor_checks[] = {
	{ "user", DOCTOR_NATIVE, diagnose_root_privileges, NULL, NULL },
	{ "module loading", DOCTOR_NATIVE, diagnose_module_loading, NULL, NULL },
	{ "device-mapper", DOCTOR_NATIVE, diagnose_device_mapper, NULL, NULL },
	{ "control node", DOCTOR_NATIVE, diagnose_control_node, NULL, NULL },
	{ "kernel headers", DOCTOR_NATIVE, diagnose_kernel_headers, NULL, NULL },
	{ "module", DOCTOR_NATIVE, diagnose_installed_module, NULL, NULL },
	{ "module loaded", DOCTOR_NATIVE, diagnose_module_loaded, NULL, NULL },
	{ "module signature", DOCTOR_NATIVE, diagnose_module_signature, NULL, NULL },
	{ "library", DOCTOR_NATIVE, diagnose_libapproxftl, NULL, NULL },
	{ "memory", DOCTOR_NATIVE, diagnose_memory, NULL, NULL },
	{ "tags", DOCTOR_HELPFUL, diagnose_tag_support, NULL, NULL },
	{ "dmsetup", DOCTOR_HELPFUL, NULL, "dmsetup", "dmsetup" },
	{ "fio", DOCTOR_HELPFUL, NULL, "fio", "fio" },
	{ "blktrace", DOCTOR_HELPFUL, NULL, "blktrace", "blktrace" },
	{ "mdadm, for RAID", DOCTOR_HELPFUL, NULL, "mdadm", "mdadm" },
	{ "numpy, for reports", DOCTOR_HELPFUL, diagnose_numpy, NULL, NULL },
	{ "Jinja2, for pages", DOCTOR_HELPFUL, diagnose_jinja2, NULL, NULL },
	{ "qemu", DOCTOR_VIRTUAL, NULL, "qemu-system-x86_64", "qemu-system-x86" },
	{ "busybox", DOCTOR_VIRTUAL, NULL, "busybox", "busybox-static" },
	{ "cpio", DOCTOR_VIRTUAL, NULL, "cpio", "cpio" },
	{ "modprobe", DOCTOR_VIRTUAL, NULL, "modprobe", "kmod" },
	{ "compiler, for their module", DOCTOR_VIRTUAL, NULL, "gcc", "gcc" },
	{ "make, for their module", DOCTOR_VIRTUAL, NULL, "make", "make" },
};

const unsigned int doctor_check_count = ARRAY_SIZE(doctor_checks);
