// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl fault": let a device fail on purpose, now or after a trigger. */
#include <stdlib.h>

#include "block-stack.h"
#include "checked-memory.h"
#include "command-line.h"
#include "complain.h"
#include "fault-script.h"
#include "verbs.h"

/**
 * struct fault_table - faults that the verb prints
 * @device: the device that has the faults; its name is empty until the device is found
 * @unit_bytes: size of the device's logical pages
 * @all: the faults
 * @count: number of faults
 */
struct fault_table {
	struct dm_device device;
	u32 unit_bytes;
	struct aftl_fault *all;
	unsigned int count;
};

static void add_fault_to_table(struct fault_table *table, const struct aftl_fault *fault)
{
	table->all = memory_resize(table->all, table->count + 1, sizeof(*table->all));
	table->all[table->count++] = *fault;
}

/* Output */

static const struct list_column fault_columns[] = {
	{ "action", "ACTION", "unit, block, die, age, wear, life or power", false, false },
	{ "number", "NUMBER", "of the unit, block or die; time in ns; P/E cycles", true, false },
	{ "trigger", "AFTER", "what it waits for: write, read, time or program", false, false },
	{ "after", "COUNT", "number of the write or read, time in ns, or unit", false, false },
	{ "state", "STATE", "pending, due, happened, or void: the unit had no data", false, false },
	{ "when_ns", "WHEN", "device time at which it happened, in ns", false, false },
};

static void add_fault_row(struct text_list *list, const struct aftl_fault *fault)
{
	list_add_row(list);
	list_add_text(list, "%s", aftl_fault_actions[fault->action]);
	list_add_number(list, fault->number, 0, aftl_get_name_of_fault_action(fault->action));
	if (fault->trigger == AFTL_FAULT_NOW) {
		list_add_text(list, "%s", "");
		list_add_text(list, "%s", "");
	} else {
		list_add_text(list, "%s", aftl_fault_triggers[fault->trigger]);
		list_add_number(list, fault->after, 0, NULL);
	}
	list_add_text(list, "%s", aftl_fault_states[fault->state]);
	if (fault->state >= AFTL_FAULT_HAPPENED && fault->trigger != AFTL_FAULT_NOW)
		list_add_number(list, fault->when_ns, 0, NULL);
	else
		list_add_text(list, "%s", "");
}

static void print_fault_table(const struct device_options *options, const struct fault_table *table)
{
	struct text_list list;
	struct json_writer json;

	list_begin(&list, &options->list);
	for (unsigned int i = 0; i < table->count; i++)
		add_fault_row(&list, &table->all[i]);
	if (!is_json_of_all_columns_requested(options)) {
		device_print_list_or_json(options, &list);
		return;
	}
	device_begin_json_of_verb(options, &json);
	json_string(&json, "name", table->device.name);
	json_begin_array(&json, "faults");
	list_write_json(&list, &json);
	json_end_array(&json);
	json_envelope_end(&json);
}

/* Messages */

static int send_fault_message(const struct fault_table *table, const struct aftl_fault *fault,
			      struct aftl_error *error)
{
	const char *word = aftl_get_name_of_fault_action(fault->action);
	char text[120];
	char *answer;
	size_t used = scnprintf(text, sizeof(text), "fault %s ",
				aftl_fault_actions[fault->action]);
	int ret;

	if (word)
		used += scnprintf(text + used, sizeof(text) - used, "%s", word);
	else
		used += scnprintf(text + used, sizeof(text) - used, "%llu%s",
				  (unsigned long long)fault->number,
				  fault->action == AFTL_FAULT_AGE ? "ns" : "");
	if (fault->trigger != AFTL_FAULT_NOW)
		scnprintf(text + used, sizeof(text) - used, " after %s %llu%s",
			  aftl_fault_triggers[fault->trigger], (unsigned long long)fault->after,
			  fault->trigger == AFTL_FAULT_TIME ? "ns" : "");
	ret = dm_device_message(&table->device, text, &answer, error);
	if (!ret)
		free(answer);
	return ret;
}

static int clear_faults_of_device(const struct fault_table *table, struct aftl_error *error)
{
	char *answer;
	int ret = dm_device_message(&table->device, "fault clear", &answer, error);

	if (!ret)
		free(answer);
	return ret;
}

/* Parse a line of the target's answer: a fault, its state, and its time if it has happened. */
static bool parse_fault_line(char *line, struct aftl_fault *fault)
{
	struct aftl_error unused;
	char number[2][40];
	char *words[8];
	unsigned int count = 0;
	u64 state;

	while (count < ARRAY_SIZE(words) && (words[count] = strsep(&line, " ")))
		count++;
	if (count < 6)
		return false;
	if (!strcmp(words[0], "age")) {
		scnprintf(number[0], sizeof(number[0]), "%sns", words[1]);
		words[1] = number[0];
	}
	if (!strcmp(words[3], "time")) {
		scnprintf(number[1], sizeof(number[1]), "%sns", words[4]);
		words[4] = number[1];
	}
	if (aftl_fault_parse(fault, words, 5, &unused) ||
	    aftl_parse_value(AFTL_PARAM_CHOICE, aftl_fault_states, words[5], &state, &unused))
		return false;
	fault->state = (u8)state;
	fault->when_ns = count > 6 ? strtoull(words[6], NULL, 10) : 0;
	return true;
}

static int read_faults_of_device(struct fault_table *table, struct aftl_error *error)
{
	char *answer, *rest, *line;
	int ret = dm_device_message(&table->device, "faults", &answer, error);

	if (ret)
		return ret;
	for (rest = answer; !ret && (line = strsep(&rest, "\n")) && *line;) {
		struct aftl_fault fault;

		if (parse_fault_line(line, &fault))
			add_fault_to_table(table, &fault);
		else
			ret = aftl_fail(error, -EINVAL,
					"unknown line in the answer to the message faults");
	}
	free(answer);
	return ret;
}

static int send_fault_messages(struct fault_table *table, struct aftl_error *error)
{
	struct aftl_error cause;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < table->count; i++) {
		struct aftl_fault *fault = &table->all[i];

		ret = send_fault_message(table, fault, &cause);
		if (ret)
			return aftl_fail(error, ret, "fault %u of %u: %.200s", i + 1, table->count,
					 cause.text);
		fault->state = fault->trigger == AFTL_FAULT_NOW ? AFTL_FAULT_HAPPENED :
								  AFTL_FAULT_PENDING;
	}
	return 0;
}

/* Arm all faults of a script; fail if a fault waits already: waiting faults share counts. */
static int send_fault_script(struct fault_table *table, struct aftl_error *error)
{
	struct fault_table before = { .device = table->device };
	struct aftl_error unused;
	unsigned int waiting = 0;
	int ret = read_faults_of_device(&before, error);

	for (unsigned int i = 0; i < before.count; i++)
		waiting += before.all[i].state < AFTL_FAULT_HAPPENED;
	free(before.all);
	if (ret)
		return ret;
	if (waiting)
		return aftl_fail(error, -EBUSY,
				 "%u faults of %.60s wait; clear them first: approxftl fault %.60s --clear",
				 waiting, table->device.name, table->device.name);
	ret = send_fault_messages(table, error);
	return ret && clear_faults_of_device(table, &unused) ? -EIO : ret;
}

/* The faults of a file */

/* Maximum number of logical pages that --file makes faulty, by one message to the target each. */
#define FILE_FAULTS_MAX 65536

/**
 * struct file_fault - a fault of the logical pages that have a file's data
 * @fault: the fault, without the number of a logical page
 * @table: takes a fault for each logical page
 */
struct file_fault {
	struct aftl_fault fault;
	struct fault_table *table;
};

static int get_unit_size_of_faulty_device(struct fault_table *table, struct aftl_error *error)
{
	struct device_view view;
	struct target_size size;
	int ret = device_view_find_and_read(&view, table->device.name, error);

	if (!ret)
		ret = target_line_compute_device_size(&view.line, &size, error);
	if (!ret)
		table->unit_bytes = size.shards.geo.unit_bytes;
	return ret;
}

static int add_range_faults_to_table(void *context, const struct dm_device *device,
				     const struct device_range *range, struct aftl_error *error)
{
	struct file_fault *place = context;
	struct fault_table *table = place->table;
	const unsigned int most = place->fault.trigger == AFTL_FAULT_NOW ? FILE_FAULTS_MAX :
									   AFTL_FAULTS_MAX;
	u64 last, unit;
	int ret = 0;

	if (*table->device.name && strcmp(table->device.name, device->name) != 0)
		return aftl_fail(error, -EINVAL,
				 "the range is on %.40s and %.40s; choose a part on one device",
				 table->device.name, device->name);
	if (!*table->device.name) {
		table->device = *device;
		ret = get_unit_size_of_faulty_device(table, error);
	}
	if (ret)
		return ret;
	last = (range->offset + range->length - 1) / table->unit_bytes;
	if (last - range->offset / table->unit_bytes >= most - table->count)
		return aftl_fail(error, -EINVAL,
				 "the range has more than %u logical pages, the most for %s faults; use a shorter --length",
				 most, most == AFTL_FAULTS_MAX ? "armed" : "immediate");
	for (unit = range->offset / table->unit_bytes; unit <= last; unit++) {
		place->fault.number = unit;
		if (!table->count || table->all[table->count - 1].number != unit)
			add_fault_to_table(table, &place->fault);
	}
	return 0;
}

static int add_file_faults_to_table(const struct device_options *options,
				    const struct aftl_fault *fault, struct fault_table *table,
				    struct aftl_error *error)
{
	struct file_fault place = { *fault, table };

	return block_stack_locate_file(options->file, options->offset,
				       options->length ? options->length : 1,
				       add_range_faults_to_table, &place, error);
}

/* Command line */

/* Parse a fault: its words are the @own entries of @prefix, then the operands from @from on. */
static int parse_fault_operands(const struct device_options *options, unsigned int from,
				const char *const *prefix, unsigned int own,
				struct aftl_fault *fault, struct aftl_error *error)
{
	unsigned int count = own + options->word_count - from;
	char texts[8][40];
	char *words[8];

	for (unsigned int i = 0; i < count && i < ARRAY_SIZE(words); i++) {
		scnprintf(texts[i], sizeof(texts[i]), "%s",
			  prefix && i < own ? prefix[i] : options->words[from + i - own]);
		words[i] = texts[i];
	}
	return aftl_fault_parse(fault, words, count, error);
}

/* Parse "uncorrectable [after TRIGGER N]": with --file the file determines the faulty units. */
static int parse_file_fault(const struct device_options *options, struct aftl_fault *fault,
			    struct aftl_error *error)
{
	static const char *const unit[] = { "unit", "0" };

	if (!options->word_count || strcmp(options->words[0], "uncorrectable") != 0)
		return aftl_fail(error, -EINVAL,
				 "with --file the fault is \"uncorrectable\" or \"uncorrectable after TRIGGER NUMBER\"");
	return parse_fault_operands(options, 1, unit, ARRAY_SIZE(unit), fault, error);
}

static int check_fault_command_line(const struct device_options *options, struct aftl_error *error)
{
	unsigned int modes = !!options->script + !!options->file + options->list_faults +
			     options->clear;

	if (modes > 1)
		return aftl_fail(error, -EINVAL,
				 "--script, --file, --list and --clear exclude each other");
	if ((options->offset || options->length) && !options->file)
		return aftl_fail(error, -EINVAL, "--offset and --length need --file");
	if (!options->file && !options->word_count)
		return aftl_fail(error, -EINVAL,
				 "NAME missing; \"approxftl fault --help\" explains it");
	if (modes && !options->file && options->word_count > 1)
		return command_report_extra_operand("fault", options->words[1], error);
	return 0;
}

static int parse_faults_of_command_line(const struct device_options *options,
					struct fault_script *script, struct aftl_error *error)
{
	int ret = check_fault_command_line(options, error);

	script->count = 0;
	if (ret || options->list_faults || options->clear)
		return ret;
	if (options->script)
		return fault_script_read(script, options->script, error);
	script->count = 1;
	return options->file ? parse_file_fault(options, script->all, error) :
			       parse_fault_operands(options, 1, NULL, 0, script->all, error);
}

static int send_or_clear_faults(const struct device_options *options, struct fault_table *table,
				struct aftl_error *error)
{
	if (options->list_faults)
		return read_faults_of_device(table, error);
	if (options->clear)
		return clear_faults_of_device(table, error);
	return options->script ? send_fault_script(table, error) :
				 send_fault_messages(table, error);
}

static int fill_fault_table_and_find_device(const struct device_options *options,
					    const struct fault_script *script,
					    struct fault_table *table, struct aftl_error *error)
{
	int ret = check_device_mapper_ready(error);

	if (ret || options->file)
		return ret ? ret : add_file_faults_to_table(options, script->all, table, error);
	for (unsigned int i = 0; i < script->count; i++)
		add_fault_to_table(table, &script->all[i]);
	return dm_device_find_by_name(&table->device, options->words[0], error);
}

static enum exit_code run_device_fault(const struct device_options *options)
{
	struct fault_table table = { .count = 0 };
	struct fault_script script;
	struct aftl_error error;
	int ret;

	if (parse_faults_of_command_line(options, &script, &error))
		return report_command_failure(options->verb, &error, EXIT_USAGE);
	ret = fill_fault_table_and_find_device(options, &script, &table, &error);
	if (!ret)
		ret = send_or_clear_faults(options, &table, &error);
	if (!ret && (!options->clear || options->json))
		print_fault_table(options, &table);
	free(table.all);
	return ret ? report_device_failure(options, ret, &error) : EXIT_DONE;
}

const struct device_verb verb_fault = {
	.name = "fault",
	.words = "[NAME] [FAULT]",
	.most_words = 6,
	.options = "x",
	.columns = fault_columns,
	.column_count = ARRAY_SIZE(fault_columns),
	.about = "Lets a device fail on purpose. FAULT is unit N, block N, die N, age TIME,\n"
		 "wear CYCLES, life end or power cut, and happens now; with \"after write N\",\n"
		 "\"after read N\", \"after time TIME\" or \"after program UNIT\" it waits for that, and\n"
		 "happens once. --script arms all faults of a file. With --file, and without NAME,\n"
		 "FAULT is uncorrectable: reads of the logical pages that have these bytes of the\n"
		 "file fail until they are written. Prints the faults that were placed or armed.",
	.run = run_device_fault,
};
