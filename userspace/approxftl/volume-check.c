// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl check": check the consistency of a volume. */
#include <stdlib.h>

#include "checked-memory.h"
#include "complain.h"
#include "core-memory.h"
#include "interruption.h"
#include "run.h"
#include "verbs.h"
#include "volume-verbs.h"

/* Maximum number of findings to list; further ones are only counted. */
#define FINDINGS_LISTED 20

/* Maximum number of runs of lost units to list. */
#define RUNS_LISTED 20

/* Frames per read. */
#define TURN_FRAMES 64

/**
 * struct patient - the volume that is being checked
 * @file: the volume's part of the medium
 * @volume: the volume
 * @before: number of findings in the volumes that were checked earlier
 * @recovery: what the recovery of the device found, if @loaded
 * @loaded: the device could be recovered
 * @slots: physical location of each unit according to the tables
 * @erases: erase count of each block according to the tables
 */
struct patient {
	struct medium_file file;
	struct aftl_volume *volume;
	u32 before;
	struct aftl_recovery recovery;
	bool loaded;
	aftl_ppn_t *slots;
	u32 *erases;
};

/**
 * struct checkup - a check of all volumes on a medium, one for each shard
 * @options: the command line
 * @whole: the medium
 * @now: the volume that is being checked
 * @super: header of the first volume
 * @total: sums over the recovery of all volumes
 * @open: number of volumes that were not closed
 * @unloaded: number of volumes whose device could not be recovered
 * @findings: descriptions of the findings
 * @found: number of findings
 * @mended: all damage was repaired
 * @repaired: result of the repair for the user
 * @lost: runs of lost units: the first unit, the number of units, and the shard
 * @lost_runs: number of runs of lost units
 */
struct checkup {
	const struct device_options *options;
	struct medium_file whole;
	struct patient now;
	struct aftl_volume_header super;
	struct aftl_recovery total;
	u32 open;
	u32 unloaded;
	char *findings[FINDINGS_LISTED];
	u32 found;
	bool mended;
	struct aftl_error repaired;
	u32 lost[RUNS_LISTED][3];
	u32 lost_runs;
};

static bool has_several_shards(const struct checkup *checkup)
{
	return checkup->super.config.shards > 1;
}

static void add_check_finding(struct checkup *checkup, const char *sentence)
{
	char text[256];
	u32 shard = aftl_volume_get_header(checkup->now.volume)->shard;

	if (has_several_shards(checkup))
		scnprintf(text, sizeof(text), "shard %u: %s", shard, sentence);
	else
		scnprintf(text, sizeof(text), "%s", sentence);
	if (checkup->found < FINDINGS_LISTED)
		checkup->findings[checkup->found] = memory_copy_text(text);
	checkup->found++;
}

__printf(2, 3) static void report_finding(struct checkup *checkup, const char *format, ...)
{
	char text[160];
	va_list args;

	va_start(args, format);
	vscnprintf(text, sizeof(text), format, args);
	va_end(args);
	add_check_finding(checkup, text);
}

static void report_unreadable_volume_frame(struct checkup *checkup, u64 frame, int ret)
{
	report_finding(checkup, "frame %llu cannot be read: %s", (unsigned long long)frame,
		       strerror(-ret));
}

/* Checks of the volume header and its copy */

static int check_header_copy(struct checkup *checkup, u32 copy, struct aftl_volume_header *super,
			     u8 bytes[AFTL_FRAME_BYTES])
{
	const struct aftl_backing *medium = &checkup->now.file.medium;
	struct aftl_error error = { "" };
	int ret = medium->read(medium->host, (u64)copy * AFTL_FRAME_BYTES, bytes,
			       AFTL_FRAME_BYTES);

	if (ret)
		report_unreadable_volume_frame(checkup, copy, ret);
	else if (aftl_volume_header_decode(super, bytes, &error))
		report_finding(checkup, "%s: %.100s",
			       copy ? "copy of the volume header" : "volume header", error.text);
	return ret == -EINTR ? ret : 0;
}

static int check_header_copies(struct checkup *checkup)
{
	struct aftl_volume_header super[2] = { { .generation = 0 } };
	u8 bytes[2][AFTL_FRAME_BYTES];
	int ret = check_header_copy(checkup, 0, &super[0], bytes[0]);

	if (!ret)
		ret = check_header_copy(checkup, 1, &super[1], bytes[1]);
	if (ret || checkup->found > checkup->now.before)
		return ret;
	/* A power failure between the writes of header and copy leaves one a generation older. */
	if (super[0].generation != super[1].generation + 1 &&
	    super[1].generation != super[0].generation + 1 &&
	    memcmp(bytes[0], bytes[1], AFTL_FRAME_BYTES) != 0)
		add_check_finding(checkup, "the volume header and its copy differ");
	return 0;
}

/* Sectors of the tables */

/* Return true if a 4 KiB frame of the volume was initialised; all before the erase counts are. */
static bool is_volume_frame_initialised(const struct checkup *checkup, u64 frame)
{
	return frame < aftl_volume_get_header(checkup->now.volume)->layout.erases ||
	       aftl_volume_frame_is_initialised(checkup->now.volume, frame);
}

static void check_sectors_of_volume_frames(struct checkup *checkup, const u8 *bytes, u64 first,
					   u32 frames)
{
	u32 nonce = aftl_volume_header_nonce(aftl_volume_get_header(checkup->now.volume));
	u64 sector = first * AFTL_FRAME_SECTORS;
	u64 end = sector + (u64)frames * AFTL_FRAME_SECTORS;

	for (; sector < end; sector++, bytes += AFTL_SECTOR_BYTES)
		if (is_volume_frame_initialised(checkup, sector / AFTL_FRAME_SECTORS) &&
		    !aftl_sector_is_sound(bytes, nonce, sector))
			report_finding(checkup, "sector %llu has a wrong checksum",
				       (unsigned long long)sector);
}

/* After a failed read of several 4 KiB frames of the volume, read them one by one. */
static int read_and_check_volume_frames(struct checkup *checkup, u64 first, u32 frames)
{
	const struct aftl_backing *medium = &checkup->now.file.medium;
	static u8 bytes[TURN_FRAMES * AFTL_FRAME_BYTES];
	int ret = medium->read(medium->host, first * AFTL_FRAME_BYTES, bytes,
			       frames * AFTL_FRAME_BYTES);

	if (!ret)
		check_sectors_of_volume_frames(checkup, bytes, first, frames);
	else if (ret != -EINTR && frames == 1)
		report_unreadable_volume_frame(checkup, first, ret);
	else if (ret != -EINTR)
		for (ret = 0; !ret && frames; frames--, first++)
			ret = read_and_check_volume_frames(checkup, first, 1);
	return ret == -EINTR ? ret : 0;
}

static int check_volume_tables(struct checkup *checkup)
{
	const struct aftl_layout *layout = &aftl_volume_get_header(checkup->now.volume)->layout;
	u64 frame = AFTL_FRAME_TABLES;
	int ret = 0;

	while (!ret && frame < layout->snapshot) {
		u32 frames = (u32)min(layout->snapshot - frame, (u64)TURN_FRAMES);

		if (!is_volume_frame_initialised(checkup, frame)) {
			frame++;
			continue;
		}
		ret = read_and_check_volume_frames(checkup, frame, frames);
		frame += frames;
	}
	return ret;
}

/* The device */

static const struct aftl_host_ops ops = {
	.alloc = core_memory_alloc,
	.free = core_memory_free,
};

static int load_checked_device(struct checkup *checkup, bool scan, struct aftl **ftl,
			       struct aftl_recovery *recovery, struct aftl_error *error)
{
	const struct aftl_volume_header *super = aftl_volume_get_header(checkup->now.volume);
	const struct aftl_policy_type *type = aftl_policy_find(super->policy);

	if (!type)
		return aftl_fail(error, -EINVAL, "there is no policy \"%s\"", super->policy);
	return aftl_volume_load(checkup->now.volume, type, &super->config, &ops, NULL, scan, ftl,
				recovery, error);
}

static void copy_mapping_and_erase_counts(struct checkup *checkup, const struct aftl *ftl)
{
	const struct aftl_geometry *geo = aftl_geometry(ftl);
	u32 class;

	checkup->now.slots = memory_alloc_zeroed(geo->units, sizeof(*checkup->now.slots));
	checkup->now.erases = memory_alloc_zeroed(geo->blocks, sizeof(*checkup->now.erases));
	for (u32 i = 0; i < geo->units; i++)
		checkup->now.slots[i] = aftl_lookup(ftl, to_lpn(i), &class);
	for (u32 i = 0; i < geo->blocks; i++)
		checkup->now.erases[i] = aftl_media(ftl)->blocks[i].erases;
}

static void list_lost_units(struct checkup *checkup, const struct aftl *ftl)
{
	u32 units = aftl_geometry(ftl)->units;
	u32 unit = aftl_find_lost_lpns(ftl, 0, units, true);

	for (; unit < units && checkup->lost_runs < RUNS_LISTED; checkup->lost_runs++) {
		u32 *run = checkup->lost[checkup->lost_runs];

		run[0] = unit;
		run[2] = aftl_volume_get_header(checkup->now.volume)->shard;
		run[1] = aftl_find_lost_lpns(ftl, unit, units, false) - unit;
		unit = aftl_find_lost_lpns(ftl, unit + run[1], units, true);
	}
}

static int check_volume_recovery(struct checkup *checkup)
{
	struct aftl_error error = { "" };
	struct aftl *ftl = NULL;
	int ret = load_checked_device(checkup, true, &ftl, &checkup->now.recovery, &error);

	if (ret) {
		add_check_finding(checkup, error.text);
		return ret == -ENOMEM || ret == -EINTR ? ret : 0;
	}
	if (checkup->now.recovery.state)
		add_check_finding(checkup, "one of the states is damaged, or cannot be read");
	checkup->now.loaded = true;
	copy_mapping_and_erase_counts(checkup, ftl);
	list_lost_units(checkup, ftl);
	aftl_destroy(ftl);
	return 0;
}

/* The snapshot of a closed volume must agree with its tables. */

static void compare_recovered_units_with_tables(struct checkup *checkup, const struct aftl *ftl)
{
	u32 class;

	for (u32 i = 0; i < aftl_geometry(ftl)->units; i++) {
		aftl_ppn_t ppn = aftl_lookup(ftl, to_lpn(i), &class);

		if (ppn != checkup->now.slots[i])
			report_finding(checkup,
				       "unit %u: slot %u by the snapshot, slot %u by the tables", i,
				       from_ppn(ppn), from_ppn(checkup->now.slots[i]));
	}
}

static void compare_recovered_blocks_with_tables(struct checkup *checkup, const struct aftl *ftl)
{
	for (u32 i = 0; i < aftl_geometry(ftl)->blocks; i++) {
		u32 erases = aftl_media(ftl)->blocks[i].erases;

		if (erases != checkup->now.erases[i])
			report_finding(checkup,
				       "block %u: %u erases by the snapshot, %u by the tables", i,
				       erases, checkup->now.erases[i]);
	}
}

static int check_volume_snapshot(struct checkup *checkup)
{
	struct aftl_recovery recovery = { 0 };
	struct aftl_error error = { "" };
	struct aftl *ftl = NULL;
	int ret;

	if (!checkup->now.loaded || checkup->options->scan ||
	    !aftl_volume_state(checkup->now.volume)->closed)
		return 0;
	ret = load_checked_device(checkup, false, &ftl, &recovery, &error);
	if (ret)
		return ret;
	if (recovery.closed) {
		compare_recovered_units_with_tables(checkup, ftl);
		compare_recovered_blocks_with_tables(checkup, ftl);
	} else {
		add_check_finding(checkup, recovery.snapshot.text);
	}
	aftl_destroy(ftl);
	return 0;
}

/* Repairs */

/* Overwrite damaged sectors of the tables with their content in the recovered device. */
static int rewrite_damaged_sectors(struct checkup *checkup, const struct aftl *ftl,
				   const struct aftl_recovery *recovery, struct aftl_error *error)
{
	int ret;

	aftl_volume_set_time(checkup->now.volume, aftl_device_time_ns(ftl),
			     aftl_get_device_age_ns(ftl), aftl_get_policy_state_word(ftl));
	ret = aftl_volume_write_repaired_metadata(checkup->now.volume);
	if (ret)
		return aftl_fail(error, ret, "the volume could not be written: %s",
				 strerror(-ret));
	checkup->total.tables += recovery->tables;
	checkup->total.header |= recovery->header;
	checkup->total.state |= recovery->state;
	aftl_fail(&checkup->repaired, 0, "repaired: %u sectors of tables%s%s",
		  checkup->total.tables, checkup->total.header ? ", volume header" : "",
		  checkup->total.state ? ", state" : "");
	return 0;
}

static int repair_volume(struct checkup *checkup)
{
	struct aftl_recovery recovery = { 0 };
	struct aftl_error error = { "" };
	struct aftl *ftl = NULL;
	int ret;

	aftl_volume_free(checkup->now.volume);
	checkup->now.volume = NULL;
	ret = aftl_volume_open(&checkup->now.volume, &checkup->now.file.medium, &error);
	if (!ret && checkup->options->give_up)
		aftl_volume_ignore_damage(checkup->now.volume);
	if (!ret)
		ret = load_checked_device(checkup, checkup->options->scan, &ftl, &recovery, &error);
	if (!ret)
		ret = rewrite_damaged_sectors(checkup, ftl, &recovery, &error);
	if (ret)
		aftl_fail(&checkup->repaired, 0, "not repaired: %.180s", error.text);
	/* The volume counts as repaired only if all of its shards were repaired. */
	checkup->mended = !ret && (checkup->mended || !checkup->now.before);
	if (ftl)
		aftl_destroy(ftl);
	return ret == -EINTR ? ret : 0;
}

static int check_one_volume(struct checkup *checkup)
{
	int ret = check_header_copies(checkup);

	if (!ret)
		ret = check_volume_tables(checkup);
	if (!ret)
		ret = check_volume_recovery(checkup);
	if (!ret)
		ret = check_volume_snapshot(checkup);
	if (!ret && checkup->options->repair && checkup->found > checkup->now.before)
		ret = repair_volume(checkup);
	return ret;
}

static void add_shard_results_to_totals(struct checkup *checkup)
{
	const struct aftl_recovery *recovery = &checkup->now.recovery;
	struct aftl_recovery *total = &checkup->total;

	checkup->open += !checkup->now.volume || !aftl_volume_state(checkup->now.volume)->closed;
	checkup->unloaded += !checkup->now.loaded;
	total->programmed_pages += recovery->programmed_pages;
	total->mapped_units += recovery->mapped_units;
	total->bad_blocks += recovery->bad_blocks;
	total->displaced_units += recovery->displaced_units;
	total->lost_units += recovery->lost_units;
}

static int open_shard_volume(struct checkup *checkup, u32 index, struct aftl_error *error)
{
	struct aftl_error cause = { "" };
	int ret;

	aftl_volume_free(checkup->now.volume);
	checkup->now.volume = NULL;
	medium_file_init_part_at_offset(&checkup->now.file, &checkup->whole,
					aftl_get_volume_offset_of_shard(&checkup->super.layout,
									index));
	ret = aftl_volume_open(&checkup->now.volume, &checkup->now.file.medium, &cause);
	if (!ret && !aftl_volume_header_is_of_shard(aftl_volume_get_header(checkup->now.volume),
						    &checkup->super, index))
		ret = aftl_fail(&cause, -EUCLEAN, "the volume is of another device than shard 0");
	if (!ret)
		return 0;
	/* A shard without a volume counts as damage. */
	if (ret == -ENODATA || ret == -EMEDIUMTYPE || ret == -ENOSPC)
		ret = -EUCLEAN;
	return aftl_fail(error, ret, "shard %u: %.200s", index, cause.text);
}

/* Find the volumes of all shards; if one is missing, none is checked. */
static int find_all_shards(struct checkup *checkup, struct aftl_error *error)
{
	int ret = 0;

	checkup->super = *aftl_volume_get_header(checkup->now.volume);
	if (checkup->super.shard)
		return aftl_fail(error, -EUCLEAN,
				 "this is shard %u of a device, of which the first is not here",
				 checkup->super.shard);
	for (u32 i = 1; !ret && i < checkup->super.config.shards; i++)
		ret = open_shard_volume(checkup, i, error);
	return ret;
}

static int check_shard_volume(struct checkup *checkup, u32 index)
{
	struct aftl_error error = { "" };
	int ret = has_several_shards(checkup) ? open_shard_volume(checkup, index, &error) : 0;

	checkup->now.before = checkup->found;
	checkup->now.loaded = false;
	memset(&checkup->now.recovery, 0, sizeof(checkup->now.recovery));
	progress_begin(&checkup->whole.progress, PROGRESS_ON_TERMINAL, "bytes", 0);
	if (!ret)
		ret = check_one_volume(checkup);
	progress_end(&checkup->whole.progress);
	if (!ret)
		add_shard_results_to_totals(checkup);
	free(checkup->now.slots);
	free(checkup->now.erases);
	checkup->now.slots = NULL;
	checkup->now.erases = NULL;
	return ret;
}

static int check_all_shards(struct checkup *checkup)
{
	int ret = 0;

	for (u32 i = 0; !ret && i < checkup->super.config.shards; i++)
		ret = check_shard_volume(checkup, i);
	return ret;
}

/* Output */

static u32 count_listed_findings(const struct checkup *checkup)
{
	return min(checkup->found, (u32)FINDINGS_LISTED);
}

static void write_lost_units_json(struct json_writer *json, const struct checkup *checkup)
{
	json_u64(json, "displaced_units", checkup->total.displaced_units);
	json_u64(json, "lost_units", checkup->total.lost_units);
	json_begin_array(json, "lost");
	for (u32 i = 0; i < checkup->lost_runs; i++) {
		json_begin_object(json, NULL);
		if (has_several_shards(checkup))
			json_u64(json, "shard", checkup->lost[i][2]);
		json_u64(json, "unit", checkup->lost[i][0]);
		json_u64(json, "units", checkup->lost[i][1]);
		json_end_object(json);
	}
	json_end_array(json);
}

static void print_checkup_json(const struct checkup *checkup)
{
	struct json_writer json;

	device_begin_json_of_verb(checkup->options, &json);
	json_string(&json, "path", checkup->whole.path);
	json_bool(&json, "sound", !checkup->found);
	json_bool(&json, "closed", !checkup->open);
	json_u64(&json, "findings", checkup->found);
	if (checkup->options->repair)
		json_bool(&json, "repaired", checkup->mended);
	json_begin_array(&json, "listed_findings");
	for (u32 i = 0; i < count_listed_findings(checkup); i++)
		json_string(&json, NULL, checkup->findings[i]);
	json_end_array(&json);
	if (!checkup->unloaded) {
		json_u64(&json, "programmed_pages", checkup->total.programmed_pages);
		json_u64(&json, "mapped_units", checkup->total.mapped_units);
		json_u64(&json, "bad_blocks", checkup->total.bad_blocks);
		write_lost_units_json(&json, checkup);
	}
	json_begin_object(&json, "superblock");
	volume_write_header_json(&json, &checkup->super);
	json_end_object(&json);
	json_envelope_end(&json);
}

static void print_lost_unit_range(const struct checkup *checkup, const u32 run[3])
{
	if (has_several_shards(checkup))
		printf("shard %u: ", run[2]);
	printf("lost: %u units from unit %u on\n", run[1], run[0]);
}

static void print_checkup(const struct checkup *checkup)
{
	const struct aftl_recovery *found = &checkup->total;

	for (u32 i = 0; i < count_listed_findings(checkup); i++)
		printf("%s\n", checkup->findings[i]);
	if (checkup->found > count_listed_findings(checkup))
		printf("and %u more\n", checkup->found - count_listed_findings(checkup));
	if (!checkup->unloaded)
		printf("%u units in %llu programmed pages, %u bad blocks\n", found->mapped_units,
		       (unsigned long long)found->programmed_pages, found->bad_blocks);
	for (u32 i = 0; i < checkup->lost_runs; i++)
		print_lost_unit_range(checkup, checkup->lost[i]);
	if (checkup->total.displaced_units)
		printf("%u units are elsewhere: where they belong could not be written\n",
		       checkup->total.displaced_units);
	if (checkup->total.lost_units)
		printf("%u units are lost: reads of them fail until they are written\n",
		       checkup->total.lost_units);
	if (checkup->repaired.text[0])
		printf("%s\n", checkup->repaired.text);
	printf("%s %s %s; it was %s\n", checkup->whole.path,
	       checkup->mended ? "was" : "is",
	       checkup->found ? "damaged" : "sound",
	       checkup->open ? "not closed, which is no damage" : "closed in order");
}

static enum exit_code check_open_volume(struct checkup *checkup)
{
	struct aftl_error error = { "" };
	int ret = check_all_shards(checkup);

	if (ret) {
		aftl_fail(&error, ret, "%.100s: the check was not completed: %s",
			  checkup->whole.path, strerror(-ret));
		return report_volume_failure(checkup->options, checkup->whole.path, ret, &error);
	}
	if (checkup->options->json)
		print_checkup_json(checkup);
	else
		print_checkup(checkup);
	return checkup->found && !checkup->mended ? EXIT_NOT_VERIFIED : EXIT_DONE;
}

static enum exit_code run_volume_check(const struct device_options *options)
{
	struct checkup checkup = { .options = options };
	const char *path = options->words[0];
	struct aftl_error error = { "" };
	enum exit_code code;
	int ret = medium_file_open(&checkup.whole, path, options->repair, &error);

	interruption_catch_stop_signals();
	if (ret)
		return report_volume_failure(options, path, ret, &error);
	medium_file_init_part_at_offset(&checkup.now.file, &checkup.whole, 0);
	ret = aftl_volume_open(&checkup.now.volume, &checkup.now.file.medium, &error);
	if (!ret)
		ret = find_all_shards(&checkup, &error);
	/* A medium that is too small for its volume counts as damage. */
	if (ret == -ENOSPC)
		ret = -EUCLEAN;
	code = ret ? report_volume_failure(options, path, ret, &error) :
		     check_open_volume(&checkup);
	for (u32 i = 0; i < count_listed_findings(&checkup); i++)
		free(checkup.findings[i]);
	aftl_volume_free(checkup.now.volume);
	medium_file_close(&checkup.whole);
	return code;
}

const struct device_verb verb_check = {
	.name = "check",
	.words = "DEVICE|FILE",
	.least_words = 1,
	.most_words = 1,
	.options = "srg",
	.about =
		"Reads all metadata of a volume, recovers the device as after a crash, and audits it. The\n"
		"snapshot of a cleanly closed volume must agree with the result.\n"
		"Changes nothing without --repair. Exit status: 0 the volume is sound, 3 there is no volume that\n"
		"this version can use, 4 the volume is damaged.",
	.run = run_volume_check,
};
