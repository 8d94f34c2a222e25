/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A volume: the metadata on a backing device from which an emulated device is recovered after any
 * interruption. docs/volume-format.md has the format.
 *
 * The host writes the data itself, at aftl_volume_data_offset(), and records the core's calls
 * programmed(), unmap(), zone(), erase() and retire() here, in their order. That changes frames of
 * the tables in memory. A commit makes the changes durable:
 *
 *	1. flush: all data written so far are durable. If some were remapped, write the remap table
 *	   and flush again. If extents were initialised, write the extent table.
 *	2. If zones were reset or finished, write these frames of the zone table and flush.
 *	3. Write the other changed frames, and the state.
 *	4. flush: the changes are durable.
 *
 * So no durable entry refers to data that are not durable, and everything before a commit that
 * returned 0 is recovered. Between commits each entry may or may not have reached the device, as
 * may data in a volatile write cache that no flush has covered. Two rules keep that true when space
 * is reused:
 *
 * - aftl_volume_record_erase() commits first: the erased pages may be overwritten as soon as it
 *   returns, and then the relocated data must be durable at their new place.
 * - A page that is programmed again without an erase, aftl_get_reprogram_count_of_page(), is
 *   overwritten only after aftl_volume_commit_if_changed().
 *
 * A crash loses read counts of blocks (disturb starts at 0), and which blocks were open: they are
 * closed, except one in each LUN that would have no free block to collect garbage. A cached L2P
 * table is completely in memory after recovery, and has to be written. Pages that must have been
 * programmed by the program order of their block, but have no durable entry, count as programmed
 * without data. aftl_volume_close() loses nothing.
 *
 * Calls for one volume must not overlap. They may sleep if the backing device does.
 */
#ifndef AFTL_VOLUME_H
#define AFTL_VOLUME_H

#include "core/ftl/ftl.h"
#include "core/persist/backing.h"
#include "core/persist/volume-format.h"
#include "core/persist/volume-load.h"
#include "core/persist/volume-record.h"

struct aftl_volume;

/**
 * aftl_volume_config_check() - check that the parameters of a volume may change
 * @made: parameters of the volume
 * @wanted: parameters to use it with
 * @error: takes the message if they may not
 *
 * Return: 0 or -EINVAL.
 */
int __must_check aftl_volume_config_check(const struct aftl_config *made,
					  const struct aftl_config *wanted,
					  struct aftl_error *error);

/**
 * aftl_volume_format() - make a volume
 * @backing: backing device; its content is lost
 * @header: UUID, policy, profile and parameters; layout and generation are set
 * @error: takes the message on failure
 *
 * Return: 0, -ENOSPC if the device is too small, -EINVAL for parameters that no device has or that
 * a volume does not support (fill), -ENOMEM, or an error of the backing device.
 */
int __must_check aftl_volume_format(const struct aftl_backing *backing,
				    struct aftl_volume_header *header, struct aftl_error *error);

/**
 * aftl_volume_open() - open the volume on a backing device; writes nothing
 * @out: takes the volume
 * @backing: kept by reference
 * @error: takes the message on failure
 *
 * Return: 0; as aftl_volume_header_decode() if there is no usable volume; -ENOSPC if the device is
 * smaller than the volume; -ENOMEM; or an error of the backing device.
 */
int __must_check aftl_volume_open(struct aftl_volume **out, const struct aftl_backing *backing,
				  struct aftl_error *error);

/* Free @volume, which may be NULL. Changes that are not committed are lost. */
void aftl_volume_free(struct aftl_volume *volume);

/* Upper limit of the memory of a volume, while it is opened and loaded. */
u64 aftl_volume_memory_bytes(const struct aftl_geometry *geo);

const struct aftl_volume_header *aftl_volume_get_header(const struct aftl_volume *volume);
const struct aftl_volume_state *aftl_volume_state(const struct aftl_volume *volume);
const struct aftl_geometry *aftl_volume_geometry(const struct aftl_volume *volume);

/* Return false if the table frame is in an uninitialised extent: its entries read as zero. */
bool aftl_volume_frame_is_initialised(const struct aftl_volume *volume, u64 frame);

/**
 * aftl_volume_write_repaired_metadata() - write metadata that aftl_volume_load() has rebuilt
 * @volume: loaded, and after aftl_volume_set_time()
 *
 * aftl_volume_mark_in_use() does that, too, except for a damaged copy of the header: an unreadable
 * sector may be unwritable, and one copy is enough.
 *
 * Return: 0 or an error of the backing device.
 */
int __must_check aftl_volume_write_repaired_metadata(struct aftl_volume *volume);

/**
 * aftl_volume_mark_in_use() - mark a volume as no longer closed, before its device is used
 * @volume: loaded, and after aftl_volume_set_time()
 * @type: policy that it is used with
 * @config: parameters that the whole device is used with
 *
 * Return: 0 or an error of the backing device.
 */
int __must_check aftl_volume_mark_in_use(struct aftl_volume *volume,
					 const struct aftl_policy_type *type,
					 const struct aftl_config *config);

/* Set device time, age and the policy's word for the next commits. */
void aftl_volume_set_time(struct aftl_volume *volume, u64 now_ns, u64 age_ns, u64 memory);

/**
 * aftl_volume_close() - commit, and save a snapshot of the device
 * @volume: in use
 * @ftl: its device, quiesced by aftl_quiesce(), with all ended programs, erases, discards and zone
 *	changes recorded, and on a zoned device all buffered data persisted
 * @error: takes the message on failure
 *
 * To go on with the device, call aftl_volume_mark_in_use() and aftl_unquiesce_device().
 *
 * Return: 0, or an error of the backing device.
 */
int __must_check aftl_volume_close(struct aftl_volume *volume, struct aftl *ftl,
				   struct aftl_error *error);

#endif
