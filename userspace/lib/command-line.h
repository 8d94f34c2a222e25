/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command line by a table of its options: what getopt_long() takes, what is said of what it
 * does not, and the help.
 */
#ifndef AFTL_COMMAND_LINE_H
#define AFTL_COMMAND_LINE_H

#include "core/base/params.h"
#include "exit-codes.h"
#include "json-writer.h"

/* Most options of a command. */
#define COMMAND_OPTIONS 64

/* How the value of an option is written: as that of a parameter, or as follows. */
enum command_kind {
	COMMAND_TEXT = 64,
	COMMAND_SWITCH,
	/* A name right behind it, -jFILE or --json=FILE; alone it is "-", standard output. */
	COMMAND_FILE,
	/* And whatever the command itself understands. */
	COMMAND_OTHER,
};

#define COMMAND_JSON_HELP "answer as JSON, to standard output or a file"

/**
 * struct command_option - an option, or a title of the help when it has no name
 * @name: long form
 * @letter: short form, or 0
 * @kind: an enum aftl_param_type, an enum command_kind, or beyond
 * @field: in the structure that is filled: u64 for a number, const char * for a text, bool
 * @value: for a person
 * @help: one phrase
 * @least: of a number
 * @most: of a number; 0: no limits
 * @users: for command_line.takes
 */
struct command_option {
	const char *name;
	char letter;
	int kind;
	size_t field;
	const char *value;
	const char *help;
	u64 least;
	u64 most;
	u32 users;
};

/**
 * struct command_line - a command
 * @name: as typed behind "approxftl"; of a program by itself if it begins with "approx"
 * @options: its table
 * @count: entries of that
 * @column: where the phrases of the help begin
 * @ends: the first word ends the options; optind is its index. Else: options stand anywhere
 * @context: of the caller
 * @takes: is the option one of this command's? NULL: all are
 * @word: what is no option; in @fields
 * @other: an option of kind COMMAND_OTHER or beyond
 */
struct command_line {
	const char *name;
	const struct command_option *options;
	unsigned int count;
	unsigned int column;
	bool ends;
	const void *context;
	bool (*takes)(const struct command_line *line, const struct command_option *option);
	int (*word)(void *fields, const char *word, struct aftl_error *error);
	int (*other)(void *fields, const struct command_option *option, const char *value,
		     struct aftl_error *error);
};

/**
 * command_line_parse() - fill @fields
 * @argv: the name of the command and its arguments
 *
 * Return: 0, or an error code with a sentence.
 */
int __must_check command_line_parse(const struct command_line *line, void *fields, int argc,
				    char **argv, struct aftl_error *error);

/* What is said of a word that a command has no use for. */
int __must_check command_word_too_many(const char *name, const char *word,
				       struct aftl_error *error);

/* The same behind an option that has its value right behind it. */
int __must_check command_word_behind(const char *option, const char *word,
				     struct aftl_error *error);

/* A line for each option. --help=json has been answered before that, by the same table. */
void command_line_help(const struct command_line *line);

/* The same as JSON, for tables of another kind: begin, an option after the other, end. */
void command_help_begin(struct json_writer *json, const char *name);
void command_help_option(struct json_writer *json, const char *name, char letter, const char *value,
			 bool may_lack, const char *help);
enum exit_code command_help_end(struct json_writer *json);

#endif
