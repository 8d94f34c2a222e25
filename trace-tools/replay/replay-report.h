/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How faithful a replay was, how fast the target, and what became of the data.
 *
 * All of it follows from the header and the entries of a log.
 */
#ifndef AFTL_REPLAY_REPORT_H
#define AFTL_REPLAY_REPORT_H

#include "core/base/histogram.h"
#include "json-writer.h"
#include "replay-log.h"

/**
 * struct replay_latency - requests of one operation and class
 * @bytes: of them
 * @ns: from submission to the end
 */
struct replay_latency {
	u64 bytes;
	struct aftl_histogram ns;
};

/**
 * struct replay_report - sums over a log
 * @header: of the log
 * @late_ns: requests later than this are late
 * @done: requests that ended, well or not
 * @failed: of them, with an error
 * @first_error: error number of the first of them
 * @late: later than @late_ns
 * @last_due_ns: when the last of them should have begun
 * @last_submit_ns: when the last began
 * @last_complete_ns: when the last ended
 * @lag: from due to submission
 * @latency: by operation and class, NULL for none
 * @units: that were read and recognised, by kind
 * @flips: bits flipped in them, by kind
 * @lost: units that were read
 * @misplaced: the same
 * @stale: the same
 */
struct replay_report {
	struct replay_log_header header;
	u64 late_ns;
	u64 done;
	u64 failed;
	u32 first_error;
	u64 late;
	u64 last_due_ns;
	u64 last_submit_ns;
	u64 last_complete_ns;
	struct aftl_histogram lag;
	struct replay_latency *latency[AFTL_OPS][AFTL_RECORD_CLASSES];
	u64 units[DATA_CLASSES];
	u64 flips[DATA_CLASSES];
	u64 lost;
	u64 misplaced;
	u64 stale;
};

/* To be freed with replay_report_free(). */
struct replay_report *replay_report_create(const struct replay_log_header *header, u64 late_ns);
void replay_report_free(struct replay_report *report);

/* An entry of sequence 0 is no request of the stream: what it has read counts, no more. */
void replay_report_add(struct replay_report *report, const struct replay_log_entry *entry);

/* Data that are wrong in a way that approximate data may not be either. */
bool replay_report_data_wrong(const struct replay_report *report);

/* The lag that 99 of 100 requests did not exceed. */
u64 replay_report_lag(const struct replay_report *report);

/* Members of the object that is open. */
void replay_report_json(const struct replay_report *report, struct json_writer *json);
void replay_report_print(const struct replay_report *report, FILE *out);

#endif
