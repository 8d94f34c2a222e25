/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a device has done so far, and between two moments.
 */
#ifndef AFTL_DEVICE_SAMPLE_H
#define AFTL_DEVICE_SAMPLE_H

#include "block-layer.h"
#include "human-units.h"
#include "target-luns.h"
#include "target-status.h"

#define SECOND_NS 1000000000ULL

/**
 * struct sample - the counts of one moment, or what happened in between two
 * @at_ns: of the machine's clock; length of the interval
 * @device_ns: of the device's clock; length of the interval
 * @stats: of the target
 * @layer: of the block layer
 * @luns: of the target
 */
struct sample {
	u64 at_ns;
	u64 device_ns;
	struct target_stats stats;
	struct block_layer layer;
	struct target_luns luns;
};

/* To be dropped, also when it fails. */
int __must_check sample_take(const struct dm_device *device, struct sample *sample,
			     struct aftl_error *error);

/* What happened from @before until @now; to be dropped as well. */
void sample_between(struct sample *between, const struct sample *now,
		    const struct sample *before);

void sample_drop(struct sample *sample);

/* How late requests were handed back, on average, in host time. */
static inline u64 sample_mean_late(const struct sample *sample)
{
	return scaled_ratio(sample->stats.late.sum, sample->stats.late.count, 1);
}

/* @count a second, in tenths. */
static inline u64 sample_rate(const struct sample *sample, u64 count)
{
	return scaled_ratio(count, sample->at_ns, SECOND_NS * 10);
}

/* The share of the time in which requests were under way, in 1/1000. */
static inline u64 sample_busy(const struct sample *sample)
{
	return min_t(u64, 1000, scaled_ratio(sample->layer.busy_ms * 1000000, sample->at_ns, 1000));
}

/* The machine's clock, in nanoseconds. */
u64 sample_clock(void);

/* Waits until a moment of it; a signal ends the waiting. */
void sample_wait(u64 at_ns);

/* --interval, of which a bare number counts seconds. */
int __must_check sample_interval(const char *given, u64 *ns, struct aftl_error *error);

/* --count, at least one. */
int __must_check sample_count(const char *given, u64 *count, struct aftl_error *error);

#endif
