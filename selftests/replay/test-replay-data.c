// SPDX-License-Identifier: GPL-2.0-only
/* Self-describing data of replayed writes, the check of read data, and the log of a replay. */
#include <stdlib.h>
#include <unistd.h>

#include "data-buffers.h"
#include "expected-data.h"
#include "core/base/random.h"
#include "replay-log.h"
#include "tap.h"
#include "target-state.h"

#define SEED 7
#define UNITS 64

static u64 words[4096 / sizeof(u64)];
static struct expected_data expected;
static struct aftl_error error;

static void flip_payload_bit(u32 bit)
{
	((u8 *)words)[bit / 8] ^= (u8)(1 << bit % 8);
}

static const struct payload some = { .unit = 123456789012ULL, .sequence = 77, .class = 1 };

TAP_TEST(flipped_bits_of_a_unit_are_counted)
{
	static const u32 sizes[] = { 512, 4096 };
	struct aftl_random random = { 3 };
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (n = 0; n < 200; n++) {
			struct payload found;
			u32 flips, bit = (u32)aftl_random_below(&random, sizes[i] * 8);

			payload_fill(words, sizes[i], SEED, &some);
			flip_payload_bit(bit);
			flip_payload_bit((bit + 4001) % (sizes[i] * 8));
			CHECK_EQ(payload_count_flips(words, sizes[i], SEED, &some), 2);
			CHECK(payload_read_head(words, sizes[i], SEED, &found, &flips));
			CHECK_EQ(flips, 2);
			CHECK_EQ(found.unit, some.unit);
			CHECK_EQ(found.sequence, some.sequence);
			CHECK_EQ(found.class, some.class);
		}
	}
}

/* Replayed data are recognised at a bit error rate of 1 %, more than any flash in use has. */
TAP_TEST(data_with_errors_are_recognised)
{
	struct aftl_random random = { 4 };
	u32 bit, wrong = 0, flips;
	struct payload found;

	payload_fill(words, 4096, SEED, &some);
	for (bit = 0; bit < 4096 * 8; bit++) {
		if (aftl_random_below(&random, 100))
			continue;
		flip_payload_bit(bit);
		wrong++;
	}
	CHECK_RANGE(wrong, 250, 410);
	CHECK_EQ(payload_count_flips(words, 4096, SEED, &some), wrong);
	CHECK(payload_read_head(words, 4096, SEED, &found, &flips));
	CHECK_EQ(flips, wrong);
}

TAP_TEST(unrelated_data_are_not_recognised)
{
	struct payload found, next = some;
	u32 flips;

	payload_fill(words, 4096, SEED, &some);
	CHECK(!payload_read_head(words, 4096, SEED + 1, &found, &flips));
	next.sequence++;
	CHECK_RANGE(payload_count_flips(words, 4096, SEED, &next), 15000, 17800);
	memset(words, 0, sizeof(words));
	CHECK(!payload_read_head(words, 4096, SEED, &found, &flips));
}

static void create_expected_data(void)
{
	expected_data_free(&expected);
	expected.unit_bytes = 4096;
	expected.seed = SEED;
	if (expected_data_create(&expected, UNITS, &error))
		tap_bail_out("%s", error.text);
}

static bool begin_expected_write(u64 unit, u32 sequence, bool keeps)
{
	const struct payload what = { .unit = unit, .sequence = sequence, .class = 1 };

	return expected_data_begin_write(&expected, unit, 1, &what, keeps);
}

static enum data_verdict verdict_of_unit_content(u64 unit, u64 holds, u32 sequence, u32 floor)
{
	const struct payload what = { .unit = holds, .sequence = sequence, .class = 1 };
	struct payload found;
	u32 flips;

	payload_fill(words, 4096, SEED, &what);
	return expected_data_classify_read_unit(&expected, words, unit, floor, &found, &flips);
}

static u32 find_oldest_readable_stamp(u64 unit)
{
	u32 floor;

	expected_data_begin_read(&expected, unit, 1, &floor);
	return floor;
}

TAP_TEST(overwritten_data_are_recognised_as_stale)
{
	create_expected_data();
	CHECK(begin_expected_write(5, 1, true));
	CHECK_EQ(find_oldest_readable_stamp(5), 0);
	CHECK_EQ(verdict_of_unit_content(5, 5, 1, 0), DATA_GOOD);
	expected_data_end_write(&expected, 5, 1, 1, true, false);
	CHECK_EQ(find_oldest_readable_stamp(5), 1);
	CHECK(begin_expected_write(5, 2, true));
	CHECK_EQ(verdict_of_unit_content(5, 5, 1, find_oldest_readable_stamp(5)), DATA_GOOD);
	expected_data_end_write(&expected, 5, 1, 2, true, false);
	CHECK_EQ(verdict_of_unit_content(5, 5, 2, find_oldest_readable_stamp(5)), DATA_GOOD);
	CHECK_EQ(verdict_of_unit_content(5, 5, 1, find_oldest_readable_stamp(5)), DATA_STALE);
	CHECK_EQ(verdict_of_unit_content(5, 6, 2, find_oldest_readable_stamp(5)), DATA_MISPLACED);
	CHECK_EQ(verdict_of_unit_content(5, 5, 3, find_oldest_readable_stamp(5)), DATA_STALE);
	CHECK_EQ(verdict_of_unit_content(6, 5, 2, find_oldest_readable_stamp(6)), DATA_FOREIGN);
}

/* A read issued before a write completed may return the old data. */
TAP_TEST(a_read_beside_a_write_may_return_old_or_new_data)
{
	u32 floor;

	create_expected_data();
	CHECK(begin_expected_write(5, 1, true));
	expected_data_end_write(&expected, 5, 1, 1, true, false);
	CHECK(begin_expected_write(5, 2, true));
	floor = find_oldest_readable_stamp(5);
	expected_data_end_write(&expected, 5, 1, 2, true, false);
	CHECK_EQ(verdict_of_unit_content(5, 5, 1, floor), DATA_GOOD);
	CHECK_EQ(verdict_of_unit_content(5, 5, 2, floor), DATA_GOOD);
}

TAP_TEST(either_of_two_concurrent_writes_may_win)
{
	create_expected_data();
	CHECK(begin_expected_write(5, 1, true));
	CHECK(!begin_expected_write(5, 2, true));
	expected_data_end_write(&expected, 5, 1, 2, false, false);
	expected_data_end_write(&expected, 5, 1, 1, true, false);
	CHECK_EQ(verdict_of_unit_content(5, 5, 1, find_oldest_readable_stamp(5)), DATA_GOOD);
	CHECK_EQ(verdict_of_unit_content(5, 5, 2, find_oldest_readable_stamp(5)), DATA_GOOD);
	CHECK(begin_expected_write(5, 3, true));
	expected_data_end_write(&expected, 5, 1, 3, true, false);
	CHECK_EQ(verdict_of_unit_content(5, 5, 2, find_oldest_readable_stamp(5)), DATA_STALE);
}

TAP_TEST(discarded_data_are_not_checked)
{
	struct payload found;
	u32 flips;

	create_expected_data();
	CHECK(begin_expected_write(5, 1, true));
	expected_data_end_write(&expected, 5, 1, 1, true, false);
	memset(words, 0, sizeof(words));
	CHECK_EQ(expected_data_classify_read_unit(&expected, words, 5,
						  find_oldest_readable_stamp(5), &found, &flips),
		 DATA_LOST);
	CHECK(begin_expected_write(5, 2, false));
	expected_data_end_write(&expected, 5, 1, 2, true, false);
	CHECK_EQ(expected_data_classify_read_unit(&expected, words, 5,
						  find_oldest_readable_stamp(5), &found, &flips),
		 DATA_FOREIGN);
	CHECK_EQ(verdict_of_unit_content(5, 5, 1, find_oldest_readable_stamp(5)), DATA_FOREIGN);
	CHECK(begin_expected_write(5, 3, true));
	expected_data_end_write(&expected, 5, 1, 3, true, false);
	CHECK_EQ(verdict_of_unit_content(5, 5, 1, find_oldest_readable_stamp(5)), DATA_STALE);
}

TAP_TEST(data_of_a_failed_write_are_not_checked)
{
	create_expected_data();
	CHECK(begin_expected_write(5, 1, true));
	expected_data_end_write(&expected, 5, 1, 1, true, false);
	CHECK(begin_expected_write(5, 2, true));
	expected_data_end_write(&expected, 5, 1, 2, true, true);
	CHECK_EQ(verdict_of_unit_content(5, 5, 1, find_oldest_readable_stamp(5)), DATA_FOREIGN);
}

/* Freed buffers are reused, separately for each size. */
TAP_TEST(freed_buffers_are_reused)
{
	static struct data_buffers buffers;
	u8 *first, *second;

	CHECK_EQ(data_buffers_create(&buffers, 4096, 65536, -1, &error), 0);
	first = data_buffer_get(&buffers, DATA_APPROXIMATE, 65536);
	second = data_buffer_get(&buffers, DATA_APPROXIMATE, 5000);
	CHECK(first && second);
	memset(first, 1, 65536);
	memset(second, 2, 8192);
	CHECK_EQ(first[65535], 1);
	data_buffer_put(&buffers, DATA_APPROXIMATE, first, 65536);
	CHECK(data_buffer_get(&buffers, DATA_APPROXIMATE, 40000) == first);
	data_buffers_end_allocation(&buffers);
	CHECK(!data_buffer_get(&buffers, DATA_APPROXIMATE, 65536));
	data_buffers_free(&buffers);
}

static const struct replay_log_entry entry = {
	.due_ns = 1ULL << 60,
	.submit_ns = 2,
	.complete_ns = 3,
	.off_sect = 1ULL << 50,
	.nsect = 0x12345678,
	.op = AFTL_OP_WRITE | REPLAY_LOG_FUA,
	.class = 1,
	.sequence = 4,
	.error = 5,
	.lost = 6,
	.misplaced = 7,
	.stale = 8,
	.units = { 9, 10 },
	.flips = { 11, 12 },
};

TAP_TEST(a_log_is_read_as_written)
{
	struct replay_log_header header = { .planned = 9, .classes = 2, .limit = 3 };
	char path[] = "/tmp/approxftl-XXXXXX";
	struct replay_log_header found;
	struct replay_log_entry got;
	struct replay_log *log;

	memset(&got, 0, sizeof(got));
	close(mkstemp(path));
	CHECK_EQ(replay_log_create(&log, path, &header, &error), 0);
	replay_log_write_entry(log, &entry);
	CHECK_EQ(replay_log_finish(log, &error), 0);
	CHECK_EQ(replay_log_open(&log, path, &found, &error), 0);
	CHECK_EQ(found.entries, 1);
	CHECK_EQ(found.planned, 9);
	CHECK_EQ(replay_log_next_entry(log, &got, &error), 1);
	CHECK(!memcmp(&got, &entry, sizeof(got)));
	CHECK_EQ(replay_log_next_entry(log, &got, &error), 0);
	replay_log_close(log);
	unlink(path);
}

/* Call a print function; return true if its text contains @part, or, if @part is NULL, is empty. */
static bool check_printed_target_state(bool start, const struct target_status *status,
				       const char *part)
{
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	if (start)
		target_state_print_fullness("/dev/x", status, out);
	else
		target_state_warn_of_late_completions("/dev/x", status, 100000, out);
	fclose(out);
	return part ? !!strstr(text, part) : !text[0];
}

TAP_TEST(the_starting_state_and_late_timers_are_reported)
{
	struct target_status status = { .units = 800, .late_p99_ns = 100000 };

	CHECK(check_printed_target_state(true, &status, "/dev/x: starts 0.0 % full, 0 of 800 "
					 "logical pages hold data; "));
	CHECK(check_printed_target_state(true, &status, "-- --fill none"));
	CHECK(check_printed_target_state(false, &status, NULL));
	status.valid_units = 300;
	status.late_p99_ns = 2000000;
	CHECK(check_printed_target_state(true, &status, "/dev/x: starts 37.5 % full, 300 of 800 "
					 "logical pages hold data\n"));
	CHECK(check_printed_target_state(false, &status, "since its last reset /dev/x completed "
					 "1 % of the requests more "));
}

int main(void)
{
	int ret;

	ret = tap_run_all();
	expected_data_free(&expected);
	return ret;
}
