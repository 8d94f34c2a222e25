// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of key=value are refused with a message, or set values whose printed text parses back.
 */
#include "core/base/geometry.h"
#include "core/policy/param-registry.h"
#include "lib/fuzz.h"

static void check_param_value(const struct aftl_config *config, const char *key)
{
	int index = aftl_param_find(key);
	const struct aftl_param *param;
	struct aftl_config again = *config;
	struct aftl_error error;
	char text[AFTL_VALUE_SIZE];
	u64 value;

	fuzz_assert(index >= 0);
	param = aftl_param_at(index);
	value = aftl_param_get(config, index);
	fuzz_assert(value >= param->smallest && value <= param->largest);
	aftl_param_format(param, value, text);
	fuzz_assert(strlen(text) < sizeof(text));
	fuzz_assert(!aftl_param_set(&again, key, text, &error));
	fuzz_assert(aftl_param_get(&again, index) == value);
}

static void set_param_from_line(struct aftl_config *config, char *line)
{
	struct aftl_config before = *config;
	struct aftl_error error = { "" };
	char *value = strchr(line, '=');

	if (!value) {
		fuzz_assert(aftl_profile_load(&before, line, &error) ||
			    aftl_param_find("page") >= 0);
		return;
	}
	*value++ = '\0';
	if (aftl_param_set(config, line, value, &error)) {
		check_refusal_has_message(&error);
		fuzz_assert(!memcmp(config, &before, sizeof(before)));
	} else {
		check_param_value(config, line);
	}
}

static void check_config_geometry(const struct aftl_config *config)
{
	struct aftl_geometry geo;
	struct aftl_error error = { "" };

	if (aftl_geometry_init(&geo, config, &error)) {
		check_refusal_has_message(&error);
		return;
	}
	fuzz_assert(geo.units && geo.units <= geo.ppns);
	fuzz_assert((u64)geo.blocks * geo.pages * geo.page_units == geo.ppns);
	fuzz_assert((u64)geo.ppns * geo.unit_bytes ==
		    (u64)geo.blocks * geo.pages * geo.page_bytes);
}

int fuzz_input(const u8 *data, size_t size)
{
	struct aftl_config config;
	struct aftl_error error;
	char *text = malloc(size + 1);
	char *line;
	char *rest;

	if (!text || aftl_profile_load(&config, "demo", &error))
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		set_param_from_line(&config, line);
	check_config_geometry(&config);
	free(text);
	return 0;
}
