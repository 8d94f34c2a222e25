/* SPDX-License-Identifier: GPL-2.0-only */
/* Statistics of a device. */
#ifndef AFTL_STATS_H
#define AFTL_STATS_H

#include "core/base/histogram.h"
#include "core/base/program-kinds.h"
#include "core/base/write-stream.h"

struct aftl_counters {
#define COUNTER(name, help) u64 name;
#include "core/base/counter-table.h"
#undef COUNTER
};

/* True if @to is @n counters after @from; code that adds @n to the index of @from needs this. */
#define AFTL_COUNTER_DISTANCE_IS(from, to, n)						\
	(offsetof(struct aftl_counters, to) - offsetof(struct aftl_counters, from) ==	\
	 (n) * sizeof(u64))

#define AFTL_COUNTERS (sizeof(struct aftl_counters) / sizeof(u64))

/**
 * struct aftl_counter_info - name and description of a counter
 */
struct aftl_counter_info {
	const char *name;
	const char *help;
};

extern const struct aftl_counter_info aftl_counter_info[];

static inline u64 aftl_counter_get(const struct aftl_counters *counters, unsigned int index)
{
	return ((const u64 *)counters)[index];
}

/**
 * struct aftl_handle_stats - counters of a placement handle; see handle-table.h
 */
struct aftl_handle_stats {
#define HANDLE_COUNTER(name, help) u64 name;
#include "core/base/handle-table.h"
#undef HANDLE_COUNTER
};

#define AFTL_HANDLE_COUNTERS (sizeof(struct aftl_handle_stats) / sizeof(u64))

extern const struct aftl_counter_info aftl_handle_counter_info[];

static inline u64 aftl_get_handle_counter(const struct aftl_handle_stats *stats, unsigned int index)
{
	return ((const u64 *)stats)[index];
}

/**
 * struct aftl_stats - statistics since the last reset
 * @counters: the counters that counter-table.h lists
 * @kind_blocks: filled blocks, by the block kind of the policy at the moment when they became full
 * @kind_pages: pages of the blocks that @kind_blocks counts
 * @stream_units: programmed units by stream: [0] of the host, [1] relocated
 * @handles: by placement handle, the default one first; zero without placement handles
 * @mode_pages: pages programmed by mode
 * @class_pages: pages programmed by class
 * @read_response: arrival to completion of reads
 * @write_response: arrival to completion of writes
 * @flush_response: arrival to completion of flushes
 * @read_service: array and channel time of the last page of a read
 * @write_service: array and channel time of the last page of a write
 * @since_ns: device time of the last reset
 */
struct aftl_stats {
	struct aftl_counters counters;
	u64 kind_blocks[8];
	u64 kind_pages[8];
	u64 stream_units[2][AFTL_STREAMS];
	struct aftl_handle_stats handles[1 + AFTL_HANDLES_MAX];
	u64 mode_pages[AFTL_MODES];
	u64 class_pages[AFTL_CLASSES];
	struct aftl_histogram read_response;
	struct aftl_histogram write_response;
	struct aftl_histogram flush_response;
	struct aftl_histogram read_service;
	struct aftl_histogram write_service;
	u64 since_ns;
};

/**
 * aftl_stats_accumulate() - add the counters of another FTL; histograms and times are not changed
 * @sum: takes the sum
 * @more: counters to add
 */
void aftl_stats_accumulate(struct aftl_stats *sum, const struct aftl_stats *more);

#endif
