/* SPDX-License-Identifier: GPL-2.0-only */
/* Parsers of the target's status line and of its answer to the message "stats". */
#ifndef AFTL_TARGET_STATUS_H
#define AFTL_TARGET_STATUS_H

#include "core/base/params.h"
#include "core/base/stats.h"

#define TARGET_WORD_SIZE 32

/**
 * struct target_status - fields of the status line, from dm-approxftl/target/status-table.h
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
 * target_status_parse() - parse a status line
 * @text: the target's part of it, without start, length and target name
 * @error: receives the error message: the malformed word, or that the target reports "Fail"
 *
 * Words after the last known one belong to a newer target and are skipped.
 *
 * Return: 0, or -EINVAL.
 */
int __must_check target_status_parse(struct target_status *status, const char *text,
				     struct aftl_error *error);

/**
 * struct target_stream - units programmed for a write stream of the policy
 * @name: name of the stream; empty after the last one
 * @units: host writes, then relocations
 */
struct target_stream {
	char name[TARGET_WORD_SIZE];
	u64 units[2];
};

/**
 * struct target_stats - the answer to "stats"
 * @counters: see core/base/counter-table.h
 * @streams: write streams that the answer names
 * @handles: statistics of each placement handle; zero without FDP
 * @device_ns: device time
 * @since_ns: device time of the last reset
 * @lock_waits: number of times that a CPU waited for the lock
 * @lock_wait_ns: total of these waits, in host time
 * @late: lateness of completions, in host time; the minimum is unknown
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
 * target_stats_parse() - parse lines of "name value"
 *
 * Unknown names belong to a newer target and are skipped; a missing name or a malformed number
 * is an error.
 *
 * Return: 0, or -EINVAL with an error message.
 */
int __must_check target_stats_parse(struct target_stats *stats, const char *text,
				    struct aftl_error *error);

/**
 * target_stats_subtract_earlier_counts() - compute the difference between two answers
 * @now: the later answer; receives the difference
 * @before: the earlier answer; if the statistics were reset in between, @now is unchanged
 *
 * The maximum lateness in a difference is up to 1/32 too high. device_ns and since_ns are kept.
 */
void target_stats_subtract_earlier_counts(struct target_stats *now,
					  const struct target_stats *before);

#endif
