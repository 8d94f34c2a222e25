/* SPDX-License-Identifier: GPL-2.0-only */
/* Run one policy with one stream on one device. */
#ifndef AFTL_RUN_H
#define AFTL_RUN_H

#include "exit-codes.h"
#include "progress.h"
#include "raid-array.h"
#include "request-stream.h"
#include "settling.h"
#include "sim-options.h"
#include "slowest.h"
#include "timeline.h"
#include "yardstick.h"

/**
 * struct sim_spread - distribution of a quantity over all good blocks
 */
struct sim_spread {
	u64 smallest;
	u64 largest;
	u64 sum;
	u64 count;
};

/**
 * struct sim_raid - results of a RAID besides those of its members
 * @members: number of devices; 0 without a RAID
 * @counters: statistics of the array
 * @member_units: data and parity units written to each member
 * @member_erases: erases of each member
 */
struct sim_raid {
	u32 members;
	struct raid_counters counters;
	u64 member_units[STRIPE_MEMBERS_MAX];
	u64 member_erases[STRIPE_MEMBERS_MAX];
};

/**
 * struct sim_queue - statistics of a host queue
 * @read_response: response times of reads
 * @write_response: response times of writes
 * @bytes: bytes read and written
 */
struct sim_queue {
	struct aftl_histogram read_response;
	struct aftl_histogram write_response;
	u64 bytes;
};

/**
 * struct sim_page_map - the pages of a block
 * @block: number of the block
 * @kind: the policy's name for its use; empty if the block is empty
 * @attr: by page, see aftl_page_attr()
 * @valid: by page, number of valid units
 * @age_hours: by page, hours since its program
 */
struct sim_page_map {
	u32 block;
	const char *kind;
	u16 *attr;
	u8 *valid;
	u32 *age_hours;
};

/**
 * struct sim_result - result of a run, which outlives its device
 * @policy: policy that ran
 * @profile: profile of the device, NULL after --load
 * @config: configuration of the device
 * @geo: geometry of the device; with several members or shards the sum, but units and slots of one
 * @units: capacity of the device
 * @slots: physical units of the device
 * @stats: statistics since the warm-up
 * @class_response: response times of writes by class; empty for an array
 * @settling: series of response times since the warm-up
 * @notes: adaptations of the whole stream
 * @interval_q16: mean interval of open arrivals in 2^-16 ns
 * @requests: requests submitted after the warm-up
 * @warmup_requests: requests submitted before
 * @elapsed_ns: device time since the warm-up
 * @end_ns: device time at the end
 * @hours: age of the device at the end
 * @erases: erase counts of the good blocks
 * @wear: wear of the good blocks in 1/10000 of a full erase
 * @bad_blocks: number of bad blocks
 * @luns: state of each LUN
 * @queues: statistics of each host queue, NULL if there is only one
 * @queue_count: number of host queues
 * @blocks: a copy of all blocks, with --block-table
 * @page_maps: with --page-map
 * @page_map_count: number of page maps
 * @raid: statistics of an array
 * @yardstick: the offline optimum, with --yardstick
 * @memory_bytes: memory of the device
 * @digest: digest of the device, after --dump if it is saved
 * @cpu_ns: processor time of the run, without filling
 * @fill_cpu_ns: processor time of creating and filling the device
 * @zone_states: number of zones in each state
 * @read_only: the device refuses writes
 * @interrupted: the run was interrupted
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
	struct sim_slowest slowest;
	struct sim_raid raid;
	struct sim_yardstick yardstick;
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
 * @policy: NULL for the policy in the file of --load
 * @timeline: receives the flash operations; NULL without --timeline
 * @result: filled in unless the return value is EXIT_FAILED, EXIT_USAGE or EXIT_NO_INPUT
 * @error: error message, for everything but EXIT_DONE and EXIT_INTERRUPTED
 */
enum exit_code sim_run(const struct sim_options *options, const struct aftl_policy_type *policy,
		       struct timeline *timeline, struct sim_result *result,
		       struct aftl_error *error);

void sim_result_release(struct sim_result *result);

/* sim_run(), sim_sharded_run() and sim_raid_run() share the functions from here on. */

/* Return the exit code for an error of aftl_create() and similar functions. */
enum exit_code sim_get_exit_code(int ret);

/* Set the error message for an error of aftl_precondition() and return the error. */
int sim_report_fill_failure(int ret, struct aftl_error *error);

/* Return the number of the request with which the last die fails; U64_MAX: never. */
u64 sim_get_request_number_of_die_failure(const struct sim_options *options);

enum progress_when sim_choose_progress_visibility(const struct sim_options *options);

/* Allocate statistics for each queue, which the caller frees; NULL if the host has one queue. */
struct sim_queue *sim_queues_create(const struct sim_options *options,
				    const struct aftl_config *config);

/* Count a completed read or write in the statistics of its host queue. */
static inline void sim_count_io_of_host_queue(struct sim_queue *queues,
					      const struct sim_request *request,
					      const struct aftl_geometry *geo, u64 response_ns)
{
	struct sim_queue *queue = &queues[request->queue];

	queue->bytes +=
		sim_request_count_sectors(request, sim_sectors_per_unit(geo)) * AFTL_SECTOR_BYTES;
	aftl_histogram_add(request->op == AFTL_OP_READ ? &queue->read_response :
							 &queue->write_response,
			   response_ns);
}

/* Copy the statistics @queues, unless NULL, into @result. */
void sim_copy_queue_statistics(const struct sim_queue *queues, u32 tenants,
			       struct sim_result *result);

/* Add the wear of the blocks of @ftl to @result. */
void sim_add_block_wear_to_result(const struct aftl *ftl, struct sim_result *result);

/* Add the states of the zones of @ftl to @result. */
void sim_add_zone_states_to_result(const struct aftl *ftl, struct sim_result *result);

/* Update @progress, and return true after Ctrl-C; both only once in some thousand requests. */
bool sim_update_progress_and_check_stop(struct progress *progress, u64 submitted);

/* Return the processor time of this program. */
u64 sim_get_processor_ns(void);

#endif
