/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A parser for command lines that is driven by an option table. It calls getopt_long(), words
 * the error messages and prints the help.
 */
#ifndef AFTL_COMMAND_LINE_H
#define AFTL_COMMAND_LINE_H

#include "core/base/params.h"
#include "exit-codes.h"
#include "json-writer.h"

/* Maximum number of options of a command. */
#define COMMAND_OPTIONS 64

/* Type of an option's value: an enum aftl_param_type, or a constant of this enum. */
enum command_kind {
	COMMAND_TEXT = 64,
	COMMAND_SWITCH,
	/* An optional file name: -jFILE or --json=FILE; without one, "-" for standard output. */
	COMMAND_FILE,
	/* command_line.other() handles options whose kind is COMMAND_OTHER or a larger number. */
	COMMAND_OTHER,
};

#define COMMAND_JSON_HELP "answer as JSON, to standard output or a file"

/**
 * struct command_option - an option, or a section title of the help if @name is NULL
 * @name: long form
 * @letter: short form, or 0
 * @kind: an enum aftl_param_type, an enum command_kind, or a larger value of the command's own
 * @field: offset in the filled structure of a u64 (number), const char * (text) or bool (switch)
 * @value: placeholder of the value in the help
 * @help: one phrase
 * @least: smallest legal number
 * @most: largest legal number; 0: no limits
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
 * struct command_line - the syntax of a command
 * @name: verb of approxftl, or the name of another program if it begins with "approx"
 * @options: option table
 * @count: number of its entries
 * @column: column at which the help texts begin
 * @ends: the first operand ends the options, and optind is its index; false: options may follow
 * @context: private data of the caller
 * @takes: returns whether the command has this option; NULL: it has all
 * @word: handles an operand; stores it in @fields
 * @other: handles an option of kind COMMAND_OTHER or larger
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
 * command_line_parse() - parse a command line and fill @fields
 * @argv: the name of the command and its arguments
 *
 * Return: 0, or a negative error number with an error message.
 */
int __must_check command_line_parse(const struct command_line *line, void *fields, int argc,
				    char **argv, struct aftl_error *error);

/* Reject a superfluous operand: set the error message and return -EINVAL. */
int __must_check command_report_extra_operand(const char *name, const char *word,
					      struct aftl_error *error);

/* Reject an operand after an option whose value must be attached: suggest --OPTION=WORD. */
int __must_check command_report_missing_equals(const char *option, const char *word,
					       struct aftl_error *error);

/* Print a line for each option. command_line_parse() itself answers --help=json. */
void command_line_print_help(const struct command_line *line);

/* Print --help=json without a struct command_option: begin, then add each option, then end. */
void command_help_json_begin(struct json_writer *json, const char *name);
void command_help_json_add_option(struct json_writer *json, const char *name, char letter,
				  const char *value, bool may_lack, const char *help);
enum exit_code command_help_json_end(struct json_writer *json);

#endif
