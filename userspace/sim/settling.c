// SPDX-License-Identifier: GPL-2.0-only
/*
 * MSER-5 in integer arithmetic, so that every compiler gives the same result. It tries every cut at
 * the start of the run, and selects the cut after which the mean of the rest has the smallest
 * standard error; if less than half of the run remains, the run is too short. If the same method,
 * applied backwards, cuts off an end of the rest, and this changes the mean, the run drifts.
 */
#include "settling.h"

/* Batches in a group of MSER-5; each cut keeps more than 1 / KEPT of all groups. */
#define GROUP 5
#define GROUPS (SETTLING_BATCHES / GROUP)
#define KEPT 4

void settling_init(struct settling *settling)
{
	*settling = (struct settling){ .batch = 1 };
}

static void merge_adjacent_full_batches(struct settling *settling)
{
	u64 *sums = settling->sums_ns;

	settling->batch *= 2;
	settling->count /= 2;
	for (u32 i = 0; i < settling->count; i++)
		sums[i] = sums[(size_t)2 * i] + sums[(size_t)2 * i + 1];
}

void settling_complete_response_time_batch(struct settling *settling)
{
	settling->sums_ns[settling->count++] = settling->last_ns;
	settling->last_ns = 0;
	settling->in_last = 0;
	if (settling->count == SETTLING_BATCHES)
		merge_adjacent_full_batches(settling);
}

/* Merge pairs of batches; include empty batches, as requests may be added to them later. */
static void merge_adjacent_batches_incl_empty(struct settling *settling)
{
	settling->count = SETTLING_BATCHES;
	merge_adjacent_full_batches(settling);
	memset(settling->sums_ns + settling->count, 0, sizeof(settling->sums_ns) / 2);
}

void settling_add_response_time_by_index(struct settling *settling, u64 number, u64 response_ns)
{
	while (unlikely(number >> (fls64(settling->batch) - 1) >= SETTLING_BATCHES))
		merge_adjacent_batches_incl_empty(settling);
	settling->sums_ns[number >> (fls64(settling->batch) - 1)] += response_ns;
}

void settling_add_all_response_times(struct settling *sum, const struct settling *other)
{
	u64 ratio;

	while (sum->batch < other->batch)
		merge_adjacent_batches_incl_empty(sum);
	ratio = sum->batch / other->batch;
	for (u32 i = 0; i < SETTLING_BATCHES; i++)
		sum->sums_ns[i / ratio] += other->sums_ns[i];
}

void settling_finish_indexed_response_times(struct settling *settling, u64 count)
{
	while (count / settling->batch >= SETTLING_BATCHES)
		merge_adjacent_batches_incl_empty(settling);
	settling->count = (u32)(count / settling->batch);
	settling->in_last = count % settling->batch;
	settling->last_ns = settling->sums_ns[settling->count];
	settling->sums_ns[settling->count] = 0;
}

/**
 * struct rest - groups that remain after cutting the ends
 * @groups: number of groups
 * @sum: sum of the groups' sums
 * @squares: sum of their squares
 */
struct rest {
	u32 groups;
	u64 sum;
	__uint128_t squares;
};

/* Sum the batches of each group in the zeroed @sums; shift all sums until 32 bits hold them. */
static u32 sum_response_times_by_batch_group(const struct settling *settling, u64 sums[GROUPS])
{
	u32 count = settling->count / GROUP;
	u64 largest = 0;

	for (u32 i = 0; i < count * GROUP; i++) {
		sums[i / GROUP] += settling->sums_ns[i];
		largest = max(largest, sums[i / GROUP]);
	}
	for (; largest >> 32; largest >>= 1)
		for (u32 i = 0; i < count; i++)
			sums[i] >>= 1;
	return count;
}

/* Return the squared standard error of the mean, multiplied by groups^3 to get an integer. */
static __uint128_t compute_squared_standard_error(const struct rest *rest)
{
	return rest->groups * rest->squares - (__uint128_t)rest->sum * rest->sum;
}

static u64 compute_cube(u64 value)
{
	return value * value * value;
}

/*
 * Return the groups that the best cut leaves: a cut at the start or, if @backwards, at the end. A
 * rest of few groups is not considered, because their means may agree by chance.
 */
static struct rest find_best_warmup_cut(const u64 *sums, u32 count, bool backwards)
{
	struct rest rest = { .groups = 0 };
	struct rest best = { .groups = 0 };

	for (u32 i = 0; i < count; i++) {
		u64 sum = sums[backwards ? i : count - 1 - i];

		rest.groups++;
		rest.sum += sum;
		rest.squares += (__uint128_t)sum * sum;
		/* No product overflows: squared errors have up to 78 bits, cubed counts 21. */
		if (rest.groups > count / KEPT &&
		    (!best.groups ||
		     (compute_squared_standard_error(&rest) * compute_cube(best.groups) <=
		      compute_squared_standard_error(&best) * compute_cube(rest.groups))))
			best = rest;
	}
	return best;
}

/* Return the relative difference between the mean of all groups and that of @best, in 1/10000. */
static u64 compute_bias_of_overall_mean(const u64 *sums, u32 count, const struct rest *best)
{
	__uint128_t all = 0;
	__uint128_t part = (__uint128_t)best->sum * count;

	for (u32 i = 0; i < count; i++)
		all += sums[i];
	all *= best->groups;
	if (!part)
		return 0;
	return (u64)((all > part ? all - part : part - all) * 10000 / part);
}

/* Cut the warm-up off the run by MSER-5; apply MSER-5 to the end, too, to detect a drift. */
struct settling_verdict settling_judge(const struct settling *settling)
{
	struct settling_verdict verdict = { .known = settling->batch > 1 };
	u64 sums[GROUPS] = { 0 };
	struct rest late, early;
	u64 end_off;
	u32 count, cut;

	if (!verdict.known)
		return verdict;
	count = sum_response_times_by_batch_group(settling, sums);
	late = find_best_warmup_cut(sums, count, false);
	cut = count - late.groups;
	early = find_best_warmup_cut(sums + cut, late.groups, true);
	end_off = compute_bias_of_overall_mean(sums + cut, late.groups, &early);
	verdict.cut = (u64)cut * GROUP * settling->batch;
	verdict.off = max(compute_bias_of_overall_mean(sums, count, &late), end_off);
	verdict.settled = 2 * cut <= count && end_off < SETTLING_MATTERS;
	return verdict;
}
