/* SPDX-License-Identifier: GPL-2.0-only */
/* Command line of "approxftl sim". option-table.h defines the options. */
#ifndef AFTL_SIM_OPTIONS_H
#define AFTL_SIM_OPTIONS_H

#include "changes.h"
#include "fault-script.h"
#include "nameless-file.h"

struct request_log;

enum sim_workload {
	SIM_WORKLOAD_UNIFORM,
	SIM_WORKLOAD_ZIPF,
	SIM_WORKLOAD_SEQUENTIAL,
	SIM_WORKLOAD_BURSTS,
	SIM_WORKLOAD_DRIFT,
	SIM_WORKLOAD_ACTIVE,
	SIM_WORKLOAD_ZONES,
};

enum sim_zipf_order { SIM_ZIPF_SCATTERED, SIM_ZIPF_SORTED, SIM_ZIPF_HASHED };

enum sim_arrival {
	SIM_ARRIVAL_CLOSED,
	SIM_ARRIVAL_OPEN,
	SIM_ARRIVAL_TRACE,
	SIM_ARRIVAL_DEVICE,
};

enum sim_queue_by { SIM_QUEUE_BY_STREAM, SIM_QUEUE_BY_PID, SIM_QUEUE_BY_RECORD };

enum sim_dies { SIM_DIES_NEVER, SIM_DIES_LATE, SIM_DIES_EARLY };

enum sim_shape { SIM_SHAPE_POISSON, SIM_SHAPE_FIXED };

/* Maximum number of policies to compare. */
#define SIM_POLICIES 32
#define SIM_SEEDS 64
#define SIM_SIZES 16
/* Maximum number of blocks of --page-map. */
#define SIM_PAGE_MAPS 16
/* Upper bound of the number of rows of option-table.h. */
#define SIM_OPTIONS 100

/**
 * struct sim_size - a request size
 * @bytes: before rounding up to mapping units
 * @weight: frequency relative to the other sizes
 */
struct sim_size {
	u64 bytes;
	u32 weight;
};

/**
 * struct sim_size_list - list of request sizes
 * @sizes: in the order of the command line
 * @count: number of sizes
 */
struct sim_size_list {
	struct sim_size sizes[SIM_SIZES];
	u32 count;
};

/**
 * struct sim_tenant_choice - options of a tenant
 * @depth: queue depth
 * @bytes: request size, if sizes are given
 * @write_share: share of writes, if shares are given
 */
struct sim_tenant_choice {
	u64 depth;
	u64 bytes;
	u64 write_share;
};

/**
 * struct sim_options - the parsed command line
 * @policies: policies to run; empty with @load
 * @policy_count: number of policies
 * @seeds: each policy runs with each seed; empty if @params has the only one
 * @seed_count: number of seeds
 * @trace_path: path of @trace, or of its copy in the record format
 * @import_path: path of that copy
 * @import_fd: its descriptor
 * @size_list: parsed @size
 * @hot_size_list: parsed @hot_size; empty without it
 * @page_blocks: parsed @page_map; empty for "auto"
 * @page_block_count: number of blocks
 * @changes: parsed @change
 * @faults: parsed @fault_script
 * @tenant_choices: parsed @tenants and the other options of tenants
 * @tenant_count: number of tenants
 * @params: the profile with the parameters of the command line
 * @given: for each row of option-table.h, whether the option was given
 * @param_given: the last parameter on the command line, or NULL
 * @fill_given: an option set the parameter fill
 * @fill_overwrite_given: an option set the parameter fill_overwrite
 * @log: receives the requests of the run; set by the library, NULL for the command
 *
 * All other fields: one for each row of option-table.h. Shares are in 1/10000, other numbers in
 * the stored units of param-table.h, texts and switches as they are.
 */
struct sim_options {
#define SIM_FIELD_SWITCH bool
#define SIM_FIELD_TEXT const char *
#define SIM_FIELD_FILE const char *
#define SIM_FIELD_COMMAND_SWITCH bool
#define SIM_FIELD_COMMAND_TEXT const char *
#define SIM_FIELD_COUNT u64
#define SIM_FIELD_BYTES u64
#define SIM_FIELD_SHARE u64
#define SIM_FIELD_TIME u64
#define SIM_FIELD_RATE u64
#define SIM_FIELD_CHOICE u64
#define SIM_OPT(name, kind, ...) SIM_FIELD_##kind name;
#define SIM_OPT_GROUP(title)
#include "option-table.h"
#undef SIM_OPT
#undef SIM_OPT_GROUP
	const struct aftl_policy_type *policies[SIM_POLICIES];
	u32 policy_count;
	u64 seeds[SIM_SEEDS];
	u32 seed_count;
	const char *trace_path;
	char import_path[NAMELESS_FILE_PATH];
	int import_fd;
	struct sim_size_list size_list;
	struct sim_size_list hot_size_list;
	u32 page_blocks[SIM_PAGE_MAPS];
	u32 page_block_count;
	struct sim_changes changes;
	struct fault_script faults;
	struct sim_tenant_choice tenant_choices[AFTL_QUEUES_MAX];
	u32 tenant_count;
	struct aftl_config params;
	const char *param_given;
	bool fill_given;
	bool fill_overwrite_given;
	struct request_log *log;
	bool help_json;
	bool given[SIM_OPTIONS];
};

/* Values of options of type RATE are in units of 10^-12. */
#define SIM_RATE_ONE 1000000000000ULL
#define SIM_RATE_DECIMALS 12

/**
 * sim_options_parse() - parse and check the arguments after the verb
 *
 * Return: 0, or -EINVAL with a message in @error.
 */
int sim_options_parse(struct sim_options *options, int argc, char **argv,
		      struct aftl_error *error);

/* Return true if option @name, spelt as on the command line, was given by the user. */
bool sim_did_user_set_option(const struct sim_options *options, const char *name);

/* Return true if the device has a parameter named by the first @length bytes of @name. */
bool is_option_name_a_device_param(const char *name, size_t length);

/* Return the maximum number of requests, including the warm-up. */
u64 sim_options_get_request_limit(const struct sim_options *options);

/* Return the number of policies times the number of seeds. */
unsigned int sim_options_count_runs(const struct sim_options *options);

const char *sim_get_workload_name(const struct sim_options *options);
const char *sim_get_zipf_order_name(const struct sim_options *options);
const char *sim_get_arrival_name(const struct sim_options *options);
const char *sim_get_arrival_shape_name(const struct sim_options *options);

/* Print the text of --help. */
void sim_options_print_help(void);

/* Print the answer to --help=json, in the format of all verbs. */
void sim_options_print_json(void);

#endif
