/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A complete durable device: the FTL, its volume, and real data on a disk in memory, handled as
 * volume.h requires of a host. The core's calls go to a queue, which the test works off in order
 * whenever it likes: the host of a real device is late, too.
 *
 * Beside it is a ledger of promises. Each write that the controller accepts, and each discard, gets
 * an ascending stamp; the data of a logical page name the page and the stamp. What a completed
 * flush or FUA write has covered is the oldest version that a crash may leave.
 */
#ifndef DURABLE_DEVICE_H
#define DURABLE_DEVICE_H

#include "lying-disk.h"
#include "test-device.h"

/* States of a zone: finished, and finished durably, so that a crash cannot undo it. */
enum { DURABLE_FINISHED = 1, DURABLE_STAYS_FINISHED };

struct durable_flush;
struct durable_op;
struct durable_tag;

/**
 * struct durable_unit - stamps of the writes whose data a read of a logical page may return
 * @covered: stamp of the newest write that is durable
 * @completed: newest stamp of a completed request
 * @newest: stamp of the newest write or discard
 * @zeroed: stamp of the last discard
 * @hurt: newest stamp that a sector held when it became unreadable, or a die when it died
 * @lost: the last read of the page failed
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
 * struct durable_late - a failed write that the host has not noticed yet
 * @pending: there is such a failed write
 * @ppn: destination of the write
 * @spare: spare entry of the write's program
 * @bytes: one logical page
 */
struct durable_late {
	bool pending;
	aftl_ppn_t ppn;
	struct aftl_spare spare;
	u8 *bytes;
};

/* Size of the table of quality levels, which is indexed by write stamp modulo this size. */
#define DURABLE_LEVELS (256 * 1024)

/**
 * struct durable_device - the device
 * @listener: called by @device; must be the first member
 * @device: its FTL, while it is started
 * @disk: its backing device
 * @volume: its volume, while it is started
 * @super: header that the disk was formatted with
 * @recovery: result of the last start
 * @tags: accepted writes, indexed by tag
 * @units: what a read of each lpn may return
 * @buffered: for each lpn, its stamp if recovery found it in the persisted write buffer, else 0
 * @finished: for each zone, DURABLE_...; 0: the zone's pages tell whether the zone is full
 * @unit_count: number of logical pages
 * @flushes: flushes in progress
 * @ops: queue of operations from the core to the volume
 * @last: last operation of @ops
 * @keeps: pages that wait for a slot of the persisted write buffer
 * @promises: promises that begin with the next commit, if @batched
 * @batched: promises begin at the end of durable_execute_ops(), as in a kernel
 * @stamps: last stamp given out
 * @levels: quality level of recent writes, indexed by stamp modulo DURABLE_LEVELS
 * @bytes: one logical page
 * @lost: for each ppn, whether relocation could not read its data
 * @slots: number of ppns
 * @displaced: number of remapped pages
 * @late: failed write that the core has not been told of yet
 * @lost_units: number of lost pages that the last durable_check_all_data() found
 * @uncorrectable: number of host reads of pages that ECC could not correct
 * @formatting: a format was started and not completed
 * @ignore_damage: open a volume as `check --repair --give-up` does
 * @ret: first error of the volume
 * @digest: digest of the device when it was closed
 * @snapshot_bytes: size of the snapshot that the last close wrote
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
	bool ignore_damage;
	int ret;
	u64 digest;
	u64 snapshot_bytes;
};

/**
 * durable_open() - prepare a disk in memory for a device of @config
 * @policy: policy of the first start
 *
 * Return: 0, or -EINVAL if no device can have @config.
 */
int durable_open(struct durable_device *durable, const struct aftl_config *config,
		 const char *policy);

/* Like durable_open(), but if @stretches is set, the volume has an extent table. */
int durable_open_with_extents(struct durable_device *durable, const struct aftl_config *config,
			      const char *policy, bool stretches);

void durable_close(struct durable_device *durable);

/**
 * durable_format() - format the disk, with another UUID than the last time
 *
 * After a format no earlier data are expected. After an interrupted format the old data are
 * expected until durable_start_device() finds the new volume: the old one must be intact or gone.
 */
int durable_format(struct durable_device *durable);

/**
 * durable_start_device() - open the volume, load the device, mark the volume as in use
 * @policy: policy to use
 * @scan: see aftl_volume_load()
 *
 * Checks the device and the data of all pages before it marks the volume.
 *
 * Return: 0, or an error of volume or disk; the device is stopped then.
 */
int durable_start_device(struct durable_device *durable, const char *policy, bool scan);

/* Like durable_start_device(), but without marking the volume as in use. */
int durable_load_device(struct durable_device *durable, const char *policy, bool scan);

/* Free the device and the volume without closing them, as a crash does. */
void durable_stop(struct durable_device *durable);

/**
 * durable_execute_ops() - execute at most @ops operations of the queue on the volume
 *
 * Return: 0, or the first error of volume or disk.
 */
int durable_execute_ops(struct durable_device *durable, u32 ops);

/**
 * durable_fail_die() - fail a die of a device without parity: see aftl_fail_lun()
 *
 * Data that only this die had may be lost then, but not data in the write buffer.
 */
int durable_fail_die(struct durable_device *durable, u32 lun);

/* Number of pages that recovery found in the persisted write buffer. */
u32 durable_count_buffered_units(const struct durable_device *durable);

/* Complete all requests, and carry out all operations in the queue. */
int durable_drain_all_ops(struct durable_device *durable);

/* Flush, close the volume and stop the device. */
int durable_close_cleanly(struct durable_device *durable);

/**
 * durable_crash() - stop the device, and turn the power of its disk off and on
 *
 * The next durable_start_device() must recover all data that were durable.
 */
void durable_crash(struct durable_device *durable, enum disk_crash crash,
		   struct aftl_random *random);

/**
 * durable_check_all_data() - check that each logical page has data of an allowed write
 *
 * The data found count as durable from then on, because a crash has left them.
 */
void durable_check_all_data(struct durable_device *durable);

/**
 * durable_damage_sector() - make a sector of the data of @unit unreadable on the disk
 *
 * Return: false if the unit has no data on the disk, or its data are still queued.
 */
bool durable_damage_sector(struct durable_device *durable, u32 unit, u32 sector);

/* Like durable_damage_sector(), but by aftl_fail_unit(): the FTL knows of the loss at once. */
bool durable_fail_unit(struct durable_device *durable, u32 unit);

#endif
