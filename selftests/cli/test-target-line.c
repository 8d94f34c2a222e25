// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table lines are parsed as printed, get their size from the core, or are refused with a message.
 */
#include "core/base/profiles.h"
#include "core/policy/policies.h"
#include "core/policy/param-registry.h"
#include "tap.h"
#include "target-line.h"

static struct target_line line, again;
static struct aftl_error error;
static char text[TARGET_LINE_SIZE];

static void set_table_line_key(const char *key, const char *value)
{
	CHECK_MSG(!target_line_set_option(&line, key, value, &error), "%s=%s: %s", key, value,
		  error.text);
}

static void check_printed_table_line_parses_back(void)
{
	char back[TARGET_LINE_SIZE];

	target_line_print(&line, text);
	CHECK_MSG(!target_line_parse(&again, text, &error), "%s: %s", text, error.text);
	target_line_print(&again, back);
	CHECK_TEXT(back, text);
	CHECK(!memcmp(&line.config, &again.config, sizeof(line.config)));
	CHECK(line.policy == again.policy);
	CHECK_EQ(line.scale, again.scale);
	CHECK_EQ(line.class, again.class);
}

TAP_TEST(the_standard_table_line_is_built)
{
	target_line_init(&line);
	check_printed_table_line_parses_back();
	CHECK_TEXT(text, "ram 6 profile demo policy approxftl timing real");
}

TAP_TEST(every_profile_with_every_policy_is_read_as_printed)
{
	unsigned int i, j;

	for (i = 0; aftl_profile_name(i); i++) {
		for (j = 0; aftl_policy_at(j); j++) {
			target_line_init(&line);
			set_table_line_key("profile", aftl_profile_name(i));
			set_table_line_key("policy", aftl_policy_at(j)->name);
			check_printed_table_line_parses_back();
		}
	}
}

static void check_parameter_value(const char *key, const char *value)
{
	target_line_init(&line);
	set_table_line_key(key, value);
	check_printed_table_line_parses_back();
}

/* Set each parameter to each of its named values, or to both ends of its range. */
TAP_TEST(every_parameter_is_read_as_printed)
{
	char value[AFTL_VALUE_SIZE];
	unsigned int i, j;

	for (i = 0; i < aftl_param_count(); i++) {
		const struct aftl_param *param = aftl_param_at(i);

		for (j = 0; param->words && param->words[j]; j++)
			check_parameter_value(param->key, param->words[j]);
		aftl_param_format(param, param->smallest, value);
		check_parameter_value(param->key, value);
		aftl_param_format(param, param->largest, value);
		check_parameter_value(param->key, value);
	}
}

TAP_TEST(all_parameters_together_are_read_as_printed)
{
	char value[AFTL_VALUE_SIZE];
	unsigned int i;

	target_line_init(&line);
	set_table_line_key("store", "/dev/mapper/below");
	set_table_line_key("tag_all", "approximate");
	set_table_line_key("ioprio_hint", "1023");
	set_table_line_key("tag_carrier", "inode,write_hint,ioprio,write_stream");
	set_table_line_key("timing", "scale:1000000");
	for (i = 0; i < aftl_param_count(); i++) {
		aftl_param_format(aftl_param_at(i), aftl_param_at(i)->largest, value);
		set_table_line_key(aftl_param_at(i)->key, value);
	}
	check_printed_table_line_parses_back();
	CHECK(strlen(text) < TARGET_LINE_SIZE - 1);
}

TAP_TEST(table_keys_of_a_newer_target_are_skipped)
{
	CHECK(!target_line_parse(&line, "none 8 colour red profile tos22 policy cubeftl timing off",
				 &error));
	CHECK_TEXT(line.profile, "tos22");
	CHECK_TEXT(line.policy->name, "cubeftl");
	CHECK_EQ(line.scale, TARGET_TIMING_OFF);
}

static void check_table_line_refused(const char *key, const char *value, const char *part)
{
	target_line_init(&line);
	again = line;
	CHECK_MSG(target_line_set_option(&line, key, value, &error) < 0, "%s=%s", key, value);
	CHECK_CONTAINS(error.text, part);
	CHECK(!memcmp(&line, &again, sizeof(line)));
}

TAP_TEST(invalid_values_in_a_table_line_are_refused)
{
	check_table_line_refused("store", "disk",
				 "is not a store; there are none, ram and the path");
	check_table_line_refused("store", "/dev/a b", "is too long or has blanks");
	check_table_line_refused("profile", "x", "unknown profile \"x\"; there are demo");
	check_table_line_refused("policy", "best", "unknown policy \"best\"; there are baseline");
	check_table_line_refused("timing", "fast", "is not one of real, off or scale:N");
	check_table_line_refused("timing", "scale:0", "is not one of real, off or scale:N");
	check_table_line_refused("timing", "scale:1000001", "is not one of real, off or scale:N");
	check_table_line_refused("timing", "scale:", "is not one of real, off or scale:N");
	check_table_line_refused("tag_all", "maybe",
				 "tag_all: \"maybe\" is not one of precise or approximate");
	check_table_line_refused("ioprio_hint", "1024",
				 "ioprio_hint: \"1024\" is not a number from 0, for none, to 1023");
	check_table_line_refused("tag_carrier", "",
				 "tag_carrier: \"\" is not a list such as inode,ioprio");
	check_table_line_refused("tag_carrier", "inode,", "is not a list");
	check_table_line_refused("tag_carrier", "inode,inode", "each at most once");
	check_table_line_refused("tag_carrier", "inode ioprio", "is not a list");
	check_table_line_refused("tag_carrier", "ino",
				 "there are inode, write_hint, ioprio and write_stream");
	check_table_line_refused("op", "much", "op: \"much\" is not a percentage");
	check_table_line_refused("victim", "lru",
				 "victim: \"lru\" is not one of greedy, cost_benefit, d_choices");
	check_table_line_refused("victim", "lru", ", fifo or windowed");
	check_table_line_refused("allocate", "random",
				 "allocate: \"random\" is not one of rotate, static or least_busy");
	check_table_line_refused("stripe", "cwd", "stripe: \"cwd\" is not one of cwdp, cwpd, cdwp");
	check_table_line_refused("stripe", "cwd", "pwdc, pdcw or pdwc");
	check_table_line_refused("colour", "red", "unknown option \"colour\"");
}

TAP_TEST(malformed_table_lines_are_refused)
{
	static const char *const broken[] = {
		"", "ram", "ram 1 op", "ram 2 op much", "ram 2 profile x", "ram 2 policy best",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(broken); i++)
		CHECK_MSG(target_line_parse(&line, broken[i], &error) == -EINVAL, "\"%s\"",
			  broken[i]);
}

TAP_TEST(the_device_size_equals_that_of_the_core)
{
	struct target_size size;

	target_line_init(&line);
	CHECK(!target_line_compute_device_size(&line, &size, &error));
	CHECK_EQ(size.sectors, 128 * 4 * 256 * 85 / 100 * 8);
	CHECK_EQ(size.shards.geo.unit_bytes, 4096);
	CHECK_RANGE(size.memory_bytes, 1000000, 4000000);
}

TAP_TEST(impossible_devices_are_refused)
{
	struct target_size size;

	target_line_init(&line);
	set_table_line_key("blocks", "16");
	CHECK_EQ(target_line_compute_device_size(&line, &size, &error), -EINVAL);
	CHECK_CONTAINS(error.text, "policy approxftl keeps");
	target_line_init(&line);
	set_table_line_key("unit", "0");
	CHECK_EQ(target_line_compute_device_size(&line, &size, &error), -EINVAL);
	CHECK_CONTAINS(error.text, "cannot be a sector of the kernel; say unit=4KiB");
}

/* The kernel's sectors are at most 4 KiB, even if the profile maps larger pages. */
TAP_TEST(a_profile_that_maps_whole_pages_is_built)
{
	struct target_size size;

	target_line_init(&line);
	set_table_line_key("profile", "micro19");
	CHECK(!target_line_compute_device_size(&line, &size, &error));
	CHECK_RANGE(size.shards.geo.unit_bytes, 512, 4096);
	check_printed_table_line_parses_back();
}

static void check_profile_has_size(const char *profile, u64 mib)
{
	u64 sectors = mib * 2048;
	struct target_size size;

	target_line_init(&line);
	set_table_line_key("profile", profile);
	CHECK_MSG(!target_line_fit_block_count(&line, sectors, &error), "%s %llu MiB: %s",
		  profile, (unsigned long long)mib, error.text);
	CHECK(!target_line_compute_device_size(&line, &size, &error));
	CHECK_MSG(size.sectors >= sectors, "%s %llu MiB", profile, (unsigned long long)mib);
}

TAP_TEST(the_number_of_blocks_follows_from_the_size)
{
	struct target_size size;
	u64 mib;

	for (mib = 1; mib <= 1 << 20; mib *= 8) {
		check_profile_has_size("demo", mib);
		check_profile_has_size("tcad18", mib);
	}
	/* The fitted number of blocks is the least: one less gives a capacity below 4 GiB. */
	check_profile_has_size("demo", 4096);
	line.config.blocks--;
	CHECK(!target_line_compute_device_size(&line, &size, &error));
	CHECK(size.sectors < 4096 * 2048ULL);
}

TAP_TEST(sizes_without_a_number_of_blocks_are_refused)
{
	target_line_init(&line);
	CHECK_EQ(target_line_fit_block_count(&line, 1ULL << 50, &error), -EINVAL);
	CHECK_CONTAINS(error.text, "is out of range");
}
