// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl create": build a table line from the options and create the device. */
#include <sys/stat.h>

#include "complain.h"
#include "human-units.h"
#include "interruption.h"
#include "starting-state.h"
#include "uuid.h"
#include "verbs.h"
#include "volume-verbs.h"

/**
 * struct plan - the device to create
 * @name: below /dev/mapper
 * @line: table line of the device
 * @size: capacity that the line provides
 * @sectors: size of the device in the table
 * @super: header of the volume that was made for the device, if @made
 * @made: the store was empty and is now a volume
 */
struct plan {
	const char *name;
	struct target_line line;
	struct target_size size;
	u64 sectors;
	struct aftl_volume_header super;
	bool made;
};

/* Set the key "profile" of the table line if @profiles, else all keys that must follow it. */
static int set_table_line_keys(const struct device_options *options, bool profiles, bool *blocks,
			       struct target_line *line, struct aftl_error *error)
{
	int ret = 0;

	for (unsigned int i = 0; i < options->key_count && !ret; i++) {
		if (!strcmp(options->keys[i], "profile") != profiles)
			continue;
		*blocks |= !strcmp(options->keys[i], "blocks");
		ret = target_line_set_option(line, options->keys[i], options->values[i], error);
	}
	return ret;
}

/* Return true if the data are stored in a volume: the device starts with its content. */
static bool are_data_stored_in_volume(const struct target_line *line)
{
	return line->store[0] == '/';
}

static int parse_device_size_option(const struct device_options *options, u64 *sectors,
				    struct aftl_error *error)
{
	struct aftl_error cause;
	u64 bytes;

	if (aftl_parse_value(AFTL_PARAM_BYTES, NULL, options->size, &bytes, &cause))
		return aftl_fail(error, -EINVAL, "--size: %.190s", cause.text);
	if (!bytes || bytes % TARGET_SECTOR)
		return aftl_fail(error, -EINVAL, "--size: %.40s is not a multiple of %u bytes",
				 options->size, TARGET_SECTOR);
	*sectors = bytes / TARGET_SECTOR;
	return 0;
}

static int check_device_size(const struct device_options *options, const struct target_size *size,
			     u64 *sectors, struct aftl_error *error)
{
	u32 unit = size->shards.geo.unit_bytes;

	if (!options->size) {
		*sectors = size->sectors;
		return 0;
	}
	if (*sectors > size->sectors)
		return aftl_fail(error, -EINVAL,
				 "--size: %.40s is more than the %llu bytes that these blocks have room for; raise blocks or leave it out",
				 options->size, (unsigned long long)size->sectors * TARGET_SECTOR);
	if (*sectors * TARGET_SECTOR % unit)
		return aftl_fail(error, -EINVAL,
				 "--size: %.40s is not a multiple of the mapping unit of %u bytes",
				 options->size, unit);
	return 0;
}

int device_make_table_line(const struct device_options *options, struct target_line *line,
			   struct target_size *size, u64 *sectors, struct aftl_error *error)
{
	bool blocks = false;
	int ret;

	target_line_init(line);
	line->policy = aftl_policy_find(TARGET_LINE_POLICY);
	ret = set_table_line_keys(options, true, &blocks, line, error);
	if (!ret)
		ret = set_table_line_keys(options, false, &blocks, line, error);
	if (!ret && options->size)
		ret = parse_device_size_option(options, sectors, error);
	if (!ret && options->size && !blocks)
		ret = target_line_fit_block_count(line, *sectors, error);
	if (!ret)
		ret = target_line_compute_device_size(line, size, error);
	return ret ? ret : check_device_size(options, size, sectors, error);
}

static int prepare_device_creation(const struct device_options *options, struct plan *plan,
				   struct aftl_error *error)
{
	int ret;

	plan->name = options->words[0];
	ret = dm_device_check_name(plan->name, error);
	return ret ? ret :
		     device_make_table_line(options, &plan->line, &plan->size, &plan->sectors,
					    error);
}

static int check_store_is_block_device(const struct target_line *line, struct aftl_error *error)
{
	struct stat found;

	if (!are_data_stored_in_volume(line))
		return 0;
	if (stat(line->store, &found))
		return aftl_fail(error, -ENOENT, "store %.80s: %s", line->store, strerror(errno));
	if (!S_ISBLK(found.st_mode))
		return aftl_fail(error, -EINVAL,
				 "store %.80s is not a block device; for a file use: losetup --find --show FILE",
				 line->store);
	return 0;
}

/* The dmsetup command needs no escaping: checked names and values contain no single quotes. */
static void print_dmsetup_command(const struct plan *plan, const char *arguments)
{
	printf("dmsetup create %s --table '0 %llu %s %s'\n", plan->name,
	       (unsigned long long)plan->sectors, TARGET_NAME, arguments);
}

static void print_device_creation_json(const struct device_options *options,
				       const struct plan *plan, const char *arguments)
{
	char table[TARGET_LINE_SIZE + 64];
	char timing[AFTL_VALUE_SIZE];
	const struct aftl_shards *shards = &plan->size.shards;
	struct json_writer json;

	scnprintf(table, sizeof(table), "0 %llu %s %s", (unsigned long long)plan->sectors,
		  TARGET_NAME, arguments);
	target_line_format_timing(&plan->line, timing);
	device_begin_json_of_verb(options, &json);
	json_string(&json, "name", plan->name);
	json_bool(&json, "created", !options->dry_run);
	json_string(&json, "table", table);
	json_u64(&json, "size_bytes", plan->sectors * TARGET_SECTOR);
	json_u64(&json, "room_bytes", plan->size.sectors * TARGET_SECTOR);
	json_u64(&json, "physical_bytes",
		 (u64)shards->geo.ppns * shards->count * shards->geo.unit_bytes);
	json_u64(&json, "unit_bytes", shards->geo.unit_bytes);
	json_u64(&json, "ftl_bytes", plan->size.memory_bytes);
	json_string(&json, "store", plan->line.store);
	json_string(&json, "profile", plan->line.profile);
	json_string(&json, "policy", plan->line.policy->name);
	json_string(&json, "timing", timing);
	json_bool(&json, "made_volume", plan->made);
	if (!are_data_stored_in_volume(&plan->line))
		json_string(&json, "starting_state", starting_state_get_name(&plan->line.config));
	json_envelope_end(&json);
}

static void print_new_volume_message(const struct plan *plan)
{
	char uuid[UUID_TEXT_SIZE];

	if (!plan->made)
		return;
	uuid_format(plan->super.uuid, uuid);
	printf("%s was empty and is volume %s now\n", plan->line.store, uuid);
}

static void print_device_creation(const struct device_options *options, const struct plan *plan,
				  const char *arguments)
{
	char size[HUMAN_SIZE], starting[STARTING_STATE_SIZE];

	human_format_bytes(size, plan->sectors * TARGET_SECTOR);
	starting_state_print(&plan->line.config, starting);
	if (options->json) {
		print_device_creation_json(options, plan, arguments);
	} else if (options->dry_run) {
		print_dmsetup_command(plan, arguments);
	} else {
		print_new_volume_message(plan);
		printf("/dev/mapper/%s: %s, profile %s, policy %s, store %s", plan->name, size,
		       plan->line.profile, plan->line.policy->name, plan->line.store);
		if (!are_data_stored_in_volume(&plan->line))
			printf(", %s", starting);
		putchar('\n');
	}
}

int device_make_volume_header(const struct target_line *line, struct aftl_volume_header *super,
			      bool *made, struct aftl_error *error)
{
	if (!are_data_stored_in_volume(line))
		return 0;
	super->config = line->config;
	scnprintf(super->profile, sizeof(super->profile), "%s", line->profile);
	scnprintf(super->policy, sizeof(super->policy), "%s", line->policy->name);
	return volume_make_if_path_has_none(line->store, super, made, error);
}

static int create_dm_device(struct plan *plan, const char *arguments, struct aftl_error *error)
{
	int ret = check_device_mapper_ready(error);

	if (!ret)
		ret = check_store_is_block_device(&plan->line, error);
	if (!ret)
		ret = dm_device_check_name_is_unused(plan->name, error);
	if (!ret)
		ret = device_make_volume_header(&plan->line, &plan->super, &plan->made, error);
	return ret ? ret : dm_device_create(plan->name, plan->sectors, arguments, error);
}

static enum exit_code run_device_create(const struct device_options *options)
{
	char arguments[TARGET_LINE_SIZE];
	struct aftl_error error;
	struct plan plan = { .made = false };
	int ret;

	interruption_catch_stop_signals();
	if (prepare_device_creation(options, &plan, &error))
		return report_command_failure(options->verb, &error, EXIT_USAGE);
	target_line_print(&plan.line, arguments);
	ret = options->dry_run ? 0 : create_dm_device(&plan, arguments, &error);
	if (ret)
		return report_device_failure(options, ret, &error);
	print_device_creation(options, &plan, arguments);
	return EXIT_DONE;
}

const struct device_verb verb_create = {
	.name = "create",
	.words = "NAME",
	.least_words = 1,
	.most_words = 1,
	.pairs = true,
	.options = "SZPLTAKn",
	.about = "Creates an emulated SSD, /dev/mapper/NAME, in the running kernel. KEY=VALUE\n"
		 "sets any parameter that \"approxftl params\" lists. With --size and without blocks=N\n"
		 "it gets as many blocks as that size needs. An empty block device is formatted\n"
		 "first, as by \"approxftl format\"; one with data is refused.",
	.run = run_device_create,
};
