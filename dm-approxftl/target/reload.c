// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a reloaded table takes over from the disk in memory that it finds.
 *
 * If the two differ in nothing that is fixed when a device is made, the flash stays as it
 * is and gets another policy and other parameters. Otherwise it is new flash, and the
 * data are written to it.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/keep/snapshot.h"
#include "target/target.h"

/* Units of a write by which data are moved. */
#define TRANSFER_UNITS 64U

/* The state of an FTL in memory */

#define PIECE_BYTES SZ_1M

struct piece {
	struct list_head list;
	size_t used;
	u8 bytes[];
};

/**
 * struct pieces - a stream in memory
 * @list: of struct piece
 * @at: piece that is read
 * @offset: in there
 */
struct pieces {
	struct list_head list;
	struct piece *at;
	size_t offset;
};

#define PIECE_ROOM (PIECE_BYTES - sizeof(struct piece))

static struct piece *last_piece(struct pieces *pieces)
{
	return list_empty(&pieces->list) ? NULL :
					   list_last_entry(&pieces->list, struct piece, list);
}

static struct piece *add_piece(struct pieces *pieces)
{
	struct piece *piece = __vmalloc(PIECE_BYTES, GFP_KERNEL | __GFP_RETRY_MAYFAIL |
						     __GFP_NOWARN);

	if (!piece)
		return NULL;
	piece->used = 0;
	list_add_tail(&piece->list, &pieces->list);
	return piece;
}

static int pieces_write(void *host, const void *data, size_t bytes)
{
	struct pieces *pieces = host;
	struct piece *piece = last_piece(pieces);

	while (bytes) {
		size_t part;

		if (!piece || piece->used == PIECE_ROOM)
			piece = add_piece(pieces);
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

static int pieces_read(void *host, void *data, size_t bytes)
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

static void pieces_free(struct pieces *pieces)
{
	struct piece *piece;
	struct piece *next;

	list_for_each_entry_safe(piece, next, &pieces->list, list)
		vfree(piece);
}

/* The same flash */

static int save_disk(struct aftl_disk *disk, struct pieces *pieces, struct aftl_error *error)
{
	struct aftl_io flush = { .request = { .op = AFTL_OP_FLUSH } };
	struct aftl_sink sink = { .write = pieces_write, .host = pieces };
	int ret;

	aftl_disk_empty_buffer(disk);
	ret = aftl_disk_carry_out(disk, &flush);
	if (ret)
		return aftl_fail(error, ret, "buffered writes could not be programmed");
	return aftl_save(disk->ftl, &sink, error);
}

static int load_disk(struct aftl_disk *disk, struct pieces *pieces, struct aftl_error *error)
{
	struct aftl_source_stream source = { .read = pieces_read, .host = pieces };
	struct aftl *fresh = disk->ftl;
	int ret;

	pieces->at = list_first_entry(&pieces->list, struct piece, list);
	ret = aftl_load_as(&disk->ftl, &source, aftl_policy_type(fresh), aftl_config(fresh),
			   &aftl_host_memory, disk, error);
	if (ret)
		disk->ftl = fresh;
	else
		aftl_destroy(fresh);
	return ret;
}

/* Nobody else can see a stopped disk: its lock is taken for what is short only. */
static int convert(struct aftl_disk *to, struct aftl_disk *from, struct aftl_error *error)
{
	struct pieces pieces = { .list = LIST_HEAD_INIT(pieces.list) };
	int ret = save_disk(from, &pieces, error);

	if (!ret)
		ret = load_disk(to, &pieces, error);
	if (!ret)
		swap(to->store, from->store);
	pieces_free(&pieces);
	return ret;
}

/* New flash */

/**
 * struct run - neighbouring units that can be transferred as one write
 * @first: first unit
 * @units: how many
 * @class: enum aftl_class, or AFTL_CLASSES if there is nothing to transfer
 * @level: of them
 * @held: the store has their bytes
 */
struct run {
	u32 first;
	u32 units;
	u32 class;
	u32 level;
	bool held;
};

static struct run look_at(struct aftl_disk *from, u32 unit)
{
	struct run run = { .first = unit, .units = 1, .class = AFTL_CLASSES };

	run.held = from->store->type->holds(from->store, to_unit(unit));
	if (aftl_lookup(from->ftl, to_unit(unit), &run.class) == AFTL_NO_SLOT && run.held)
		run.class = AFTL_PRECISE;
	run.level = aftl_unit_level(from->ftl, to_unit(unit));
	return run;
}

static struct run find_run(struct aftl_disk *from, u32 first, u32 limit)
{
	struct run run = look_at(from, first);

	while (run.units < min(limit, TRANSFER_UNITS)) {
		struct run next = look_at(from, first + run.units);

		if (next.class != run.class || next.level != run.level ||
		    next.held != run.held)
			break;
		run.units++;
	}
	return run;
}

/* The bytes of @units from @first on go back; those that never arrived are in @bytes. */
static void return_bytes(struct aftl_disk *to, struct aftl_disk *from, u32 first, u32 units,
			 struct list_head *bytes)
{
	u32 unit;

	for (unit = first; unit < first + units; unit++) {
		if (to->store->type->holds(to->store, to_unit(unit))) {
			LIST_HEAD(back);

			to->store->type->forget(to->store, to_unit(unit), 1, &back);
			from->store->type->accept(from->store, to_unit(unit), 0, &back);
		} else if (bytes && !list_empty(bytes)) {
			from->store->type->accept(from->store, to_unit(unit), 0, bytes);
		}
	}
}

static int transfer_run(struct aftl_disk *to, struct aftl_disk *from, const struct run *run)
{
	struct aftl_io io = {
		.request = {
			.op = AFTL_OP_WRITE,
			.unit = run->first,
			.units = run->units,
			.class = run->class,
			.level = run->level,
		},
	};
	int ret;

	if (run->class == AFTL_CLASSES)
		return 0;
	INIT_LIST_HEAD(&io.bytes);
	from->store->type->forget(from->store, to_unit(run->first), run->units, &io.bytes);
	ret = aftl_disk_carry_out(to, &io);
	if (ret)
		return_bytes(to, from, run->first, run->units, &io.bytes);
	to->store->type->release(to->store, &io.bytes);
	return ret;
}

/* Either all of the data are moved or none. */
static int transfer(struct aftl_disk *to, struct aftl_disk *from)
{
	u32 units = min(aftl_geometry(to->ftl)->units, aftl_geometry(from->ftl)->units);
	u32 unit = 0;
	int ret = 0;

	while (!ret && unit < units) {
		struct run run = find_run(from, unit, units - unit);

		ret = transfer_run(to, from, &run);
		unit += run.units;
		cond_resched();
	}
	if (ret)
		return_bytes(to, from, 0, unit, NULL);
	aftl_reset_stats(to->ftl);
	return ret;
}

int aftl_disk_take_over(struct aftl_disk *to, struct aftl_disk *from, struct aftl_error *error)
{
	int ret;

	if (!aftl_config_check(aftl_config(from->ftl), aftl_config(to->ftl), error))
		return convert(to, from, error);
	ret = transfer(to, from);
	if (ret)
		return aftl_fail(error, ret,
				 "the new table has no room for the data of the old one");
	return 0;
}
