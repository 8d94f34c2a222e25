// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "checked-memory.h"

#define PAGE_BYTES (ARRAY_PAGE_WORDS * sizeof(u64))

/**
 * struct array_slot - a page of an array in memory
 * @data: words of the page
 * @page: number of the page
 * @use: time of its last use
 * @dirty: the page was changed
 */
struct array_slot {
	void *data;
	u64 page;
	u64 use;
	bool dirty;
};

static u64 get_array_page_offset(u64 page)
{
	return HEADER_BYTES + page * PAGE_BYTES;
}

static void set_array_shape(struct array *array, const struct array_shape *shape)
{
	*array = (struct array){ .shape = *shape };
	array->pages = DIV_ROUND_UP(shape->words, ARRAY_PAGE_WORDS);
}

static void alloc_array_slots(struct array *array)
{
	u64 bytes = array->file.place->memory_bytes;
	u64 count = bytes ? bytes / PAGE_BYTES : array->pages / 4;

	array->slot_count =
		(u32)min(max(count, (u64)max(array->shape.held, ARRAY_HELD)), array->pages);
	array->slot_of = memory_alloc_zeroed(array->pages, sizeof(*array->slot_of));
	array->slots = memory_alloc_zeroed(array->slot_count, sizeof(*array->slots));
	array->spare = alloc_file_buffer(PAGE_BYTES);
}

static enum approxftl_class class_of_array(const struct array_shape *shape)
{
	return shape->bound > 0 ? APPROXFTL_APPROXIMATE : APPROXFTL_PRECISE;
}

int array_create(struct array *array, const struct app_place *place,
		 const struct array_shape *shape, const struct app_setup *setup,
		 struct aftl_error *error)
{
	char *header = alloc_file_buffer(HEADER_BYTES);
	int ret;

	set_array_shape(array, shape);
	ret = app_file_create(&array->file, place, shape->name,
			      get_array_page_offset(array->pages), class_of_array(shape), error);
	app_header_make(header, MAGIC_ARRAY, setup, "");
	if (!ret)
		ret = app_file_write_precise_data(&array->file, header, 0, HEADER_BYTES, error);
	free(header);
	if (!ret)
		alloc_array_slots(array);
	return ret;
}

int array_open(struct array *array, const struct app_place *place,
	       const struct array_shape *shape, const struct app_setup *setup,
	       struct aftl_error *error)
{
	struct app_setup found;
	int ret;

	set_array_shape(array, shape);
	ret = app_file_open(&array->file, place, shape->name, class_of_array(shape), error);
	if (!ret)
		ret = app_file_parse_header(&array->file, &found, error);
	if (!ret && (memcmp(&found, setup, sizeof(found)) != 0 ||
		     array->file.bytes != get_array_page_offset(array->pages)))
		ret = aftl_fail(error, -EINVAL,
				"%.80s/%s: made with other parameters; --phase write makes it anew",
				place->path, shape->name);
	if (!ret)
		alloc_array_slots(array);
	return ret;
}

static void record_array_failure(struct array *array, int failure, const struct aftl_error *error)
{
	if (failure && !array->failed) {
		array->failed = failure;
		array->error = *error;
	}
}

static void write_back_array_slot(struct array *array, struct array_slot *slot)
{
	struct aftl_error error;

	if (slot->dirty)
		record_array_failure(array,
				     app_file_write(&array->file, slot->data,
						    get_array_page_offset(slot->page), PAGE_BYTES,
						    &error),
				     &error);
	slot->dirty = false;
}

static void repair_impossible_values(struct array *array, double *values, u64 page)
{
	const struct array_shape *shape = &array->shape;
	double bound = shape->page_bound ? shape->page_bound(shape, page) : shape->bound;

	for (unsigned int i = 0; i < ARRAY_PAGE_WORDS; i++) {
		/* The comparison is negated so that NaN counts as out of bounds. */
		if (!(fabs(values[i]) <= bound)) {
			values[i] = 0;
			array->repaired++;
		}
	}
}

static struct array_slot *find_oldest_page_slot(struct array *array)
{
	struct array_slot *slot = array->slots;

	for (u32 i = 1; i < array->slot_count; i++)
		if (array->slots[i].use < slot->use)
			slot = &array->slots[i];
	return slot;
}

static struct array_slot *get_or_evict_array_slot(struct array *array)
{
	struct array_slot *slot;

	if (array->used < array->slot_count) {
		slot = &array->slots[array->used++];
		slot->data = alloc_file_buffer(PAGE_BYTES);
		return slot;
	}
	slot = find_oldest_page_slot(array);
	write_back_array_slot(array, slot);
	array->slot_of[slot->page] = 0;
	return slot;
}

static struct array_slot *load_array_page(struct array *array, u64 page)
{
	struct array_slot *slot = get_or_evict_array_slot(array);
	struct aftl_error error;
	int ret = app_file_read(&array->file, slot->data, get_array_page_offset(page), PAGE_BYTES,
				&error);

	record_array_failure(array, ret, &error);
	if (ret)
		memset(slot->data, 0, PAGE_BYTES);
	if (array->shape.bound > 0)
		repair_impossible_values(array, slot->data, page);
	slot->page = page;
	array->slot_of[page] = slot - array->slots + 1;
	return slot;
}

static void *get_array_page(struct array *array, u64 page, bool write)
{
	struct array_slot *slot;

	if (page >= array->pages) {
		struct aftl_error error;

		record_array_failure(array,
				     aftl_fail(&error, -EINVAL,
					       "%.80s/%s: page %llu is beyond the end",
					       array->file.place->path, array->shape.name,
					       (unsigned long long)page),
				     &error);
		return array->spare;
	}
	slot = array->slot_of[page] ? &array->slots[array->slot_of[page] - 1] :
	       load_array_page(array, page);
	slot->use = ++array->clock;
	slot->dirty |= write;
	return slot->data;
}

double *array_page_values(struct array *array, u64 page, bool write)
{
	return get_array_page(array, page, write);
}

u64 *array_get_page_as_u64(struct array *array, u64 page, bool write)
{
	return get_array_page(array, page, write);
}

static void drop_cached_pages(struct array *array)
{
	for (u32 i = 0; i < array->used; i++) {
		write_back_array_slot(array, &array->slots[i]);
		array->slot_of[array->slots[i].page] = 0;
		free(array->slots[i].data);
		array->slots[i] = (struct array_slot){ 0 };
	}
	array->used = 0;
}

int array_write_back_all_pages(struct array *array, struct aftl_error *error)
{
	drop_cached_pages(array);
	if (array->failed)
		*error = array->error;
	return array->failed ? array->failed : app_file_sync(&array->file, error);
}

int array_close(struct array *array, u64 *repaired, struct aftl_error *error)
{
	int ret = array->slots ? array_write_back_all_pages(array, error) : 0;

	*repaired += array->repaired;
	app_file_close(&array->file);
	free(array->slot_of);
	free(array->slots);
	free(array->spare);
	*array = (struct array){ 0 };
	return ret;
}

static double relative_array_distance(struct array *a, struct array *b)
{
	double difference = 0, whole = 0;

	for (u64 page = 0; page < a->pages; page++) {
		const double *x = array_page_values(a, page, false);
		const double *y = array_page_values(b, page, false);

		for (u32 i = 0; i < ARRAY_PAGE_WORDS; i++) {
			difference += (x[i] - y[i]) * (x[i] - y[i]);
			whole += y[i] * y[i];
		}
	}
	return whole > 0 ? sqrt(difference / whole) : sqrt(difference);
}

int compute_distance_of_arrays(const struct app_place *a, const struct app_place *b,
			       const struct array_shape *shape, const struct app_setup *setup,
			       double *distance, struct aftl_error *error)
{
	struct array first, second = { 0 };
	u64 repaired = 0;
	int ret = array_open(&first, a, shape, setup, error);

	if (!ret)
		ret = array_open(&second, b, shape, setup, error);
	if (!ret)
		*distance = relative_array_distance(&first, &second);
	if (array_close(&first, &repaired, error) || array_close(&second, &repaired, error))
		ret = -EIO;
	return ret;
}
