/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random requests to a zoned device.
 */
#ifndef ZONE_STREAM_H
#define ZONE_STREAM_H

#include "core/base/random.h"
#include "test-device.h"

/**
 * struct zone_stream - parameters of a request stream
 * @random: random number generator
 * @few: number of zones that get most of the requests
 * @reads: reads in percent
 * @flushes: flushes in percent
 * @approx: approximate writes in percent
 */
struct zone_stream {
	struct aftl_random *random;
	u32 few;
	u32 reads;
	u32 flushes;
	u32 approx;
};

/* Submit one request: a read, a flush, a write, an append or a zone management request. */
void zone_stream_submit_request(const struct zone_stream *stream, struct test_device *device);

#endif
