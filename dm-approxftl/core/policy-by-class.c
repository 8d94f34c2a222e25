// SPDX-License-Identifier: GPL-2.0-only
#include "policy-by-class.h"

struct aftl_policy *aftl_by_class_create(struct aftl *ftl, const struct aftl_policy_type *type)
{
	struct aftl_by_class *state = aftl_policy_alloc(ftl, 1, sizeof(*state));

	if (!state)
		return NULL;
	state->policy.type = type;
	state->policy.ftl = ftl;
	state->open = aftl_policy_alloc(ftl, aftl_policy_luns(ftl), sizeof(*state->open));
	if (state->open)
		return &state->policy;
	aftl_policy_free(ftl, state);
	return NULL;
}

void aftl_by_class_destroy(struct aftl_policy *policy)
{
	struct aftl *ftl = policy->ftl;

	aftl_policy_free(ftl, to_by_class(policy)->open);
	aftl_policy_free(ftl, to_by_class(policy));
}

bool aftl_by_class_adopt(struct aftl_policy *policy, struct aftl_lun *lun,
			 struct aftl_block *block)
{
	struct aftl_block **open;

	if (block->kind >= AFTL_CLASSES)
		return false;
	open = &to_by_class(policy)->open[aftl_lun_index(lun)][block->kind];
	if (*open)
		return false;
	*open = block;
	return true;
}

void aftl_by_class_closed(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct aftl_by_class *state = to_by_class(policy);
	u32 class;
	u32 i;

	for (i = 0; i < aftl_policy_luns(policy->ftl); i++)
		for (class = 0; class < AFTL_CLASSES; class++)
			if (state->open[i][class] == block)
				state->open[i][class] = NULL;
}

int aftl_by_class_place(struct aftl_policy *policy, struct aftl_lun *lun,
			const struct aftl_need *need, u32 kind, struct aftl_placement *placement)
{
	struct aftl_block **open = &to_by_class(policy)->open[aftl_lun_index(lun)][kind];

	return aftl_place_sequential(policy, lun, need, open, kind, placement);
}
