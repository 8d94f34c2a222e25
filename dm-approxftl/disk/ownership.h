/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ownership of a mapped device's data: the state machine of load, resume, suspend and removal.
 *
 * A mapped device has one struct aftl_ownership, which holds its data. Each of its tables has a
 * struct aftl_table, which holds at most one empty device, its spare. A table never holds the data,
 * so a table that fails or is removed cannot free them. The kernel calls these functions, and
 * selftests/target/test-ownership.c runs them in every order.
 *
 * State of the data, and its transitions:
 *
 *   NONE      There are no data: no table has been resumed.
 *             begin -> RESERVED
 *   RESERVED  Held for the owner, which opens, converts or closes them without a lock. Other
 *             tables wait, and see no device.
 *             finish -> OWNED; fail -> UNOWNED, or NONE if there were none before;
 *             unload (of a table that has closed its volume) -> UNOWNED
 *   OWNED     Held for the owner, whose I/O they serve. A new table that is resumed takes them
 *             over if they fit it; a table that is refused changes nothing.
 *             begin -> RESERVED; close -> RESERVED; unload -> UNOWNED
 *   UNOWNED   Kept for the next table: the last resume failed, or the owner was removed. A
 *             volume is closed then: its data are on the backing device.
 *             begin -> RESERVED
 *
 * The data in memory are freed with the last table of the mapped device.
 *
 * State of a table:
 *
 *   LOADED      never resumed                       begin -> RESUMING
 *   RESUMING    owner of reserved data              finish -> SUSPENDED; fail -> FAILED
 *   SUSPENDED   owner, without I/O                  start -> LIVE; begin (again) -> RESUMING
 *   LIVE        owner, with I/O                     stop -> SUSPENDED
 *   FAILED      its last resume failed              begin -> RESUMING
 *   SUPERSEDED  another table has taken over        begin -> RESUMING
 *
 * Context: all functions need aftl_targets_lock, and the gate of each table whose device they
 * change, see targets.h. Exceptions: aftl_table_set_live() and aftl_table_set_stopped() need the
 * gate only, and the owner of reserved data calls aftl_data_*() without a lock.
 */
#ifndef AFTL_OWNERSHIP_H
#define AFTL_OWNERSHIP_H

#include "aftl-host.h"

struct aftl_device;

enum aftl_data_state {
	AFTL_DATA_NONE,
	AFTL_DATA_RESERVED,
	AFTL_DATA_OWNED,
	AFTL_DATA_UNOWNED,
};

enum aftl_table_state {
	AFTL_TABLE_LOADED,
	AFTL_TABLE_RESUMING,
	AFTL_TABLE_SUSPENDED,
	AFTL_TABLE_LIVE,
	AFTL_TABLE_FAILED,
	AFTL_TABLE_SUPERSEDED,
};

/* Action that a resume must take on the data. */
enum aftl_resume {
	AFTL_RESUME_NEW,	/* no data yet: use the table's spare device, or open a volume */
	AFTL_RESUME_AGAIN,	/* this table owns the device's data already */
	AFTL_RESUME_TAKE_OVER,	/* take another table's data, or data that a failed resume left */
};

struct aftl_table;

/**
 * struct aftl_ownership - data of a mapped device
 * @tables: number of its tables
 * @state: state of the data
 * @owner: table that owns the data or has reserved them; NULL if there are no data or no owner
 * @device: device with the data; NULL if there are no data, or if their volume is closed
 * @exists: a table has been resumed successfully
 * @lost_writes: completed writes could not be stored, so flushes must fail
 */
struct aftl_ownership {
	u32 tables;
	enum aftl_data_state state;
	struct aftl_table *owner;
	struct aftl_device *device;
	bool exists;
	bool lost_writes;
};

/**
 * struct aftl_table - table of a mapped device
 * @state: state of the table
 * @ownership: ownership of its mapped device
 * @durable: its data stay on a backing device
 * @spare: empty device that it has created and must free, or a volume that is not open; NULL if it
 *	has none
 * @device: the data while the table is SUSPENDED or LIVE; else NULL
 */
struct aftl_table {
	enum aftl_table_state state;
	struct aftl_ownership *ownership;
	bool durable;
	struct aftl_device *spare;
	struct aftl_device *device;
};

/**
 * aftl_table_register() - register a table that is being constructed
 * @table: table
 * @ownership: ownership of its mapped device
 *
 * Data in memory then stay at least until aftl_table_end_free().
 */
void aftl_table_register(struct aftl_table *table, struct aftl_ownership *ownership);

/**
 * aftl_table_find_old_owner() - find the table whose data @table would take over
 * @table: table to be loaded or resumed
 * @predecessor: set to the owner of the data; NULL if they have no owner
 *
 * Return: true if there are data that another table owns or has left.
 */
bool aftl_table_find_old_owner(const struct aftl_table *table, struct aftl_table **predecessor);

/**
 * aftl_table_begin_data_takeover() - reserve the data for a table that is being resumed
 * @table: table whose parameters fit the data
 *
 * The previous owner loses them.
 *
 * Return: enum aftl_resume, or -EAGAIN while the data are reserved.
 */
int __must_check aftl_table_begin_data_takeover(struct aftl_table *table);

/**
 * aftl_table_finish_data_takeover() - end a resume that has succeeded
 * @table: table that owns the data now, whose parameters are those of its table line
 */
void aftl_table_finish_data_takeover(struct aftl_table *table);

/**
 * aftl_table_fail_data_takeover() - end a resume that has failed and has not changed the data
 * @table: table
 *
 * A new device that was never used becomes the spare of @table again.
 */
void aftl_table_fail_data_takeover(struct aftl_table *table);

/**
 * aftl_table_record_refused_resume() - record a resume that was refused before it reserved the data
 * @table: table; keeps its state if it is the owner
 */
void aftl_table_record_refused_resume(struct aftl_table *table);

/**
 * aftl_table_set_live() - mark a table that owns data as live: I/O starts
 * @table: owner
 */
void aftl_table_set_live(struct aftl_table *table);

/**
 * aftl_table_set_stopped() - mark a live table as suspended: I/O has stopped
 * @table: table in any state
 */
void aftl_table_set_stopped(struct aftl_table *table);

/**
 * aftl_table_begin_free() - reserve the volume of a table that is being removed
 * @table: table that is not being resumed
 *
 * Return: the device, to be destroyed (which closes the volume) before aftl_table_end_free();
 * NULL if
 * @table does not own a volume.
 */
struct aftl_device *aftl_table_begin_free(struct aftl_table *table);

/**
 * aftl_table_end_free() - unregister a table
 * @table: table without a spare
 *
 * After the last table the caller frees the ownership.
 *
 * Return: the data in memory if this was the last table, to be destroyed; else NULL.
 */
struct aftl_device *aftl_table_end_free(struct aftl_table *table);

/**
 * aftl_table_put_new_device_in_use() - make the spare device of a table the device with the data
 * @table: owner; there are no data yet, or its spare device is the volume that has them
 */
void aftl_table_put_new_device_in_use(struct aftl_table *table);

/**
 * aftl_table_replace_device() - replace a device by the spare one, to which its data were moved
 * @table: owner
 *
 * Return: the previous device, to be destroyed.
 */
struct aftl_device *aftl_table_replace_device(struct aftl_table *table);

/**
 * aftl_table_close_device() - detach a volume that is to be opened again, or whose resume failed
 * @table: owner
 *
 * Return: the device, to be destroyed (which closes the volume); NULL if there is none.
 */
struct aftl_device *aftl_table_close_device(struct aftl_table *table);

#endif
