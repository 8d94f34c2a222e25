/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a read of each unit of the target may return.
 *
 * Requests overlap in time, so a unit may hold the data of any write that could have been
 * the last. A write that was alone on its units when it began outdates all before it as soon
 * as it is complete; other writes outdate nothing. So no good data are ever called stale;
 * where writes keep overlapping, stale data may be taken for good.
 *
 * One thread tells of requests, another may ask for verdicts at the same time.
 */
#ifndef AFTL_EXPECTED_DATA_H
#define AFTL_EXPECTED_DATA_H

#include <stdatomic.h>

#include "core/base/params.h"
#include "payload.h"

/**
 * struct expected_unit - a unit of the target
 * @newest: sequence of the last write that has begun, 0: none
 * @oldest: of the oldest write whose data may still be there
 * @unknown: of the last request that may have left anything: a discard, a failed write
 * @writers: writes that are under way
 * @class: of @newest
 */
struct expected_unit {
	atomic_uint newest;
	atomic_uint oldest;
	atomic_uint unknown;
	u16 writers;
	atomic_uchar class;
};

/**
 * struct expected_data - of the whole target
 * @units: one for each
 * @count: how many
 * @unit_bytes: size of one
 * @seed: of the data
 */
struct expected_data {
	struct expected_unit *units;
	u64 count;
	u32 unit_bytes;
	u64 seed;
};

/* Memory is used for units that are written, not for all. */
int __must_check expected_data_create(struct expected_data *data, u64 count,
				      struct aftl_error *error);
void expected_data_free(struct expected_data *data);

/**
 * expected_write_begins() - before a write, discard or the like is submitted
 * @first: first unit
 * @count: units
 * @what: sequence and class; the unit does not matter
 * @keeps: it leaves what it was given, and not just anything
 *
 * Return: whether it was alone there; expected_write_ends() wants to know.
 */
bool expected_write_begins(struct expected_data *data, u64 first, u32 count,
			   const struct payload *what, bool keeps);

/* After it is complete. */
void expected_write_ends(struct expected_data *data, u64 first, u32 count, u32 sequence,
			 bool alone, bool failed);

/* Before a read is submitted: the oldest that it may return, for each unit. */
void expected_read_begins(const struct expected_data *data, u64 first, u32 count, u32 *floors);

/* What a unit that was read turned out to be. */
enum data_verdict {
	DATA_GOOD,
	DATA_FOREIGN,	/* not from this stream, and nothing else was to be expected */
	DATA_LOST,	/* not to be recognised, although it was written */
	DATA_MISPLACED, /* another unit's */
	DATA_STALE,	/* of a write that had been overwritten */
	DATA_VERDICTS,
};

/**
 * expected_verdict() - judge a unit that was read
 * @bytes: its content
 * @unit: its address
 * @floor: from expected_read_begins()
 * @what: out: what it holds, if it is good
 * @flips: out: its flipped bits, if it is good
 */
enum data_verdict expected_verdict(const struct expected_data *data, const void *bytes, u64 unit,
				   u32 floor, struct payload *what, u32 *flips);

#endif
