// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "media-copy.h"

int media_check_page_map_blocks_exist(const struct aftl_geometry *geo,
				      const struct sim_options *options, struct aftl_error *error)
{
	for (u32 i = 0; i < options->page_block_count; i++)
		if (options->page_blocks[i] >= geo->blocks)
			return aftl_fail(error, -EINVAL,
					 "--page-map: there is no block %u; the last is %u",
					 options->page_blocks[i], geo->blocks - 1);
	return 0;
}

static bool is_block_fuller_than(const struct aftl_block *block, const struct aftl_block *other)
{
	if (!other || block->programmed != other->programmed)
		return !other || block->programmed > other->programmed;
	return block->valid > other->valid;
}

/* Return the fullest block of @kind, among equals the one with most valid units, or NULL. */
static const struct aftl_block *find_fullest_block(const struct aftl *ftl, u8 kind)
{
	const struct aftl_block *block = aftl_media(ftl)->blocks;
	const struct aftl_block *end = block + aftl_geometry(ftl)->blocks;
	const struct aftl_block *found = NULL;

	for (; block < end; block++)
		if (block->kind == kind && block->programmed && is_block_fuller_than(block, found))
			found = block;
	return found;
}

/* Choose the fullest block of each block kind; return the number of chosen blocks. */
static u32 choose_fullest_blocks(const struct aftl *ftl, u32 chosen[AFTL_KINDS_MAX])
{
	u32 count = 0;

	for (u8 kind = 0; kind < AFTL_KINDS_MAX; kind++) {
		const struct aftl_block *block = find_fullest_block(ftl, kind);

		if (block)
			chosen[count++] = aftl_block_index(aftl_media(ftl), block);
	}
	return count;
}

static u8 count_valid_units(const struct aftl_media *media, const struct aftl_block *block,
			    u32 page)
{
	u32 first = from_ppn(aftl_page_ppn(media, block, page));
	u8 valid = 0;

	for (u32 i = 0; i < media->geo->page_units; i++)
		valid += aftl_ppn_is_valid(media, to_ppn(first + i));
	return valid;
}

/* Return no name for an empty block, which still has the kind of its previous use. */
const char *sim_get_block_kind_name(const struct aftl_policy_type *policy,
				    const struct aftl_block *block)
{
	const char *name = block->bits == 1 ? "cache" : policy->kinds[block->kind];

	return block->programmed && name ? name : "";
}

static void copy_block_pages(const struct aftl *ftl, u32 index, struct sim_page_map *map)
{
	const struct aftl_media *media = aftl_media(ftl);
	const struct aftl_block *block = &media->blocks[index];
	u32 first = aftl_page_number_in_device(media, block, 0);
	u32 pages = media->geo->pages;

	map->block = index;
	map->kind = sim_get_block_kind_name(aftl_policy_type(ftl), block);
	map->attr = memory_alloc_zeroed(pages, sizeof(*map->attr));
	map->valid = memory_alloc_zeroed(pages, sizeof(*map->valid));
	map->age_hours = memory_alloc_zeroed(pages, sizeof(*map->age_hours));
	for (u32 i = 0; i < pages; i++) {
		map->attr[i] = *aftl_page_attr_ptr(media, first + i);
		map->valid[i] = count_valid_units(media, block, i);
		map->age_hours[i] = (u32)aftl_device_age_hours(ftl) - block->first_hour -
				    aftl_get_program_timestamp_of_page(media, block, i);
	}
}

void media_copy_block_table(const struct aftl *ftl, u32 index, struct sim_result *result)
{
	u32 blocks = aftl_geometry(ftl)->blocks;

	if (!result->blocks)
		result->blocks = memory_alloc_zeroed(result->geo.blocks, sizeof(*result->blocks));
	memcpy(result->blocks + (size_t)index * blocks, aftl_media(ftl)->blocks,
	       blocks * sizeof(*result->blocks));
}

void media_copy_block_and_page_tables(const struct aftl *ftl, const struct sim_options *options,
				      struct sim_result *result)
{
	if (options->block_table)
		media_copy_block_table(ftl, 0, result);
	if (options->page_map) {
		const u32 *blocks = options->page_blocks;
		u32 count = options->page_block_count;
		u32 chosen[AFTL_KINDS_MAX];

		if (!count) {
			count = choose_fullest_blocks(ftl, chosen);
			blocks = chosen;
		}
		result->page_maps = memory_alloc_zeroed(count, sizeof(*result->page_maps));
		result->page_map_count = count;
		for (u32 i = 0; i < count; i++)
			copy_block_pages(ftl, blocks[i], &result->page_maps[i]);
	}
}

void media_free_copied_tables(struct sim_result *result)
{
	for (u32 i = 0; i < result->page_map_count; i++) {
		free(result->page_maps[i].attr);
		free(result->page_maps[i].valid);
		free(result->page_maps[i].age_hours);
	}
	free(result->page_maps);
	free(result->blocks);
}
