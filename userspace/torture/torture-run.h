/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of a run of "approxftl torture": the device, its ledger, and statistics.
 */
#ifndef AFTL_TORTURE_RUN_H
#define AFTL_TORTURE_RUN_H

#include "exit-codes.h"
#include "load.h"
#include "torture-options.h"
#include "replay-target.h"
#include "ledger.h"

/* Maximum number of wrong blocks that are reported individually. */
#define NAMED_WRONG 10

/**
 * struct torture_run - state of a run
 * @counts: number of successful requests by operation
 * @failed: number of failed requests
 * @wrong: number of blocks with content that is not allowed
 * @unreadable: number of blocks that a check could not read
 * @unit_bytes: size of a unit of the ledger
 */
struct torture_run {
	struct torture_options options;
	struct replay_target target;
	struct ledger *ledger;
	u64 counts[LOAD_OPS];
	u64 failed;
	u64 wrong;
	u64 unreadable;
	u32 unit_bytes;
};

/* Return true if requests may fail: with --errors, or after a power failure. */
static inline bool are_failing_requests_allowed(const struct torture_run *run)
{
	return run->options.errors || ledger_header(run->ledger)->frozen;
}

/**
 * check_data_returned_by_read() - check the data of a read of @count units, from @first on
 * @floors: oldest allowed generation of each unit
 * @request: number of the read, for messages
 */
void check_data_returned_by_read(struct torture_run *run, u64 first, u32 count, const void *data,
				 const u32 *floors, u32 request);

/* Check all units in order, and record their content in the ledger. */
int __must_check check_all_torture_units(struct torture_run *run, struct aftl_error *error);

/* Run the load until its time is over. Return: exit code of the program. */
enum exit_code run_press_on_device(struct torture_run *run);

#endif
