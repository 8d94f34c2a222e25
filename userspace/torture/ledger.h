/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records the allowed content of each unit of a device, now and after a power failure.
 *
 * Requests that change the device are numbered: a number is a generation. A unit may hold a range
 * of generations. The ledger is a file that survives a crash of the program; opened with @sync, it
 * also survives a crash of the machine.
 */
#ifndef AFTL_LEDGER_H
#define AFTL_LEDGER_H

#include "block-content.h"
#include "core/base/params.h"

/* Generation of the units' initial content; the first request gets the next number. */
#define LEDGER_FIRST 1

/**
 * struct ledger_unit - allowed generations of a unit, from the lower bound to the last request
 * @low: oldest generation that a read may return
 * @durable: oldest generation that may be found after a power failure
 * @high: last data write that has begun
 * @zero: last request that has begun and writes zeroes
 * @any: last request that has begun and leaves undefined content
 */
struct ledger_unit {
	u32 low;
	u32 durable;
	u32 high;
	u32 zero;
	u32 any;
};

/**
 * struct ledger_header - header of the file
 * @magic: identifies the format
 * @units: number of units
 * @device: random number of the device, used in block names
 * @unit_bytes: size of a unit
 * @seed: seed of the run
 * @generation: generation of the last request that has begun
 * @filled: every unit was written once, or need not be
 * @frozen: power has failed: flushes no longer make data durable, and reads are not checked
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
 * @first: first unit
 * @count: number of units
 * @generation: number of the request
 * @floors: for each unit, the oldest possible generation when the request is complete
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
 * ledger_create() - create a ledger file at @path for units with undefined content
 * @sync: write each change through to the disk
 *
 * Return: 0, or a negative error number with a message.
 */
int __must_check ledger_create(struct ledger **out, const char *path,
			       const struct ledger_header *header, bool sync,
			       struct aftl_error *error);
int __must_check ledger_open(struct ledger **out, const char *path, bool sync,
			     struct aftl_error *error);
void ledger_close(struct ledger *ledger);

/* Return the ledger's header for reading; only the functions below change it. */
const struct ledger_header *ledger_header(const struct ledger *ledger);

/* Record that all units hold zeroes, durably. */
void ledger_expect_zeroes_in_all_units(struct ledger *ledger);

/* Record a power failure: flushes make nothing durable, reads prove nothing. Async-signal-safe. */
void ledger_freeze_after_power_failure(struct ledger *ledger);
void ledger_mark_device_as_filled(struct ledger *ledger);

/* After a power failure, let each unit hold its oldest durable generation or a later one. */
void ledger_apply_power_failure(struct ledger *ledger);

/**
 * ledger_begin_change() - record a change before its submission, and number it
 *
 * Sets the oldest possible generations (floors) for a change that overlaps no other one.
 */
void ledger_begin_change(struct ledger *ledger, struct ledger_change *change,
			 enum ledger_kind kind);

/* Lower floors (oldest generations) of units of @change that @other, begun before, changes, too. */
void ledger_add_concurrent_change(struct ledger_change *change, const struct ledger_change *other);

/* Record the success of @change; do not call this for a failed change, whose effect is unknown. */
void ledger_end_change(struct ledger *ledger, const struct ledger_change *change, bool forced);

/* Return the number of changes that a flush submitted now covers, for ledger_end_flush(). */
u64 ledger_begin_flush(const struct ledger *ledger);
void ledger_end_flush(struct ledger *ledger, u64 covered);

/* Return: oldest generation that a read of the unit submitted now may return. */
u32 ledger_get_oldest_generation(const struct ledger *ledger, u64 unit);
/* Return: newest generation that the unit may hold, complete or in flight. */
u32 ledger_get_newest_generation(const struct ledger *ledger, u64 unit);

/**
 * ledger_allows_unit_content() - check whether @unit may hold @found
 * @floor: oldest allowed generation
 */
bool ledger_allows_unit_content(const struct ledger *ledger, u64 unit, u32 floor,
				const struct block_found *found);

/*
 * Record that a read, with no other request in flight, found @found in @unit: from now on older
 * generations are wrong. With @durable (set after a power failure) @found is durable, too.
 */
void ledger_update_unit_from_block(struct ledger *ledger, u64 unit, const struct block_found *found,
				   bool durable);

/* Write a message that names the block that was found and the content that is allowed. */
void ledger_explain_wrong_content(const struct ledger *ledger, u64 unit, u32 floor,
				  const struct block_found *found, char *text, size_t size);

#endif
