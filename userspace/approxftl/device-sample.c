// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <time.h>

#include "checked-memory.h"
#include "device-sample.h"
#include "device-verbs.h"

u64 get_monotonic_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * SECOND_NS + (u64)now.tv_nsec;
}

int device_sample_take(const struct dm_device *device, struct sample *sample,
		       struct aftl_error *error)
{
	int ret;

	memset(sample, 0, sizeof(*sample));
	ret = device_read_stats(device, &sample->stats, error);
	sample->at_ns = get_monotonic_time_ns();
	sample->device_ns = sample->stats.device_ns;
	if (!ret)
		ret = device_read_luns(device, &sample->luns, error);
	return ret ? ret : block_layer_get_io_counts(device, &sample->layer, error);
}

void device_sample_subtract_earlier_sample(struct sample *between, const struct sample *now,
					   const struct sample *before)
{
	size_t bytes = now->luns.count * sizeof(*now->luns.list);

	*between = *now;
	between->luns.list = memory_alloc_zeroed(now->luns.count, sizeof(*now->luns.list));
	memcpy(between->luns.list, now->luns.list, bytes);
	between->at_ns -= before->at_ns;
	between->device_ns -= before->device_ns;
	target_stats_subtract_earlier_counts(&between->stats, &before->stats);
	block_layer_subtract_earlier_counts(&between->layer, &before->layer);
	target_luns_subtract_earlier_counts(&between->luns, &before->luns);
}

void device_sample_free(struct sample *sample)
{
	free(sample->luns.list);
	sample->luns.list = NULL;
}

void sleep_until_sample_time(u64 at_ns)
{
	const struct timespec at = {
		.tv_sec = (time_t)(at_ns / SECOND_NS),
		.tv_nsec = (long)(at_ns % SECOND_NS),
	};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

int parse_sample_interval_option(const char *given, u64 *ns, struct aftl_error *error)
{
	char text[64];
	struct aftl_error cause;
	bool bare = strspn(given, "0123456789.") == strlen(given);

	scnprintf(text, sizeof(text), "%.40s%s", given, bare ? "s" : "");
	if (aftl_parse_value(AFTL_PARAM_TIME, NULL, text, ns, &cause))
		return aftl_fail(error, -EINVAL, "--interval: %.190s", cause.text);
	if (*ns >= SECOND_NS / 100 && *ns <= 86400 * SECOND_NS)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "--interval: %.40s is out of range; it must be 10ms to 24h", given);
}

int parse_sample_count_option(const char *given, u64 *count, struct aftl_error *error)
{
	struct aftl_error cause;

	if (aftl_parse_value(AFTL_PARAM_COUNT, NULL, given, count, &cause))
		return aftl_fail(error, -EINVAL, "--count: %.190s", cause.text);
	return *count ? 0 : aftl_fail(error, -EINVAL, "--count must be at least 1");
}
