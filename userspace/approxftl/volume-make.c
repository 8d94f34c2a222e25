// SPDX-License-Identifier: GPL-2.0-only
/*
 * "approxftl format".
 */
#include <unistd.h>

#include "complain.h"
#include "core-memory.h"
#include "human-units.h"
#include "interruption.h"
#include "medium-content.h"
#include "run.h"
#include "uuid.h"
#include "verbs.h"
#include "volume-verbs.h"

/* Maximum number of 4 KiB frames of tables that are initialised at once, and not lazily. */
#define FRAMES_WRITTEN (256ULL * 1024 * 1024 / AFTL_FRAME_BYTES)

/* Options */

/**
 * struct making - a volume to make
 * @options: the command line
 * @super: header of the volume; with several shards that of the first volume
 * @geo: geometry of a shard
 * @fixed_blocks: the user set the number of blocks
 * @file: the medium
 */
struct making {
	const struct device_options *options;
	struct aftl_volume_header super;
	struct aftl_geometry geo;
	bool fixed_blocks;
	struct medium_file file;
};

static int set_profile_and_policy_names(struct making *making, struct aftl_error *error)
{
	const char *profile = device_get_value_of_table_key(making->options, "profile", "demo");
	const char *policy =
		device_get_value_of_table_key(making->options, "policy", TARGET_LINE_POLICY);
	int ret = aftl_profile_load(&making->super.config, profile, error);

	if (ret)
		return ret;
	if (!aftl_policy_find(policy))
		return aftl_fail(error, -EINVAL,
				 "there is no policy \"%.40s\"; \"approxftl policies\" lists them",
				 policy);
	memcpy(making->super.profile, profile, strlen(profile));
	memcpy(making->super.policy, policy, strlen(policy));
	return 0;
}

static int set_header_params(struct making *making, struct aftl_error *error)
{
	const struct device_options *options = making->options;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < options->key_count; i++) {
		const char *key = options->keys[i];

		if (!strcmp(key, "profile") || !strcmp(key, "policy"))
			continue;
		making->fixed_blocks |= !strcmp(key, "blocks");
		ret = aftl_param_set(&making->super.config, key, options->values[i], error);
	}
	return ret;
}

static int set_header_uuid(struct making *making, struct aftl_error *error)
{
	const char *uuid = making->options->uuid;

	return uuid ? uuid_parse(making->super.uuid, uuid, error) :
		      uuid_generate(making->super.uuid, error);
}

static int parse_volume_options(struct making *making, struct aftl_error *error)
{
	int ret = set_profile_and_policy_names(making, error);

	if (!ret)
		ret = set_header_params(making, error);
	return ret ? ret : set_header_uuid(making, error);
}

/* Size */

static int compute_volume_layout(struct making *making, struct aftl_error *error)
{
	const struct aftl_layout *layout = &making->super.layout;
	int ret;

	making->super.lazy_tables = false;
	ret = aftl_volume_header_set_layout(&making->super, &making->geo, error);
	if (ret || layout->snapshot - layout->erases <= FRAMES_WRITTEN)
		return ret;
	making->super.lazy_tables = true;
	return aftl_volume_header_set_layout(&making->super, &making->geo, error);
}

static u64 compute_volume_bytes(const struct making *making)
{
	const struct aftl_layout *layout = &making->super.layout;

	return aftl_get_volume_offset_of_shard(layout, (u32)making->super.config.shards - 1) +
	       layout->frames * AFTL_FRAME_BYTES;
}

static bool volume_fits_on_medium(struct making *making, u64 blocks, u64 bytes)
{
	struct aftl_error error;

	making->super.config.blocks = blocks;
	return !compute_volume_layout(making, &error) && compute_volume_bytes(making) <= bytes;
}

/* Set the largest number of blocks that fits on the medium. */
static int fit_block_count_to_medium(struct making *making, struct aftl_error *error)
{
	u64 bytes = making->file.medium.bytes;
	u64 standard = making->super.config.blocks;
	u64 blocks;
	int ret = compute_volume_layout(making, error);

	if (ret)
		return ret;
	blocks = bytes / ((u64)making->geo.ppns / standard * making->geo.unit_bytes *
			  making->super.config.shards + 1);
	blocks = min(blocks, aftl_param_at(aftl_param_find("blocks"))->largest);
	while (blocks && !volume_fits_on_medium(making, blocks, bytes))
		blocks--;
	if (blocks)
		return 0;
	return aftl_fail(error, -ENOSPC, "%.120s has %llu bytes, too few for such a volume",
			 making->file.path, (unsigned long long)bytes);
}

static int choose_volume_block_count(struct making *making, struct aftl_error *error)
{
	if (making->fixed_blocks || !making->file.medium.bytes)
		return compute_volume_layout(making, error);
	return fit_block_count_to_medium(making, error);
}

/* Writing */

static int open_volume_medium(struct making *making, const char *path, struct aftl_error *error)
{
	bool dry = making->options->dry_run;
	int ret = medium_file_open(&making->file, path, !dry, error);

	/* Create a missing file; it gets the required size later. */
	if (ret == -ENOENT && !dry)
		return medium_file_create(&making->file, path, error);
	return ret == -ENOENT ? 0 : ret;
}

static int extend_volume_file(struct making *making, struct aftl_error *error)
{
	struct medium_file *file = &making->file;

	if (file->device || file->medium.bytes)
		return 0;
	return medium_file_extend(file, compute_volume_bytes(making), error);
}

static int check_sector_size(const struct making *making, struct aftl_error *error)
{
	u32 sector = making->file.sector;

	if (sector <= making->geo.unit_bytes)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "%.120s has sectors of %u bytes, more than the mapping unit of %u; raise unit",
			 making->file.path, sector, making->geo.unit_bytes);
}

/* The core's message about a failed write to the volume lacks the cause: append the cause. */
static int append_cause_to_write_error(const struct medium_file *file, int failure,
				       struct aftl_error *error)
{
	struct aftl_error said = *error;

	if (failure != file->write_failure)
		return failure;
	return aftl_fail(error, failure, "%.160s: %s", said.text, strerror(-failure));
}

/* Erase the headers of old shards, so that none of them is mistaken for a new one. */
static int wipe_old_shard_headers(struct making *making, struct aftl_error *error)
{
	static const u8 zeroes[2 * AFTL_FRAME_BYTES];
	struct medium_file *file = &making->file;
	int ret = 0;

	for (u32 i = 0; !ret && i < making->super.config.shards; i++)
		ret = file->medium.write(file,
					 aftl_get_volume_offset_of_shard(&making->super.layout, i),
					 zeroes, sizeof(zeroes));
	if (!ret)
		ret = file->medium.flush(file);
	return ret ? aftl_fail(error, ret, "the headers of old volumes cannot be erased") : 0;
}

static int format_one_shard(struct making *making, u32 index, struct aftl_error *error)
{
	struct medium_file *file = &making->file;
	struct aftl_volume_header super = making->super;
	struct medium_file part;
	int ret;

	medium_file_init_part_at_offset(&part, file,
					aftl_get_volume_offset_of_shard(&super.layout, index));
	aftl_volume_header_set_shard(&super, index);
	ret = aftl_volume_format(&part.medium, &super, error);
	if (!index)
		making->super = super;
	return ret;
}

static int format_all_shards(struct making *making, struct aftl_error *error)
{
	u32 shards = (u32)making->super.config.shards;
	int ret = shards > 1 ? wipe_old_shard_headers(making, error) : 0;

	for (u32 i = 0; !ret && i < shards; i++)
		ret = format_one_shard(making, i, error);
	return ret;
}

static int write_all_shards(struct making *making, struct aftl_error *error)
{
	struct medium_file *file = &making->file;
	const struct aftl_layout *layout = &making->super.layout;
	int ret = check_sector_size(making, error);

	if (!ret)
		ret = extend_volume_file(making, error);
	if (ret)
		return ret;
	file->moved = 0;
	progress_begin(&file->progress, PROGRESS_ON_TERMINAL, "bytes",
		       making->super.lazy_tables ? 0 :
		       making->super.config.shards * (layout->snapshot - layout->erases) *
		       AFTL_FRAME_BYTES);
	ret = format_all_shards(making, error);
	progress_end(&file->progress);
	return ret ? append_cause_to_write_error(file, ret, error) : 0;
}

/* Check the size before the content, as the content check reads from the medium. */
static int check_medium_size(const struct making *making, struct aftl_error *error)
{
	u64 bytes = making->file.medium.bytes;

	if (!bytes || compute_volume_bytes(making) <= bytes)
		return 0;
	return aftl_fail(error, -ENOSPC, "the volume needs %llu bytes, %.100s has %llu",
			 (unsigned long long)compute_volume_bytes(making), making->file.path,
			 (unsigned long long)bytes);
}

static int check_core_accepts_volume_device(struct making *making, struct aftl_error *error)
{
	static const struct aftl_host_ops ops = {
		.alloc = core_memory_alloc,
		.free = core_memory_free,
	};
	struct aftl_config own;
	struct aftl *ftl;
	int ret;

	aftl_derive_shard_config(&own, &making->super.config, 0);
	ret = aftl_create(&ftl, &own, aftl_policy_find(making->super.policy), &ops, NULL, error);
	if (ret)
		return ret;
	aftl_destroy(ftl);
	return 0;
}

static int check_medium_and_make_volume(struct making *making, struct aftl_error *error)
{
	int ret = open_volume_medium(making, making->options->words[0], error);

	/* The medium is open exclusively, so it stays empty after this check. */
	if (!ret)
		ret = choose_volume_block_count(making, error);
	if (!ret)
		ret = check_medium_size(making, error);
	if (!ret && !making->options->force)
		ret = medium_check_empty(&making->file, error);
	if (!ret)
		ret = making->options->dry_run ? check_core_accepts_volume_device(making, error) :
						 write_all_shards(making, error);
	return ret;
}

/* The following functions make volumes for "approxftl create". */

/* Return true if there is a volume, even a damaged one or one of another version. */
static bool has_volume_header(const struct medium_file *file)
{
	struct aftl_volume *volume = NULL;
	struct aftl_error error;
	int ret;

	if (!file->medium.bytes)
		return false;
	ret = aftl_volume_open(&volume, &file->medium, &error);
	aftl_volume_free(volume);
	return ret != -ENODATA && ret != -EMEDIUMTYPE;
}

int volume_make_if_path_has_none(const char *path, struct aftl_volume_header *super, bool *made,
				 struct aftl_error *error)
{
	struct making making = { .super = *super };
	int ret = medium_file_open(&making.file, path, true, error);

	if (ret == -ENOENT)
		ret = medium_file_create(&making.file, path, error);
	*made = false;
	if (ret)
		return ret;
	if (!has_volume_header(&making.file)) {
		ret = compute_volume_layout(&making, error);
		if (!ret)
			ret = check_medium_size(&making, error);
		if (!ret)
			ret = medium_check_empty(&making.file, error);
		if (!ret)
			ret = uuid_generate(making.super.uuid, error);
		if (!ret)
			ret = write_all_shards(&making, error);
		*made = !ret;
	}
	if (ret && making.file.made)
		unlink(path);
	medium_file_close(&making.file);
	*super = making.super;
	return ret;
}

/* Output */

static void print_new_volume_description(const struct making *making)
{
	const struct device_options *options = making->options;
	struct json_writer json;
	char size[HUMAN_SIZE];

	if (options->json) {
		device_begin_json_of_verb(options, &json);
		json_string(&json, "path", making->file.path);
		json_bool(&json, "made", !options->dry_run);
		json_begin_object(&json, "superblock");
		volume_write_header_json(&json, &making->super);
		json_end_object(&json);
		json_envelope_end(&json);
		return;
	}
	human_format_bytes(size, compute_volume_bytes(making));
	printf("%s %s on %s:\n", size, options->dry_run ? "would be used" : "used",
	       making->file.path);
	volume_print_header(&making->super);
}

static enum exit_code run_volume_format(const struct device_options *options)
{
	struct making making = { .options = options };
	struct aftl_error error = { "" };
	int ret = parse_volume_options(&making, &error);

	if (ret)
		return report_command_failure(options->verb, &error, EXIT_USAGE);
	interruption_catch_stop_signals();
	ret = check_medium_and_make_volume(&making, &error);
	if (ret && making.file.made)
		unlink(making.file.path);
	medium_file_close(&making.file);
	if (ret == -EINVAL)
		return report_command_failure(options->verb, &error, EXIT_USAGE);
	if (ret)
		return report_volume_failure(options, options->words[0], ret, &error);
	print_new_volume_description(&making);
	return EXIT_DONE;
}

const struct device_verb verb_format = {
	.name = "format",
	.words = "DEVICE|FILE",
	.least_words = 1,
	.most_words = 1,
	.pairs = true,
	.options = "PLKUFN",
	.about =
		"Makes a volume on a block device or in a file: an emulated SSD that survives reboots.\n"
		"It gets as many blocks as fit, unless \"blocks\" is set. A new file is created with the\n"
		"size that the volume needs.",
	.run = run_volume_format,
};
