/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The owner of a mapped device's data: the state machine of load, resume, suspend and removal.
 *
 * A mapped device has one struct aftl_ownership, which holds its data; each of its tables has a
 * struct aftl_table, which holds at most an empty device, its spare. The data are never in a
 * table, so a table that fails or goes away cannot free them. The kernel calls these functions,
 * and selftests/target/test-ownership.c runs them in every order.
 *
 * State of the data, who holds them, and the transitions:
 *
 *   NONE      There are none: no table has been resumed.
 *             begin -> RESERVED
 *   RESERVED  Held for the owner, which opens, converts or closes them without a lock. Others
 *             wait, and see no device.
 *             finish -> OWNED; fail -> UNOWNED, or NONE if there were none before;
 *             unload (of a table that has closed its volume) -> UNOWNED
 *   OWNED     Held for the owner, whose I/O they serve. A new table that is resumed takes them
 *             over if they fit it; a table that is refused changes nothing.
 *             begin -> RESERVED; close -> RESERVED; unload -> UNOWNED
 *   UNOWNED   Kept for the next table: the resume of the last one failed, or it was removed. A
 *             volume is closed then: its data are on the backing device.
 *             begin -> RESERVED
 *
 * With the last table of a mapped device its data in memory are freed.
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
 * All functions need the lock of all targets, except those that begin with aftl_data_: they are
 * for the owner of reserved data.
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

/* What a resume has to do with the data. */
enum aftl_resume {
	AFTL_RESUME_NEW,	/* there are none: begin with the spare, or open a volume */
	AFTL_RESUME_AGAIN,	/* they are the table's already */
	AFTL_RESUME_TAKE_OVER,	/* they were another table's, or their last resume failed */
};

struct aftl_table;

/**
 * struct aftl_ownership - the data of a mapped device
 * @tables: tables of the mapped device that exist
 * @state: of the data
 * @owner: table that the data are held for; NULL if NONE or UNOWNED
 * @device: the data; NULL if NONE, or of a volume that is closed
 * @exists: a table has been resumed
 * @lost_writes: writes that were complete could not be stored, and flushes have to fail
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
 * struct aftl_table - a table of a mapped device
 * @state: of the table
 * @ownership: of its mapped device
 * @durable: its data are on a backing device, and stay there
 * @spare: an empty device that it has made, and frees, of a volume one that is not open; NULL if it
 *	has none
 * @device: the data, while it is SUSPENDED or LIVE; else NULL
 */
struct aftl_table {
	enum aftl_table_state state;
	struct aftl_ownership *ownership;
	bool durable;
	struct aftl_device *spare;
	struct aftl_device *device;
};

/* A table is about to be made: from now on the data cannot go away. */
void aftl_table_load(struct aftl_table *table, struct aftl_ownership *ownership);

/**
 * aftl_table_predecessor() - whose data would @table take over?
 * @table: table to be loaded or resumed
 * @predecessor: takes their owner; NULL if they have none
 *
 * Return: whether there are data that another table has left, or has.
 */
bool aftl_table_predecessor(const struct aftl_table *table, struct aftl_table **predecessor);

/**
 * aftl_table_begin() - reserve the data for a table that is resumed
 * @table: that fits them
 *
 * The owner before loses them. Return: enum aftl_resume, or -EAGAIN while they are reserved.
 */
int __must_check aftl_table_begin(struct aftl_table *table);

/* The resume of @table has succeeded; the data are as it wants them. */
void aftl_table_finish(struct aftl_table *table);

/*
 * The resume of @table has failed; the data are as they were. A new device that nobody has used
 * becomes its spare again.
 */
void aftl_table_fail(struct aftl_table *table);

/* A resume of @table was refused before it had begun. An owner stays what it is. */
void aftl_table_refuse(struct aftl_table *table);

/* I/O begins and ends. */
void aftl_table_start(struct aftl_table *table);
void aftl_table_stop(struct aftl_table *table);

/**
 * aftl_table_close() - the table is about to go: reserve a volume, to be closed
 * @table: that is not being resumed
 *
 * Return: what is to be destroyed before aftl_table_unload(); NULL if there is nothing.
 */
struct aftl_device *aftl_table_close(struct aftl_table *table);

/**
 * aftl_table_unload() - the table is gone
 * @table: that has no spare any more
 *
 * If it was the last one, the ownership is nobody's any more, and the caller frees it.
 *
 * Return: what is to be destroyed; NULL if there is nothing.
 */
struct aftl_device *aftl_table_unload(struct aftl_table *table);

/* Use the spare: there are no data yet, or it is the volume that has them. */
void aftl_data_use_spare(struct aftl_table *table);

/**
 * aftl_data_replace() - the data have been moved to the spare
 *
 * Return: where they were, to be destroyed.
 */
struct aftl_device *aftl_data_replace(struct aftl_table *table);

/* As aftl_table_close(), for a volume that is opened again, or could not be resumed. */
struct aftl_device *aftl_data_close(struct aftl_table *table);

#endif
