// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <stdlib.h>

#include "checked-memory.h"
#include "text-table.h"

struct text_row {
	struct text_row *next;
	bool heading;
	unsigned int used;
	char *cells[TEXT_TABLE_COLUMNS];
};

void text_table_begin(struct text_table *table, unsigned int columns, unsigned int left)
{
	assert(columns <= TEXT_TABLE_COLUMNS);
	*table = (struct text_table){ .columns = columns };
	for (; left < columns; left++)
		table->right[left] = true;
}

void text_table_add_row(struct text_table *table)
{
	struct text_row *row = memory_alloc_zeroed(1, sizeof(*row));

	if (table->last)
		table->last->next = row;
	else
		table->first = row;
	table->last = row;
}

static void add_table_cell(struct text_row *row, const char *format, va_list args)
{
	char text[TEXT_TABLE_CELL];

	vscnprintf(text, sizeof(text), format, args);
	row->cells[row->used++] = memory_copy_text(text);
}

void text_table_add_cell(struct text_table *table, const char *format, ...)
{
	va_list args;

	assert(table->last && table->last->used < table->columns);
	va_start(args, format);
	add_table_cell(table->last, format, args);
	va_end(args);
}

void table_add_titled_value(struct text_table *table, const char *title, const char *format, ...)
{
	va_list args;

	text_table_add_row(table);
	text_table_add_cell(table, "%s", title);
	va_start(args, format);
	add_table_cell(table->last, format, args);
	va_end(args);
}

void text_table_add_heading(struct text_table *table, const char *format, ...)
{
	va_list args;

	text_table_add_row(table);
	table->last->heading = true;
	va_start(args, format);
	add_table_cell(table->last, format, args);
	va_end(args);
}

static void widen_text_table_column(int *width, size_t length)
{
	if ((size_t)*width < length)
		*width = (int)length;
}

/* Print a row. All cells but the last one are padded, so that no line ends in blanks. */
static void print_text_table_row(const struct text_table *table, const struct text_row *row,
				 const int *widths, FILE *out)
{
	for (unsigned int i = 0; i < row->used; i++) {
		int width = widths[i];

		if (i)
			fputs("  ", out);
		if (table->right[i])
			fprintf(out, "%*s", width, row->cells[i]);
		else
			fprintf(out, "%-*s", i + 1 == row->used ? 0 : width, row->cells[i]);
	}
	fputc('\n', out);
}

void text_table_print_and_free(struct text_table *table, FILE *out)
{
	int widths[TEXT_TABLE_COLUMNS] = { 0 };
	struct text_row *row;

	for (row = table->first; row; row = row->next)
		for (unsigned int i = 0; i < row->used && !row->heading; i++)
			widen_text_table_column(&widths[i], strlen(row->cells[i]));
	for (row = table->first; row; row = table->first) {
		table->first = row->next;
		if (row->heading)
			fprintf(out, "%s\n", row->cells[0]);
		else
			print_text_table_row(table, row, widths, out);
		for (unsigned int i = 0; i < row->used; i++)
			free(row->cells[i]);
		free(row);
	}
	table->last = NULL;
}
