/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations for all verbs on devices: options, help, access to a device. */
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

/* Maximum number of KEY=VALUE operands. */
#define DEVICE_KEYS 256

struct approxftl;

/**
 * struct device_options - the parsed command line of a verb
 * @verb: name of the verb
 * @rules: its syntax
 * @out: open output stream
 * @list: parsed @show and @sort, if the verb has a list
 * @level: quality level of a tag; 0: not given
 * @keys: keys of the table line in the order of the command line
 * @values: their values
 * @key_count: number of keys
 * @words: operands
 * @word_count: number of operands
 * @argc: argument count of the whole command
 * @argv: arguments of the whole command
 *
 * All other fields have the names of their options, whose help explains them. Texts are as typed,
 * or NULL.
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
	bool list_faults;
	bool clear;
	const char *size;
	const char *socket;
	const char *interval;
	const char *count;
	const char *root;
	const char *kernel;
	const char *uuid;
	const char *shard;
	const char *block;
	const char *unit;
	const char *script;
	const char *file;
	u64 level;
	u64 offset;
	u64 length;
	char keys[DEVICE_KEYS][KEY_SIZE];
	const char *values[DEVICE_KEYS];
	unsigned int key_count;
	const char **words;
	unsigned int word_count;
	int argc;
	char **argv;
};

/**
 * struct device_verb - a verb
 * @name: as typed, one word or two
 * @words: description of the operands for the help
 * @least_words: minimum number of operands
 * @most_words: maximum number of operands
 * @pairs: operands may be KEY=VALUE
 * @screen: draws on the terminal, and has no JSON
 * @bare: its list has no titles
 * @series: its list is endless and cannot be sorted
 * @options: letters of its options in the table of device-options.c
 * @columns: columns of its list, if it has one
 * @column_count: number of columns
 * @about: paragraphs of its help
 * @run: executes the verb
 * @run_tag: executes a verb of "approxftl tag", if @run is run_tag_verb_on_device()
 * @tags_served: @run_tag also works, without the library, for devices of "approxftl serve"
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
	enum exit_code (*run_tag)(struct approxftl *library, const struct device_options *options);
	bool tags_served;
};

/* Parse the command line, then print the help or run the verb. */
enum exit_code device_verb_main(const struct device_verb *verb, int argc, char **argv);

/* Begin the verb's JSON document. */
void device_begin_json_of_verb(const struct device_options *options, struct json_writer *json);

/* Return true if --json prints all that is known; with -o or -S it prints what the list prints. */
bool is_json_of_all_columns_requested(const struct device_options *options);

/* Print a verb's list with the columns and the order that the options select; free the list. */
void device_print_list_or_json(const struct device_options *options, struct text_list *list);

/* Return the last value of @key on the command line, or @standard if there is none. */
const char *device_get_value_of_table_key(const struct device_options *options, const char *key,
					  const char *standard);

/**
 * device_make_table_line() - make the table line of the options, and check it with the core
 * @line: takes the line
 * @size: takes the size of the device that it describes
 * @sectors: takes the size of the device in the table: that of --size, or the whole capacity
 * @error: takes the message on failure
 *
 * Return: 0 or a negative error number.
 */
int __must_check device_make_table_line(const struct device_options *options,
					struct target_line *line, struct target_size *size,
					u64 *sectors, struct aftl_error *error);

/* Print @error and convert @ret, a negative error number, to an exit code. */
enum exit_code report_device_failure(const struct device_options *options, int ret,
				     const struct aftl_error *error);

/**
 * struct device_view - a device, its table and its status
 * @device: the device as device-mapper reports it
 * @line: its table line
 * @status: its status line
 */
struct device_view {
	struct dm_device device;
	struct target_line line;
	struct target_status status;
};

int __must_check device_view_find_and_read(struct device_view *view, const char *name,
					   struct aftl_error *error);

/* Fill view->line and view->status; the caller has set view->device. */
int __must_check device_view_read_table_and_status(struct device_view *view,
						   struct aftl_error *error);

int __must_check device_read_stats(const struct dm_device *device, struct target_stats *stats,
				   struct aftl_error *error);

/* Read the state of the LUNs. The caller frees @luns->list with free(). */
int __must_check device_read_luns(const struct dm_device *device, struct target_luns *luns,
				  struct aftl_error *error);

/* Print the common JSON keys of a device; the object stays open. */
void device_begin_description_json(struct json_writer *json, const struct device_view *view);

#endif
