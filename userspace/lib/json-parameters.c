// SPDX-License-Identifier: GPL-2.0-only
#include "core/policy/param-registry.h"
#include "json-parameters.h"

/* Units of parameters that have type AFTL_PARAM_COUNT but are physical quantities. */
static const struct unit {
	const char *key;
	const char *unit;
} units[] = {
	{ "bus", "_mb_per_second" },
	{ "link", "_mb_per_second" },
	{ "energy", "_microwatt" },
};

static const char *get_unit_name_of_param(const struct aftl_param *param)
{
	static const char *const of_types[] = {
		[AFTL_PARAM_BYTES] = "_bytes",
		[AFTL_PARAM_TIME] = "_ns",
		[AFTL_PARAM_PERCENT] = "_percent",
		[AFTL_PARAM_WEIGHTS] = NULL,
	};
	const char *unit = of_types[param->type];

	for (unsigned int i = 0; i < ARRAY_SIZE(units) && !unit; i++)
		if (!strcmp(param->key, units[i].key))
			unit = units[i].unit;
	return unit ? unit : "";
}

/* Write the weights of the host queues: byte i of @weights is for queue i; 0 ends the list. */
static void write_queue_weights_json(struct json_writer *json, const char *key, u64 weights)
{
	json_begin_inline_array(json, key);
	for (; weights; weights >>= 8)
		json_u64(json, NULL, weights & 255);
	json_end_array(json);
}

static void write_param_value_json(struct json_writer *json, const char *key,
				   const struct aftl_param *param, u64 value)
{
	switch (param->type) {
	case AFTL_PARAM_PERCENT:
		return json_decimal(json, key, value, 2);
	case AFTL_PARAM_RATE:
		return json_decimal(json, key, value, 12);
	case AFTL_PARAM_CHOICE:
		return json_string(json, key, param->words[value]);
	case AFTL_PARAM_WEIGHTS:
		return write_queue_weights_json(json, key, value);
	default:
		return json_u64(json, key, value);
	}
}

void json_write_parameters(struct json_writer *json, const struct aftl_config *config)
{
	char key[64];

	json_begin_object(json, "parameters");
	for (unsigned int i = 0; i < aftl_param_count(); i++) {
		const struct aftl_param *param = aftl_param_at(i);

		scnprintf(key, sizeof(key), "%s%s", param->key, get_unit_name_of_param(param));
		write_param_value_json(json, key, param, aftl_param_get(config, i));
	}
	json_end_object(json);
}

void json_write_counters(struct json_writer *json, const struct aftl_counters *counters)
{
	json_begin_object(json, "counters");
	for (unsigned int i = 0; i < AFTL_COUNTERS; i++)
		json_u64(json, aftl_counter_info[i].name, aftl_counter_get(counters, i));
	json_end_object(json);
}

void json_write_placement_handles(struct json_writer *json, const struct aftl_handle_stats *handles,
				  u64 count)
{
	json_begin_inline_array(json, "placement_handles");
	for (unsigned int i = 0; i < count; i++) {
		json_begin_object(json, NULL);
		for (unsigned int j = 0; j < AFTL_HANDLE_COUNTERS; j++)
			json_u64(json, aftl_handle_counter_info[j].name,
				 aftl_get_handle_counter(&handles[i], j));
		json_end_object(json);
	}
	json_end_array(json);
}
