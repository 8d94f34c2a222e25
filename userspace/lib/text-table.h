/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Columns for a person: the first to the left, the others to the right.
 */
#ifndef AFTL_TEXT_TABLE_H
#define AFTL_TEXT_TABLE_H

#include <stdio.h>

#include "aftl-host.h"

/* Two for each policy and its label: those that are built in, and as many again. */
#define TEXT_TABLE_COLUMNS 80
#define TEXT_TABLE_CELL 256

struct text_row;

/**
 * struct text_table - rows that wait for the last one to be known
 * @columns: of each row
 * @right: of each column, whether it is aligned to the right
 * @first: row
 * @last: row, the one that cells are added to
 */
struct text_table {
	unsigned int columns;
	bool right[TEXT_TABLE_COLUMNS];
	struct text_row *first;
	struct text_row *last;
};

/* The first @left columns are aligned to the left. */
void text_table_begin(struct text_table *table, unsigned int columns, unsigned int left);

void text_table_row(struct text_table *table);

/* The next cell of the last row; the missing ones of a row are empty. */
__printf(2, 3) void text_table_cell(struct text_table *table, const char *format, ...);

/* A row of two cells. */
__printf(3, 4) void text_table_pair(struct text_table *table, const char *title,
				    const char *format, ...);

/* A line of its own above the rows that follow. */
__printf(2, 3) void text_table_heading(struct text_table *table, const char *format, ...);

/* Prints and frees all rows. */
void text_table_end(struct text_table *table, FILE *out);

#endif
