/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole durable device: the FTL, its volume, and real bytes on a medium, kept with the
 * discipline that volume.h asks of a host. What the core says is put into a queue, and
 * worked off in that order whenever the test likes: the host of a real device is late, too.
 *
 * Beside it a record of what has been promised. Every write that the controller accepts
 * gets a stamp, ascending, and so does every discard; the bytes of a unit say which unit
 * and which stamp they are. What a completed flush or FUA write has covered is the oldest
 * that may be found after a crash.
 */
#ifndef DURABLE_DEVICE_H
#define DURABLE_DEVICE_H

#include "lying-disk.h"
#include "test-device.h"

/* A zone was finished; and nothing but a reset can change that. */
enum { DURABLE_FINISHED = 1, DURABLE_STAYS_FINISHED };

struct durable_flush;
struct durable_op;
struct durable_tag;

/**
 * struct durable_unit - what is known of a unit
 * @covered: stamp that no crash can take
 * @completed: newest stamp of a request that is complete
 * @newest: newest stamp there is
 * @zeroed: stamp of its last discard
 * @hurt: newest stamp of it that was in a sector that became unreadable, or in a die that died
 * @lost: it could not be read when it was read last
 */
struct durable_unit {
	u32 covered;
	u32 completed;
	u32 newest;
	u32 zeroed;
	u32 hurt;
	bool lost;
};

/**
 * struct durable_late - a write that has failed, which nobody knows yet
 * @pending: there is one
 * @ppn: where to
 * @spare: of its program
 * @bytes: one unit
 */
struct durable_late {
	bool pending;
	aftl_ppn_t ppn;
	struct aftl_spare spare;
	u8 *bytes;
};

/* Stamps between which no version of a unit lives: more than a test gives out while one does. */
#define DURABLE_LEVELS (256 * 1024)

/**
 * struct durable_device - the device
 * @listener: first; called by @device
 * @device: its FTL, there while it is started
 * @disk: its medium
 * @volume: its books, there while it is started
 * @super: what the medium was formatted with
 * @recovery: what the last start found
 * @tags: by tag
 * @units: by unit
 * @buffered: by unit, its stamp if it was kept when the power failed, else 0
 * @finished: by zone, DURABLE_...; 0: its units tell whether it is full
 * @unit_count: of them
 * @flushes: under way
 * @ops: queue
 * @last: of the queue
 * @keeps: what is to be kept and has found no place yet
 * @promises: what is to be promised after the next commit, if @batched
 * @batched: promises wait until all that durable_work() is to do has been done, as in a kernel
 * @stamps: last stamp given out
 * @levels: quality level of the write with a stamp, as long as it can matter
 * @bytes: one unit
 * @lost: by slot: what was to be copied there could not be read
 * @slots: of the device
 * @displaced: units that could not be written where they belong
 * @late: the next one
 * @lost_units: that the last durable_check() has met
 * @uncorrectable: units that the host was told are beyond what ECC corrects
 * @formatting: a format was begun and not completed
 * @ret: what the volume has answered first that was no success
 * @digest: of the device when it was shut
 * @snapshot_bytes: that shutting it wrote
 */
struct durable_device {
	struct test_listener listener;
	struct test_device device;
	struct lying_disk disk;
	struct aftl_volume *volume;
	struct aftl_volume_header super;
	struct aftl_recovery recovery;
	struct durable_tag *tags;
	struct durable_unit *units;
	u32 *buffered;
	u8 *finished;
	u32 unit_count;
	struct durable_flush *flushes;
	struct durable_op *ops;
	struct durable_op *last;
	struct durable_op *keeps;
	struct durable_op *promises;
	bool batched;
	u32 stamps;
	u8 levels[DURABLE_LEVELS];
	u8 *bytes;
	bool *lost;
	u32 slots;
	u32 displaced;
	struct durable_late late;
	u32 lost_units;
	u64 uncorrectable;
	bool formatting;
	int ret;
	u64 digest;
	u64 snapshot_bytes;
};

/**
 * durable_open() - prepare a medium for a device of @config
 * @policy: the first that it is used with
 *
 * Return: 0, or -EINVAL if there is no such device.
 */
int durable_open(struct durable_device *durable, const struct aftl_config *config,
		 const char *policy);

/* The same, with @stretches on a volume whose tables are not written before they are used. */
int durable_open_as(struct durable_device *durable, const struct aftl_config *config,
		    const char *policy, bool stretches);

void durable_close(struct durable_device *durable);

/**
 * durable_format() - format the medium, with another UUID than the last time
 *
 * All promises end with it. If it is interrupted, they end when a start finds the new
 * volume: the old one must be whole until then, or gone.
 */
int durable_format(struct durable_device *durable);

/**
 * durable_start() - open the volume, load the device, begin
 * @policy: that it goes on with
 * @scan: see aftl_volume_load()
 *
 * Between loading and beginning, checks the device and everything that was promised.
 *
 * Return: 0, or what the volume or the medium returned; the device is stopped then.
 */
int durable_start(struct durable_device *durable, const char *policy, bool scan);

/* The same without beginning. */
int durable_load(struct durable_device *durable, const char *policy, bool scan);

/* Forget device and volume, as a crash does. */
void durable_stop(struct durable_device *durable);

/**
 * durable_work() - work off at most @ops operations of the queue
 *
 * Return: 0, or the first error of the volume or the medium.
 */
int durable_work(struct durable_device *durable, u32 ops);

/**
 * durable_fail_die() - the die of a device without parity dies: see aftl_fail_lun()
 *
 * What it alone has had is promised no more. What is in the buffer is.
 */
int durable_fail_die(struct durable_device *durable, u32 lun);

/* Units that recovery has found in a write buffer that survives. */
u32 durable_buffered(const struct durable_device *durable);

/* Complete all requests and work off the queue. */
int durable_settle(struct durable_device *durable);

/* Flush, close in order and stop. */
int durable_shut(struct durable_device *durable);

/**
 * durable_crash() - stop, power off and on
 *
 * What the crash has left is what the next start must find.
 */
void durable_crash(struct durable_device *durable, enum disk_crash crash,
		   struct aftl_random *random);

/**
 * durable_check() - compare every unit with what was promised of it
 *
 * What is found is promised from now on: a crash leaves nothing that is not durable.
 */
void durable_check(struct durable_device *durable);

/**
 * durable_hurt() - a sector of the bytes of @unit, which is on the medium, becomes unreadable
 *
 * Return: false if it has none there, or nobody knows yet what they are.
 */
bool durable_hurt(struct durable_device *durable, u32 unit, u32 sector);

#endif
