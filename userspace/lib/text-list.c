// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <stdlib.h>
#include <strings.h>

#include "checked-memory.h"
#include "complain.h"
#include "human-units.h"
#include "key-value.h"
#include "text-list.h"
#include "text-table.h"

struct list_cell {
	char *text;
	u64 value;
	unsigned int decimals;
	bool number;
};

struct list_row {
	const struct list_choice *choice;
	unsigned int at;
	unsigned int used;
	struct list_cell cells[LIST_COLUMNS];
};

/* The choice */

static int find_column_by_name(const struct list_choice *choice, const char *name)
{
	for (unsigned int i = 0; i < choice->count; i++)
		if (!strcasecmp(choice->columns[i].key, name) ||
		    !strcasecmp(choice->columns[i].title, name))
			return (int)i;
	return -ENOENT;
}

static int report_unknown_column(const struct list_choice *choice, const char *name,
				 struct aftl_error *error)
{
	const char *names[2 * LIST_COLUMNS + 1] = { NULL };
	const char **next = names;
	const char *meant;

	for (unsigned int i = 0; i < choice->count; i++) {
		*next++ = choice->columns[i].key;
		*next++ = choice->columns[i].title;
	}
	meant = find_closest_word(name, names);
	if (meant)
		return aftl_fail(error, -EINVAL, "no column \"%s\"; did you mean %s?", name, meant);
	return aftl_fail(error, -EINVAL, "no column \"%s\"; \"-o help\" lists them", name);
}

static int add_list_column(const struct list_choice *choice, const char *name, unsigned int *list,
			   unsigned int *used, struct aftl_error *error)
{
	int found = find_column_by_name(choice, name);

	if (found < 0)
		return report_unknown_column(choice, name, error);
	for (unsigned int i = 0; i < *used; i++)
		if (list[i] == (unsigned int)found)
			return aftl_fail(error, -EINVAL, "column \"%s\" is there twice", name);
	list[(*used)++] = found;
	return 0;
}

static void show_default_columns(struct list_choice *choice)
{
	for (unsigned int i = 0; i < choice->count; i++)
		if (!choice->columns[i].more)
			choice->shown[choice->shown_count++] = i;
}

static int choose_shown_columns(struct list_choice *choice, const char *list,
				struct aftl_error *error)
{
	char item[LIST_ITEM] = "";
	int ret = 0;

	if (!list || *list == '+')
		show_default_columns(choice);
	if (!list)
		return 0;
	list += *list == '+';
	if (!*list)
		return report_unknown_column(choice, "", error);
	while (!ret && copy_next_list_item(&list, item))
		ret = add_list_column(choice, item, choice->shown, &choice->shown_count, error);
	return ret;
}

static int choose_sort_keys(struct list_choice *choice, const char *list,
			    struct aftl_error *error)
{
	char item[LIST_ITEM] = "";
	int ret = 0;

	if (list && !*list)
		return report_unknown_column(choice, "", error);
	while (!ret && list && copy_next_list_item(&list, item)) {
		choice->falls[choice->sorted_count] = *item == '-';
		ret = add_list_column(choice, item + (*item == '-' || *item == '+'), choice->sorted,
				      &choice->sorted_count, error);
	}
	return ret;
}

int list_choose_columns(struct list_choice *choice, const struct list_column *columns,
			unsigned int count, const char *show, const char *sort,
			struct aftl_error *error)
{
	int ret;

	assert(count <= LIST_COLUMNS);
	choice->columns = columns;
	choice->count = count;
	choice->chosen = show || sort;
	choice->explain = show && !strcmp(show, "help");
	ret = choice->explain ? 0 : choose_shown_columns(choice, show, error);
	return ret ? ret : choose_sort_keys(choice, sort, error);
}

void list_print_column_help(const struct list_choice *choice, FILE *out)
{
	struct text_table table;

	text_table_begin(&table, 3, 3);
	for (unsigned int i = 0; i < choice->count; i++) {
		text_table_add_row(&table);
		text_table_add_cell(&table, "%s", choice->columns[i].key);
		text_table_add_cell(&table, "%s", choice->columns[i].title);
		text_table_add_cell(&table, "%s%s", choice->columns[i].help,
				    choice->columns[i].more ? "; not shown by default" : "");
	}
	text_table_print_and_free(&table, out);
}

/* Rows */

void list_begin(struct text_list *list, const struct list_choice *choice)
{
	*list = (struct text_list){ .choice = choice };
}

void list_add_row(struct text_list *list)
{
	list->rows = memory_resize(list->rows, list->count + 1, sizeof(*list->rows));
	list->rows[list->count] = (struct list_row){ .choice = list->choice, .at = list->count };
	list->count++;
}

static struct list_cell *next_list_cell(struct text_list *list)
{
	struct list_row *row = &list->rows[list->count - 1];

	assert(row->used < list->choice->count);
	return &row->cells[row->used++];
}

void list_add_text(struct text_list *list, const char *format, ...)
{
	char text[TEXT_TABLE_CELL];
	va_list args;

	va_start(args, format);
	vscnprintf(text, sizeof(text), format, args);
	va_end(args);
	next_list_cell(list)->text = memory_copy_text(text);
}

void list_add_number(struct text_list *list, u64 value, unsigned int decimals, const char *said)
{
	char plain[HUMAN_SIZE];

	if (decimals)
		format_fixed_point(plain, value, decimals, "");
	else
		scnprintf(plain, sizeof(plain), "%llu", (unsigned long long)value);
	*next_list_cell(list) = (struct list_cell){
		.text = memory_copy_text(said ? said : plain),
		.value = value,
		.decimals = decimals,
		.number = true,
	};
}

static int compare_list_cells(const struct list_cell *a, const struct list_cell *b)
{
	if (a->number && b->number)
		return (a->value > b->value) - (a->value < b->value);
	if (a->number != b->number)
		return a->number ? 1 : -1;
	return strcmp(a->text, b->text);
}

static int compare_list_rows(const void *left, const void *right)
{
	const struct list_row *a = left, *b = right;
	const struct list_choice *choice = a->choice;

	for (unsigned int i = 0; i < choice->sorted_count; i++) {
		unsigned int column = choice->sorted[i];
		int order = compare_list_cells(&a->cells[column], &b->cells[column]);

		if (order)
			return choice->falls[i] ? -order : order;
	}
	return (a->at > b->at) - (a->at < b->at);
}

/* Sort the rows of the list; each row must have a cell for every column. */
static void sort_list_rows(struct text_list *list)
{
	for (unsigned int i = 0; i < list->count; i++)
		assert(list->rows[i].used == list->choice->count);
	if (list->count)
		qsort(list->rows, list->count, sizeof(*list->rows), compare_list_rows);
}

static void free_list_rows(struct text_list *list)
{
	for (unsigned int i = 0; i < list->count; i++)
		for (unsigned int j = 0; j < list->rows[i].used; j++)
			free(list->rows[i].cells[j].text);
	free(list->rows);
	list_begin(list, list->choice);
}

/* Answers */

static void begin_table_of_list(struct text_table *table, const struct list_choice *choice)
{
	text_table_begin(table, choice->shown_count, 0);
	for (unsigned int i = 0; i < choice->shown_count; i++)
		table->right[i] = choice->columns[choice->shown[i]].number;
	if (choice->bare)
		return;
	text_table_add_row(table);
	for (unsigned int i = 0; i < choice->shown_count; i++)
		text_table_add_cell(table, "%s", choice->columns[choice->shown[i]].title);
}

void list_print(struct text_list *list, FILE *out)
{
	const struct list_choice *choice = list->choice;
	struct text_table table;

	sort_list_rows(list);
	begin_table_of_list(&table, choice);
	for (unsigned int i = 0; i < list->count; i++) {
		text_table_add_row(&table);
		for (unsigned int j = 0; j < choice->shown_count; j++)
			text_table_add_cell(&table, "%s",
					    list->rows[i].cells[choice->shown[j]].text);
	}
	text_table_print_and_free(&table, out);
	free_list_rows(list);
}

void list_print_head(const struct list_choice *choice, int width, FILE *out)
{
	for (unsigned int i = 0; i < choice->shown_count; i++)
		fprintf(out, " %*s", width, choice->columns[choice->shown[i]].title);
	fputc('\n', out);
}

void list_print_rows_in_fixed_width(struct text_list *list, int width, FILE *out)
{
	const struct list_choice *choice = list->choice;

	for (unsigned int i = 0; i < list->count; i++) {
		for (unsigned int j = 0; j < choice->shown_count; j++)
			fprintf(out, " %*s", width, list->rows[i].cells[choice->shown[j]].text);
		fputc('\n', out);
	}
	free_list_rows(list);
}

static void write_cell_json(struct json_writer *json, const char *key, const struct list_cell *cell)
{
	if (cell->number && cell->decimals)
		json_decimal(json, key, cell->value, cell->decimals);
	else if (cell->number)
		json_u64(json, key, cell->value);
	else if (*cell->text)
		json_string(json, key, cell->text);
	else
		json_null(json, key);
}

void list_write_json(struct text_list *list, struct json_writer *json)
{
	const struct list_choice *choice = list->choice;

	sort_list_rows(list);
	for (unsigned int i = 0; i < list->count; i++) {
		json_begin_inline_object(json, NULL);
		for (unsigned int j = 0; j < choice->shown_count; j++)
			write_cell_json(json, choice->columns[choice->shown[j]].key,
					&list->rows[i].cells[choice->shown[j]]);
		json_end_object(json);
	}
	free_list_rows(list);
}
