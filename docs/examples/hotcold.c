// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hot and cold: page mapping with two open blocks per LUN, one for data that is
 * rewritten soon and one for all other data.
 *
 * A write is hot if the version that it replaces had been written not long ago:
 * more recently than is usual for overwritten data. What is usual is learned. Data
 * that survive a garbage collection are cold.
 *
 * The example of docs/policy-in-an-hour.md.
 */
#include "core/policy/policies.h"

enum { COLD, HOT, STREAMS };

/* How slowly the notion of a usual age follows what is seen: one part in 64. */
#define SLOWNESS 64

/**
 * struct hotcold - the policy's state
 * @policy: what the core knows of it
 * @open: the open blocks by LUN, NULL where there is none
 * @usual_age: running mean of the age at which data are overwritten, in nanoseconds
 */
struct hotcold {
	struct aftl_policy policy;
	struct aftl_block *(*open)[STREAMS];
	u64 usual_age;
};

static struct hotcold *to_hotcold(struct aftl_policy *policy)
{
	return container_of(policy, struct hotcold, policy);
}

static struct aftl_policy *create(struct aftl *ftl)
{
	struct aftl_policy *policy = aftl_policy_new(ftl, sizeof(struct hotcold),
						     STREAMS * sizeof(struct aftl_block *));

	if (policy)
		to_hotcold(policy)->open = policy->luns;
	return policy;
}

/* The kind of a block is the stream that it belongs to. */
static bool adopt(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_block *block)
{
	struct aftl_block **open = to_hotcold(policy)->open[aftl_lun_index(lun)];

	if (block->kind >= STREAMS || open[block->kind])
		return false;
	open[block->kind] = block;
	return true;
}

static u64 remember(const struct aftl_policy *policy)
{
	return container_of(policy, struct hotcold, policy)->usual_age;
}

static void recall(struct aftl_policy *policy, u64 memory)
{
	to_hotcold(policy)->usual_age = memory;
}

static void closed(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct hotcold *state = to_hotcold(policy);
	u32 stream;
	u32 lun;

	for (lun = 0; lun < aftl_policy_luns(policy->ftl); lun++)
		for (stream = 0; stream < STREAMS; stream++)
			if (state->open[lun][stream] == block)
				state->open[lun][stream] = NULL;
}

/* The mean moves by a fraction of the difference; the numbers are unsigned. */
static void learn(struct hotcold *state, u64 age)
{
	if (age > state->usual_age)
		state->usual_age += (age - state->usual_age) / SLOWNESS;
	else
		state->usual_age -= (state->usual_age - age) / SLOWNESS;
}

static u32 heat(struct aftl_policy *policy, const struct aftl_write *write)
{
	struct hotcold *state = to_hotcold(policy);
	const struct aftl_block *old = aftl_policy_old_block(policy, write->unit);
	u64 age;
	u32 answer;

	if (!old)
		return COLD;
	age = aftl_policy_now(policy) - old->opened_ns;
	answer = age < state->usual_age ? HOT : COLD;
	learn(state, age);
	return answer;
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	u32 stream = need->heat == HOT ? HOT : COLD;
	struct aftl_block **open = &to_hotcold(policy)->open[aftl_lun_index(lun)][stream];

	return aftl_place_sequential(policy, lun, need, open, stream, placement);
}

const struct aftl_policy_type aftl_policy_hotcold = {
	.name = "hotcold",
	.about = "page mapping, data that is rewritten soon in blocks of its own",
	.kinds = { "cold", "hot" },
	.open_blocks = STREAMS,
	.reserve = STREAMS,
	.ignores_tags = true,
	.create = create,
	.destroy = aftl_policy_delete,
	.adopt = adopt,
	.remember = remember,
	.recall = recall,
	.closed = closed,
	.heat = heat,
	.place = place,
};
