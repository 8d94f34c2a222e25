// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounded work: long calls of the core pause and can be interrupted, and each event does a bounded
 * amount of work.
 */
#include "bytes.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/run-queue.h"
#include "tap.h"
#include "test-device.h"

/* Most pages that one event checks for age: 1,024, and the rest of the last block. */
#define EVENT_PAGES (1024 + 768)
/* Most units relocated between two pauses: the pages of a few blocks. */
#define MOVES_BETWEEN 3072

static const char filled[] =
	"channels=2 chips=1 blocks=40 layers=4 word_lines=8 op=30 fill=random fill_overwrite=200 "
	"fill_approx=50";

/* Parameters of a device full of approximate data that refresh rewrites after 30 days. */
static const char old[] =
	"channels=2 chips=1 blocks=80 layers=24 word_lines=32 op=30 fill=sequential "
	"fill_approx=100 refresh=30d";

/**
 * struct watch - a host that counts work and may interrupt a call
 * @listener: counts copies and programs
 * @device: the device
 * @pauses: number of pauses so far
 * @end_at: number of the pause, from 1, that interrupts the call; 0: none
 * @since: units relocated or programmed since the last pause
 * @most: largest value of @since
 */
static struct watch {
	struct test_listener listener;
	struct test_device device;
	u32 pauses;
	u32 end_at;
	u32 since;
	u32 most;
} watch;

static struct test_device *const device = &watch.device;

static int update_max_work_between_host_pauses(__maybe_unused void *host)
{
	watch.most = max(watch.most, watch.since);
	watch.since = 0;
	return ++watch.pauses == watch.end_at ? -EINTR : 0;
}

static void count_copy_since_pause(__maybe_unused struct test_listener *self,
				   __maybe_unused aftl_lpn_t lpn, __maybe_unused aftl_ppn_t from,
				   __maybe_unused aftl_ppn_t to)
{
	watch.since++;
}

static void count_page_filled_since_pause(__maybe_unused struct test_listener *self,
					  __maybe_unused aftl_ppn_t first)
{
	watch.since++;
}

static void init_device_that_counts_pauses(const char *params)
{
	watch = (struct watch){ .listener = { .copy = count_copy_since_pause,
					      .programmed = count_page_filled_since_pause } };
	test_device_init(device, "demo");
	device->ops.pause = update_max_work_between_host_pauses;
	test_device_add_listener(device, &watch.listener);
	test_device_set_params(device, params);
}

TAP_TEST(a_fill_pauses_after_a_bounded_number_of_writes)
{
	init_device_that_counts_pauses(filled);
	CHECK_EQ(test_device_create(device, "baseline"), 0);
	CHECK(watch.pauses > test_unit_count(device) / 2);
	CHECK(watch.most > 0);
	CHECK_RANGE(watch.most, 1, MOVES_BETWEEN);
	test_audit_device(device);
}

TAP_TEST(a_fill_can_be_interrupted)
{
	u32 end_at;

	for (end_at = 1; end_at < 8000; end_at = 3 * end_at + 1) {
		init_device_that_counts_pauses(filled);
		watch.end_at = end_at;
		CHECK_EQ(test_device_create(device, "vth_b"), -EINTR);
		CHECK_EQ(watch.pauses, end_at);
		test_device_close(device);
	}
}

static struct test_bytes bytes;

static int audit_paused_device(void)
{
	return aftl_audit(device->ftl, &device->error);
}

static int save_paused_device_snapshot(void)
{
	struct aftl_snapshot_sink sink = test_bytes_sink(&bytes);

	free_test_bytes(&bytes);
	return aftl_save(device->ftl, &sink, &device->error);
}

static int load_paused_device_snapshot(void)
{
	struct aftl_snapshot_source source = test_bytes_source(&bytes);
	struct aftl *ftl = NULL;
	int ret = aftl_load(&ftl, &source, &device->ops, device, &device->error);

	aftl_destroy(ftl);
	return ret;
}

/* Check that @call, interrupted at any pause, returns -EINTR, and succeeds when repeated. */
static void check_call_interruptible(int (*call)(void))
{
	u32 pauses;

	watch.end_at = 0;
	watch.pauses = 0;
	CHECK_EQ(call(), 0);
	pauses = watch.pauses;
	CHECK(pauses > 10);
	for (watch.end_at = 1; watch.end_at < pauses; watch.end_at += 7) {
		watch.pauses = 0;
		CHECK_EQ(call(), -EINTR);
		CHECK_EQ(watch.pauses, watch.end_at);
		CHECK_CONTAINS(device->error.text, "interrupted while the device was ");
	}
	watch.end_at = 0;
	CHECK_EQ(call(), 0);
}

TAP_TEST(audit_save_and_load_can_be_interrupted)
{
	init_device_that_counts_pauses(filled);
	CHECK_EQ(test_device_create(device, "vth_b"), 0);
	check_call_interruptible(audit_paused_device);
	check_call_interruptible(save_paused_device_snapshot);
	check_call_interruptible(load_paused_device_snapshot);
	free_test_bytes(&bytes);
}

/* Refresh */

static struct aftl_policy_type counting;
static u32 asked;

static u32 count_age_checks(__maybe_unused struct aftl_policy *policy, u32 class,
			    __maybe_unused u32 mode)
{
	asked++;
	return class == AFTL_APPROX ? 30 * 24 : 0;
}

static void open_device_that_counts_age_checks(void)
{
	init_device_that_counts_pauses(old);
	counting = *aftl_policy_find("delta_b");
	counting.retention_hours = count_age_checks;
	test_device_open_with_policy_type(device, &counting, NULL);
}

/* Return the largest number of pages that one event checked for age. */
static u32 find_max_age_checks_per_event(u64 ns)
{
	u64 end_ns = aftl_device_time_ns(device->ftl) + ns;
	u32 most = 0;

	while (aftl_next_event_ns(device->ftl) <= end_ns) {
		asked = 0;
		aftl_process_events_until(device->ftl, aftl_next_event_ns(device->ftl));
		most = max(most, asked);
	}
	return most;
}

TAP_TEST(the_daily_search_for_old_data_is_sliced)
{
	open_device_that_counts_age_checks();
	asked = 0;
	aftl_advance_age(device->ftl, 29 * AFTL_DAY_NS);
	CHECK_EQ(asked, 0);
	CHECK_RANGE(find_max_age_checks_per_event(AFTL_HOUR_NS), 512, EVENT_PAGES);
	CHECK_EQ(test_counters(device)->programmed_refresh_units, 0);
	aftl_advance_age(device->ftl, 2 * AFTL_DAY_NS);
	CHECK_RANGE(find_max_age_checks_per_event(AFTL_HOUR_NS), 512, 2 * EVENT_PAGES);
	/* Check that each unit of old data was refreshed once. */
	CHECK_EQ(test_counters(device)->programmed_refresh_units, test_unit_count(device));
	test_audit_device(device);
}

/* The search for old data does not finish the first LUN before it begins the second. */
TAP_TEST(the_search_for_old_data_alternates_between_luns)
{
	open_device_that_counts_age_checks();
	aftl_advance_age(device->ftl, 31 * AFTL_DAY_NS);
	aftl_process_events_until(device->ftl, aftl_device_time_ns(device->ftl) + 250000);
	CHECK_EQ(test_counters(device)->refresh_blocks, 2);
}

/* Check that a device and the one loaded from its snapshot have the same events and times. */
static void check_devices_have_equal_next_events(struct aftl *loaded)
{
	u32 events;

	for (events = 0; events < 3000; events++) {
		u64 next_ns = aftl_next_event_ns(device->ftl);

		if (!CHECK_EQ(aftl_next_event_ns(loaded), next_ns))
			return;
		aftl_process_events_until(device->ftl, next_ns);
		aftl_process_events_until(loaded, next_ns);
	}
	CHECK_EQ(aftl_compute_device_digest(device->ftl), aftl_compute_device_digest(loaded));
}

static void save_during_refresh_scan(u64 at_ns)
{
	struct aftl_snapshot_source source;
	struct aftl *loaded = NULL;

	init_device_that_counts_pauses(old);
	CHECK_EQ(test_device_create(device, "delta_b"), 0);
	aftl_advance_age(device->ftl, 31 * AFTL_DAY_NS);
	aftl_process_events_until(device->ftl, aftl_device_time_ns(device->ftl) + at_ns);
	CHECK_EQ(save_paused_device_snapshot(), 0);
	source = test_bytes_source(&bytes);
	CHECK_EQ(aftl_load(&loaded, &source, &device->ops, device, &device->error), 0);
	aftl_reset_stats(device->ftl);
	check_devices_have_equal_next_events(loaded);
	CHECK(test_counters(device)->programmed_refresh_units > 0);
	aftl_destroy(loaded);
	free_test_bytes(&bytes);
	test_device_close(device);
}

/* A snapshot includes the progress of a search for old data: a loaded device continues alike. */
TAP_TEST(a_snapshot_keeps_the_progress_of_a_search)
{
	save_during_refresh_scan(150000);
	save_during_refresh_scan(250000);
	save_during_refresh_scan(350000);
	save_during_refresh_scan(3000000);
}

/* With refresh off, the device's clock advances without daily events. */
TAP_TEST(with_refresh_off_no_daily_event_is_due)
{
	init_device_that_counts_pauses(old);
	CHECK_EQ(test_device_create(device, "delta_b"), 0);
	CHECK_EQ(aftl_set_param(device->ftl, "refresh", "0", &device->error), 0);
	aftl_process_events_until(device->ftl, aftl_device_time_ns(device->ftl) + 3 * AFTL_DAY_NS);
	CHECK_EQ(aftl_next_event_ns(device->ftl), U64_MAX);
	CHECK_EQ(aftl_set_param(device->ftl, "refresh", "30d", &device->error), 0);
	aftl_advance_age(device->ftl, 40 * AFTL_DAY_NS);
	aftl_process_events_until(device->ftl, aftl_device_time_ns(device->ftl) + AFTL_HOUR_NS);
	CHECK_EQ(test_counters(device)->programmed_refresh_units, test_unit_count(device));
}

/* Work per call */

/* Parameters of a device with 4,096 LUNs, each of which programs four units at once. */
static const char wide[] =
	"channels=64 chips=16 dies=4 blocks=8 layers=2 word_lines=2 bits=1 page=16KiB unit=4KiB "
	"op=60 buffer=64MiB buffer_hold=1s";

/* Zones of 16,384 units. */
static const char zoned[] =
	"channels=2 chips=2 blocks=40 layers=64 word_lines=32 bits=1 page=16KiB unit=4KiB op=30 "
	"zoned=64MiB zone_capacity=0 buffer=16MiB buffer_safe=on";

/* Most work of a call: AFTL_SLICE_WORK, and the rest of the last LUN or request. */
#define CALL_WORK (2 * AFTL_SLICE_WORK)

static u32 calls, most_work;

static void count_program_since_pause(__maybe_unused struct test_listener *self,
				      __maybe_unused u32 tag,
				      __maybe_unused aftl_lpn_t lpn, __maybe_unused aftl_ppn_t ppn)
{
	watch.since++;
}

static void count_unmapped_units_since_pause(__maybe_unused void *host,
					     __maybe_unused aftl_lpn_t first,
					     u32 units)
{
	watch.since += units;
}

static void open_device_that_counts_work(const char *params)
{
	init_device_that_counts_pauses(params);
	watch.listener.program = count_program_since_pause;
	device->ops.unmapping = count_unmapped_units_since_pause;
	CHECK_MSG(!test_device_create(device, "baseline"), "%s", device->error.text);
	calls = 0;
	most_work = 0;
}

/* Record the work of one call of the core, in its work counter and in host callbacks. */
static void record_work_of_core_call(u32 work)
{
	calls++;
	most_work = max(most_work, aftl_get_amount_of_work_done(device->ftl) - work);
	watch.most = max(watch.most, watch.since);
	watch.since = 0;
}

/* Process due events one by one, as a host does before it calls the core. */
static void count_pending_events(void)
{
	while (aftl_next_event_ns(device->ftl) <= aftl_device_time_ns(device->ftl)) {
		u32 work = aftl_get_amount_of_work_done(device->ftl);

		test_process_event(device);
		record_work_of_core_call(work);
	}
}

static void submit_request_and_record_work(enum aftl_op op, u32 unit, u32 units)
{
	u32 work;

	count_pending_events();
	work = aftl_get_amount_of_work_done(device->ftl);
	CHECK_EQ(test_submit_io(device, op, unit, units, 0, 0, aftl_device_time_ns(device->ftl)),
		 0);
	record_work_of_core_call(work);
}

static void process_events_and_record_work(void)
{
	u32 work = aftl_get_amount_of_work_done(device->ftl);

	while (aftl_has_pending_work(device->ftl) && test_process_event(device)) {
		record_work_of_core_call(work);
		work = aftl_get_amount_of_work_done(device->ftl);
	}
}

static void check_work_per_call_is_bounded(u32 at_least)
{
	CHECK_RANGE(calls, at_least, U32_MAX);
	CHECK_RANGE(most_work, 1, CALL_WORK);
	CHECK_RANGE(watch.most, 1, CALL_WORK);
	test_audit_device(device);
}

static void write_units_and_record_work(u32 first, u32 end)
{
	for (; first < end; first += TEST_REQUEST_UNITS)
		submit_request_and_record_work(AFTL_OP_WRITE, first,
					       min(end - first, (u32)TEST_REQUEST_UNITS));
}

static u32 count_woken_luns(void)
{
	const struct aftl_lun *lun = device->ftl->runnable;
	u32 count;

	for (count = 0; lun; lun = lun->next_runnable)
		count++;
	return count;
}

/* An event makes a quarter of the LUNs runnable; none is dispatched before all are runnable. */
TAP_TEST(luns_are_woken_in_slices)
{
	open_device_that_counts_work(wide);
	CHECK_EQ(aftl_geometry(device->ftl)->luns, 4 * AFTL_SLICE_LUNS);
	CHECK_EQ(aftl_set_param(device->ftl, "idle", "1ms", &device->error), 0);
	for (calls = 1; calls <= 4; calls++) {
		CHECK_EQ(count_woken_luns(), calls * AFTL_SLICE_LUNS);
		aftl_process_next_event(device->ftl, aftl_device_time_ns(device->ftl));
	}
	CHECK_RANGE(count_woken_luns(), 1, 4 * AFTL_SLICE_LUNS - 1);
	process_events_and_record_work();
	CHECK_EQ(count_woken_luns(), 0);
}

TAP_TEST(the_work_per_call_of_a_flush_is_bounded)
{
	open_device_that_counts_work(wide);
	write_units_and_record_work(0, 16000);
	calls = 0;
	submit_request_and_record_work(AFTL_OP_FLUSH, 0, 0);
	process_events_and_record_work();
	CHECK_RANGE(test_counters(device)->array_programs, 4000, 16000);
	check_work_per_call_is_bounded(16000 / CALL_WORK);
}

TAP_TEST(the_work_per_call_of_gc_is_bounded)
{
	u32 work, i;

	open_device_that_counts_work(wide);
	for (i = 0; i < 2; i++)
		write_units_and_record_work(0, test_unit_count(device) / 2);
	submit_request_and_record_work(AFTL_OP_FLUSH, 0, 0);
	process_events_and_record_work();
	calls = 0;
	for (i = 0; i < 4096; i++) {
		count_pending_events();
		work = aftl_get_amount_of_work_done(device->ftl);
		CHECK_EQ(aftl_start_lun_gc(device->ftl, i), 0);
		record_work_of_core_call(work);
	}
	for (i = 0; i < 40000 && aftl_count_luns_in_gc(device->ftl); i++) {
		work = aftl_get_amount_of_work_done(device->ftl);
		test_process_event(device);
		record_work_of_core_call(work);
	}
	CHECK(test_counters(device)->array_erases > 0);
	CHECK_EQ(aftl_count_luns_in_gc(device->ftl), 0);
	check_work_per_call_is_bounded(4096);
}

/* Die failures */

static u32 retired_calls;

static void note_retired_blocks(__maybe_unused struct test_listener *self, u32 first, u32 blocks)
{
	u32 i;

	retired_calls++;
	for (i = first; i < first + blocks; i++)
		CHECK_EQ(device->ftl->media.blocks[i].state, AFTL_BLOCK_BAD);
}

static void let_die_fail_and_record_work(const char *params)
{
	u32 work;

	open_device_that_counts_work(params);
	watch.listener.retire = note_retired_blocks;
	retired_calls = 0;
	write_units_and_record_work(0, 1000);
	submit_request_and_record_work(AFTL_OP_FLUSH, 0, 0);
	process_events_and_record_work();
	calls = 0;
	work = aftl_get_amount_of_work_done(device->ftl);
	CHECK_EQ(aftl_fail_lun(device->ftl, 1), 0);
	record_work_of_core_call(work);
	CHECK_EQ(retired_calls, 0);
	CHECK(aftl_scheduler_has_work(device->ftl));
}

static const char many_blocks[] =
	"channels=4 chips=1 blocks=4096 layers=2 word_lines=2 bits=1 page=16KiB unit=4KiB op=80 "
	"buffer=1MiB";
static const char many_superblocks[] =
	"channels=4 chips=1 blocks=4096 layers=2 word_lines=2 bits=1 page=16KiB unit=4KiB op=80 "
	"buffer=1MiB superblock=4 rain=on";

TAP_TEST(the_work_per_call_of_a_die_failure_is_bounded)
{
	let_die_fail_and_record_work(many_blocks);
	process_events_and_record_work();
	CHECK_EQ(retired_calls, 1);
	CHECK_EQ(test_counters(device)->retired_blocks, 4096);
	check_work_per_call_is_bounded(4096 / CALL_WORK);
	test_device_close(device);
	let_die_fail_and_record_work(many_superblocks);
	process_events_and_record_work();
	CHECK_EQ(retired_calls, 1);
	/* One step for each block, and four for each superblock, whose members it examines. */
	check_work_per_call_is_bounded(5 * 4096 / CALL_WORK);
}

/* A request that arrives while the blocks of a die are retired waits until all are. */
TAP_TEST(a_request_during_a_die_failure_waits_for_its_end)
{
	let_die_fail_and_record_work(many_blocks);
	test_submit_io(device, AFTL_OP_WRITE, 0, 1, 0, 0, aftl_device_time_ns(device->ftl));
	CHECK_EQ(retired_calls, 1);
	CHECK_EQ(test_counters(device)->retired_blocks, 4096);
	process_events_and_record_work();
	CHECK_EQ(device->failed, 0);
	test_audit_device(device);
}

TAP_TEST(the_work_per_call_of_discards_is_bounded)
{
	u32 i;

	open_device_that_counts_work(wide);
	write_units_and_record_work(0, 64000);
	submit_request_and_record_work(AFTL_OP_FLUSH, 0, 0);
	process_events_and_record_work();
	for (i = 0; i < 64000; i += 256)
		submit_request_and_record_work(AFTL_OP_DISCARD, i, 256);
	process_events_and_record_work();
	check_work_per_call_is_bounded(250);
}

TAP_TEST(the_work_per_call_of_a_zone_reset_is_bounded)
{
	u32 zone_units, zones, i;

	open_device_that_counts_work(zoned);
	zone_units = aftl_geometry(device->ftl)->zone_units;
	zones = aftl_geometry(device->ftl)->zones;
	CHECK_EQ(zone_units, 16384);
	write_units_and_record_work(0, 4 * zone_units - 100);
	process_events_and_record_work();
	calls = 0;
	submit_request_and_record_work(AFTL_OP_ZONE_RESET, 0, 0);
	process_events_and_record_work();
	check_work_per_call_is_bounded(zone_units / AFTL_SLICE_WORK);
	CHECK_EQ(test_counters(device)->zone_resets, 1);
	calls = 0;
	submit_request_and_record_work(AFTL_OP_ZONE_RESET_ALL, 0, 0);
	process_events_and_record_work();
	check_work_per_call_is_bounded(3 * zone_units / AFTL_SLICE_WORK);
	CHECK_EQ(test_counters(device)->zone_resets, 4);
	for (i = 0; i < zones; i++) {
		u32 written;

		CHECK(aftl_zone_state(device->ftl, i, &written) == AFTL_ZONE_EMPTY);
		CHECK_EQ(written, 0);
	}
	for (i = 0; i < test_unit_count(device); i++)
		CHECK(aftl_lookup(device->ftl, to_lpn(i), &zone_units) == AFTL_NO_PPN);
}

/* A call that resets a zone does bounded work, although 4,000 writes to the zone wait for a LUN. */
TAP_TEST(the_work_per_call_for_writes_before_a_zone_reset_is_bounded)
{
	open_device_that_counts_work("channels=1 chips=1 blocks=40 layers=64 word_lines=32 bits=1 "
				     "page=16KiB unit=4KiB op=30 zoned=64MiB buffer=16MiB "
				     "buffer_safe=on program=1s");
	write_units_and_record_work(0, 4000);
	submit_request_and_record_work(AFTL_OP_ZONE_RESET, 0, 0);
	process_events_and_record_work();
	calls = 0;
	write_units_and_record_work(0, 4000);
	process_events_and_record_work();
	CHECK_RANGE(test_counters(device)->array_programs, 0, 4000 / 4);
	check_work_per_call_is_bounded(4000 / CALL_WORK);
	CHECK_EQ(device->failed, 0);
}

/*
 * Requests during a zone reset see the zones as reset. The device's final state does not depend on
 * whether the reset ends before these requests.
 */
static u64 send_requests_during_zone_reset(bool at_once)
{
	u32 zone_units, i;
	u64 digest;

	open_device_that_counts_work(zoned);
	zone_units = aftl_geometry(device->ftl)->zone_units;
	write_units_and_record_work(0, 3 * zone_units);
	process_events_and_record_work();
	for (i = 0; i < 3; i++) {
		submit_request_and_record_work(AFTL_OP_ZONE_RESET, i * zone_units, 0);
		while (!at_once && aftl_scheduler_has_work(device->ftl))
			test_process_event(device);
		/* Later zone resets may have to wait for open blocks of their zone. */
		CHECK(i || aftl_scheduler_has_work(device->ftl) == at_once);
		test_submit_io(device, AFTL_OP_WRITE, i * zone_units, 40, 0, 0,
			       aftl_device_time_ns(device->ftl));
		test_submit_io(device, AFTL_OP_READ, i * zone_units + 100, 60, 0, 0,
			       aftl_device_time_ns(device->ftl));
		aftl_set_drain_mode(device->ftl, i % 2);
	}
	aftl_set_drain_mode(device->ftl, true);
	process_events_and_record_work();
	CHECK_EQ(device->failed, 0);
	test_audit_device(device);
	digest = aftl_compute_device_digest(device->ftl);
	test_device_close(device);
	return digest;
}

TAP_TEST(requests_during_a_zone_reset_wait_for_it)
{
	u64 digest = send_requests_during_zone_reset(false);

	CHECK_EQ(send_requests_during_zone_reset(true), digest);
}
