// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time of a page read depends on the page, not on who reads it or on the policy.
 */
#include "core/base/profiles.h"
#include "core/ftl/controller.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/ftl/sensing.h"
#include "core/persist/snapshot.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define SHAPE "channels=2 chips=1 blocks=48 layers=6 word_lines=4 bits=3 one_shot=on page=16KiB " \
	"unit=0 op=30 read=60us ecc_bits=80 cell_model=voltage"
#define OLD SHAPE " cycles=2000 age=365d"
#define AGCR "cell_model=voltage layers=1 bits=2 unit=0 read=170us read_coarse=310us " \
	"read_fine=70us op=60 ecc_bits=80"

#define LAYERS 6
#define MONTH_HOURS 720
#define YEAR_HOURS 8760

static struct test_device device;

/**
 * struct seen - sums over the array reads that the test has observed
 * @reads: number of reads
 * @ns: total time of the reads
 * @least_ns: least possible total time
 * @by_default: reads begin with default references, and retry once per step of the best shift
 * @retries: number of retries in reads with default references
 */
static struct {
	u64 reads;
	u64 ns;
	u64 least_ns;
	bool by_default;
	u64 retries;
} seen;

static u64 get_sense_ns_or_read_ns(u64 ns)
{
	return ns ? ns : device.config.read;
}

/* One sensing with optimal references, the least possible time. */
static u64 compute_least_sense_ns(const struct aftl_block *block, u32 page)
{
	const struct aftl_cell *cell = &device.ftl->cell;
	u16 attr = aftl_block_page_attr(cell->media, block, page);
	u64 rber;

	if (aftl_page_mode(attr) == AFTL_MODE_MLC)
		return get_sense_ns_or_read_ns(device.config.read_mlc);
	if (!device.config.read_fine && !device.config.read_coarse)
		return device.config.read;
	rber = aftl_cell_rber_q40(cell, block, page, aftl_device_age_hours(device.ftl));
	if (aftl_page_class(attr) == AFTL_APPROX || rber <= aftl_sense_limit_q40[0])
		return get_sense_ns_or_read_ns(device.config.read_fine);
	return rber <= aftl_sense_limit_q40[1] ? device.config.read :
						 get_sense_ns_or_read_ns(device.config.read_coarse);
}

static u32 find_best_ref_shift(const struct aftl_block *block, u32 page)
{
	return aftl_best_read_ref_shift(&device.ftl->cell, block, page,
					aftl_device_age_hours(device.ftl));
}

/* Parameter read_move sets the time of the first sensing of a page that is relocated. */
static u64 first_sense_ns(const struct aftl_array_event *event, u64 once_ns)
{
	return event->cause != AFTL_CAUSE_HOST && device.config.read_move ?
		       device.config.read_move : once_ns;
}

/* A read takes one sensing, one more per retry, and up to ecc_levels sensings by ECC. */
static void check_sensing_and_retry_ns(const struct aftl_array_event *event, u64 once_ns, u32 shift)
{
	u64 retried_ns = first_sense_ns(event, once_ns) + once_ns * shift;
	u64 further_ns = event->array_ns - retried_ns;

	CHECK_MSG(event->array_ns >= retried_ns &&
		  further_ns % device.config.ecc_retry == 0 &&
		  further_ns <= device.config.ecc_retry * device.config.ecc_levels,
		  "cause %u: %llu ns of page %u with %u steps to go", event->cause,
		  (unsigned long long)event->array_ns, event->page, shift);
	seen.retries += shift;
}

static void check_sense_event(void *host, const struct aftl_array_event *event)
{
	const struct aftl_media *media = &device.ftl->media;
	const struct aftl_block *block = &media->blocks[event->block];
	u64 once_ns;

	if (event->op != AFTL_ARRAY_READ)
		return;
	once_ns = compute_least_sense_ns(block, event->page);
	CHECK_MSG(event->array_ns >= first_sense_ns(event, once_ns),
		  "a read of %llu ns, the least is %llu", (unsigned long long)event->array_ns,
		  (unsigned long long)first_sense_ns(event, once_ns));
	seen.reads++;
	seen.ns += event->array_ns;
	seen.least_ns += once_ns;
	if (seen.by_default)
		check_sensing_and_retry_ns(event, once_ns, find_best_ref_shift(block, event->page));
}

static void open_device(const char *policy, const char *params)
{
	test_device_init(&device, "demo");
	device.ops.array = check_sense_event;
	test_device_open(&device, policy, params);
	memset(&seen, 0, sizeof(seen));
}

/* Read each unit once, with no two consecutive reads of the same layer. */
static void read_all_units(void)
{
	u32 i;

	for (i = 0; i < test_unit_count(&device); i++)
		test_execute_request(&device, AFTL_OP_READ,
				     (u64)i * 7919 % test_unit_count(&device), 1, AFTL_PRECISE,
				     NULL);
}

/* Read references */

static u32 find_best_ref_shift_at_age(u32 block, u32 page, u64 hours)
{
	const struct aftl_block *mine = &device.ftl->media.blocks[block];

	return aftl_best_read_ref_shift(&device.ftl->cell, mine, page, mine->first_hour + hours);
}

static bool layer_needs_reference_shift(u32 block, u32 layer, u64 hours)
{
	return find_best_ref_shift_at_age(block, layer * 12, hours) != 0;
}

/*
 * Count pages whose best reference shift is implausible (1, or more than 4), or is zero although
 * the first page of their layer needs a shift, or not zero although the first page needs none.
 */
static u32 count_pages_with_implausible_ref_shift(u32 block, u32 layer, u64 hours)
{
	u32 strange = 0;
	u32 page;

	for (page = layer * 12; page < (layer + 1) * 12; page++) {
		u32 shift = find_best_ref_shift_at_age(block, page, hours);

		strange += !shift == layer_needs_reference_shift(block, layer, hours) ||
			   shift > 4 || shift == 1;
	}
	return strange;
}

/* Percentage of layers that need shifted references; *@steps: sum of the shifts of all pages. */
static u32 compute_layer_percent_needing_ref_shift(u64 hours, u64 *steps)
{
	u32 blocks = device.ftl->geo.blocks;
	u32 off = 0;
	u32 i;

	*steps = 0;
	for (i = 0; i < blocks * LAYERS; i++) {
		off += layer_needs_reference_shift(i / LAYERS, i % LAYERS, hours);
		CHECK_EQ(count_pages_with_implausible_ref_shift(i / LAYERS, i % LAYERS, hours), 0);
		*steps += find_best_ref_shift_at_age(i / LAYERS, i % LAYERS * 12 + i % 12, hours);
	}
	return 100 * off / (blocks * LAYERS);
}

/* Count blocks in which some layers need shifted references and other layers do not. */
static u32 count_blocks_with_some_ref_shifted_layers(u64 hours)
{
	u32 mixed = 0;
	u32 block;
	u32 layer;

	for (block = 0; block < device.ftl->geo.blocks; block++) {
		u32 off = 0;

		for (layer = 0; layer < LAYERS; layer++)
			off += layer_needs_reference_shift(block, layer, hours);
		mixed += off && off < LAYERS;
	}
	return mixed;
}

TAP_TEST(the_published_shares_of_old_layers_need_shifted_references)
{
	u64 steps;

	open_device("baseline", SHAPE " blocks=400 cycles=1000");
	CHECK_RANGE(compute_layer_percent_needing_ref_shift(YEAR_HOURS, &steps), 43, 47);
	open_device("baseline", SHAPE " blocks=400 cycles=2000");
	CHECK(count_blocks_with_some_ref_shifted_layers(MONTH_HOURS) > 600);
	CHECK_EQ(compute_layer_percent_needing_ref_shift(0, &steps), 0);
	CHECK_RANGE(compute_layer_percent_needing_ref_shift(MONTH_HOURS, &steps), 27, 33);
	CHECK_RANGE(compute_layer_percent_needing_ref_shift(YEAR_HOURS, &steps), 88, 92);
	CHECK_RANGE(steps, 800 * LAYERS * 26 / 10, 800 * LAYERS * 28 / 10);
}

TAP_TEST(a_layer_that_needs_shifted_references_needs_them_at_every_age)
{
	u32 i;

	open_device("baseline", SHAPE " cycles=2000");
	for (i = 0; i < device.ftl->geo.blocks * LAYERS; i++) {
		bool off = false;
		u64 hours;

		for (hours = 1; hours < 50000; hours += 1 + hours / 4) {
			CHECK(layer_needs_reference_shift(i / LAYERS, i % LAYERS, hours) >= off);
			off = layer_needs_reference_shift(i / LAYERS, i % LAYERS, hours);
		}
	}
}

TAP_TEST(new_flash_needs_no_shifted_references_at_any_age)
{
	u64 steps;

	open_device("baseline", SHAPE);
	CHECK_EQ(compute_layer_percent_needing_ref_shift(3 * YEAR_HOURS, &steps), 0);
}

/* A read takes one retry for each step to the best reference, upwards or downwards. */
TAP_TEST(each_step_between_references_is_a_retry)
{
	u32 page;
	u32 start;

	open_device("baseline", OLD " fill=sequential");
	for (page = 0; page < device.ftl->geo.pages; page++) {
		const struct aftl_block *block = &device.ftl->media.blocks[3];
		u32 best = find_best_ref_shift(block, page);

		for (start = 0; start <= AFTL_SHIFT_MAX; start++) {
			struct aftl_read_result sensing =
				aftl_read_page_timing(&device.ftl->sense, block, page, start,
						      aftl_device_age_hours(device.ftl));

			CHECK_EQ(sensing.shift, best);
			CHECK_EQ(sensing.retries, start > best ? start - best : best - start);
			CHECK_EQ(sensing.ns, 60000 * (1 + sensing.retries));
		}
	}
}

/* Reads of other layers do not change the read reference that a policy keeps for a layer. */
TAP_TEST(a_remembered_reference_is_that_of_the_layer)
{
	u32 unshifted = 0;
	u32 i;

	open_device("cubeftl", SHAPE " cycles=2000 age=30d fill=sequential");
	read_all_units();
	for (i = 0; i < test_unit_count(&device); i++) {
		u32 unit = (u64)i * 7919 % test_unit_count(&device);
		u64 retries = test_counters(&device)->read_retries;
		u32 page = from_ppn(test_lookup(&device, unit)) % device.ftl->geo.pages;

		test_execute_request(&device, AFTL_OP_READ, unit, 1, AFTL_PRECISE, NULL);
		if (find_best_ref_shift(test_block_of(&device, unit), page))
			continue;
		unshifted++;
		CHECK_EQ(test_counters(&device)->read_retries, retries);
	}
	CHECK(unshifted > test_unit_count(&device) / 2);
}

/* Sensing levels */

static void write_unit_in_mode(u32 unit, u32 mode, u32 class)
{
	const struct aftl_media *media = &device.ftl->media;
	aftl_ppn_t ppn;

	test_execute_request(&device, AFTL_OP_WRITE, unit, 1, AFTL_PRECISE, NULL);
	if (CHECK(aftl_l2p_lookup(device.ftl, to_lpn(unit), &ppn)))
		*aftl_page_attr_ptr(media, aftl_page_of_ppn(media, ppn)) =
			aftl_page_attr(class, mode, 0);
}

static u64 measure_read_ns(u32 unit)
{
	u64 before = test_counters(&device)->array_read_ns;

	test_execute_request(&device, AFTL_OP_READ, unit, 1, AFTL_PRECISE, NULL);
	return test_counters(&device)->array_read_ns - before;
}

struct levels_case {
	u32 mode;
	u32 class;
	u64 new_ns;
	u64 old_ns;
};

static const struct levels_case levels[] = {
	{ AFTL_MODE_FINE, AFTL_PRECISE, 70000, 70000 },
	{ AFTL_MODE_NORMAL, AFTL_PRECISE, 70000, 170000 },
	{ AFTL_MODE_COARSE, AFTL_PRECISE, 70000, 310000 },
	{ AFTL_MODE_COARSE, AFTL_APPROX, 70000, 70000 },
};

/* Month-old pages of worn blocks have three read costs, by program mode; new pages have one. */
TAP_TEST(sensing_levels_follow_the_errors_of_the_page)
{
	u32 i;
	u32 k;

	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		const struct levels_case *mine = &levels[i];
		aftl_ppn_t ppn;

		open_device("baseline", AGCR " cycles=2000");
		for (k = 0; k < 32; k++)
			write_unit_in_mode(k, mine->mode, mine->class);
		CHECK_EQ(measure_read_ns(5), mine->new_ns);
		aftl_advance_age(device.ftl, MONTH_HOURS * AFTL_HOUR_NS);
		if (aftl_l2p_lookup(device.ftl, to_lpn(5), &ppn)) {
			u32 page = aftl_page_of_ppn(&device.ftl->media, ppn);
			u32 shift = find_best_ref_shift(aftl_block_of_ppn(&device.ftl->media, ppn),
							page % device.ftl->geo.pages);

			CHECK_EQ(measure_read_ns(5), mine->old_ns * (1 + shift));
		}
		/* write_unit_in_mode() bypassed the FTL, so the device is not audited. */
		test_device_close(&device);
	}
}

/* With constant error rates the sensing levels follow from the profile's error rate. */
TAP_TEST(sensing_levels_follow_constant_error_rates)
{
	static const u64 rates[] = { 10000, 1000000000, 3000000000ULL };
	static const u64 wanted[][3] = {
		{ 70000, 70000, 70000 }, { 70000, 170000, 310000 }, { 310000, 310000, 310000 },
	};
	u32 i;
	u32 k;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		test_device_init(&device, "demo");
		device.config.rber = rates[i];
		test_device_open(&device, "baseline", AGCR " cell_model=constant");
		for (k = 0; k < 3; k++) {
			write_unit_in_mode(k, levels[k].mode, AFTL_PRECISE);
			CHECK_EQ(measure_read_ns(k), wanted[i][k]);
		}
	}
}

/* Errors beyond hard-decision ECC cost extra sensing levels, in host reads and relocation. */
TAP_TEST(each_extra_sensing_level_takes_time)
{
	u32 seen_levels = 0;
	u32 unit;

	open_device("baseline", SHAPE " cell_model=constant rber=1.22e-2 ecc_retry=7us");
	for (unit = 0; unit < 90; unit++) {
		struct aftl_errors errors;
		struct aftl_block *block;
		aftl_ppn_t ppn;
		u32 page;

		test_execute_request(&device, AFTL_OP_WRITE, unit, 1, AFTL_PRECISE, NULL);
		if (!CHECK(aftl_l2p_lookup(device.ftl, to_lpn(unit), &ppn)))
			break;
		errors = aftl_cell_read_errors(&device.ftl->cell, ppn, 0);
		block = aftl_block_of_ppn(&device.ftl->media, ppn);
		page = aftl_page_of_ppn(&device.ftl->media, ppn) % device.ftl->geo.pages;
		seen_levels |= 1 << errors.levels;
		CHECK_EQ(measure_read_ns(unit), 60000 + 7000 * errors.levels);
		CHECK_EQ(aftl_sense_valid_data(device.ftl, block, page, 0),
			 60000 + 7000 * errors.levels);
	}
	CHECK_MSG((seen_levels & (seen_levels - 1)) && seen_levels > 3, "levels %x", seen_levels);
}

/* Tests of the read times and errors of old data that the host reads and GC relocates. */

static void relocate_old_data(const char *read_move)
{
	const struct aftl_counters *counters;
	struct test_stream stream;

	open_device("baseline",
		    test_format_params(OLD " fill=sequential op=40 read_move=%s", read_move));
	counters = test_counters(&device);
	seen.by_default = true;
	test_stream_init(&stream, 5);
	stream.read = 10;
	test_stream_submit_requests(&stream, &device, 6000);
	test_drain_requests(&device);
	CHECK(counters->gc_blocks > 10 && counters->array_reads > counters->host_read_units);
	CHECK(seen.retries > seen.reads / 5);
	CHECK_EQ(counters->read_retries, seen.retries);
}

/* Host reads and relocation of old data take retries; read_move is the time of one sensing. */
TAP_TEST(relocation_reads_are_retried_like_host_reads)
{
	relocate_old_data("0");
	relocate_old_data("7us");
}

/* Count units with at least @at_least bits that had flipped before relocation. */
static u32 count_units_with_errors(u32 at_least)
{
	const struct aftl *ftl = device.ftl;
	aftl_ppn_t ppn;
	u32 count = 0;
	u32 unit;

	for (unit = 0; unit < ftl->geo.units; unit++)
		count += aftl_l2p_lookup(ftl, to_lpn(unit), &ppn) &&
			 aftl_oob_origin(&ftl->media, aftl_block_of_ppn(&ftl->media, ppn),
					 ppn).inherited >= at_least;
	return count;
}

static const struct aftl_counters *move_data(const char *policy, const char *params)
{
	struct test_stream stream;

	open_device(policy, params);
	test_stream_init(&stream, 5);
	stream.read = 0;
	stream.approx = 50;
	test_stream_submit_requests(&stream, &device, 6000);
	test_drain_requests(&device);
	CHECK(test_counters(&device)->gc_valid_units > 1000);
	return test_counters(&device);
}

/* Relocation bypasses the host's ECC: copies of approximate data inherit the errors. */
TAP_TEST(copies_of_approximate_data_inherit_errors)
{
	const struct aftl_counters *counters = move_data("vth_b", SHAPE " cell_model=constant "
							 "fill=sequential op=40");

	CHECK(device.ftl->cell.clean);
	CHECK_EQ(counters->moved_lost_units, 0);
	CHECK(counters->baked_bits > 1000);
	CHECK(count_units_with_errors(1) > 100);
}

static u64 read_in_flight;
static u64 flipped_in_flight;

/* Reads of data that are being programmed return no cell errors yet. */
static void check_in_flight_read(struct test_listener *self, struct test_request *request,
				 const struct aftl_read *read)
{
	const struct aftl_media *media = &device.ftl->media;

	if (read->source != AFTL_SOURCE_FLASH || !aftl_ppn_is_programming(device.ftl, read->ppn))
		return;
	read_in_flight++;
	flipped_in_flight += read->flips;
	CHECK(!read->lost);
	CHECK_EQ(read->flips, aftl_oob_origin(media, aftl_block_of_ppn(media, read->ppn),
					      read->ppn).inherited);
}

/* During a relocation, read the first unit of each program that is in progress. */
static void read_unit_of_each_ongoing_program(void)
{
	u32 i;

	for (i = 0; i < device.ftl->geo.luns; i++) {
		const struct aftl_work *work = &device.ftl->luns[i].work;
		aftl_ppn_t ppn;

		if (work->kind != AFTL_WORK_RELOC_PROGRAM || work->phase != AFTL_PHASE_PROGRAM)
			continue;
		ppn = aftl_page_ppn(&device.ftl->media, work->placement.block,
				    work->placement.page);
		if (aftl_ppn_is_valid(&device.ftl->media, ppn))
			test_execute_request(&device, AFTL_OP_READ,
					     from_lpn(aftl_ppn_lpn(&device.ftl->media, ppn)), 1, 0,
					     NULL);
	}
}

TAP_TEST(data_of_a_program_in_progress_have_only_inherited_errors)
{
	static struct test_listener listener = { .read = check_in_flight_read };
	struct test_stream stream;
	u32 i;

	open_device("vth_b", SHAPE " cell_model=constant fill=sequential op=40");
	test_device_add_listener(&device, &listener);
	test_stream_init(&stream, 5);
	stream.approx = 50;
	for (i = 0; i < 6000; i++) {
		test_stream_submit_request(&stream, &device);
		read_unit_of_each_ongoing_program();
	}
	test_drain_requests(&device);
	CHECK_MSG(read_in_flight > 100 && flipped_in_flight > 100, "%llu reads, %llu bits",
		  (unsigned long long)read_in_flight, (unsigned long long)flipped_in_flight);
}

/* Relocation marks the copy of uncorrectable precise data as lost. */
TAP_TEST(relocation_of_uncorrectable_precise_data_loses_them)
{
	const struct aftl_counters *counters = move_data("baseline", SHAPE " cell_model=constant "
							 "rber=5e-2 fill=sequential op=40");

	CHECK(counters->moved_lost_units > 1000);
	CHECK_EQ(counters->baked_bits, 0);
	CHECK(count_units_with_errors(AFTL_INHERITED_LOST) > 100);
}

static const struct aftl_policy_type *baseline;
static struct aftl_piggyback companion;

/* Policy method that adds an old page to each program of host data. */
static int piggyback_old_page_on_host_program(struct aftl_policy *policy, struct aftl_lun *lun,
					      const struct aftl_program_request *need,
					      struct aftl_placement *placement)
{
	int ret = baseline->place(policy, lun, need, placement);

	companion.from = &policy->ftl->media.blocks[3];
	placement->piggyback = &companion;
	placement->piggybacked = need->cause == AFTL_CAUSE_HOST;
	return ret;
}

/* A piggybacked page is read first, with the retries that its age requires. */
TAP_TEST(piggybacked_pages_are_read_with_retries)
{
	struct aftl_policy_type type;
	struct aftl_block *block;
	u64 retries;

	open_device("baseline", OLD " channels=1 fill=sequential program=700us");
	baseline = device.ftl->type;
	type = *baseline;
	type.place = piggyback_old_page_on_host_program;
	device.ftl->type = &type;
	block = &device.ftl->media.blocks[3];
	companion.page = 0;
	while (companion.page < device.ftl->geo.pages - 1 &&
	       !find_best_ref_shift(block, companion.page))
		companion.page++;
	retries = find_best_ref_shift(block, companion.page);
	CHECK(retries);
	test_execute_request(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE, NULL);
	CHECK_EQ(test_counters(&device)->host_program_ns, 700000 + 60000 * (1 + retries));
	CHECK_EQ(test_counters(&device)->carried_reads, 1);
	CHECK_EQ(test_counters(&device)->read_retries, retries);
	CHECK_EQ(block->reads, 1 + retries);
	device.ftl->type = baseline;
}

/* Read disturb */

static u64 compute_error_rate_after_reads(struct aftl_block *block, u64 reads_of_each_page)
{
	block->reads = reads_of_each_page * device.ftl->geo.pages;
	return aftl_cell_rber_q40(&device.ftl->cell, block, 7, aftl_device_age_hours(device.ftl));
}

TAP_TEST(reads_raise_the_error_rate_of_their_block)
{
	struct aftl_block *block;
	u64 none;
	u64 reads;
	u64 last;

	open_device("baseline", SHAPE " cycles=2000 fill=sequential");
	block = &device.ftl->media.blocks[1];
	none = compute_error_rate_after_reads(block, 0);
	last = none;
	for (reads = 1; reads < 2000; reads += 1 + reads / 3) {
		CHECK(compute_error_rate_after_reads(block, reads) >= last);
		last = compute_error_rate_after_reads(block, reads);
	}
	/* At 2,000 erases 1,000 reads per page add 7.2e-3 to the error rate of an edge layer. */
	CHECK_RANGE(last - none, 6ULL << 30, 11ULL << 30);
	block->erases = 500;
	CHECK(compute_error_rate_after_reads(block, 1000) < last / 4 * 3);
	aftl_block_clear_oob(&device.ftl->media, block);
	CHECK_EQ(block->reads, 0);
	test_device_close(&device);
}

TAP_TEST(retries_count_as_reads)
{
	u64 sensed = 0;
	u32 i;

	open_device("baseline", OLD " fill=sequential");
	seen.by_default = true;
	read_all_units();
	for (i = 0; i < device.ftl->geo.blocks; i++)
		sensed += device.ftl->media.blocks[i].reads;
	CHECK_EQ(sensed, seen.reads + seen.retries);
}

#define ONE_DIE "channels=1 chips=1 blocks=40 layers=4 word_lines=4 unit=0 op=60"

/* A block at its read limit is refreshed, and relocated data keep their class. */
static void check_refresh_at_read_limit(const char *limit, bool moves)
{
	static struct shadow_store store;
	u32 unit;
	u32 i;

	open_device("vth_b", test_format_params(ONE_DIE " read_limit=%s", limit));
	shadow_attach_to_device(&store, &device, true);
	for (unit = 0; unit < test_unit_count(&device); unit++)
		test_execute_request(&device, AFTL_OP_WRITE, unit, 1, unit % 2, NULL);
	for (i = 0; i < 1000; i++) {
		test_execute_request(&device, AFTL_OP_READ, 10 + i % 2, 1, 0, NULL);
		if (i % 4 < 2)
			test_execute_request(&device, AFTL_OP_WRITE, 100 + i % 20, 1, i % 2, NULL);
	}
	test_advance_clock_by(&device, 10000000000ULL);
	CHECK_EQ(test_counters(&device)->disturbed_blocks > 3, moves);
	CHECK_EQ(test_counters(&device)->programmed_refresh_units > 30, moves);
	CHECK_EQ(test_counters(&device)->programmed_promotion_units, 0);
	for (unit = 0; unit < test_unit_count(&device); unit++) {
		aftl_ppn_t ppn;
		u32 class;

		ppn = aftl_lookup(device.ftl, to_lpn(unit), &class);
		CHECK(ppn != AFTL_NO_PPN && class == unit % 2);
	}
}

TAP_TEST(blocks_at_the_read_limit_are_relocated)
{
	check_refresh_at_read_limit("2", true);
	check_refresh_at_read_limit("0", false);
	check_refresh_at_read_limit("1000", false);
}

/* A saved device keeps the read counts of blocks, but drops pending refreshes by read disturb. */
TAP_TEST(a_suspended_device_drops_pending_refreshes)
{
	const struct aftl_block *block;
	u32 i;

	open_device("baseline", ONE_DIE " read_limit=2 fill=sequential");
	block = &device.ftl->media.blocks[0];
	for (i = 0; i < 32; i++)
		CHECK_EQ(test_submit_io(&device, AFTL_OP_READ, 3, 1, 0, 0, 0), 0);
	aftl_quiesce(device.ftl);
	CHECK_EQ(block->reads, 32);
	CHECK(!device.ftl->luns[0].disturbed);
	aftl_unquiesce_device(device.ftl);
	test_execute_request(&device, AFTL_OP_READ, 4, 1, 0, NULL);
	test_advance_clock_by(&device, 1000000000ULL);
	CHECK_EQ(test_counters(&device)->disturbed_blocks, 1);
	CHECK_EQ(block->reads, 0);
}

/* Adversaries */

static struct aftl_random draws;
static u64 wrong_starts;

/* Start reads with any shift of the references, including invalid ones. */
static u32 choose_random_ref_shift(struct aftl_policy *policy, const struct aftl_block *block,
				   u32 page)
{
	u32 start = aftl_random_below(&draws, 12);

	if (start == 11)
		start = U32_MAX - (u32)aftl_random_below(&draws, 4);
	wrong_starts += start > AFTL_SHIFT_MAX;
	return start;
}

/* Policy method that returns the optimal shift of read references, which no policy can know. */
static u32 choose_optimal_ref_shift(struct aftl_policy *policy, const struct aftl_block *block,
				    u32 page)
{
	return find_best_ref_shift(block, page);
}

/* The shift reported to the policy must be the true optimum. */
static void check_reported_ref_shift(struct aftl_policy *policy, const struct aftl_block *block,
				     u32 page, u32 shift)
{
	CHECK_EQ(shift, find_best_ref_shift(block, page));
}

/**
 * struct adversary - baseline policy with other read references
 * @name: name of the policy
 * @start: its initial shift
 * @least: least read time on old data, in percent of the optimum
 */
struct adversary {
	const char *name;
	u32 (*start)(struct aftl_policy *policy, const struct aftl_block *block, u32 page);
	u32 least;
};

static const struct adversary adversaries[] = {
	{ "random", choose_random_ref_shift, 200 },
	{ "greedy", choose_optimal_ref_shift, 100 },
};

static const char small[] =
	"channels=1 chips=1 dies=1 planes=1 blocks=24 op=50 read_limit=3 read_first=0 read_last=0 "
	"read_move=0 superblock=0 rain=off slc_static=0 slc_dynamic=0 map_cache=0";

static void create_aged_device(const struct aftl_policy_type *type, const char *profile, bool old,
			       u32 model)
{
	test_device_init(&device, profile);
	test_device_set_params(&device, small);
	device.config.cell_model = model;
	device.config.cycles = old ? 2000 : 0;
	device.config.buffer = min_t(u64, device.config.buffer, 256 << 10);
	device.ops.array = check_sense_event;
	memset(&seen, 0, sizeof(seen));
	wrong_starts = 0;
	draws.state = model + 1;
	test_device_open_with_policy_type(&device, type, NULL);
}

static void check_reads_of_adversarial_policy(const struct adversary *adversary,
					      const char *profile,
					      bool old, u32 model)
{
	struct aftl_policy_type type = *aftl_policy_find("baseline");
	static struct shadow_store store;
	struct test_stream stream;
	u32 i;

	type.reference = adversary->start;
	type.reference_found = check_reported_ref_shift;
	create_aged_device(&type, profile, old, model);
	shadow_attach_to_device(&store, &device, false);
	test_stream_init(&stream, model + 7);
	stream.read = 80;
	test_stream_write_all_units(&stream, &device);
	for (i = 0; i < 1500 && !tap_failure_count(); i++) {
		if (old && i % 500 == 0)
			aftl_advance_age(device.ftl, 4 * MONTH_HOURS * AFTL_HOUR_NS);
		test_stream_submit_request(&stream, &device);
	}
	test_drain_requests(&device);
	CHECK(seen.reads > 500 && seen.ns >= seen.least_ns);
	CHECK_MSG(!old || seen.ns * 100 >= seen.least_ns * adversary->least,
		  "%s on %s: %llu ns in place of %llu", adversary->name, profile,
		  (unsigned long long)seen.ns, (unsigned long long)seen.least_ns);
	CHECK_EQ(test_counters(&device)->policy_bugs, wrong_starts);
	CHECK_EQ(wrong_starts > 0, adversary->start == choose_random_ref_shift);
	CHECK_EQ(test_counters(&device)->read_precise_flipped_bits, 0);
	shadow_compare_device_with_store(&store);
	test_device_close(&device);
}

TAP_TEST(no_policy_reads_faster_than_the_chip_allows)
{
	unsigned int kind;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(adversaries) && !tap_failure_count(); i++)
		for (kind = 0; aftl_profile_name(kind / 4) && !tap_failure_count(); kind++)
			check_reads_of_adversarial_policy(&adversaries[i],
							  aftl_profile_name(kind / 4),
							  kind & 1, kind >> 1 & 1);
}
