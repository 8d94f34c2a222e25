/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libapproxftl-sim: the simulator as a library, for the Python package.
 *
 * A job is one long call: it collects messages instead of printing them, and another thread may
 * stop it. Any number of jobs and devices may be used at a time, in different threads. The
 * interface belongs to the package that is built with it and may change with every version.
 */
#ifndef AFTL_LIBSIM_H
#define AFTL_LIBSIM_H

#include "exit-codes.h"
#include "request-log.h"

struct simlib_job;
struct simlib_device;
struct simlib_policy;

const char *simlib_version(void);

/* Create a job for a call such as simlib_simulate(); return NULL without memory. */
struct simlib_job *simlib_job_create(void);
void simlib_job_destroy(struct simlib_job *job);

/* Let the job end soon, from any thread. */
void simlib_job_stop(struct simlib_job *job);

/* Return the number of requests of the job so far. */
u64 simlib_job_progress(const struct simlib_job *job);

/* Return the messages of the finished job, one per line, the error last. */
const char *simlib_job_messages(const struct simlib_job *job);

/* Return the JSON text of a finished simulation. */
const char *simlib_job_json(const struct simlib_job *job);

/* Return the requests of a finished simulation, which the job owns. */
const struct request_log *simlib_job_requests(const struct simlib_job *job);

/**
 * struct simlib_facts - geometry of a device, and the number of bits of a ppn in an L2P entry
 */
struct simlib_facts {
	u64 page_bytes;
	u64 logical_pages;
	u64 blocks;
	u64 block_pages;
	u64 luns;
	u64 ppn_bits;
};

/* Columns that describe the candidates of a victim selection */
enum simlib_candidate_column {
	SIMLIB_CANDIDATE_BLOCK,
	SIMLIB_CANDIDATE_VALID,
	SIMLIB_CANDIDATE_AGE,
	SIMLIB_CANDIDATE_DATA_AGE,
	SIMLIB_CANDIDATE_REST,
	SIMLIB_CANDIDATE_ERASES,
	SIMLIB_CANDIDATE_READS,
	SIMLIB_CANDIDATE_STREAM,
	SIMLIB_CANDIDATE_COLUMNS,
};

/**
 * struct simlib_policy_functions - decisions of a policy
 * @begin: return memory for the columns, which have a row for each block of a LUN; NULL on failure
 * @select_victim: return the row of the victim among the first @count; any other number: the
 *	candidate with the least valid data
 * @stream: return the stream of a page. @stream and @age_ns are those of the block that has the
 *	page's present version, or -1
 *
 * @select_victim and @stream are optional. The thread that simulates calls the functions.
 */
struct simlib_policy_functions {
	s64 *(*begin)(const struct simlib_facts *facts);
	u32 (*select_victim)(u32 count, u32 lun, u64 now_ns);
	u32 (*stream)(u32 lpn, u64 now_ns, bool relocated, bool approximate, u32 life,
		      u32 placement, s64 stream, s64 age_ns);
};

/**
 * simlib_policy_create() - create a policy for one job or one device
 * @name: name of the policy, which --policy of the job has to name
 * @streams: names of the streams
 * @count: number of streams
 * @moved: number of relocation passes over a victim block, as of AFTL_FTL_POLICY()
 * @functions: the decisions
 * @out: takes the policy, to be destroyed after the job and the device
 *
 * Return: 0, -EEXIST if a built-in policy has this name, or -ENOMEM.
 */
int simlib_policy_create(const char *name, const char *const *streams, u32 count, u32 moved,
			 const struct simlib_policy_functions *functions,
			 struct simlib_policy **out);
void simlib_policy_destroy(struct simlib_policy *policy);

/* Let the option --policy of the job's command line find @policy by the name of @policy. */
void simlib_job_offer_policy(struct simlib_job *job, struct simlib_policy *policy);

enum simlib_option_kind {
	SIMLIB_OPTION_UNKNOWN,
	SIMLIB_OPTION_SWITCH,
	SIMLIB_OPTION_VALUE,
	SIMLIB_OPTION_PARAMETER,
};

int simlib_option_kind(const char *name);

/**
 * simlib_simulate() - perform the run of a command line "approxftl sim ..."
 * @job: takes JSON, messages and requests
 * @argc: number of arguments
 * @argv: arguments, the program and the verb included
 * @keep_requests: fill simlib_job_requests()
 *
 * Return: an enum exit_code. Several policies or seeds are refused.
 */
int simlib_simulate(struct simlib_job *job, int argc, char **argv, bool keep_requests);

/**
 * simlib_write_requests() - write a record file of requests for --trace
 * @job: takes messages
 * @path: the file
 * @count: number of requests
 * @arrival_ns: arrival times, which must not decrease
 * @op: enum aftl_op
 * @offset: offsets in bytes
 * @bytes: lengths
 *
 * Return: an enum exit_code.
 */
int simlib_write_requests(struct simlib_job *job, const char *path, u64 count,
			  const u64 *arrival_ns, const u8 *op, const u64 *offset, const u64 *bytes);

/**
 * simlib_device_create() - create a device and fill it as configured
 * @job: takes messages
 * @argc: number of arguments
 * @argv: arguments as of simlib_simulate(), but only those that describe a device
 * @out: takes the device
 */
int simlib_device_create(struct simlib_job *job, int argc, char **argv, struct simlib_device **out);
void simlib_device_destroy(struct simlib_device *device);

/* Results of simlib_device_do() besides response times and negative error numbers. */
#define SIMLIB_BEYOND_END INT64_MIN
#define SIMLIB_STOPPED (INT64_MIN + 1)
#define SIMLIB_BUSY (INT64_MIN + 2)

/**
 * simlib_device_do() - submit a request now, and advance time until it is complete
 * @op: enum aftl_op
 *
 * Return: response time in ns, a negative error number, or SIMLIB_BEYOND_END, SIMLIB_STOPPED or
 * SIMLIB_BUSY.
 */
s64 simlib_device_do(struct simlib_device *device, int op, s64 lpn, s64 pages);

/*
 * Return true if this thread executes a function of the device's policy. Such a function must not
 * submit requests to the device, but may query the device's description.
 */
bool simlib_device_busy(struct simlib_device *device);

/**
 * simlib_device_batch() - submit requests through a closed queue
 * @job: takes messages and progress
 * @device: the device
 * @op: enum aftl_op of all requests
 * @count: number of requests
 * @lpn: first logical page of each
 * @pages: logical pages of each
 * @depth: requests in flight
 * @response_ns: takes response times, or negative error numbers
 *
 * Return: an enum exit_code.
 */
int simlib_device_batch(struct simlib_job *job, struct simlib_device *device, int op, u64 count,
			const s64 *lpn, const s64 *pages, u32 depth, s64 *response_ns);

/* Advance device time to @ns, but by at most @events events; return true if @ns was reached. */
bool simlib_device_advance(struct simlib_device *device, u64 ns, u32 events);

enum simlib_fault {
	SIMLIB_FAULT_BLOCK,
	SIMLIB_FAULT_DIE,
	SIMLIB_FAULT_UNIT,
	SIMLIB_FAULT_AGE,
};

/**
 * simlib_device_fault() - make a part of the device fail, or its cells age
 * @kind: enum simlib_fault
 * @number: block, die or logical page; for SIMLIB_FAULT_AGE a time in ns
 *
 * Return: 0, -EINVAL beyond the end, or -ENODATA for a logical page that is not on flash.
 */
int simlib_device_fault(struct simlib_device *device, int kind, u64 number);

u64 simlib_device_now(struct simlib_device *device);

void simlib_device_get_geometry(struct simlib_device *device, struct simlib_facts *facts);

/*
 * Return the table of erase blocks (struct aftl_block) or the L2P table that the device itself uses
 * and changes. The tables are valid until the device is destroyed.
 */
const void *simlib_device_blocks(struct simlib_device *device);
const u32 *simlib_device_l2p(struct simlib_device *device);

/*
 * Return the name, the offset and the size of field @index of struct aftl_block. Beyond the last
 * field return NULL, and the size of the structure in @bytes.
 */
const char *simlib_describe_block_field(u32 index, u32 *offset, u32 *bytes);

/* Return the name of a counter, a reason of waits or a kind of blocks; NULL beyond the last one. */
const char *simlib_wait_reason_name(u32 index);
const char *simlib_counter_name(u32 index);
const char *simlib_block_kind_name(struct simlib_device *device, u32 index);

void simlib_device_counters(struct simlib_device *device, u64 *values);
u64 simlib_device_digest(struct simlib_device *device);

/* Check all invariants of the device. Return: an enum exit_code. */
int simlib_device_audit(struct simlib_job *job, struct simlib_device *device);

#endif
