/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the target says of itself: its status line, and its answer to the message "stats".
 */
#ifndef AFTL_TARGET_STATUS_H
#define AFTL_TARGET_STATUS_H

#include "core/base/params.h"
#include "core/base/stats.h"

#define TARGET_WORD_SIZE 32

/**
 * struct target_status - the words of dm-approxftl/target/status-table.h
 */
struct target_status {
#define STATUS_TEXT(name, help) char name[TARGET_WORD_SIZE];
#define STATUS_NUMBER(name, help) u64 name;
#define STATUS_PAIR(part, whole, help) u64 part; u64 whole;
#include "target/status-table.h"
#undef STATUS_TEXT
#undef STATUS_NUMBER
#undef STATUS_PAIR
};

/**
 * target_status_parse() - read a status line
 * @text: the target's part of it, without sectors and name of the target
 * @error: takes the sentence on failure: which word is wrong, or that the target says "Fail"
 *
 * Words that follow the last known one belong to a newer target and are skipped.
 *
 * Return: 0, or -EINVAL.
 */
int __must_check target_status_parse(struct target_status *status, const char *text,
				     struct aftl_error *error);

/**
 * struct target_stream - units programmed for a stream of the policy
 * @name: of the stream; empty past the last
 * @units: of the host, and moved
 */
struct target_stream {
	char name[TARGET_WORD_SIZE];
	u64 units[2];
};

/**
 * struct target_stats - the answer to "stats"
 * @counters: see core/base/counter-table.h
 * @streams: those that it names
 * @handles: by placement handle; zero where there are none
 * @device_ns: device time
 * @since_ns: device time of the last reset
 * @lock_waits: times that a processor has waited for another one
 * @lock_wait_ns: for how long, in host time
 * @late: lateness of completions, in host time; the smallest is not known
 */
struct target_stats {
	struct aftl_counters counters;
	struct target_stream streams[AFTL_STREAMS];
	struct aftl_handle_stats handles[1 + AFTL_HANDLES_MAX];
	u64 device_ns;
	u64 since_ns;
	u64 lock_waits;
	u64 lock_wait_ns;
	struct aftl_histogram late;
};

/**
 * target_stats_parse() - read lines of "name value"
 *
 * Names that are unknown here belong to a newer target and are skipped; one that is missing
 * or no number is an error.
 *
 * Return: 0, or -EINVAL with a sentence.
 */
int __must_check target_stats_parse(struct target_stats *stats, const char *text,
				    struct aftl_error *error);

/**
 * target_stats_since() - what happened between two answers
 * @now: the later one; afterwards the difference
 * @before: the earlier one; after a reset in between, @now remains what it is
 *
 * The largest lateness is then at most 1/32 too high, and times remain what they are.
 */
void target_stats_since(struct target_stats *now, const struct target_stats *before);

#endif
