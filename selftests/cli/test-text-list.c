// SPDX-License-Identifier: GPL-2.0-only
/* Test printed lists with empty values; only lists of real devices have empty values. */
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"
#include "text-list.h"

static const struct list_column columns[] = {
	{ "size_bytes", "SIZE", "of it", true, false },
	{ "name", "NAME", "of it", false, false },
};

static void add_list_row(struct text_list *list, const char *name, const u64 *size)
{
	list_add_row(list);
	if (size)
		list_add_number(list, *size, 1, NULL);
	else
		list_add_text(list, "%s", "");
	list_add_text(list, "%s", name);
}

static void check_list_sorting(const char *sort, const char *wanted)
{
	struct list_choice choice = { .bare = true };
	static const u64 sizes[] = { 105, 0, 20 };
	struct aftl_error error;
	struct text_list list;
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	CHECK(!list_choose_columns(&choice, columns, ARRAY_SIZE(columns), NULL, sort, &error));
	list_begin(&list, &choice);
	add_list_row(&list, "none", NULL);
	add_list_row(&list, "most", &sizes[0]);
	add_list_row(&list, "zero", &sizes[1]);
	add_list_row(&list, "some", &sizes[2]);
	add_list_row(&list, "void", NULL);
	list_print(&list, out);
	fclose(out);
	CHECK_TEXT(text, wanted);
	free(text);
}

TAP_TEST(rows_keep_their_order_without_sorting)
{
	check_list_sorting(NULL, "      none\n10.5  most\n 0.0  zero\n 2.0  some\n      void\n");
}

TAP_TEST(a_missing_value_sorts_as_the_smallest)
{
	check_list_sorting("size", "      none\n      void\n 0.0  zero\n 2.0  some\n10.5  most\n");
}

TAP_TEST(a_missing_value_is_last_in_descending_order)
{
	check_list_sorting("-size,-name",
			   "10.5  most\n 2.0  some\n 0.0  zero\n      void\n      none\n");
}
