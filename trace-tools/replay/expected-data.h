/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracks the data that a read of each unit of the target may return.
 *
 * Requests overlap in time, so a unit may hold the data of any write that could have been the last
 * one. If no other write to its units was in flight when a write began, its completion outdates
 * all earlier writes; other writes outdate nothing. So good data are never called stale, but stale
 * data may be accepted where writes keep overlapping.
 *
 * One thread reports requests; another thread may check data at the same time.
 */
#ifndef AFTL_EXPECTED_DATA_H
#define AFTL_EXPECTED_DATA_H

#include <stdatomic.h>

#include "core/base/params.h"
#include "payload.h"

/**
 * struct expected_unit - state of a unit of the target
 * @newest: sequence number of the last write that has begun; 0: none
 * @oldest: sequence number of the oldest write whose data may still be there
 * @unknown: sequence number of the last request with an undefined result: a discard or a failed
 *	write
 * @writers: number of writes in flight
 * @class: class of write @newest
 */
struct expected_unit {
	atomic_uint newest;
	atomic_uint oldest;
	atomic_uint unknown;
	u16 writers;
	atomic_uchar class;
};

/**
 * struct expected_data - data that reads of the whole target may return
 * @units: state of each unit
 * @count: number of units
 * @unit_bytes: size of a unit
 * @seed: seed of the generated data
 */
struct expected_data {
	struct expected_unit *units;
	u64 count;
	u32 unit_bytes;
	u64 seed;
};

/* Reserve address space for the table of units; only written units use memory. */
int __must_check expected_data_create(struct expected_data *data, u64 count,
				      struct aftl_error *error);
void expected_data_free(struct expected_data *data);

/**
 * expected_data_begin_write() - report a write, discard or the like before its submission
 * @first: first unit
 * @count: number of units
 * @what: sequence number and class of the write; the member unit is not used
 * @keeps: the request stores its data; a discard may leave anything
 *
 * Return: true if no other write to these units is in flight, for expected_data_end_write().
 */
bool expected_data_begin_write(struct expected_data *data, u64 first, u32 count,
			       const struct payload *what, bool keeps);

/* Report the completion of a request that expected_data_begin_write() has reported. */
void expected_data_end_write(struct expected_data *data, u64 first, u32 count, u32 sequence,
			     bool alone, bool failed);

/* Before a read, store in @floors the oldest write whose data each unit may still have. */
void expected_data_begin_read(const struct expected_data *data, u64 first, u32 count, u32 *floors);

/* Possible results when the data of a unit (512 or 4096 bytes) that was read are checked. */
enum data_verdict {
	DATA_GOOD,
	DATA_FOREIGN,	/* the unit has data of another trace, and this replay did not write it */
	DATA_LOST,	/* this replay wrote the unit, but its data are unrecognisable */
	DATA_MISPLACED, /* the data of the unit are those that another unit should have */
	DATA_STALE,	/* the data of the unit come from an older, overwritten write */
	DATA_VERDICTS,
};

/**
 * expected_data_classify_read_unit() - check the data of a unit that was read
 * @bytes: content of the unit
 * @unit: number of the unit
 * @floor: oldest acceptable write, from expected_data_begin_read()
 * @what: takes the identity of good data
 * @flips: takes the number of flipped bits of good data
 */
enum data_verdict expected_data_classify_read_unit(const struct expected_data *data,
						   const void *bytes, u64 unit, u32 floor,
						   struct payload *what, u32 *flips);

#endif
