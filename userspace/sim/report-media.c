// SPDX-License-Identifier: GPL-2.0-only
/* Print blocks and pages as JSON columns. */
#include "media-copy.h"
#include "report.h"

static const char *const state_names[] = {
	[AFTL_BLOCK_FREE] = "free",
	[AFTL_BLOCK_OPEN] = "open",
	[AFTL_BLOCK_CLOSED] = "closed",
	[AFTL_BLOCK_BAD] = "bad",
};

static void write_block_table_json(struct json_writer *json, const struct sim_result *result)
{
	u32 i;

	json_begin_object(json, "block_table");
	json_begin_inline_array(json, "state");
	for (i = 0; i < result->geo.blocks; i++)
		json_string(json, NULL, state_names[result->blocks[i].state]);
	json_end_array(json);
	json_begin_inline_array(json, "kind");
	for (i = 0; i < result->geo.blocks; i++)
		json_string(json, NULL,
			    sim_get_block_kind_name(result->policy, &result->blocks[i]));
	json_end_array(json);
	json_begin_inline_array(json, "erases");
	for (i = 0; i < result->geo.blocks; i++)
		json_u64(json, NULL, result->blocks[i].erases);
	json_end_array(json);
	json_begin_inline_array(json, "wear");
	for (i = 0; i < result->geo.blocks; i++)
		json_decimal(json, NULL, result->blocks[i].wear, 4);
	json_end_array(json);
	json_begin_inline_array(json, "programmed_pages");
	for (i = 0; i < result->geo.blocks; i++)
		json_u64(json, NULL, result->blocks[i].programmed);
	json_end_array(json);
	json_begin_inline_array(json, "valid_units");
	for (i = 0; i < result->geo.blocks; i++)
		json_u64(json, NULL, result->blocks[i].valid);
	json_end_array(json);
	json_begin_inline_array(json, "approximate_units");
	for (i = 0; i < result->geo.blocks; i++)
		json_u64(json, NULL, result->blocks[i].valid_approx);
	json_end_array(json);
	json_begin_inline_array(json, "reads");
	for (i = 0; i < result->geo.blocks; i++)
		json_u64(json, NULL, result->blocks[i].reads);
	json_end_array(json);
	json_end_object(json);
}

/* Write a name, such as that of its program mode, for each page as JSON; null if it is erased. */
static void write_name_list_json(struct json_writer *json, const char *key,
				 const struct sim_page_map *map, u32 pages, u32 (*number)(u16 attr),
				 const char *const *names)
{
	json_begin_inline_array(json, key);
	for (u32 i = 0; i < pages; i++) {
		if (map->attr[i] & AFTL_PAGE_PROGRAMMED)
			json_string(json, NULL, names[number(map->attr[i])]);
		else
			json_null(json, NULL);
	}
	json_end_array(json);
}

static void write_page_map_json(struct json_writer *json, const struct sim_result *result,
				const struct sim_page_map *map)
{
	u32 pages = result->geo.pages;

	json_begin_object(json, NULL);
	json_u64(json, "block", map->block);
	json_u64(json, "lun", map->block / result->geo.blocks_per_lun);
	json_string(json, "kind", map->kind);
	write_name_list_json(json, "class", map, pages, aftl_page_class, sim_class_names);
	write_name_list_json(json, "mode", map, pages, aftl_page_mode, sim_mode_names);
	json_begin_inline_array(json, "valid_units");
	for (u32 i = 0; i < pages; i++)
		json_u64(json, NULL, map->valid[i]);
	json_end_array(json);
	json_begin_inline_array(json, "age_hours");
	for (u32 i = 0; i < pages; i++) {
		if (map->attr[i] & AFTL_PAGE_PROGRAMMED)
			json_u64(json, NULL, map->age_hours[i]);
		else
			json_null(json, NULL);
	}
	json_end_array(json);
	json_end_object(json);
}

void sim_report_write_media_json(struct json_writer *json, const struct sim_result *result)
{
	if (result->blocks)
		write_block_table_json(json, result);
	if (!result->page_maps)
		return;
	json_begin_array(json, "page_maps");
	for (u32 i = 0; i < result->page_map_count; i++)
		write_page_map_json(json, result, &result->page_maps[i]);
	json_end_array(json);
}
