/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses the command line of "approxftl torture".
 */
#ifndef AFTL_TORTURE_OPTIONS_H
#define AFTL_TORTURE_OPTIONS_H

#include "core/base/params.h"

/**
 * struct torture_options - values of the options; those not listed are explained by their help
 * @device: device or file
 * @state: file of the ledger
 * @time_ns: 0: until interrupted
 * @requests: 0: no limit
 * @size_bytes: 0: the whole device
 * @unit_bytes: size of a unit of the ledger; 0: a sector of the device
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
void torture_options_print_help(void);

#endif
