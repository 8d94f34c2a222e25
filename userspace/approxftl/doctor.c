// SPDX-License-Identifier: GPL-2.0-only
/*
 * "approxftl doctor": report missing parts of this machine, each with the command that installs
 * it.
 */
#include <sys/utsname.h>

#include "doctor.h"
#include "text-table.h"
#include "verbs.h"

/* Upper bound of the number of checks. */
#define CHECKS_MAX 32

/**
 * struct examination - results of all checks
 * @machine: the examined machine
 * @diagnoses: diagnoses in the order of doctor_checks[]
 * @usable: by group of checks, whether nothing is missing
 */
struct examination {
	struct machine machine;
	struct diagnosis diagnoses[CHECKS_MAX];
	bool usable[DOCTOR_GROUPS];
};

static const char *const group_names[] = {
	[DOCTOR_NATIVE] = "native",
	[DOCTOR_HELPFUL] = "helpful",
	[DOCTOR_VIRTUAL] = "virtual",
};

static const char *const group_titles[] = {
	[DOCTOR_NATIVE] = "Devices in this kernel",
	[DOCTOR_HELPFUL] = "Good to have",
	[DOCTOR_VIRTUAL] = "Devices in a virtual machine",
};

static const char *const finding_names[] = {
	[FINDING_OK] = "ok",
	[FINDING_MISSING] = "missing",
	[FINDING_UNKNOWN] = "unknown",
};

static void examine_system(const struct device_options *options, struct examination *examination)
{
	struct utsname name;
	struct machine *machine;

	*examination = (struct examination){ .usable = { true, true, true } };
	machine = &examination->machine;
	machine->root = options->root ? options->root : "";
	if (options->kernel)
		scnprintf(machine->release, sizeof(machine->release), "%s", options->kernel);
	else if (!uname(&name))
		scnprintf(machine->release, sizeof(machine->release), "%s", name.release);
	for (unsigned int i = 0; i < doctor_check_count; i++) {
		struct diagnosis *diagnosis = &examination->diagnoses[i];

		doctor_run_check(&examination->machine, &doctor_checks[i], diagnosis);
		if (diagnosis->finding == FINDING_MISSING)
			examination->usable[doctor_checks[i].group] = false;
	}
}

/* Tables */

static const struct list_column check_columns[] = {
	{ "name", "NAME", "what is looked at", false, false },
	{ "group", "GROUP", "what needs it", false, false },
	{ "finding", "FINDING", "good, missing or unknown", false, false },
	{ "found", "FOUND", "what is there", false, false },
	{ "remedy", "REMEDY", "the command that mends it", false, false },
};

static void print_check_list(const struct device_options *options,
			     const struct examination *examination)
{
	struct text_list list;

	list_begin(&list, &options->list);
	for (unsigned int i = 0; i < doctor_check_count; i++) {
		list_add_row(&list);
		list_add_text(&list, "%s", doctor_checks[i].name);
		list_add_text(&list, "%s", group_names[doctor_checks[i].group]);
		list_add_text(&list, "%s", finding_names[examination->diagnoses[i].finding]);
		list_add_text(&list, "%s", examination->diagnoses[i].found);
		list_add_text(&list, "%s", examination->diagnoses[i].remedy);
	}
	device_print_list_or_json(options, &list);
}

static void print_check_group(struct text_table *table, const struct examination *examination,
			      enum doctor_group group)
{
	text_table_add_heading(table, "%s", group_titles[group]);
	for (unsigned int i = 0; i < doctor_check_count; i++)
		if (doctor_checks[i].group == group) {
			text_table_add_row(table);
			text_table_add_cell(table, "  %s", doctor_checks[i].name);
			text_table_add_cell(table, "%s",
					    finding_names[examination->diagnoses[i].finding]);
			text_table_add_cell(table, "%s", examination->diagnoses[i].found);
		}
}

static void print_remedies_of_failed_checks(const struct examination *examination)
{
	for (unsigned int i = 0; i < doctor_check_count; i++)
		if (*examination->diagnoses[i].remedy)
			printf("  %s: %s\n", doctor_checks[i].name,
			       examination->diagnoses[i].remedy);
}

static void print_system_verdict(const struct examination *examination)
{
	bool native = examination->usable[DOCTOR_NATIVE];
	bool helpful = examination->usable[DOCTOR_HELPFUL];
	bool virtual = examination->usable[DOCTOR_VIRTUAL];

	if (!native || !helpful || !virtual) {
		puts("What mends it");
		print_remedies_of_failed_checks(examination);
	}
	if (native)
		puts("Devices can be made here: approxftl create NAME");
	else if (virtual)
		puts("Devices cannot be made here; a virtual machine can: approxftl lab");
	else
		puts("Devices can be made neither here nor in a virtual machine.");
}

static void print_examination(const struct examination *examination)
{
	struct text_table table;

	printf("kernel %s\n", examination->machine.release);
	text_table_begin(&table, 3, 3);
	for (unsigned int group = 0; group < DOCTOR_GROUPS; group++)
		print_check_group(&table, examination, group);
	text_table_print_and_free(&table, stdout);
	print_system_verdict(examination);
}

/* JSON */

static void print_examination_json(const struct device_options *options,
				   const struct examination *examination)
{
	struct json_writer json;

	device_begin_json_of_verb(options, &json);
	json_string(&json, "kernel", examination->machine.release);
	json_begin_object(&json, "usable");
	for (unsigned int i = 0; i < DOCTOR_GROUPS; i++)
		json_bool(&json, group_names[i], examination->usable[i]);
	json_end_object(&json);
	json_begin_array(&json, "checks");
	for (unsigned int i = 0; i < doctor_check_count; i++) {
		const struct diagnosis *diagnosis = &examination->diagnoses[i];

		json_begin_object(&json, NULL);
		json_string(&json, "name", doctor_checks[i].name);
		json_string(&json, "group", group_names[doctor_checks[i].group]);
		json_string(&json, "finding", finding_names[diagnosis->finding]);
		json_string(&json, "found", diagnosis->found);
		if (*diagnosis->remedy)
			json_string(&json, "remedy", diagnosis->remedy);
		else
			json_null(&json, "remedy");
		json_end_object(&json);
	}
	json_end_array(&json);
	json_envelope_end(&json);
}

static enum exit_code run_doctor(const struct device_options *options)
{
	struct examination examination;

	examine_system(options, &examination);
	if (options->list.chosen)
		print_check_list(options, &examination);
	else if (options->json)
		print_examination_json(options, &examination);
	else
		print_examination(&examination);
	return examination.usable[DOCTOR_NATIVE] ? EXIT_DONE : EXIT_FAILED;
}

const struct device_verb verb_doctor = {
	.name = "doctor",
	.words = "",
	.options = "Rk",
	.columns = check_columns,
	.column_count = ARRAY_SIZE(check_columns),
	.about = "Finds out what this machine lacks for devices in the kernel, and the command\n"
		 "that installs it. Changes nothing. Exit status: 0 devices can be created,\n"
		 "1 they cannot.",
	.run = run_doctor,
};
