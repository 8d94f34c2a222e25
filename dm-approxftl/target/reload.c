// SPDX-License-Identifier: GPL-2.0-only
/*
 * Take over the data of a device in memory when its table is reloaded.
 *
 * If the old and the new table agree in all parameters that are fixed when a device is created, the
 * state of the flash is kept and continues with the new policy and parameters. Otherwise the data
 * are written to new flash.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/persist/snapshot.h"
#include "target/target.h"

/* Largest write, in mapping units, that moves data to new flash. */
#define TRANSFER_UNITS 64U

/* Functions that save the snapshot of an FTL in memory, for the FTL of the new table to load. */

#define PIECE_BYTES SZ_1M

struct piece {
	struct list_head list;
	size_t used;
	u8 bytes[];
};

/**
 * struct pieces - a byte stream in memory
 * @list: list of struct piece
 * @at: piece that is being read
 * @offset: offset of the next byte in @at
 */
struct pieces {
	struct list_head list;
	struct piece *at;
	size_t offset;
};

#define PIECE_ROOM (PIECE_BYTES - sizeof(struct piece))

static struct piece *get_last_snapshot_piece(struct pieces *pieces)
{
	return list_empty(&pieces->list) ? NULL :
					   list_last_entry(&pieces->list, struct piece, list);
}

static struct piece *add_snapshot_piece(struct pieces *pieces)
{
	struct piece *piece = __vmalloc(PIECE_BYTES, GFP_KERNEL | __GFP_RETRY_MAYFAIL |
						     __GFP_NOWARN);

	if (!piece)
		return NULL;
	piece->used = 0;
	list_add_tail(&piece->list, &pieces->list);
	return piece;
}

static int snapshot_memory_write(void *host, const void *data, size_t bytes)
{
	struct pieces *pieces = host;
	struct piece *piece = get_last_snapshot_piece(pieces);

	while (bytes) {
		size_t part;

		if (!piece || piece->used == PIECE_ROOM)
			piece = add_snapshot_piece(pieces);
		if (!piece)
			return -ENOMEM;
		part = min(bytes, PIECE_ROOM - piece->used);
		memcpy(piece->bytes + piece->used, data, part);
		piece->used += part;
		data += part;
		bytes -= part;
	}
	return 0;
}

static int snapshot_memory_read(void *host, void *data, size_t bytes)
{
	struct pieces *pieces = host;

	while (bytes) {
		size_t part = min(bytes, pieces->at->used - pieces->offset);

		memcpy(data, pieces->at->bytes + pieces->offset, part);
		pieces->offset += part;
		data += part;
		bytes -= part;
		if (!bytes || list_is_last(&pieces->at->list, &pieces->list))
			break;
		pieces->at = list_next_entry(pieces->at, list);
		pieces->offset = 0;
	}
	return bytes ? -ENODATA : 0;
}

static void snapshot_memory_free(struct pieces *pieces)
{
	struct piece *piece;
	struct piece *next;

	list_for_each_entry_safe(piece, next, &pieces->list, list)
		vfree(piece);
}

/* Keep the flash */

static int save_disk_to_memory(struct aftl_disk *disk, struct pieces *pieces,
			       struct aftl_error *error)
{
	struct aftl_io flush = { .request = { .op = AFTL_OP_FLUSH } };
	struct aftl_snapshot_sink sink = { .write = snapshot_memory_write, .host = pieces };
	int ret;

	ret = aftl_disk_execute_request(disk, &flush);
	if (ret)
		return aftl_fail(error, ret, "buffered writes could not be programmed");
	return aftl_save(disk->ftl, &sink, error);
}

/* Destroy the empty FTL of @disk before loading the snapshot: memory may suffice for one only. */
static int load_disk_from_memory(struct aftl_disk *disk, struct pieces *pieces,
				 struct aftl_error *error)
{
	struct aftl_snapshot_source source = { .read = snapshot_memory_read, .host = pieces };
	const struct aftl_policy_type *policy = aftl_policy_type(disk->ftl);
	struct aftl_config *config = kmemdup(aftl_config(disk->ftl), sizeof(*config), GFP_KERNEL);
	int ret;

	if (!config)
		return aftl_fail(error, -ENOMEM, "not enough memory for a copy of the parameters");
	aftl_destroy(disk->ftl);
	disk->ftl = NULL;
	pieces->at = list_first_entry(&pieces->list, struct piece, list);
	ret = aftl_load_with_policy_and_params(&disk->ftl, &source, policy, config,
					       &aftl_host_memory, disk, error);
	kfree(config);
	return ret;
}

/*
 * Load the FTL of @from into @to. Both disks are stopped and not visible to other tasks, so
 * aftl_save() and aftl_load_with_policy_and_params() need no lock.
 */
static int copy_ftl_between_disks(struct aftl_disk *to, struct aftl_disk *from,
				  struct aftl_error *error)
{
	struct pieces pieces = { .list = LIST_HEAD_INIT(pieces.list) };
	int ret = save_disk_to_memory(from, &pieces, error);

	if (!ret)
		ret = load_disk_from_memory(to, &pieces, error);
	snapshot_memory_free(&pieces);
	return ret;
}

/* Load all FTLs of @from into @to, then swap the stores: a failed load leaves the data in @from. */
static int copy_ftls_and_swap_disk_stores(struct aftl_device *to, struct aftl_device *from,
					  struct aftl_error *error)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < to->shards.count; i++)
		ret = copy_ftl_between_disks(to->disks[i], from->disks[i], error);
	for (i = 0; !ret && i < to->shards.count; i++)
		swap(to->disks[i]->store, from->disks[i]->store);
	return ret;
}

/* Return whether @to can keep the flash of @from: if shards and fixed parameters agree. */
static bool can_new_device_keep_old_flash(const struct aftl_device *to,
					  const struct aftl_device *from, struct aftl_error *error)
{
	return to->shards.count == from->shards.count &&
	       to->shards.chunk_shift == from->shards.chunk_shift &&
	       !aftl_config_check(aftl_config(from->disks[0]->ftl), aftl_config(to->disks[0]->ftl),
				  error);
}

/* New flash */

/**
 * struct run - consecutive units that can be transferred by one write
 * @first: first unit
 * @units: number of units
 * @class: enum aftl_class, or AFTL_CLASSES if there is nothing to transfer
 * @level: quality level
 * @held: the store has the bytes of these units
 */
struct run {
	u64 first;
	u32 units;
	u32 class;
	u32 level;
	bool held;
};

static bool does_store_of_disk_hold_unit(const struct aftl_disk *disk, u32 unit)
{
	return disk->store->type->holds(disk->store, to_lpn(unit));
}

static void take_units_from_disk_store(const struct aftl_disk *disk, u32 unit, u32 units,
				       struct list_head *bytes)
{
	disk->store->type->forget(disk->store, to_lpn(unit), units, bytes);
}

static void put_unit_into_disk_store(const struct aftl_disk *disk, u32 unit,
				     struct list_head *bytes)
{
	disk->store->type->accept(disk->store, to_lpn(unit), 0, bytes);
}

static struct run read_unit_state(const struct aftl_device *from, u64 unit)
{
	struct run run = { .first = unit, .units = 1, .class = AFTL_CLASSES };
	struct aftl_spot place = aftl_device_locate_unit(from, unit, 1);
	struct aftl *ftl = place.disk->ftl;

	run.held = does_store_of_disk_hold_unit(place.disk, place.unit);
	if (aftl_lookup(ftl, to_lpn(place.unit), &run.class) == AFTL_NO_PPN && run.held)
		run.class = AFTL_PRECISE;
	run.level = aftl_lpn_quality_level(ftl, to_lpn(place.unit));
	return run;
}

static struct run find_run_to_transfer(const struct aftl_device *from, u64 first, u32 limit)
{
	struct run run = read_unit_state(from, first);

	while (run.units < limit) {
		struct run next = read_unit_state(from, first + run.units);

		if (next.class != run.class || next.level != run.level ||
		    next.held != run.held)
			break;
		run.units++;
	}
	return run;
}

/*
 * Undo a transfer: give the data of @units logical pages from @first on back to @from. @bytes lists
 * the memory pages that @to has not accepted; NULL: none.
 */
static void return_units_to_old_device(struct aftl_device *to, struct aftl_device *from, u64 first,
				       u64 units, struct list_head *bytes)
{
	u64 unit;

	for (unit = first; unit < first + units; unit++) {
		struct aftl_spot there = aftl_device_locate_unit(to, unit, 1);
		struct aftl_spot here = aftl_device_locate_unit(from, unit, 1);

		if (does_store_of_disk_hold_unit(there.disk, there.unit)) {
			LIST_HEAD(back);

			take_units_from_disk_store(there.disk, there.unit, 1, &back);
			put_unit_into_disk_store(here.disk, here.unit, &back);
		} else if (bytes && !list_empty(bytes)) {
			put_unit_into_disk_store(here.disk, here.unit, bytes);
		}
	}
}

static int move_contiguous_units_to_new_device(struct aftl_device *to, struct aftl_device *from,
					       const struct run *run)
{
	struct aftl_spot there = aftl_device_locate_unit(to, run->first, run->units);
	struct aftl_spot here = aftl_device_locate_unit(from, run->first, run->units);
	struct aftl_io io = {
		.request = {
			.op = AFTL_OP_WRITE,
			.unit = there.unit,
			.units = run->units,
			.class = run->class,
			.level = run->level,
		},
	};
	int ret;

	if (run->class == AFTL_CLASSES)
		return 0;
	INIT_LIST_HEAD(&io.bytes);
	take_units_from_disk_store(here.disk, here.unit, run->units, &io.bytes);
	ret = aftl_disk_execute_request(there.disk, &io);
	if (ret)
		return_units_to_old_device(to, from, run->first, run->units, &io.bytes);
	there.disk->store->type->release(there.disk->store, &io.bytes);
	return ret;
}

/* Return the number of units from @unit on that are consecutive in a shard of both devices. */
static u32 count_units_contiguous_in_both_devices(const struct aftl_device *to,
						  const struct aftl_device *from, u64 unit, u64 end)
{
	u32 units = min_t(u64, end - unit, TRANSFER_UNITS);

	units = aftl_count_units_to_chunk_end(&to->shards, unit, units);
	return aftl_count_units_to_chunk_end(&from->shards, unit, units);
}

static bool is_unit_unreadable(const struct aftl_device *from, u64 unit)
{
	struct aftl_spot place = aftl_device_locate_unit(from, unit, 1);

	return aftl_lpn_is_unreadable(place.disk->ftl, to_lpn(place.unit));
}

/* Mark a unit of @to as lost. Returns false if the unit has not been programmed. */
static bool mark_unit_lost_on_new_device(struct aftl_device *to, u64 unit)
{
	struct aftl_spot place = aftl_device_locate_unit(to, unit, 1);
	struct aftl *ftl = place.disk->ftl;
	u32 class;

	return aftl_mark_unit_lost(ftl, aftl_lookup(ftl, to_lpn(place.unit), &class));
}

/* Mark units that @from cannot read as lost in @to, whose write buffers must be empty. */
static int mark_lost_units_on_new_device(struct aftl_device *to, const struct aftl_device *from,
					 u64 end)
{
	u64 unit;

	for (unit = 0; unit < end; unit++) {
		if (is_unit_unreadable(from, unit) && !mark_unit_lost_on_new_device(to, unit))
			return -EIO;
		if (!(unit % TRANSFER_UNITS))
			cond_resched();
	}
	return 0;
}

/* Move all data of @from to @to, or none on failure. */
static int transfer_device_data(struct aftl_device *to, struct aftl_device *from)
{
	u64 end = min(to->shards.units, from->shards.units);
	u64 unit = 0;
	int ret = 0;

	while (!ret && unit < end) {
		u64 units = count_units_contiguous_in_both_devices(to, from, unit, end);
		struct run run = find_run_to_transfer(from, unit, units);

		ret = move_contiguous_units_to_new_device(to, from, &run);
		unit += run.units;
		cond_resched();
	}
	if (!ret) {
		aftl_device_drain_write_buffers(to);
		ret = mark_lost_units_on_new_device(to, from, end);
	}
	if (ret)
		return_units_to_old_device(to, from, 0, unit, NULL);
	aftl_each_disk(disk, to)
		aftl_reset_stats((*disk)->ftl);
	return ret;
}

int aftl_device_take_over_data(struct aftl_device *to, struct aftl_device *from,
			       struct aftl_error *error)
{
	int ret;

	if (can_new_device_keep_old_flash(to, from, error))
		return copy_ftls_and_swap_disk_stores(to, from, error);
	ret = transfer_device_data(to, from);
	if (ret)
		return aftl_fail(error, ret,
				 "the new table has no room for the data of the old one");
	return 0;
}
