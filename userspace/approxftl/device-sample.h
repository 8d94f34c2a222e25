/* SPDX-License-Identifier: GPL-2.0-only */
/* Statistics of a device at one time, and their differences. */
#ifndef AFTL_DEVICE_SAMPLE_H
#define AFTL_DEVICE_SAMPLE_H

#include "block-layer.h"
#include "human-units.h"
#include "target-luns.h"
#include "target-status.h"

#define SECOND_NS 1000000000ULL

/**
 * struct sample - statistics at one time, or between two times
 * @at_ns: time on the machine's clock, or length of the interval
 * @device_ns: time on the device's clock, or length of the interval
 * @stats: statistics of the target
 * @layer: statistics of the block layer
 * @luns: LUNs of the target
 */
struct sample {
	u64 at_ns;
	u64 device_ns;
	struct target_stats stats;
	struct block_layer layer;
	struct target_luns luns;
};

/* Take a sample of a device. The caller calls device_sample_free(), even after a failure. */
int __must_check device_sample_take(const struct dm_device *device, struct sample *sample,
				    struct aftl_error *error);

/* Compute the difference between two samples of a device; the caller calls device_sample_free(). */
void device_sample_subtract_earlier_sample(struct sample *between, const struct sample *now,
					   const struct sample *before);

void device_sample_free(struct sample *sample);

/* Return the mean lateness of completions, in host time. */
static inline u64 sample_get_completion_lateness_ns(const struct sample *sample)
{
	return scaled_ratio(sample->stats.late.sum, sample->stats.late.count, 1);
}

/* Return the rate of @count events in the sample's interval, in tenths of events per second. */
static inline u64 sample_get_event_rate(const struct sample *sample, u64 count)
{
	return scaled_ratio(count, sample->at_ns, SECOND_NS * 10);
}

/* Return the share of time with requests in flight, in 1/1000. */
static inline u64 sample_get_busy_permille(const struct sample *sample)
{
	return min_t(u64, 1000, scaled_ratio(sample->layer.busy_ms * 1000000, sample->at_ns, 1000));
}

/* Return the machine's monotonic clock, in nanoseconds. */
u64 get_monotonic_time_ns(void);

/* Sleep until a time of get_monotonic_time_ns(), or until a signal. */
void sleep_until_sample_time(u64 at_ns);

/* Parse the value of --interval; a number without a unit is in seconds. */
int __must_check parse_sample_interval_option(const char *given, u64 *ns, struct aftl_error *error);

/* Parse the value of --count, which must be at least 1. */
int __must_check parse_sample_count_option(const char *given, u64 *count, struct aftl_error *error);

#endif
