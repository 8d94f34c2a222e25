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

/* Most words of a command line. */
#define DEVICE_WORDS 256

/**
 * struct device_options - the command line of one of these verbs
 * @verb: its name
 * @rules: what it takes
 * @json: answer as JSON
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
 * @block: to be printed
 * @unit: to be printed
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
	bool json;
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
	const char *size;
	const char *interval;
	const char *count;
	const char *root;
	const char *kernel;
	const char *uuid;
	const char *block;
	const char *unit;
	char keys[DEVICE_WORDS][KEY_SIZE];
	const char *values[DEVICE_WORDS];
	unsigned int key_count;
	const char *words[DEVICE_WORDS];
	unsigned int word_count;
	int argc;
	char **argv;
};

/**
 * struct device_verb - one of these verbs
 * @name: as typed
 * @words: what follows it, for a person
 * @least_words: that must follow
 * @most_words: that may follow
 * @pairs: words may be KEY=VALUE
 * @screen: it draws, and has no JSON
 * @options: letters of the table in device-options.c
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
	const char *options;
	const char *about;
	enum exit_code (*run)(const struct device_options *options);
};

/* Everything that such a verb does. */
enum exit_code device_verb_main(const struct device_verb *verb, int argc, char **argv);

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
