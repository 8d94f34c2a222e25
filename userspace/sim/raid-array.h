/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A RAID of level 5 made of several devices, in virtual time.
 *
 * A write goes into the stripe cache. Its row is written when all data cells are new, after
 * @hold_ns, or when the cache needs room; the write completes when its data and the parity are
 * stored. Reads go to the members, unless the cache holds unwritten data.
 */
#ifndef AFTL_RAID_ARRAY_H
#define AFTL_RAID_ARRAY_H

#include "core/ftl/ftl.h"
#include "settling.h"
#include "stripes.h"

/**
 * struct raid_counters - statistics of the array
 * @read_requests: completed reads
 * @write_requests: completed writes
 * @read_units: units of completed reads
 * @write_units: units of completed writes
 * @failed_requests: requests completed with an error
 * @cached_units: units read from the cache
 * @data_units: data units written to members
 * @parity_units: parity units written to members
 * @old_units: units read to compute parity
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
 * @layout: placement of units
 * @members: devices
 * @units: capacity of the array
 * @hold_ns: time for which a row waits for more writes
 * @now_ns: time of the array
 * @pending: requests in flight
 * @cache: stripe cache
 * @counters: statistics since the last reset
 * @read_response: response times of reads
 * @write_response: response times of writes
 * @settling: response times of both, in the order of completion
 *
 * The other fields are private to raid-array.c.
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
};

/**
 * raid_array_create() - create and fill the members
 * @config: configuration of each member; their seeds differ
 * @stripes: rows that the cache holds
 *
 * Return: 0, or the result of aftl_create() or aftl_precondition(), with a message in @error.
 */
int raid_array_create(struct raid_array *array, const struct stripe_layout *layout,
		      const struct aftl_config *config, const struct aftl_policy_type *policy,
		      u32 stripes, u64 hold_ns, struct aftl_error *error);
void raid_array_release(struct raid_array *array);

/**
 * raid_array_submit() - submit a read or a write
 * @at_ns: arrival time; all earlier events are processed first
 * @hint: hint of a write, which goes to the members with its data; parity has no hint
 */
void raid_array_submit(struct raid_array *array, u64 at_ns, u8 op, u32 unit, u32 units,
		       u8 class, struct aftl_hint hint);

/* Return the time of the next event if no request is submitted; U64_MAX: never. */
u64 raid_array_get_next_event_ns(const struct raid_array *array);
void raid_array_advance_to_time(struct raid_array *array, u64 now_ns);
void raid_array_reset_stats(struct raid_array *array);

#endif
