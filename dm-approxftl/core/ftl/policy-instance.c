// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instance of a policy: allocation of its arrays and state, the policies that it consists of, and
 * saving and restoring of the state.
 */
#include "core/ftl/controller.h"
#include "core/ftl/memory.h"
#include "core/ftl/policy-instance.h"

int aftl_policy_instance_check(const struct aftl_policy_type *type, struct aftl_error *error)
{
	const struct aftl_policy_array *array = type->arrays;

	for (; array < type->arrays + AFTL_ARRAYS_MAX; array++)
		if (array->count &&
		    (array->each >= AFTL_ARRAY_SCOPES || array->width > sizeof(u64) ||
		     !array->width || (array->width & (array->width - 1))))
			return aftl_fail(error, -EINVAL,
					 "policy %s has an array of numbers of %u bytes for each %u",
					 type->name, array->width, array->each);
	return 0;
}

/* Number of elements of @array, which the policy has for each lpn, block or LUN, or once. */
static u64 count_policy_array_items(const struct aftl_policy *policy,
				    const struct aftl_policy_array *array)
{
	const struct aftl_geometry *geo = &policy->ftl->geo;
	const u64 shares[AFTL_ARRAY_SCOPES] = {
		[AFTL_PER_LUN] = geo->luns,
		[AFTL_PER_LUN_LAYER] = (u64)geo->luns * geo->layers,
		[AFTL_PER_BLOCK] = geo->blocks,
		[AFTL_PER_LAYER] = (u64)geo->blocks * geo->layers,
		[AFTL_PER_LPN] = geo->units,
		[AFTL_PER_DEVICE] = 1,
	};

	return array->count * shares[array->each];
}

static bool alloc_policy_array(struct aftl_policy *policy, u32 i)
{
	const struct aftl_policy_array *array = &policy->type->arrays[i];

	if (!array->count || (array->wanted && !array->wanted(policy)))
		return true;
	policy->arrays[i] = aftl_memory_alloc(policy->ftl, count_policy_array_items(policy, array),
					      array->width);
	return policy->arrays[i];
}

static bool find_policy_params(struct aftl_policy *policy, u32 i)
{
	const struct aftl_param_group *group = policy->type->params[i];

	policy->params[i] = aftl_get_values_of_param_group(&policy->ftl->config, group);
	return !group || policy->params[i];
}

/* Allocate what the policy type declares: parameters, arrays and state of each LUN. */
static bool alloc_policy_state(struct aftl_policy *policy)
{
	const struct aftl_policy_type *type = policy->type;
	bool done = true;
	u32 i;

	for (i = 0; i < AFTL_GROUPS_MAX; i++)
		done &= find_policy_params(policy, i);
	for (i = 0; done && i < AFTL_ARRAYS_MAX; i++)
		done = alloc_policy_array(policy, i);
	if (!done || !type->lun_size)
		return done;
	policy->luns = aftl_memory_alloc(policy->ftl, policy->ftl->geo.luns, type->lun_size);
	return policy->luns;
}

static void free_policy(struct aftl_policy *policy)
{
	u32 i;

	for (i = 0; i < AFTL_ARRAYS_MAX; i++)
		aftl_memory_free(policy->ftl, policy->arrays[i]);
	aftl_memory_free(policy->ftl, policy->luns);
	aftl_memory_free(policy->ftl, policy);
}

void aftl_policy_instance_destroy(struct aftl_policy *policy)
{
	while (policy) {
		struct aftl_policy *next = policy->next;

		free_policy(policy);
		policy = next;
	}
}

static struct aftl_policy *create_policy(struct aftl *ftl, const struct aftl_policy_type *type)
{
	struct aftl_policy *policy =
		aftl_memory_alloc(ftl, 1, max(type->size, sizeof(struct aftl_policy)));

	if (!policy)
		return NULL;
	policy->type = type;
	policy->ftl = ftl;
	policy->core = &ftl->core;
	if (alloc_policy_state(policy) && (!type->create || type->create(policy)))
		return policy;
	aftl_policy_instance_destroy(policy);
	return NULL;
}

struct aftl_policy *aftl_policy_instance_create(struct aftl *ftl)
{
	return create_policy(ftl, ftl->type);
}

struct aftl_policy *aftl_policy_instance_add_part(struct aftl_policy *whole,
						  const struct aftl_policy_type *type)
{
	struct aftl_policy *last = whole;

	while (last->next)
		last = last->next;
	last->next = create_policy(whole->ftl, type);
	return last->next;
}

/*
 * Saved state consists of 64-bit words. Each holds as many array elements as fit, the first in the
 * least significant bits.
 */

/**
 * struct word_position - position of a word in a policy's saved state
 * @array: array of the word
 * @width: bytes of an element
 * @first: index of the first element of the word
 * @count: number of elements in the word
 */
struct word_position {
	void *array;
	u32 width;
	u64 first;
	u32 count;
};

static bool locate_saved_word_in_policy_array(const struct aftl_policy *policy, u32 i, u64 *index,
					      struct word_position *at)
{
	const struct aftl_policy_array *array = &policy->type->arrays[i];
	u64 numbers = policy->arrays[i] ? count_policy_array_items(policy, array) : 0;
	u64 words = (numbers * array->width + sizeof(u64) - 1) / sizeof(u64);

	if (*index >= words) {
		*index -= words;
		return false;
	}
	at->array = policy->arrays[i];
	at->width = array->width;
	at->count = sizeof(u64) / array->width;
	at->first = *index * at->count;
	at->count = (u32)min_t(u64, at->count, numbers - at->first);
	return true;
}

static bool locate_saved_word_of_policy(const struct aftl_policy *policy, u64 index,
					struct word_position *at)
{
	u32 i;

	for (; policy; policy = policy->next)
		for (i = 0; i < AFTL_ARRAYS_MAX; i++)
			if (locate_saved_word_in_policy_array(policy, i, &index, at))
				return true;
	return false;
}

static u64 get_element_of_policy_array(const struct word_position *at, u32 i)
{
	switch (at->width) {
	case 1:
		return ((const u8 *)at->array)[at->first + i];
	case 2:
		return ((const u16 *)at->array)[at->first + i];
	case 4:
		return ((const u32 *)at->array)[at->first + i];
	default:
		return ((const u64 *)at->array)[at->first + i];
	}
}

static void set_element_of_policy_array(const struct word_position *at, u32 i, u64 value)
{
	switch (at->width) {
	case 1:
		((u8 *)at->array)[at->first + i] = (u8)value;
		break;
	case 2:
		((u16 *)at->array)[at->first + i] = (u16)value;
		break;
	case 4:
		((u32 *)at->array)[at->first + i] = (u32)value;
		break;
	default:
		((u64 *)at->array)[at->first + i] = value;
	}
}

bool aftl_policy_instance_save(const struct aftl_policy *policy, u64 index, u64 *word)
{
	struct word_position at;
	u32 i;

	if (!locate_saved_word_of_policy(policy, index, &at))
		return false;
	*word = 0;
	for (i = 0; i < at.count; i++)
		*word |= get_element_of_policy_array(&at, i) << (8 * at.width * i);
	return true;
}

void aftl_policy_instance_restore(struct aftl_policy *policy, u64 index, u64 word)
{
	struct word_position at;
	u32 i;

	if (!locate_saved_word_of_policy(policy, index, &at))
		return;
	for (i = 0; i < at.count; i++)
		set_element_of_policy_array(&at, i, word >> (8 * at.width * i));
}

void aftl_policy_instance_finish_load(struct aftl_policy *policy)
{
	for (; policy; policy = policy->next)
		if (policy->type->sanitize_arrays)
			policy->type->sanitize_arrays(policy);
}
