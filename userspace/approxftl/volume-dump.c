// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl dump": print the content of a volume without recovery. */
#include "complain.h"
#include "core/base/encoding.h"
#include "interruption.h"
#include "run.h"
#include "verbs.h"
#include "volume-verbs.h"

/**
 * struct dump - state of a dump
 * @options: the command line
 * @whole: the medium
 * @file: the volume's part of the medium
 * @super: the volume header, or its copy
 * @geo: geometry of the device
 * @json: JSON document, with --json
 * @frame: number of the frame in @bytes, U64_MAX: none
 * @bytes: the cached frame
 * @sound: by sector of @bytes, whether its checksum is correct
 * @stretch: number of the last queried extent plus 1
 * @begun: that extent was initialised
 * @ret: first error of the medium
 */
struct dump {
	const struct device_options *options;
	struct medium_file whole;
	struct medium_file file;
	struct aftl_volume_header super;
	struct aftl_geometry geo;
	struct json_writer json;
	u64 frame;
	u8 bytes[AFTL_FRAME_BYTES];
	bool sound[AFTL_FRAME_SECTORS];
	u64 stretch;
	bool begun;
	int ret;
};

static const u8 *read_table_sector(struct dump *dump, struct aftl_place place)
{
	u64 frame = place.sector / AFTL_FRAME_SECTORS;
	u32 sector = place.sector % AFTL_FRAME_SECTORS;

	if (!dump->ret && frame != dump->frame) {
		u32 nonce = aftl_volume_header_nonce(&dump->super);

		dump->ret = dump->file.medium.read(&dump->file, frame * AFTL_FRAME_BYTES,
						   dump->bytes, AFTL_FRAME_BYTES);
		dump->frame = dump->ret ? U64_MAX : frame;
		for (u32 i = 0; i < AFTL_FRAME_SECTORS; i++)
			dump->sound[i] =
				aftl_sector_is_sound(dump->bytes + (size_t)i * AFTL_SECTOR_BYTES,
						     nonce, frame * AFTL_FRAME_SECTORS + i);
	}
	if (dump->ret || !dump->sound[sector])
		return NULL;
	return dump->bytes + (size_t)sector * AFTL_SECTOR_BYTES + place.offset;
}

/* Return true if either copy of the extent table marks the extent of @frame as initialised. */
static bool is_table_extent_initialised(struct dump *dump, u64 frame)
{
	const struct aftl_layout *layout = &dump->super.layout;
	u64 stretch;

	if (!layout->extent_table_frames || frame < layout->erases)
		return true;
	stretch = aftl_extent_of_frame(layout, frame);
	for (u32 copy = 0; dump->stretch != stretch + 1 && copy < AFTL_EXTENT_COPIES; copy++) {
		const u8 *byte = read_table_sector(dump, aftl_extent_place(layout, stretch, copy));

		dump->begun = (copy && dump->begun) || (byte && *byte >> stretch % 8 & 1);
	}
	dump->stretch = stretch + 1;
	return dump->begun;
}

/* Return the table entry at @place, zeroes if never written; NULL if its sector is unreadable. */
static const u8 *read_dumped_table_entry(struct dump *dump, struct aftl_place place)
{
	static const u8 nothing[AFTL_SECTOR_BYTES] = { 0 };

	return is_table_extent_initialised(dump, place.sector / AFTL_FRAME_SECTORS) ?
		       read_table_sector(dump, place) :
		       nothing + place.offset;
}

/* Read the OOB entry of a page. Return: 0, or -EUCLEAN if the entry is damaged. */
static int read_oob_entry_of_page(struct dump *dump, u32 page, struct aftl_spare *spare)
{
	const u8 *bytes = read_dumped_table_entry(dump, aftl_spare_place(&dump->super.layout,
									 &dump->geo, page));

	return bytes ? aftl_spare_entry_decode(spare, &dump->geo, bytes) : -EUCLEAN;
}

static int read_block_erase_entry(struct dump *dump, u32 block, struct aftl_erase_entry *entry)
{
	const u8 *bytes =
		read_dumped_table_entry(dump, aftl_erase_place(&dump->super.layout, block));

	if (bytes)
		aftl_erase_entry_decode(entry, bytes);
	return bytes ? 0 : -EUCLEAN;
}

/* Volume header and states */

static void dump_volume_header(struct dump *dump)
{
	if (!dump->options->json) {
		printf("volume header, generation %llu, %llu bytes\n",
		       (unsigned long long)dump->super.generation,
		       (unsigned long long)dump->super.layout.frames * AFTL_FRAME_BYTES);
		volume_print_header(&dump->super);
		return;
	}
	json_begin_object(&dump->json, "superblock");
	volume_write_header_json(&dump->json, &dump->super);
	json_end_object(&dump->json);
}

static void dump_state_record(struct dump *dump, u32 frame)
{
	struct aftl_place place = { .sector = (u64)frame * AFTL_FRAME_SECTORS };
	const u8 *payload = read_dumped_table_entry(dump, place);
	struct aftl_volume_state state;
	bool sound = payload && !aftl_volume_state_decode(&state, payload);

	if (dump->options->json) {
		json_begin_object(&dump->json, NULL);
		json_u64(&dump->json, "frame", frame);
		json_bool(&dump->json, "sound", sound);
		if (sound) {
			json_u64(&dump->json, "commit", state.commit);
			json_u64(&dump->json, "sequence", state.seq);
			json_bool(&dump->json, "closed", state.closed);
			json_u64(&dump->json, "device_ns", state.now_ns);
			json_u64(&dump->json, "age_ns", state.age_ns);
			json_u64(&dump->json, "policy_memory", state.memory);
			json_u64(&dump->json, "policy_sequence", state.policy_seq);
			json_string(&dump->json, "policy", state.policy);
			json_u64(&dump->json, "snapshot_bytes", state.snapshot_bytes);
		}
		json_end_object(&dump->json);
	} else if (sound) {
		printf("state in frame %u: commit %llu, sequence %llu, %s, policy %s since %llu\n",
		       frame, (unsigned long long)state.commit, (unsigned long long)state.seq,
		       state.closed ? "closed" : "open", state.policy,
		       (unsigned long long)state.policy_seq);
		printf("  device time %llu ns, age %llu ns, memory %#llx, snapshot %llu bytes\n",
		       (unsigned long long)state.now_ns, (unsigned long long)state.age_ns,
		       (unsigned long long)state.memory, (unsigned long long)state.snapshot_bytes);
	} else {
		printf("state in frame %u: damaged\n", frame);
	}
}

/* Blocks */

/**
 * struct tally - counts of a block's pages
 * @erases: highest erase count that a page records
 * @programmed: pages programmed at that erase count
 * @damaged: pages with damaged entries
 */
struct tally {
	u32 erases;
	u32 programmed;
	u32 damaged;
};

static void count_page_in_block_tally(struct tally *tally, const struct aftl_spare *spare)
{
	if (!spare->seq)
		return;
	if (spare->erases > tally->erases) {
		tally->erases = spare->erases;
		tally->programmed = 0;
	}
	tally->programmed += spare->erases == tally->erases;
}

static void dump_block_summary(struct dump *dump, u32 block)
{
	struct aftl_erase_entry entry = { 0 };
	bool sound = !read_block_erase_entry(dump, block, &entry);
	struct tally tally = { .erases = entry.erases };
	u32 first = block * dump->geo.pages;
	struct aftl_spare spare;

	for (u32 page = first; page < first + dump->geo.pages; page++) {
		if (read_oob_entry_of_page(dump, page, &spare))
			tally.damaged++;
		else
			count_page_in_block_tally(&tally, &spare);
	}
	if (!dump->options->json) {
		printf("block %u: %u erases, wear %u.%04u, %u pages programmed%s%s\n", block,
		       tally.erases, entry.wear / 10000, entry.wear % 10000, tally.programmed,
		       entry.bad ? ", bad" : "",
		       !sound || tally.damaged ? ", damaged entries" : "");
		return;
	}
	json_begin_object(&dump->json, NULL);
	json_u64(&dump->json, "block", block);
	json_bool(&dump->json, "sound", sound && !tally.damaged);
	json_u64(&dump->json, "erases", tally.erases);
	json_decimal(&dump->json, "wear", entry.wear, 4);
	json_bool(&dump->json, "bad", entry.bad);
	json_u64(&dump->json, "programmed_pages", tally.programmed);
	json_end_object(&dump->json);
}

/* Pages */

static const char *get_data_class_name_of_page(u16 attr)
{
	return aftl_page_class(attr) == AFTL_APPROX ? "approximate" : "precise";
}

static u32 get_quality_level_of_oob_entry(const struct aftl_spare *spare, u32 i)
{
	return from_lpn(spare->word[i]) == from_lpn(AFTL_NO_LPN) ?
		       AFTL_PRECISE :
		       aftl_get_quality_level_of_oob_lpn_word(spare->word[i], spare->attr);
}

/* Return true if @unit is a translation page; these are numbered after the host's units. */
static bool is_unit_of_translation_page(const struct dump *dump, u32 unit)
{
	return unit >= dump->geo.units;
}

static void write_unit_json(struct dump *dump, aftl_lpn_t word)
{
	u32 unit = from_lpn(aftl_lpn_word_lpn(word));
	bool empty = from_lpn(word) == from_lpn(AFTL_NO_LPN);

	if (empty || is_unit_of_translation_page(dump, unit))
		json_null(&dump->json, "unit");
	else
		json_u64(&dump->json, "unit", unit);
	if (!empty && is_unit_of_translation_page(dump, unit))
		json_u64(&dump->json, "sheet", unit - dump->geo.units);
}

static void write_dumped_page_json(struct dump *dump, u32 page, const struct aftl_spare *spare)
{
	struct json_writer *json = &dump->json;

	json_u64(json, "block", page / dump->geo.pages);
	json_u64(json, "page", page % dump->geo.pages);
	json_u64(json, "sequence", spare->seq);
	json_u64(json, "erases", spare->erases);
	json_string(json, "class", get_data_class_name_of_page(spare->attr));
	json_u64(json, "mode", aftl_page_mode(spare->attr));
	json_u64(json, "reprograms", aftl_get_reprogram_count_of_page(spare->attr));
	json_u64(json, "opened_ns", spare->opened_ns);
	json_u64(json, "hour", (u64)spare->first_hour + spare->hours);
	json_u64(json, "order", spare->order);
	json_u64(json, "kind", spare->kind);
	json_u64(json, "note", spare->note);
	json_begin_array(&dump->json, "slots");
	for (u32 i = 0; i < dump->geo.page_units; i++) {
		json_begin_object(&dump->json, NULL);
		json_u64(&dump->json, "slot", (u64)page * dump->geo.page_units + i);
		write_unit_json(dump, spare->word[i]);
		json_u64(&dump->json, "level", get_quality_level_of_oob_entry(spare, i));
		json_bool(&dump->json, "mapped", spare->mapped >> i & 1);
		json_bool(&dump->json, "lost", spare->lost >> i & 1);
		json_u64(&dump->json, "baked_errors", spare->origin[i].inherited);
		json_end_object(&dump->json);
	}
	json_end_array(&dump->json);
}

static void print_dumped_page(const struct dump *dump, u32 page, const struct aftl_spare *spare)
{
	printf("block %u page %u: sequence %llu, erases %u, %s, mode %u,", page / dump->geo.pages,
	       page % dump->geo.pages, (unsigned long long)spare->seq, spare->erases,
	       get_data_class_name_of_page(spare->attr), aftl_page_mode(spare->attr));
	for (u32 i = 0; i < dump->geo.page_units; i++) {
		u32 unit = from_lpn(aftl_lpn_word_lpn(spare->word[i]));

		if (unit == from_lpn(AFTL_NO_LPN))
			printf(" -");
		else if (is_unit_of_translation_page(dump, unit))
			printf(" translation-page-%u", unit - dump->geo.units);
		else
			printf(spare->mapped >> i & 1 ? " %u%s" : " (%u%s)", unit,
			       spare->lost >> i & 1 ? "!" : "");
		if (get_quality_level_of_oob_entry(spare, i) > AFTL_APPROX)
			printf("~%u", get_quality_level_of_oob_entry(spare, i));
	}
	printf("\n");
}

static void dump_page_entry(struct dump *dump, u32 page, const struct aftl_spare *spare)
{
	if (!dump->options->json) {
		print_dumped_page(dump, page, spare);
		return;
	}
	json_begin_object(&dump->json, NULL);
	write_dumped_page_json(dump, page, spare);
	json_end_object(&dump->json);
}

static void dump_damaged_page(struct dump *dump, u32 page)
{
	if (!dump->options->json) {
		printf("block %u page %u: damaged\n", page / dump->geo.pages,
		       page % dump->geo.pages);
		return;
	}
	json_begin_object(&dump->json, NULL);
	json_u64(&dump->json, "block", page / dump->geo.pages);
	json_u64(&dump->json, "page", page % dump->geo.pages);
	json_bool(&dump->json, "sound", false);
	json_end_object(&dump->json);
}

static bool page_holds_unit(const struct dump *dump, const struct aftl_spare *spare, u32 unit)
{
	for (u32 i = 0; i < dump->geo.page_units; i++)
		if (from_lpn(aftl_lpn_word_lpn(spare->word[i])) == unit)
			return true;
	return false;
}

/* Dump the programmed pages in [@first, @end); with @unit, only the pages that hold the unit. */
static void dump_page_range(struct dump *dump, u32 first, u32 end, const u32 *unit)
{
	struct aftl_spare spare;

	if (dump->options->json)
		json_begin_array(&dump->json, "pages");
	for (u32 page = first; !dump->ret && page < end; page++) {
		if (read_oob_entry_of_page(dump, page, &spare))
			dump_damaged_page(dump, page);
		else if (spare.seq && (!unit || page_holds_unit(dump, &spare, *unit)))
			dump_page_entry(dump, page, &spare);
	}
	if (dump->options->json)
		json_end_array(&dump->json);
}

/* Dump the table entry of the zone that contains @unit: last reset and state of the zone. */
static void dump_zone_entry(struct dump *dump, u32 unit)
{
	u32 zone = unit / dump->geo.zone_units;
	const u8 *bytes = read_dumped_table_entry(dump, aftl_zone_place(&dump->super.layout, zone));
	struct aftl_zone_entry entry = { 0 };
	bool sound = bytes && !aftl_zone_entry_decode(&entry, bytes);

	if (dump->options->json) {
		json_u64(&dump->json, "zone", zone);
		json_u64(&dump->json, "reset_sequence", entry.seq);
		json_u64(&dump->json, "zone_state", entry.state);
	} else if (!sound) {
		printf("zone %u: its entry is damaged\n", zone);
	} else {
		printf("zone %u: reset at sequence %llu, state %u\n", zone,
		       (unsigned long long)entry.seq, entry.state);
	}
}

static void dump_discard_entry(struct dump *dump, u32 unit)
{
	const u8 *bytes =
		read_dumped_table_entry(dump, aftl_discard_place(&dump->super.layout, unit));
	u64 seq = bytes ? aftl_get_le(bytes, 8) : 0;

	if (dump->options->json)
		json_u64(&dump->json, "discard_sequence", seq);
	else if (!bytes)
		printf("unit %u: its discard entry is damaged\n", unit);
	else if (seq)
		printf("unit %u: discarded at sequence %llu\n", unit, (unsigned long long)seq);
}

static void dump_unit_entries(struct dump *dump, u32 unit)
{
	if (dump->geo.zones)
		dump_zone_entry(dump, unit);
	else
		dump_discard_entry(dump, unit);
	dump_page_range(dump, 0, dump->geo.blocks * dump->geo.pages, &unit);
}

/* Options */

static int parse_number_arg(const char *what, const char *text, u32 limit, u32 *number,
			    struct aftl_error *error)
{
	struct aftl_error complaint = { "" };
	u64 value;
	int ret = aftl_parse_value(AFTL_PARAM_COUNT, NULL, text, &value, &complaint);

	if (ret)
		return aftl_fail(error, -ERANGE, "--%s %.30s: %.100s", what, text, complaint.text);
	if (value >= limit)
		return aftl_fail(error, -ERANGE, "--%s %.30s: the largest number is %u", what, text,
				 limit - 1);
	*number = (u32)value;
	return 0;
}

static int parse_block_and_unit_options(const struct dump *dump, u32 *block, u32 *unit,
					struct aftl_error *error)
{
	const struct device_options *options = dump->options;
	int ret = 0;

	if (options->block)
		ret = parse_number_arg("block", options->block, dump->geo.blocks, block, error);
	if (!ret && options->unit)
		ret = parse_number_arg("unit", options->unit, dump->geo.units, unit, error);
	return ret;
}

static void dump_requested_volume_structures(struct dump *dump, u32 block, u32 unit)
{
	const struct device_options *options = dump->options;

	if (options->super || !(options->state || options->blocks || options->pages ||
				options->block || options->unit))
		dump_volume_header(dump);
	if (options->state) {
		if (dump->options->json)
			json_begin_array(&dump->json, "states");
		dump_state_record(dump, AFTL_FRAME_STATE);
		dump_state_record(dump, AFTL_FRAME_STATE + 1);
		if (dump->options->json)
			json_end_array(&dump->json);
	}
	if (options->blocks) {
		if (dump->options->json)
			json_begin_array(&dump->json, "blocks");
		for (u32 i = 0; !dump->ret && i < dump->geo.blocks; i++)
			dump_block_summary(dump, i);
		if (dump->options->json)
			json_end_array(&dump->json);
	}
	if (options->pages)
		dump_page_range(dump, 0, dump->geo.blocks * dump->geo.pages, NULL);
	else if (options->block)
		dump_page_range(dump, block * dump->geo.pages, (block + 1) * dump->geo.pages, NULL);
	else if (options->unit)
		dump_unit_entries(dump, unit);
}

static int find_volume_header(struct dump *dump, struct aftl_error *error)
{
	struct aftl_error second;
	int ret = 0;

	for (u32 copy = 0; copy < 2; copy++) {
		int code = dump->file.medium.read(&dump->file, (u64)copy * AFTL_FRAME_BYTES,
						  dump->bytes, AFTL_FRAME_BYTES);

		if (code)
			code = aftl_fail(copy ? &second : error, code,
					 "copy %u of the volume header cannot be read: %s", copy,
					 strerror(-code));
		else
			code = aftl_volume_header_decode(&dump->super, dump->bytes,
							 copy ? &second : error);
		if (!code)
			return aftl_volume_header_set_layout(&dump->super, &dump->geo, error);
		ret = copy ? ret : code;
	}
	return ret;
}

static int find_dumped_shard(struct dump *dump, struct aftl_error *error)
{
	struct aftl_error cause = { "" };
	u32 shard = 0;
	int ret;

	medium_file_init_part_at_offset(&dump->file, &dump->whole, 0);
	ret = find_volume_header(dump, error);
	if (!ret && dump->options->shard)
		ret = parse_number_arg("shard", dump->options->shard,
				       (u32)dump->super.config.shards, &shard, error);
	if (ret || !shard)
		return ret;
	medium_file_init_part_at_offset(&dump->file, &dump->whole,
					aftl_get_volume_offset_of_shard(&dump->super.layout,
									shard));
	ret = find_volume_header(dump, &cause);
	return ret ? aftl_fail(error, ret, "shard %u: %.200s", shard, cause.text) : 0;
}

static int print_volume_dump(struct dump *dump, struct aftl_error *error)
{
	const struct device_options *options = dump->options;
	u32 block = 0;
	u32 unit = 0;
	int ret = find_dumped_shard(dump, error);

	if (!ret)
		ret = parse_block_and_unit_options(dump, &block, &unit, error);
	if (ret)
		return ret;
	if (options->json) {
		device_begin_json_of_verb(options, &dump->json);
		json_string(&dump->json, "path", dump->file.path);
	}
	dump_requested_volume_structures(dump, block, unit);
	if (options->json)
		json_envelope_end(&dump->json);
	if (dump->ret)
		return aftl_fail(error, dump->ret, "%.160s cannot be read: %s", dump->file.path,
				 strerror(-dump->ret));
	return 0;
}

static enum exit_code run_volume_dump(const struct device_options *options)
{
	static struct dump dump;
	const char *path = options->words[0];
	struct aftl_error error = { "" };
	int ret;

	dump.options = options;
	dump.frame = U64_MAX;
	ret = medium_file_open(&dump.whole, path, false, &error);
	interruption_catch_stop_signals();
	if (!ret)
		ret = print_volume_dump(&dump, &error);
	medium_file_close(&dump.whole);
	if (ret == -ERANGE)
		return report_command_failure(options->verb, &error, EXIT_USAGE);
	return ret ? report_volume_failure(options, path, ret, &error) : EXIT_DONE;
}

const struct device_verb verb_dump = {
	.name = "dump",
	.words = "DEVICE|FILE",
	.least_words = 1,
	.most_words = 1,
	.options = "BYCHDQG",
	.about =
		"Prints the contents of a volume as they are on the medium: it recovers nothing, and\n"
		"marks damaged parts. Units in brackets were not mapped when their page was\n"
		"programmed; units with ! are lost. Of --pages, --block and --unit, the first one counts.",
	.run = run_volume_dump,
};
