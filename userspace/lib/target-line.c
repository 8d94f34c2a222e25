// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "core-memory.h"
#include "core/base/profiles.h"
#include "core/ftl/ftl.h"
#include "disk/carriers.h"
#include "target-line.h"

/* Largest N that the key "timing scale:N" accepts. */
#define SCALE_MAX 1000000

/* Largest ioprio_hint: an I/O priority has ten bits for a hint. */
#define HINT_MAX 1023

/* Maximum number of times that a device too small for its policy is enlarged by a sixteenth. */
#define FIT_TRIES 64

/* Largest mapping unit: it becomes a logical block of the kernel, which is at most this large. */
#define UNIT_MAX 4096

static int set_store_of_table_line(struct target_line *line, const char *value,
				   struct aftl_error *error)
{
	if (strcmp(value, "none") != 0 && strcmp(value, "ram") != 0 && value[0] != '/')
		return aftl_fail(error, -EINVAL,
				 "\"%.40s\" is not a store; there are none, ram and the path of a block device",
				 value);
	if (strlen(value) >= sizeof(line->store) || strpbrk(value, " \t\\"))
		return aftl_fail(error, -EINVAL,
				 "the path \"%.40s\" is too long or has blanks; make a link to it",
				 value);
	scnprintf(line->store, sizeof(line->store), "%s", value);
	return 0;
}

static int set_profile_of_table_line(struct target_line *line, const char *value,
				     struct aftl_error *error)
{
	unsigned int i = 0;
	int ret = aftl_profile_load(&line->standard, value, error);

	if (ret)
		return ret;
	while (strcmp(aftl_profile_name(i), value) != 0)
		i++;
	line->profile = aftl_profile_name(i);
	if (!line->standard.unit && line->standard.page > UNIT_MAX)
		line->standard.unit = UNIT_MAX;
	line->config = line->standard;
	return 0;
}

static int set_policy_of_table_line(struct target_line *line, const char *value,
				    struct aftl_error *error)
{
	const struct aftl_policy_type *policy = aftl_policy_find(value);
	char list[120];
	size_t used = 0;

	for (unsigned int i = 0; !policy && aftl_policy_at(i); i++)
		used += scnprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
				  aftl_policy_at(i)->name);
	if (!policy)
		return aftl_fail(error, -EINVAL, "unknown policy \"%.40s\"; there are %s", value,
				 list);
	line->policy = policy;
	return 0;
}

static int set_timing_of_table_line(struct target_line *line, const char *value,
				    struct aftl_error *error)
{
	struct aftl_error unused;
	u64 scale = 0;

	if (!strcmp(value, "off")) {
		line->scale = TARGET_TIMING_OFF;
		return 0;
	}
	if (!strcmp(value, "real"))
		scale = 1;
	else if (!strncmp(value, "scale:", 6) &&
		 aftl_parse_value(AFTL_PARAM_COUNT, NULL, value + 6, &scale, &unused))
		scale = 0;
	if (!scale || scale > SCALE_MAX)
		return aftl_fail(error, -EINVAL,
				 "timing: \"%.40s\" is not one of real, off or scale:N with N from 1 to %u",
				 value, SCALE_MAX);
	line->scale = (u32)scale;
	return 0;
}

static int set_tag_all_option_of_table_line(struct target_line *line, const char *value,
					    struct aftl_error *error)
{
	static const char *const words[] = { "precise", "approximate", NULL };
	struct aftl_error cause;
	u64 class;

	if (aftl_parse_value(AFTL_PARAM_CHOICE, words, value, &class, &cause))
		return aftl_fail(error, -EINVAL, "tag_all: %.190s", cause.text);
	line->class = (u32)class;
	return 0;
}

static int set_ioprio_hint_of_table_line(struct target_line *line, const char *value,
					 struct aftl_error *error)
{
	struct aftl_error unused;
	u64 hint;

	if (aftl_parse_value(AFTL_PARAM_COUNT, NULL, value, &hint, &unused) || hint > HINT_MAX)
		return aftl_fail(error, -EINVAL,
				 "ioprio_hint: \"%.40s\" is not a number from 0, for none, to %u",
				 value, HINT_MAX);
	line->ioprio_hint = (u32)hint;
	return 0;
}

static int set_tag_carrier_option_of_table_line(struct target_line *line, const char *value,
						struct aftl_error *error)
{
	return aftl_tag_carriers_parse(value, &line->carriers, error);
}

/* Keys of the table line that are not parameters of the core, in the order of printing. */
static const struct target_key {
	const char *name;
	int (*set)(struct target_line *line, const char *value, struct aftl_error *error);
} keys[] = {
	{ "store", set_store_of_table_line },
	{ "profile", set_profile_of_table_line },
	{ "policy", set_policy_of_table_line },
	{ "timing", set_timing_of_table_line },
	{ "tag_all", set_tag_all_option_of_table_line },
	{ "ioprio_hint", set_ioprio_hint_of_table_line },
	{ "tag_carrier", set_tag_carrier_option_of_table_line },
};

int target_line_set_option(struct target_line *line, const char *key, const char *value,
			   struct aftl_error *error)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].name, key))
			return keys[i].set(line, value, error);
	if (aftl_param_find(key) < 0)
		return aftl_fail(error, -ENOENT,
				 "unknown option \"%.40s\"; there are profile, policy, timing, tag_all, ioprio_hint, tag_carrier and what \"approxftl params\" lists",
				 key);
	return aftl_param_set(&line->config, key, value, error);
}

/* Setting the profile and the policy cannot fail: the values are the target's own defaults. */
void target_line_init(struct target_line *line)
{
	struct aftl_error unused;

	*line = (struct target_line){ .store = "ram", .scale = 1 };
	line->policy = aftl_policy_find("approxftl");
	if (set_profile_of_table_line(line, "demo", &unused))
		abort();
}

/* Size */

static int check_unit_size_of_table_line(const struct aftl_config *config, struct aftl_error *error)
{
	u64 unit = config->unit ? config->unit : config->page;

	if (unit <= UNIT_MAX)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "a mapping unit of %llu bytes cannot be a sector of the kernel; say unit=4KiB",
			 (unsigned long long)unit);
}

static void ignore_completion_in_config_check(void *host, struct aftl_request *request)
{
	(void)host;
	(void)request;
}

static const struct aftl_host_ops host_ops = {
	.alloc = core_memory_alloc,
	.free = core_memory_free,
	.complete = ignore_completion_in_config_check,
};

/* Create a shard: the core refuses it if the policy cannot work with this configuration. */
static int check_config_by_creating_shard(const struct target_line *line, u64 *memory_bytes,
					  struct aftl_error *error)
{
	struct aftl_config own;
	struct aftl *ftl;
	int ret;

	aftl_derive_shard_config(&own, &line->config, 0);
	ret = aftl_create(&ftl, &own, line->policy, &host_ops, NULL, error);

	*memory_bytes = 0;
	if (ret)
		return ret == -ENOMEM ? 0 : ret;
	*memory_bytes = aftl_memory_bytes(ftl) * line->config.shards;
	aftl_destroy(ftl);
	return 0;
}

int target_line_compute_device_size(const struct target_line *line, struct target_size *size,
				    struct aftl_error *error)
{
	int ret = check_unit_size_of_table_line(&line->config, error);

	if (!ret)
		ret = aftl_shards_init(&size->shards, &line->config, error);
	if (ret)
		return ret;
	size->sectors = size->shards.units * size->shards.geo.unit_bytes / TARGET_SECTOR;
	return check_config_by_creating_shard(line, &size->memory_bytes, error);
}

/* Compute the geometry of a shard with one block per plane, no over-provisioning, no zones. */
static int compute_smallest_shard_geometry(const struct target_line *line,
					   struct aftl_geometry *geo, struct aftl_error *error)
{
	int ret = check_unit_size_of_table_line(&line->config, error);
	struct aftl_config own;

	aftl_derive_shard_config(&own, &line->config, 0);
	own.blocks = 1;
	own.op = 0;
	own.zoned = 0;
	return ret ? ret : aftl_geometry_init(geo, &own, error);
}

/* Return the number of units per shard: with several shards, whole chunks of the striping. */
static u64 compute_units_per_shard(const struct target_line *line, const struct aftl_geometry *geo,
				   u64 sectors)
{
	u64 units = DIV_ROUND_UP(sectors, geo->unit_bytes / TARGET_SECTOR);
	u64 run = line->config.shards > 1 ? 1ULL << aftl_compute_shard_chunk_shift(geo) : 1;

	return DIV_ROUND_UP(units, run * line->config.shards) * run;
}

static int set_and_check_block_count(struct target_line *line, u64 blocks, u64 sectors,
				     struct aftl_error *error)
{
	struct target_size size;
	char text[AFTL_VALUE_SIZE];
	int ret;

	scnprintf(text, sizeof(text), "%llu", (unsigned long long)blocks);
	ret = aftl_param_set(&line->config, "blocks", text, error);
	if (!ret)
		ret = target_line_compute_device_size(line, &size, error);
	if (!ret && size.sectors < sectors)
		ret = aftl_fail(error, -ENOSPC, "blocks: %s are too few for %llu sectors", text,
				(unsigned long long)sectors);
	return ret;
}

/* Estimate the number of blocks per plane that holds @sectors. */
static int estimate_block_count(const struct target_line *line, u64 sectors, u64 *blocks,
				struct aftl_error *error)
{
	struct aftl_geometry geo;
	u64 units;
	int ret = compute_smallest_shard_geometry(line, &geo, error);

	if (ret)
		return ret;
	units = compute_units_per_shard(line, &geo, sectors);
	units = (u64)(((__uint128_t)units * 10000 + 9999 - line->config.op) /
		      (10000 - line->config.op));
	*blocks = max(DIV_ROUND_UP(units, (u64)geo.ppns), (u64)1);
	return 0;
}

int target_line_fit_block_count(struct target_line *line, u64 sectors, struct aftl_error *error)
{
	struct aftl_error unused;
	u64 blocks;
	int ret = estimate_block_count(line, sectors, &blocks, error);

	if (ret)
		return ret;
	ret = set_and_check_block_count(line, blocks, sectors, error);
	/* The policy's reserve or the rounding to zones needs more blocks: enlarge the device. */
	for (unsigned int tries = 0; ret && tries < FIT_TRIES; tries++) {
		blocks += blocks / 16 + 1;
		if (!set_and_check_block_count(line, blocks, sectors, &unused))
			return 0;
	}
	return ret;
}

/* Text */

void target_line_format_timing(const struct target_line *line, char text[AFTL_VALUE_SIZE])
{
	if (line->scale == TARGET_TIMING_OFF)
		scnprintf(text, AFTL_VALUE_SIZE, "off");
	else if (line->scale == 1)
		scnprintf(text, AFTL_VALUE_SIZE, "real");
	else
		scnprintf(text, AFTL_VALUE_SIZE, "scale:%u", line->scale);
}

/* Print the parameters that differ from the profile; return the number of printed words. */
static unsigned int print_nondefault_line_params(const struct target_line *line, char *text,
						 size_t size)
{
	char value[AFTL_VALUE_SIZE];
	unsigned int i, words = 0;
	size_t used = 0;

	text[0] = '\0';
	for (i = 0; i < aftl_param_count(); i++) {
		if (aftl_param_get(&line->config, i) == aftl_param_get(&line->standard, i))
			continue;
		aftl_param_format(aftl_param_at(i), aftl_param_get(&line->config, i), value);
		used += scnprintf(text + used, size - used, " %s %s", aftl_param_at(i)->key, value);
		words += 2;
	}
	return words;
}

void target_line_print(const struct target_line *line, char text[TARGET_LINE_SIZE])
{
	bool tagged = line->class == AFTL_APPROX;
	char params[TARGET_LINE_SIZE / 2];
	char timing[AFTL_VALUE_SIZE];
	char hint[AFTL_VALUE_SIZE] = "";
	char carriers[AFTL_CARRIERS_SIZE] = "";
	unsigned int words = 6 + (tagged ? 2 : 0) + (line->ioprio_hint ? 2 : 0) +
			     (line->carriers ? 2 : 0) +
			     print_nondefault_line_params(line, params, sizeof(params));

	target_line_format_timing(line, timing);
	if (line->ioprio_hint)
		scnprintf(hint, sizeof(hint), " ioprio_hint %u", line->ioprio_hint);
	if (line->carriers)
		aftl_tag_carriers_print(line->carriers, carriers);
	scnprintf(text, TARGET_LINE_SIZE, "%s %u profile %s policy %s timing %s%s%s%s%s%s",
		  line->store, words, line->profile, line->policy->name, timing,
		  tagged ? " tag_all approximate" : "", hint,
		  line->carriers ? " tag_carrier " : "", carriers, params);
}

/* Skip blanks and return the length of the word at @at; 0 at the end of the text. */
static size_t find_next_word_length(const char **at)
{
	*at += strspn(*at, " ");
	return strcspn(*at, " ");
}

/* Copy the next word of the line; return false if there is none or it is too long. */
static bool copy_next_word_of_line(const char **at, char *word, size_t size)
{
	size_t length = find_next_word_length(at);

	if (!length || length >= size)
		return false;
	memcpy(word, *at, length);
	word[length] = '\0';
	*at += length;
	return true;
}

/* Parse "profile NAME" (if @profile) or the other KEY VALUE pairs; the profile comes first. */
static int parse_key_value_pairs(struct target_line *line, const char *at, bool profile,
				 struct aftl_error *error)
{
	char key[64];
	char value[TARGET_STORE_SIZE];
	int ret = 0;

	while (!ret && copy_next_word_of_line(&at, key, sizeof(key))) {
		if (!copy_next_word_of_line(&at, value, sizeof(value)))
			return aftl_fail(error, -EINVAL, "option %s has no value", key);
		if (!strcmp(key, "profile") != profile)
			continue;
		ret = target_line_set_option(line, key, value, error);
		if (ret == -ENOENT)
			ret = 0;
	}
	return ret;
}

int target_line_parse(struct target_line *line, const char *text, struct aftl_error *error)
{
	char store[TARGET_STORE_SIZE];
	char count[32];
	int ret;

	target_line_init(line);
	if (!copy_next_word_of_line(&text, store, sizeof(store)) ||
	    !copy_next_word_of_line(&text, count, sizeof(count)))
		return aftl_fail(error, -EINVAL,
				 "the table line lacks the store or the number of arguments");
	scnprintf(line->store, sizeof(line->store), "%s", store);
	ret = parse_key_value_pairs(line, text, true, error);
	return ret ? ret : parse_key_value_pairs(line, text, false, error);
}
