// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse and print the table line.
 *
 *   <none|ram|DEVICE> <number of arguments that follow> [KEY VALUE]...
 *
 * DEVICE is a block device, by path or by number, and selects the durable store. Keys of the target
 * are those of enum target_key; all others are parameters of the FTL, see core/base/param-table.h.
 * The order is free; each key may occur once.
 */
#include <linux/ctype.h>
#include <linux/ioprio.h>

#include "compat.h"
#include "core/base/profiles.h"
#include "disk/carriers.h"
#include "log.h"
#include "target/options.h"

/* Keys of the target. In find_option_key() the parameters of the FTL follow them. */
enum target_key {
	KEY_PROFILE,
	KEY_POLICY,
	KEY_TIMING,
	KEY_TAG_ALL,
	KEY_IOPRIO_HINT,
	KEY_TAG_CARRIER,
	TARGET_KEYS,
};

static const char *const key_names[TARGET_KEYS] = {
	[KEY_PROFILE] = "profile",
	[KEY_POLICY] = "policy",
	[KEY_TIMING] = "timing",
	[KEY_TAG_ALL] = "tag_all",
	[KEY_IOPRIO_HINT] = "ioprio_hint",
	[KEY_TAG_CARRIER] = "tag_carrier",
};

static const struct aftl_store_type *const stores[] = { &aftl_store_none, &aftl_store_ram };

static int parse_data_store_name(struct aftl_options *options, const char *name,
				 struct aftl_error *error)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stores); i++) {
		if (!strcmp(stores[i]->name, name)) {
			options->store = stores[i];
			return 0;
		}
	}
	if (*name != '/' && !isdigit(*name))
		return aftl_fail(error, -EINVAL,
				 "\"%.40s\" is not a store; there are none, ram, and block devices by path",
				 name);
	options->store = &aftl_store_dev;
	return 0;
}

static int parse_argument_count(unsigned int words, const char *text, struct aftl_error *error)
{
	unsigned int count;

	if (kstrtouint(text, 10, &count))
		return aftl_fail(error, -EINVAL,
				 "the number of words that follow the store is \"%.40s\"; it must be a whole number",
				 text);
	if (count != words)
		return aftl_fail(error, -EINVAL,
				 "the table line announces %u option words, but %u follow", count,
				 words);
	return 0;
}

/* Return the index of @key among the target's keys and the FTL's parameters, or -ENOENT. */
static int find_option_key(const char *key)
{
	int index;

	for (index = 0; index < TARGET_KEYS; index++)
		if (!strcmp(key_names[index], key))
			return index;
	index = aftl_param_find(key);
	return index < 0 ? index : TARGET_KEYS + index;
}

static int check_keys_of_table_line(unsigned int argc, char **argv, struct aftl_error *error)
{
	DECLARE_BITMAP(seen, TARGET_KEYS + AFTL_PARAMS_MAX) = { 0 };
	unsigned int i;

	for (i = 0; i < argc; i += 2) {
		int index = find_option_key(argv[i]);

		if (index < 0)
			return aftl_fail(error, -EINVAL,
					 "unknown option \"%.40s\"; there are profile, policy, timing, tag_all, ioprio_hint, tag_carrier and what \"approxftl params\" lists",
					 argv[i]);
		if (i + 1 == argc)
			return aftl_fail(error, -EINVAL, "option %s has no value", argv[i]);
		if (__test_and_set_bit(index, seen))
			return aftl_fail(error, -EINVAL, "option %s is given twice", argv[i]);
	}
	return 0;
}

static const char *find_option_value(unsigned int argc, char **argv, enum target_key key,
				     const char *standard)
{
	unsigned int i;

	for (i = 0; i < argc; i += 2)
		if (!strcmp(argv[i], key_names[key]))
			return argv[i + 1];
	return standard;
}

/*
 * Default to a mapping unit of 4 KiB where flash pages are larger: the unit is the logical block
 * size, which Linux limits to the size of a memory page.
 */
static void limit_default_mapping_unit(struct aftl_config *config)
{
	if (!config->unit && config->page > SZ_4K)
		config->unit = SZ_4K;
}

static int parse_profile(struct aftl_options *options, const char *name, struct aftl_error *error)
{
	int ret = aftl_profile_load(&options->standard, name, error);

	if (ret)
		return ret;
	options->profile = 0;
	while (strcmp(aftl_profile_name(options->profile), name))
		options->profile++;
	limit_default_mapping_unit(&options->standard);
	options->config = options->standard;
	return 0;
}

static int report_unknown_policy(const char *name, struct aftl_error *error)
{
	char list[120];
	size_t used = 0;
	unsigned int i;

	for (i = 0; aftl_policy_at(i); i++)
		used += scnprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
				  aftl_policy_at(i)->name);
	return aftl_fail(error, -EINVAL, "unknown policy \"%.40s\"; there are %s", name, list);
}

static int parse_policy(struct aftl_options *options, const char *name, struct aftl_error *error)
{
	options->policy = aftl_policy_find(name);
	return options->policy ? 0 : report_unknown_policy(name, error);
}

static int parse_timing(struct aftl_options *options, const char *text, struct aftl_error *error)
{
	if (!strcmp(text, "real")) {
		options->scale = 1;
		return 0;
	}
	if (!strcmp(text, "off")) {
		options->scale = AFTL_TIMING_OFF;
		return 0;
	}
	if (!strncmp(text, "scale:", 6) && !kstrtou32(text + 6, 10, &options->scale) &&
	    options->scale >= 1 && options->scale <= AFTL_SCALE_MAX)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "timing: \"%.40s\" is not one of real, off or scale:N with N from 1 to %u",
			 text, AFTL_SCALE_MAX);
}

static int parse_tag_all_option(struct aftl_options *options, const char *text,
				struct aftl_error *error)
{
	static const char *const words[] = { "precise", "approximate", NULL };
	struct aftl_error cause;
	u64 class;

	if (aftl_parse_value(AFTL_PARAM_CHOICE, words, text, &class, &cause))
		return aftl_fail(error, -EINVAL, "tag_all: %.190s", cause.text);
	options->class = class;
	return 0;
}

static int parse_ioprio_hint(struct aftl_options *options, const char *text,
			     struct aftl_error *error)
{
	const u32 most = IOPRIO_NR_HINTS - 1;

	if (!kstrtou32(text, 10, &options->ioprio_hint) && options->ioprio_hint <= most)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "ioprio_hint: \"%.40s\" is not a number from 0, for none, to %u", text,
			 most);
}

/* Without tag_carrier the carriers are the inode and, with ioprio_hint, the I/O priority. */
static int parse_tag_carrier_option(struct aftl_options *options, const char *text,
				    struct aftl_error *error)
{
	u32 named = 0;
	int ret = text ? aftl_tag_carriers_parse(text, &named, error) : 0;

	if (ret)
		return ret;
	if (named & 1U << AFTL_CARRIER_IOPRIO && !options->ioprio_hint)
		options->ioprio_hint = AFTL_IOPRIO_HINT;
	options->carriers = text ? named : aftl_get_default_tag_carriers(options->ioprio_hint);
	return 0;
}

static int parse_params(struct aftl_options *options, unsigned int argc, char **argv,
			struct aftl_error *error)
{
	unsigned int i;
	int ret;

	for (i = 0; i < argc; i += 2) {
		if (find_option_key(argv[i]) < TARGET_KEYS)
			continue;
		ret = aftl_param_set(&options->config, argv[i], argv[i + 1], error);
		if (ret)
			return ret;
	}
	return 0;
}

/* Refuse an initial fill on a block device: the result would not be in the volume. */
static int refuse_fill_on_block_device(const struct aftl_options *options, struct aftl_error *error)
{
	if (options->store != &aftl_store_dev)
		return 0;
	if (options->config.fill)
		return aftl_fail(error, -EINVAL,
				 "fill: a block device holds real data; write it once instead");
	return 0;
}

/* Refuse a mapping unit that cannot be the logical block size of the kernel. */
static int check_mapping_unit_option(const struct aftl_config *config, struct aftl_error *error)
{
	u64 unit = config->unit ? config->unit : config->page;

	if (unit <= SZ_4K)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "a mapping unit of %llu bytes cannot be a sector of the kernel; say unit 4KiB",
			 unit);
}

/* Refuse random write areas: no request of Linux opens a zone with one, or commits it. */
static int refuse_random_write_areas(const struct aftl_config *config, struct aftl_error *error)
{
	if (!config->zrwa)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "zrwa: Linux's block layer has no zone random write areas; set zrwa 0");
}

int aftl_options_parse(struct aftl_options *options, unsigned int argc, char **argv,
		       struct aftl_error *error)
{
	int ret;

	if (argc < 2)
		return aftl_fail(error, -EINVAL,
				 "a store (none, ram or a block device) and the number of words that follow are missing");
	ret = parse_data_store_name(options, argv[0], error);
	if (!ret)
		ret = parse_argument_count(argc - 2, argv[1], error);
	argc -= 2;
	argv += 2;
	if (!ret)
		ret = check_keys_of_table_line(argc, argv, error);
	if (!ret)
		ret = parse_profile(options, find_option_value(argc, argv, KEY_PROFILE, "demo"),
				    error);
	if (!ret)
		ret = parse_policy(options, find_option_value(argc, argv, KEY_POLICY, "approxftl"),
				   error);
	if (!ret)
		ret = parse_timing(options, find_option_value(argc, argv, KEY_TIMING, "real"),
				   error);
	if (!ret)
		ret = parse_tag_all_option(options,
					   find_option_value(argc, argv, KEY_TAG_ALL, "precise"),
					   error);
	if (!ret)
		ret = parse_ioprio_hint(options,
					find_option_value(argc, argv, KEY_IOPRIO_HINT, "0"), error);
	if (!ret)
		ret = parse_tag_carrier_option(options,
					       find_option_value(argc, argv, KEY_TAG_CARRIER, NULL),
					       error);
	if (!ret)
		ret = parse_params(options, argc, argv, error);
	if (!ret)
		ret = refuse_fill_on_block_device(options, error);
	if (!ret)
		ret = refuse_random_write_areas(&options->config, error);
	return ret ? ret : check_mapping_unit_option(&options->config, error);
}

static bool is_param_at_default_value(const struct aftl_options *options, unsigned int index)
{
	return aftl_param_get(&options->config, index) == aftl_param_get(&options->standard, index);
}

static unsigned int count_words_of_table_line(const struct aftl_options *options)
{
	unsigned int words = 2 * KEY_TAG_ALL;
	unsigned int i;

	words += options->class == AFTL_APPROX ? 2 : 0;
	words += options->ioprio_hint ? 2 : 0;
	words += options->carriers != aftl_get_default_tag_carriers(options->ioprio_hint) ? 2 : 0;
	for (i = 0; i < aftl_param_count(); i++)
		words += is_param_at_default_value(options, i) ? 0 : 2;
	return words;
}

/* Print a key and its value for a table line or, if @measured, for an IMA record. */
static unsigned int print_option_pair(bool measured, const char *key, const char *value,
				      char *result, unsigned int maxlen)
{
	unsigned int sz = 0;

	DMEMIT(measured ? ",%s=%s" : " %s %s", key, value);
	return sz;
}

static const char *format_timing_option(u32 scale, char text[AFTL_VALUE_SIZE])
{
	if (scale == AFTL_TIMING_OFF)
		return "off";
	if (scale == 1)
		return "real";
	snprintf(text, AFTL_VALUE_SIZE, "scale:%u", scale);
	return text;
}

static unsigned int print_target_options(const struct aftl_options *options, bool measured,
					 char *result, unsigned int maxlen)
{
	char carriers[AFTL_CARRIERS_SIZE];
	char value[AFTL_VALUE_SIZE];
	unsigned int sz = 0;

	sz += print_option_pair(measured, "profile", aftl_profile_name(options->profile),
				result + sz, maxlen - sz);
	sz += print_option_pair(measured, "policy", options->policy->name, result + sz,
				maxlen - sz);
	sz += print_option_pair(measured, "timing", format_timing_option(options->scale, value),
				result + sz, maxlen - sz);
	if (options->class == AFTL_APPROX)
		sz += print_option_pair(measured, "tag_all", "approximate", result + sz,
					maxlen - sz);
	if (options->ioprio_hint) {
		snprintf(value, sizeof(value), "%u", options->ioprio_hint);
		sz += print_option_pair(measured, "ioprio_hint", value, result + sz, maxlen - sz);
	}
	if (options->carriers != aftl_get_default_tag_carriers(options->ioprio_hint)) {
		aftl_tag_carriers_print(options->carriers, carriers);
		sz += print_option_pair(measured, "tag_carrier", carriers, result + sz,
					maxlen - sz);
	}
	return sz;
}

static unsigned int print_option_keys(const struct aftl_options *options, bool measured,
				      char *result, unsigned int maxlen)
{
	unsigned int sz = print_target_options(options, measured, result, maxlen);
	char value[AFTL_VALUE_SIZE];
	unsigned int i;

	for (i = 0; i < aftl_param_count(); i++) {
		if (is_param_at_default_value(options, i))
			continue;
		aftl_param_format(aftl_param_at(i), aftl_param_get(&options->config, i), value);
		sz += print_option_pair(measured, aftl_param_at(i)->key, value, result + sz,
					maxlen - sz);
	}
	return sz;
}

static const char *get_store_name_of_options(const struct aftl_options *options)
{
	return options->device[0] ? options->device : options->store->name;
}

unsigned int aftl_options_print(const struct aftl_options *options, char *result,
				unsigned int maxlen)
{
	unsigned int sz = 0;

	DMEMIT("%s %u", get_store_name_of_options(options), count_words_of_table_line(options));
	return sz + print_option_keys(options, false, result + sz, maxlen - sz);
}

unsigned int aftl_options_measure_ima(const struct aftl_options *options, char *result,
				      unsigned int maxlen)
{
	unsigned int sz = 0;

	DMEMIT(",store=%s", get_store_name_of_options(options));
	sz += print_option_keys(options, true, result + sz, maxlen - sz);
	DMEMIT(";");
	return sz;
}
