// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ledger of approxftl-torture: contents that a block may have now and after a power failure.
 */
#include <stdlib.h>
#include <unistd.h>

#include "ledger.h"
#include "tap.h"

#define UNITS 8

static struct ledger *ledger;
static struct aftl_error error;
static char path[64] = "/tmp/aftl-ledger-XXXXXX";

static void reopen_ledger(void)
{
	struct ledger_header header = { .units = UNITS, .unit_bytes = 512, .seed = 7, .device = 9 };

	ledger_close(ledger);
	unlink(path);
	if (ledger_create(&ledger, path, &header, false, &error))
		tap_bail_out("%s", error.text);
	ledger_expect_zeroes_in_all_units(ledger);
}

/* Tell the ledger that a write or discard of some units begins. */
static struct ledger_change begin_ledger_change(u64 first, u32 count, enum ledger_kind kind)
{
	struct ledger_change change = { .first = first, .count = count };

	change.floors = calloc(count, sizeof(u32));
	ledger_begin_change(ledger, &change, kind);
	return change;
}

static u32 begin_and_end_write(u64 first, u32 count, bool forced)
{
	struct ledger_change change = begin_ledger_change(first, count, LEDGER_WRITE);

	ledger_end_change(ledger, &change, forced);
	free(change.floors);
	return change.generation;
}

static bool is_legal_generation(u64 unit, u32 generation)
{
	struct block_found found = { .kind = generation ? BLOCK_WHOLE : BLOCK_ZEROES,
				     .name = { .device = 9, .seed = 7, .unit = unit,
					       .generation = generation } };

	return ledger_allows_unit_content(ledger, unit, ledger_get_oldest_generation(ledger, unit),
					  &found);
}

TAP_TEST(the_last_write_must_be_found)
{
	u32 first, second;

	reopen_ledger();
	CHECK(is_legal_generation(2, 0));
	first = begin_and_end_write(2, 2, false);
	CHECK(is_legal_generation(2, first) && is_legal_generation(3, first));
	CHECK(!is_legal_generation(2, 0) && is_legal_generation(1, 0) && is_legal_generation(4, 0));
	second = begin_and_end_write(3, 1, false);
	CHECK(!is_legal_generation(3, first) && is_legal_generation(3, second) &&
	      is_legal_generation(2, first));
	CHECK(!is_legal_generation(3, second + 1));
}

TAP_TEST(a_write_in_flight_may_be_found)
{
	u32 first;
	struct ledger_change change;

	reopen_ledger();
	first = begin_and_end_write(0, 4, false);
	change = begin_ledger_change(2, 4, LEDGER_WRITE);
	CHECK(is_legal_generation(2, first) && is_legal_generation(2, change.generation));
	ledger_end_change(ledger, &change, false);
	CHECK(!is_legal_generation(2, first) && is_legal_generation(2, change.generation));
	free(change.floors);
}

/* After a failed write a unit may hold its old or new data, until the unit is written again. */
TAP_TEST(a_failed_write_may_be_found)
{
	u32 first, last;
	struct ledger_change failed;

	reopen_ledger();
	first = begin_and_end_write(1, 1, false);
	failed = begin_ledger_change(1, 1, LEDGER_WRITE);
	CHECK(is_legal_generation(1, first) && is_legal_generation(1, failed.generation));
	last = begin_and_end_write(1, 1, false);
	CHECK(!is_legal_generation(1, first) && !is_legal_generation(1, failed.generation) &&
	      is_legal_generation(1, last));
	free(failed.floors);
}

TAP_TEST(either_of_two_concurrent_writes_may_be_the_last)
{
	struct ledger_change one, other;
	u32 before;

	reopen_ledger();
	before = begin_and_end_write(0, 4, false);
	one = begin_ledger_change(0, 3, LEDGER_WRITE);
	other = begin_ledger_change(1, 3, LEDGER_WRITE);
	ledger_add_concurrent_change(&other, &one);
	ledger_end_change(ledger, &other, false);
	CHECK(is_legal_generation(1, one.generation) && is_legal_generation(1, other.generation));
	CHECK(!is_legal_generation(3, before) && !is_legal_generation(1, before));
	CHECK(is_legal_generation(0, before));
	ledger_end_change(ledger, &one, false);
	CHECK(is_legal_generation(2, one.generation) && is_legal_generation(2, other.generation));
	CHECK(!is_legal_generation(0, before) && is_legal_generation(0, one.generation));
	free(one.floors);
	free(other.floors);
}

TAP_TEST(a_flush_covers_completed_writes)
{
	u32 first, second, third;
	u64 covered;

	reopen_ledger();
	first = begin_and_end_write(0, 2, false);
	covered = ledger_begin_flush(ledger);
	second = begin_and_end_write(1, 1, false);
	ledger_end_flush(ledger, covered);
	third = begin_and_end_write(0, 2, false);
	CHECK(!is_legal_generation(0, first) && !is_legal_generation(1, second));
	ledger_apply_power_failure(ledger);
	CHECK(!is_legal_generation(0, 0) && !is_legal_generation(1, 0));
	CHECK(is_legal_generation(0, first) && is_legal_generation(1, first));
	CHECK(is_legal_generation(1, second) && is_legal_generation(0, third) &&
	      is_legal_generation(1, third));
}

/* Several flushes may be in progress, and complete in any order. */
TAP_TEST(concurrent_flushes_cover_different_writes)
{
	u64 early, late;
	u32 first;

	reopen_ledger();
	early = ledger_begin_flush(ledger);
	first = begin_and_end_write(0, 1, false);
	late = ledger_begin_flush(ledger);
	ledger_end_flush(ledger, late);
	ledger_end_flush(ledger, early);
	begin_and_end_write(1, 1, false);
	ledger_apply_power_failure(ledger);
	CHECK(is_legal_generation(0, first) && !is_legal_generation(0, 0));
	CHECK(is_legal_generation(1, 0));
}

TAP_TEST(each_flush_covers_the_writes_before_it)
{
	u32 first, second;
	u64 one, two;

	reopen_ledger();
	first = begin_and_end_write(0, 1, false);
	one = ledger_begin_flush(ledger);
	second = begin_and_end_write(1, 1, false);
	two = ledger_begin_flush(ledger);
	ledger_end_flush(ledger, one);
	begin_and_end_write(2, 1, false);
	ledger_end_flush(ledger, two);
	ledger_apply_power_failure(ledger);
	CHECK(is_legal_generation(0, first) && !is_legal_generation(0, 0));
	CHECK(is_legal_generation(1, second) && !is_legal_generation(1, 0));
	CHECK(is_legal_generation(2, 0));
}

/* A durable write makes older versions invalid in the units that it covers, and in no others. */
TAP_TEST(each_unit_has_its_own_oldest_valid_version)
{
	struct ledger_change one, other;

	reopen_ledger();
	one = begin_ledger_change(0, 2, LEDGER_WRITE);
	other = begin_ledger_change(1, 2, LEDGER_WRITE);
	ledger_add_concurrent_change(&other, &one);
	ledger_end_change(ledger, &other, true);
	ledger_apply_power_failure(ledger);
	CHECK(is_legal_generation(1, one.generation) && is_legal_generation(1, other.generation) &&
	      !is_legal_generation(1, 0));
	CHECK(!is_legal_generation(2, one.generation) && is_legal_generation(2, other.generation));
	free(one.floors);
	free(other.floors);
}

TAP_TEST(a_fua_write_covers_itself)
{
	u32 forced, beside;

	reopen_ledger();
	beside = begin_and_end_write(5, 1, false);
	forced = begin_and_end_write(6, 1, true);
	ledger_apply_power_failure(ledger);
	CHECK(is_legal_generation(6, forced) && !is_legal_generation(6, 0));
	CHECK(is_legal_generation(5, beside) && is_legal_generation(5, 0));
}

TAP_TEST(a_flush_during_a_power_failure_covers_nothing)
{
	u32 forced;

	reopen_ledger();
	ledger_freeze_after_power_failure(ledger);
	forced = begin_and_end_write(0, 1, true);
	ledger_end_flush(ledger, ledger_begin_flush(ledger));
	ledger_apply_power_failure(ledger);
	CHECK(is_legal_generation(0, 0) && is_legal_generation(0, forced));
	forced = begin_and_end_write(0, 1, true);
	ledger_apply_power_failure(ledger);
	CHECK(!is_legal_generation(0, 0) && is_legal_generation(0, forced));
}

/* Data that are read during a power failure may be lost after it: they are not durable. */
TAP_TEST(reads_during_a_power_failure_prove_nothing_durable)
{
	struct block_found lost = { .kind = BLOCK_ZEROES };
	u32 forced;

	reopen_ledger();
	forced = begin_and_end_write(0, 1, true);
	ledger_freeze_after_power_failure(ledger);
	CHECK(is_legal_generation(0, 0) && is_legal_generation(0, forced));
	ledger_update_unit_from_block(ledger, 0, &lost, true);
	ledger_apply_power_failure(ledger);
	CHECK(!is_legal_generation(0, 0) && is_legal_generation(0, forced));
}

TAP_TEST(zeroes_count_as_a_version)
{
	struct ledger_change change;
	u32 before, after;

	reopen_ledger();
	before = begin_and_end_write(0, 2, true);
	change = begin_ledger_change(0, 1, LEDGER_ZEROES);
	CHECK(is_legal_generation(0, 0) && is_legal_generation(0, before) &&
	      !is_legal_generation(1, 0));
	ledger_end_change(ledger, &change, false);
	CHECK(is_legal_generation(0, 0) && !is_legal_generation(0, before));
	after = begin_and_end_write(0, 1, false);
	CHECK(!is_legal_generation(0, 0) && is_legal_generation(0, after));
	ledger_apply_power_failure(ledger);
	CHECK(is_legal_generation(0, 0) && is_legal_generation(0, before) &&
	      is_legal_generation(0, after));
	free(change.floors);
}

TAP_TEST(undefined_data_may_be_anything_but_another_unit)
{
	struct ledger_change change;
	struct block_found found = { .kind = BLOCK_FOREIGN };

	reopen_ledger();
	change = begin_ledger_change(0, 1, LEDGER_ANYTHING);
	ledger_end_change(ledger, &change, false);
	CHECK(is_legal_generation(0, 0) && is_legal_generation(0, 1));
	CHECK(ledger_allows_unit_content(ledger, 0, ledger_get_oldest_generation(ledger, 0),
					 &found));
	found = (struct block_found){ .kind = BLOCK_WHOLE,
				      .name = { .device = 9, .seed = 7, .unit = 1 } };
	CHECK(!ledger_allows_unit_content(ledger, 0, ledger_get_oldest_generation(ledger, 0),
					  &found));
	begin_and_end_write(0, 1, false);
	CHECK(!is_legal_generation(0, 0));
	free(change.floors);
}

/* Contents that a block was found to have after a power failure are durable from then on. */
TAP_TEST(a_version_that_was_found_must_stay)
{
	struct block_found found = { .kind = BLOCK_WHOLE, .name = { .device = 9, .seed = 7 } };
	u32 first, second;

	reopen_ledger();
	first = begin_and_end_write(0, 1, false);
	second = begin_and_end_write(0, 1, false);
	ledger_apply_power_failure(ledger);
	CHECK(is_legal_generation(0, 0) && is_legal_generation(0, first) &&
	      is_legal_generation(0, second));
	found.name.generation = first;
	ledger_update_unit_from_block(ledger, 0, &found, true);
	ledger_apply_power_failure(ledger);
	CHECK(!is_legal_generation(0, 0) && is_legal_generation(0, first) &&
	      !is_legal_generation(0, second));
}

/* After a power failure a block may hold its durable contents or anything written since. */
TAP_TEST(a_version_that_was_read_must_stay_until_a_power_failure)
{
	static const struct block_found zeroes = { .kind = BLOCK_ZEROES };
	struct ledger_change change;
	u32 first, second;

	reopen_ledger();
	first = begin_and_end_write(0, 1, true);
	second = begin_and_end_write(0, 1, false);
	change = begin_ledger_change(0, 1, LEDGER_ZEROES);
	ledger_end_change(ledger, &change, false);
	ledger_update_unit_from_block(ledger, 0, &zeroes, false);
	CHECK(is_legal_generation(0, 0) && !is_legal_generation(0, first) &&
	      !is_legal_generation(0, second));
	ledger_apply_power_failure(ledger);
	CHECK(is_legal_generation(0, 0) && is_legal_generation(0, first) &&
	      is_legal_generation(0, second));
	free(change.floors);
}

/* The kernel may write zeroes as data, which may have bit errors like other approximate data. */
TAP_TEST(approximate_data_may_have_flipped_bits)
{
	static const struct block_name name = { 7, 3, 5, 9 };
	u64 words[512] = { 0 };

	CHECK_EQ(block_read(words, sizeof(words), 0).kind, BLOCK_ZEROES);
	words[100] = 0x11;
	CHECK_EQ(block_read(words, sizeof(words), 1).kind, BLOCK_FOREIGN);
	CHECK_EQ(block_read(words, sizeof(words), 1).flips, 2);
	CHECK_EQ(block_read(words, sizeof(words), 2).kind, BLOCK_ZEROES);
	block_fill_content(words, sizeof(words), &name);
	words[0] ^= 1;
	words[9] ^= 0x30;
	CHECK_EQ(block_read(words, sizeof(words), 3).kind, BLOCK_WHOLE);
	CHECK_EQ(block_read(words, sizeof(words), 3).name.generation, 5);
	CHECK_EQ(block_read(words, sizeof(words), 2).kind, BLOCK_TORN);
}

int main(void)
{
	int ret;
	int fd = mkstemp(path);

	close(fd);
	ret = tap_run_all();
	ledger_close(ledger);
	unlink(path);
	return ret;
}
