/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One policy, one device, one stream.
 */
#ifndef AFTL_RUN_H
#define AFTL_RUN_H

#include "exit-codes.h"
#include "progress.h"
#include "raid-array.h"
#include "request-stream.h"
#include "settling.h"
#include "sim-options.h"
#include "timeline.h"

/**
 * struct sim_spread - a quantity over all good blocks
 */
struct sim_spread {
	u64 smallest;
	u64 largest;
	u64 sum;
	u64 count;
};

/**
 * struct sim_raid - what a RAID adds to the result
 * @members: devices; 0 without a RAID
 * @counters: of the array
 * @member_units: by member, data and parity units written to it
 * @member_erases: by member
 */
struct sim_raid {
	u32 members;
	struct raid_counters counters;
	u64 member_units[STRIPE_MEMBERS_MAX];
	u64 member_erases[STRIPE_MEMBERS_MAX];
};

/**
 * struct sim_queue - reads and writes of a queue of the host
 * @read_response: their times
 * @write_response: their times
 * @units: of both
 */
struct sim_queue {
	struct aftl_histogram read_response;
	struct aftl_histogram write_response;
	u64 units;
};

/**
 * struct sim_page_map - the pages of a block
 * @block: which
 * @kind: what its policy uses it for; empty if there is nothing in it
 * @attr: by page, see aftl_page_attr()
 * @valid: by page, units of it that are current
 * @age_hours: by page, since its program
 */
struct sim_page_map {
	u32 block;
	const char *kind;
	u16 *attr;
	u8 *valid;
	u32 *age_hours;
};

/**
 * struct sim_result - what is left of a run when its device is gone
 * @policy: that ran
 * @profile: that the device began as, NULL after --load
 * @config: of the device
 * @geo: of the device; of several that are one, units and slots of each and all else of all
 * @units: of the device
 * @slots: of the device
 * @stats: since the warm-up
 * @class_response: times of writes by class, of no write in an array
 * @settling: how response times went on since the warm-up
 * @notes: about the whole stream
 * @interval_q16: mean distance of open arrivals in 2^-16 ns
 * @requests: submitted after the warm-up
 * @warmup_requests: submitted before
 * @elapsed_ns: device time since the warm-up
 * @end_ns: device time at the end
 * @hours: age of the device at the end
 * @erases: erase counts of blocks
 * @wear: wear of blocks in 1/10000 of a full erase
 * @bad_blocks: blocks that are not good
 * @luns: one for each LUN
 * @queues: by queue of the host, NULL where there is one
 * @queue_count: how many
 * @blocks: a copy of all, with --block-table
 * @page_maps: with --page-map
 * @page_map_count: how many
 * @raid: of an array, whose devices make one
 * @memory_bytes: that the device took
 * @digest: of the device, after --dump if it is saved
 * @cpu_ns: processor time of the run, without filling
 * @fill_cpu_ns: processor time of creating and filling
 * @zone_states: zones in each state
 * @read_only: the device refuses writes
 * @interrupted: before its end
 * @verified: the audit has passed
 */
struct sim_result {
	const struct aftl_policy_type *policy;
	const char *profile;
	struct aftl_config config;
	struct aftl_geometry geo;
	u64 units;
	u64 slots;
	struct aftl_stats stats;
	struct aftl_histogram class_response[AFTL_CLASSES];
	struct settling settling;
	struct sim_notes notes;
	u64 interval_q16;
	u64 requests;
	u64 warmup_requests;
	u64 elapsed_ns;
	u64 end_ns;
	u64 hours;
	struct sim_spread erases;
	struct sim_spread wear;
	u32 bad_blocks;
	struct aftl_lun_info *luns;
	struct sim_queue *queues;
	u32 queue_count;
	struct aftl_block *blocks;
	struct sim_page_map *page_maps;
	u32 page_map_count;
	struct sim_raid raid;
	u64 memory_bytes;
	u64 digest;
	u64 cpu_ns;
	u64 fill_cpu_ns;
	u32 zone_states[AFTL_ZONE_STATES];
	bool read_only;
	bool interrupted;
	bool verified;
};

/**
 * sim_run() - run the stream of @options on a device with @policy
 * @policy: NULL for what is in the file of --load
 * @timeline: takes what the flash does; NULL without --timeline
 * @result: filled in unless the return value is EXIT_FAILED, EXIT_USAGE or EXIT_NO_INPUT
 * @error: the sentence, for everything but EXIT_DONE and EXIT_INTERRUPTED
 */
enum exit_code sim_run(const struct sim_options *options, const struct aftl_policy_type *policy,
		       struct timeline *timeline, struct sim_result *result,
		       struct aftl_error *error);

void sim_result_release(struct sim_result *result);

/* What runs of one device and of several have in common */

/* The code of what aftl_create() and its like have returned. */
enum exit_code sim_exit_code(int ret);

/* The sentence on what aftl_fill() has returned, which it returns. */
int sim_blame_fill(int ret, struct aftl_error *error);

/* With which request the last die dies; U64_MAX: never. */
u64 sim_last_of_die(const struct sim_options *options);

enum progress_when sim_progress_when(const struct sim_options *options);

/* By queue, for who owns it to free; NULL where the host has one. */
struct sim_queue *sim_queues_create(const struct sim_options *options,
				    const struct aftl_config *config);

/* A read or a write is complete. */
static inline void sim_queue_count(struct sim_queue *queue, u8 op, u32 units, u64 response_ns)
{
	queue->units += units;
	aftl_histogram_add(op == AFTL_OP_READ ? &queue->read_response : &queue->write_response,
			   response_ns);
}

/* Copies @queues, if there are any, into @result. */
void sim_survey_queues(const struct sim_queue *queues, u32 tenants, struct sim_result *result);

/* Adds the wear of the blocks of @ftl to @result. */
void sim_survey_blocks(const struct aftl *ftl, struct sim_result *result);

/* Adds the states of the zones of @ftl to @result. */
void sim_survey_zones(const struct aftl *ftl, struct sim_result *result);

/* Now and then: the line of @progress. Returns whether somebody wants no more, by Ctrl-C. */
bool sim_look_around(struct progress *progress, u64 submitted);

/* Processor time of this program. */
u64 sim_processor_ns(void);

#endif
