/* SPDX-License-Identifier: GPL-2.0-only */
/* A text table: the first columns are aligned to the left, the others to the right. */
#ifndef AFTL_TEXT_TABLE_H
#define AFTL_TEXT_TABLE_H

#include <stdio.h>

#include "aftl-host.h"

/* Maximum number of columns: a label, and two columns for each policy. */
#define TEXT_TABLE_COLUMNS 80
#define TEXT_TABLE_CELL 256

struct text_row;

/**
 * struct text_table - rows that are buffered until the widths of all columns are known
 * @columns: cells of a row
 * @right: for each column, whether it is aligned to the right
 * @first: first row
 * @last: last row, which receives new cells
 */
struct text_table {
	unsigned int columns;
	bool right[TEXT_TABLE_COLUMNS];
	struct text_row *first;
	struct text_row *last;
};

/* Begin a table. The first @left columns are aligned to the left. */
void text_table_begin(struct text_table *table, unsigned int columns, unsigned int left);

void text_table_add_row(struct text_table *table);

/* Add a cell to the last row. Missing cells of a row are empty. */
__printf(2, 3) void text_table_add_cell(struct text_table *table, const char *format, ...);

/* Add a row of two cells. */
__printf(3, 4) void table_add_titled_value(struct text_table *table, const char *title,
					   const char *format, ...);

/* Add a heading line above the rows that follow. */
__printf(2, 3) void text_table_add_heading(struct text_table *table, const char *format, ...);

/* Print and free all rows. */
void text_table_print_and_free(struct text_table *table, FILE *out);

#endif
