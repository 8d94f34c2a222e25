// SPDX-License-Identifier: GPL-2.0-only
/*
 * SepBIT: separates data by the inferred time at which it will be invalidated.
 *
 * Q. Wang, J. Li, P. P. C. Lee, T. Ouyang, C. Shi, L. Huang, "Separating Data via Block
 * Invalidation Time Inference for Write Amplification Reduction in Log-Structured Storage", FAST
 * 2022.
 *
 * The unit of time is one logical page written by the host (section 3 of the paper). A host write
 * that overwrites a young page is expected to live shortly, too: class 1, otherwise class 2. Young
 * is younger than the mean lifespan of the last 16 collected blocks of class 1. What survives in a
 * block of class 1 goes to class 3; other relocated data to class 4, 5 or 6, by its age.
 *
 * Differences from the paper: a segment is a block of one LUN. The time of the last write of each
 * page is in memory, 4 bytes, and not in the OOB area with a queue of recent pages (section 3.4). A
 * write after a discard counts as an overwrite. Victims are selected by the parameter "victim"; the
 * paper evaluates cost_benefit and greedy.
 */
#include "core/policy/ftl-policy.h"
#include "core/policy/policies.h"

enum class { SHORT_LIVED, LONG_LIVED, SURVIVORS, YOUNG, MIDDLE, OLD, CLASSES };

/* Number of collected blocks of class 1 from which the mean lifespan is computed. */
#define COLLECTED_MAX 16

/* Classes 4 and 5 hold data with ages up to these multiples of the mean lifespan. */
#define YOUNG_LIFESPANS 4
#define MIDDLE_LIFESPANS 16

/*
 * Arrays of the policy. WRITTEN: time of the last host write of each lpn, 0 if there was none.
 * OPENED: time at which each block was opened. LIFE: struct life.
 */
enum { WRITTEN, OPENED, LIFE };

/**
 * struct life - lifespans of blocks of class 1, in host writes
 * @now: host writes so far
 * @mean: mean of the last COLLECTED_MAX blocks; 0: not known yet, and taken as infinite
 * @sum: sum of the lifespans of blocks collected since @mean was computed
 * @collected: number of these blocks
 */
struct life {
	u64 now;
	u64 mean;
	u64 sum;
	u64 collected;
};

static struct life *sepbit_life(const struct aftl_policy *policy)
{
	return aftl_device_state(policy, LIFE, struct life);
}

/* Number of host writes since @then, the low 32 bits of a time; exact below 2^32. */
static u32 sepbit_count_host_writes_since_time(const struct aftl_policy *policy, u32 then)
{
	return (u32)sepbit_life(policy)->now - then;
}

static bool sepbit_is_age_below_n_lifespans(const struct aftl_policy *policy, u32 age,
					    u32 lifespans)
{
	u64 mean = sepbit_life(policy)->mean;

	return !mean || age < lifespans * mean;
}

static u32 sepbit_choose_stream(struct aftl_policy *policy, const struct aftl_page_write *page)
{
	u32 *written = aftl_lpn_state(policy, WRITTEN, u32, page->lpn);
	u32 age = sepbit_count_host_writes_since_time(policy, *written);
	bool first = !*written;

	if (page->cause != AFTL_CAUSE_HOST) {
		if (page->from->kind == SHORT_LIVED && page->cause == AFTL_CAUSE_GC)
			return SURVIVORS;
		return sepbit_is_age_below_n_lifespans(policy, age, YOUNG_LIFESPANS)  ? YOUNG :
		       sepbit_is_age_below_n_lifespans(policy, age, MIDDLE_LIFESPANS) ? MIDDLE :
										      OLD;
	}
	sepbit_life(policy)->now++;
	*written = max_t(u32, sepbit_life(policy)->now, 1);
	return !first && sepbit_is_age_below_n_lifespans(policy, age, 1) ? SHORT_LIVED :
									      LONG_LIVED;
}

static void sepbit_record_opened_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	*aftl_block_state(policy, OPENED, u32, block) = (u32)sepbit_life(policy)->now;
}

static void sepbit_record_collected_block(struct aftl_policy *policy,
					  const struct aftl_block *block)
{
	struct life *life = sepbit_life(policy);

	if (block->kind != SHORT_LIVED)
		return;
	life->sum += sepbit_count_host_writes_since_time(policy, *aftl_block_state(policy, OPENED,
										   u32, block));
	if (++life->collected < COLLECTED_MAX)
		return;
	life->mean = div64_u64(life->sum, life->collected);
	life->sum = 0;
	life->collected = 0;
}

static void sepbit_sanitize_loaded_state(struct aftl_policy *policy)
{
	struct life *life = sepbit_life(policy);

	life->mean = min_t(u64, life->mean, U32_MAX);
	life->sum = min_t(u64, life->sum, (u64)COLLECTED_MAX * U32_MAX);
	life->collected = min_t(u64, life->collected, COLLECTED_MAX - 1);
}

static const struct aftl_ftl_policy methods = {
	.clock = LIFE,
	.stream = sepbit_choose_stream,
	.block_opened = sepbit_record_opened_block,
	.block_collected = sepbit_record_collected_block,
	.restored = sepbit_sanitize_loaded_state,
};

const struct aftl_policy_type aftl_policy_sepbit = {
	.name = "sepbit",
	.about = "page mapping, data separated by the inferred time of its invalidation",
	.arrays = {
		[WRITTEN] = AFTL_STATE(AFTL_PER_LPN, u32, u32),
		[OPENED] = AFTL_STATE(AFTL_PER_BLOCK, u32, u32),
		[LIFE] = AFTL_STATE(AFTL_PER_DEVICE, struct life, u64),
	},
	AFTL_FTL_POLICY(&methods, CLASSES, 3),
	.fill_run = aftl_fill_to_block_end,
	AFTL_FTL_STREAMS("class_1", "class_2", "class_3", "class_4", "class_5", "class_6"),
};
