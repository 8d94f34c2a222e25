/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The books of a volume: what has to be on the medium so that an emulated device is
 * found again after any interruption. volume-format.h has the format.
 *
 * The host writes the data itself, at aftl_volume_data_offset(), and notes the core's
 * calls programmed(), unmap(), zone(), erase() and retire() here, in their order. Notes change
 * frames in memory. A commit makes them last:
 *
 *	1. flush: all data written so far is durable; where some could not be written, write
 *	   where they are instead, and flush again; write which stretches have been begun
 *	2. where zones have been reset or finished, write the frames that say so, and flush
 *	3. write the other changed frames
 *	4. flush: the changes are durable, too
 *
 * So no durable entry speaks of data that is not, and whatever happened before a commit
 * that returned 0 is found again. Between commits each entry may or may not have reached
 * the medium, which is what a disk with a volatile write cache may do with data that no
 * flush has covered. Two rules keep that true while space is used again:
 *
 * - aftl_volume_record_erase() commits first, for the erased pages may be written over as soon
 *   as it returns, and by then the data that has moved away must be where it is now;
 * - a page that is programmed once more without an erase, aftl_page_reprograms(), is written
 *   over after an aftl_volume_commit_programs() only.
 *
 * Not found again: when blocks were read (disturbance counts begin at 0 after a crash),
 * which blocks were open (they are closed then, but for one in each LUN that would
 * otherwise have no room to collect garbage), and the map on flash (it is in memory, all of
 * it, and is to be written). Pages that a block's order says were
 * programmed, and of which nothing durable tells, are taken for programmed without data.
 * A volume that was closed with aftl_volume_close() loses nothing at all.
 *
 * Calls for one volume must not overlap, and may sleep if the medium does.
 */
#ifndef AFTL_VOLUME_H
#define AFTL_VOLUME_H

#include "core/ftl/ftl.h"
#include "core/persist/volume-format.h"

/**
 * struct aftl_backing - a block device and memory
 * @host: first argument of the calls
 *
 * Offsets and sizes are multiples of 4096 bytes. The calls return 0 or a negative error
 * code.
 */
struct aftl_backing {
	void *host;
	u64 bytes;

	int (*read)(void *host, u64 offset, void *bytes, u32 size);

	/*
	 * The same in two steps, so that several are under way, or NULL. begin_read() says what
	 * end_read() gets, which is called once; @bytes are the medium's until then. NULL if it
	 * is to be read when it is needed. Called while volumes are opened only.
	 */
	void *(*begin_read)(void *host, u64 offset, void *bytes, u32 size);
	int (*end_read)(void *host, void *begun);

	/* May return before it is written; @bytes are then the caller's again. */
	int (*write)(void *host, u64 offset, const void *bytes, u32 size);

	/* What has been written, by write() or by the host itself, is durable now. */
	int (*flush)(void *host);

	/* Zeroed memory or NULL; called while volumes are opened and formatted only. */
	void *(*alloc)(void *host, size_t bytes);
	void (*free)(void *host, void *memory, size_t bytes);
};

struct aftl_volume;

/**
 * aftl_volume_config_check() - can the volume of a device made with @made go on as @wanted?
 * @error: takes the sentence on failure
 */
int __must_check aftl_volume_config_check(const struct aftl_config *made,
					  const struct aftl_config *wanted,
					  struct aftl_error *error);

/**
 * aftl_volume_format() - make a volume
 * @medium: loses everything that is on it
 * @super: UUID, policy, profile and parameters; layout and generation are set here
 * @error: takes the sentence on failure
 *
 * Return: 0, -ENOSPC if @medium is too small, -EINVAL for parameters that do not make
 * a device or that a volume cannot serve (fill), -ENOMEM, or what the medium returned.
 */
int __must_check aftl_volume_format(const struct aftl_backing *backing,
				    struct aftl_volume_header *header, struct aftl_error *error);

/**
 * aftl_volume_open() - find the volume on @medium; changes nothing
 * @out: takes the volume
 * @medium: kept by reference
 * @error: takes the sentence on failure
 *
 * Return: 0; as aftl_volume_header_decode() if there is none that can be used; -ENOSPC if
 * the medium has shrunk; -ENOMEM; or what the medium returned.
 */
int __must_check aftl_volume_open(struct aftl_volume **out, const struct aftl_backing *backing,
				  struct aftl_error *error);

/* NULL is fine. Notes that are not committed are forgotten. */
void aftl_volume_release(struct aftl_volume *volume);

/* Memory of a volume of such a device, at most: while it is opened and loaded. */
u64 aftl_volume_memory_bytes(const struct aftl_geometry *geo);

const struct aftl_volume_header *aftl_volume_get_header(const struct aftl_volume *volume);
const struct aftl_volume_state *aftl_volume_state(const struct aftl_volume *volume);
const struct aftl_geometry *aftl_volume_geometry(const struct aftl_volume *volume);

/* Has anything been written to that frame of the tables? Else all in there is zero. */
bool aftl_volume_frame_initialised(const struct aftl_volume *volume, u64 frame);

/* Offset on the medium of the data in @ppn. */
u64 aftl_volume_data_offset(const struct aftl_volume *volume, aftl_ppn_t ppn);

/**
 * aftl_volume_remap() - the data of @ppn could not be written where they belong
 * @volume: in use
 * @ppn: which
 * @spare: of the program that brings them there, which is noted before or after this
 *
 * From now on aftl_volume_data_offset() says where they are to be, and where they are when that
 * has been written, which is before the next flush of the medium ends. The block is worn out:
 * whoever calls this calls aftl_fail_block() for it, and again after each load, see
 * aftl_volume_next_remapped(). May be called while another call of @volume is under way, if
 * aftl_volume_data_offset() is not.
 *
 * Return: false if there is no place left; nothing has changed then.
 */
bool __must_check aftl_volume_remap(struct aftl_volume *volume, aftl_ppn_t ppn,
				    const struct aftl_spare *spare);

/*
 * Data of these slots that had been displaced are newer elsewhere, which a commit has made durable,
 * and nobody reads them any more: their places are free. To be called before a block is noted as
 * erased or retired and before a page is programmed once more, after aftl_volume_commit_programs(),
 * for that hears of the last data that are displaced; not while another displaces some.
 */
void aftl_volume_release_remapped(struct aftl_volume *volume, aftl_ppn_t first, u32 slots);

/* The first block from @block on with data that have been displaced; U32_MAX if none. */
u32 aftl_volume_next_remapped(const struct aftl_volume *volume, u32 block);

/**
 * struct aftl_recovery - what loading a volume has found
 * @closed: the volume had been closed in order, and its snapshot was used
 * @snapshot: why the snapshot could not be used though it should hold; else empty
 * @programmed_pages: pages with data, current or not
 * @mapped_units: units with data
 * @bad_blocks: blocks that are not used any more
 * @lost_units: of @mapped_units, those whose bytes are lost
 * @super: one of the superblocks is damaged, and what follows can be put right
 * @state: one of the states is damaged
 * @tables: damaged sectors of tables
 * @displaced_units: those whose data are not where they belong
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
 * aftl_volume_load() - the device on the volume; changes nothing
 * @volume: just opened
 * @type: policy that it gets
 * @config: parameters of the whole device; those that its shape depends on as in the superblock
 * @ops: the host's
 * @host: first argument of @ops
 * @scan: use the tables even if there is a snapshot
 * @out: takes the device, before the first call of @ops; NULL after a failure
 * @recovery: takes what was found
 * @error: takes the sentence on failure
 *
 * Return: 0; -EUCLEAN with a sentence that says where the volume is damaged; -EINVAL
 * for parameters of another device; -ENOMEM; or what the medium returned.
 */
int __must_check aftl_volume_load(struct aftl_volume *volume, const struct aftl_policy_type *type,
				  const struct aftl_config *config,
				  const struct aftl_host_ops *ops, void *host, bool scan,
				  struct aftl **out, struct aftl_recovery *recovery,
				  struct aftl_error *error);

/**
 * aftl_volume_ignore_damage() - let aftl_volume_load() go on without what it cannot know
 * @volume: just opened
 *
 * Of a volume that was not closed nothing but the tables knows which units were last written to a
 * page, and which were discarded. Without damaged sectors of theirs, units may read as they were
 * before, or as zeroes.
 */
void aftl_volume_ignore_damage(struct aftl_volume *volume);

/**
 * aftl_volume_repair() - write what was damaged and has been rebuilt by aftl_volume_load()
 * @volume: loaded, and told by aftl_volume_set_time() how the device is
 *
 * aftl_volume_mark_in_use() does that, too, but for a superblock, of which one is enough: what cannot
 * be read may not be writable either. Return: 0 or what the medium returned.
 */
int __must_check aftl_volume_repair(struct aftl_volume *volume);

/**
 * aftl_volume_mark_in_use() - the device is about to be used: from now on it is not closed
 * @volume: loaded, and told by aftl_volume_set_time() how the device is
 * @type: policy that it is used with
 * @config: parameters that the whole device is used with
 */
int __must_check aftl_volume_mark_in_use(struct aftl_volume *volume,
					 const struct aftl_policy_type *type,
					 const struct aftl_config *config);

/* Notes. Return: 0, or the first error that the medium ever returned. */

int __must_check aftl_volume_record_program(struct aftl_volume *volume, u32 page,
					    const struct aftl_spare *spare);
int __must_check aftl_volume_record_discard(struct aftl_volume *volume, aftl_lpn_t first,
					    u32 units);

/* Of a device with zones, aftl_volume_record_discard() leaves to this what has been reset. */
int __must_check aftl_volume_record_zone(struct aftl_volume *volume, u32 zone,
					 enum aftl_zone_state state);
int __must_check aftl_volume_record_erase(struct aftl_volume *volume, u32 block,
					  const struct aftl_erase_entry *entry);
int __must_check aftl_volume_record_retire(struct aftl_volume *volume, u32 block,
					   const struct aftl_erase_entry *entry);

/**
 * aftl_volume_persist_unit() - give a buffered unit an entry in the persisted write buffer (PLP)
 * @tag: of its write in the controller
 * @entry: the unit, see aftl_buffer_entry(), and its sequence number, which is taken if it is 0
 * @offset: takes where on the medium the bytes of the unit must be before the next commit
 *
 * Called for each write that enters the buffer, and again when unstored() is called for it. On a
 * device with zones, called for units that a flush must not wait for, once for each tag.
 *
 * Return: 0; -EAGAIN if no slot is free before the next commit: the unit waits for a slot, and the
 * caller calls again with the same @entry after a commit, unless @tag is released before, and not
 * later than aftl_volume_must_persist() says; or an error.
 */
int __must_check aftl_volume_persist_unit(struct aftl_volume *volume, u32 tag,
					  struct aftl_plp_entry *entry, u64 *offset);

/*
 * Returns true if units that wait for a slot must have it before a block is erased or a page
 * programmed once more; or, @bad, before a block is retired. Until they have, that is refused.
 */
bool aftl_volume_must_persist(const struct aftl_volume *volume, bool bad);

/*
 * Release the entry of @tag: its unit was programmed, overwritten or discarded, and that has been
 * noted. An unflushable unit keeps its entry for the next load.
 */
void aftl_volume_release_unit(struct aftl_volume *volume, u32 tag);

/**
 * aftl_volume_next_persisted() - the lowest unit that was kept when the power failed
 * @volume: just loaded
 * @from: the unit is not below this
 * @what: takes it
 * @offset: takes where its bytes are
 *
 * The host hands them to aftl_buffer_restore() in this order, and says aftl_volume_attach_persisted(), before it
 * begins. Return: whether there is one.
 */
bool aftl_volume_next_persisted(const struct aftl_volume *volume, u32 from,
				struct aftl_buffered_lpn *what, u64 *offset);
void aftl_volume_attach_persisted(struct aftl_volume *volume, aftl_lpn_t lpn, u32 tag);

/* What the next commits say of time and policy. */
void aftl_volume_set_time(struct aftl_volume *volume, u64 now_ns, u64 age_ns, u64 memory);

int __must_check aftl_volume_commit(struct aftl_volume *volume);

/*
 * The same, unless no program and no discard has been noted since the last commit. Before space is
 * used again: -EAGAIN while what waits for a place must have it.
 */
int __must_check aftl_volume_commit_programs(struct aftl_volume *volume);

/**
 * aftl_volume_close() - commit, and save the whole state of @ftl
 * @ftl: nothing is under way; parked by aftl_quiesce(), and what ended then has been noted, what
 *	waits for full pages of zones has been kept. To go on, aftl_volume_mark_in_use() and aftl_unquiesce()
 */
int __must_check aftl_volume_close(struct aftl_volume *volume, struct aftl *ftl,
				   struct aftl_error *error);

/* What the core's calls leave to be noted; under the FTL's lock. */

void aftl_spare_from_page(struct aftl_spare *spare, const struct aftl *ftl, aftl_ppn_t first);
void aftl_erase_entry_from_block(struct aftl_erase_entry *entry, const struct aftl *ftl, u32 block);
u64 aftl_policy_memory(const struct aftl *ftl);
u64 aftl_age_ns(const struct aftl *ftl);

#endif
