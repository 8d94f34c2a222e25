// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl tag add", "tag del" and "tag list": set, remove and print tags of files. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checked-memory.h"
#include "complain.h"
#include "core/base/params.h"
#include "tag-verbs.h"

#define BATCH 256

int open_file_to_tag(const struct device_options *options, const char *path, int flags, int *fd)
{
	int error;

	*fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);
	if (*fd >= 0)
		return 0;
	error = errno;
	/* EBUSY: some kernels refuse to open a mounted block device for writing. */
	complain_as(options->verb, "%s: cannot open: %s", path,
		    error == EBUSY ? approxftl_explain(APPROXFTL_REASON_IN_USE) : strerror(error));
	return -error;
}

static int parse_byte_count_of_range(const char *text, size_t length, off_t *bytes)
{
	struct aftl_error cause;
	char word[TAG_RANGE_SIZE];
	u64 value;

	if (!length || length >= sizeof(word))
		return -EINVAL;
	memcpy(word, text, length);
	word[length] = '\0';
	if (aftl_parse_value(AFTL_PARAM_BYTES, NULL, word, &value, &cause) || value > INT64_MAX)
		return -EINVAL;
	*bytes = value;
	return 0;
}

int parse_range_to_tag(const struct device_options *options, const char *text, off_t *offset,
		       off_t *length)
{
	size_t before = strcspn(text, "+");
	const char *rest = text + before;

	*length = APPROXFTL_TO_END;
	if (*rest == '+' && !parse_byte_count_of_range(text, before, offset) &&
	    (!rest[1] || !parse_byte_count_of_range(rest + 1, strlen(rest + 1), length)))
		return 0;
	complain_as(options->verb,
		    "\"%s\" is no range; give OFFSET+LENGTH, such as 0+4KiB, or OFFSET+", text);
	return -EINVAL;
}

int query_tagged_ranges(struct approxftl *library, int fd, struct approxftl_extent **extents)
{
	unsigned int count = 0;
	off_t from = 0;
	int more;

	*extents = NULL;
	do {
		const struct approxftl_extent *last;

		*extents = memory_resize(*extents, count + BATCH, sizeof(**extents));
		more = approxftl_query(library, fd, from, *extents + count, BATCH);
		if (more <= 0)
			break;
		count += more;
		last = *extents + count - 1;
		from = last->length == APPROXFTL_TO_END ? APPROXFTL_TO_END :
							  last->offset + last->length;
	} while (more == BATCH);
	return more < 0 ? more : (int)count;
}

void format_tagged_range(const struct approxftl_extent *extent, char text[TAG_RANGE_SIZE])
{
	int used = scnprintf(text, TAG_RANGE_SIZE, "%lld+", (long long)extent->offset);

	if (extent->length != APPROXFTL_TO_END)
		scnprintf(text + used, TAG_RANGE_SIZE - used, "%lld",
			  (long long)extent->length);
}

const char *get_class_name_of_tagged_range(const struct approxftl_extent *extent)
{
	return approxftl_class_name(extent->level < 2 ? (enum approxftl_class)extent->kind :
							approxftl_level_class(extent->level));
}

void write_tagged_ranges_json(struct json_writer *json, const char *key,
			      const struct approxftl_extent *extents, unsigned int count)
{
	json_begin_array(json, key);
	for (unsigned int i = 0; i < count; i++) {
		json_begin_inline_object(json, NULL);
		json_u64(json, "offset_bytes", extents[i].offset);
		if (extents[i].length == APPROXFTL_TO_END)
			json_null(json, "length_bytes");
		else
			json_u64(json, "length_bytes", extents[i].length);
		json_string(json, "class", approxftl_class_name(extents[i].kind));
		json_u64(json, "level", extents[i].level);
		json_end_object(json);
	}
	json_end_array(json);
}

/* add, del */

/**
 * struct change - a change to the tags of a file
 * @library: libapproxftl
 * @options: the command line
 * @fd: the file
 * @kind: class that the tag declares; APPROXFTL_NONE removes tags
 */
struct change {
	struct approxftl *library;
	const struct device_options *options;
	int fd;
	enum approxftl_class kind;
};

typedef int (*range_fn)(const struct change *change, off_t offset, off_t length);

static int set_or_remove_tag_of_range(const struct change *change, off_t offset, off_t length)
{
	int level = max((int)change->options->level, 1);

	if (change->kind == APPROXFTL_PRECISE)
		level = 0;
	else if (change->kind == APPROXFTL_NONE)
		level = -1;
	if (!change->library)
		return tag_range_of_nbd_device(change->options, level, offset, length);
	if (change->kind == APPROXFTL_NONE)
		return approxftl_untag(change->library, change->fd, offset, length);
	return approxftl_tag(change->library, change->fd, offset, length, change->kind);
}

/* Store the data of a range again, so that they get the class of the file's present tags. */
static int rewrite_tagged_range(const struct change *change, off_t offset, off_t length)
{
	int ret = rewrite_range_of_file(change->options, change->fd, offset, length);

	if (ret)
		complain_as(change->options->verb, "%s: cannot be stored again: %s",
			    change->options->words[0],
			    ret == -EINVAL ? "only files can" : strerror(-ret));
	return ret;
}

/* Check all ranges of the command line before the first is tagged. */
static enum exit_code check_all_ranges(const struct device_options *options)
{
	off_t offset, length;

	for (unsigned int i = 1; i < options->word_count; i++)
		if (parse_range_to_tag(options, options->words[i], &offset, &length))
			return EXIT_USAGE;
	return EXIT_DONE;
}

static int apply_to_each_range_operand(const struct change *change, range_fn fn)
{
	const struct device_options *options = change->options;
	off_t offset, length;
	int ret = 0;

	if (options->word_count == 1)
		return fn(change, 0, APPROXFTL_TO_END);
	for (unsigned int i = 1; !ret && i < options->word_count; i++) {
		ret = parse_range_to_tag(options, options->words[i], &offset, &length);
		if (!ret)
			ret = fn(change, offset, length);
	}
	return ret;
}

static void print_json_of_file_tags(const struct device_options *options, const char *path,
				    const struct approxftl_extent *extents, unsigned int count)
{
	struct json_writer json;

	if (!options->json)
		return;
	device_begin_json_of_verb(options, &json);
	json_string(&json, "path", path);
	write_tagged_ranges_json(&json, "ranges", extents, count);
	json_envelope_end(&json);
}

/*
 * Return true if the file has the write hint of a whole-file tag, which O_DIRECT writes carry, too.
 */
static bool has_write_hint(int fd)
{
	uint64_t hint = 0;

	return !fcntl(fd, F_GET_RW_HINT, &hint) && hint == RWH_WRITE_LIFE_MEDIUM;
}

/*
 * Warn if O_DIRECT writes stay precise, because they bypass the page cache and carry no write hint.
 */
static void warn_of_direct_writes(const struct change *change)
{
	struct stat status;

	if (change->kind == APPROXFTL_NONE || change->kind == APPROXFTL_PRECISE ||
	    fstat(change->fd, &status) || !S_ISREG(status.st_mode) || has_write_hint(change->fd))
		return;
	complain_as(change->options->verb,
		    "%s: buffered writes are approximate from now on; O_DIRECT writes stay precise, see approxftl-tag(8)",
		    change->options->words[0]);
}

static enum exit_code change_tags_of_file(const struct change *change)
{
	const struct device_options *options = change->options;
	int ret = apply_to_each_range_operand(change, set_or_remove_tag_of_range);

	if (!ret && options->remember)
		ret = approxftl_remember(change->library, change->fd);
	if (!ret && options->rewrite && apply_to_each_range_operand(change, rewrite_tagged_range))
		return EXIT_FAILED;
	if (!ret) {
		struct approxftl_extent *extents;
		int count = query_tagged_ranges(change->library, change->fd, &extents);

		/* Print the resulting tags of the file. */
		if (count >= 0)
			print_json_of_file_tags(options, options->words[0], extents, count);
		free(extents);
		ret = min(count, 0);
	}
	if (!ret)
		warn_of_direct_writes(change);
	return ret ? tag_report_failure(options, options->words[0], ret) : EXIT_DONE;
}

static enum exit_code set_class_of_ranges(struct approxftl *library,
					  const struct device_options *options,
					  enum approxftl_class kind)
{
	struct change change = { .library = library, .options = options, .kind = kind };
	enum exit_code code = check_all_ranges(options);

	if (code)
		return code;
	if (!library)
		return apply_to_each_range_operand(&change, set_or_remove_tag_of_range) ?
			       EXIT_FAILED :
			       EXIT_DONE;
	if (open_file_to_tag(options, options->words[0], O_RDWR, &change.fd))
		return EXIT_FAILED;
	code = change_tags_of_file(&change);
	close(change.fd);
	return code;
}

static enum exit_code add_file_tags(struct approxftl *library, const struct device_options *options)
{
	return set_class_of_ranges(library, options, options->precise ? APPROXFTL_PRECISE :
				     approxftl_level_class(max((unsigned int)options->level, 1U)));
}

static enum exit_code delete_file_tags(struct approxftl *library,
				       const struct device_options *options)
{
	return set_class_of_ranges(library, options, APPROXFTL_NONE);
}

static enum exit_code run_tag_add(const struct device_options *options)
{
	if (options->level && options->precise) {
		complain_as(options->verb,
			    "--level is of approximate data; leave it or --precise out");
		return EXIT_USAGE;
	}
	return run_tag_verb_on_device(options);
}

const struct device_verb tag_add = {
	.name = "tag add",
	.words = "FILE [RANGE ...]",
	.least_words = 1,
	.most_words = 4096,
	.options = "plmw",
	.about = "Tags ranges of a file, or of a device, as approximate. A RANGE is\n"
		 "OFFSET+LENGTH, or OFFSET+ to the end; without one the whole file is tagged.\n"
		 "A tag applies to data written back from now on; with --rewrite the present data\n"
		 "are written again, so that it applies to them as well.",
	.run = run_tag_add,
	.run_tag = add_file_tags,
	.tags_served = true,
};

const struct device_verb tag_del = {
	.name = "tag del",
	.words = "FILE [RANGE ...]",
	.least_words = 1,
	.most_words = 4096,
	.options = "mw",
	.about = "Removes the tags of ranges of a file. Stored data stay as they are, and so do\n"
		 "clones of it. With --rewrite the data are written again as precise, as they are\n"
		 "read now, and no longer shared with clones.",
	.run = run_tag_verb_on_device,
	.run_tag = delete_file_tags,
	.tags_served = true,
};

/* list */

static const struct list_column range_columns[] = {
	{ "path", "FILE", "or device", false, false },
	{ "range", "RANGE", "offset and length in bytes; without one, to the end", false, false },
	{ "class", "CLASS", "class and level of the tag", false, false },
	{ "offset_bytes", "OFFSET", "where it begins", true, true },
	{ "length_bytes", "LENGTH", "of it; none, to the end", true, true },
	{ "level", "LEVEL", "quality level of approximate data", true, true },
};

static void add_list_row_of_tagged_range(struct text_list *list, const char *path,
					 const struct approxftl_extent *extent)
{
	char text[TAG_RANGE_SIZE];

	format_tagged_range(extent, text);
	list_add_row(list);
	list_add_text(list, "%s", path);
	list_add_text(list, "%s", text);
	list_add_text(list, "%s", get_class_name_of_tagged_range(extent));
	list_add_number(list, extent->offset, 0, NULL);
	if (extent->length == APPROXFTL_TO_END)
		list_add_text(list, "%s", "");
	else
		list_add_number(list, extent->length, 0, NULL);
	list_add_number(list, extent->level, 0, NULL);
}

/**
 * struct listing - output of "approxftl tag list"
 * @options: the command line
 * @list: rows with the selected columns
 * @json: complete JSON document
 */
struct listing {
	const struct device_options *options;
	struct text_list list;
	struct json_writer json;
};

static void add_tagged_file_to_listing(struct listing *listing, const char *path,
				       const struct approxftl_extent *extents, unsigned int count)
{
	if (!is_json_of_all_columns_requested(listing->options)) {
		for (unsigned int i = 0; i < count; i++)
			add_list_row_of_tagged_range(&listing->list, path, &extents[i]);
		return;
	}
	json_begin_object(&listing->json, NULL);
	json_string(&listing->json, "path", path);
	write_tagged_ranges_json(&listing->json, "ranges", extents, count);
	json_end_object(&listing->json);
}

static enum exit_code list_tags_of_file(struct listing *listing, struct approxftl *library,
					const char *path)
{
	struct approxftl_extent *extents;
	int count, fd;

	if (!library != is_server_address(path)) {
		complain_as(listing->options->verb, "%s: list files and served devices apart",
			    path);
		return EXIT_USAGE;
	}
	if (!library) {
		count = query_tags_of_nbd_device(listing->options, path, &extents);
		if (count < 0)
			return EXIT_FAILED;
	} else {
		if (open_file_to_tag(listing->options, path, O_RDONLY, &fd))
			return EXIT_FAILED;
		count = query_tagged_ranges(library, fd, &extents);
		close(fd);
	}
	if (count >= 0)
		add_tagged_file_to_listing(listing, path, extents, count);
	free(extents);
	return count < 0 ? tag_report_failure(listing->options, path, count) : EXIT_DONE;
}

static void print_list_of_tags(struct listing *listing)
{
	if (!is_json_of_all_columns_requested(listing->options)) {
		device_print_list_or_json(listing->options, &listing->list);
		return;
	}
	json_end_array(&listing->json);
	json_envelope_end(&listing->json);
}

/* Report a file that cannot be opened, and list the others. */
static enum exit_code run_tag_list(struct approxftl *library, const struct device_options *options)
{
	struct listing listing = { .options = options };
	enum exit_code code = EXIT_DONE;

	list_begin(&listing.list, &listing.options->list);
	if (is_json_of_all_columns_requested(listing.options)) {
		device_begin_json_of_verb(listing.options, &listing.json);
		json_begin_array(&listing.json, "files");
	}
	for (unsigned int i = 0; i < options->word_count; i++) {
		enum exit_code one = list_tags_of_file(&listing, library, options->words[i]);

		code = code ? code : one;
	}
	print_list_of_tags(&listing);
	return code;
}

const struct device_verb tag_list = {
	.name = "tag list",
	.words = "FILE ...",
	.least_words = 1,
	.most_words = 1 << 20,
	.options = "",
	.columns = range_columns,
	.column_count = ARRAY_SIZE(range_columns),
	.about = "Lists the present tags of files or devices.",
	.run = run_tag_verb_on_device,
	.run_tag = run_tag_list,
	.tags_served = true,
};
