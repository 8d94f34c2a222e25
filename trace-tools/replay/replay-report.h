/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports the punctuality of a replay, the speed of the target, and the state of the data.
 *
 * All numbers derive from the header and the entries of a log.
 */
#ifndef AFTL_REPLAY_REPORT_H
#define AFTL_REPLAY_REPORT_H

#include "core/base/histogram.h"
#include "json-writer.h"
#include "replay-log.h"

/**
 * struct replay_latency - latency of one operation and class
 * @bytes: bytes transferred
 * @ns: time from submission to completion
 */
struct replay_latency {
	u64 bytes;
	struct aftl_histogram ns;
};

/**
 * struct replay_report - sums over a log
 * @header: header of the log
 * @late_ns: requests later than this are late
 * @done: requests that ended, successfully or not
 * @failed: requests that ended with an error
 * @first_error: error number of the first failed request
 * @late: number of requests later than @late_ns
 * @last_due_ns: due time of the last request
 * @last_submit_ns: time of the last submission
 * @last_complete_ns: time of the last completion
 * @lag: delay of submissions after their due times
 * @latency: latency by operation and class; NULL if there were no such requests
 * @units: units that were read and recognised, by kind of data
 * @flips: flipped bits in these units, by kind of data
 * @lost: units that were read but are unrecognisable
 * @misplaced: units that held another unit's data
 * @stale: units that held overwritten data
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

/* Create the report of a replay; free it with replay_report_free(). */
struct replay_report *replay_report_create(const struct replay_log_header *header, u64 late_ns);
void replay_report_free(struct replay_report *report);

/* Add a log entry. Entries of the read-back (sequence 0) count only for data statistics. */
void replay_report_add_entry(struct replay_report *report, const struct replay_log_entry *entry);

/* Return true if data were lost, misplaced or stale, or precise data have flipped bits. */
bool replay_report_is_data_wrong(const struct replay_report *report);

/* Return the 99th percentile of the time by which requests were issued late. */
u64 replay_report_lag_p99(const struct replay_report *report);

/* Write the replay's report as members of the JSON object that is open. */
void replay_report_write_json(const struct replay_report *report, struct json_writer *json);
void replay_report_print(const struct replay_report *report, FILE *out);

#endif
