/* SPDX-License-Identifier: GPL-2.0-only */
/* A list with selectable columns (-o) and sorted rows (-S), printed as a table or as JSON. */
#ifndef AFTL_TEXT_LIST_H
#define AFTL_TEXT_LIST_H

#include "core/base/params.h"
#include "json-writer.h"

#define LIST_COLUMNS 32

/**
 * struct list_column - a column that a list can show
 * @key: JSON key, including the unit; -o and -S accept it or the title
 * @title: head of the column
 * @help: one phrase
 * @number: holds numbers, which are aligned to the right
 * @more: not shown by default
 */
struct list_column {
	const char *key;
	const char *title;
	const char *help;
	bool number;
	bool more;
};

/**
 * struct list_choice - columns and order that the command line selects
 * @columns: all columns
 * @count: number of all columns
 * @shown: selected columns, in the order of display
 * @shown_count: number of selected columns
 * @sorted: sort keys, the most significant first
 * @falls: for each sort key, whether the order is descending
 * @sorted_count: number of sort keys; 0: keep the order of insertion
 * @bare: print no titles
 * @chosen: -o or -S was given
 * @explain: list the columns and nothing else
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

/* Help texts of the options -o and -S of a list. */
#define LIST_BARE_HELP "a list without its titles"
#define LIST_SHOW_HELP "only these columns, or +A,... more of them; help lists them"
#define LIST_SORT_HELP "rows by these columns; with - before it, the largest first"

/**
 * list_choose_columns() - parse @show, the value of -o, and @sort, the value of -S; NULL: not given
 * @choice: zeroed, except for @bare
 *
 * Return: 0, or -EINVAL with an error message.
 */
int __must_check list_choose_columns(struct list_choice *choice, const struct list_column *columns,
				     unsigned int count, const char *show, const char *sort,
				     struct aftl_error *error);

/* Print a line of help about each column of a list. */
void list_print_column_help(const struct list_choice *choice, FILE *out);

struct list_row;

/**
 * struct text_list - rows that are buffered until the list is printed
 * @choice: selected columns and order
 * @rows: in the order of insertion
 * @count: number of rows
 */
struct text_list {
	const struct list_choice *choice;
	struct list_row *rows;
	unsigned int count;
};

void list_begin(struct text_list *list, const struct list_choice *choice);
void list_add_row(struct text_list *list);

/* Add a text cell to the last row. An empty text is null in JSON. */
__printf(2, 3) void list_add_text(struct text_list *list, const char *format, ...);

/* Add @value / 10^@decimals to the last row; if @said is not NULL, a table shows @said instead. */
void list_add_number(struct text_list *list, u64 value, unsigned int decimals, const char *said);

/* Print the selected columns, sorted and with titles, and free the rows. */
void list_print(struct text_list *list, FILE *out);

/* Print the titles of a list, or its buffered rows, in cells that are @width characters wide. */
void list_print_head(const struct list_choice *choice, int width, FILE *out);
void list_print_rows_in_fixed_width(struct text_list *list, int width, FILE *out);

/* Print the selected columns as objects into an open JSON array and free the rows. */
void list_write_json(struct text_list *list, struct json_writer *json);

#endif
