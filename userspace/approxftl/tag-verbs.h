/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the verbs of "approxftl tag" share.
 */
#ifndef AFTL_TAG_VERBS_H
#define AFTL_TAG_VERBS_H

#include <approxftl.h>

#include "exit-codes.h"
#include "json-envelope.h"

/**
 * struct tag_options - the command line of one of these verbs
 * @verb: its name
 * @json: answer as JSON
 * @help: explain the verb
 * @remember: keep it in the file's attribute, too
 * @precise: what is said, instead of approximate
 * @level: quality level of what is approximate; 0: none is named
 * @rewrite: store what is stored again
 * @words: what is no option
 * @word_count: how many
 * @argc: of the whole command
 * @argv: of the whole command
 */
struct tag_options {
	const char *verb;
	bool json;
	bool help;
	bool remember;
	bool precise;
	bool rewrite;
	unsigned int level;
	char **words;
	unsigned int word_count;
	int argc;
	char **argv;
};

/**
 * struct tag_verb - one of these verbs
 * @name: as typed after "tag"
 * @words: what follows it, for a person
 * @least_words: that must follow
 * @most_words: that may follow
 * @options: letters of those that it has, besides "j" and "h"
 * @about: paragraphs of its help
 * @run: does it
 */
struct tag_verb {
	const char *name;
	const char *words;
	unsigned int least_words;
	unsigned int most_words;
	const char *options;
	const char *about;
	enum exit_code (*run)(struct approxftl *library, const struct tag_options *options);
};

extern const struct tag_verb tag_add;
extern const struct tag_verb tag_del;
extern const struct tag_verb tag_list;
extern const struct tag_verb tag_query;
extern const struct tag_verb tag_scan;
extern const struct tag_verb tag_watch;

/* One line about @path on stderr, and the exit code: @ret is a negative error number. */
enum exit_code tag_failed(const char *path, int ret);

/* Opens a file of a command line; says why not, and returns a negative error number. */
int tag_open(const struct tag_options *options, const char *path, int flags, int *fd);

/* "OFFSET+LENGTH" or "OFFSET+", with units such as KiB. Says what is wrong with it. */
int tag_parse_range(const struct tag_options *options, const char *text, off_t *offset,
		    off_t *length);

/* Stores the data of a range of a file once more; returns a negative error number. */
int tag_rewrite(const struct tag_options *options, int fd, off_t offset, off_t length);

/* Everything that is said of a file, to be freed; returns how many ranges, or an error number. */
int tag_ranges_of(struct approxftl *library, int fd, struct approxftl_extent **extents);

/* "0+4096", "4096+" */
#define TAG_RANGE_SIZE 48
void tag_range_text(const struct approxftl_extent *extent, char text[TAG_RANGE_SIZE]);

/* The name of its class, with its quality level. */
const char *tag_range_class(const struct approxftl_extent *extent);

/* An array of what is said of a file, into an open JSON object. */
void tag_json_ranges(struct json_writer *json, const char *key,
		     const struct approxftl_extent *extents, unsigned int count);

#endif
