// SPDX-License-Identifier: GPL-2.0-only
/*
 * Detection of the warm-up, in series whose warm-up is known.
 */
#include "core/base/random.h"
#include "settling.h"
#include "tap.h"

/* Judge @count response times: @until times @early, then @late, plus random noise below @noise. */
static struct settling_verdict judge_series(u64 count, u64 until, u64 early, u64 late, u64 noise)
{
	struct aftl_random random = { 18 };
	struct settling settling;
	u64 i;

	settling_init(&settling);
	for (i = 0; i < count; i++)
		settling_add_response_time(&settling, (i < until ? early : late) +
							      aftl_random_below(&random, noise));
	return settling_judge(&settling);
}

TAP_TEST(batches_of_a_series_hold_every_response)
{
	struct settling settling;
	u64 sum, i;
	u32 k;

	settling_init(&settling);
	for (i = 1; i <= 100000; i++) {
		settling_add_response_time(&settling, i);
		for (sum = settling.last_ns, k = 0; k < settling.count; k++)
			sum += settling.sums_ns[k];
		if (sum != i * (i + 1) / 2 ||
		    settling.count * settling.batch + settling.in_last != i)
			break;
	}
	CHECK_EQ(i, 100001);
	CHECK(settling.count < SETTLING_BATCHES && settling.count >= SETTLING_BATCHES / 2 - 1);
}

/* Joining three partial series gives the same result as adding all values to one. */
TAP_TEST(the_series_does_not_depend_on_the_order_of_responses)
{
	static const u64 counts[] = { 0, 1, 639, 640, 641, 1279, 1280, 50000, 409600 };
	struct settling added, put[3];
	u64 i;
	u32 k;

	for (k = 0; k < ARRAY_SIZE(counts); k++) {
		settling_init(&added);
		for (i = 0; i < ARRAY_SIZE(put); i++)
			settling_init(&put[i]);
		for (i = 0; i < counts[k]; i++)
			settling_add_response_time(&added, i * i);
		for (i = 0; i < counts[k]; i++)
			settling_add_response_time_by_index(&put[i % 5 % 3], counts[k] - 1 - i,
							    (counts[k] - 1 - i) *
								    (counts[k] - 1 - i));
		settling_add_all_response_times(&put[0], &put[1]);
		settling_add_all_response_times(&put[0], &put[2]);
		settling_finish_indexed_response_times(&put[0], counts[k]);
		CHECK_EQ(put[0].batch, added.batch);
		CHECK_EQ(put[0].count, added.count);
		CHECK_EQ(put[0].in_last, added.in_last);
		CHECK_EQ(put[0].last_ns, added.last_ns);
		CHECK(!memcmp(put[0].sums_ns, added.sums_ns, added.count * sizeof(u64)));
	}
}

TAP_TEST(a_steady_run_has_no_warm_up)
{
	struct settling_verdict verdict = judge_series(50000, 0, 0, 1000000, 500000);

	CHECK(verdict.known);
	CHECK(verdict.settled);
	CHECK(verdict.off < 20);
	verdict = judge_series(50000, 0, 0, 7, 1);
	CHECK(verdict.settled);
	CHECK_EQ(verdict.cut, 0);
	CHECK_EQ(verdict.off, 0);
}

/* The estimated error of the mean is 0 if all response times are 0. */
TAP_TEST(a_series_of_zeroes_has_error_0)
{
	CHECK_EQ(judge_series(5000, 0, 0, 0, 1).off, 0);
}

TAP_TEST(the_end_of_a_warm_up_is_found)
{
	struct settling_verdict verdict = judge_series(100000, 20000, 3000000, 1000000, 500000);

	CHECK(verdict.settled);
	CHECK_RANGE(verdict.cut, 20000, 40000);
	/* 0.2 * 2000000 of 1250000. */
	CHECK_RANGE(verdict.off, 3150, 3250);
}

/* A series of rising values whose sums need all 64 bits. */
TAP_TEST(sums_of_large_values_do_not_overflow)
{
	struct settling_verdict verdict = judge_series(100000, 20000, 1ULL << 40, 1ULL << 46,
						       1ULL << 39);

	CHECK(verdict.settled);
	CHECK_RANGE(verdict.cut, 20000, 21280);
	CHECK_RANGE(verdict.off, 1950, 2000);
}

TAP_TEST(a_drifting_run_does_not_settle)
{
	struct settling settling;
	struct settling_verdict verdict;
	u64 i;

	settling_init(&settling);
	for (i = 0; i < 10000; i++)
		settling_add_response_time(&settling, 1000000 + 100 * i);
	verdict = settling_judge(&settling);
	CHECK(verdict.known);
	CHECK(!verdict.settled);
	CHECK(verdict.off > 1000);
}

/* A change before the series' middle is cut off; a later change leaves too few values to judge. */
TAP_TEST(a_warm_up_longer_than_half_the_run_is_not_cut)
{
	CHECK(judge_series(40960, 20000, 2000, 1000, 1).settled);
	CHECK(!judge_series(40960, 21000, 2000, 1000, 1).settled);
}

/* A run whose response times double near its end, at value 35000 of 40960, is not settled. */
TAP_TEST(a_run_with_a_different_end_does_not_settle)
{
	struct settling_verdict verdict = judge_series(40960, 35000, 1000, 2000, 100);

	CHECK(!verdict.settled);
	CHECK_RANGE(verdict.off, 1300, 1500);
	CHECK(judge_series(40960, 39000, 1000, 1100, 500).settled);
}

TAP_TEST(short_runs_are_not_judged_for_settling)
{
	CHECK(!judge_series(639, 0, 0, 1000, 100).known);
	CHECK(judge_series(640, 0, 0, 1000, 100).known);
}
