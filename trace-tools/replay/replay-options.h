/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses the command line of approxftl-replay.
 */
#ifndef AFTL_REPLAY_OPTIONS_H
#define AFTL_REPLAY_OPTIONS_H

#include "reading-options.h"

/**
 * struct replay_options - values of the options; those not listed are explained by their help
 * @trace: trace to replay
 * @reading: how to read a trace that is no record file
 * @target: device or file; NULL with @simulate and @summarise
 * @speed: divisor of times, in units of REPLAY_SPEED_ONE
 * @closed_loop: 0: follow the schedule
 * @requests: 0: all
 * @engine: NULL: the best one available
 * @align_bytes: 0: do not align
 * @max_lag_ns: 0: no limit
 * @seed_given: the user specified @seed
 * @sim_count: number of arguments for the simulator
 * @sim_arguments: arguments for the simulator
 * @argc: number of words of the command line
 * @argv: words of the command line
 */
struct replay_options {
	const char *trace;
	struct reading_options reading;
	const char *target;
	u64 speed;
	u64 closed_loop;
	bool no_stall;
	u64 limit;
	u64 requests;
	u64 spin_ns;
	bool realtime;
	const char *engine;
	u64 threads;
	const char *tags;
	bool buffered;
	u64 memory_bytes;
	u64 seed;
	bool verify;
	bool read_back;
	bool fold;
	u64 align_bytes;
	u64 size_bytes;
	bool overwrite;
	bool force;
	const char *record;
	const char *summarise;
	const char *json;
	u64 late_ns;
	u64 max_lag_ns;
	bool quiet;
	bool dry_run;
	bool simulate;
	bool help;
	bool seed_given;
	int sim_count;
	char **sim_arguments;
	int argc;
	char **argv;
};

/* Parse the command line of approxftl-replay. Return: 0, or -EINVAL with a message. */
int __must_check replay_options_parse(struct replay_options *options, int argc, char **argv,
				      struct aftl_error *error);
void replay_options_help(void);

#endif
