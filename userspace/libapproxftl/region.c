// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Nested regions, which set the class of a thread's I/O.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control-node.h"
#include "handle.h"
#include "refusal.h"

/**
 * struct region - an open region
 * @kind: class of the writes in the region
 * @label: label, or an empty text
 * @outer: enclosing region; NULL for the outermost one
 */
struct region {
	unsigned int kind;
	char label[APPROXFTL_LABEL_MAX + 1];
	struct region *outer;
};

/**
 * struct aftl_lib_regions - open regions of one thread
 * @innermost: innermost region, or NULL
 * @handle: handle that the regions belong to
 * @next: next entry in the handle's list
 * @link: pointer to this entry in the handle's list
 */
struct aftl_lib_regions {
	struct region *innermost;
	struct approxftl *handle;
	struct aftl_lib_regions *next;
	struct aftl_lib_regions **link;
};

static void free_list_of_regions(struct aftl_lib_regions *regions)
{
	while (regions->innermost) {
		struct region *region = regions->innermost;

		regions->innermost = region->outer;
		free(region);
	}
	free(regions);
}

/* The kernel itself ends the regions of an exiting thread; only their memory is freed here. */
static void free_regions_at_thread_exit(void *value)
{
	struct aftl_lib_regions *regions = value;
	struct approxftl *a = regions->handle;

	pthread_mutex_lock(&a->lock);
	*regions->link = regions->next;
	if (regions->next)
		regions->next->link = regions->link;
	pthread_mutex_unlock(&a->lock);
	free_list_of_regions(regions);
}

int aftl_lib_regions_init(struct approxftl *a)
{
	return -pthread_key_create(&a->regions_key, free_regions_at_thread_exit);
}

void aftl_lib_regions_free(struct approxftl *a)
{
	struct aftl_lib_regions *regions = a->regions;

	pthread_key_delete(a->regions_key);
	while (regions) {
		struct aftl_lib_regions *next = regions->next;

		free_list_of_regions(regions);
		regions = next;
	}
}

static struct aftl_lib_regions *regions_of_thread(struct approxftl *a)
{
	struct aftl_lib_regions *regions = pthread_getspecific(a->regions_key);

	if (regions)
		return regions;
	regions = calloc(1, sizeof(*regions));
	if (!regions || pthread_setspecific(a->regions_key, regions)) {
		free(regions);
		return NULL;
	}
	regions->handle = a;
	pthread_mutex_lock(&a->lock);
	regions->link = &a->regions;
	regions->next = a->regions;
	if (regions->next)
		regions->next->link = &regions->next;
	a->regions = regions;
	pthread_mutex_unlock(&a->lock);
	return regions;
}

static int check_region_label(const char *label)
{
	for (size_t i = 0; label[i]; i++)
		if (i == APPROXFTL_LABEL_MAX || label[i] < ' ' || label[i] > '~')
			return aftl_lib_set_refusal(-EINVAL,
						    "a label has at most %d characters of %s",
						    APPROXFTL_LABEL_MAX, "printable ASCII");
	return 0;
}

static int set_class_of_thread_in_kernel(const struct approxftl *a, unsigned int kind,
					 const char *label)
{
	int ret;

	if (!approxftl_active(a))
		return 0;
	ret = aftl_lib_control_set_thread_class(a->control, kind, *label ? label : NULL);
	return ret ? aftl_lib_set_operation_refusal(ret, 0, "region") : 0;
}

static int push_thread_region(struct approxftl *a, struct region *region)
{
	struct aftl_lib_regions *regions = regions_of_thread(a);
	int ret = regions ? set_class_of_thread_in_kernel(a, region->kind, region->label) : -ENOMEM;

	if (ret)
		return ret;
	region->outer = regions->innermost;
	regions->innermost = region;
	return 0;
}

int approxftl_region_begin(struct approxftl *a, enum approxftl_class kind, const char *label)
{
	struct region *region;
	int ret;

	if (!aftl_lib_can_tag_declare_class(kind))
		return aftl_lib_set_refusal(-EINVAL, "a region is approximate or precise");
	ret = label ? check_region_label(label) : 0;
	if (ret)
		return ret;
	region = calloc(1, sizeof(*region));
	if (!region)
		return -ENOMEM;
	region->kind = kind;
	if (label)
		snprintf(region->label, sizeof(region->label), "%s", label);
	ret = push_thread_region(a, region);
	if (ret)
		free(region);
	return ret;
}

int approxftl_region_end(struct approxftl *a)
{
	struct aftl_lib_regions *regions = pthread_getspecific(a->regions_key);
	struct region *region = regions ? regions->innermost : NULL;
	const struct region *outer;
	int ret;

	if (!region)
		return aftl_lib_set_refusal(-EINVAL,
					    "this thread is in no region; begin one first");
	outer = region->outer;
	ret = set_class_of_thread_in_kernel(a, outer ? outer->kind : APPROXFTL_NONE,
					    outer ? outer->label : region->label);
	if (ret)
		return ret;
	regions->innermost = region->outer;
	free(region);
	return 0;
}

int approxftl_label(struct approxftl *a, const char *text)
{
	int ret = check_region_label(text);

	if (ret)
		return ret;
	if (!*text)
		return aftl_lib_set_refusal(-EINVAL, "a label has at least one character");
	if (!approxftl_active(a))
		return 0;
	ret = aftl_lib_control_add_label(a->control, text);
	return ret ? aftl_lib_set_operation_refusal(ret, 0, "label") : 0;
}
