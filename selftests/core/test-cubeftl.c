// SPDX-License-Identifier: GPL-2.0-only
/*
 * cubeFTL: word-line allocation, parameters from leaders, write speed-up, misprogrammed word lines,
 * reads of old data.
 */
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/nand/physics-tables.h"
#include "core/policy/layer-params.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define SHAPE "channels=2 chips=1 blocks=48 layers=6 word_lines=4 bits=3 one_shot=on page=16KiB " \
	"unit=0"

/* Listener that checks every program which the core reports to the host. */
struct watch {
	struct test_listener listener;
	u64 leaders;
	u64 followers;
	u32 layer_switches;
	u32 last_layer;
};

static struct test_device device;
static struct watch watch;

static void check_programmed_word_line(aftl_ppn_t ppn)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	const struct aftl_block *block = aftl_block_of_ppn(media, ppn);
	u32 pages = media->geo->pages;
	u32 page = aftl_page_of_ppn(media, ppn) % pages;
	u32 in_line = page % 3;
	u32 line = page / 3 % 4;
	u32 layer = page / 12;
	u32 mode = aftl_page_mode(aftl_block_page_attr(media, block, page));

	if (in_line)
		return;
	CHECK_MSG(line == 0 || aftl_page_is_programmed(media, block, layer * 12),
		  "follower %u of layer %u before its leader", line, layer);
	CHECK_EQ(mode, line ? AFTL_MODE_FOLLOWER : AFTL_MODE_NORMAL);
	*(line ? &watch.followers : &watch.leaders) += 1;
	watch.layer_switches += layer != watch.last_layer;
	watch.last_layer = layer;
}

static void check_word_line_of_programmed_unit(struct test_listener *listener, u32 tag,
					       aftl_lpn_t lpn, aftl_ppn_t ppn)
{
	check_programmed_word_line(ppn);
}

static void check_word_line_of_copied_unit(struct test_listener *listener, aftl_lpn_t lpn,
					   aftl_ppn_t from, aftl_ppn_t to)
{
	check_programmed_word_line(to);
}

static void open_device(const char *policy, const char *params)
{
	test_open_demo_profile(&device, policy, params);
	watch = (struct watch){ .listener = { .program = check_word_line_of_programmed_unit,
					      .copy = check_word_line_of_copied_unit } };
}

static void check_open_block_count(u32 limit)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 lun;
	u32 i;

	for (lun = 0; lun < media->geo->luns; lun++) {
		u32 open = 0;

		for (i = 0; i < media->geo->blocks_per_lun; i++)
			open += media->blocks[lun * media->geo->blocks_per_lun + i].state ==
				AFTL_BLOCK_OPEN;
		CHECK(open <= limit);
	}
}

/* Check the number of free leader word lines while a write buffer fills and drains. */
static void check_free_leader_word_lines(const char *policy, u32 limit)
{
	static struct shadow_store store;
	struct test_stream stream;
	u32 i;

	open_device(policy, SHAPE " op=50 buffer=1MiB");
	test_device_add_listener(&device, &watch.listener);
	shadow_attach_to_device(&store, &device, false);
	test_stream_init(&stream, limit);
	for (i = 0; i < 20000 && !tap_failure_count(); i++) {
		stream.gap_ns = i / 1000 % 2 ? 100000 : 3000000;
		test_stream_submit_request(&stream, &device);
		check_open_block_count(limit);
	}
	test_drain_requests(&device);
	CHECK(test_counters(&device)->gc_blocks > 50);
	CHECK(watch.leaders > 1000 && watch.followers > watch.leaders);
}

TAP_TEST(followers_come_after_their_leader, "CU-2: cubeftl programs followers after their leader")
{
	check_free_leader_word_lines("cubeftl", 2);
}

TAP_TEST(followers_of_cubeftl_minus_come_after_their_leader,
	 "CU-2: cubeftl_minus programs followers after their leader")
{
	check_free_leader_word_lines("cubeftl_minus", 1);
}

/* A nearly empty write buffer selects leaders, a full one followers. */
TAP_TEST(write_buffer_use_selects_leaders_or_followers)
{
	u32 i;

	open_device("cubeftl", SHAPE " channels=1 op=50 buffer=1MiB burst=50");
	test_device_add_listener(&device, &watch.listener);
	/* The two open blocks have six layers each: twelve leader word lines of three pages. */
	for (i = 0; i < 12; i++) {
		test_execute_request(&device, AFTL_OP_WRITE, 3 * i, 3, AFTL_PRECISE, NULL);
		test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL);
	}
	CHECK_EQ(watch.leaders, 12);
	CHECK_EQ(watch.followers, 0);
	/* If over half of the write buffer's 64 entries are used, followers are programmed. */
	for (i = 0; i < 50; i++)
		test_submit_io(&device, AFTL_OP_WRITE, 100 + 3 * i, 3, AFTL_PRECISE, 0, 0);
	while (watch.followers + watch.leaders < 36 && test_process_event(&device))
		;
	CHECK_EQ(watch.leaders, 12);
	CHECK_EQ(watch.followers, 24);
}

/* GC selects leaders and followers by the same rule as host writes. */
TAP_TEST(relocation_follows_write_buffer_use_too)
{
	struct aftl_program_request need = { .units = 3, .cause = AFTL_CAUSE_GC };
	struct aftl_placement placement = { 0 };
	u32 use;

	open_device("cubeftl", SHAPE " channels=1 op=50 buffer=1MiB burst=50");
	test_execute_request(&device, AFTL_OP_WRITE, 0, 3, AFTL_PRECISE, NULL);
	test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL);
	for (use = 0; use <= 10000; use += 10000) {
		need.buffer_use = use;
		need.from = device.ftl->media.blocks;
		CHECK_EQ(aftl_policy_type(device.ftl)->place(device.ftl->policy, device.ftl->luns,
							     &need, &placement), 0);
		CHECK_EQ(placement.page % 12 != 0, use == 10000);
	}
}

/* ISPP steps of followers if the allowed errors are @tenths / 10 times the leader's errors. */
static struct aftl_ispp ispp_of_spare_margin(u32 tenths, u32 early)
{
	struct aftl_program_result outcome = {
		.errors = AFTL_CUBE_EP1_MAX_Q12 * 10 / tenths,
		.early = early,
	};

	return aftl_get_follower_ispp(aftl_encode_leader_program_result(&outcome));
}

/* Program time of a follower word line in a new block with the ISPP steps @ispp. */
static u64 measure_follower_line_program_ns(const char *program, struct aftl_ispp ispp)
{
	struct aftl_program_command command = { .pages = 3,
						.mode = AFTL_MODE_FOLLOWER,
						.ispp = ispp };
	struct aftl_program_result outcome;

	open_device("cubeftl", test_format_params(SHAPE " op=50 program=%s", program));
	command.block = aftl_media(device.ftl)->blocks;
	aftl_chip_program(&device.ftl->chip, &command, &outcome);
	return outcome.ns;
}

/* The paper gives a follower's program time for no spare margin, and for a margin of 1.7. */
TAP_TEST(followers_are_as_fast_as_their_margin, "CU-1: follower time follows from the margin")
{
	u64 none = measure_follower_line_program_ns("700us", ispp_of_spare_margin(10, 3));
	struct aftl_ispp last = ispp_of_spare_margin(30, 0);
	u32 tenths;

	CHECK_EQ(none, 586600);
	CHECK_EQ(measure_follower_line_program_ns("1400us", ispp_of_spare_margin(10, 3)), 2 * none);
	CHECK_RANGE(measure_follower_line_program_ns("700us", ispp_of_spare_margin(17, 3)), 480000,
		    490000);
	CHECK_EQ(measure_follower_line_program_ns("700us", last),
		 aftl_cube_program_ns[0][AFTL_CUBE_MAX_REMOVED_LOOPS]);
	CHECK(measure_follower_line_program_ns("700us", ispp_of_spare_margin(10, 2)) > none);
	CHECK(measure_follower_line_program_ns("700us", ispp_of_spare_margin(10, 4)) < none);
	for (tenths = 30; tenths; tenths--) {
		struct aftl_ispp ispp = ispp_of_spare_margin(tenths, 0);

		CHECK(ispp.start_mv <= last.start_mv && ispp.final_mv <= last.final_mv);
		last = ispp;
	}
	CHECK(aftl_ispp_is_default(&last));
}

/* Write each word line of a block alone; return the sum of the latencies. */
static u64 measure_word_line_latencies(const char *policy, u64 *ns, u32 lines)
{
	u64 sum = 0;
	u32 i;

	open_device(policy, "channels=1 chips=1 blocks=48 layers=6 word_lines=4 bits=3 one_shot=on "
			    "page=16KiB unit=0");
	for (i = 0; i < lines; i++) {
		ns[i] = test_measure_io_ns(&device, AFTL_OP_WRITE, i * 3, 3, AFTL_PRECISE);
		sum += ns[i];
	}
	return sum;
}

/* vertFTL lowers the last program voltage by a fixed amount for each layer, pageFTL never. */
TAP_TEST(vertftl_shortens_programs_by_layer)
{
	u64 plain[24], ns[24];
	u64 sum = measure_word_line_latencies("pageftl", plain, ARRAY_SIZE(plain));
	u32 shorter = 0;
	u32 i;

	for (i = 1; i < ARRAY_SIZE(plain); i++)
		CHECK_EQ(plain[i], plain[0]);
	CHECK_RANGE(measure_word_line_latencies("vertftl", ns, ARRAY_SIZE(ns)), sum * 85 / 100,
		    sum * 97 / 100);
	for (i = 0; i < ARRAY_SIZE(ns); i++) {
		CHECK_EQ(ns[i], ns[i / 4 * 4]);
		shorter += ns[i] != ns[0];
	}
	CHECK_RANGE(shorter, 4, 20);
}

static u32 count_stored_leader_word_line_params(void)
{
	const u16 *shown = device.ftl->policy->arrays[0];
	u32 kept = 0;
	u32 i;

	for (i = 0; i < 2 * 2 * 6; i++)
		kept += shown[i] != 0;
	return kept;
}

/* cubeFTL keeps a leader's parameters until the last follower of the layer is programmed. */
TAP_TEST(parameters_are_kept_while_followers_pend, "CU-2: parameters are kept while followers pend")
{
	u32 i;

	open_device("cubeftl_minus", SHAPE " op=50");
	CHECK_EQ(count_stored_leader_word_line_params(), 0);
	for (i = 0; i < 2 * 4 * 6; i++) {
		test_execute_request(&device, AFTL_OP_WRITE, 3 * i, 3, AFTL_PRECISE, NULL);
		/* Writes alternate between two dies: two writes program a word line on each die. */
		if (i % 2)
			CHECK_EQ(count_stored_leader_word_line_params(), i / 2 % 4 == 3 ? 0 : 2);
	}
}

static bool is_page_misprogrammed(const struct aftl_block *block, u32 page)
{
	const struct aftl_media *media = aftl_media(device.ftl);

	return aftl_page_is_overprogrammed(aftl_block_page_attr(media, block, page));
}

/* Return the number of valid pages in misprogrammed word lines; count these lines in @lines. */
static u32 count_misprogrammed_valid_pages(u32 *lines)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 found = 0;
	u32 i;
	u32 page;

	*lines = 0;
	for (i = 0; i < media->geo->blocks; i++) {
		for (page = 0; page < media->geo->pages; page++) {
			if (!is_page_misprogrammed(&media->blocks[i], page))
				continue;
			*lines += page % 3 == 0;
			found += aftl_page_has_valid_data(media, &media->blocks[i], page);
		}
	}
	return found;
}

static u32 count_pending_repeated_programs(void)
{
	u32 pending = 0;
	u32 i;

	for (i = 0; i < device.ftl->geo.luns; i++)
		pending += device.ftl->luns[i].repeat_blocks;
	return pending;
}

/* Every misprogrammed word line must be programmed again, also if GC delays the repetitions. */
static void check_misprogrammed_data_are_rewritten(const char *policy)
{
	static struct shadow_store store;
	struct test_stream stream;
	u32 lines;
	u32 i;

	open_device(policy, SHAPE " op=50 buffer=1MiB misprograms=5e-2");
	shadow_attach_to_device(&store, &device, true);
	test_stream_init(&stream, 7);
	for (i = 0; i < 12000 && !tap_failure_count(); i++) {
		stream.gap_ns = i / 1000 % 2 ? 100000 : 3000000;
		test_stream_submit_request(&stream, &device);
	}
	test_drain_requests(&device);
	test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL);
	test_advance_clock_by(&device, 10000000000ULL);
	CHECK_EQ(count_pending_repeated_programs(), 0);
	CHECK_EQ(count_misprogrammed_valid_pages(&lines), 0);
	CHECK(lines > 3);
	CHECK(test_counters(&device)->repeated_programs > 100);
	CHECK(test_counters(&device)->gc_blocks > 50);
}

TAP_TEST(bad_followers_are_programmed_once_more,
	 "CU-10: misprogrammed followers are repeated without data loss")
{
	check_misprogrammed_data_are_rewritten("cubeftl");
	check_misprogrammed_data_are_rewritten("cubeftl_minus");
}

/* After a misprogrammed follower the next word line of its layer is monitored, and slower. */
TAP_TEST(a_bad_follower_refreshes_the_parameters,
	 "CU-10: a misprogrammed follower refreshes the parameters")
{
	const struct aftl_media *media;
	u32 monitored = 0;
	u32 page;
	u32 i;

	open_device("cubeftl_minus", SHAPE " channels=1 op=50 misprograms=2e-1");
	for (i = 0; i < 60; i++)
		test_execute_request(&device, AFTL_OP_WRITE, 3 * i, 3, AFTL_PRECISE, NULL);
	media = aftl_media(device.ftl);
	for (i = 0; i < media->geo->blocks; i++) {
		const struct aftl_block *block = &media->blocks[i];

		for (page = 3; page < media->geo->pages; page += 3) {
			u16 attr = aftl_block_page_attr(media, block, page);
			bool normal = attr && aftl_page_mode(attr) == AFTL_MODE_NORMAL;

			if (!attr || page % 12 == 0)
				continue;
			CHECK_EQ(normal, is_page_misprogrammed(block, page - 3));
			monitored += normal;
		}
	}
	CHECK(monitored > 3);
}

static u64 measure_cubeftl_read_ns(u32 unit)
{
	u64 before = test_counters(&device)->array_read_ns;

	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, unit, 1, AFTL_PRECISE, NULL), 0);
	return test_counters(&device)->array_read_ns - before;
}

#define OLD SHAPE " op=30 fill=sequential cycles=2000 age=365d read=60us refresh=0 errors=off"

/* The first read of a layer takes retries, later reads take few, and a repeated read none. */
TAP_TEST(reads_learn_the_references_of_their_layer,
	 "CU-6: read references of a layer are remembered")
{
	u64 first = 0;
	u64 second = 0;
	u64 others = 0;
	u32 unit;

	open_device("cubeftl", OLD);
	for (unit = 0; unit + 36 < 2 * 36 * 20; unit++) {
		u64 ns = measure_cubeftl_read_ns(unit);

		first += ns;
		second += measure_cubeftl_read_ns(unit);
		others += ns > 60000 + 4 * 60000;
	}
	CHECK_EQ(second, unit * 60000ULL);
	CHECK(first > second + unit * 30000ULL && first < second + unit * 90000ULL);
	CHECK_EQ(others, 0);
}

TAP_TEST(default_references_are_always_off, "CU-6: default references need retries at each read")
{
	u64 total = 0;
	u32 unit;

	open_device("pageftl", OLD);
	for (unit = 0; unit < 1000; unit++) {
		u64 ns = measure_cubeftl_read_ns(unit);

		CHECK_EQ(measure_cubeftl_read_ns(unit), ns);
		total += ns;
	}
	/* On average, reads take three retries in 90 % of the layers. */
	CHECK_RANGE(total / 1000, 60000 + 2.3 * 60000, 60000 + 3.1 * 60000);
}

/* Retry counts never decrease with age. */
TAP_TEST(retries_never_decrease_with_age, "CU-6: retries never decrease with age")
{
	static u64 before[500];
	u32 month;
	u32 unit;

	open_device("vertftl", OLD " age=1d");
	for (month = 0; month < 12; month++) {
		for (unit = 0; unit < ARRAY_SIZE(before); unit++) {
			u64 ns = measure_cubeftl_read_ns(unit);

			CHECK(ns >= before[unit]);
			before[unit] = ns;
		}
		aftl_advance_age(device.ftl, 30 * 24 * AFTL_HOUR_NS);
	}
}
