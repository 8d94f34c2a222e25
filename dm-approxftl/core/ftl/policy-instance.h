/* SPDX-License-Identifier: GPL-2.0-only */
/* The policy of the device and its state. */
#ifndef AFTL_POLICY_INSTANCE_H
#define AFTL_POLICY_INSTANCE_H

#include "core/ftl/controller.h"

/* Check the array declarations of @type. */
int __must_check aftl_policy_instance_check(const struct aftl_policy_type *type,
					    struct aftl_error *error);

/* Create the device's policy and the policies that it consists of; NULL without memory. */
struct aftl_policy *aftl_policy_instance_create(struct aftl *ftl);

/* Create an instance of a policy to which @whole delegates; see aftl_policy_part(). */
struct aftl_policy *aftl_policy_instance_add_part(struct aftl_policy *whole,
						  const struct aftl_policy_type *type);
void aftl_policy_instance_destroy(struct aftl_policy *policy);

/* Get word @index of the saved state of the policy and its delegates; false past the last word. */
bool aftl_policy_instance_save(const struct aftl_policy *policy, u64 index, u64 *word);

/* Set word @index of the state of the policy and its parts; ignored past the end. */
void aftl_policy_instance_restore(struct aftl_policy *policy, u64 index, u64 word);

/* Tell the policy that its saved state has been restored completely. */
void aftl_policy_instance_finish_load(struct aftl_policy *policy);

/* Return @stream, or count a policy bug and return 0 if the policy has no such stream. */
static inline u32 aftl_policy_validate_stream(struct aftl *ftl, u32 stream)
{
	if (likely(stream < ftl->streams))
		return stream;
	ftl->stats.counters.policy_bugs++;
	return 0;
}

static inline u32 aftl_get_data_class_used_by_policy(const struct aftl *ftl, u32 class)
{
	return ftl->type->ignores_tags ? AFTL_PRECISE : class;
}

#endif
