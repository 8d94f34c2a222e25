// SPDX-License-Identifier: GPL-2.0-only
#include "complain.h"
#include "json-parameters.h"
#include "uuid.h"
#include "volume-verbs.h"

enum exit_code report_volume_failure(const struct device_options *options, const char *path,
				     int ret, const struct aftl_error *error)
{
	bool named = strstr(error->text, path);

	if (ret == -EINTR)
		complain_as(options->verb, "interrupted");
	else
		complain_as(options->verb, "%s%s%s", named ? "" : path, named ? "" : ": ",
			    error->text);
	switch (ret) {
	case -ENOTBLK:
		return EXIT_NO_INPUT;
	case -EUCLEAN:
		return EXIT_NOT_VERIFIED;
	case -EINTR:
		return EXIT_INTERRUPTED;
	default:
		return get_exit_code_of_input_error(ret);
	}
}

/* Volume header */

void volume_write_header_json(struct json_writer *json, const struct aftl_volume_header *super)
{
	const struct aftl_layout *layout = &super->layout;
	char uuid[UUID_TEXT_SIZE];

	uuid_format(super->uuid, uuid);
	json_string(json, "uuid", uuid);
	if (super->config.shards > 1)
		json_u64(json, "shard", super->shard);
	json_u64(json, "generation", super->generation);
	json_string(json, "profile", super->profile);
	json_string(json, "policy", super->policy);
	json_u64(json, "bytes", layout->frames * AFTL_FRAME_BYTES);
	json_begin_object(json, "first_frames");
	json_u64(json, "erase_table", layout->erases);
	json_u64(json, "spare_table", layout->spares);
	json_u64(json, "discard_table", layout->discards);
	json_u64(json, "snapshot", layout->snapshot);
	json_u64(json, "data", layout->data);
	json_end_object(json);
	json_write_parameters(json, &super->config);
}

/* Print the parameters that differ from the profile. */
static void print_nondefault_volume_params(const struct aftl_volume_header *super)
{
	struct aftl_config profile;
	struct aftl_error error;

	if (aftl_profile_load(&profile, super->profile, &error))
		return;
	for (unsigned int i = 0; i < aftl_param_count(); i++) {
		char text[AFTL_VALUE_SIZE];

		if (aftl_param_get(&super->config, i) == aftl_param_get(&profile, i))
			continue;
		aftl_param_format(aftl_param_at(i), aftl_param_get(&super->config, i), text);
		printf("  %s=%s\n", aftl_param_at(i)->key, text);
	}
}

void volume_print_header(const struct aftl_volume_header *super)
{
	char uuid[UUID_TEXT_SIZE];

	uuid_format(super->uuid, uuid);
	printf("  uuid %s\n  profile %s\n  policy %s\n", uuid, super->profile, super->policy);
	print_nondefault_volume_params(super);
}
