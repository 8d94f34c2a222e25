/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each block of a device may contain: now, and after a failure of power.
 *
 * Requests that change the device have numbers, its generations. What a unit may hold is a range
 * of them. The file that keeps this survives the program; with write-through, the machine, too.
 */
#ifndef AFTL_LEDGER_H
#define AFTL_LEDGER_H

#include "block-content.h"
#include "core/base/params.h"

/* Generations at which something is known of all units; requests count from there. */
#define LEDGER_FIRST 1

/**
 * struct ledger_unit - what a unit may hold: these generations, and those between
 * @low: the least that a read may find
 * @durable: the least after a failure of power
 * @high: newest write that has begun; it is not zeroes
 * @zero: newest request that makes zeroes
 * @any: newest request after which anything may be there
 */
struct ledger_unit {
	u32 low;
	u32 durable;
	u32 high;
	u32 zero;
	u32 any;
};

/**
 * struct ledger_header - the beginning of the file
 * @magic: of this format
 * @units: that are judged
 * @device: in the names of blocks
 * @unit_bytes: of each
 * @seed: of the run
 * @generation: of the last request that has begun
 * @filled: every unit has been written once, or need not be
 * @frozen: power has failed below: what is flushed is not durable, what is read means nothing
 */
struct ledger_header {
	u64 magic;
	u64 units;
	u64 device;
	u32 unit_bytes;
	u32 seed;
	u32 generation;
	u32 frozen;
	u32 filled;
	u32 reserved[5];
};

struct ledger;

/**
 * struct ledger_change - a request that changes units
 * @first: of them
 * @count: of them
 * @generation: its number
 * @floors: of each unit, the least generation that is left when it is complete
 */
struct ledger_change {
	u64 first;
	u32 count;
	u32 generation;
	u32 *floors;
};

enum ledger_kind {
	LEDGER_WRITE,
	LEDGER_ZEROES,
	LEDGER_ANYTHING,
};

/**
 * ledger_create() - a new file at @path, of units of which nothing is known
 * @sync: write each change through to it
 *
 * Return: 0, or an error number with a sentence.
 */
int __must_check ledger_create(struct ledger **out, const char *path,
			       const struct ledger_header *header, bool sync,
			       struct aftl_error *error);
int __must_check ledger_open(struct ledger **out, const char *path, bool sync,
			     struct aftl_error *error);
void ledger_close(struct ledger *ledger);

/* To be asked, and changed by the functions below alone. */
const struct ledger_header *ledger_header(const struct ledger *ledger);

/* Everything is zero now, and stays so. */
void ledger_all_zero(struct ledger *ledger);

/* From now on nothing becomes durable, and nothing is wrong. For signal handlers, too. */
void ledger_freeze(struct ledger *ledger);
void ledger_filled(struct ledger *ledger);

/* What is not durable may be gone; from now on flushes count again. */
void ledger_power_failed(struct ledger *ledger);

/**
 * ledger_begin() - a change is about to be submitted; it gets its generation
 *
 * The floors are those of a request that overlaps no other one.
 */
void ledger_begin(struct ledger *ledger, struct ledger_change *change, enum ledger_kind kind);

/* @other is under way while @change begins. */
void ledger_overlap(struct ledger_change *change, const struct ledger_change *other);

/* @change has succeeded; one that has failed may have happened or not, and is not told. */
void ledger_done(struct ledger *ledger, const struct ledger_change *change, bool forced);

/* What a flush that is submitted now will cover. */
u64 ledger_flush_begin(const struct ledger *ledger);
void ledger_flush_done(struct ledger *ledger, u64 covered);

/* The least that a read of this unit may find that is submitted now. */
u32 ledger_floor(const struct ledger *ledger, u64 unit);
/* The newest change that the unit may hold, under way or done. */
u32 ledger_newest(const struct ledger *ledger, u64 unit);

/**
 * ledger_allows() - may @found be in @unit?
 * @floor: the least generation
 */
bool ledger_allows(const struct ledger *ledger, u64 unit, u32 floor,
		   const struct block_found *found);

/*
 * @found has been seen in @unit and stays there as long as there is power; it is durable if that
 * had failed.
 */
void ledger_settle(struct ledger *ledger, u64 unit, const struct block_found *found,
		   bool durable);

/* A sentence: what was found, and what was allowed. */
void ledger_explain(const struct ledger *ledger, u64 unit, u32 floor,
		    const struct block_found *found, char *text, size_t size);

#endif
