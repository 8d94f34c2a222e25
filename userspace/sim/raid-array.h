/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several devices as one of RAID level 5, in virtual time.
 *
 * A write goes into the stripe cache. Its row is written when all data cells are new, when
 * it has waited for @hold_ns, or when room is needed; the write is complete when its data
 * and the parity are stored. Reads go to the members, but for what waits in the cache.
 */
#ifndef AFTL_RAID_ARRAY_H
#define AFTL_RAID_ARRAY_H

#include "core/ftl/ftl.h"
#include "settling.h"
#include "stripes.h"

/**
 * struct raid_counters - what the array did
 * @read_requests: completed
 * @write_requests: completed
 * @read_units: of them
 * @write_units: of them
 * @failed_requests: completed with an error
 * @cached_units: of reads, found in the cache
 * @data_units: data units written to members
 * @parity_units: parity units written to members
 * @old_units: units read for the sake of parity
 * @full_rows: rows written without reading
 * @modified_rows: rows written by read-modify-write
 * @reconstructed_rows: rows written by reconstruct-write
 */
struct raid_counters {
	u64 read_requests;
	u64 write_requests;
	u64 read_units;
	u64 write_units;
	u64 failed_requests;
	u64 cached_units;
	u64 data_units;
	u64 parity_units;
	u64 old_units;
	u64 full_rows;
	u64 modified_rows;
	u64 reconstructed_rows;
};

/**
 * struct raid_array - an array
 * @layout: where units are
 * @members: devices
 * @units: that the user sees
 * @hold_ns: how long a row waits for company
 * @now_ns: time of the array
 * @pending: requests under way
 * @cache: stripes
 * @counters: since the last reset
 * @read_response: arrival to completion
 * @write_response: arrival to completion
 * @settling: of both, in their order
 *
 * The rest is raid-array.c's own.
 */
struct raid_array {
	struct stripe_layout layout;
	struct aftl *members[STRIPE_MEMBERS_MAX];
	u64 units;
	u64 hold_ns;
	u64 now_ns;
	u32 pending;
	struct stripe_cache cache;
	struct raid_counters counters;
	struct aftl_histogram read_response;
	struct aftl_histogram write_response;
	struct settling settling;

	struct raid_waiter **waiting;
	struct raid_waiter **flying;
	struct raid_request *blocked;
	struct raid_request **blocked_end;
	struct raid_operation *done;
	struct raid_operation **done_end;
	struct raid_waiter *free_waiters;
	struct raid_operation *free_operations;
	struct raid_request *free_requests;
};

/**
 * raid_array_create() - make and fill the members
 * @config: of each; their seeds differ
 * @stripes: rows that the cache holds
 *
 * Return: 0, or what aftl_create() or aftl_fill() returned, with the sentence in @error.
 */
int raid_array_create(struct raid_array *array, const struct stripe_layout *layout,
		      const struct aftl_config *config, const struct aftl_policy_type *policy,
		      u32 stripes, u64 hold_ns, struct aftl_error *error);
void raid_array_release(struct raid_array *array);

/**
 * raid_array_submit() - a read or a write arrives
 * @at_ns: when; everything that happens before is processed first
 * @hint: of a write: goes with its units to members; of parity nobody says anything
 */
void raid_array_submit(struct raid_array *array, u64 at_ns, u8 op, u32 unit, u32 units,
		       u8 class, struct aftl_hint hint);

/* When something happens next without another request; U64_MAX: never. */
u64 raid_array_next_event(const struct raid_array *array);
void raid_array_advance(struct raid_array *array, u64 now_ns);
void raid_array_reset_stats(struct raid_array *array);

#endif
