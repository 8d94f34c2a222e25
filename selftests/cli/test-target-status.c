// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoders of the target's status: valid lines, lines of newer versions, and malformed lines.
 */
#include <stdlib.h>

#include "block-answer.h"
#include "kernel-sentence.h"
#include "tap.h"
#include "target-status.h"

static const char line[] =
	"rw approxftl 1024/22282 172/256 3 17 1024 1027 5 1 12 98765 100 20 300 5678 4194304 2 4 6";

static struct target_status status;
static struct target_stats stats;
static struct aftl_error error;

static void check_complete_status_parsed(void)
{
	CHECK(!target_status_parse(&status, line, &error));
	CHECK_TEXT(status.mode, "rw");
	CHECK_TEXT(status.policy, "approxftl");
	CHECK_EQ(status.valid_units, 1024);
	CHECK_EQ(status.units, 22282);
	CHECK_EQ(status.free_blocks, 172);
	CHECK_EQ(status.blocks, 256);
	CHECK_EQ(status.pending_requests, 3);
	CHECK_EQ(status.host_read_units, 17);
	CHECK_EQ(status.host_write_units, 1024);
	CHECK_EQ(status.programmed_units, 1027);
	CHECK_EQ(status.array_erases, 5);
	CHECK_EQ(status.retired_blocks, 1);
	CHECK_EQ(status.read_flipped_bits, 12);
	CHECK_EQ(status.device_ns, 98765);
	CHECK_EQ(status.late_p50_ns, 100);
	CHECK_EQ(status.late_p99_ns, 20);
	CHECK_EQ(status.late_max_ns, 300);
	CHECK_EQ(status.ftl_bytes, 5678);
	CHECK_EQ(status.data_bytes, 4194304);
	CHECK_EQ(status.dead_luns, 2);
	CHECK_EQ(status.collecting_luns, 4);
	CHECK_EQ(status.lost_units, 6);
}

static void check_newer_status_parsed(void)
{
	char text[sizeof(line) + 40];

	scnprintf(text, sizeof(text), "%s 21/x twenty\n", line);
	CHECK(!target_status_parse(&status, text, &error));
	CHECK_EQ(status.dead_luns, 2);
}

/* A status line fills its allocated buffer, so that a read past the end of the line is detected. */
static void check_truncated_status_refused(void)
{
	size_t length;

	for (length = 0; length < sizeof(line) - 2; length++) {
		char *text = malloc(length + 1);

		memcpy(text, line, length);
		text[length] = '\0';
		CHECK_MSG(target_status_parse(&status, text, &error) == -EINVAL, "\"%s\"", text);
		CHECK_CONTAINS(error.text, "of the status line is missing or malformed");
		free(text);
	}
}

static void check_status_refused(const char *text, const char *part)
{
	CHECK_MSG(target_status_parse(&status, text, &error) == -EINVAL, "\"%s\"", text);
	CHECK_CONTAINS(error.text, part);
}

static void check_wrong_fields_refused(void)
{
	check_status_refused("Fail",
			     "the device could not be resumed, or another table has taken it over");
	check_status_refused("resuming", "the device is being resumed");
	check_status_refused("inactive", "the device has not been resumed yet");
	check_status_refused("", "word mode ");
	check_status_refused("rw", "word policy ");
	check_status_refused("rw approxftl 1024 1/2 3", "word valid_units ");
	check_status_refused("rw approxftl 1/2 /2 3", "word free_blocks ");
	check_status_refused("rw approxftl 1/2 2/ 3", "word free_blocks ");
	check_status_refused("rw approxftl 1/2/3 2/3 3", "word valid_units ");
	check_status_refused("rw approxftl 1/2 2/3 -3", "word pending_requests ");
	check_status_refused("rw approxftl 1/2 2/3 0x3", "word pending_requests ");
	check_status_refused("rw approxftl 1/2 2/3 18446744073709551616", "word pending_requests ");
	check_status_refused("rw approxftl 1/2 2/3 18446744073709551615", "word host_read_units ");
	check_status_refused("rw a-policy-with-a-name-that-is-too-long 1/2", "word policy ");
}

/* Print the counters in @from as the target's message "stats" prints them. */
static void print_counters_as_stats(const struct target_stats *from, char *text, size_t size)
{
	size_t used = 0;
	u32 i;

	for (i = 0; i < AFTL_COUNTERS; i++)
		used += scnprintf(text + used, size - used, "%s %llu\n", aftl_counter_info[i].name,
				  (unsigned long long)aftl_counter_get(&from->counters, i));
	used += scnprintf(text + used, size - used,
			  "device_ns %llu\nsince_ns %llu\nlock_waits %llu\nlock_wait_ns %llu\nlate_count %llu\nlate_sum_ns %llu\nlate_max_ns %llu\nlate_p50_ns 1\n",
			  (unsigned long long)from->device_ns, (unsigned long long)from->since_ns,
			  (unsigned long long)from->lock_waits,
			  (unsigned long long)from->lock_wait_ns,
			  (unsigned long long)from->late.count, (unsigned long long)from->late.sum,
			  (unsigned long long)from->late.largest);
	for (i = 0; i < AFTL_STREAMS; i++) {
		const struct target_stream *stream = &from->streams[i];

		used += scnprintf(text + used, size - used,
				  "stream_%s_host_units %llu\nstream_%s_moved_units %llu\n",
				  stream->name, (unsigned long long)stream->units[0],
				  stream->name, (unsigned long long)stream->units[1]);
	}
	for (i = 0; i < (1 + AFTL_HANDLES_MAX) * AFTL_HANDLE_COUNTERS; i++)
		used += scnprintf(text + used, size - used, "handle_%u_%s %llu\n",
				  (u32)(i / AFTL_HANDLE_COUNTERS),
				  aftl_handle_counter_info[i % AFTL_HANDLE_COUNTERS].name,
				  (unsigned long long)((const u64 *)from->handles)[i]);
	for (i = 0; i < AFTL_HISTOGRAM_BINS; i++)
		if (from->late.bins[i])
			used += scnprintf(text + used, size - used, "late_le_%llu %llu\n",
					  (unsigned long long)aftl_histogram_max_of_bin(i),
					  (unsigned long long)from->late.bins[i]);
}

static void make_stats_values(struct target_stats *made, u64 factor)
{
	u64 *counters = (u64 *)&made->counters;
	u32 i;

	memset(made, 0, sizeof(*made));
	for (i = 0; i < AFTL_COUNTERS; i++)
		counters[i] = factor * (i + 1);
	for (i = 0; i < AFTL_STREAMS; i++) {
		scnprintf(made->streams[i].name, sizeof(made->streams[i].name), "s_%u", i);
		made->streams[i].units[0] = factor * i;
		made->streams[i].units[1] = factor * (i + 100);
	}
	for (i = 0; i < (1 + AFTL_HANDLES_MAX) * AFTL_HANDLE_COUNTERS; i++)
		((u64 *)made->handles)[i] = factor * (i + 50);
	made->device_ns = 1000 * factor;
	made->since_ns = 7;
	made->lock_waits = 3 * factor;
	made->lock_wait_ns = 500 * factor;
	for (i = 0; i < 10 * factor; i++)
		aftl_histogram_add(&made->late, 100ULL * i);
	made->late.smallest = 0;
}

static char answer[32768];

static void check_parsed_stats_equal_printed_stats(void)
{
	struct target_stats made;

	make_stats_values(&made, 3);
	print_counters_as_stats(&made, answer, sizeof(answer));
	CHECK(!target_stats_parse(&stats, answer, &error));
	CHECK(!memcmp(&stats, &made, sizeof(made)));
}

static void check_stats_difference(void)
{
	struct target_stats before;
	u32 i;

	make_stats_values(&before, 2);
	make_stats_values(&stats, 5);
	target_stats_subtract_earlier_counts(&stats, &before);
	for (i = 0; i < AFTL_COUNTERS; i++)
		CHECK_EQ(aftl_counter_get(&stats.counters, i), 3 * (i + 1));
	for (i = 0; i < AFTL_STREAMS; i++) {
		CHECK_EQ(stats.streams[i].units[0], 3 * i);
		CHECK_EQ(stats.streams[i].units[1], 3 * (i + 100));
	}
	for (i = 0; i < (1 + AFTL_HANDLES_MAX) * AFTL_HANDLE_COUNTERS; i++)
		CHECK_EQ(((const u64 *)stats.handles)[i], 3 * (i + 50));
	CHECK_EQ(stats.lock_waits, 9);
	CHECK_EQ(stats.lock_wait_ns, 1500);
	CHECK_EQ(stats.late.count, 30);
	CHECK_RANGE(aftl_histogram_quantile(&stats.late, 5000), 3400, 3600);
	CHECK_RANGE(stats.late.largest, 4900, 4900 * 33 / 32);
}

static void check_stats_after_reset(void)
{
	struct target_stats before, after;

	make_stats_values(&before, 5);
	make_stats_values(&after, 2);
	after.since_ns = 9;
	stats = after;
	target_stats_subtract_earlier_counts(&stats, &before);
	CHECK(!memcmp(&stats, &after, sizeof(after)));
}

static void check_wrong_stats_refused(void)
{
	struct target_stats made;

	make_stats_values(&made, 1);
	print_counters_as_stats(&made, answer, sizeof(answer));
	memcpy(strstr(answer, "since_ns"), "sinze_ns", 8);
	CHECK_EQ(target_stats_parse(&stats, answer, &error), -EINVAL);
	CHECK_CONTAINS(error.text, "lacks since_ns");
	memcpy(strstr(answer, "sinze_ns"), "since_ns-", 9);
	CHECK_EQ(target_stats_parse(&stats, answer, &error), -EINVAL);
	CHECK_CONTAINS(error.text, "is not a name and a number");
	CHECK_EQ(target_stats_parse(&stats, "", &error), -EINVAL);
	CHECK_EQ(target_stats_parse(&stats, "host_read_requests", &error), -EINVAL);
	CHECK_EQ(target_stats_parse(&stats, "host_read_requests 1 2", &error), -EINVAL);
}

static void check_block_list_reply_is_parsed(void)
{
	struct block_states survey = { 0 };
	u32 next;

	CHECK(!parse_block_list_reply(&survey,
				      "0 free - 7 70000 0 1\n1 bad page 99 1 0 0\n"
				      "2 open page 3 1 4 5\nnext 3",
				      &next, &error));
	CHECK_EQ(next, 3);
	CHECK(!parse_block_list_reply(&survey, "3 closed checkerboard 5 9 4 5\n", &next,
				      &error));
	CHECK_EQ(next, 0);
	CHECK_EQ(survey.blocks, 4);
	CHECK_EQ(survey.bad, 1);
	CHECK_EQ(survey.erases_min, 3);
	CHECK_EQ(survey.erases_max, 7);
	CHECK_EQ(survey.erases_sum, 15);
	CHECK_EQ(survey.wear_sum, 70010);
}

static void check_malformed_block_list_reply_is_refused(void)
{
	static const char *const wrong[] = {
		"next", "next x", "0 free -", "0 free - 7\n", "0 free - x 1 0 0", "\n",
		"free - 7 7",
	};
	struct block_states survey = { 0 };
	unsigned int i;
	u32 next;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		CHECK_MSG(parse_block_list_reply(&survey, wrong[i], &next, &error) == -EINVAL,
			  "\"%s\"", wrong[i]);
		CHECK_CONTAINS(error.text, "is no block");
	}
	CHECK(!parse_block_list_reply(&survey, "", &next, &error));
	CHECK_EQ(survey.blocks, 0);
}

/* Parse ranges of lost units beyond 4 TiB, and beyond 16 TiB, of a device. */
static void check_lost_unit_ranges_are_parsed(void)
{
	struct lost_runs runs;

	parse_lost_units_reply(&runs,
			       "7 1\n1073741825 3\n5368709121 4096\nnext 5368713217\n");
	CHECK_EQ(runs.count, 3);
	CHECK_EQ(runs.first[0], 7);
	CHECK_EQ(runs.units[0], 1);
	CHECK_EQ(runs.first[1], 1073741825);
	CHECK_EQ(runs.units[1], 3);
	CHECK_EQ(runs.first[2], 5368709121);
	CHECK_EQ(runs.units[2], 4096);
	parse_lost_units_reply(&runs, "");
	CHECK_EQ(runs.count, 0);
}

static void check_log_text(const char *record, const char *wanted)
{
	struct aftl_error found = { "" };
	bool is_one = kernel_log_get_target_message(record, &found);

	CHECK_MSG(is_one == !!wanted, "\"%s\"", record);
	CHECK_TEXT(found.text, wanted ? wanted : "");
}

static void check_kernel_log_messages(void)
{
	check_log_text("3,7,8,-;device-mapper: table: 253:0: approxftl: op: 91 is out (-EINVAL)\n",
		       "op: 91 is out");
	check_log_text("[ 8.1] device-mapper: table: 253:0: approxftl: no (more) room (-ENOMEM)",
		       "no (more) room");
	check_log_text("3,1,2,-;device-mapper: approxftl: 253:1: unknown message \"sing\"\n",
		       "unknown message \"sing\"");
	check_log_text("3,1,2,-;device-mapper: approxftl: without a device", "without a device");
	check_log_text("3,1,2,-;device-mapper: table: 253:0: linear: dm-linear: no (-EINVAL)\n",
		       NULL);
	check_log_text("3,1,2,-;device-mapper: ioctl: unable to remove open device aftl\n", NULL);
	check_log_text("approxftl: who says so?\n", NULL);
	check_log_text("", NULL);
	check_log_text("device-mapper: approxftl: ", "");
}

int main(void)
{
	tap_run("every field of a status line is parsed", check_complete_status_parsed);
	tap_run("status fields of a newer target are skipped", check_newer_status_parsed);
	tap_run("a truncated status line is refused", check_truncated_status_refused);
	tap_run("invalid fields of a status line are refused", check_wrong_fields_refused);
	tap_run("counters of message `stats` are read as printed",
		check_parsed_stats_equal_printed_stats);
	tap_run("the difference of two `stats` is computed", check_stats_difference);
	tap_run("after a reset the difference of two `stats` equals the second",
		check_stats_after_reset);
	tap_run("invalid answers to message `stats` are refused", check_wrong_stats_refused);
	tap_run("the target's answers to the message `blocks` are parsed",
		check_block_list_reply_is_parsed);
	tap_run("`blocks` answers that describe no block are refused",
		check_malformed_block_list_reply_is_refused);
	tap_run("runs of lost units are parsed, also of large devices",
		check_lost_unit_ranges_are_parsed);
	tap_run("error messages in the kernel log are found", check_kernel_log_messages);
	return tap_finish();
}
