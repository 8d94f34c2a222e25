/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random requests, and random devices to send them to.
 */
#ifndef STREAM_H
#define STREAM_H

#include "test-device.h"

/**
 * struct test_stream - parameters of a request stream
 * @random: random number generator
 * @read: reads in percent; the remainder are writes, discards and flushes
 * @discard: discards and write-zeroes in percent
 * @flush: flushes in 1/1000
 * @fua: writes with FUA in 1/1000
 * @approx: approximate writes in percent
 * @units_max: largest request in units
 * @depth: requests in progress
 * @hot: percent of the requests that go to the first tenth of the units
 * @gap_ns: largest gap between arrivals
 * @partial: percent of the reads and writes that leave out sectors of their ends
 * @partial_random: random number generator for partial requests
 * @operations: units read, written or discarded so far
 */
struct test_stream {
	struct aftl_random random;
	u32 read;
	u32 discard;
	u32 flush;
	u32 fua;
	u32 approx;
	u32 units_max;
	u32 depth;
	u32 hot;
	u32 gap_ns;
	u32 partial;
	struct aftl_random partial_random;
	u64 operations;
};

/* Initialise the parameters of a random request stream with requests of all types. */
void test_stream_init(struct test_stream *stream, u64 seed);

/* Send one request; return false if the device hangs. */
bool test_stream_submit_request(struct test_stream *stream, struct test_device *device);

/* Send @requests requests, unless a check fails or the device hangs. */
void test_stream_submit_requests(struct test_stream *stream, struct test_device *device,
				 u32 requests);

/* Write every unit once in ascending order. */
bool test_stream_write_all_units(struct test_stream *stream, struct test_device *device);

/**
 * test_randomize_geometry() - draw a small, unusual geometry for @device
 */
void test_randomize_geometry(struct test_device *device, struct aftl_random *random);

/**
 * test_randomize_options() - draw buffers, queues, GC parameters and errors
 */
void test_randomize_options(struct test_device *device, struct aftl_random *random);

/* Draw a policy; @placed: only one that supports the host's zones and placement handles. */
const char *test_draw_policy(bool placed, struct aftl_random *random);

/* Print the parameters that differ from profile "demo", as arguments of the simulator. */
void test_print_config(const struct test_device *device, const char *policy, u64 seed);

/* Finish a device of random parameters; print its parameters if a check has failed. */
void test_finish_device_or_print_config(struct test_device *device, const char *policy, u64 seed);

#endif
