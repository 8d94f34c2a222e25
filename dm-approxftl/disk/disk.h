/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk: an emulated SSD with one FTL, which is that, its bytes and its clock. A table line has
 * one or, with shards, several: see disks.h.
 */
#ifndef AFTL_DISK_H
#define AFTL_DISK_H

#include "store/disk-types.h"
#include "store/io.h"
#include "store/store.h"

struct block_device;

/* Time scale of "timing off": the device's time passes only while it works. */
#define AFTL_TIMING_OFF 0

/* Room for the number of a block device. */
#define AFTL_DEVICE_NAME 32

/**
 * struct aftl_options - a table line, understood
 * @store: kind of store
 * @device: the block device that the store is on; empty for others
 * @policy: kind of FTL
 * @profile: index of the profile
 * @scale: host nanoseconds in a nanosecond of the device, or AFTL_TIMING_OFF
 * @class: enum aftl_class that every write is treated as
 * @ioprio_hint: hint in the I/O priority of approximate writes; 0 for none
 * @standard: the profile's parameters
 * @config: those with the line's changes
 */
struct aftl_options {
	const struct aftl_store_type *store;
	char device[AFTL_DEVICE_NAME];
	const struct aftl_policy_type *policy;
	u32 profile;
	u32 scale;
	u32 class;
	u32 ioprio_hint;
	struct aftl_config standard;
	struct aftl_config config;
};

/**
 * aftl_disk_check() - could there be such an SSD?
 *
 * For a table line that can only be carried out later, when its refusal would cost the
 * old table.
 *
 * Return: 0, or -EINVAL or -ENOMEM with a sentence.
 */
int __must_check aftl_disk_check(const struct aftl_options *options, struct aftl_error *error);

/**
 * aftl_disk_new() - a disk that is nothing yet
 * @options: what is asked for, of the whole device
 * @shard: which part of it
 *
 * Return: it, or NULL without memory.
 */
struct aftl_disk *aftl_disk_new(const struct aftl_options *options, u32 shard);

/**
 * aftl_disk_create() - make it an SSD as new; its time stands still
 * @disk: new one; of one that fails nothing but its end can be asked
 * @options: as for aftl_disk_new()
 * @error: takes the sentence on failure
 *
 * Return: 0, or -EINVAL or -ENOMEM with a sentence.
 */
int __must_check aftl_disk_create(struct aftl_disk *disk, const struct aftl_options *options,
				  struct aftl_error *error);

/**
 * aftl_disk_fill() - fill a new one as it is configured
 *
 * Context: process; a fatal signal ends it. Return: 0, or -EINVAL or -EINTR with a sentence.
 */
int __must_check aftl_disk_fill(struct aftl_disk *disk, struct aftl_error *error);

/**
 * aftl_disk_open() - make it the SSD that is on @bdev
 * @disk: as of aftl_disk_create()
 * @options: as for aftl_disk_new()
 * @bdev: where the volumes of the device are
 * @first: the disk of the first part, NULL for that one; it says where the others are
 * @error: takes the sentence on failure
 *
 * Return: 0, or an error code with a sentence.
 */
int __must_check aftl_disk_open(struct aftl_disk *disk, const struct aftl_options *options,
				struct block_device *bdev, const struct aftl_disk *first,
				struct aftl_error *error);

/**
 * aftl_disk_check_others() - is there memory for the other shards of a device?
 * @disk: one that has been made
 * @options: of the whole device
 * @error: takes the sentence if not
 *
 * Return: 0 or -ENOMEM.
 */
int __must_check aftl_disk_check_others(const struct aftl_disk *disk,
					const struct aftl_options *options,
					struct aftl_error *error);

/**
 * aftl_disk_begin() - the disk is about to be started
 * @config: parameters of the whole device
 *
 * Return: 0, or an error code with a sentence if its store cannot be written.
 */
int __must_check aftl_disk_begin(struct aftl_disk *disk, const struct aftl_config *config,
				 struct aftl_error *error);

/**
 * aftl_disk_close() - save a durable disk that is stopped, so that it is found quickly
 *
 * Context: process. A fatal signal cuts the saving short: the volume is then as after a
 * crash, with all that was committed.
 */
void aftl_disk_close(struct aftl_disk *disk);

/* The end of a disk that is stopped, and of all of its memory; NULL is fine. Context: process. */
void aftl_disk_destroy(struct aftl_disk *disk);

/**
 * aftl_disk_start() - let time pass; @table is told of what user space waits for
 */
void aftl_disk_start(struct aftl_disk *disk, struct dm_table *table);

/**
 * aftl_disk_stop() - stop time, and commit what a durable disk has been given
 * @disk: no I/O may be under way
 *
 * Context: process. Takes as long as a flush, however large the disk is.
 */
void aftl_disk_stop(struct aftl_disk *disk);

/**
 * aftl_disk_collect() - aftl_start_gc() has been called: let that happen
 * @disk: disk; one that is stopped begins when it is started
 *
 * With "timing off" a worker lets device time pass until nothing is collected. Context: any;
 * no lock is needed.
 */
void aftl_disk_collect(struct aftl_disk *disk);

/**
 * aftl_disk_carry_out() - carry out a request of our own on a stopped disk
 *
 * Context: process, no lock held. Return: the status of the request.
 */
int aftl_disk_carry_out(struct aftl_disk *disk, struct aftl_io *io);

/**
 * aftl_disk_empty_buffer() - program what a flush leaves in a write buffer that survives
 * @disk: that is stopped
 *
 * Context: as of aftl_disk_carry_out().
 */
void aftl_disk_empty_buffer(struct aftl_disk *disk);

/**
 * aftl_disk_enter() - lock the disk, at the present, for one call of the FTL
 * @killable: the caller can live without
 *
 * The FTL speaks under a spinlock to a store that may have to wait: only here, where there
 * is room for whatever that call causes, and in aftl_disk_step(), may it be called. For a
 * second call, aftl_disk_leave() and enter again. The lock is dropped now and then until the
 * present is reached.
 *
 * Context: process, no lock held; the disk's lock is held on return, in any case. Return:
 * 0; -EINTR; or -EBUSY if the store is full and at rest. Then the FTL must not be called.
 */
int __must_check aftl_disk_enter(struct aftl_disk *disk, bool killable);

/**
 * aftl_disk_leave() - the FTL has been called: go on, and hand back what is complete
 *
 * With "timing off" it first lets the device work until nothing is pending, or, where that takes
 * long, has a worker do so. Context: process; drops the disk's lock.
 */
void aftl_disk_leave(struct aftl_disk *disk);

/**
 * aftl_disk_step() - let the FTL process its next event, whenever that is
 *
 * Context: the disk's lock is held. Return: false if there is none, or no room for it.
 */
bool aftl_disk_step(struct aftl_disk *disk);

/* Of the module: what all disks share. */
int __must_check aftl_disks_init(void);
void aftl_disks_exit(void);

/* clock.c */

/* Nanoseconds of device time, now. Under the disk's lock. */
u64 aftl_disk_now(const struct aftl_disk *disk);

/* Host time at which it is @device_ns there; KTIME_MAX if that is too late to be told. */
u64 aftl_disk_host_ns(const struct aftl_disk *disk, u64 device_ns);

/* Host nanoseconds since @request should have been handed back. */
u64 aftl_disk_late(const struct aftl_disk *disk, const struct aftl_request *request);

/* finish.c */

/* End the bios of @done, a chain linked by their next. Context: no lock held. */
void aftl_disk_finish(struct aftl_disk *disk, struct aftl_request *done);

/* End the bio of @io, which the FTL has nothing to do with. */
void aftl_disk_end(struct aftl_disk *disk, struct aftl_io *io, blk_status_t status);

#endif
