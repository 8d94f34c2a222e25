// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two-pass programs of four-bit word lines: order, time, and that data between passes can be read
 * and are never lost.
 */
#include "bytes.h"
#include "core/ftl/fine-pass.h"
#include "core/ftl/fine-pending.h"
#include "core/ftl/lun.h"
#include "core/ftl/superblock-gc.h"
#include "core/ftl/translation-page.h"
#include "core/hif/hif.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define COARSE_NS 310000
#define FINE_NS 770000
#define WORD_LINES 12
/* Units in a word line, one for each page. */
#define LINE 4

#define SHAPE "blocks=40 layers=4 word_lines=3 bits=4 one_shot=on passes=2 program_foggy=310us " \
	"program=770us page=4KiB unit=4KiB bus=100000"
#define ONE_DIE "channels=1 chips=1 " SHAPE

static const char slow[] = ONE_DIE " op=40% buffer=256KiB buffer_hold=1s buffer_high=0";

static struct test_device device;
static struct shadow_store store;
static struct test_stream stream;

/* Account of a block, independent of the core: passes started since the block's erase. */
struct account {
	u32 coarse;
	u32 fine;
};

static struct account accounts[4096];
static u64 spent_ns;
static u32 coarse_passes;
static u32 fine_passes;
/* Number of fine passes in blocks that were closed before their last coarse pass. */
static u32 early_fine_passes;
static bool may_end_early;
static bool reloading;

static void check_program_pass(const struct aftl_array_event *event, u32 lines, u32 line)
{
	struct account *account = &accounts[event->block];

	if (event->mode == AFTL_MODE_FOGGY) {
		CHECK_EQ(line, account->coarse);
		CHECK_MSG(account->fine + 1 >= account->coarse,
			  "word line %u of block %u is begun while %u has waited", line,
			  event->block, account->fine);
		account->coarse++;
		coarse_passes++;
		return;
	}
	CHECK_EQ(event->mode, AFTL_MODE_NORMAL);
	CHECK_EQ(line, account->fine);
	CHECK_MSG(line + 1 < account->coarse || account->coarse == lines ||
		  (may_end_early && line < account->coarse),
		  "word line %u of block %u is finished before its neighbour is begun", line,
		  event->block);
	early_fine_passes += line + 1 >= account->coarse && account->coarse < lines;
	account->fine++;
	fine_passes++;
}

static void check_pass_event(void *host, const struct aftl_array_event *event)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 step = media->geo->word_line_pages;

	if (reloading)
		return;
	if (event->op == AFTL_ARRAY_ERASE)
		accounts[event->block] = (struct account){ 0 };
	if (media->blocks[event->block].bits)
		return;
	if (event->op == AFTL_ARRAY_READ)
		CHECK_MSG(event->page / step < accounts[event->block].fine,
			  "page %u of block %u is read before its fine pass", event->page,
			  event->block);
	if (event->op != AFTL_ARRAY_PROGRAM)
		return;
	CHECK_EQ(event->page % step, 0);
	CHECK_EQ(event->pages, step);
	CHECK_EQ(event->array_ns, event->mode == AFTL_MODE_FOGGY ? COARSE_NS : FINE_NS);
	spent_ns += event->array_ns;
	check_program_pass(event, media->geo->pages / step, event->page / step);
}

static void reset_program_pass_counts(void)
{
	memset(accounts, 0, sizeof(accounts));
	spent_ns = 0;
	coarse_passes = 0;
	fine_passes = 0;
	early_fine_passes = 0;
	may_end_early = false;
}

static void open_device(const char *policy, const char *params)
{
	reset_program_pass_counts();
	test_device_init(&device, "demo");
	device.ops.array = check_pass_event;
	test_device_open(&device, policy, params);
	shadow_attach_to_device(&store, &device, false);
	test_stream_init(&stream, 5);
}

static void execute_request(enum aftl_op op, u32 unit, u32 units)
{
	CHECK_EQ(test_execute_request(&device, op, unit, units, AFTL_PRECISE, NULL), 0);
}

static bool units_are_on_flash(u32 first, u32 units)
{
	u32 found = 0;
	u32 i;

	for (i = first; i < first + units; i++)
		found += test_lookup(&device, i) != AFTL_NO_PPN;
	CHECK(!found || found == units);
	return found;
}

/* Expected order of a block's passes: word line, and 1 for a fine pass, 0 for a coarse one. */
TAP_TEST(the_passes_of_a_block_have_one_legal_order)
{
	static const u32 steps[][2] = {
		{ 0, 0 }, { 1, 0 }, { 0, 1 }, { 2, 0 }, { 1, 1 }, { 3, 0 }, { 2, 1 }, { 4, 0 },
		{ 3, 1 }, { 5, 0 }, { 4, 1 }, { 6, 0 }, { 5, 1 }, { 7, 0 }, { 6, 1 }, { 8, 0 },
		{ 7, 1 }, { 9, 0 }, { 8, 1 }, { 10, 0 }, { 9, 1 }, { 11, 0 }, { 10, 1 }, { 11, 1 },
	};
	struct aftl_geometry geo = {
		.layers = 4, .word_lines = 3, .word_line_pages = 4, .pages = 48,
		.program_pages = 4, .page_units = 1, .block_ppns = 48, .planes_wide = 1,
		.passes = 2,
	};
	u32 oob[48][2] = { 0 };
	struct aftl_block block = { .state = AFTL_BLOCK_OPEN, .order = AFTL_ORDER_FOGGY_FINE };
	struct aftl_media media = {
		.geo = &geo, .blocks = &block, .oob.chunk[0] = oob,
	};
	struct aftl_config config = { .passes = 2, .program = FINE_NS, .program_foggy = COARSE_NS };
	struct aftl_chip chip;
	u32 i;
	u32 page;
	u32 mode;

	aftl_oob_layout_init(&media);
	aftl_chip_init(&chip, &media, &config);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		u32 wanted = steps[i][1] ? AFTL_MODE_NORMAL : AFTL_MODE_FOGGY;
		u32 first = steps[i][0] * 4;

		for (page = 0; page < 48; page++) {
			for (mode = 0; mode < AFTL_MODES; mode++) {
				struct aftl_program_command program = {
					.block = &block, .page = page, .pages = 4, .mode = mode,
				};

				CHECK_MSG(aftl_chip_allows_program(&chip, &program) ==
						  (page == first && mode == wanted),
					  "step %u: page %u in mode %u", i, page, mode);
				program.pages = 3;
				CHECK(!aftl_chip_allows_program(&chip, &program));
				program.pages = 4;
				program.ispp.skip = 1;
				CHECK(!aftl_chip_allows_program(&chip, &program));
			}
		}
		for (page = first; page < first + 4; page++)
			*aftl_page_attr_ptr(&media, page) = aftl_page_attr(AFTL_PRECISE, wanted, 0);
		if (steps[i][1])
			continue;
		block.programmed += 4;
		aftl_program_order_advance_frontier(&media, &block, first);
	}
	CHECK_EQ(aftl_next_fine_pass_page(&media, &block), 48);
	CHECK_EQ(aftl_program_order_next_page(&media, &block), 48);
}

TAP_TEST(data_stay_in_the_buffer_until_their_fine_pass)
{
	u64 sensed;

	open_device("baseline", slow);
	execute_request(AFTL_OP_WRITE, 0, LINE);
	test_advance_clock_by(&device, 100000000);
	CHECK_EQ(coarse_passes, 1);
	CHECK(!units_are_on_flash(0, LINE));
	sensed = test_counters(&device)->array_reads;
	execute_request(AFTL_OP_READ, 0, LINE);
	CHECK_EQ(test_counters(&device)->array_reads, sensed);
	CHECK_EQ(test_counters(&device)->buffer_read_units, LINE);
	execute_request(AFTL_OP_WRITE, LINE, LINE);
	test_advance_clock_by(&device, 100000000);
	CHECK_EQ(fine_passes, 1);
	CHECK(units_are_on_flash(0, LINE));
	CHECK(!units_are_on_flash(LINE, LINE));
	execute_request(AFTL_OP_READ, 0, LINE);
	CHECK_EQ(test_counters(&device)->array_reads, sensed + LINE);
}

/* After the coarse pass alone ECC cannot correct the data, even in the best cells. */
TAP_TEST(data_cannot_be_read_between_the_passes)
{
	const struct aftl_media *media;

	open_device("baseline", slow);
	execute_request(AFTL_OP_WRITE, 0, LINE);
	test_advance_clock_by(&device, 100000000);
	media = aftl_media(device.ftl);
	CHECK_EQ(aftl_page_mode(*aftl_page_attr_ptr(media, 0)), AFTL_MODE_FOGGY);
	CHECK(aftl_cell_read_errors(aftl_cell(device.ftl), to_ppn(0), 0).lost);
	execute_request(AFTL_OP_FLUSH, 0, 0);
	CHECK(!aftl_cell_read_errors(aftl_cell(device.ftl), to_ppn(0), 0).lost);
}

/*
 * The data of one word line take its coarse pass, a padded coarse pass of the next word line and
 * the fine pass; each pass transfers data.
 */
TAP_TEST(a_write_takes_the_time_and_energy_of_its_passes)
{
	u64 bring_in_ns = LINE * 41;
	u64 latency_ns;

	open_device("baseline", slow);
	CHECK_EQ(test_execute_flagged_request(&device, AFTL_OP_WRITE, 0, LINE, AFTL_PRECISE,
					      AFTL_REQUEST_FUA, &latency_ns),
		 0);
	CHECK_EQ(latency_ns, 3 * bring_in_ns + 2 * COARSE_NS + FINE_NS);
	CHECK(units_are_on_flash(0, LINE));
	CHECK_EQ(test_counters(&device)->array_programs, 3);
	CHECK_EQ(test_counters(&device)->array_program_ns, spent_ns);
	CHECK_EQ(test_counters(&device)->host_program_ns, spent_ns);
	CHECK_EQ(test_counters(&device)->host_program_pages, LINE);
	CHECK_EQ(test_counters(&device)->programmed_host_units, LINE);
	CHECK_EQ(test_counters(&device)->program_energy_pj,
		 2 * (COARSE_NS * device.config.energy / 1000) +
		 FINE_NS * device.config.energy / 1000);
	CHECK_EQ(aftl_get_stats(device.ftl)->mode_pages[AFTL_MODE_FOGGY], 2 * LINE);
	CHECK_EQ(aftl_get_stats(device.ftl)->mode_pages[AFTL_MODE_NORMAL], LINE);
}

TAP_TEST(a_flush_waits_for_fine_passes)
{
	u64 latency_ns;

	open_device("baseline", slow);
	execute_request(AFTL_OP_WRITE, 0, 2 * LINE);
	test_advance_clock_by(&device, 100000000);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, &latency_ns), 0);
	CHECK_EQ(latency_ns, 2 * LINE * 41 + COARSE_NS + FINE_NS);
	CHECK(units_are_on_flash(0, 2 * LINE));
	/* The next write skips the word line that the flush has padded. */
	execute_request(AFTL_OP_WRITE, 2 * LINE, LINE);
	execute_request(AFTL_OP_FLUSH, 0, 0);
	CHECK_EQ(from_ppn(test_lookup(&device, 2 * LINE)), 3 * LINE);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, &latency_ns), 0);
	CHECK_EQ(latency_ns, 0);
}

/* With a persistent buffer a flush is free and programs nothing. */
TAP_TEST(with_a_persistent_buffer_a_flush_needs_no_pass)
{
	u64 latency_ns;

	open_device("baseline",
		    ONE_DIE " op=40% buffer=256KiB buffer_hold=1s buffer_safe=on buffer_high=0");
	execute_request(AFTL_OP_WRITE, 0, LINE);
	test_advance_clock_by(&device, 100000000);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, &latency_ns), 0);
	CHECK_EQ(latency_ns, 0);
	CHECK_EQ(coarse_passes, 1);
	/* After the time buffer_hold, data that wait for a full word line are programmed. */
	test_advance_clock_by(&device, 2000000000);
	CHECK(units_are_on_flash(0, LINE));
}

/*
 * If data of two streams, a word line each, fill the write buffer, writes do not wait buffer_hold.
 */
TAP_TEST(writes_to_a_full_buffer_do_not_wait_for_buffer_hold)
{
	u64 latency_ns;
	u32 i;

	open_device("tlc",
		    ONE_DIE " op=40% buffer=32KiB buffer_hold=1s zone1=100s zone2=200s zone3=300s");
	execute_request(AFTL_OP_WRITE, 0, LINE);
	execute_request(AFTL_OP_FLUSH, 0, 0);
	for (i = 0; i < 60; i++) {
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, i % 2 * (8 + i * LINE), LINE,
					      AFTL_PRECISE, &latency_ns),
			 0);
		CHECK_MSG(latency_ns < 20000000, "write %u took %llu ns", i,
			  (unsigned long long)latency_ns);
	}
}

TAP_TEST(draining_completes_pending_fine_passes)
{
	open_device("baseline", slow);
	execute_request(AFTL_OP_WRITE, 0, LINE);
	test_advance_clock_by(&device, 100000000);
	aftl_set_drain_mode(device.ftl, true);
	CHECK(aftl_has_pending_work(device.ftl));
	test_advance_clock_by(&device, 100000000);
	CHECK(!aftl_has_pending_work(device.ftl));
	CHECK(units_are_on_flash(0, LINE));
}

/* Units that the host writes or discards during their relocation are not relocated. */
TAP_TEST(writes_and_discards_during_relocation_take_effect)
{
	u32 i;

	open_device("baseline", slow);
	execute_request(AFTL_OP_WRITE, 0, 10 * LINE);
	execute_request(AFTL_OP_FLUSH, 0, 0);
	for (i = 0; i < 6 * WORD_LINES; i++)
		execute_request(AFTL_OP_WRITE, 100 + i % 11 * LINE, LINE);
	execute_request(AFTL_OP_FLUSH, 0, 0);
	CHECK_EQ(aftl_start_lun_gc(device.ftl, 0), 0);
	for (i = 0; i < 400 && !device.ftl->luns->fine_pending_moves; i++)
		test_process_event(&device);
	CHECK(device.ftl->luns->fine_pending_moves);
	execute_request(AFTL_OP_DISCARD, 3, 5);
	execute_request(AFTL_OP_WRITE, 9, 3);
	test_advance_clock_by(&device, 3000000000ULL);
	CHECK(test_lookup(&device, 3) == AFTL_NO_PPN);
	execute_request(AFTL_OP_READ, 0, 10 * LINE);
	CHECK_EQ(device.ftl->luns->fine_pending_moves, 0);
}

static const char *const policies[] = { "baseline", "tlc" };

static const char *const shapes[] = {
	SHAPE " op=50% buffer=256KiB",
	SHAPE " op=50% buffer=16KiB",
	SHAPE " op=60% buffer=1MiB order=fcfs",
	SHAPE " op=50% buffer=128KiB suspend=both",
};

static const char *const more[] = {
	"",
	"buffer_safe=on",
	"buffer_hold=0 channels=1",
	"plane_mode=wide planes=2 allocate=static",
	"cell_model=voltage cycles=200 ecc_bits=120 gc_idle_valid=20%",
	"slc_static=10% slc_dynamic=20% idle=100us allocate=least_busy",
	"superblock=2 op=65%",
	"superblock=2 op=75% rain=on",
	"blocks=100 page=512 unit=512 map_cache=16KiB",
};

static void check_time_of_program_passes(void)
{
	const struct aftl_counters *counters = test_counters(&device);
	const u64 *pages = aftl_get_stats(device.ftl)->mode_pages;
	u32 step = aftl_geometry(device.ftl)->word_line_pages;
	u64 units = counters->padded_units;
	u32 cause;

	CHECK_EQ(pages[AFTL_MODE_FOGGY], (u64)coarse_passes * step);
	CHECK_EQ(pages[AFTL_MODE_NORMAL], (u64)fine_passes * step);
	CHECK_EQ(counters->array_program_ns,
		 spent_ns + pages[AFTL_MODE_SLC] / aftl_geometry(device.ftl)->planes_wide *
			    device.config.program_slc);
	CHECK(coarse_passes >= fine_passes);
	CHECK(fine_passes > 50);
	for (cause = 0; cause <= AFTL_CAUSE_PARITY; cause++)
		units += (&counters->programmed_host_units)[cause];
	if (!pages[AFTL_MODE_SLC])
		CHECK_EQ(units, (u64)fine_passes * device.ftl->program_units);
}

/*
 * Count the passes from the media after a fill, which makes no callbacks. In a block, at most @open
 * word lines may be between their coarse and their fine pass.
 */
static void init_program_pass_counts_from_media(u32 open)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 step = media->geo->word_line_pages;
	u32 i;
	u32 page;

	for (i = 0; i < media->geo->blocks; i++) {
		u32 first = i * media->geo->pages;

		accounts[i] = (struct account){ media->blocks[i].programmed / step, 0 };
		for (page = first; page < first + media->blocks[i].programmed; page += step)
			accounts[i].fine += !aftl_page_is_foggy(*aftl_page_attr_ptr(media, page));
		CHECK(media->blocks[i].bits || accounts[i].coarse <= accounts[i].fine + open);
	}
	for (i = 0; i < media->geo->luns; i++)
		CHECK_EQ(device.ftl->luns[i].fine_pending_writes +
				 device.ftl->luns[i].fine_pending_moves,
			 0);
}

/* Reload the device and count passes anew, as the counts do not tell old and new device apart. */
static void reload_device_and_init_pass_counts(void)
{
	reloading = true;
	CHECK_EQ(test_device_reload(&device), 0);
	reloading = false;
	init_program_pass_counts_from_media(AFTL_FOGGY_WORD_LINES);
}

#define MAPPED "blocks=100 page=512 unit=512 map_cache=16KiB buffer=256KiB"

/* Return the number of word lines of translation pages that wait for their fine pass. */
static u32 count_pending_trans_pages(struct aftl *ftl)
{
	u32 lines = 0;
	u32 nth;
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		for (nth = 0; aftl_fine_pending_find_map(ftl, &ftl->luns[i], nth); nth++)
			lines++;
	return lines;
}

TAP_TEST(a_fill_leaves_no_data_pending_the_fine_pass)
{
	u32 policy;

	for (policy = 0; policy < ARRAY_SIZE(policies); policy++) {
		reset_program_pass_counts();
		test_device_init(&device, "demo");
		device.ops.array = check_pass_event;
		test_device_open(&device, policies[policy],
				 SHAPE " op=50% " MAPPED " fill=random fill_overwrite=150%");
		CHECK_EQ(aftl_precondition(device.ftl), 0);
		CHECK_EQ(count_pending_trans_pages(device.ftl), 0);
		init_program_pass_counts_from_media(1);
		CHECK_EQ(spent_ns, 0);
		test_stream_init(&stream, policy);
		test_stream_submit_requests(&stream, &device, 1000);
		test_drain_requests(&device);
		CHECK(fine_passes > 10);
	}
}

static void check_program_passes_of_policy(const char *policy, u32 shape, u32 option)
{
	u32 i;

	reset_program_pass_counts();
	test_device_init(&device, "demo");
	device.ops.array = check_pass_event;
	test_device_set_params(&device, shapes[shape]);
	test_device_set_params(&device, more[option]);
	if (test_device_create(&device, policy))
		tap_bail_out("%s", device.error.text);
	shadow_attach_to_device(&store, &device, false);
	test_stream_init(&stream, shape * 8 + option);
	stream.depth = 1 + option * 7;
	stream.gap_ns = shape % 2 * 400000;
	stream.fua = option == 3 ? 100 : 5;
	may_end_early = aftl_geometry(device.ftl)->superblock_luns;
	for (i = 0; i < 2500 && !tap_failure_count(); i++) {
		test_stream_submit_request(&stream, &device);
		if (i % 50 == 0)
			shadow_compare_device_with_store(&store);
	}
	test_drain_requests(&device);
	check_time_of_program_passes();
	test_device_audit_and_close(&device);
	if (tap_failure_count())
		tap_printf("%s, shape %u, option %u", policy, shape, option);
}

TAP_TEST(reads_return_the_right_data_at_every_stage)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(policies) * ARRAY_SIZE(shapes) * ARRAY_SIZE(more) &&
	     !tap_failure_count(); i++)
		check_program_passes_of_policy(policies[i % 2], i / 2 % 4, i / 8);
}

/*
 * One die gets most of the writes, so blocks of the other die are closed before they are full, some
 * of them between the passes of a word line, whose fine pass then needs no other coarse pass.
 */
TAP_TEST(superblocks_are_collected_after_the_fine_passes_of_their_blocks)
{
	struct aftl_random random = { 1 };
	u64 bugs = 0;
	u32 lines;
	u32 i;

	open_device("baseline", "channels=2 chips=1 " SHAPE
		    " op=40% superblock=2 allocate=static buffer=256KiB buffer_hold=1s");
	may_end_early = true;
	lines = test_unit_count(&device) / LINE / 2;
	for (i = 0; i < 6000 && !tap_failure_count(); i++) {
		execute_request(i % 31 == 15 ? AFTL_OP_DISCARD : AFTL_OP_WRITE,
				(i % 31 % 15 ? (u32)aftl_random_below(&random, lines) * 2 : 1) *
				LINE, LINE);
		if (i % 100)
			continue;
		execute_request(AFTL_OP_FLUSH, 0, 0);
		bugs += test_counters(&device)->policy_bugs;
		CHECK_RANGE(test_counters(&device)->programmed_gc_units, 0,
			    test_counters(&device)->gc_valid_units);
		reload_device_and_init_pass_counts();
	}
	CHECK_RANGE(early_fine_passes, 3, 3000);
	CHECK_EQ(bugs, 0);
}

/* A block whose only data wait for their fine pass is not erased before that pass. */
TAP_TEST(superblocks_are_erased_after_the_fine_passes_of_their_blocks)
{
	struct aftl *ftl;

	open_device("baseline", "channels=2 chips=1 " SHAPE
		    " op=60% superblock=2 allocate=static buffer=256KiB buffer_hold=1s buffer_high=0");
	ftl = device.ftl;
	may_end_early = true;
	execute_request(AFTL_OP_WRITE, 0, 2 * LINE);
	test_advance_clock_by(&device, 100000000);
	CHECK_EQ(ftl->luns[1].fine_pending_writes, 1);
	CHECK(aftl_collect_superblock_of_block(ftl, ftl->media.blocks, AFTL_CAUSE_GC));
	CHECK(!aftl_superblock_victim_is_empty(ftl, 0));
	CHECK(!aftl_superblock_gc_member(ftl, &ftl->luns[1]));
	test_advance_clock_by(&device, 100000000);
	CHECK_EQ(early_fine_passes, 2);
	CHECK_EQ(test_counters(&device)->array_erases, 2);
}

/*
 * A translation page that waits for its fine pass counts as cached: neither a read nor a discard
 * of one of its logical pages loads it from flash.
 */
static void check_pending_trans_page_cached(struct aftl *ftl, bool discard)
{
	const struct aftl_fine_pending *pending = NULL;
	u64 loads = test_counters(&device)->map_loads;
	u32 unit;
	u32 i;

	for (i = 0; i < ftl->geo.luns && !pending; i++)
		pending = aftl_fine_pending_find_map(ftl, &ftl->luns[i], 0);
	if (!pending)
		return;
	unit = (from_lpn(pending->payload.lpn[0]) - ftl->geo.units) << ftl->geo.trans_page_shift;
	execute_request(discard ? AFTL_OP_DISCARD : AFTL_OP_READ, unit, 1);
	CHECK_EQ(test_counters(&device)->map_loads, loads);
	CHECK(!(aftl_trans_page_of_lpn(ftl, to_lpn(unit))->flags & AFTL_TP_PARTIAL));
}

/* Translation pages that wait for a fine pass in a dead die are programmed elsewhere. */
static void fail_die_with_pending_trans_pages(struct aftl *ftl)
{
	const struct aftl_fine_pending *pending;
	struct aftl_payload held = { 0 };
	u32 i;

	for (i = 0; i < 20000; i++) {
		test_stream_submit_request(&stream, &device);
		pending = aftl_fine_pending_find_map(ftl, &ftl->luns[1], 0);
		if (pending)
			held = pending->payload;
		if (pending && ftl->luns[1].fine_pending_moves)
			break;
	}
	CHECK(i < 20000);
	CHECK_EQ(aftl_fail_lun(ftl, 1), 0);
	for (i = 0; i < held.count; i++)
		CHECK(ftl->cmt.all[from_lpn(held.lpn[i]) - ftl->geo.units].flags & AFTL_TP_DIRTY);
	test_audit_device(&device);
}

TAP_TEST(translation_pages_stay_in_the_controller_until_their_fine_pass)
{
	struct aftl_placement placement;
	u32 pending = 0;
	u32 i;

	open_device("baseline", SHAPE " op=60% " MAPPED);
	for (i = 0; i < 4000 && !tap_failure_count(); i++) {
		test_stream_submit_request(&stream, &device);
		if (i % 20)
			continue;
		test_drain_requests(&device);
		pending += count_pending_trans_pages(device.ftl);
		check_pending_trans_page_cached(device.ftl, i % 40);
		if (!device.ftl->luns->fine_pending_writes)
			CHECK(!aftl_commit_coarse_pass_of_padding(device.ftl, device.ftl->luns,
								  false, &placement));
		test_audit_device(&device);
		if (i % 800)
			continue;
		execute_request(AFTL_OP_FLUSH, 0, 0);
		reload_device_and_init_pass_counts();
	}
	CHECK_RANGE(pending, 25, U32_MAX);
	fail_die_with_pending_trans_pages(device.ftl);
}

/* Translation pages taken back from a pending fine pass into the CMT evict no other dirty pages. */
TAP_TEST(a_device_that_stops_programs_only_fine_passes_that_are_due)
{
	u32 taken_back = 0;
	u32 i;

	open_device("baseline", SHAPE " op=60% " MAPPED);
	for (i = 1; i <= 4000 && !tap_failure_count(); i++) {
		struct aftl_counters before;

		test_stream_submit_request(&stream, &device);
		if (i % 100)
			continue;
		execute_request(AFTL_OP_FLUSH, 0, 0);
		test_drain_requests(&device);
		taken_back += count_pending_trans_pages(device.ftl);
		before = *test_counters(&device);
		aftl_quiesce(device.ftl);
		CHECK(!aftl_quiesce_device_by_slice(device.ftl));
		CHECK_EQ(count_pending_trans_pages(device.ftl), 0);
		CHECK_RANGE(test_counters(&device)->array_programs - before.array_programs, 0,
			    device.ftl->geo.luns);
		aftl_unquiesce_device(device.ftl);
	}
	CHECK_RANGE(taken_back, 10, U32_MAX);
}

/* Data that wait for their fine pass must survive the failure of their block. */
TAP_TEST(failing_blocks_lose_no_data_pending_the_fine_pass)
{
	u32 held = 0;
	u32 left;
	u32 i;

	open_device("tlc", SHAPE " channels=2 chips=2 op=75% buffer=256KiB");
	may_end_early = true;
	for (i = 0; i < 4000 && !tap_failure_count(); i++) {
		u32 block = i / 100 * 4 % aftl_geometry(device.ftl)->blocks;

		test_stream_submit_request(&stream, &device);
		if (i % 250 || i > 3000)
			continue;
		left = aftl_geometry(device.ftl)->blocks;
		while (left-- && aftl_media(device.ftl)->blocks[block].state != AFTL_BLOCK_OPEN)
			block = (block + 1) % aftl_geometry(device.ftl)->blocks;
		held += device.ftl->luns[block / 40].fine_pending_writes;
		CHECK_EQ(aftl_fail_block(device.ftl, block), 0);
	}
	CHECK_MSG(held > 5, "only %u word lines were held", held);
	test_drain_requests(&device);
	CHECK_EQ(test_counters(&device)->retired_blocks, 13);
}

/* A LUN without a free block (out_of_blocks) makes the device read-only under writes. */
TAP_TEST(writes_without_a_free_block_make_the_device_read_only)
{
	u32 requests = 0;

	open_device("tlc", ONE_DIE " op=40% order=fcfs buffer=256KiB");
	store.full_disk = true;
	stream.flush = 0;
	stream.read = 0;
	while (!aftl_is_read_only(device.ftl) && requests++ < 20000 && !tap_failure_count()) {
		device.ftl->luns[0].out_of_blocks = true;
		test_stream_submit_request(&stream, &device);
	}
	CHECK(aftl_is_read_only(device.ftl));
	execute_request(AFTL_OP_READ, 0, LINE);
}

TAP_TEST(pending_data_of_a_dead_die_move_to_another_one)
{
	u32 lun;

	open_device("baseline",
		    SHAPE " channels=2 chips=2 op=75% buffer=256KiB buffer_hold=1s buffer_high=0");
	execute_request(AFTL_OP_WRITE, 0, 4 * LINE);
	test_advance_clock_by(&device, 100000000);
	CHECK_EQ(coarse_passes, 4);
	CHECK(!units_are_on_flash(0, 4 * LINE));
	for (lun = 0; lun < 3; lun++)
		CHECK_EQ(aftl_fail_lun(device.ftl, lun), 0);
	execute_request(AFTL_OP_READ, 0, 4 * LINE);
	execute_request(AFTL_OP_FLUSH, 0, 0);
	CHECK(units_are_on_flash(0, 4 * LINE));
	execute_request(AFTL_OP_READ, 0, 4 * LINE);
	CHECK_EQ(device.ftl->luns[0].in_flight, 0);
	CHECK_EQ(device.ftl->fine_pending_units, 0);
}

static void reload_device_between_program_passes(struct test_bytes *bytes)
{
	struct aftl_snapshot_source source = test_bytes_source(bytes);

	test_device_close(&device);
	test_device_init(&device, "demo");
	device.ops.array = check_pass_event;
	CHECK_EQ(aftl_load(&device.ftl, &source, &device.ops, &device, &device.error), 0);
	device.config = *aftl_config(device.ftl);
}

/* After a coarse pass of a padded word line, a loaded block continues with the fine pass. */
TAP_TEST(a_loaded_block_continues_with_its_fine_pass)
{
	struct test_bytes bytes = { 0 };
	struct aftl_snapshot_sink sink = test_bytes_sink(&bytes);
	u64 digest[2];
	u32 i;

	reset_program_pass_counts();
	test_device_init(&device, "demo");
	device.ops.array = check_pass_event;
	test_device_open(&device, "baseline", slow);
	execute_request(AFTL_OP_WRITE, 0, LINE);
	test_advance_clock_by(&device, 100000000);
	CHECK_EQ(aftl_save(device.ftl, &sink, &device.error), -EBUSY);
	execute_request(AFTL_OP_FLUSH, 0, 0);
	CHECK_EQ(aftl_save(device.ftl, &sink, &device.error), 0);
	for (i = 0; i < 2; i++) {
		execute_request(AFTL_OP_WRITE, 7, 3 * LINE + 1);
		execute_request(AFTL_OP_FLUSH, 0, 0);
		digest[i] = aftl_compute_device_digest(device.ftl);
		if (i)
			break;
		reload_device_between_program_passes(&bytes);
		accounts[0] = (struct account){ 2, 1 };
	}
	CHECK_EQ(digest[0], digest[1]);
	CHECK_EQ(from_ppn(test_lookup(&device, 7)), 2 * LINE);
	free_test_bytes(&bytes);
}

/* A forged snapshot with a valid checksum and a wrong program order of a block is refused. */
TAP_TEST(a_snapshot_with_a_block_of_one_pass_is_refused)
{
	test_open_demo_profile(&device, "baseline", slow);
	execute_request(AFTL_OP_WRITE, 0, LINE);
	execute_request(AFTL_OP_FLUSH, 0, 0);
	aftl_media(device.ftl)->blocks[0].order = AFTL_ORDER_SEQUENTIAL;
	CHECK_EQ(test_device_reload(&device), -EUCLEAN);
}

static void check_passes_refused(const char *policy, const char *key, const char *value,
				 const char *why)
{
	test_device_init(&device, "demo");
	test_device_set_params(&device, slow);
	if (key)
		test_device_set_param_text(&device, key, value);
	CHECK_EQ(test_device_create(&device, policy), -EINVAL);
	CHECK_CONTAINS(device.error.text, why);
}

TAP_TEST(invalid_parameters_for_two_passes_are_refused)
{
	unsigned int i;

	check_passes_refused("baseline", "bits", "3", "set bits 4 and one_shot on");
	check_passes_refused("baseline", "one_shot", "off", "set bits 4 and one_shot on");
	check_passes_refused("baseline", "buffer", "0", "set buffer");
	check_passes_refused("baseline", "program_foggy", "771us",
			     "must not take longer than program");
	for (i = 0; aftl_policy_at(i); i++)
		if (!aftl_policy_at(i)->two_passes)
			check_passes_refused(aftl_policy_at(i)->name, NULL, NULL,
					     "programs each word line in one pass; set passes 1");
	CHECK(i > 8);
	test_open_demo_profile(&device, "baseline", slow);
	CHECK_EQ(aftl_set_param(device.ftl, "program", "309us", &device.error), -EINVAL);
	CHECK_CONTAINS(device.error.text, "must not take longer than program");
	CHECK_EQ(aftl_set_param(device.ftl, "program_foggy", "300us", &device.error), 0);
	CHECK_EQ(aftl_set_param(device.ftl, "passes", "1", &device.error), -EINVAL);
}

/* Number of the illegal command that the test's policy tries in place of a pass. */

static u32 whim;

static int propose_illegal_program_pass(struct aftl_policy *policy, struct aftl_lun *lun,
					const struct aftl_program_request *need,
					struct aftl_placement *placement)
{
	int ret = aftl_policy_find("baseline")->place(policy, lun, need, placement);

	if (ret)
		return ret;
	switch (whim) {
	case 0:
		placement->mode = AFTL_MODE_NORMAL;
		break;
	case 1:
		placement->page += placement->pages;
		break;
	case 2:
		placement->pages = 1;
		break;
	case 3:
		placement->mode = AFTL_MODE_SLC;
		break;
	case 4:
		placement->ispp.skip = 1;
		break;
	case 5:
		placement->page -= min(placement->page, placement->pages);
		break;
	default:
		placement->block = aftl_policy_open_block(policy, lun, need, AFTL_ORDER_TWO_PASS,
							  0);
		if (!placement->block)
			return -ENOSPC;
		placement->page = 0;
		break;
	}
	return 0;
}

TAP_TEST(illegal_passes_of_a_policy_are_refused)
{
	for (whim = 0; whim < 7 && !tap_failure_count(); whim++) {
		struct aftl_policy_type type = *aftl_policy_find("baseline");

		reset_program_pass_counts();
		may_end_early = true;
		type.place = propose_illegal_program_pass;
		test_device_init(&device, "demo");
		device.ops.array = check_pass_event;
		test_device_open_with_policy_type(&device, &type, slow);
		shadow_attach_to_device(&store, &device, false);
		store.full_disk = true;
		test_stream_init(&stream, whim);
		test_stream_submit_requests(&stream, &device, 1500);
		test_drain_requests(&device);
		CHECK(test_counters(&device)->policy_bugs > 0);
		shadow_compare_device_with_store(&store);
		if (tap_failure_count())
			tap_printf("whim %u", whim);
		test_device_close(&device);
	}
}

/* On a two-pass device sparse blocks take one pass. */
TAP_TEST(sparse_blocks_take_one_pass)
{
	open_device("baseline", ONE_DIE " op=40% buffer=256KiB buffer_hold=1s slc_static=10%");
	execute_request(AFTL_OP_WRITE, 0, 5);
	execute_request(AFTL_OP_FLUSH, 0, 0);
	CHECK_EQ(coarse_passes, 0);
	CHECK(units_are_on_flash(0, 5));
	CHECK_EQ(aftl_get_stats(device.ftl)->mode_pages[AFTL_MODE_SLC], 5);
	CHECK_EQ(test_counters(&device)->array_program_ns, 5 * device.config.program_slc);
}
