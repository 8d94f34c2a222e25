// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>

#include "checked-memory.h"
#include "outcome.h"

/**
 * struct transfer - reader or writer of an outcome: shared code gives both the same order of fields
 * @file: the file
 * @reading: read from @file, otherwise write
 * @good: no operation has failed
 */
struct transfer {
	FILE *file;
	bool reading;
	bool good;
};

static void load_or_save_outcome_bytes(struct transfer *transfer, void *data, size_t size)
{
	if (!transfer->good || !size)
		return;
	if (transfer->reading)
		transfer->good = fread(data, 1, size, transfer->file) == size;
	else
		transfer->good = fwrite(data, 1, size, transfer->file) == size;
}

/* Write the array @list, or read an array into new memory; if @list is NULL, there is no array. */
static void *load_or_save_outcome_array(struct transfer *transfer, void *list, size_t count,
					size_t size)
{
	if (!list)
		return NULL;
	if (transfer->reading)
		list = memory_alloc_zeroed(count, size);
	load_or_save_outcome_bytes(transfer, list, count * size);
	return list;
}

static void load_or_save_outcome_page_maps(struct transfer *transfer, struct sim_result *result)
{
	u32 pages = result->geo.pages, i;

	result->page_maps = load_or_save_outcome_array(transfer, result->page_maps,
						       result->page_map_count,
						       sizeof(*result->page_maps));
	for (i = 0; i < result->page_map_count; i++) {
		struct sim_page_map *map = &result->page_maps[i];

		map->attr =
			load_or_save_outcome_array(transfer, map->attr, pages, sizeof(*map->attr));
		map->valid = load_or_save_outcome_array(transfer, map->valid, pages,
							sizeof(*map->valid));
		map->age_hours = load_or_save_outcome_array(transfer, map->age_hours, pages,
							    sizeof(*map->age_hours));
	}
}

static bool load_or_save_run_outcome(struct transfer *transfer, struct sim_outcome *outcome)
{
	struct sim_result *result = &outcome->result;

	load_or_save_outcome_bytes(transfer, outcome, sizeof(*outcome));
	if (transfer->good && did_run_produce_result(outcome)) {
		result->luns = load_or_save_outcome_array(transfer, result->luns, result->geo.luns,
							  sizeof(*result->luns));
		result->queues = load_or_save_outcome_array(transfer, result->queues,
							    AFTL_QUEUES_MAX,
							    sizeof(*result->queues));
		result->blocks = load_or_save_outcome_array(transfer, result->blocks,
							    result->geo.blocks,
							    sizeof(*result->blocks));
		load_or_save_outcome_page_maps(transfer, result);
		result->slowest.requests =
			load_or_save_outcome_array(transfer, result->slowest.requests,
						   result->slowest.count,
						   sizeof(*result->slowest.requests));
	}
	return transfer->good;
}

bool sim_outcome_write(const struct sim_outcome *outcome, int fd)
{
	struct transfer transfer = { .file = fdopen(fd, "wb"), .good = true };
	struct sim_outcome *copy = memory_alloc_zeroed(1, sizeof(*copy));

	transfer.good = transfer.file;
	*copy = *outcome;
	load_or_save_run_outcome(&transfer, copy);
	free(copy);
	return transfer.good && !fclose(transfer.file);
}

bool sim_outcome_read(struct sim_outcome *outcome, int fd)
{
	struct transfer transfer = { .file = fdopen(fd, "rb"), .reading = true };

	if (!transfer.file)
		return false;
	transfer.good = !fseek(transfer.file, 0, SEEK_SET);
	load_or_save_run_outcome(&transfer, outcome);
	fclose(transfer.file);
	return transfer.good;
}
