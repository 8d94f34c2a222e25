// SPDX-License-Identifier: GPL-2.0-only
/*
 * ECC-parity lending: which pages lend parity to which, refused loans, and faster reads.
 */
#include "core/ftl/controller.h"
#include "stream.h"
#include "tap.h"

/* Blocks of eleven program steps: six in the first half, five in the second half. */
#define HALF 6
#define STEPS 11
#define SHAPE "channels=1 chips=1 blocks=60 layers=11 word_lines=1 bits=1 page=4KiB unit=4KiB " \
	"op=40%"

enum { KIND_BORROWERS, KIND_LENDERS, KIND_NEXT, KIND_PRECISE, KIND_APPROX };

static struct test_device device;
static u32 moved_lenders;
static u32 wrong_loans;

static u16 read_page_attr(u32 block, u32 page)
{
	const struct aftl_media *media = aftl_media(device.ftl);

	return *aftl_page_attr_ptr(media, block * media->geo->pages + page);
}

static bool page_stores_lent_parity(u32 block, u32 page)
{
	return aftl_page_mode(read_page_attr(block, page)) == AFTL_MODE_LENDING;
}

static void check_lending_event(void *host, const struct aftl_array_event *event)
{
	u16 borrower;

	if (event->op != AFTL_ARRAY_PROGRAM || event->mode != AFTL_MODE_LENDING)
		return;
	moved_lenders += event->cause == AFTL_CAUSE_GC;
	borrower = read_page_attr(event->block, event->page - HALF);
	wrong_loans += event->page < HALF || !borrower || aftl_page_class(borrower) != AFTL_PRECISE;
}

static void check_all_lent_parity_was_legal(struct test_listener *self)
{
	CHECK_EQ(wrong_loans, 0);
}

static void open_device(const char *params)
{
	static struct test_listener last = { .finish = check_all_lent_parity_was_legal };

	test_device_init(&device, "demo");
	test_device_set_params(&device, SHAPE);
	device.ops.array = check_lending_event;
	moved_lenders = 0;
	wrong_loans = 0;
	test_device_open(&device, "lending", params);
	test_device_add_listener(&device, &last);
}

static u32 page_of_unit(u32 unit)
{
	return aftl_page_of_ppn(aftl_media(device.ftl), test_lookup(&device, unit)) % STEPS;
}

/* Check that @unit is at @page of a block of kind @kind, which also stores unit @with. */
static void check_page_and_block_kind_of_unit(u32 unit, u32 with, u32 page, u32 kind)
{
	CHECK(test_block_of(&device, unit) == test_block_of(&device, with));
	CHECK_EQ(page_of_unit(unit), page);
	CHECK_EQ(test_block_of(&device, unit)->kind, kind);
}

static bool unit_page_stores_lent_parity(u32 unit)
{
	return page_stores_lent_parity(aftl_block_index(aftl_media(device.ftl),
							test_block_of(&device, unit)),
				       page_of_unit(unit));
}

TAP_TEST(approximate_pages_lend_to_precise_pages_half_a_block_before)
{
	open_device(NULL);
	/* The first approximate page lends no parity, because there is no precise page yet. */
	test_write_each_unit(&device, 100, 1, AFTL_APPROX);
	CHECK(!unit_page_stores_lent_parity(100));
	test_write_each_unit(&device, 0, HALF - 1, AFTL_PRECISE);
	/* Approximate data lend no parity before precise data fill the first half of a block. */
	test_write_each_unit(&device, 101, 1, AFTL_APPROX);
	check_page_and_block_kind_of_unit(101, 100, 1, KIND_APPROX);
	test_write_each_unit(&device, HALF - 1, 1, AFTL_PRECISE);
	check_page_and_block_kind_of_unit(HALF - 1, 0, HALF - 1, KIND_LENDERS);
	test_write_each_unit(&device, 102, 1, AFTL_APPROX);
	check_page_and_block_kind_of_unit(102, 0, HALF, KIND_LENDERS);
	CHECK(unit_page_stores_lent_parity(102) && !unit_page_stores_lent_parity(0));
	/*
	 * While two half-full blocks wait for approximate data that lend parity, further precise
	 * data open a block without lending.
	 */
	test_write_each_unit(&device, 10, HALF, AFTL_PRECISE);
	CHECK(test_block_of(&device, 10) != test_block_of(&device, 0));
	check_page_and_block_kind_of_unit(10 + HALF - 1, 10, HALF - 1, KIND_NEXT);
	test_write_each_unit(&device, 30, STEPS, AFTL_PRECISE);
	check_page_and_block_kind_of_unit(30 + STEPS - 1, 30, STEPS - 1, KIND_PRECISE);
	CHECK_EQ(test_block_of(&device, 30)->state, AFTL_BLOCK_CLOSED);
	test_write_each_unit(&device, 103, STEPS - HALF - 1, AFTL_APPROX);
	check_page_and_block_kind_of_unit(103 + STEPS - HALF - 2, 0, STEPS - 1, KIND_LENDERS);
	CHECK_EQ(test_block_of(&device, 0)->state, AFTL_BLOCK_CLOSED);
	test_write_each_unit(&device, 110, STEPS - HALF, AFTL_APPROX);
	check_page_and_block_kind_of_unit(110, 10, HALF, KIND_NEXT);
	CHECK(unit_page_stores_lent_parity(110));
	CHECK_EQ(test_block_of(&device, 10)->state, AFTL_BLOCK_CLOSED);
	test_write_each_unit(&device, 120, 1, AFTL_APPROX);
	check_page_and_block_kind_of_unit(120, 100, 2, KIND_APPROX);
}

/* Model of the sensing levels that @raw errors need if @lent bits of parity were lent. */
static u32 get_expected_sensing_levels(u32 raw, u32 correctable, u32 lent)
{
	u32 levels = 0;

	while (raw > correctable + levels * (correctable / 4))
		levels++;
	if (levels && lent) {
		u32 with = 1;

		while (raw > correctable + lent + (with - 1) * (correctable / 4))
			with++;
		levels = min(levels, with);
	}
	return levels;
}

static struct aftl_errors errors_of_unit(u32 unit)
{
	return aftl_cell_read_errors(aftl_cell(device.ftl), test_lookup(&device, unit),
				     aftl_device_age_hours(device.ftl));
}

/* ECC corrects 160 bits in a unit of 4 KiB. */
static void check_sensing_levels_with_loan(const char *rber, const char *share, u32 lent)
{
	u32 i;

	open_device(test_format_params("rber=%s ecc_lent=%s ecc_bits=40", rber, share));
	for (i = 0; i < 100; i++) {
		u32 first = i * STEPS;
		u32 unit = first % (test_unit_count(&device) - STEPS);

		test_write_each_unit(&device, unit, HALF, AFTL_PRECISE);
		CHECK_EQ(errors_of_unit(unit).levels,
			 get_expected_sensing_levels(errors_of_unit(unit).raw, 160, 0));
		test_write_each_unit(&device, unit + HALF, STEPS - HALF, AFTL_APPROX);
		CHECK(unit_page_stores_lent_parity(unit + HALF));
		CHECK_EQ(errors_of_unit(unit).levels,
			 get_expected_sensing_levels(errors_of_unit(unit).raw, 160, lent));
		CHECK_EQ(errors_of_unit(unit).lost, errors_of_unit(unit).levels > 6);
		/* A block has eleven program steps; the sixth step gets no lent parity. */
		CHECK_EQ(errors_of_unit(unit + HALF - 1).levels,
			 get_expected_sensing_levels(errors_of_unit(unit + HALF - 1).raw, 160, 0));
	}
	CHECK_EQ(test_counters(&device)->programmed_gc_units, 0);
}

TAP_TEST(lent_parity_saves_sensing_levels)
{
	check_sensing_levels_with_loan("5e-3", "50%", 80);
	check_sensing_levels_with_loan("8e-3", "50%", 80);
	check_sensing_levels_with_loan("1.2e-2", "100%", 160);
	check_sensing_levels_with_loan("6e-3", "10%", 16);
	check_sensing_levels_with_loan("6e-3", "0", 0);
}

static bool chip_allows_program_with_lent_parity(u32 block, u32 page, u32 class)
{
	struct aftl_program_command program = {
		.block = &aftl_media(device.ftl)->blocks[block], .page = page, .pages = 1,
		.mode = AFTL_MODE_LENDING, .class = class,
	};

	return aftl_chip_allows_program(&device.ftl->chip, &program);
}

/* A page may lend only to a precise programmed page of a block that is filled in sequence. */
TAP_TEST(the_chip_refuses_illegal_lending)
{
	struct aftl_media *media;
	struct aftl_block *block;
	u32 index;
	u16 kept;

	open_device(NULL);
	test_write_each_unit(&device, 0, HALF - 1, AFTL_PRECISE);
	media = &device.ftl->media;
	block = test_block_of(&device, 0);
	index = aftl_block_index(media, block);
	CHECK(!chip_allows_program_with_lent_parity(index, HALF - 1, AFTL_APPROX));
	test_write_each_unit(&device, HALF - 1, 1, AFTL_PRECISE);
	CHECK(chip_allows_program_with_lent_parity(index, HALF, AFTL_APPROX));
	CHECK(!chip_allows_program_with_lent_parity(index, HALF, AFTL_PRECISE));
	CHECK(!chip_allows_program_with_lent_parity(index, HALF + 1, AFTL_APPROX));
	kept = *aftl_page_attr_ptr(media, index * STEPS);
	*aftl_page_attr_ptr(media, index * STEPS) =
		aftl_page_attr(AFTL_APPROX, AFTL_MODE_NORMAL, 0);
	CHECK(!chip_allows_program_with_lent_parity(index, HALF, AFTL_APPROX));
	*aftl_page_attr_ptr(media, index * STEPS) = 0;
	CHECK(!chip_allows_program_with_lent_parity(index, HALF, AFTL_APPROX));
	*aftl_page_attr_ptr(media, index * STEPS) = kept;
	block->order = AFTL_ORDER_LEADER_FIRST;
	CHECK(!chip_allows_program_with_lent_parity(index, HALF, AFTL_APPROX));
	block->order = AFTL_ORDER_SEQUENTIAL;
	CHECK(chip_allows_program_with_lent_parity(index, HALF, AFTL_APPROX));
}

/* Relocation of a block moves precise pages first, to which approximate ones can lend parity. */
TAP_TEST(relocated_approximate_pages_lend_parity)
{
	struct test_stream stream;
	u32 i;

	open_device("fill=sequential fill_approx=50%");
	test_stream_init(&stream, 7);
	for (i = 0; i < 4000 && test_stream_submit_request(&stream, &device); i++)
		;
	CHECK(test_drain_requests(&device));
	CHECK(moved_lenders > 100);
	CHECK(aftl_get_stats(device.ftl)->mode_pages[AFTL_MODE_LENDING] > 1000);
}

TAP_TEST(a_victims_pages_lend_to_each_other_after_relocation)
{
	const struct aftl_block *was;
	u32 i;

	open_device(NULL);
	test_write_each_unit(&device, 0, HALF, AFTL_PRECISE);
	test_write_each_unit(&device, HALF, STEPS - HALF, AFTL_APPROX);
	was = test_block_of(&device, 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_DISCARD, STEPS - 2, 2, AFTL_PRECISE, NULL),
		 0);
	CHECK_EQ(aftl_start_lun_gc(device.ftl, 0), 0);
	CHECK(test_drain_requests(&device));
	test_advance_clock_by(&device, AFTL_HOUR_NS);
	CHECK(test_block_of(&device, 0) != was);
	for (i = 0; i < HALF; i++)
		check_page_and_block_kind_of_unit(i, 0, i, KIND_LENDERS);
	for (i = HALF; i < STEPS - 2; i++)
		CHECK(unit_page_stores_lent_parity(i));
}

TAP_TEST(a_loaded_device_continues_its_lending_blocks)
{
	open_device(NULL);
	test_write_each_unit(&device, 0, HALF, AFTL_PRECISE);
	test_write_each_unit(&device, HALF, 1, AFTL_APPROX);
	test_write_each_unit(&device, 20, 2, AFTL_PRECISE);
	CHECK_EQ(test_device_reload(&device), 0);
	test_write_each_unit(&device, HALF + 1, 1, AFTL_APPROX);
	check_page_and_block_kind_of_unit(HALF + 1, 0, HALF + 1, KIND_LENDERS);
	CHECK(unit_page_stores_lent_parity(HALF + 1));
	test_write_each_unit(&device, 22, 1, AFTL_PRECISE);
	check_page_and_block_kind_of_unit(22, 20, 2, KIND_BORROWERS);
	/* A load closes two blocks whose kinds a forged snapshot swaps. */
	test_block_of(&device, 20)->kind = KIND_LENDERS;
	test_block_of(&device, 0)->kind = KIND_BORROWERS;
	CHECK_EQ(test_device_reload(&device), 0);
	CHECK_EQ(test_block_of(&device, 20)->state, AFTL_BLOCK_CLOSED);
	CHECK_EQ(test_block_of(&device, 0)->state, AFTL_BLOCK_CLOSED);
	test_write_each_unit(&device, HALF + 2, 1, AFTL_APPROX);
	CHECK(!unit_page_stores_lent_parity(HALF + 2));
}
