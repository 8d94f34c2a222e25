/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of "approxftl torture".
 */
#ifndef AFTL_TORTURE_OPTIONS_H
#define AFTL_TORTURE_OPTIONS_H

#include "core/base/params.h"

/**
 * struct torture_options - as typed
 * @device: the device or file
 * @state: the file of the ledger
 * @seed: of the run
 * @time_ns: how long, 0: until interrupted
 * @requests: how many at most, 0: no limit
 * @size_bytes: of the part of the device that is used, 0: all
 * @unit_bytes: of what is judged as one, 0: a sector of the device
 * @depth: most requests at once
 * @most_bytes: of a request
 * @patience_ns: a request that takes longer hangs
 * @discard: what a discarded block holds: zeroes, undefined; or never
 * @flips: so many bits of a unit may be wrong
 * @zeroed: everything reads as zeroes at first
 * @errors: requests may fail
 * @resume: check by the state, and go on
 * @verify: check by the state
 * @power_failed: what no flush covered may be gone
 * @sync: the state is to survive the machine
 * @overwrite: what is on the device may be lost
 * @force: even if somebody uses it
 * @help: is asked for
 */
struct torture_options {
	const char *device;
	const char *state;
	u64 seed;
	u64 time_ns;
	u64 requests;
	u64 size_bytes;
	u64 unit_bytes;
	u64 depth;
	u64 most_bytes;
	u64 patience_ns;
	const char *discard;
	u64 flips;
	bool zeroed;
	bool errors;
	bool resume;
	bool verify;
	bool power_failed;
	bool sync;
	bool overwrite;
	bool force;
	bool help;
};

int __must_check torture_options_parse(struct torture_options *options, int argc, char **argv,
				       struct aftl_error *error);
void torture_options_help(void);

#endif
