/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A backing device in memory that loses unflushed writes on power failure, and fails on demand.
 */
#ifndef LYING_DISK_H
#define LYING_DISK_H

#include "core/base/random.h"
#include "core/persist/volume.h"

#define DISK_SECTOR 512

/**
 * struct lying_write - a write that no flush has covered
 * @next: next write
 * @offset: byte offset on the disk
 * @size: bytes
 * @bytes: data written
 */
struct lying_write {
	struct lying_write *next;
	u64 offset;
	u32 size;
	u8 bytes[];
};

/* A read in progress; its data are valid after it ends. */
struct lying_read {
	u64 offset;
	void *bytes;
	u32 size;
};

/**
 * enum disk_crash - which unflushed writes a crash leaves on the disk
 * @DISK_CRASH_SECTORS: any sectors of the writes remain
 * @DISK_CRASH_NOTHING: no write remains
 * @DISK_CRASH_ALL: all writes remain
 * @DISK_CRASH_PREFIX: the oldest writes remain, the last of them in part
 * @DISK_CRASH_WRITES: any writes remain, each whole or not at all
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
 * struct lying_disk - a backing device in memory
 * @medium: its interface to the core
 * @bytes: current content
 * @durable: content after the last flush
 * @writes: unflushed writes, oldest first
 * @last: last of @writes
 * @changes: number of writes and flushes
 * @power_off_at: number, from 1, of the change during which power fails; 0: none
 * @off: power is off until lying_disk_crash()
 * @calls: number of calls of @medium
 * @fail_at: number, from 1, of the call that fails; 0: none
 * @fail_again: number of further failing calls
 * @allocations: number of allocations
 * @no_memory_at: number, from 1, of the allocation that fails; 0: none
 * @no_memory_again: number of further failing allocations
 * @begun: number of asynchronous reads requested
 * @not_begun_at: number, from 1, of the asynchronous read that is not started; 0: none
 * @reading: asynchronous reads in progress
 * @most_reading: largest value of @reading
 * @held: number of allocations not freed
 * @held_bytes: total size of the allocations not freed
 * @flushes: number of successful flushes
 * @before_flush: if set, called before each flush
 * @watcher: its argument
 * @unreadable: by sector, unreadable until written
 * @unwritable: by sector, writes fail and corrupt it
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

/* Create a zeroed disk, all of it durable. The size @bytes is rounded up to whole frames. */
void lying_disk_open(struct lying_disk *disk, u64 bytes);

/* Free the disk; check that all memory was freed. */
void lying_disk_close(struct lying_disk *disk);

/**
 * lying_disk_crash() - power off and on
 * @random: decides which unflushed writes remain
 */
void lying_disk_crash(struct lying_disk *disk, enum disk_crash crash, struct aftl_random *random);

/* Read or write data of the disk in multiples of a sector. */
/* Number of writes that no flush covers yet. */
u32 lying_disk_count_writes(const struct lying_disk *disk);

int lying_disk_read(struct lying_disk *disk, u64 offset, void *bytes, u32 size);
int lying_disk_write(struct lying_disk *disk, u64 offset, const void *bytes, u32 size);

#endif
