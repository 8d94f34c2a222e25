/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Command line of "approxftl sim". The options themselves are in option-table.h.
 */
#ifndef AFTL_SIM_OPTIONS_H
#define AFTL_SIM_OPTIONS_H

#include "changes.h"

enum sim_workload {
	SIM_WORKLOAD_UNIFORM,
	SIM_WORKLOAD_ZIPF,
	SIM_WORKLOAD_SEQUENTIAL,
	SIM_WORKLOAD_BURSTS,
	SIM_WORKLOAD_DRIFT,
	SIM_WORKLOAD_ACTIVE,
	SIM_WORKLOAD_ZONES,
};

enum sim_arrival {
	SIM_ARRIVAL_CLOSED,
	SIM_ARRIVAL_OPEN,
	SIM_ARRIVAL_TRACE,
	SIM_ARRIVAL_DEVICE,
};

enum sim_queue_by { SIM_QUEUE_BY_STREAM, SIM_QUEUE_BY_PID, SIM_QUEUE_BY_RECORD };

enum sim_dies { SIM_DIES_NEVER, SIM_DIES_LATE, SIM_DIES_EARLY };

enum sim_shape { SIM_SHAPE_POISSON, SIM_SHAPE_FIXED };

/* Policies that can be compared. */
#define SIM_POLICIES 32
#define SIM_SEEDS 64
#define SIM_SIZES 16
/* Blocks whose pages can be asked for. */
#define SIM_PAGE_MAPS 16
/* Room for the lines of option-table.h. */
#define SIM_OPTIONS 96

/**
 * struct sim_size - one size of requests
 * @bytes: before it is rounded up to mapping units
 * @weight: how often, relative to the other sizes
 */
struct sim_size {
	u64 bytes;
	u32 weight;
};

/**
 * struct sim_size_list - sizes of requests
 * @sizes: in the order of the command line
 * @count: how many
 */
struct sim_size_list {
	struct sim_size sizes[SIM_SIZES];
	u32 count;
};

/**
 * struct sim_tenant_choice - what is said of a tenant
 * @depth: requests under way
 * @bytes: of each, where sizes are given
 * @write_share: of its requests, where shares are given
 */
struct sim_tenant_choice {
	u64 depth;
	u64 bytes;
	u64 write_share;
};

/**
 * struct sim_options - the command line, parsed
 * @policies: to run; empty with @load
 * @policy_count: how many
 * @seeds: each policy runs with each of them; empty if @config has the only one
 * @seed_count: how many
 * @trace_path: record file that has what @trace has; @trace itself until there is another
 * @size_list: what @size says
 * @hot_size_list: what @hot_size says; empty without it
 * @page_blocks: what @page_map lists; empty for "auto"
 * @page_block_count: how many
 * @changes: what @change lists
 * @tenant_choices: what @tenants and its like list
 * @tenant_count: how many
 * @config: profile and every parameter on top of it
 * @given: by line of option-table.h
 * @param_given: the last parameter on the command line, NULL if none
 *
 * All others: one field per line of option-table.h. Shares are in 1/10000, other numbers
 * in the stored units of param-table.h, texts and switches as they are.
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
	struct sim_size_list size_list;
	struct sim_size_list hot_size_list;
	u32 page_blocks[SIM_PAGE_MAPS];
	u32 page_block_count;
	struct sim_changes changes;
	struct sim_tenant_choice tenant_choices[AFTL_QUEUES_MAX];
	u32 tenant_count;
	struct aftl_config config;
	const char *param_given;
	bool help_json;
	bool given[SIM_OPTIONS];
};

/* Values of RATE options count in 10^-12. */
#define SIM_RATE_ONE 1000000000000ULL
#define SIM_RATE_DECIMALS 12

/**
 * sim_options_parse() - read and check the arguments after the verb
 *
 * Return: 0, or -EINVAL with the sentence in @error.
 */
int sim_options_parse(struct sim_options *options, int argc, char **argv,
		      struct aftl_error *error);

/* Whether option @name, in its spelling of the command line, was given. */
bool sim_option_given(const struct sim_options *options, const char *name);

/* Whether a parameter is called so; @name ends after @length. */
bool sim_option_is_param(const char *name, size_t length);

/* Most requests that are submitted, the warm-up included. */
u64 sim_options_limit(const struct sim_options *options);

/* Policies times seeds. */
unsigned int sim_options_runs(const struct sim_options *options);

const char *sim_workload_word(const struct sim_options *options);
const char *sim_arrival_word(const struct sim_options *options);
const char *sim_shape_word(const struct sim_options *options);

/* The text of --help. */
void sim_options_help(void);

/* The options, as --help=json of other verbs. */
void sim_options_json(void);

#endif
