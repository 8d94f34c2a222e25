/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device under test: memory that can run out, a pool of requests, a clock that
 * the test turns, and any number of listeners to what the core tells its host.
 */
#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include "core/ftl/ftl.h"
#include "core/base/random.h"

/* Largest request that the pool carries floors for, see shadow-store.h. */
#define TEST_REQUEST_UNITS 64

/**
 * struct test_request - a request of the pool
 * @request: first, so that the core's pointer is also ours
 * @version: names the request among all of the device, ascending from 1
 * @floor: stamps of its units, for shadow-store.c
 * @done: complete() has been called
 * @keep: the test still looks at it: not back to the pool at completion
 * @seen: reads: units that the core has fetched
 * @lost: reads: one of them could not be read
 * @next_free: in the pool
 * @next_made: in the list of all requests of the device
 */
struct test_request {
	struct aftl_request request;
	u32 version;
	u32 floor[TEST_REQUEST_UNITS];
	bool done;
	bool keep;
	u32 seen;
	bool lost;
	struct test_request *next_free;
	struct test_request *next_made;
};

struct test_device;

/**
 * struct test_listener - someone who watches the host's callbacks; all optional
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
	struct test_listener *next;
};

/**
 * struct test_device - one device and its host
 * @ftl: NULL if creating it failed
 * @config: what it was created from
 * @error: the sentence of the last failure
 * @ret: what aftl_create() returned
 * @hint: of the writes that are submitted from now on
 * @queue: of the host, of all requests
 * @level: of the approximate ones; AFTL_LEVELS: each in turn, and none
 * @alone: reads are tried with aftl_try_idle_read() first
 * @listeners: see test_device_listen()
 * @allocations: calls of alloc so far
 * @fail_at: the number, from 1, of the allocation that fails; 0 none
 * @held_bytes: allocated and not freed
 * @held: blocks of memory allocated and not freed
 * @submitted: requests handed to the core
 * @completed: requests that came back
 * @failed: those of them with an error
 * @versions: last version given out
 * @pool: free requests
 * @made: all requests
 * @pending: requests under way
 * @inside: a listener is told of a completion right now
 * @zone_requests: requests about zones that were under way at or since test_begin()
 * @zone_requests_over: those of them that came back since
 * @burst: what the core has told its host since test_begin()
 * @largest_burst: most of that so far
 * @resubmits: complete() has submitted something since then
 */
struct test_device {
	struct aftl *ftl;
	struct aftl_config config;
	struct aftl_error error;
	int ret;
	struct aftl_host_ops ops;
	struct aftl_hint hint;
	u8 queue;
	u8 level;
	bool alone;
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
};

/**
 * test_device_init() - profile "demo" or another, no device yet
 */
void test_device_init(struct test_device *device, const char *profile);

/* Value of a parameter that a policy or a rule adds. */
u64 *test_own(struct aftl_config *config, const char *key);

/**
 * test_device_set() - set @key to @value; a wrong pair ends the program
 */
void test_device_set(struct test_device *device, const char *key, const char *value);

/**
 * test_device_set_all() - the pairs of a NULL-terminated list
 */
void test_device_set_all(struct test_device *device, const char *const *pairs);

void test_device_listen(struct test_device *device, struct test_listener *listener);
void test_device_unlisten(struct test_device *device, struct test_listener *listener);

/**
 * test_device_create() - create the device and fill it as configured
 *
 * Return: as aftl_create() or aftl_fill(); @device->error has the sentence.
 */
int test_device_create(struct test_device *device, const char *policy);

/**
 * test_device_open() - the three calls above in one; failure ends the program
 */
void test_device_open(struct test_device *device, const char *policy,
		      const char *const *pairs);

/**
 * test_device_close() - destroy; checks that all memory came back
 */
void test_device_close(struct test_device *device);

/**
 * test_device_reload() - save the device, destroy it, and load it again
 *
 * Return: as aftl_load(); @device->error has the sentence.
 */
int test_device_reload(struct test_device *device);

/**
 * test_submit() - hand a request of the pool to the core
 * @at_ns: arrival
 *
 * Return: 0 or -EINVAL, if the core refused it.
 */
int test_submit(struct test_device *device, enum aftl_op op, u32 unit, u32 units, u32 class,
		u32 flags, u64 at_ns);

/**
 * test_submit_kept() - the same, but the request stays the caller's until test_put()
 *
 * Return: the request, or NULL if the core refused it.
 */
struct test_request *test_submit_kept(struct test_device *device, enum aftl_op op, u32 unit,
				      u32 units, u32 class, u32 flags, u64 at_ns);

/**
 * test_done() - advance until @request is complete
 *
 * Return: false if the device ran dry before; the check fails then.
 */
bool test_done(struct test_device *device, struct test_request *request);

/* Give a kept request back. */
void test_put(struct test_device *device, struct test_request *request);

/**
 * test_do() - one request at the device's present, to its end
 *
 * Return: its status; *@latency_ns is completion minus arrival, NULL is fine.
 */
int test_do(struct test_device *device, enum aftl_op op, u32 unit, u32 units, u32 class,
	    u64 *latency_ns);

/* Same, with flags. */
int test_do_flagged(struct test_device *device, enum aftl_op op, u32 unit, u32 units, u32 class,
		    u32 flags, u64 *latency_ns);

/*
 * Around one call of the core that aftl_max_host_calls() is about: no more than that is told. The
 * functions here have it around each of theirs.
 */
void test_begin(struct test_device *device);
void test_end(struct test_device *device);

/* Advance to @now_ns, event by event. */
void test_advance(struct test_device *device, u64 now_ns);

/* Advance by one event. Return: false if none is left. */
bool test_step(struct test_device *device);

/* Advance until at most @depth requests are under way; fails the point on a hang. */
bool test_drain_to(struct test_device *device, u32 depth);

/* Advance until nothing is under way. */
bool test_drain(struct test_device *device);

/* Advance by @ns of device time. */
void test_wait(struct test_device *device, u64 ns);

/* aftl_audit() as a check. */
bool test_audit(struct test_device *device);

static inline u32 test_units(const struct test_device *device)
{
	return aftl_geometry(device->ftl)->units;
}

static inline const struct aftl_counters *test_counters(const struct test_device *device)
{
	return &aftl_stats(device->ftl)->counters;
}

/* Sum of programmed_*_units. */
u64 test_programmed_units(const struct test_device *device);

#endif
