/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A medium in memory that forgets what was not flushed when its power goes, and that
 * fails when it is told to.
 */
#ifndef LYING_DISK_H
#define LYING_DISK_H

#include "core/base/random.h"
#include "core/persist/volume.h"

#define DISK_SECTOR 512

/**
 * struct lying_write - a write that no flush has covered yet
 * @next: the one after it
 * @offset: on the disk
 * @size: bytes
 * @bytes: what was written
 */
struct lying_write {
	struct lying_write *next;
	u64 offset;
	u32 size;
	u8 bytes[];
};

/* A read that has been begun; its bytes are there when it is ended. */
struct lying_read {
	u64 offset;
	void *bytes;
	u32 size;
};

/**
 * enum disk_crash - what a crash leaves of the writes that no flush has covered
 * @DISK_CRASH_SECTORS: any of their sectors
 * @DISK_CRASH_NOTHING: none
 * @DISK_CRASH_ALL: all of them
 * @DISK_CRASH_PREFIX: those up to some moment, the last one in part
 * @DISK_CRASH_WRITES: any of them, each whole or not at all
 */
enum disk_crash {
	DISK_CRASH_SECTORS,
	DISK_CRASH_NOTHING,
	DISK_CRASH_ALL,
	DISK_CRASH_PREFIX,
	DISK_CRASH_WRITES,
	DISK_CRASHES,
};

/**
 * struct lying_disk - the medium
 * @medium: how the core sees it
 * @bytes: what a read returns
 * @durable: what a crash cannot take
 * @writes: since the last flush, oldest first
 * @last: of @writes
 * @changes: writes and flushes so far
 * @power_off_at: number, from 1, of the change that never ends; 0 none
 * @off: power is off: nothing works until lying_disk_crash()
 * @calls: calls of any kind so far
 * @fail_at: number, from 1, of the call that fails; 0 none
 * @fail_again: how many after that fail, too
 * @allocations: calls of alloc so far
 * @no_memory_at: number, from 1, of the allocation that fails; 0 none
 * @no_memory_again: how many after that fail, too
 * @begun: reads that were to be begun so far
 * @not_begun_at: number, from 1, of the one that is not; 0 none
 * @reading: reads under way
 * @most_reading: at a time
 * @held: allocations that were not given back
 * @held_bytes: their size
 * @flushes: that worked
 * @before_flush: called, if it is set, when a flush is about to begin
 * @watcher: its argument
 * @unreadable: by sector: it cannot be read until it is written
 * @unwritable: by sector: a write there fails, and leaves something else
 */
struct lying_disk {
	struct aftl_backing medium;
	u8 *bytes;
	u8 *durable;
	struct lying_write *writes;
	struct lying_write *last;
	u64 changes;
	u64 power_off_at;
	bool off;
	u64 calls;
	u64 fail_at;
	u64 fail_again;
	u32 allocations;
	u32 no_memory_at;
	u32 no_memory_again;
	u32 begun;
	u32 not_begun_at;
	u32 reading;
	u32 most_reading;
	u32 held;
	u64 held_bytes;
	u64 flushes;
	void (*before_flush)(void *watcher);
	void *watcher;
	bool *unreadable;
	bool *unwritable;
};

/* Zeroes, all of them durable. @bytes is rounded up to frames. */
void lying_disk_open(struct lying_disk *disk, u64 bytes);

/* Checks that all memory came back. */
void lying_disk_close(struct lying_disk *disk);

/**
 * lying_disk_crash() - power off and on
 * @random: decides what is left of unflushed writes
 */
void lying_disk_crash(struct lying_disk *disk, enum disk_crash crash, struct aftl_random *random);

/* The calls of the medium, for data: multiples of a sector. */
int lying_disk_read(struct lying_disk *disk, u64 offset, void *bytes, u32 size);
int lying_disk_write(struct lying_disk *disk, u64 offset, const void *bytes, u32 size);

#endif
