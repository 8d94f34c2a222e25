// SPDX-License-Identifier: GPL-2.0-only
/* Test the parser of the message "luns", and screens of "approxftl top" for fake devices. */
#include <stdlib.h>

#include "../../userspace/approxftl/top-frame.h"
#include "tap.h"

#define LUNS 5

static struct device_view view;
static struct sample between;
static struct target_luns luns;
static struct aftl_error error;
static char picture[1 << 17];

/* Frames */

static void draw_top_frame(unsigned int columns, unsigned int rows)
{
	struct top_frame frame = { &view, &between, columns, rows, "~" };
	FILE *out = fmemopen(picture, sizeof(picture), "w");

	top_frame_print(out, &frame);
	fclose(out);
}

static unsigned int count_frame_lines(void)
{
	unsigned int count = 0;
	const char *at;

	for (at = picture; *at; at++)
		count += *at == '\n';
	return count;
}

static size_t longest_frame_line(void)
{
	size_t most = 0, length;
	const char *at = picture;

	for (; *at; at += length + 1) {
		length = strcspn(at, "\n");
		most = max(most, length);
	}
	return most;
}

static void make_lun_states(unsigned int count)
{
	unsigned int i;

	free(between.luns.list);
	between.luns.list = calloc(count, sizeof(*between.luns.list));
	between.luns.count = count;
	for (i = 0; i < count; i++)
		between.luns.list[i] = (struct target_lun){
			.free_blocks = 10 + i, .queued = i, .busy_ns = 500000000ULL * i,
		};
}

static const char table[] = "ram 6 profile demo policy approxftl timing real";
static const char status[] = "rw approxftl 500/1000 25/100 7 0 0 0 0 3 0 9 1 2 3 4 5 2 4 6";

/* Set up a device in which every counter changed within a second. */
static void make_busy_device(void)
{
	CHECK(!target_line_parse(&view.line, table, &error));
	CHECK(!target_status_parse(&view.status, status, &error));
	scnprintf(view.device.name, sizeof(view.device.name), "ssd");
	view.device.sectors = 2097152;
	memset(&between.stats, 0, sizeof(between.stats));
	between.at_ns = SECOND_NS;
	between.device_ns = 2 * SECOND_NS;
	between.layer = (struct block_layer){ 1204, 9632, 978, 3310, 26480, 3985, 982 };
	between.stats.counters.host_write_units = 1000;
	between.stats.counters.host_write_approx_units = 312;
	between.stats.counters.programmed_host_units = 1000;
	between.stats.counters.programmed_gc_units = 1051;
	between.stats.counters.padded_units = 53;
	between.stats.counters.read_flipped_bits = 1203;
	between.stats.counters.array_erases = 12;
	between.stats.counters.policy_bugs = 5;
	between.stats.late.count = 2;
	between.stats.late.sum = 24000;
	make_lun_states(LUNS);
}

TAP_TEST(a_frame_shows_the_activity)
{
	make_busy_device();
	draw_top_frame(200, 0);
	CHECK_CONTAINS(picture, "ssd: approxftl on demo, 1.000 GiB, store ram, timing real, rw~\n");
	CHECK_CONTAINS(picture, "reads          1204.0/s       4.70 MiB/s   mean 812.3 us~\n");
	CHECK_CONTAINS(picture, "writes         3310.0/s      12.92 MiB/s   mean 1.204 ms~\n");
	CHECK_CONTAINS(picture, "7 under way, busy 98.2 %; late by 12.00 us");
	CHECK_CONTAINS(picture, "50.0 % full, 25.0 % of the blocks free, collecting 4 LUNs~\n");
	CHECK_CONTAINS(picture,
		       "retired    3 blocks, dead 2 LUNs, lost 6 units, refused proposals 5~\n");
	CHECK_CONTAINS(picture, "2.104 programmed for each unit: host 1.000, gc 1.051");
	CHECK_CONTAINS(picture, "31.2 % of writes approximate; flipped bits 1203.0/s, erases 12.0");
	CHECK_CONTAINS(picture, "    0 |            |   0.0%   0    10");
	CHECK_CONTAINS(picture, "    2 |######      |  50.0%   2    12");
	CHECK_CONTAINS(picture, "    4 |############| 100.0%   4    14");
	CHECK(!strstr(picture, "more; a larger window"));
}

TAP_TEST(a_frame_shows_an_idle_device)
{
	make_busy_device();
	memset(&between.stats, 0, sizeof(between.stats));
	memset(&between.layer, 0, sizeof(between.layer));
	view.device.suspended = true;
	draw_top_frame(200, 0);
	view.device.suspended = false;
	CHECK_CONTAINS(picture, "timing real, suspended~\n");
	CHECK_CONTAINS(picture, "reads             0.0/s       0.00 MiB/s   mean -~\n");
	CHECK_CONTAINS(picture, "- programmed for each unit~\n");
	CHECK_CONTAINS(picture, "0.0 % of writes approximate");
}

/* No printed screen of "approxftl top" is wider or higher than the terminal window. */
static void check_frame_fits_terminal(unsigned int columns, unsigned int rows)
{
	draw_top_frame(columns, rows);
	CHECK_MSG(longest_frame_line() <= columns + 1 && count_frame_lines() <= max(rows, 8U),
		  "%u LUNs in %u x %u: %u lines of up to %zu letters", between.luns.count, columns,
		  rows, count_frame_lines(), longest_frame_line());
}

TAP_TEST(a_frame_fits_any_window)
{
	static const unsigned int counts[] = { 1, 4, 5, 32, 33, 1024 };
	unsigned int columns, rows, i;

	make_busy_device();
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		make_lun_states(counts[i]);
		for (columns = 10; columns < 700; columns += 23)
			for (rows = 1; rows < 60; rows++)
				check_frame_fits_terminal(columns, rows);
	}
}

static unsigned int count_shown_luns(void)
{
	unsigned int count = 0;
	const char *at = picture;

	while ((at = strstr(at, " |")) != NULL) {
		count++;
		at = strchr(at + 2, '|') + 1;
	}
	return count;
}

TAP_TEST(luns_beyond_the_window_are_counted)
{
	unsigned int rows, more;
	const char *rest;

	make_busy_device();
	make_lun_states(100);
	for (rows = 11; rows < 80; rows++) {
		draw_top_frame(80, rows);
		rest = strstr(picture, "      and ");
		more = rest ? (unsigned int)atoi(rest + 10) : 0;
		CHECK_MSG(count_shown_luns() + more == 100 && count_shown_luns(),
			  "%u rows: %u shown, %u more", rows, count_shown_luns(), more);
	}
	CHECK(!more);
}

/* The parser of "luns" */

static const char answer[] =
	"0 good_blocks 128 free_blocks 12 valid_units 700 queued 3 busy_ns 12345 cached_blocks 1\n"
	"1 good_blocks 9 free_blocks 13 valid_units 7 queued 0 busy_ns 1 cached_blocks 2 new 7\n";

TAP_TEST(answers_to_the_message_luns_are_parsed)
{
	CHECK(!target_luns_parse(&luns, answer, &error));
	CHECK_EQ(luns.count, 2);
	CHECK_EQ(luns.list[0].good_blocks, 128);
	CHECK_EQ(luns.list[0].queued, 3);
	CHECK_EQ(luns.list[1].free_blocks, 13);
	CHECK_EQ(luns.list[1].valid_units, 7);
	CHECK_EQ(luns.list[1].busy_ns, 1);
	CHECK_EQ(luns.list[1].cached_blocks, 2);
	free(luns.list);
	CHECK(!target_luns_parse(&luns, "", &error));
	CHECK_EQ(luns.count, 0);
	free(luns.list);
}

static void check_frame_option_is_refused(const char *text)
{
	CHECK_MSG(target_luns_parse(&luns, text, &error) == -EINVAL, "\"%s\"", text);
	CHECK_CONTAINS(error.text, "in the answer to \"luns\" is no LUN");
	CHECK(!luns.list && !luns.count);
}

TAP_TEST(invalid_answers_to_the_message_luns_are_refused)
{
	check_frame_option_is_refused("\n");
	check_frame_option_is_refused("1 good_blocks 1 free_blocks 1 valid_units 1 queued 1 "
				      "busy_ns 1 cached_blocks 1");
	check_frame_option_is_refused("0 good_blocks 1 free_blocks 1 valid_units 1 queued 1 "
				      "busy_ns 1");
	check_frame_option_is_refused("0 good_blocks -1 free_blocks x valid_units 1 queued 1 "
				      "busy_ns 1 cached_blocks 1");
	check_frame_option_is_refused("0 free_blocks 1 good_blocks 1 valid_units 1 queued 1 "
				      "busy_ns 1 cached_blocks 1");
}

TAP_TEST(activity_of_luns_is_the_difference_of_two_samples)
{
	struct target_lun old[] = { { .busy_ns = 300, .queued = 9 } };
	struct target_lun new[] = { { .busy_ns = 500, .queued = 4 } };
	struct target_luns before = { old, 1 }, now = { new, 1 };

	target_luns_subtract_earlier_counts(&now, &before);
	CHECK_EQ(new[0].busy_ns, 200);
	CHECK_EQ(new[0].queued, 4);
	/* Counters restart at 0 when a device of the same name is created anew. */
	old[0].busy_ns = 1000;
	target_luns_subtract_earlier_counts(&now, &before);
	CHECK_EQ(new[0].busy_ns, 200);
	before.count = 0;
	target_luns_subtract_earlier_counts(&now, &before);
	CHECK_EQ(new[0].busy_ns, 200);
}

int main(void)
{
	int ret;

	ret = tap_run_all();
	free(between.luns.list);
	return ret;
}
