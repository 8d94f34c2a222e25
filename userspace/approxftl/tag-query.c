// SPDX-License-Identifier: GPL-2.0-only
/*
 * "approxftl tag query": what is said of a file, and what has become of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "checked-memory.h"
#include "tag-verbs.h"
#include "text-table.h"

#define BATCH 1024

/**
 * struct query - an answer
 * @extents: what is said
 * @extent_count: how many
 * @units: what is stored
 * @unit_count: how many
 * @errors: their sum
 */
struct query {
	struct approxftl_extent *extents;
	int extent_count;
	struct approxftl_unit *units;
	unsigned int unit_count;
	struct approxftl_errors errors;
};

/* Whether all of a unit is called approximate now. */
static bool is_called(const struct query *query, const struct approxftl_unit *unit)
{
	int i;

	for (i = 0; i < query->extent_count; i++) {
		const struct approxftl_extent *extent = &query->extents[i];
		s64 end = unit->offset + (s64)query->errors.unit_bytes;

		if (extent->kind == APPROXFTL_APPROXIMATE && extent->offset <= unit->offset &&
		    (extent->length == APPROXFTL_TO_END || extent->offset + extent->length >= end))
			return true;
	}
	return false;
}

/* Units that are approximate, though nothing says so now: clones, and what was called so before. */
static u64 uncalled_units(const struct query *query)
{
	u64 count = 0;
	unsigned int i;

	for (i = 0; i < query->unit_count; i++)
		count += query->units[i].kind == APPROXFTL_APPROXIMATE &&
			 !is_called(query, &query->units[i]);
	return count;
}

static int get_units(struct approxftl *library, int fd, struct query *query)
{
	off_t from = 0;
	int more = 0;

	while (from != APPROXFTL_TO_END && more >= 0) {
		query->units = memory_grown(query->units, query->unit_count + BATCH,
					    sizeof(*query->units));
		more = approxftl_stored(library, fd, &from, APPROXFTL_TO_END,
					query->units + query->unit_count, BATCH);
		query->unit_count += max(more, 0);
	}
	return min(more, 0);
}

/* What waits in the page cache is written first, so that there is something to look at. */
static int get(struct approxftl *library, int fd, struct query *query)
{
	int ret;

	query->extent_count = tag_ranges_of(library, fd, &query->extents);
	if (query->extent_count < 0)
		return query->extent_count;
	fsync(fd);
	ret = get_units(library, fd, query);
	return ret ? ret : approxftl_errors(library, fd, 0, APPROXFTL_TO_END, &query->errors);
}

/* Whether @next goes on where @last ends, in the same way. */
static bool same_run(const struct approxftl_unit *last, const struct approxftl_unit *next,
		     u64 unit_bytes)
{
	return next->offset == last->offset + (s64)unit_bytes && next->kind == last->kind &&
		next->flags == last->flags && !next->flips == !last->flips;
}

static const char *flag_text(u32 flags)
{
	if (flags & APPROXFTL_UNIT_LOST)
		return "lost";
	return flags & APPROXFTL_UNIT_NO_MODEL ? "not modelled" : "";
}

static const char *stored_class(const struct approxftl_unit *unit)
{
	unsigned int level = approxftl_unit_level(unit);

	return approxftl_class_name(level ? approxftl_level_class(level) :
					    (enum approxftl_class)unit->kind);
}

/* A row for each run of units of one kind; returns the first unit behind it. */
static unsigned int add_run(struct text_table *table, const struct query *query,
			    unsigned int first)
{
	u64 unit_bytes = query->errors.unit_bytes;
	u64 flips = query->units[first].flips;
	unsigned int next = first + 1;
	u64 bytes;

	while (next < query->unit_count &&
	       same_run(&query->units[next - 1], &query->units[next], unit_bytes))
		flips += query->units[next++].flips;
	bytes = (next - first) * unit_bytes;
	text_table_row(table);
	text_table_cell(table, "stored");
	text_table_cell(table, "%lld+%llu", (long long)query->units[first].offset,
			(unsigned long long)bytes);
	text_table_cell(table, "%s", stored_class(&query->units[first]));
	text_table_cell(table, "%s", flag_text(query->units[first].flags));
	text_table_cell(table, "%llu", (unsigned long long)flips);
	return next;
}

/* Where there are others than the first. */
static void print_levels(const struct query *query)
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

static void print_text(const struct query *query)
{
	struct text_table table;
	char text[TAG_RANGE_SIZE];
	unsigned int i;
	int range;

	text_table_begin(&table, 5, 4);
	text_table_row(&table);
	text_table_cell(&table, "WHAT");
	text_table_cell(&table, "RANGE");
	text_table_cell(&table, "CLASS");
	text_table_cell(&table, " ");
	text_table_cell(&table, "FLIPS");
	for (range = 0; range < query->extent_count; range++) {
		tag_range_text(&query->extents[range], text);
		text_table_row(&table);
		text_table_cell(&table, "tagged");
		text_table_cell(&table, "%s", text);
		text_table_cell(&table, "%s", tag_range_class(&query->extents[range]));
	}
	for (i = 0; i < query->unit_count;)
		i = add_run(&table, query, i);
	text_table_end(&table, stdout);
	print_levels(query);
	printf("%llu bits are flipped in %llu of %llu units\n",
	       (unsigned long long)query->errors.flipped_bits,
	       (unsigned long long)query->errors.flipped_units,
	       (unsigned long long)query->errors.units);
	if (uncalled_units(query))
		printf("%llu units are approximate, but no tag says so; see tag del --rewrite\n",
		       (unsigned long long)uncalled_units(query));
}

static void json_sums(struct json_writer *json, const struct approxftl_errors *errors)
{
	json_record(json, "errors");
	json_u64(json, "unit_bytes", errors->unit_bytes);
	json_u64(json, "units", errors->units);
	json_u64(json, "approximate_units", errors->approximate_units);
	json_u64(json, "flipped_units", errors->flipped_units);
	json_u64(json, "lost_units", errors->lost_units);
	json_u64(json, "unmodelled_units", errors->unmodelled_units);
	json_u64(json, "flipped_bits", errors->flipped_bits);
	json_u64(json, "raw_errors_bits", errors->raw_errors);
	json_end_object(json);
}

static void json_unit(struct json_writer *json, const struct approxftl_unit *unit)
{
	json_record(json, NULL);
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

static void print_json(const struct tag_options *options, const struct query *query)
{
	struct json_writer json;
	unsigned int i;

	json_envelope_begin(&json, stdout, options->argc, options->argv);
	json_string(&json, "path", options->words[0]);
	tag_json_ranges(&json, "ranges", query->extents, query->extent_count);
	json_sums(&json, &query->errors);
	json_u64(&json, "untagged_approximate_units", uncalled_units(query));
	json_array(&json, "units");
	for (i = 0; i < query->unit_count; i++)
		json_unit(&json, &query->units[i]);
	json_end_array(&json);
	json_envelope_end(&json);
}

static enum exit_code run_query(struct approxftl *library, const struct tag_options *options)
{
	struct query query = { .extents = NULL };
	int fd, ret;

	if (tag_open(options, options->words[0], O_RDONLY, &fd))
		return EXIT_FAILED;
	ret = get(library, fd, &query);
	close(fd);
	if (!ret && options->json)
		print_json(options, &query);
	else if (!ret)
		print_text(&query);
	free(query.extents);
	free(query.units);
	return ret ? tag_failed(options->words[0], ret) : EXIT_DONE;
}

const struct tag_verb tag_query = {
	.name = "query",
	.words = "FILE",
	.least_words = 1,
	.most_words = 1,
	.options = "",
	.about = "Prints what is said of a file or device, what is stored, and how many bits of\n"
		 "it are flipped now. The file must be on ext4, XFS or F2FS right on the device.",
	.run = run_query,
};
