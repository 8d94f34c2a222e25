/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device under test: allocations that can fail, a pool of requests, a clock that the test advances,
 * and listeners to the host callbacks.
 */
#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include "bytes.h"
#include "core/ftl/ftl.h"
#include "core/base/random.h"

/* Allow unused parameters: tests use few of the parameters that a host callback must have. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Largest number of units of a request; struct test_request has an array of this size. */
#define TEST_REQUEST_UNITS 64

/**
 * struct test_request - a request of the pool
 * @request: must be first: the core's pointer is converted
 * @version: unique number on the device, ascending from 1
 * @floor: oldest legal stamps of its units, for shadow-store.c
 * @done: the core has completed it
 * @keep: the test owns it: completion does not return it to the pool
 * @seen: units that the core has fetched (reads)
 * @lost: a unit could not be read
 * @waits: what it waited for, if the device's ops have waits = test_waits
 * @rest: stamps of the first and the last unit as a write has read them, for shadow-store.c
 * @next_free: next in the pool
 * @next_made: next in the list of all requests
 */
struct test_request {
	struct aftl_request request;
	u32 version;
	u32 floor[TEST_REQUEST_UNITS];
	bool done;
	bool keep;
	u32 seen;
	bool lost;
	struct aftl_waits waits;
	u32 rest[2];
	struct test_request *next_free;
	struct test_request *next_made;
};

struct test_device;

/* Number of LUNs of which the test device records the programs. */
#define TEST_WATCHED_LUNS 64

/**
 * struct test_program - the last program or erase of a LUN, see test_record_array_event()
 * @block: block of the program or erase
 * @page: first programmed page
 * @end: the page after the last programmed one
 * @end_ns: time at which the operation ends, unless it is suspended
 * @suspended: the operation is suspended
 */
struct test_program {
	u32 block;
	u32 page;
	u32 end;
	u64 end_ns;
	bool suspended;
};

/**
 * struct test_listener - listener to host callbacks; each callback is optional
 * @finish: last checks of the idle device, see test_device_audit_and_close()
 * @close: the device is about to be destroyed
 */
struct test_listener {
	void (*submitted)(struct test_listener *self, struct test_request *request);
	void (*complete)(struct test_listener *self, struct test_request *request);
	void (*accept)(struct test_listener *self, struct test_request *request, aftl_lpn_t lpn,
		       u32 tag);
	void (*program)(struct test_listener *self, u32 tag, aftl_lpn_t lpn, aftl_ppn_t ppn);
	void (*unstored)(struct test_listener *self, u32 tag);
	void (*release)(struct test_listener *self, u32 tag);
	void (*copy)(struct test_listener *self, aftl_lpn_t lpn, aftl_ppn_t from,
		     aftl_ppn_t to);
	void (*programmed)(struct test_listener *self, aftl_ppn_t first);
	void (*unmap)(struct test_listener *self, aftl_lpn_t first, u32 units);
	void (*zone)(struct test_listener *self, u32 zone, enum aftl_zone_state state);
	void (*erase)(struct test_listener *self, aftl_ppn_t first, u32 slots);
	void (*retire)(struct test_listener *self, u32 first, u32 blocks);
	void (*read)(struct test_listener *self, struct test_request *request,
		     const struct aftl_read *read);
	void (*finish)(struct test_listener *self);
	void (*close)(struct test_listener *self);
	struct test_listener *next;
};

/**
 * struct test_device - a device and its host
 * @ftl: NULL if creating it failed
 * @config: its configuration
 * @error: message of the last failure
 * @ret: what aftl_create() returned
 * @hint: hint of subsequent writes
 * @queue: host queue of subsequent requests
 * @head_skip: sectors at the start of the first page that the next request leaves out
 * @tail_skip: the same at the end of the last page
 * @level: quality level of approximate writes; AFTL_LEVELS: cycle through all and none
 * @alone: try reads with aftl_try_read_fastpath() first
 * @fast_reads: reads for which that succeeded
 * @listeners: see test_device_add_listener()
 * @allocations: calls of alloc so far
 * @fail_at: number, from 1, of the allocation that fails; 0: none
 * @held_bytes: bytes not freed
 * @held: allocations not freed
 * @submitted: requests handed to the core
 * @completed: completed requests
 * @failed: completed with an error
 * @versions: last assigned version
 * @pool: free requests
 * @made: all requests
 * @pending: requests in progress
 * @inside: a listener is being notified of a completion
 * @zone_requests: zone management requests in progress at or since test_begin()
 * @zone_requests_over: of these, completed since test_begin()
 * @burst: host callbacks since test_begin()
 * @largest_burst: largest number of callbacks so far
 * @resubmits: complete() has submitted a request since test_begin()
 * @programs: the last program or erase of each LUN
 * @next_open: next device that holds memory or requests
 */
struct test_device {
	struct aftl *ftl;
	struct aftl_config config;
	struct aftl_error error;
	int ret;
	struct aftl_host_ops ops;
	struct aftl_hint hint;
	u8 queue;
	u16 head_skip;
	u16 tail_skip;
	u8 level;
	bool alone;
	u32 fast_reads;
	struct test_listener *listeners;
	u32 allocations;
	u32 fail_at;
	u64 held_bytes;
	u32 held;
	u64 submitted;
	u64 completed;
	u64 failed;
	u32 versions;
	struct test_request *pool;
	struct test_request *made;
	u32 pending;
	bool inside;
	u32 zone_requests;
	u32 zone_requests_over;
	u32 burst;
	u32 largest_burst;
	bool resubmits;
	struct test_program programs[TEST_WATCHED_LUNS];
	struct test_device *next_open;
};

/**
 * test_device_init() - prepare a configuration from @profile; create no device
 *
 * Finishes the device if it is open. The end of a test point finishes open devices, unless a device
 * or a listener is on the stack.
 */
void test_device_init(struct test_device *device, const char *profile);

/* Implementation of the host callback waits() for tests that check why their requests waited. */
struct aftl_waits *test_waits(void *host, struct aftl_request *request);

/* Return the address in a configuration of a parameter of a policy or victim selector. */
u64 *test_device_set_param(struct aftl_config *config, const char *key);

/**
 * test_device_set_param_text() - set @key to @value; bail out on an invalid pair
 */
void test_device_set_param_text(struct test_device *device, const char *key, const char *value);

/**
 * test_device_set_params() - set the parameters of a text, "key=value key=value ..."
 * @params: may be NULL; of equal keys the last value holds
 */
void test_device_set_params(struct test_device *device, const char *params);

/* Format a text of parameters, which is valid until the next call of test_format_params(). */
const char *test_format_params(const char *format, ...) __printf(1, 2);

/**
 * test_record_array_event() - check that no page is sensed before its program or erase has ended
 *
 * Each device has it as callback array(); a test's own callback may call it.
 */
void test_record_array_event(void *host, const struct aftl_array_event *event);

void test_device_add_listener(struct test_device *device, struct test_listener *listener);
void test_device_remove_listener(struct test_device *device, struct test_listener *listener);

/**
 * test_device_create() - create the device and fill it as configured
 *
 * Return: as aftl_create() or aftl_precondition(); @device->error has the message.
 */
int test_device_create(struct test_device *device, const char *policy);

/**
 * test_device_open() - initialise, configure and create a device; bail out on failure
 */
void test_device_open(struct test_device *device, const char *policy, const char *params);

/* Like test_device_open(), but with a policy that need not be registered. */
void test_device_open_with_policy_type(struct test_device *device,
				       const struct aftl_policy_type *type, const char *params);

/* Like test_device_open(), with the parameters of profile "demo" changed by @params. */
void test_open_demo_profile(struct test_device *device, const char *policy, const char *params);

/* Check that creating the device fails with -EINVAL and a message that contains @part. */
void test_check_config_refused(struct test_device *device, const char *policy, const char *params,
			       const char *part);

/**
 * test_run_with_each_policy() - run @body as a test point for each policy
 * @params: leave out policies that profile "demo" with these parameters refuses; may be NULL
 *
 * Return: the number of points.
 */
u32 test_run_with_each_policy(const char *what, const char *params,
			      void (*body)(const char *policy, const char *params));

/**
 * test_device_close() - destroy the device; check that all memory was freed
 */
void test_device_close(struct test_device *device);

/**
 * test_device_reload() - save, destroy and load the device
 *
 * Return: as aftl_load(); @device->error has the message.
 */
int test_device_reload(struct test_device *device);

/* Like test_device_reload(), but with the given policy and the changed @device->config. */
int test_device_reload_with_policy(struct test_device *device, const char *policy);

/**
 * test_submit_io() - submit a request from the pool
 * @at_ns: arrival
 *
 * Return: 0, or -EINVAL if the core refused it.
 */
int test_submit_io(struct test_device *device, enum aftl_op op, u32 unit, u32 units, u32 class,
		   u32 flags, u64 at_ns);

/**
 * test_submit_kept() - submit a request that the caller owns until test_release_request()
 *
 * Return: the request, or NULL if the core refused it.
 */
struct test_request *test_submit_kept(struct test_device *device, enum aftl_op op, u32 unit,
				      u32 units, u32 class, u32 flags, u64 at_ns);

/**
 * test_wait_for_request() - advance until @request is complete
 *
 * Return: false, with a failed check, if the device has no more events.
 */
bool test_wait_for_request(struct test_device *device, struct test_request *request);

/* Return a request of test_submit_kept() to the pool. */
void test_release_request(struct test_device *device, struct test_request *request);

/**
 * test_execute_request() - submit a request now and wait for its completion
 *
 * Return: its status; *@latency_ns is completion minus arrival, may be NULL.
 */
int test_execute_request(struct test_device *device, enum aftl_op op, u32 unit, u32 units,
			 u32 class, u64 *latency_ns);

/* Like test_execute_request(), with request flags. */
int test_execute_flagged_request(struct test_device *device, enum aftl_op op, u32 unit, u32 units,
				 u32 class, u32 flags, u64 *latency_ns);

/* Like test_execute_request(), but check that it succeeds. Return: the latency. */
u64 test_measure_io_ns(struct test_device *device, enum aftl_op op, u32 unit, u32 units, u32 class);

/*
 * Begin and end one call of the core, during which the core must not make more host callbacks than
 * aftl_get_max_callbacks_per_host_call(). Functions of this file call both around the core.
 */
void test_begin_host_call(struct test_device *device);
void test_end_host_call(struct test_device *device);

/* Advance the device's clock to @now_ns, event by event. */
void test_advance_clock_to(struct test_device *device, u64 now_ns);

/* Advance the device by one event. Return: false if no event is left. */
bool test_process_event(struct test_device *device);

/* Advance until at most @depth requests are in progress; a hang fails the test point. */
bool test_drain_requests_to_depth(struct test_device *device, u32 depth);

/* Advance the device until no request is in progress. */
bool test_drain_requests(struct test_device *device);

/* Program all buffered data, also those that do not fill a page. */
void test_flush_writes(struct test_device *device);

/* Advance the device's clock by @ns. */
void test_advance_clock_by(struct test_device *device, u64 ns);

/* Check that aftl_audit() succeeds. */
bool test_audit_device(struct test_device *device);

/*
 * Complete all requests, let the listeners compare the device with their models, audit it, check
 * that its policy broke no rule, and close it. After a failed check the device is only closed.
 */
void test_device_audit_and_close(struct test_device *device);

/* Append a snapshot of the device to @bytes. */
void test_device_save_snapshot(struct test_device *device, struct test_bytes *bytes);

/* Write @count logical pages from @first on, each by a request of its own. */
void test_write_each_unit(struct test_device *device, u32 first, u32 count, u32 class);

/* Return the physical page, or the block, that stores logical page @unit. */
aftl_ppn_t test_lookup(const struct test_device *device, u32 unit);
struct aftl_block *test_block_of(struct test_device *device, u32 unit);

static inline u32 test_unit_count(const struct test_device *device)
{
	return aftl_geometry(device->ftl)->units;
}

static inline const struct aftl_counters *test_counters(const struct test_device *device)
{
	return &aftl_get_stats(device->ftl)->counters;
}

static inline struct aftl_lun_info test_lun_info(const struct test_device *device, u32 lun)
{
	struct aftl_lun_info info;

	aftl_get_lun_info(device->ftl, lun, &info);
	return info;
}

/* Return the sum of the counters programmed_*_units. */
u64 test_sum_programmed_units(const struct test_device *device);

#endif
