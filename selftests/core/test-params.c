// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameter keys, values, and messages for invalid ones.
 */
#include "core/base/profiles.h"
#include "core/policy/nand-policy.h"
#include "core/policy/victim-rules.h"
#include "tap.h"
#include "test-device.h"

static struct aftl_config demo_config(void)
{
	struct aftl_config config;
	struct aftl_error error;

	if (aftl_profile_load(&config, "demo", &error))
		tap_bail_out("%s", error.text);
	return config;
}

static void check_param_round_trip(const struct aftl_param *param, u64 value)
{
	struct aftl_config config = demo_config();
	struct aftl_error error = { "" };
	char text[AFTL_VALUE_SIZE];
	char again[AFTL_VALUE_SIZE];
	u64 *stored = aftl_config_param_ptr(&config, aftl_param_find(param->key));

	memset(text, 'x', sizeof(text));
	aftl_param_format(param, value, text);
	if (!CHECK_MSG(memchr(text, '\0', sizeof(text)), "%s is not terminated", param->key))
		return;
	*stored = value ? 0 : 1;
	CHECK_MSG(!aftl_param_set(&config, param->key, text, &error), "%s = %s: %s", param->key,
		  text, error.text);
	CHECK_MSG(*stored == value, "%s = %s gives %llu, not %llu", param->key, text,
		  (unsigned long long)*stored, (unsigned long long)value);
	aftl_param_format(param, *stored, again);
	CHECK_TEXT(again, text);
}

TAP_TEST(every_default_and_limit_survives_print_and_set)
{
	unsigned int i;

	for (i = 0; i < aftl_param_count(); i++) {
		check_param_round_trip(aftl_param_at(i), aftl_param_at(i)->standard);
		check_param_round_trip(aftl_param_at(i), aftl_param_at(i)->smallest);
		check_param_round_trip(aftl_param_at(i), aftl_param_at(i)->largest);
	}
}

TAP_TEST(random_values_survive_print_and_set)
{
	struct aftl_random random = { 11 };
	unsigned int i;
	int round;

	for (i = 0; i < aftl_param_count(); i++) {
		u64 range = aftl_param_at(i)->largest - aftl_param_at(i)->smallest;

		if (aftl_param_at(i)->type == AFTL_PARAM_WEIGHTS)
			continue;
		for (round = 0; round < 200; round++) {
			u64 draw = aftl_random_next(&random) >> aftl_random_below(&random, 64);

			check_param_round_trip(aftl_param_at(i),
					       aftl_param_at(i)->smallest +
						 (range == U64_MAX ? draw : draw % (range + 1)));
		}
	}
}

/* Draw valid host queue weights, because most numbers do not encode weights. */
static u64 draw_valid_host_queue_weights(struct aftl_random *random)
{
	u64 value = 0;
	u32 i;

	for (i = aftl_random_below(random, AFTL_QUEUES_MAX + 1); i; i--)
		value = value << 8 | (1 + aftl_random_below(random, 255));
	return value;
}

TAP_TEST(weights_survive_print_and_set)
{
	const struct aftl_param *param = aftl_param_at(AFTL_PARAM_AT(queue_weights));
	struct aftl_random random = { 12 };
	u64 value;
	u32 round;

	for (round = 0; round < 1000; round++) {
		value = draw_valid_host_queue_weights(&random);
		check_param_round_trip(param, value);
		if (aftl_queue_weight_count(value) < AFTL_QUEUES_MAX)
			CHECK_EQ(aftl_queue_weight_at(value, aftl_queue_weight_count(value)), 1);
	}
}

TAP_TEST(the_parameter_table_is_consistent)
{
	unsigned int i;
	unsigned int j;

	for (i = 0; i < aftl_param_count(); i++) {
		const struct aftl_param *param = aftl_param_at(i);

		CHECK_MSG(param->standard >= param->smallest && param->standard <= param->largest,
			  "%s: default out of range", param->key);
		CHECK_MSG(param->help && param->help[0], "%s: no help", param->key);
		CHECK_MSG((param->type == AFTL_PARAM_CHOICE) == !!param->words,
			  "%s: words", param->key);
		CHECK_EQ(aftl_param_find(param->key), i);
		for (j = 0; param->words && param->words[j]; j++)
			;
		CHECK_MSG(!param->words || j == param->largest + 1, "%s has %u words", param->key,
			  j);
	}
	CHECK_EQ(aftl_param_find("nonsense"), -ENOENT);
	CHECK_EQ(aftl_param_find(""), -ENOENT);
}

/* Parameters of a policy or victim selector are found by name and by their owner. */
static void check_policy_param_owner(const struct aftl_param_group *group)
{
	struct aftl_config config = demo_config();
	const u64 *values = aftl_get_values_of_param_group(&config, group);
	u32 i;

	if (!group || !CHECK_MSG(values, "raise AFTL_OWN_PARAMS"))
		return;
	for (i = 0; i < group->count; i++) {
		const struct aftl_param *param = &group->params[i];
		int index = aftl_param_find(param->key);

		CHECK(aftl_param_at(index) == param);
		CHECK_EQ(values[i], param->standard);
		*aftl_config_param_ptr(&config, index) = param->smallest + 17;
		CHECK_EQ(values[i], param->smallest + 17);
		CHECK((aftl_param_change(index) == AFTL_CHANGE_LIVE) == group->live);
	}
}

TAP_TEST(policies_and_rules_have_their_own_parameters)
{
	unsigned int i;

	for (i = 0; aftl_policy_at(i); i++) {
		check_policy_param_owner(aftl_policy_at(i)->params[0]);
		check_policy_param_owner(aftl_policy_at(i)->params[1]);
	}
	for (i = 0; i < AFTL_VICTIMS; i++)
		check_policy_param_owner(aftl_victim_rule(i)->params);
	CHECK_RANGE(aftl_param_count(), AFTL_CORE_PARAMS + 15, AFTL_PARAMS_MAX);
	CHECK_EQ(aftl_param_change(aftl_param_find("candidates")), AFTL_CHANGE_RELOAD);
	CHECK_EQ(aftl_param_change(aftl_param_find("zone1")), AFTL_CHANGE_LIVE);
}

struct good_value {
	const char *key;
	const char *text;
	u64 value;
};

static const struct good_value good_values[] = {
	{ "channels", "64", 64 },
	{ "channels", "008", 8 },
	{ "blocks", "1k", 1000 },
	{ "blocks", "0.5M", 500000 },
	{ "seed", "1e19", 10000000000000000000ULL },
	{ "seed", "2E10", 20000000000ULL },
	{ "page", "16KiB", 16384 },
	{ "page", "4096", 4096 },
	{ "page", "0.5KiB", 512 },
	{ "page", "65536B", 65536 },
	{ "page", "4k", 4096 },
	{ "page", "16KB", 16384 },
	{ "page", "16kib", 16384 },
	{ "page", "0.0625m", 65536 },
	{ "buffer", "1g", 1ULL << 30 },
	{ "buffer", "1.5MiB", 1572864 },
	{ "buffer", "4GiB", 4294967296ULL },
	{ "unit", "0", 0 },
	{ "read", "45us", 45000 },
	{ "read", "0.045ms", 45000 },
	{ "read", "45000ns", 45000 },
	{ "read", "0", 0 },
	{ "read", "0.0", 0 },
	{ "erase", "3.5ms", 3500000 },
	{ "erase", "1s", 1000000000 },
	{ "refresh", "7d", 604800000000000ULL },
	{ "refresh", "36h", 129600000000000ULL },
	{ "refresh", "90min", 5400000000000ULL },
	{ "op", "7", 700 },
	{ "op", "12.5", 1250 },
	{ "op", "12.5%", 1250 },
	{ "op", "12.34", 1234 },
	{ "op", "12.340000", 1234 },
	{ "rber", "1e-8", 10000 },
	{ "rber", "7.2e-4", 720000000 },
	{ "rber", "0", 0 },
	{ "rber", "0.001", 1000000000 },
	{ "rber", "1e-12", 1 },
	{ "rber", "0.1", 100000000000ULL },
	{ "seed", "18446744073709551615", U64_MAX },
	{ "suspend", "both", AFTL_SUSPEND_BOTH },
	{ "plane_mode", "wide", AFTL_PLANES_WIDE },
	{ "order", "fcfs", AFTL_SCHED_FCFS },
	{ "one_shot", "on", AFTL_ON },
	{ "queue_weights", "0", 0 },
	{ "queue_weights", "7", 7 },
	{ "queue_weights", "3:1", 0x103 },
	{ "queue_weights", "1:2:3:4:5:6:7:255", 0xff07060504030201ULL },
};

TAP_TEST(valid_values_are_parsed)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good_values); i++) {
		const struct good_value *good = &good_values[i];
		struct aftl_config config = demo_config();
		struct aftl_error error = { "" };

		CHECK_MSG(!aftl_param_set(&config, good->key, good->text, &error), "%s",
			  error.text);
		CHECK_MSG(aftl_param_get(&config, aftl_param_find(good->key)) == good->value,
			  "%s = %s", good->key, good->text);
	}
}

struct bad_value {
	const char *key;
	const char *text;
	const char *part;
};

static const struct bad_value bad_values[] = {
	{ "channel", "1", "unknown parameter \"channel\"" },
	{ "", "1", "unknown parameter \"\"" },
	{ "channels", "", "channels: \"\" is not a whole number" },
	{ "channels", "x", "channels: \"x\" is not a whole number" },
	{ "channels", "-1", "\"-1\"" },
	{ "channels", "+1", "\"+1\"" },
	{ "channels", " 1", "\" 1\"" },
	{ "channels", "1 ", "\"1 \"" },
	{ "channels", "1.5", "is not a whole number" },
	{ "channels", "0x10", "is not a whole number" },
	{ "channels", "1e", "is not a whole number" },
	{ "channels", "1e1x", "is not a whole number" },
	{ "channels", "1kb", "is not a whole number" },
	{ "seed", "1e20", "is not a whole number" },
	{ "seed", "2e19", "out of range" },
	{ "channels", "1us", "is not a whole number" },
	{ "channels", "0", "out of range; it must be 1 to 64" },
	{ "channels", "65", "out of range; it must be 1 to 64" },
	{ "channels", "18446744073709551616", "out of range" },
	{ "channels", "99999999999999999999999999", "channels" },
	{ "page", "16ki", "a size such as" },
	{ "page", "16bb", "a size such as" },
	{ "page", "16kk", "a size such as" },
	{ "buffer", "16777216T", "buffer" },
	{ "page", "16 KiB", "a size such as" },
	{ "page", "0.3B", "a size such as" },
	{ "page", "511", "it must be 512B to 64KiB" },
	{ "page", "128KiB", "it must be 512B to 64KiB" },
	{ "buffer", "16777216TiB", "out of range" },
	{ "buffer", "17179869184GiB", "buffer" },
	{ "read", "45", "a duration such as" },
	{ "read", "45u", "a duration such as" },
	{ "read", "0.5ns", "a duration such as" },
	{ "read", "us", "a duration such as" },
	{ "read", ".5us", "a duration such as" },
	{ "read", "5.us", "a duration such as" },
	{ "read", "1.2.3us", "a duration such as" },
	{ "read", "2s", "it must be 0 to 1s" },
	{ "refresh", "213504d", "out of range" },
	{ "refresh", "18446744073709551615d", "refresh" },
	{ "op", "12.345", "a percentage such as" },
	{ "op", "7%%", "a percentage such as" },
	{ "op", "90.01", "it must be 0 to 90" },
	{ "rber", "1e8", "a rate such as" },
	{ "rber", "1e-", "a rate such as" },
	{ "rber", "1e-13", "a rate such as" },
	{ "rber", "1e-1.5", "a rate such as" },
	{ "rber", "1E-8", "a rate such as" },
	{ "rber", "0.2", "it must be 0 to 1e-1" },
	{ "suspend", "all", "\"all\" is not one of off, program, erase or both" },
	{ "suspend", "", "is not one of" },
	{ "one_shot", "1", "\"1\" is not one of off or on" },
	{ "stripe", "cwd", ", dwpc, dpcw, dpwc, pcwd, pcdw, pwcd, pwdc, pdcw or pdwc" },
	{ "queue_weights", "", "up to eight weights from 1 to 255" },
	{ "queue_weights", "3:", "up to eight weights" },
	{ "queue_weights", ":3", "up to eight weights" },
	{ "queue_weights", "3:0", "up to eight weights" },
	{ "queue_weights", "0:3", "up to eight weights" },
	{ "queue_weights", "3:256", "up to eight weights" },
	{ "queue_weights", "1.5", "up to eight weights" },
	{ "queue_weights", "3,1", "up to eight weights" },
	{ "queue_weights", "1:1:1:1:1:1:1:1:1", "up to eight weights" },
	{ "plane_mode", "Wide", "is not one of shared, independent or wide" },
};

static void check_param_refused(const char *key, const char *text, const char *part)
{
	struct aftl_config config = demo_config();
	struct aftl_config before = config;
	struct aftl_error error = { "" };

	CHECK_MSG(aftl_param_set(&config, key, text, &error) == -EINVAL, "%s = %s is taken", key,
		  text);
	CHECK_CONTAINS(error.text, part);
	CHECK_MSG(!memcmp(&config, &before, sizeof(config)), "%s = %s changed something", key,
		  text);
}

TAP_TEST(invalid_values_are_refused_with_the_cause)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad_values); i++)
		check_param_refused(bad_values[i].key, bad_values[i].text, bad_values[i].part);
}

TAP_TEST(overlong_texts_are_refused)
{
	char text[4096];
	unsigned int i;

	memset(text, '9', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (i = 0; i < aftl_param_count(); i++)
		check_param_refused(aftl_param_at(i)->key, text, aftl_param_at(i)->key);
	check_param_refused(text, "1", "unknown parameter");
	memset(text, '0', sizeof(text) - 1);
	text[1] = '.';
	text[sizeof(text) - 2] = '1';
	check_param_refused("rber", text, "rber");
}

TAP_TEST(values_outside_the_range_of_a_key_are_refused)
{
	unsigned int i;

	for (i = 0; i < aftl_param_count(); i++) {
		const struct aftl_param *param = aftl_param_at(i);
		char text[AFTL_VALUE_SIZE];

		if (param->type == AFTL_PARAM_CHOICE)
			continue;
		if (param->largest < U64_MAX) {
			aftl_param_format(param, param->largest + 1, text);
			check_param_refused(param->key, text, "out of range");
		}
		if (param->smallest) {
			aftl_param_format(param, param->smallest - 1, text);
			check_param_refused(param->key, text, "out of range");
		}
	}
}

TAP_TEST(profiles_keep_to_the_parameter_ranges)
{
	struct aftl_config config;
	struct aftl_error error;
	unsigned int i;
	unsigned int j;

	for (j = 0; aftl_profile_name(j); j++) {
		CHECK_EQ(aftl_profile_load(&config, aftl_profile_name(j), &error), 0);
		for (i = 0; i < aftl_param_count(); i++) {
			u64 value = aftl_param_get(&config, i);

			CHECK_MSG(value >= aftl_param_at(i)->smallest &&
				  value <= aftl_param_at(i)->largest, "%s: %s",
				  aftl_profile_name(j), aftl_param_at(i)->key);
		}
	}
}

/* Raw capacities of the profiles in MiB, as the papers state them. */
TAP_TEST(profiles_have_the_papers_capacity)
{
	static const struct {
		const char *name;
		u64 mib;
	} wanted[] = {
		{ "demo", 512 }, { "tcad18", 128 << 10 }, { "tos22", 576 << 10 },
		{ "micro19", 2ULL * 4 * 428 * 48 * 4 * 3 * 16 / 1024 },
	};
	struct aftl_geometry geo;
	struct aftl_config config;
	struct aftl_error error;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		CHECK_EQ(aftl_profile_load(&config, wanted[i].name, &error), 0);
		CHECK_EQ(aftl_geometry_init(&geo, &config, &error), 0);
		CHECK_EQ((u64)geo.ppns * geo.unit_bytes >> 20, wanted[i].mib);
	}
}

