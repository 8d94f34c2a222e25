// SPDX-License-Identifier: GPL-2.0-only
#include "core/policy/param-registry.h"
#include "starting-state.h"

static bool does_device_start_empty(const struct aftl_config *config)
{
	return config->fill == AFTL_FILL_NONE || !config->fill_valid;
}

const char *starting_state_get_name(const struct aftl_config *config)
{
	if (does_device_start_empty(config))
		return "empty";
	return config->fill == AFTL_FILL_RANDOM ? "random" : "sequential";
}

/* Print the value of a parameter as the user would type it. */
static void format_config_parameter_value(const struct aftl_config *config, const char *key,
					  char text[AFTL_VALUE_SIZE])
{
	unsigned int index = aftl_param_find(key);

	aftl_param_format(aftl_param_at(index), aftl_param_get(config, index), text);
}

void starting_state_print(const struct aftl_config *config, char text[STARTING_STATE_SIZE])
{
	const char *order = config->fill == AFTL_FILL_RANDOM ? "at random" : "in sequence";
	char valid[AFTL_VALUE_SIZE], overwritten[AFTL_VALUE_SIZE];
	size_t used;

	if (does_device_start_empty(config)) {
		scnprintf(text, STARTING_STATE_SIZE, "starts empty");
		return;
	}
	format_config_parameter_value(config, "fill_valid", valid);
	format_config_parameter_value(config, "fill_overwrite", overwritten);
	used = scnprintf(text, STARTING_STATE_SIZE, "starts filled %s, %s %% valid", order, valid);
	if (config->fill_overwrite)
		scnprintf(text + used, STARTING_STATE_SIZE - used, ", then %s %% overwritten",
			  overwritten);
}
