/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of approxftl-replay.
 */
#ifndef AFTL_REPLAY_OPTIONS_H
#define AFTL_REPLAY_OPTIONS_H

#include "reading-options.h"

/**
 * struct replay_options - what was asked for
 * @trace: what to replay
 * @reading: how to read it if it is no record file
 * @target: device or file, NULL with @simulate and @summarise
 * @speed: times are divided by it, in REPLAY_SPEED_ONE
 * @closed_loop: requests to keep under way, 0: by schedule
 * @no_stall: as fast as @limit allows
 * @limit: most requests under way
 * @requests: at most so many of the stream, 0: all
 * @spin_ns: wait so long without sleeping
 * @realtime: before all other processes
 * @engine: name, NULL: the best there is
 * @threads: of that engine
 * @tags: "auto", "require" or "off"
 * @buffered: through the page cache
 * @memory_bytes: for data of each kind
 * @seed: of the data
 * @verify: check what is read
 * @read_back: read all that was written at the end
 * @fold: addresses beyond the target come round
 * @align_bytes: round requests outward, 0: not
 * @size_bytes: of a new file
 * @overwrite: what is there may be lost
 * @force: even a device in use
 * @record: log to write
 * @summarise: log to read
 * @json: where to
 * @late_ns: what the report calls late
 * @max_lag_ns: failure beyond, 0: never
 * @quiet: no progress
 * @dry_run: say what would be done
 * @simulate: run the stream in the simulator
 * @help: print the help
 * @seed_given: not the default
 * @sim_count: arguments for the simulator
 * @sim_arguments: they
 * @argc: of the command line as a user types it, "approxftl replay ..."
 * @argv: of the same
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
