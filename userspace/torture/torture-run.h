/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run of "approxftl torture": the device, its ledger, and requests under way.
 */
#ifndef AFTL_TORTURE_RUN_H
#define AFTL_TORTURE_RUN_H

#include "exit-codes.h"
#include "load.h"
#include "torture-options.h"
#include "replay-target.h"
#include "ledger.h"

/* So many wrong blocks are named. */
#define NAMED_WRONG 10

/**
 * struct torture_run - one
 * @counts: requests that succeeded, by kind
 * @failed: requests that did not
 * @wrong: blocks that hold what they must not
 * @unreadable: blocks of a check that cannot be read
 * @unit_bytes: what is judged as one
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

/* Is a request that fails no mistake? */
static inline bool may_fail(const struct torture_run *run)
{
	return run->options.errors || ledger_header(run->ledger)->frozen;
}

/**
 * judge() - compare what a read of @count units from @first on has brought
 * @floors: the least generation of each
 * @request: number of the read, for the sentence
 */
void judge(struct torture_run *run, u64 first, u32 count, const void *data, const u32 *floors,
	   u32 request);

/* All units, one after the other, as they are; and remember what they are. */
int __must_check check_all(struct torture_run *run, struct aftl_error *error);

/* Requests, until it is time. Return: as the program does. */
enum exit_code press(struct torture_run *run);

#endif
