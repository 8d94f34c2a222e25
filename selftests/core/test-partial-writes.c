// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes that cover a part of a logical page: their bytes, order and cost, and the reads of the
 * page's other bytes. The host stores a stamp per sector, and a model has the expected stamps.
 */
#include <stdlib.h>

#include "core/ftl/controller.h"
#include "stream.h"
#include "tap.h"

#define UNIT_SECTORS 32
#define SHAPE "channels=2 chips=1 blocks=24 layers=4 word_lines=4 page=16KiB unit=0 op=40 gc=10"
#define RUNS 12
#define REQUESTS 3000

/* Largest request in pages, plus one for requests that are not aligned. */
#define REQUEST_PAGES 5

/**
 * struct page - content of a logical page as a stamp for each sector
 */
struct page {
	u32 stamp[UNIT_SECTORS];
};

/**
 * struct own - the host's data about a request, which the core does not see
 * @stamp: stamp of the sectors that the request writes
 * @rest: content of the first and the last page, as read() fetched them
 * @floor: for a read, the oldest stamp that each sector may have
 */
struct own {
	u32 stamp;
	struct page rest[2];
	u32 floor[REQUEST_PAGES * UNIT_SECTORS];
};

static struct test_device device;
static struct test_listener listener;
static struct page *tags;
static struct page *slots;
static struct own *owns;
static u32 own_count;

/* For each sector, stamps of the newest submitted write and of the newest completed write. */
static u32 *submitted;
static u32 *completed;
static u32 stamps;
static u32 rests;
static u32 flash_rests;

static struct own *own_state(const struct test_request *request)
{
	return &owns[request->version % own_count];
}

static struct page compute_expected_content_of_read(const struct aftl_read *read)
{
	struct page zero = { { 0 } };

	switch (read->source) {
	case AFTL_SOURCE_BUFFER:
		return tags[read->tag];
	case AFTL_SOURCE_FLASH:
		return slots[from_ppn(read->ppn)];
	default:
		return zero;
	}
}

static void check_stamps_of_read_sectors(const struct test_request *request, u32 index,
					 const struct page *page)
{
	const struct aftl_request *core = &request->request;
	u32 begin = index ? 0 : core->head_skip;
	u32 end = UNIT_SECTORS - (index == core->units - 1 ? core->tail_skip : 0);
	u32 i;

	for (i = begin; i < end; i++)
		CHECK_MSG(page->stamp[i] >= own_state(request)->floor[index * UNIT_SECTORS + i],
			  "sector %u of page %u: stamp %u is read, %u was complete", i,
			  core->unit + index, page->stamp[i],
			  own_state(request)->floor[index * UNIT_SECTORS + i]);
}

static void check_or_store_sectors_of_read(struct test_listener *self, struct test_request *request,
					   const struct aftl_read *read)
{
	u32 index = from_lpn(read->lpn) - request->request.unit;
	struct page page = compute_expected_content_of_read(read);

	if (read->lost)
		return;
	if (request->request.op == AFTL_OP_READ) {
		check_stamps_of_read_sectors(request, index, &page);
		return;
	}
	rests++;
	flash_rests += read->source == AFTL_SOURCE_FLASH;
	CHECK_MSG(!index || index == request->request.units - 1,
		  "page %u of %u is read for a write", index, request->request.units);
	own_state(request)->rest[index != 0] = page;
}

static void record_sector_stamps_of_accepted_unit(struct test_listener *self,
						  struct test_request *request, aftl_lpn_t lpn,
						  u32 tag)
{
	const struct aftl_request *core = &request->request;
	u32 index = from_lpn(lpn) - core->unit;
	u32 begin = index ? 0 : core->head_skip;
	u32 end = UNIT_SECTORS - (index == core->units - 1 ? core->tail_skip : 0);
	u32 i;

	for (i = 0; i < UNIT_SECTORS; i++)
		tags[tag].stamp[i] = i >= begin && i < end ?
					     own_state(request)->stamp :
					     own_state(request)->rest[index != 0].stamp[i];
}

static void record_sector_stamps_of_programmed_unit(struct test_listener *self, u32 tag,
						    aftl_lpn_t lpn, aftl_ppn_t ppn)
{
	slots[from_ppn(ppn)] = tags[tag];
}

static void copy_sector_stamps_to_new_page(struct test_listener *self, aftl_lpn_t lpn,
					   aftl_ppn_t from, aftl_ppn_t to)
{
	slots[from_ppn(to)] = slots[from_ppn(from)];
}

/* Return the number of sectors of a request; *@first becomes the request's first sector. */
static u32 sector_range_of_request(const struct aftl_request *request, u32 *first)
{
	*first = request->unit * UNIT_SECTORS + request->head_skip;
	return request->units * UNIT_SECTORS - request->head_skip - request->tail_skip;
}

static void stamp_sectors_of_request(struct test_listener *self, struct test_request *request)
{
	struct own *own = own_state(request);
	u32 first;
	u32 count = sector_range_of_request(&request->request, &first);
	u32 i;

	if (request->request.op == AFTL_OP_READ)
		memcpy(own->floor, completed + request->request.unit * UNIT_SECTORS,
		       request->request.units * UNIT_SECTORS * sizeof(own->floor[0]));
	if (request->request.op != AFTL_OP_WRITE)
		return;
	own->stamp = ++stamps;
	memset(own->rest, 0xff, sizeof(own->rest));
	for (i = first; i < first + count; i++)
		submitted[i] = own->stamp;
}

static void record_completed_sector_stamps(struct test_listener *self, struct test_request *request)
{
	u32 first;
	u32 count = sector_range_of_request(&request->request, &first);
	u32 i;

	if (request->request.op != AFTL_OP_WRITE || request->request.status)
		return;
	for (i = first; i < first + count; i++)
		completed[i] = max(completed[i], own_state(request)->stamp);
}

static void free_sector_stamps(struct test_listener *self)
{
	free(tags);
	free(slots);
	free(owns);
	free(submitted);
	free(completed);
}

static void open_device(const char *params)
{
	const struct aftl_geometry *geo;

	test_device_init(&device, "demo");
	test_device_set_params(&device, SHAPE);
	test_device_open(&device, "baseline", params);
	geo = aftl_geometry(device.ftl);
	tags = tap_zalloc(aftl_count_buffer_tags(device.ftl), sizeof(*tags));
	slots = tap_zalloc(geo->ppns, sizeof(*slots));
	own_count = 4096;
	owns = tap_zalloc(own_count, sizeof(*owns));
	submitted = tap_zalloc((size_t)geo->units * UNIT_SECTORS, sizeof(u32));
	completed = tap_zalloc((size_t)geo->units * UNIT_SECTORS, sizeof(u32));
	stamps = 0;
	rests = 0;
	flash_rests = 0;
	listener = (struct test_listener){
		.submitted = stamp_sectors_of_request,
		.complete = record_completed_sector_stamps,
		.accept = record_sector_stamps_of_accepted_unit,
		.program = record_sector_stamps_of_programmed_unit,
		.copy = copy_sector_stamps_to_new_page,
		.read = check_or_store_sectors_of_read,
		.close = free_sector_stamps,
	};
	test_device_add_listener(&device, &listener);
}

/* Submit a request for @count sectors from @first on. */
static void submit_sectors(enum aftl_op op, u32 first, u32 count)
{
	u32 end = first + count;
	u32 unit = first / UNIT_SECTORS;
	u32 units = DIV_ROUND_UP(end, UNIT_SECTORS) - unit;

	device.head_skip = first % UNIT_SECTORS;
	device.tail_skip = units * UNIT_SECTORS - device.head_skip - count;
	CHECK_EQ(test_submit_io(&device, op, unit, units, AFTL_PRECISE, 0,
				aftl_device_time_ns(device.ftl)),
		 0);
}

static void write_sectors(u32 first, u32 count)
{
	submit_sectors(AFTL_OP_WRITE, first, count);
}

static u64 write_sectors_and_drain(u32 first, u32 count)
{
	u64 begin_ns = aftl_device_time_ns(device.ftl);

	write_sectors(first, count);
	test_drain_requests(&device);
	return aftl_device_time_ns(device.ftl) - begin_ns;
}

/* Compare all sectors of page @unit with the newest writes. */
static void check_page_sectors(u32 unit)
{
	memcpy(completed + unit * UNIT_SECTORS, submitted + unit * UNIT_SECTORS,
	       UNIT_SECTORS * sizeof(u32));
	submit_sectors(AFTL_OP_READ, unit * UNIT_SECTORS, UNIT_SECTORS);
	test_drain_requests(&device);
}

static void check_sector_stamp(u32 sector, u32 stamp)
{
	aftl_ppn_t ppn;
	u32 class;

	ppn = aftl_lookup(device.ftl, to_lpn(sector / UNIT_SECTORS), &class);
	if (CHECK_MSG(from_ppn(ppn) != from_ppn(AFTL_NO_PPN), "sector %u is not mapped", sector))
		CHECK_EQ(slots[from_ppn(ppn)].stamp[sector % UNIT_SECTORS], stamp);
}

/* Draw a range in the first @pages pages or anywhere; small ranges and whole pages are frequent. */
static u32 draw_sector_range(struct aftl_random *random, u32 *first)
{
	u32 all = (u32)aftl_geometry(device.ftl)->units * UNIT_SECTORS;
	u32 reach = aftl_random_below(random, 3) ? 6 * UNIT_SECTORS : all;
	u32 most = aftl_random_below(random, 2) ? 8 : (REQUEST_PAGES - 1) * UNIT_SECTORS;
	u32 count = 1 + aftl_random_below(random, most);

	*first = aftl_random_below(random, reach);
	if (!aftl_random_below(random, 5)) {
		*first -= *first % UNIT_SECTORS;
		count = UNIT_SECTORS;
	}
	return min(count, all - *first);
}

static void run_random_partial_writes(const char *params, u64 seed)
{
	struct aftl_random random = { aftl_hash64(seed) };
	u32 depth = 1 + aftl_random_below(&random, 24);
	u32 unit;
	u32 i;

	open_device(params);
	for (i = 0; i < REQUESTS && !tap_failure_count(); i++) {
		u32 first;
		u32 count = draw_sector_range(&random, &first);

		if (aftl_random_below(&random, 100) < 2)
			test_submit_io(&device, AFTL_OP_FLUSH, 0, 0, AFTL_PRECISE, 0,
				       aftl_device_time_ns(device.ftl));
		submit_sectors(aftl_random_below(&random, 100) < 70 ? AFTL_OP_WRITE : AFTL_OP_READ,
			       first, count);
		test_drain_requests_to_depth(&device, depth);
	}
	test_drain_requests(&device);
	for (unit = 0; unit < test_unit_count(&device) && !tap_failure_count(); unit++)
		check_page_sectors(unit);
	CHECK_MSG(flash_rests > 100, "only %u pages were read for writes", flash_rests);
	CHECK_EQ(device.failed, 0);
}

/* Requests for random byte ranges: reads return the newest bytes, in the order of arrival. */
TAP_TEST(random_ranges_equal_a_byte_exact_model)
{
	static const char *const kinds[] = {
		"",
		"buffer=64KiB",
		"buffer=1MiB buffer_hold=1ms",
		"buffer=256KiB read_cache=256KiB",
		"map_cache=64KiB",
		"buffer=64KiB queue_weights=1:3",
	};
	u64 seed;

	for (seed = 0; seed < RUNS && !tap_failure_count(); seed++)
		run_random_partial_writes(kinds[seed % ARRAY_SIZE(kinds)], seed);
}

#define READ_NS 100000
#define PROGRAM_NS 1000000
#define TIMES "read=100us program=1ms one_shot=on command=0 bus=16384 controller=0 ecc=0 bits=1 " \
	"errors=off"
/* Transfer time of a page of 16 KiB on a bus of 16,384 MB/s. */
#define TRANSFER_NS 1000

static const char timed[] = TIMES;
static const char timed_and_buffered[] = TIMES " buffer=1MiB buffer_hold=1s";

TAP_TEST(a_partial_write_costs_a_read_of_the_page)
{
	const struct aftl_counters *counters;

	open_device(timed);
	counters = test_counters(&device);
	CHECK_EQ(write_sectors_and_drain(0, UNIT_SECTORS), TRANSFER_NS + PROGRAM_NS);
	CHECK_EQ(counters->rmw_reads, 0);
	CHECK_EQ(write_sectors_and_drain(4, 1), READ_NS + 2 * TRANSFER_NS + PROGRAM_NS);
	CHECK_EQ(counters->rmw_reads, 1);
	CHECK_EQ(counters->array_reads, 1);
	check_sector_stamp(3, 1);
	check_sector_stamp(4, 2);
	check_sector_stamp(5, 1);
	/* A partial write fills a page that was never written with zeroes, and reads nothing. */
	CHECK_EQ(write_sectors_and_drain(UNIT_SECTORS + 4, 1), TRANSFER_NS + PROGRAM_NS);
	CHECK_EQ(counters->rmw_reads, 1);
	check_sector_stamp(UNIT_SECTORS + 3, 0);
	CHECK_EQ(counters->host_write_bytes, (UNIT_SECTORS + 2) * 512);
	CHECK_EQ(counters->host_write_units, 3);
	CHECK_EQ(counters->host_partial_write_units, 2);
	CHECK_EQ(counters->host_read_requests, 0);
	CHECK_EQ(counters->unmapped_read_units, 0);
}

TAP_TEST(the_write_buffer_saves_the_read)
{
	open_device(timed_and_buffered);
	write_sectors_and_drain(0, UNIT_SECTORS);
	CHECK_EQ(write_sectors_and_drain(4, 1), 0);
	CHECK_EQ(test_counters(&device)->rmw_reads, 0);
	CHECK_EQ(test_counters(&device)->buffer_read_units, 0);
	CHECK_EQ(test_counters(&device)->buffer_coalesced_units, 1);
	test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, AFTL_PRECISE, NULL);
	check_sector_stamp(3, 1);
	check_sector_stamp(4, 2);
	CHECK_EQ(write_sectors_and_drain(6, 1), READ_NS + TRANSFER_NS);
	CHECK_EQ(test_counters(&device)->rmw_reads, 1);
}

/* A partial write reads its page; a later write of the whole page must replace its data. */
TAP_TEST(later_writes_wait_for_the_read)
{
	open_device(timed_and_buffered);
	write_sectors_and_drain(0, 2 * UNIT_SECTORS);
	test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, AFTL_PRECISE, NULL);
	write_sectors(4, 2);
	write_sectors(5, 2);
	write_sectors(8, UNIT_SECTORS);
	test_drain_requests(&device);
	test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, AFTL_PRECISE, NULL);
	check_sector_stamp(3, 1);
	check_sector_stamp(4, 2);
	check_sector_stamp(5, 3);
	check_sector_stamp(6, 3);
	check_sector_stamp(7, 1);
	check_sector_stamp(8, 4);
	check_sector_stamp(UNIT_SECTORS + 7, 4);
	check_sector_stamp(UNIT_SECTORS + 8, 1);
	/* Three partial writes need two reads: of the rest of page 0, and of that of page 1. */
	CHECK_EQ(test_counters(&device)->rmw_reads, 2);
	write_sectors(4, 2);
	write_sectors(0, UNIT_SECTORS);
	test_drain_requests(&device);
	test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, AFTL_PRECISE, NULL);
	check_sector_stamp(4, 6);
}

/* A partial write that waits for its read does not make the write buffer program pages. */
TAP_TEST(a_write_that_waits_for_a_read_programs_nothing)
{
	open_device(timed_and_buffered);
	write_sectors_and_drain(0, UNIT_SECTORS);
	test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, AFTL_PRECISE, NULL);
	write_sectors_and_drain(4 * UNIT_SECTORS, UNIT_SECTORS);
	write_sectors_and_drain(5 * UNIT_SECTORS, UNIT_SECTORS);
	write_sectors(4, 2);
	write_sectors(5, 2);
	test_drain_requests(&device);
	CHECK_EQ(test_counters(&device)->array_programs, 1);
}

TAP_TEST(a_discard_during_the_read_leaves_zeroes)
{
	open_device(timed);
	write_sectors_and_drain(0, UNIT_SECTORS);
	write_sectors(4, 1);
	test_submit_io(&device, AFTL_OP_DISCARD, 0, 1, AFTL_PRECISE, 0,
		       aftl_device_time_ns(device.ftl));
	test_drain_requests(&device);
	check_sector_stamp(3, 0);
	check_sector_stamp(4, 2);
	CHECK_EQ(device.failed, 0);
}

TAP_TEST(a_discard_of_a_part_frees_nothing)
{
	u32 class;

	open_device(timed);
	write_sectors_and_drain(0, 3 * UNIT_SECTORS);
	submit_sectors(AFTL_OP_DISCARD, 1, 3 * UNIT_SECTORS - 2);
	test_drain_requests(&device);
	CHECK_EQ(test_counters(&device)->host_discard_units, 1);
	check_sector_stamp(1, 1);
	check_sector_stamp(3 * UNIT_SECTORS - 2, 1);
	CHECK_EQ(from_ppn(aftl_lookup(device.ftl, to_lpn(1), &class)), from_ppn(AFTL_NO_PPN));
	submit_sectors(AFTL_OP_DISCARD, 1, 1);
	test_drain_requests(&device);
	check_sector_stamp(1, 1);
}

/* A partial write to a lost page fails, as its rest is unreadable; a whole write succeeds. */
TAP_TEST(a_write_fails_if_the_rest_is_lost)
{
	struct test_request *request;
	u32 class;

	open_device(timed);
	write_sectors_and_drain(0, UNIT_SECTORS);
	CHECK_EQ(aftl_mark_unit_lost(device.ftl, aftl_lookup(device.ftl, to_lpn(0), &class)), true);
	device.head_skip = 4;
	request = test_submit_kept(&device, AFTL_OP_WRITE, 0, 2, AFTL_PRECISE, 0,
				   aftl_device_time_ns(device.ftl));
	test_drain_requests(&device);
	CHECK_EQ(request->request.status, -EIO);
	test_release_request(&device, request);
	CHECK_EQ(from_ppn(aftl_lookup(device.ftl, to_lpn(1), &class)), from_ppn(AFTL_NO_PPN));
	write_sectors_and_drain(0, UNIT_SECTORS);
	check_sector_stamp(0, stamps);
}

TAP_TEST(more_partial_writes_than_may_read_at_once_are_queued)
{
	u32 units;
	u32 i;

	open_device(timed_and_buffered);
	units = min(test_unit_count(&device), 2U * AFTL_REST_READS);
	CHECK_MSG(units > AFTL_REST_READS, "only %u pages", units);
	for (i = 0; i < units; i++)
		write_sectors_and_drain(i * UNIT_SECTORS, UNIT_SECTORS);
	test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, AFTL_PRECISE, NULL);
	for (i = 0; i < units; i++)
		write_sectors(i * UNIT_SECTORS + 1, 1);
	test_drain_requests(&device);
	CHECK_EQ(test_counters(&device)->rmw_reads, units);
	for (i = 0; i < units; i++)
		check_page_sectors(i);
}
