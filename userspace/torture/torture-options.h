/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses the command line of "approxftl torture".
 */
#ifndef AFTL_TORTURE_OPTIONS_H
#define AFTL_TORTURE_OPTIONS_H

#include "core/base/params.h"

/**
 * struct torture_options - values of the options
 * @device: device or file
 * @state: file of the ledger
 * @seed: seed of the run
 * @time_ns: duration; 0: until interrupted
 * @requests: maximum number of requests; 0: no limit
 * @size_bytes: size of the tested part of the device; 0: all of it
 * @unit_bytes: size of a unit of the ledger; 0: a sector of the device
 * @depth: maximum number of requests in flight
 * @most_bytes: maximum size of a request
 * @patience_ns: a request that takes longer is reported as hanging
 * @discard: content of discarded blocks: "zeroes" or "undefined"; "never": do not discard
 * @flips: number of flipped bits to tolerate per unit
 * @zeroed: the device reads as zeroes at first
 * @errors: requests may fail
 * @resume: check by the ledger, then continue
 * @verify: check by the ledger
 * @power_failed: data that no flush covered may be lost
 * @sync: the ledger must survive a crash of the machine
 * @overwrite: the content of the device may be lost
 * @force: use the device even if it is in use
 * @help: print the help
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
