/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A volume: the metadata on a backing device from which an emulated device is recovered after any
 * interruption. volume-format.h has the format.
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
#include "core/persist/volume-format.h"

/**
 * struct aftl_backing - a backing device, and memory
 * @host: first argument of the calls
 * @bytes: size of the device
 *
 * Offsets and sizes are multiples of 4096 bytes. The calls return 0 or a negative error code.
 */
struct aftl_backing {
	void *host;
	u64 bytes;

	int (*read)(void *host, u64 offset, void *bytes, u32 size);

	/*
	 * read() in two steps, so that several reads can be in progress; NULL if the host does not
	 * support this. begin_read() returns a handle, or NULL if it has not started the read.
	 * end_read() is called once with the handle; until then @bytes must not be touched. Only
	 * used while a volume is opened.
	 */
	void *(*begin_read)(void *host, u64 offset, void *bytes, u32 size);
	int (*end_read)(void *host, void *begun);

	/* write() may return before the data are written; the caller may reuse @bytes at once. */
	int (*write)(void *host, u64 offset, const void *bytes, u32 size);

	/* Make everything durable that write() or the host itself has written. */
	int (*flush)(void *host);

	/* Zeroed memory or NULL. Called only while a volume is opened or formatted. */
	void *(*alloc)(void *host, size_t bytes);
	void (*free)(void *host, void *memory, size_t bytes);
};

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

/* Offset on the backing device of the data of @ppn. */
u64 aftl_volume_data_offset(const struct aftl_volume *volume, aftl_ppn_t ppn);

/**
 * aftl_volume_remap_ppn() - choose another place for data that could not be written
 * @volume: in use
 * @ppn: flash page of the data
 * @spare: spare entry of the program that stores them; it may be recorded before or after this call
 *
 * From now on aftl_volume_data_offset() returns the new place. The caller writes the data there
 * before the next flush ends, and calls aftl_fail_block() for the block, now and after each load
 * (see aftl_volume_find_next_remapped_block()). This may overlap another call of the volume, if
 * aftl_volume_data_offset() does not.
 *
 * Return: false if no place is left; then nothing has changed.
 */
bool __must_check aftl_volume_remap_ppn(struct aftl_volume *volume, aftl_ppn_t ppn,
					const struct aftl_spare *spare);

/*
 * Free the places of remapped data in @slots ppns from @first on. The data must have newer durable
 * versions elsewhere and no readers. The caller does this before it records that the block was
 * erased or retired, and before it programs a page again, after aftl_volume_commit_if_changed(),
 * which covers the last remaps. The caller prevents a concurrent aftl_volume_remap_ppn().
 */
void aftl_volume_free_remap_slots_of_ppns(struct aftl_volume *volume, aftl_ppn_t first, u32 slots);

/* Return the first block from @block on with remapped data; U32_MAX if there is none. */
u32 aftl_volume_find_next_remapped_block(const struct aftl_volume *volume, u32 block);

/**
 * struct aftl_recovery - result of loading a volume
 * @closed: the volume had been closed, and was loaded from its snapshot
 * @snapshot: why the snapshot of a closed volume could not be used; else empty
 * @programmed_pages: flash pages with data, valid or not
 * @mapped_units: mapped logical pages
 * @bad_blocks: retired blocks
 * @lost_units: lost logical pages, of @mapped_units
 * @header: one of the headers is damaged; it can be repaired, and so can @state and @tables
 * @state: one of the state records is damaged
 * @tables: damaged sectors of tables
 * @displaced_units: logical pages that are remapped
 */
struct aftl_recovery {
	bool closed;
	struct aftl_error snapshot;
	u64 programmed_pages;
	u32 mapped_units;
	u32 bad_blocks;
	u32 lost_units;
	bool header;
	bool state;
	u32 tables;
	u32 displaced_units;
};

/**
 * aftl_volume_load() - create the device of a volume; writes nothing
 * @volume: just opened
 * @type: policy of the device
 * @config: parameters of the whole device; those of its shape as in the header
 * @ops: callbacks of the host
 * @host: first argument of @ops
 * @scan: recover from the tables even if there is a snapshot
 * @out: takes the device, before the first call of @ops; NULL after a failure
 * @recovery: takes the result
 * @error: takes the message on failure
 *
 * Return: 0; -EUCLEAN with a message that says where the volume is damaged; -EINVAL for parameters
 * of another device; -ENOMEM; or an error of the backing device.
 */
int __must_check aftl_volume_load(struct aftl_volume *volume, const struct aftl_policy_type *type,
				  const struct aftl_config *config,
				  const struct aftl_host_ops *ops, void *host, bool scan,
				  struct aftl **out, struct aftl_recovery *recovery,
				  struct aftl_error *error);

/**
 * aftl_volume_ignore_damage() - let aftl_volume_load() ignore damaged entries
 * @volume: just opened
 *
 * After a crash only the tables know which logical pages a flash page holds, and which were
 * discarded. Without the damaged sectors a logical page may read as an older version, or as zeroes.
 */
void aftl_volume_ignore_damage(struct aftl_volume *volume);

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

/* Record a program or discard for the next commit. Return: 0, or the first error of the volume. */

int __must_check aftl_volume_record_program(struct aftl_volume *volume, u32 page,
					    const struct aftl_spare *spare);
int __must_check aftl_volume_record_discard(struct aftl_volume *volume, aftl_lpn_t first,
					    u32 units);

/* Record the reset or the finish of a zone. Zoned devices have no discards. */
int __must_check aftl_volume_record_zone(struct aftl_volume *volume, u32 zone,
					 enum aftl_zone_state state);
int __must_check aftl_volume_record_erase(struct aftl_volume *volume, u32 block,
					  const struct aftl_erase_entry *entry);
int __must_check aftl_volume_record_retirement(struct aftl_volume *volume, u32 block,
					       const struct aftl_erase_entry *entry);

/**
 * aftl_volume_persist_unit() - give a buffered page an entry in the persisted write buffer (PLP)
 * @volume: in use
 * @tag: tag of the write
 * @entry: the page, see aftl_get_buffered_write(), and its sequence number, which is set if it is 0
 * @offset: takes the offset on the backing device where the caller writes the page's data before
 *	the next commit
 *
 * Called for each write that enters the buffer; on a zoned device, for each tag whose data a flush
 * must not wait for. Called again when unstored() is called for the tag. plp-buffer.c has the
 * rules.
 *
 * Return: 0; -EAGAIN if no slot is free: the page waits, and the caller calls again with the same
 * @entry after a commit, unless @tag is released before, and not later than
 * aftl_volume_awaits_plp_slots() says; or an error.
 */
int __must_check aftl_volume_persist_unit(struct aftl_volume *volume, u32 tag,
					  struct aftl_plp_entry *entry, u64 *offset);

/*
 * Return true if the volume cannot record an erase or a reprogram yet or, with @bad, the retirement
 * of a block, because buffered pages wait for a PLP slot. aftl_volume_record_...() of such a change
 * returns -EAGAIN then.
 */
bool aftl_volume_awaits_plp_slots(const struct aftl_volume *volume, bool bad);

/*
 * Release the PLP entry of the buffered write @tag: its page was programmed, overwritten or
 * discarded, and that has been recorded. A page that cannot be programmed keeps its entry for the
 * next load.
 */
void aftl_volume_release_plp_entry(struct aftl_volume *volume, u32 tag);

/**
 * aftl_volume_get_next_persisted_lpn() - iterate over the recovered buffered pages (PLP)
 * @volume: just loaded
 * @slot: 0 for the first page, then unchanged
 * @what: takes the page with the next higher lpn
 * @offset: takes the offset on the backing device of its data
 *
 * Before it uses the device, the host passes the pages to aftl_restore_buffered_write() in this
 * order, and the tags of these to aftl_volume_set_plp_slot_of_tag().
 *
 * Return: false if there is none.
 */
bool aftl_volume_get_next_persisted_lpn(const struct aftl_volume *volume, u32 *slot,
					struct aftl_buffered_lpn *what, u64 *offset);
void aftl_volume_set_plp_slot_of_tag(struct aftl_volume *volume, u32 slot, u32 tag);

/* Set device time, age and the policy's word for the next commits. */
void aftl_volume_set_time(struct aftl_volume *volume, u64 now_ns, u64 age_ns, u64 memory);

int __must_check aftl_volume_commit(struct aftl_volume *volume);

/*
 * Commit recorded programs and discards, if any, before flash pages with replaced data are used
 * again. Return: -EAGAIN if buffered pages wait for a PLP slot, and must get one first.
 */
int __must_check aftl_volume_commit_if_changed(struct aftl_volume *volume);

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

/* Make table entries for a commit from the state of the FTL, whose lock the caller holds. */

void aftl_init_spare_entry(struct aftl_spare *spare, const struct aftl *ftl, aftl_ppn_t first);
void aftl_erase_entry_describe_block(struct aftl_erase_entry *entry, const struct aftl *ftl,
				     u32 block);
u64 aftl_get_policy_state_word(const struct aftl *ftl);
u64 aftl_get_device_age_ns(const struct aftl *ftl);

#endif
