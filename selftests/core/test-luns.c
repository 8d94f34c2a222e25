// SPDX-License-Identifier: GPL-2.0-only
/*
 * Array events show that each allocation rule selects the LUN that its definition gives.
 */
#include "core/base/random.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun-allocation.h"
#include "core/ftl/lun.h"
#include "tap.h"
#include "test-device.h"

#define CHANNELS 2
#define CHIPS 3
#define DIES 2
#define PLANES 2
#define LUNS (CHANNELS * CHIPS * DIES * PLANES)

static const char shape[] =
	"channels=2 chips=3 dies=2 planes=2 plane_mode=independent blocks=20 op=30 unit=8192 "
	"errors=off";

static struct test_device device;
static u32 told[4 * LUNS];
static u32 count;

static void record_lun_of_program_event(void *host, const struct aftl_array_event *event)
{
	if (event->op == AFTL_ARRAY_PROGRAM && count < ARRAY_SIZE(told))
		told[count++] = event->lun;
}

static void open_device(const char *allocate, const char *stripe)
{
	test_device_init(&device, "demo");
	test_device_set_param_text(&device, "allocate", allocate);
	test_device_set_param_text(&device, "stripe", stripe);
	device.ops.array = record_lun_of_program_event;
	count = 0;
	test_device_open(&device, "baseline", shape);
}

static void write_single_page(u32 unit)
{
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, unit, 1, AFTL_PRECISE, NULL), 0);
}

/* Number of channels, chips, dies or planes that @letter (C, W, D or P) stands for. */
static u32 count_parallel_units_by_cwdp_letter(char letter)
{
	return letter == 'c' ? CHANNELS : letter == 'w' ? CHIPS : letter == 'd' ? DIES : PLANES;
}

static u32 find_lun_stride_of_cwdp(char letter)
{
	static const char letters[] = "cwdp";
	const char *before;
	u32 step = 1;

	for (before = letters; *before != letter; before++)
		step *= count_parallel_units_by_cwdp_letter(*before);
	return step;
}

/* The first letter of an allocation order is the innermost of four nested loops. */
static void compute_expected_lun_allocation_order(const char *word, u32 expected[LUNS])
{
	u32 i = 0;
	u32 a;
	u32 b;
	u32 c;
	u32 d;

	for (d = 0; d < count_parallel_units_by_cwdp_letter(word[3]); d++)
		for (c = 0; c < count_parallel_units_by_cwdp_letter(word[2]); c++)
			for (b = 0; b < count_parallel_units_by_cwdp_letter(word[1]); b++)
				for (a = 0; a < count_parallel_units_by_cwdp_letter(word[0]); a++)
					expected[i++] = a * find_lun_stride_of_cwdp(word[0]) +
							b * find_lun_stride_of_cwdp(word[1]) +
							c * find_lun_stride_of_cwdp(word[2]) +
							d * find_lun_stride_of_cwdp(word[3]);
}

static void check_allocation_order(const char *word)
{
	u32 expected[LUNS];
	u32 i;

	compute_expected_lun_allocation_order(word, expected);
	open_device("rotate", word);
	for (i = 0; i < 2 * LUNS; i++)
		write_single_page(7 * i % 100);
	for (i = 0; i < 2 * LUNS; i++)
		CHECK_EQ(told[i], expected[(i + 1) % LUNS]);
	open_device("static", word);
	for (i = 0; i < 2 * LUNS; i++)
		write_single_page(7 * i % 100);
	for (i = 0; i < 2 * LUNS; i++)
		CHECK_EQ(told[i], expected[7 * i % 100 % LUNS]);
}

TAP_TEST(the_stripe_letters_give_the_allocation_order)
{
	const char *const *word = aftl_param_at(aftl_param_find("stripe"))->words;
	u32 words;

	for (words = 0; word[words]; words++)
		check_allocation_order(word[words]);
	CHECK_EQ(words, 24);
}

/* Reads keep half of the LUNs busy: writes go to the idle half while it has less work. */
TAP_TEST(least_busy_selects_a_lun_with_the_least_work)
{
	u32 work[LUNS] = { 0 };
	u32 idle = 0;
	u32 i;

	open_device("least_busy", "cwdp");
	for (i = 0; i < LUNS; i++)
		write_single_page(i);
	count = 0;
	for (i = 0; i < LUNS; i++) {
		u32 reads = i % 2 ? i % 5 : 0;

		work[told[i]] = reads;
		idle += !reads;
		while (reads--)
			test_submit_io(&device, AFTL_OP_READ, i, 1, AFTL_PRECISE, 0,
				       aftl_device_time_ns(device.ftl));
	}
	for (i = 0; i < 2 * LUNS; i++)
		test_submit_io(&device, AFTL_OP_WRITE, 100 + i, 1, AFTL_PRECISE, 0,
			       aftl_device_time_ns(device.ftl));
	/* Only programs on idle LUNs start at once; array() reports the other programs later. */
	for (i = 0; i < count; i++)
		CHECK_EQ(work[told[i]], 0);
	CHECK_RANGE(idle, 1, LUNS - 1);
	CHECK_EQ(count, idle);
}

/* Writes go to LUNs with fewer waiting reads: each second LUN has three reads that wait. */
TAP_TEST(waiting_requests_count_as_work_of_a_lun)
{
	bool busy[LUNS] = { false };
	u32 i;

	open_device("least_busy", "cwdp");
	for (i = 0; i < LUNS; i++)
		write_single_page(i);
	for (i = 0; i < LUNS; i++) {
		u32 reads = i % 2 ? 4 : 1;

		busy[told[i]] = i % 2;
		while (reads--)
			test_submit_io(&device, AFTL_OP_READ, i, 1, AFTL_PRECISE, 0,
				       aftl_device_time_ns(device.ftl));
	}
	count = 0;
	for (i = 0; i < LUNS / 2; i++)
		test_submit_io(&device, AFTL_OP_WRITE, 100 + i, 1, AFTL_PRECISE, 0,
			       aftl_device_time_ns(device.ftl));
	test_drain_requests(&device);
	CHECK_EQ(count, LUNS / 2);
	for (i = 0; i < count; i++)
		CHECK(!busy[told[i]]);
}

/* Writes skip the first LUN in the rotation, because it has no free page. */
TAP_TEST(a_full_lun_is_skipped)
{
	struct aftl_lun *full;
	u32 turn;

	open_device("rotate", "cwdp");
	turn = device.ftl->allocation.turn;
	full = &device.ftl->luns[aftl_lun_by_allocation_order(&device.ftl->geo, turn)];
	full->in_flight = full->max_valid;
	CHECK_EQ(aftl_allocate_lun(device.ftl, NULL, to_lpn(0), AFTL_PRECISE, 0, 1)->index,
		 aftl_lun_by_allocation_order(&device.ftl->geo, turn + 1));
	full->in_flight = 0;
	device.ftl->allocation.turn = turn;
	CHECK_EQ(aftl_allocate_lun(device.ftl, NULL, to_lpn(0), AFTL_PRECISE, 0, 1)->index,
		 full->index);
}

/* If all LUNs are idle, the rule "least_busy" selects them in rotation. */
TAP_TEST(least_busy_rotates_among_idle_luns)
{
	u32 i;

	open_device("least_busy", "cwdp");
	for (i = 0; i < 2 * LUNS; i++)
		write_single_page(i);
	for (i = 0; i < 2 * LUNS; i++)
		CHECK_EQ(told[i], (i + 1) % LUNS);
}

