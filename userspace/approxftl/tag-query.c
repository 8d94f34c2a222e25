// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl tag query": print the tags of a file and the state of its stored data. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "checked-memory.h"
#include "tag-verbs.h"

#define BATCH 1024

/**
 * struct query - result of "approxftl tag query"
 * @extents: tagged ranges
 * @extent_count: number of ranges
 * @units: stored units
 * @unit_count: number of units
 * @errors: sums over the units
 */
struct query {
	struct approxftl_extent *extents;
	int extent_count;
	struct approxftl_unit *units;
	unsigned int unit_count;
	struct approxftl_errors errors;
};

/* Return true if a present tag of the file makes the whole mapping unit approximate. */
static bool is_unit_tagged_approximate(const struct query *query, const struct approxftl_unit *unit)
{
	for (int i = 0; i < query->extent_count; i++) {
		const struct approxftl_extent *extent = &query->extents[i];
		s64 end = unit->offset + (s64)query->errors.unit_bytes;

		if (extent->kind == APPROXFTL_APPROXIMATE && extent->offset <= unit->offset &&
		    (extent->length == APPROXFTL_TO_END || extent->offset + extent->length >= end))
			return true;
	}
	return false;
}

/* Count units that are stored as approximate without a tag: clones and data with former tags. */
static u64 count_untagged_units(const struct query *query)
{
	u64 count = 0;

	for (unsigned int i = 0; i < query->unit_count; i++)
		count += query->units[i].kind == APPROXFTL_APPROXIMATE &&
			 !is_unit_tagged_approximate(query, &query->units[i]);
	return count;
}

static int query_stored_units(struct approxftl *library, int fd, struct query *query)
{
	off_t from = 0;
	int more = 0;

	while (from != APPROXFTL_TO_END && more >= 0) {
		query->units = memory_resize(query->units, query->unit_count + BATCH,
					     sizeof(*query->units));
		more = approxftl_stored(library, fd, &from, APPROXFTL_TO_END,
					query->units + query->unit_count, BATCH);
		query->unit_count += max(more, 0);
	}
	return min(more, 0);
}

/* Write dirty pages back first, so that all data are on the device. */
static int query_tags_of_open_file(struct approxftl *library, int fd, struct query *query)
{
	int ret;

	query->extent_count = query_tagged_ranges(library, fd, &query->extents);
	if (query->extent_count < 0)
		return query->extent_count;
	fsync(fd);
	ret = query_stored_units(library, fd, query);
	return ret ? ret : approxftl_errors(library, fd, 0, APPROXFTL_TO_END, &query->errors);
}

/* Return true if @next follows @last and equals it in class, flags and whether bits are flipped. */
static bool can_units_share_output_row(const struct approxftl_unit *last,
				       const struct approxftl_unit *next, u64 unit_bytes)
{
	return next->offset == last->offset + (s64)unit_bytes && next->kind == last->kind &&
		next->flags == last->flags && !next->flips == !last->flips;
}

static const char *get_text_of_unit_flags(u32 flags)
{
	if (flags & APPROXFTL_UNIT_LOST)
		return "lost";
	return flags & APPROXFTL_UNIT_NO_MODEL ? "not modelled" : "";
}

static const char *get_class_name_of_stored_unit(const struct approxftl_unit *unit)
{
	unsigned int level = approxftl_unit_level(unit);

	return approxftl_class_name(level ? approxftl_level_class(level) :
					    (enum approxftl_class)unit->kind);
}

static const struct list_column run_columns[] = {
	{ "what", "WHAT", "tagged or stored", false, false },
	{ "range", "RANGE", "offset and length in bytes", false, false },
	{ "class", "CLASS", "of it, with its level", false, false },
	{ "remark", "REMARK", "lost, or not modelled", false, false },
	{ "flipped_bits", "FLIPS", "of what is stored, now", true, false },
	{ "offset_bytes", "OFFSET", "where it begins", true, true },
	{ "length_bytes", "LENGTH", "of it; none, to the end", true, true },
};

static void add_flash_address_cells(struct text_list *list, s64 offset, s64 length)
{
	list_add_number(list, offset, 0, NULL);
	if (length == APPROXFTL_TO_END)
		list_add_text(list, "%s", "");
	else
		list_add_number(list, length, 0, NULL);
}

/* Add an output row for consecutive units of one state; return the first unit after them. */
static unsigned int add_row_for_consecutive_units(struct text_list *list, const struct query *query,
						  unsigned int first)
{
	u64 unit_bytes = query->errors.unit_bytes;
	u64 flips = query->units[first].flips;
	unsigned int next = first + 1;
	s64 bytes;

	while (next < query->unit_count &&
	       can_units_share_output_row(&query->units[next - 1], &query->units[next], unit_bytes))
		flips += query->units[next++].flips;
	bytes = (s64)((next - first) * unit_bytes);
	list_add_row(list);
	list_add_text(list, "stored");
	list_add_text(list, "%lld+%lld", (long long)query->units[first].offset, (long long)bytes);
	list_add_text(list, "%s", get_class_name_of_stored_unit(&query->units[first]));
	list_add_text(list, "%s", get_text_of_unit_flags(query->units[first].flags));
	list_add_number(list, flips, 0, NULL);
	add_flash_address_cells(list, query->units[first].offset, bytes);
	return next;
}

static void add_tagged_range_row(struct text_list *list, const struct approxftl_extent *extent)
{
	char text[TAG_RANGE_SIZE];

	format_tagged_range(extent, text);
	list_add_row(list);
	list_add_text(list, "tagged");
	list_add_text(list, "%s", text);
	list_add_text(list, "%s", get_class_name_of_tagged_range(extent));
	list_add_text(list, "%s", "");
	list_add_text(list, "%s", "");
	add_flash_address_cells(list, extent->offset, extent->length);
}

/* Print flipped bits by quality level, if there are levels other than 1. */
static void print_flipped_bits_by_level(const struct query *query)
{
	u64 units[APPROXFTL_LEVEL_MAX + 1] = { 0 };
	u64 flips[APPROXFTL_LEVEL_MAX + 1] = { 0 };
	unsigned int i, level;

	for (i = 0; i < query->unit_count; i++) {
		level = approxftl_unit_level(&query->units[i]);
		units[level]++;
		flips[level] += query->units[i].flips;
	}
	for (level = 1; level <= APPROXFTL_LEVEL_MAX && units[2] + units[3]; level++)
		printf("level %u: %llu bits are flipped in %llu units\n", level,
		       (unsigned long long)flips[level], (unsigned long long)units[level]);
}

static void print_flip_totals_of_stored_units(const struct query *query)
{
	print_flipped_bits_by_level(query);
	printf("%llu bits are flipped in %llu of %llu units\n",
	       (unsigned long long)query->errors.flipped_bits,
	       (unsigned long long)query->errors.flipped_units,
	       (unsigned long long)query->errors.units);
	if (count_untagged_units(query))
		printf("%llu units are approximate, but no tag says so; see tag del --rewrite\n",
		       (unsigned long long)count_untagged_units(query));
}

static void write_stored_unit_json(struct json_writer *json, const struct approxftl_unit *unit)
{
	json_begin_inline_object(json, NULL);
	json_u64(json, "offset_bytes", unit->offset);
	json_u64(json, "device_offset_bytes", unit->device_offset);
	json_string(json, "class", approxftl_class_name(unit->kind));
	json_u64(json, "level", approxftl_unit_level(unit));
	json_bool(json, "lost", unit->flags & APPROXFTL_UNIT_LOST);
	json_bool(json, "modelled", !(unit->flags & APPROXFTL_UNIT_NO_MODEL));
	json_u64(json, "flipped_bits", unit->flips);
	json_u64(json, "raw_errors_bits", unit->raw);
	json_end_object(json);
}

static void print_query_json(const struct device_options *options, const struct query *query)
{
	struct json_writer json;
	const struct approxftl_errors *errors;

	device_begin_json_of_verb(options, &json);
	json_string(&json, "path", options->words[0]);
	write_tagged_ranges_json(&json, "ranges", query->extents, query->extent_count);
	errors = &query->errors;
	json_begin_inline_object(&json, "errors");
	json_u64(&json, "unit_bytes", errors->unit_bytes);
	json_u64(&json, "units", errors->units);
	json_u64(&json, "approximate_units", errors->approximate_units);
	json_u64(&json, "flipped_units", errors->flipped_units);
	json_u64(&json, "lost_units", errors->lost_units);
	json_u64(&json, "unmodelled_units", errors->unmodelled_units);
	json_u64(&json, "flipped_bits", errors->flipped_bits);
	json_u64(&json, "raw_errors_bits", errors->raw_errors);
	json_end_object(&json);
	json_u64(&json, "untagged_approximate_units", count_untagged_units(query));
	json_begin_array(&json, "units");
	for (unsigned int i = 0; i < query->unit_count; i++)
		write_stored_unit_json(&json, &query->units[i]);
	json_end_array(&json);
	json_envelope_end(&json);
}

static enum exit_code run_tag_query(struct approxftl *library, const struct device_options *options)
{
	struct query query = { .extents = NULL };
	int fd, ret;

	if (open_file_to_tag(options, options->words[0], O_RDONLY, &fd))
		return EXIT_FAILED;
	ret = query_tags_of_open_file(library, fd, &query);
	close(fd);
	if (!ret && is_json_of_all_columns_requested(options)) {
		print_query_json(options, &query);
	} else if (!ret) {
		struct text_list list;

		list_begin(&list, &options->list);
		for (int range = 0; range < query.extent_count; range++)
			add_tagged_range_row(&list, &query.extents[range]);
		for (unsigned int i = 0; i < query.unit_count;)
			i = add_row_for_consecutive_units(&list, &query, i);
		device_print_list_or_json(options, &list);
	}
	if (!ret && !options->json && !options->list.chosen)
		print_flip_totals_of_stored_units(&query);
	free(query.extents);
	free(query.units);
	return ret ? tag_report_failure(options, options->words[0], ret) : EXIT_DONE;
}

const struct device_verb tag_query = {
	.name = "tag query",
	.words = "FILE",
	.least_words = 1,
	.most_words = 1,
	.options = "",
	.columns = run_columns,
	.column_count = ARRAY_SIZE(run_columns),
	.about = "Prints the tags of a file or device, its stored data by class, and how many\n"
		 "bits are flipped now. The file must be on ext4, XFS or F2FS right on the device.",
	.run = run_tag_verb_on_device,
	.run_tag = run_tag_query,
};
