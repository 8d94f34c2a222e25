/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the verbs of the kernel's devices share: options, help, the way to a device.
 */
#ifndef AFTL_DEVICE_VERBS_H
#define AFTL_DEVICE_VERBS_H

#include "dm-device.h"
#include "exit-codes.h"
#include "json-envelope.h"
#include "key-value.h"
#include "target-line.h"
#include "target-luns.h"
#include "target-status.h"
#include "text-list.h"

/* Most KEY=VALUE of a command line. */
#define DEVICE_KEYS 256

/**
 * struct device_options - the command line of one of these verbs
 * @verb: its name
 * @rules: what it takes
 * @json: answer as JSON, into this file; "-": standard output
 * @out: that is open
 * @show: columns of a list
 * @sort: columns that its rows are sorted by
 * @list: what both say, of a verb that has a list
 * @help: explain the verb
 * @dry_run: ask nothing of the kernel
 * @force: even if the device is in use
 * @deferred: as soon as the device is not in use
 * @scan: look at the tables, not at the snapshot
 * @repair: write again what is damaged and known
 * @give_up: repair goes on without what is not known
 * @super: print the superblock
 * @state: print the states
 * @blocks: print the blocks
 * @pages: print the pages
 * @prometheus: answer as metrics
 * @size: as it was given, NULL if it was not; so are the following
 * @interval: between two lines
 * @count: of lines
 * @root: where the machine to look at is
 * @kernel: release to look at
 * @uuid: of a volume
 * @shard: whose volume is printed
 * @block: to be printed
 * @unit: to be printed
 * @level: quality level of what is tagged; 0: none is named
 * @precise: what is tagged is so
 * @remember: the tag, in an attribute
 * @rewrite: store what is stored again
 * @keys: keys of the table line in the order of the command line
 * @values: theirs
 * @key_count: how many
 * @words: what is no option
 * @word_count: how many
 * @argc: of the whole command
 * @argv: of the whole command
 */
struct device_options {
	const char *verb;
	const struct device_verb *rules;
	const char *json;
	FILE *out;
	const char *show;
	const char *sort;
	struct list_choice list;
	bool help;
	bool dry_run;
	bool force;
	bool deferred;
	bool scan;
	bool repair;
	bool give_up;
	bool super;
	bool state;
	bool blocks;
	bool pages;
	bool prometheus;
	bool precise;
	bool remember;
	bool rewrite;
	const char *size;
	const char *interval;
	const char *count;
	const char *root;
	const char *kernel;
	const char *uuid;
	const char *shard;
	const char *block;
	const char *unit;
	u64 level;
	char keys[DEVICE_KEYS][KEY_SIZE];
	const char *values[DEVICE_KEYS];
	unsigned int key_count;
	const char **words;
	unsigned int word_count;
	int argc;
	char **argv;
};

/**
 * struct device_verb - one of these verbs
 * @name: as typed, one word or two
 * @words: what follows it, for a person
 * @least_words: that must follow
 * @most_words: that may follow
 * @pairs: words may be KEY=VALUE
 * @screen: it draws, and has no JSON
 * @bare: its list has no head
 * @series: its list goes on, and cannot be sorted
 * @options: letters of the table in device-options.c
 * @columns: of the list that it prints, if it prints one
 * @column_count: how many
 * @about: paragraphs of its help
 * @run: does it
 */
struct device_verb {
	const char *name;
	const char *words;
	unsigned int least_words;
	unsigned int most_words;
	bool pairs;
	bool screen;
	bool bare;
	bool series;
	const char *options;
	const struct list_column *columns;
	unsigned int column_count;
	const char *about;
	enum exit_code (*run)(const struct device_options *options);
};

/* Everything that such a verb does. */
enum exit_code device_verb_main(const struct device_verb *verb, int argc, char **argv);

/* The head of the verb's JSON. */
void device_answer_begin(const struct device_options *options, struct json_writer *json);

/* Whether JSON has all there is; with -o or -S it is the list that a person would see. */
bool device_answer_whole(const struct device_options *options);

/* The list as the command line wants it; frees it. */
void device_answer_list(const struct device_options *options, struct text_list *list);

/* The value of the last such KEY; @standard if there is none. */
const char *device_key(const struct device_options *options, const char *key,
		       const char *standard);

/* Says @error and makes @ret, a negative error number, an exit code. */
enum exit_code device_failed(const struct device_options *options, int ret,
			     const struct aftl_error *error);

/**
 * struct device_view - a device and what it says of itself
 * @device: device-mapper's side
 * @line: its table line
 * @status: its status line
 */
struct device_view {
	struct dm_device device;
	struct target_line line;
	struct target_status status;
};

int __must_check device_look(struct device_view *view, const char *name,
			     struct aftl_error *error);

/* The rest of a view whose @device is there already. */
int __must_check device_look_inside(struct device_view *view, struct aftl_error *error);

int __must_check device_stats(const struct dm_device *device, struct target_stats *stats,
			      struct aftl_error *error);

/* @luns->list is to be freed with free(). */
int __must_check device_luns(const struct dm_device *device, struct target_luns *luns,
			     struct aftl_error *error);

/* The keys that every device has in JSON; the object is left open. */
void device_json_begin(struct json_writer *json, const struct device_view *view);

#endif
