// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "bytes.h"
#include "core/ftl/controller.h"
#include "tap.h"
#include "test-device.h"

/* Number of events without a completion after which a device counts as hung. */
#define HANG_EVENTS 200000

/* Header of each allocation: the size that the core must pass when it frees it. */
struct header {
	size_t bytes;
	u64 pad;
};

/* List of test devices that hold memory or requests. */
static struct test_device *open_devices;

static bool is_test_device_open(const struct test_device *device)
{
	const struct test_device *other;

	for (other = open_devices; other && other != device; other = other->next_open)
		;
	return other;
}

static void finish_open_devices(void)
{
	while (open_devices)
		test_device_audit_and_close(open_devices);
}

static void add_open_device(struct test_device *device)
{
	if (is_test_device_open(device))
		return;
	device->next_open = open_devices;
	open_devices = device;
}

static void remove_open_device(struct test_device *device)
{
	struct test_device **link = &open_devices;

	while (*link != device)
		link = &(*link)->next_open;
	*link = device->next_open;
}

static void *test_host_alloc(void *host, size_t bytes)
{
	struct test_device *device = host;
	struct header *header;

	/* The core allocates memory only for a new device: forget the programs of the former. */
	memset(device->programs, 0, sizeof(device->programs));
	if (++device->allocations == device->fail_at || bytes > (size_t)1 << 32)
		return NULL;
	header = calloc(1, sizeof(*header) + bytes);
	if (!header)
		return NULL;
	header->bytes = bytes;
	if (!device->held++)
		add_open_device(device);
	device->held_bytes += bytes;
	return header + 1;
}

static void test_host_free(void *host, void *memory, size_t bytes)
{
	struct test_device *device = host;
	struct header *header = (struct header *)memory - 1;

	if (!memory)
		return;
	CHECK_EQ(bytes, header->bytes);
	device->held_bytes -= header->bytes;
	free(header);
	if (!--device->held && !device->made)
		remove_open_device(device);
}

static struct test_request *is_test_request(struct aftl_request *request)
{
	return container_of(request, struct test_request, request);
}

/* Call the function @callback of each listener that has this callback. */
#define TELL(host, callback, ...)						\
	do {									\
		struct test_listener *each;					\
										\
		for (each = ((struct test_device *)host)->listeners; each;	\
		     each = each->next)						\
			if (each->callback)					\
				each->callback(each, __VA_ARGS__);		\
	} while (0)

static void test_host_complete(void *host, struct aftl_request *request)
{
	struct test_device *device = host;
	struct test_request *mine = is_test_request(request);

	CHECK_MSG(!mine->done, "request %u completed twice", mine->version);
	CHECK_MSG(!request->next, "request %u still leads to another", mine->version);
	mine->done = true;
	device->pending--;
	device->zone_requests_over += request->op >= AFTL_OPS;
	device->completed++;
	device->failed += request->status != 0;
	device->inside = true;
	TELL(device, complete, mine);
	device->inside = false;
	if (!mine->keep)
		test_release_request(device, mine);
}

static void notify_listeners_of_accepted_unit(void *host, struct aftl_request *request,
					      aftl_lpn_t lpn, u32 tag)
{
	TELL(host, accept, request ? is_test_request(request) : NULL, lpn, tag);
}

/* Count a host callback, the number of which aftl_get_max_callbacks_per_host_call() bounds. */
static void count_host_call(struct test_device *device)
{
	device->burst++;
}

static void notify_listeners_of_program(void *host, u32 tag, aftl_lpn_t lpn, aftl_ppn_t ppn)
{
	count_host_call(host);
	TELL(host, program, tag, lpn, ppn);
}

static void notify_listeners_of_unflushable_write(void *host, u32 tag)
{
	count_host_call(host);
	TELL(host, unstored, tag);
}

static void notify_listeners_of_released_tag(void *host, u32 tag)
{
	TELL(host, release, tag);
}

static void notify_listeners_of_copied_unit(void *host, aftl_lpn_t lpn, aftl_ppn_t from,
					    aftl_ppn_t to)
{
	count_host_call(host);
	TELL(host, copy, lpn, from, to);
}

static void notify_listeners_of_programmed_page(void *host, aftl_ppn_t first)
{
	count_host_call(host);
	TELL(host, programmed, first);
}

static void notify_listeners_of_unmapped_units(void *host, aftl_lpn_t first, u32 units)
{
	count_host_call(host);
	TELL(host, unmap, first, units);
}

static void notify_listeners_of_zone_state(void *host, u32 zone, enum aftl_zone_state state)
{
	count_host_call(host);
	TELL(host, zone, zone, state);
}

static void notify_listeners_of_erased_block(void *host, aftl_ppn_t first, u32 slots)
{
	count_host_call(host);
	TELL(host, erase, first, slots);
}

static void notify_listeners_of_retired_blocks(void *host, u32 first, u32 blocks)
{
	count_host_call(host);
	TELL(host, retire, first, blocks);
}

static void test_host_read(void *host, struct aftl_request *request, const struct aftl_read *read)
{
	struct test_request *mine = is_test_request(request);

	mine->seen++;
	mine->lost |= read->lost;
	TELL(host, read, mine, read);
}

/* An in-place switch programs the cells of the whole word line again. */
static u32 find_first_programmed_page(const struct aftl_geometry *geo,
				      const struct aftl_array_event *event)
{
	if (event->mode != AFTL_MODE_SWITCHED || event->pages == geo->pages)
		return event->page;
	return event->page - event->page % geo->word_line_pages;
}

void test_record_array_event(void *host, const struct aftl_array_event *event)
{
	struct test_device *device = host;
	struct test_program *program = &device->programs[event->lun % TEST_WATCHED_LUNS];

	if (event->lun >= TEST_WATCHED_LUNS)
		return;
	if (event->op == AFTL_ARRAY_SUSPEND)
		program->suspended = true;
	else if (event->op != AFTL_ARRAY_READ)
		*program = (struct test_program){
			.block = event->block,
			.page = find_first_programmed_page(aftl_geometry(device->ftl), event),
			.end = event->page + event->pages,
			.end_ns = event->begin_ns + event->array_ns,
		};
	else if (event->block == program->block && event->page >= program->page &&
		 event->page < program->end)
		CHECK_MSG(!program->suspended && event->begin_ns >= program->end_ns,
			  "LUN %u: page %u of block %u is sensed before its program has ended",
			  event->lun, event->page, event->block);
}

void test_device_init(struct test_device *device, const char *profile)
{
	if (is_test_device_open(device))
		test_device_audit_and_close(device);
	tap_add_cleanup(finish_open_devices);
	*device = (struct test_device){ 0 };
	device->ops = (struct aftl_host_ops){
		.alloc = test_host_alloc,
		.free = test_host_free,
		.complete = test_host_complete,
		.accept = notify_listeners_of_accepted_unit,
		.program = notify_listeners_of_program,
		.unstored = notify_listeners_of_unflushable_write,
		.release = notify_listeners_of_released_tag,
		.copy = notify_listeners_of_copied_unit,
		.programmed = notify_listeners_of_programmed_page,
		.unmap = notify_listeners_of_unmapped_units,
		.zone = notify_listeners_of_zone_state,
		.erase = notify_listeners_of_erased_block,
		.retire = notify_listeners_of_retired_blocks,
		.array = test_record_array_event,
		.read = test_host_read,
	};
	if (aftl_profile_load(&device->config, profile, &device->error))
		tap_bail_out("%s", device->error.text);
}

u64 *test_device_set_param(struct aftl_config *config, const char *key)
{
	int index = aftl_param_find(key);

	if (index < 0)
		tap_bail_out("no parameter %s", key);
	return aftl_config_param_ptr(config, index);
}

void test_device_set_param_text(struct test_device *device, const char *key, const char *value)
{
	if (aftl_param_set(&device->config, key, value, &device->error))
		tap_bail_out("%s", device->error.text);
}

void test_device_set_params(struct test_device *device, const char *params)
{
	char key[40];
	char value[40];
	int length;

	for (; params && *params; params += length) {
		if (sscanf(params, " %39[a-z0-9_]=%39[^ ]%n", key, value, &length) != 2)
			tap_bail_out("no parameters: %s", params);
		test_device_set_param_text(device, key, value);
	}
}

const char *test_format_params(const char *format, ...)
{
	static char text[400];
	va_list args;

	va_start(args, format);
	if (vsnprintf(text, sizeof(text), format, args) >= (int)sizeof(text))
		tap_bail_out("too many parameters: %s", text);
	va_end(args);
	return text;
}

void test_device_add_listener(struct test_device *device, struct test_listener *listener)
{
	listener->next = device->listeners;
	device->listeners = listener;
}

void test_device_remove_listener(struct test_device *device, struct test_listener *listener)
{
	struct test_listener **link = &device->listeners;

	while (*link && *link != listener)
		link = &(*link)->next;
	if (*link)
		*link = listener->next;
}

static int create_device(struct test_device *device, const struct aftl_policy_type *type)
{
	if (is_test_device_open(device))
		test_device_audit_and_close(device);
	device->error.text[0] = '\0';
	device->ftl = NULL;
	device->ret = aftl_create(&device->ftl, &device->config, type, &device->ops, device,
				  &device->error);
	return device->ret ? device->ret : aftl_precondition(device->ftl);
}

static const struct aftl_policy_type *find_policy_or_bail_out(const char *policy)
{
	const struct aftl_policy_type *type = aftl_policy_find(policy);

	if (!type)
		tap_bail_out("there is no policy %s", policy);
	return type;
}

int test_device_create(struct test_device *device, const char *policy)
{
	return create_device(device, find_policy_or_bail_out(policy));
}

void test_device_open_with_policy_type(struct test_device *device,
				       const struct aftl_policy_type *type, const char *params)
{
	int ret;

	test_device_set_params(device, params);
	ret = create_device(device, type);
	if (ret)
		tap_bail_out("creating a device with %s: %d: %s", type->name, ret,
			     device->error.text);
}

void test_device_open(struct test_device *device, const char *policy, const char *params)
{
	test_device_open_with_policy_type(device, find_policy_or_bail_out(policy), params);
}

void test_open_demo_profile(struct test_device *device, const char *policy, const char *params)
{
	test_device_init(device, "demo");
	test_device_open(device, policy, params);
}

void test_check_config_refused(struct test_device *device, const char *policy, const char *params,
			       const char *part)
{
	test_device_init(device, "demo");
	test_device_set_params(device, params);
	CHECK_EQ(test_device_create(device, policy), -EINVAL);
	CHECK_CONTAINS(device->error.text, part);
	CHECK(strlen(device->error.text) < sizeof(device->error.text) - 1);
	test_device_close(device);
}

static bool policy_fits_params(const char *policy, const char *params)
{
	struct test_device device;
	int ret;

	test_device_init(&device, "demo");
	test_device_set_params(&device, params);
	ret = test_device_create(&device, policy);
	test_device_close(&device);
	return !ret;
}

u32 test_run_with_each_policy(const char *what, const char *params,
			      void (*body)(const char *policy, const char *params))
{
	u32 count = 0;
	u32 i;

	for (i = 0; aftl_policy_at(i); i++) {
		const char *policy = aftl_policy_at(i)->name;

		if (params && !policy_fits_params(policy, params))
			continue;
		tap_begin("%s: %s", what, policy);
		body(policy, params);
		tap_end();
		count++;
	}
	return count;
}

void test_device_close(struct test_device *device)
{
	while (device->listeners) {
		struct test_listener *listener = device->listeners;

		test_device_remove_listener(device, listener);
		if (listener->close)
			listener->close(listener);
	}
	if (device->ftl)
		aftl_destroy(device->ftl);
	device->ftl = NULL;
	CHECK_EQ(device->held, 0);
	CHECK_EQ(device->held_bytes, 0);
	while (device->made) {
		struct test_request *request = device->made;

		device->made = request->next_made;
		free(request);
	}
	device->pool = NULL;
	if (is_test_device_open(device))
		remove_open_device(device);
}

static int reload_device(struct test_device *device, const struct aftl_policy_type *type,
			 const struct aftl_config *config)
{
	struct test_bytes bytes = { 0 };
	struct aftl_snapshot_source source;
	int ret;

	test_device_save_snapshot(device, &bytes);
	aftl_destroy(device->ftl);
	device->ftl = NULL;
	source = test_bytes_source(&bytes);
	ret = aftl_load_with_policy_and_params(&device->ftl, &source, type, config, &device->ops,
					       device, &device->error);
	free_test_bytes(&bytes);
	return ret;
}

int test_device_reload(struct test_device *device)
{
	return reload_device(device, NULL, NULL);
}

int test_device_reload_with_policy(struct test_device *device, const char *policy)
{
	return reload_device(device, aftl_policy_find(policy), &device->config);
}

static struct test_request *get_pooled_request(struct test_device *device)
{
	struct test_request *request = device->pool;

	if (request) {
		device->pool = request->next_free;
		return request;
	}
	request = malloc(sizeof(*request));
	if (!request)
		tap_bail_out("out of memory");
	add_open_device(device);
	request->next_made = device->made;
	device->made = request;
	return request;
}

void test_release_request(struct test_device *device, struct test_request *request)
{
	request->next_free = device->pool;
	device->pool = request;
}

static u8 test_choose_quality_level(const struct test_device *device, u32 class)
{
	if (!class)
		return 0;
	return device->level < AFTL_LEVELS ? device->level : device->versions % AFTL_LEVELS;
}

static struct test_request *fill_test_request(struct test_device *device, enum aftl_op op, u32 unit,
					      u32 units, u32 class, u32 flags, u64 at_ns)
{
	struct test_request *mine = get_pooled_request(device);

	/* Fill a request with garbage, because the core must initialise its own fields. */
	memset(&mine->request, 0xa5, sizeof(mine->request));
	mine->request.arrival_ns = at_ns;
	mine->request.unit = unit;
	mine->request.units = units;
	mine->request.op = op;
	mine->request.class = class;
	mine->request.flags = flags;
	mine->request.hint = device->hint;
	mine->request.queue = device->queue;
	mine->request.head_skip = device->head_skip;
	mine->request.tail_skip = device->tail_skip;
	device->head_skip = 0;
	device->tail_skip = 0;
	mine->version = ++device->versions;
	mine->request.level = test_choose_quality_level(device, class);
	memset(&mine->waits, 0, sizeof(mine->waits));
	mine->done = false;
	mine->seen = 0;
	mine->lost = false;
	return mine;
}

struct aftl_waits *test_waits(void *host, struct aftl_request *request)
{
	(void)host;
	return &container_of(request, struct test_request, request)->waits;
}

void test_begin_host_call(struct test_device *device)
{
	device->burst = 0;
	device->zone_requests -= device->zone_requests_over;
	device->zone_requests_over = 0;
	device->resubmits = false;
}

void test_end_host_call(struct test_device *device)
{
	u32 most = aftl_get_max_callbacks_per_host_call(aftl_geometry(device->ftl)) +
		   device->zone_requests * AFTL_ZONE_HOST_CALLS;

	if (device->resubmits)
		return;
	CHECK_MSG(device->burst <= most, "%u things are told at once, at most %u may be",
		  device->burst, most);
	device->largest_burst = max(device->largest_burst, device->burst);
}

static bool process_next_due_event(struct test_device *device, u64 now_ns)
{
	bool more;

	test_begin_host_call(device);
	more = aftl_process_next_event(device->ftl, now_ns);
	test_end_host_call(device);
	return more;
}

void test_advance_clock_to(struct test_device *device, u64 now_ns)
{
	while (process_next_due_event(device, now_ns))
		;
}

/* Callbacks for a request that complete() submits belong to the host call in progress. */
static int submit_test_request(struct test_device *device, struct aftl_request *request)
{
	bool inside = device->inside;
	int ret;

	device->resubmits |= inside;
	if (!inside)
		test_begin_host_call(device);
	if (device->alone && aftl_try_read_fastpath(device->ftl, request)) {
		device->fast_reads++;
		ret = 0;
	} else {
		ret = aftl_submit(device->ftl, request);
	}
	if (!inside)
		test_end_host_call(device);
	return ret;
}

/* Submit request @mine to the core. After a return of 0 the request may be in the pool again. */
static int submit_pooled_request(struct test_device *device, struct test_request *mine, bool keep)
{
	mine->keep = keep;
	device->pending++;
	device->zone_requests += mine->request.op >= AFTL_OPS;
	device->submitted++;
	/* Events before a request's arrival must not add to the callbacks of its submission. */
	if (!device->inside)
		test_advance_clock_to(device, mine->request.arrival_ns);
	TELL(device, submitted, mine);
	if (!submit_test_request(device, &mine->request))
		return 0;
	CHECK_MSG(!mine->done, "a refused request was completed");
	device->pending--;
	device->zone_requests -= mine->request.op >= AFTL_OPS;
	device->submitted--;
	test_release_request(device, mine);
	return -EINVAL;
}

int test_submit_io(struct test_device *device, enum aftl_op op, u32 unit, u32 units, u32 class,
		   u32 flags, u64 at_ns)
{
	struct test_request *mine = fill_test_request(device, op, unit, units, class, flags, at_ns);

	return submit_pooled_request(device, mine, false);
}

struct test_request *test_submit_kept(struct test_device *device, enum aftl_op op, u32 unit,
				      u32 units, u32 class, u32 flags, u64 at_ns)
{
	struct test_request *mine = fill_test_request(device, op, unit, units, class, flags, at_ns);

	return submit_pooled_request(device, mine, true) ? NULL : mine;
}

bool test_process_event(struct test_device *device)
{
	u64 next = aftl_next_event_ns(device->ftl);

	if (next == U64_MAX)
		return false;
	CHECK_MSG(next >= aftl_device_time_ns(device->ftl), "the next event lies in the past");
	process_next_due_event(device, next);
	return true;
}

bool test_wait_for_request(struct test_device *device, struct test_request *request)
{
	u32 events = 0;

	while (!request->done)
		if (!test_process_event(device) || ++events > HANG_EVENTS)
			return CHECK_MSG(false, "hang: op %u of unit %u does not complete",
					 request->request.op, request->request.unit);
	return true;
}

int test_execute_flagged_request(struct test_device *device, enum aftl_op op, u32 unit, u32 units,
				 u32 class, u32 flags, u64 *latency_ns)
{
	u64 start = aftl_device_time_ns(device->ftl);
	struct test_request *request = test_submit_kept(device, op, unit, units, class, flags,
							start);
	int status;

	if (!request)
		return -EINVAL;
	if (!test_wait_for_request(device, request))
		return -ETIMEDOUT;
	status = request->request.status;
	if (latency_ns)
		*latency_ns = request->request.complete_ns - start;
	test_release_request(device, request);
	return status;
}

int test_execute_request(struct test_device *device, enum aftl_op op, u32 unit, u32 units,
			 u32 class, u64 *latency_ns)
{
	return test_execute_flagged_request(device, op, unit, units, class, 0, latency_ns);
}

u64 test_measure_io_ns(struct test_device *device, enum aftl_op op, u32 unit, u32 units, u32 class)
{
	u64 latency_ns = 0;

	CHECK_EQ(test_execute_request(device, op, unit, units, class, &latency_ns), 0);
	return latency_ns;
}

bool test_drain_requests_to_depth(struct test_device *device, u32 depth)
{
	u64 completed = device->completed;
	u32 events = 0;

	while (device->pending > depth) {
		if (!test_process_event(device))
			return CHECK_MSG(false, "hang: %u requests under way, no event",
					 device->pending);
		events = device->completed == completed ? events + 1 : 0;
		completed = device->completed;
		if (events > HANG_EVENTS)
			return CHECK_MSG(false, "hang: %u requests under way", device->pending);
	}
	return true;
}

bool test_drain_requests(struct test_device *device)
{
	bool drained = test_drain_requests_to_depth(device, 0);

	CHECK_EQ(aftl_pending_requests(device->ftl), device->pending);
	return drained;
}

void test_advance_clock_by(struct test_device *device, u64 ns)
{
	test_advance_clock_to(device, aftl_device_time_ns(device->ftl) + ns);
}

void test_flush_writes(struct test_device *device)
{
	u32 steps = HANG_EVENTS;

	aftl_set_drain_mode(device->ftl, true);
	while (steps-- && aftl_has_pending_work(device->ftl) && test_process_event(device))
		;
	CHECK(!aftl_has_pending_work(device->ftl));
	aftl_set_drain_mode(device->ftl, false);
}

/* Bytes of host data that were programmed: all units but parity and translation pages. */
static void check_media_bytes(const struct test_device *device)
{
	const struct aftl_counters *c = test_counters(device);
	u64 unit = device->ftl->geo.unit_bytes;
	u64 map = c->programmed_map_units + c->map_moved_units;

	/* map_moved_units counts no translation pages that were rebuilt from parity. */
	if (!c->programmed_rebuild_units || !device->ftl->geo.trans_pages)
		CHECK_EQ(c->media_write_bytes,
			 (test_sum_programmed_units(device) - c->programmed_parity_units - map) *
				 unit);
	CHECK_EQ(c->media_erased_bytes, c->array_erases * device->ftl->geo.block_ppns * unit);
}

bool test_audit_device(struct test_device *device)
{
	struct aftl_error error = { "" };
	int ret = aftl_audit(device->ftl, &error);

	check_media_bytes(device);
	return CHECK_MSG(!ret, "audit: %d: %s", ret, error.text);
}

void test_device_audit_and_close(struct test_device *device)
{
	struct test_listener *each;

	if (device->ftl && !tap_failure_count() && test_drain_requests(device)) {
		for (each = device->listeners; each; each = each->next)
			if (each->finish)
				each->finish(each);
		test_audit_device(device);
		CHECK_EQ(test_counters(device)->policy_bugs, 0);
	}
	test_device_close(device);
}

void test_device_save_snapshot(struct test_device *device, struct test_bytes *bytes)
{
	struct aftl_snapshot_sink sink = test_bytes_sink(bytes);

	CHECK_EQ(aftl_save(device->ftl, &sink, &device->error), 0);
}

void test_write_each_unit(struct test_device *device, u32 first, u32 count, u32 class)
{
	for (; count; count--, first++)
		CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, first, 1, class, NULL), 0);
}

aftl_ppn_t test_lookup(const struct test_device *device, u32 unit)
{
	u32 class;

	return aftl_lookup(device->ftl, to_lpn(unit), &class);
}

struct aftl_block *test_block_of(struct test_device *device, u32 unit)
{
	return aftl_block_of_ppn(&device->ftl->media, test_lookup(device, unit));
}

u64 test_sum_programmed_units(const struct test_device *device)
{
	const struct aftl_counters *c = test_counters(device);

	return c->programmed_host_units + c->programmed_gc_units + c->programmed_wear_units +
	       c->programmed_refresh_units + c->programmed_promotion_units +
	       c->programmed_rewrite_units + c->programmed_retire_units +
	       c->programmed_fold_units + c->programmed_map_units +
	       c->programmed_rebuild_units + c->programmed_parity_units;
}
