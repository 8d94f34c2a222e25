/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A list whose columns are chosen (-o) and whose rows are sorted (-S), for a person or as JSON.
 */
#ifndef AFTL_TEXT_LIST_H
#define AFTL_TEXT_LIST_H

#include "core/base/params.h"
#include "json-writer.h"

#define LIST_COLUMNS 32

/**
 * struct list_column - what a list can show
 * @key: in JSON, with the unit; -o and -S take it, or the title
 * @title: of the column
 * @help: one phrase
 * @number: it has numbers, which stand to the right
 * @more: shown only if it is asked for
 */
struct list_column {
	const char *key;
	const char *title;
	const char *help;
	bool number;
	bool more;
};

/**
 * struct list_choice - what a command line says of a list
 * @columns: that there are
 * @count: of them
 * @shown: which of them, in this order
 * @shown_count: how many
 * @sorted: by which, the first one first
 * @falls: largest first, of each of these
 * @sorted_count: how many; 0: as they come
 * @bare: without a head
 * @chosen: anything was said
 * @explain: the columns are to be listed, and nothing else
 */
struct list_choice {
	const struct list_column *columns;
	unsigned int count;
	unsigned int shown[LIST_COLUMNS];
	unsigned int shown_count;
	unsigned int sorted[LIST_COLUMNS];
	bool falls[LIST_COLUMNS];
	unsigned int sorted_count;
	bool bare;
	bool chosen;
	bool explain;
};

/* The lines of an option table. */
#define LIST_BARE_HELP "a list without its titles"
#define LIST_SHOW_HELP "only these columns, or +A,... more of them; help lists them"
#define LIST_SORT_HELP "rows by these columns; with - before it, the largest first"

/**
 * list_choose() - understand @show, behind -o, and @sort, behind -S; NULL: not given
 * @choice: zeroed, but for @bare
 *
 * Return: 0, or -EINVAL with a sentence.
 */
int __must_check list_choose(struct list_choice *choice, const struct list_column *columns,
			     unsigned int count, const char *show, const char *sort,
			     struct aftl_error *error);

/* A line for each column there is. */
void list_explain(const struct list_choice *choice, FILE *out);

struct list_row;

/**
 * struct text_list - rows that wait for the last one to be known
 * @choice: of the command line
 * @rows: in the order they came in
 * @count: how many
 */
struct text_list {
	const struct list_choice *choice;
	struct list_row *rows;
	unsigned int count;
};

void list_begin(struct text_list *list, const struct list_choice *choice);
void list_row(struct text_list *list);

/* The next cell of the last row. A text that is empty is null in JSON. */
__printf(2, 3) void list_text(struct text_list *list, const char *format, ...);

/* @value / 10^@decimals; @said is what a person reads instead, or NULL. */
void list_number(struct text_list *list, u64 value, unsigned int decimals, const char *said);

/* The rows as the choice has them, with a head; frees them. */
void list_print(struct text_list *list, FILE *out);

/* The same, each cell @width wide, for rows that come one after the other. */
void list_print_head(const struct list_choice *choice, int width, FILE *out);
void list_print_wide(struct text_list *list, int width, FILE *out);

/* Objects in an open array, of what the choice shows; frees them. */
void list_json(struct text_list *list, struct json_writer *json);

#endif
