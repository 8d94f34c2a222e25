/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses the command line of approxftl-replay.
 */
#ifndef AFTL_REPLAY_OPTIONS_H
#define AFTL_REPLAY_OPTIONS_H

#include "reading-options.h"

/**
 * struct replay_options - values of the options
 * @trace: trace to replay
 * @reading: how to read a trace that is no record file
 * @target: device or file; NULL with @simulate and @summarise
 * @speed: divisor of times, in units of REPLAY_SPEED_ONE
 * @closed_loop: number of requests to keep in flight; 0: follow the schedule
 * @no_stall: issue as fast as @limit allows
 * @limit: maximum number of requests in flight
 * @requests: maximum number of requests of the stream; 0: all
 * @spin_ns: busy-wait for this long before a request is due
 * @realtime: run with a real-time priority and locked memory, or fail
 * @engine: name of the engine; NULL: the best one available
 * @threads: number of threads of the thread engine
 * @tags: "auto", "require" or "off"
 * @buffered: use the page cache
 * @memory_bytes: size of the memory for each kind of data
 * @seed: seed of the generated data
 * @verify: check the data that are read
 * @read_back: read all written units at the end
 * @fold: wrap addresses beyond the end of the target
 * @align_bytes: round requests outward to multiples of this; 0: do not
 * @size_bytes: size of a new file
 * @overwrite: existing data may be lost
 * @force: use the device even if it is in use
 * @record: log to write
 * @summarise: log to read
 * @json: file for the JSON report
 * @late_ns: requests later than this are reported as late
 * @max_lag_ns: fail if the lag exceeds this; 0: never
 * @quiet: show no progress
 * @dry_run: only print the plan
 * @simulate: run the stream in the simulator
 * @help: print the help
 * @seed_given: the user specified @seed
 * @sim_count: number of arguments for the simulator
 * @sim_arguments: arguments for the simulator
 * @argc: number of words of the command line as typed, "approxftl replay ..."
 * @argv: words of the command line as typed
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

/* Return: 0, or -EINVAL with a sentence. */
int __must_check replay_options_parse(struct replay_options *options, int argc, char **argv,
				      struct aftl_error *error);
void replay_options_help(void);

#endif
