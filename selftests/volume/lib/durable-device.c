// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "durable-device.h"
#include "core/ftl/controller.h"
#include "core/ftl/lost-data.h"
#include "core/persist/snapshot.h"
#include "tap.h"

/* A write that the controller has accepted, identified by its tag. */
struct durable_tag {
	u32 unit;
	u32 stamp;
	bool held;
	bool kept;
};

/* Return true if an accepted write is durable as soon as it is in the persistent write buffer. */
static bool is_write_buffer_persistent(const struct durable_device *durable)
{
	const struct aftl_geometry *geo = aftl_geometry(durable->device.ftl);

	return geo->plp_entries && !geo->zones;
}

/* Kinds of operations that the core or the host queues for the volume. */
enum durable_kind {
	OP_PROGRAM,
	OP_COPY,
	OP_NOTE,
	OP_UNMAP,
	OP_ZONE,
	OP_KEEP,
	OP_LET_GO,
	OP_ERASE,
	OP_RETIRE,
	OP_AGAIN,
	OP_PROMISE,
};

/**
 * struct durable_op - an operation in the queue from the core to the volume
 * @next: next operation
 * @kind: enum durable_kind
 * @unit: first lpn
 * @units: number of unmapped units
 * @stamp: stamp of the data to program or persist
 * @from: source of a copy
 * @to: destination of a program or copy
 * @number: page, block, zone or tag, depending on @kind
 * @state: new state of a zone
 * @kept: persisted buffer entry; it has a number once the entry waited for a PLP slot
 * @spare: spare entry of a programmed page
 * @entry: erase entry of an erased or retired block
 * @now_ns: device time when the operation was queued
 * @age_ns: see aftl_get_device_age_ns()
 * @memory: see aftl_get_policy_state_word()
 * @promised: number of units that a flush or FUA write makes durable
 * @stamps: stamp of each unit that becomes durable
 */
struct durable_op {
	struct durable_op *next;
	enum durable_kind kind;
	u32 unit;
	u32 units;
	u32 stamp;
	aftl_ppn_t from;
	aftl_ppn_t to;
	u32 number;
	enum aftl_zone_state state;
	struct aftl_plp_entry kept;
	struct aftl_spare spare;
	struct aftl_erase_entry entry;
	u64 now_ns;
	u64 age_ns;
	u64 memory;
	u32 promised;
	u32 *stamps;
};

#define NO_TAG U32_MAX

static void *require_durable_memory(void *memory)
{
	if (!memory)
		tap_bail_out("out of memory");
	return memory;
}

static struct durable_device *durable_of_listener(struct test_listener *self)
{
	return container_of(self, struct durable_device, listener);
}

static u32 get_unit_size(const struct durable_device *durable)
{
	return aftl_geometry(durable->device.ftl)->unit_bytes;
}

/* Fill @durable->bytes with data for @unit: each sector begins with unit and write stamp. */

static u64 compute_pattern_word_of_unit(u32 unit, u32 stamp, u32 word)
{
	u32 in_sector = word % (DISK_SECTOR / 8);

	return ((u64)stamp << 32 | unit) ^ (in_sector ? word * 0x9e3779b97f4a7c15ULL : 0);
}

static void fill_unit_pattern(struct durable_device *durable, u32 unit, u32 stamp)
{
	u64 *words = (u64 *)durable->bytes;
	u32 count = get_unit_size(durable) / 8;
	u32 i;

	for (i = 0; i < count; i++)
		words[i] = compute_pattern_word_of_unit(unit, stamp, i);
}

/* Check that the data belong to one write of @unit; return its stamp. */
static bool recognise_unit_pattern(const struct durable_device *durable, u32 unit, u32 *stamp)
{
	const u64 *words = (const u64 *)durable->bytes;
	u32 count = get_unit_size(durable) / 8;
	u32 i;

	*stamp = words[0] >> 32;
	for (i = 0; i < count; i++)
		if (words[i] != compute_pattern_word_of_unit(unit, *stamp, i))
			return CHECK_MSG(false,
					 "unit %u: word %u is %016llx: not of it, or torn (stamp %u)",
					 unit, i, (unsigned long long)words[i], *stamp);
	return true;
}

/* The queue */

static struct durable_op *queue_durable_op(struct durable_device *durable, enum durable_kind kind)
{
	const struct aftl *ftl = durable->device.ftl;
	struct durable_op *op = require_durable_memory(calloc(1, sizeof(*op)));

	op->kind = kind;
	op->now_ns = aftl_device_time_ns(ftl);
	op->age_ns = aftl_get_device_age_ns(ftl);
	op->memory = aftl_get_policy_state_word(ftl);
	if (durable->last)
		durable->last->next = op;
	else
		durable->ops = op;
	durable->last = op;
	return op;
}

static struct durable_op *take_oldest_op(struct durable_device *durable)
{
	struct durable_op *op = durable->ops;

	durable->ops = op->next;
	if (!durable->ops)
		durable->last = NULL;
	op->next = NULL;
	return op;
}

static void free_durable_op(struct durable_op *op)
{
	free(op->stamps);
	free(op);
}

static void drop_oldest_queued_op(struct durable_device *durable)
{
	free_durable_op(take_oldest_op(durable));
}

static u64 get_offset_of_ppn(const struct durable_device *durable, aftl_ppn_t ppn)
{
	return aftl_volume_data_offset(durable->volume, ppn);
}

/* Find the spare entry of the queued program that contains @ppn. */
static const struct aftl_spare *find_spare(const struct durable_device *durable, aftl_ppn_t ppn)
{
	u32 page = from_ppn(ppn) / aftl_geometry(durable->device.ftl)->page_units;
	const struct durable_op *op;

	for (op = durable->ops; op; op = op->next)
		if (op->kind == OP_NOTE && op->number == page)
			return &op->spare;
	tap_bail_out("slot %u: written, and nothing says so", from_ppn(ppn));
	return NULL;
}

/* Remap a unit that could not be written, and retire its block. */
static int remap_unwritten_unit(struct durable_device *durable)
{
	const struct durable_late *late = &durable->late;
	struct aftl *ftl = durable->device.ftl;
	aftl_ppn_t ppn = late->ppn;

	if (!aftl_volume_remap_ppn(durable->volume, ppn, &late->spare))
		return -ENOSPC;
	durable->displaced++;
	CHECK_EQ(aftl_fail_block(ftl, from_ppn(ppn) / aftl_geometry(ftl)->block_ppns), 0);
	return lying_disk_write(&durable->disk, get_offset_of_ppn(durable, ppn), late->bytes,
				get_unit_size(durable));
}

static void remap_unit_of_late_failed_write(void *watcher)
{
	struct durable_device *durable = watcher;
	int ret = durable->late.pending ? remap_unwritten_unit(durable) : 0;

	durable->late.pending = false;
	if (ret && !durable->ret)
		durable->ret = ret;
}

/* Tell the core of every second failed write at once, of the others before the next flush. */
static int report_failed_write(struct durable_device *durable, aftl_ppn_t ppn)
{
	remap_unit_of_late_failed_write(durable);
	durable->late.pending = true;
	durable->late.ppn = ppn;
	durable->late.spare = *find_spare(durable, ppn);
	memcpy(durable->late.bytes, durable->bytes, get_unit_size(durable));
	if (durable->displaced & 1)
		remap_unit_of_late_failed_write(durable);
	return durable->ret;
}

static int write_durable_unit(struct durable_device *durable, aftl_ppn_t ppn)
{
	int ret = lying_disk_write(&durable->disk, get_offset_of_ppn(durable, ppn), durable->bytes,
				   get_unit_size(durable));

	durable->lost[from_ppn(ppn)] = false;
	return ret == -EREMOTEIO ? report_failed_write(durable, ppn) : ret;
}

static int execute_program_op(struct durable_device *durable, const struct durable_op *op)
{
	fill_unit_pattern(durable, op->unit, op->stamp);
	return write_durable_unit(durable, op->to);
}

/* Find the last queued operation that changes @ppn. */
static const struct durable_op *find_pending_op_of_ppn(const struct durable_device *durable,
						       aftl_ppn_t ppn)
{
	const struct durable_op *found = NULL;
	const struct durable_op *op;

	for (op = durable->ops; op; op = op->next)
		if ((op->kind == OP_PROGRAM || op->kind == OP_COPY) && op->to == ppn)
			found = op;
	return found;
}

/* Mark the unit as lost in the core, unless a later operation writes the same flash page. */
static void mark_unit_lost(struct durable_device *durable, const struct durable_op *op)
{
	durable->lost[from_ppn(op->to)] = true;
	if (find_pending_op_of_ppn(durable, op->to) == op)
		aftl_mark_unit_lost(durable->device.ftl, op->to);
}

static int read_durable_unit(struct durable_device *durable, aftl_ppn_t ppn)
{
	u32 bytes = get_unit_size(durable);

	if (durable->lost[from_ppn(ppn)])
		return -ENODATA;
	if (durable->late.pending && durable->late.ppn == ppn) {
		memcpy(durable->bytes, durable->late.bytes, bytes);
		return 0;
	}
	return lying_disk_read(&durable->disk, get_offset_of_ppn(durable, ppn), durable->bytes,
			       bytes);
}

static int execute_copy_op(struct durable_device *durable, const struct durable_op *op)
{
	int ret = read_durable_unit(durable, op->from);
	u32 stamp;

	if (ret == -ENODATA)
		mark_unit_lost(durable, op);
	if (ret)
		return ret == -ENODATA ? 0 : ret;
	recognise_unit_pattern(durable, op->unit, &stamp);
	return write_durable_unit(durable, op->to);
}

static void record_durable_write_stamps(struct durable_device *durable, const struct durable_op *op)
{
	u32 i;

	for (i = 0; i < op->promised; i++) {
		struct durable_unit *unit = &durable->units[op->unit + i];

		if (op->stamps[i] > unit->hurt)
			unit->covered = max(unit->covered, op->stamps[i]);
	}
}

static int execute_zone_state_op(struct durable_device *durable, const struct durable_op *op)
{
	durable->finished[op->number] = op->state == AFTL_ZONE_FULL ? DURABLE_FINISHED : 0;
	return aftl_volume_record_zone(durable->volume, op->number, op->state);
}

static int execute_plp_persist_op(struct durable_device *durable, struct durable_op *op)
{
	u64 offset;
	int ret = aftl_volume_persist_unit(durable->volume, op->number, &op->kept, &offset);

	if (ret)
		return ret;
	fill_unit_pattern(durable, op->unit, op->stamp);
	return lying_disk_write(&durable->disk, offset, durable->bytes, get_unit_size(durable));
}

/* Append an operation to a list of operations that wait for the next commit. */
static void append_waiting_op(struct durable_op **link, struct durable_op *op)
{
	while (*link)
		link = &(*link)->next;
	*link = op;
}

/* Drop the operations on @tag that wait for a commit; if @tag is NO_TAG, drop all of them. */
static void drop_waiting_persist_ops(struct durable_device *durable, u32 tag)
{
	struct durable_op **link = &durable->keeps;

	while (*link) {
		struct durable_op *op = *link;

		if (tag != NO_TAG && op->number != tag) {
			link = &op->next;
			continue;
		}
		*link = op->next;
		free_durable_op(op);
	}
}

static int execute_waiting_persist_ops(struct durable_device *durable)
{
	int ret = durable->keeps ? aftl_volume_commit(durable->volume) : 0;
	struct durable_op *op;

	for (op = durable->keeps; !ret && op; op = op->next)
		ret = execute_plp_persist_op(durable, op);
	drop_waiting_persist_ops(durable, NO_TAG);
	return ret;
}

static int record_durability_promise(struct durable_device *durable, const struct durable_op *op)
{
	int ret = execute_waiting_persist_ops(durable);
	u32 i;

	if (!ret)
		ret = aftl_volume_commit(durable->volume);
	if (ret)
		return ret;
	record_durable_write_stamps(durable, op);
	for (i = 0; i < aftl_geometry(durable->device.ftl)->zones; i++)
		if (durable->finished[i] == DURABLE_FINISHED)
			durable->finished[i] = DURABLE_STAYS_FINISHED;
	return 0;
}

static int execute_program_record_op(struct durable_device *durable, const struct durable_op *op)
{
	u32 units = aftl_geometry(durable->device.ftl)->page_units;
	struct aftl_spare spare = op->spare;
	u32 i;

	for (i = 0; i < units; i++)
		spare.lost |= durable->lost[op->number * units + i] << i;
	return aftl_volume_record_program(durable->volume, op->number, &spare);
}

/* Before an erase: commit the relocation of remapped units, then release their sectors. */
static int release_remapped_sectors(struct durable_device *durable, aftl_ppn_t first, u32 slots,
				    bool bad)
{
	int ret = aftl_volume_awaits_plp_slots(durable->volume, bad) ?
			  execute_waiting_persist_ops(durable) :
			  0;

	if (!ret)
		ret = aftl_volume_commit_if_changed(durable->volume);
	if (!ret)
		aftl_volume_free_remap_slots_of_ppns(durable->volume, first, slots);
	return ret;
}

static int execute_erase_op(struct durable_device *durable, const struct durable_op *op)
{
	u32 slots = aftl_geometry(durable->device.ftl)->block_ppns;
	int ret = release_remapped_sectors(durable, to_ppn(op->number * slots), slots,
					   op->kind == OP_RETIRE);

	if (!ret && op->kind == OP_ERASE)
		ret = aftl_volume_record_erase(durable->volume, op->number, &op->entry);
	else if (!ret)
		ret = aftl_volume_record_retirement(durable->volume, op->number, &op->entry);
	return ret;
}

static int execute_durable_op(struct durable_device *durable, struct durable_op *op)
{
	struct aftl_volume *volume = durable->volume;

	aftl_volume_set_time(volume, op->now_ns, op->age_ns, op->memory);
	switch (op->kind) {
	case OP_PROGRAM:
		return execute_program_op(durable, op);
	case OP_COPY:
		return execute_copy_op(durable, op);
	case OP_NOTE:
		return execute_program_record_op(durable, op);
	case OP_UNMAP:
		return aftl_volume_record_discard(volume, to_lpn(op->unit), op->units);
	case OP_ZONE:
		return execute_zone_state_op(durable, op);
	case OP_KEEP:
		return execute_plp_persist_op(durable, op);
	case OP_LET_GO:
		drop_waiting_persist_ops(durable, op->number);
		aftl_volume_release_plp_entry(volume, op->number);
		return 0;
	case OP_ERASE:
	case OP_RETIRE:
		return execute_erase_op(durable, op);
	case OP_AGAIN:
		return release_remapped_sectors(durable, op->to, 1, false);
	case OP_PROMISE:
		return record_durability_promise(durable, op);
	}
	return -EINVAL;
}

static int execute_oldest_queued_op(struct durable_device *durable)
{
	bool waits = durable->batched && durable->ops->kind == OP_PROMISE;
	int ret = waits ? 0 : execute_durable_op(durable, durable->ops);

	if (waits)
		append_waiting_op(&durable->promises, take_oldest_op(durable));
	else if (ret == -EAGAIN)
		append_waiting_op(&durable->keeps, take_oldest_op(durable));
	else
		drop_oldest_queued_op(durable);
	return ret == -EAGAIN ? 0 : ret;
}

static void drop_oldest_durability_promise(struct durable_device *durable)
{
	struct durable_op *op = durable->promises;

	durable->promises = op->next;
	free_durable_op(op);
}

/* Execute all operations that wait for a commit: the first commit makes all of them durable. */
static int commit_waiting_durability_promises(struct durable_device *durable)
{
	int ret = 0;

	while (!ret && durable->promises) {
		ret = record_durability_promise(durable, durable->promises);
		drop_oldest_durability_promise(durable);
	}
	return ret;
}

int durable_execute_ops(struct durable_device *durable, u32 ops)
{
	while (!durable->ret && durable->ops && ops--)
		durable->ret = execute_oldest_queued_op(durable);
	if (!durable->ret)
		durable->ret = commit_waiting_durability_promises(durable);
	if (!durable->ret && !durable->ops)
		durable->ret = execute_waiting_persist_ops(durable);
	return durable->ret;
}

/* Host callbacks */

static u32 next_stamp_of_unit(struct durable_device *durable, u32 unit)
{
	durable->units[unit].newest = ++durable->stamps;
	return durable->stamps;
}

static void queue_plp_persist_op(struct durable_device *durable, u32 number)
{
	struct durable_tag *tag = &durable->tags[number];
	struct aftl_buffered_lpn what;
	struct durable_op *op;

	if (!aftl_get_buffered_write(durable->device.ftl, number, &what))
		return;
	CHECK_EQ(from_lpn(what.lpn), tag->unit);
	tag->kept = true;
	op = queue_durable_op(durable, OP_KEEP);
	op->number = number;
	op->unit = tag->unit;
	op->stamp = tag->stamp;
	op->kept = (struct aftl_plp_entry){ .what = what };
}

static void record_accepted_durable_unit(struct test_listener *self, struct test_request *request,
					 aftl_lpn_t lpn, u32 tag)
{
	struct durable_device *durable = durable_of_listener(self);
	u32 index = from_lpn(lpn);

	durable->tags[tag] = (struct durable_tag){
		.unit = index, .stamp = next_stamp_of_unit(durable, index), .held = true,
	};
	request->floor[index - request->request.unit] = durable->tags[tag].stamp;
	durable->levels[durable->tags[tag].stamp % DURABLE_LEVELS] = request->request.level;
	if (is_write_buffer_persistent(durable))
		queue_plp_persist_op(durable, tag);
}

static void queue_persist_of_unflushable_write(struct test_listener *self, u32 tag)
{
	struct durable_device *durable = durable_of_listener(self);

	if (aftl_geometry(durable->device.ftl)->plp_entries)
		queue_plp_persist_op(durable, tag);
}

/* Commit before the program of a page that is reprogrammed, as volume.h requires. */
static void queue_commit_op_before_reprogramming(struct durable_device *durable, aftl_ppn_t ppn)
{
	const struct aftl_media *media = aftl_media(durable->device.ftl);

	if (aftl_get_reprogram_count_of_page(aftl_ppn_attr(media, ppn)))
		queue_durable_op(durable, OP_AGAIN)->to = ppn;
}

static void queue_durable_program_op(struct test_listener *self, u32 tag, aftl_lpn_t lpn,
				     aftl_ppn_t ppn)
{
	struct durable_device *durable = durable_of_listener(self);
	struct durable_op *op;

	CHECK_EQ(durable->tags[tag].unit, from_lpn(lpn));
	queue_commit_op_before_reprogramming(durable, ppn);
	op = queue_durable_op(durable, OP_PROGRAM);
	op->unit = from_lpn(lpn);
	op->stamp = durable->tags[tag].stamp;
	op->to = ppn;
}

static void queue_durable_copy_op(struct test_listener *self, aftl_lpn_t lpn, aftl_ppn_t from,
				  aftl_ppn_t to)
{
	struct durable_device *durable = durable_of_listener(self);
	struct durable_op *op;

	queue_commit_op_before_reprogramming(durable, to);
	op = queue_durable_op(durable, OP_COPY);
	op->unit = from_lpn(lpn);
	op->from = from;
	op->to = to;
}

static void queue_durable_program_record_op(struct test_listener *self, aftl_ppn_t first)
{
	struct durable_device *durable = durable_of_listener(self);
	const struct aftl *ftl = durable->device.ftl;
	struct durable_op *op = queue_durable_op(durable, OP_NOTE);

	op->number = aftl_page_of_ppn(aftl_media(ftl), first);
	aftl_init_spare_entry(&op->spare, ftl, first);
}

static void release_durable_tag(struct test_listener *self, u32 tag)
{
	struct durable_device *durable = durable_of_listener(self);
	struct aftl_buffered_lpn what;

	durable->tags[tag].held = false;
	if (durable->tags[tag].kept && !aftl_get_buffered_write(durable->device.ftl, tag, &what))
		queue_durable_op(durable, OP_LET_GO)->number = tag;
}

/* A reset discards all units of the zone. */
static void discard_zone_units(struct durable_device *durable, u32 zone)
{
	u32 zone_units = aftl_geometry(durable->device.ftl)->zone_units;
	u32 i;

	for (i = zone * zone_units; i < (zone + 1) * zone_units; i++)
		durable->units[i].zeroed = next_stamp_of_unit(durable, i);
}

static void queue_durable_zone_state_op(struct test_listener *self, u32 zone,
					enum aftl_zone_state state)
{
	struct durable_device *durable = durable_of_listener(self);
	struct durable_op *op = queue_durable_op(durable, OP_ZONE);

	op->number = zone;
	op->state = state;
	if (state == AFTL_ZONE_EMPTY)
		discard_zone_units(durable, zone);
}

static void queue_durable_unmap_op(struct test_listener *self, aftl_lpn_t first, u32 units)
{
	struct durable_op *op = queue_durable_op(durable_of_listener(self), OP_UNMAP);

	op->unit = from_lpn(first);
	op->units = units;
}

static void queue_durable_erase_op(struct test_listener *self, aftl_ppn_t first, u32 slots)
{
	struct durable_device *durable = durable_of_listener(self);
	const struct aftl *ftl = durable->device.ftl;
	struct durable_op *op = queue_durable_op(durable, OP_ERASE);

	op->number = from_ppn(first) / slots;
	aftl_erase_entry_describe_block(&op->entry, ftl, op->number);
}

static void queue_durable_retire_ops(struct test_listener *self, u32 first, u32 blocks)
{
	struct durable_device *durable = durable_of_listener(self);

	for (; blocks; blocks--, first++) {
		struct durable_op *op = queue_durable_op(durable, OP_RETIRE);

		op->number = first;
		aftl_erase_entry_describe_block(&op->entry, durable->device.ftl, first);
	}
}

/**
 * struct durable_flush - a flush in progress
 * @request: request of the flush
 * @stamps: for each unit, stamp of the last write that had completed when the flush was submitted
 */
struct durable_flush {
	struct durable_flush *next;
	const struct test_request *request;
	u32 *stamps;
};

static void record_submitted_flush(struct durable_device *durable,
				   const struct test_request *request)
{
	struct durable_flush *flush = require_durable_memory(calloc(1, sizeof(*flush)));
	u32 i;

	flush->request = request;
	flush->stamps = require_durable_memory(calloc(durable->unit_count, sizeof(*flush->stamps)));
	for (i = 0; i < durable->unit_count; i++)
		flush->stamps[i] = durable->units[i].completed;
	flush->next = durable->flushes;
	durable->flushes = flush;
}

/* Remove the flush of @request from the list, and return its stamps, which the caller frees. */
static u32 *take_submitted_flush(struct durable_device *durable, const struct test_request *request)
{
	struct durable_flush **link = &durable->flushes;
	struct durable_flush *flush;
	u32 *stamps;

	while (*link && (*link)->request != request)
		link = &(*link)->next;
	flush = *link;
	*link = flush->next;
	stamps = flush->stamps;
	free(flush);
	return stamps;
}

static void drop_submitted_flushes(struct durable_device *durable)
{
	while (durable->flushes)
		free(take_submitted_flush(durable, durable->flushes->request));
}

/* On zoned devices a flush persists units that wait for a full page. */
static void queue_persist_ops_of_partial_pages(struct durable_device *durable)
{
	const struct aftl *ftl = durable->device.ftl;
	u32 i;

	for (i = 0; aftl_geometry(ftl)->zones && i < aftl_count_buffer_tags(ftl); i++)
		if (durable->tags[i].held && !durable->tags[i].kept)
			queue_plp_persist_op(durable, i);
}

static void queue_durability_promise(struct durable_device *durable, u32 unit, u32 units,
				     u32 *stamps)
{
	struct durable_op *op;

	queue_persist_ops_of_partial_pages(durable);
	op = queue_durable_op(durable, OP_PROMISE);
	op->unit = unit;
	op->promised = units;
	op->stamps = stamps;
}

/* After a failed flush, writes that no successful flush has covered need not be durable. */
static void withdraw_durability_promises(struct durable_device *durable)
{
	u32 i;

	for (i = 0; i < durable->unit_count; i++)
		durable->units[i].completed = durable->units[i].covered;
}

static void complete_flush(struct durable_device *durable, const struct test_request *request)
{
	u32 *stamps = take_submitted_flush(durable, request);

	if (request->request.status) {
		free(stamps);
		withdraw_durability_promises(durable);
	} else {
		queue_durability_promise(durable, 0, durable->unit_count, stamps);
	}
}

static void complete_write_or_discard(struct durable_device *durable,
				      const struct test_request *request)
{
	const struct aftl_request *what = &request->request;
	u32 *stamps;
	u32 i;

	for (i = 0; i < what->units; i++) {
		struct durable_unit *unit = &durable->units[what->unit + i];

		unit->completed = max(unit->completed, request->floor[i]);
	}
	if (!(what->flags & AFTL_REQUEST_FUA) && !is_write_buffer_persistent(durable))
		return;
	stamps = require_durable_memory(calloc(what->units, sizeof(*stamps)));
	memcpy(stamps, request->floor, what->units * sizeof(*stamps));
	queue_durability_promise(durable, what->unit, what->units, stamps);
}

/* Once a zone reset has completed, so has the last discard of each unit of the zone. */
static void complete_zone_reset(struct durable_device *durable, const struct test_request *request)
{
	u32 first = request->request.unit;
	u32 end = first + aftl_geometry(durable->device.ftl)->zone_units;

	if (request->request.op != AFTL_OP_ZONE_RESET || request->request.status)
		return;
	for (; first < end; first++)
		durable->units[first].completed = max(durable->units[first].completed,
						      durable->units[first].zeroed);
}

static void complete_durable_request(struct test_listener *self, struct test_request *request)
{
	struct durable_device *durable = durable_of_listener(self);

	if (request->request.op == AFTL_OP_FLUSH)
		complete_flush(durable, request);
	else if (request->request.op > AFTL_OPS)
		complete_zone_reset(durable, request);
	else if (request->request.op != AFTL_OP_READ && !request->request.status)
		complete_write_or_discard(durable, request);
}

static void record_submitted_durable_io(struct test_listener *self, struct test_request *request)
{
	struct durable_device *durable = durable_of_listener(self);
	const struct aftl_request *what = &request->request;
	u32 i;

	if (what->op == AFTL_OP_FLUSH)
		record_submitted_flush(durable, request);
	for (i = 0; what->op == AFTL_OP_READ && i < what->units; i++)
		request->floor[i] = durable->units[what->unit + i].covered;
	if (what->op != AFTL_OP_DISCARD && what->op != AFTL_OP_WRITE_ZEROES)
		return;
	for (i = 0; i < what->units; i++) {
		request->floor[i] = next_stamp_of_unit(durable, what->unit + i);
		durable->units[what->unit + i].zeroed = request->floor[i];
	}
}

/* Reading */

static void check_unit_may_be_zero(const struct durable_device *durable, u32 unit, u32 covered)
{
	CHECK_MSG(!covered || durable->units[unit].zeroed >= covered,
		  "unit %u: lost: stamp %u was covered by a flush, zeroes are read", unit, covered);
}

static void check_write_stamp_of_unit(const struct durable_device *durable, u32 unit, u32 stamp,
				      u32 covered)
{
	u32 newest = durable->units[unit].newest;

	CHECK_MSG(stamp >= covered, "unit %u: stale: stamp %u was covered, %u is read", unit,
		  covered, stamp);
	CHECK_MSG(stamp <= newest, "unit %u: stamp %u is read, %u is the newest", unit, stamp,
		  newest);
}

/* The core must report the level of the data that it returned; promoted data have no level. */
static void check_quality_level_of_unit(const struct durable_device *durable, u32 unit, u32 stamp)
{
	u32 level = aftl_lpn_quality_level(durable->device.ftl, to_lpn(unit));
	u32 written = max_t(u32, durable->levels[stamp % DURABLE_LEVELS], AFTL_APPROX);

	CHECK_MSG(!level || level == written, "unit %u: stamp %u is of level %u, written as %u",
		  unit, stamp, level, written);
}

/*
 * A unit may be lost only if its sector or die failed after the unit's durable version was written.
 * The read may have begun before a later version became durable.
 */
static void check_unit_may_be_lost(struct durable_device *durable, u32 unit, u32 covered)
{
	struct durable_unit *mine = &durable->units[unit];

	CHECK_MSG(mine->hurt && covered <= mine->hurt,
		  "unit %u is lost: stamp %u was covered, stamp %u was hurt", unit, covered,
		  mine->hurt);
	mine->lost = true;
	durable->lost_units++;
}

/* Get the write stamp of the data at @ppn, but not if a copy to @ppn is still pending. */
static bool read_write_stamp_at_ppn(struct durable_device *durable, u32 unit, aftl_ppn_t ppn,
				    u32 covered, u32 *stamp)
{
	const struct durable_op *op = find_pending_op_of_ppn(durable, ppn);
	int ret;

	if (op && op->kind == OP_PROGRAM) {
		*stamp = op->stamp;
		return CHECK_EQ(op->unit, unit);
	}
	if (op || durable->ret)
		return false;
	ret = read_durable_unit(durable, ppn);
	if (ret == -ENODATA)
		check_unit_may_be_lost(durable, unit, covered);
	return !ret && recognise_unit_pattern(durable, unit, stamp);
}

static void check_read_from_buffer(const struct durable_device *durable, u32 unit, u32 tag,
				   u32 covered)
{
	CHECK_EQ(durable->tags[tag].unit, unit);
	check_write_stamp_of_unit(durable, unit, durable->tags[tag].stamp, covered);
}

/* Return true if a read failed because ECC cannot correct the cells, and nothing else failed. */
static bool is_read_beyond_ecc(const struct durable_device *durable, const struct aftl_read *read)
{
	const struct aftl *ftl = durable->device.ftl;

	return read->source == AFTL_SOURCE_FLASH && read->ppn != AFTL_NO_PPN &&
	       aftl_has_error_model(&ftl->media) &&
	       !aftl_ppn_is_marked_lost(&ftl->media, read->ppn) &&
	       aftl_cell_read_errors(&ftl->cell, read->ppn, aftl_device_age_hours(ftl)).lost;
}

static void check_durable_read(struct test_listener *self, struct test_request *request,
			       const struct aftl_read *read)
{
	struct durable_device *durable = durable_of_listener(self);
	u32 unit = from_lpn(read->lpn);
	u32 covered = request->floor[unit - request->request.unit];
	u32 stamp;

	if (read->lost && is_read_beyond_ecc(durable, read))
		durable->uncorrectable++;
	else if (read->lost)
		check_unit_may_be_lost(durable, unit, covered);
	else if (read->source == AFTL_SOURCE_ZERO && !aftl_geometry(durable->device.ftl)->zones)
		check_unit_may_be_zero(durable, unit, covered);
	else if (read->source == AFTL_SOURCE_ZERO)
		return; /* A zone may be reset and rewritten while it is being read. */
	else if (read->source == AFTL_SOURCE_BUFFER)
		check_read_from_buffer(durable, unit, read->tag, covered);
	else if (read_write_stamp_at_ppn(durable, unit, read->ppn, covered, &stamp))
		check_write_stamp_of_unit(durable, unit, stamp, covered);
}

/* Without parity, data on a dead die are gone although the medium still has their bytes. */
static bool data_is_on_dead_die(const struct durable_device *durable, aftl_ppn_t ppn)
{
	return !durable->device.config.rain && aftl_ppn_is_in_dead_lun(durable->device.ftl, ppn);
}

static void check_durable_unit(struct durable_device *durable, u32 unit)
{
	struct durable_unit *mine = &durable->units[unit];
	aftl_ppn_t ppn;
	u32 stamp;
	u32 class;

	mine->lost = false;
	ppn = aftl_lookup(durable->device.ftl, to_lpn(unit), &class);
	if (durable->buffered[unit]) {
		check_write_stamp_of_unit(durable, unit, durable->buffered[unit], mine->covered);
		mine->covered = durable->buffered[unit];
	} else if (ppn == AFTL_NO_PPN) {
		check_unit_may_be_zero(durable, unit, mine->covered);
		mine->zeroed = next_stamp_of_unit(durable, unit);
		mine->covered = mine->zeroed;
	} else if (aftl_lpn_is_lost(durable->device.ftl, to_lpn(unit)) ||
		   data_is_on_dead_die(durable, ppn)) {
		check_unit_may_be_lost(durable, unit, mine->covered);
	} else if (read_write_stamp_at_ppn(durable, unit, ppn, mine->covered, &stamp)) {
		check_write_stamp_of_unit(durable, unit, stamp, mine->covered);
		check_quality_level_of_unit(durable, unit, stamp);
		mine->covered = stamp;
	}
	mine->completed = mine->covered;
}

/*
 * Below the write pointer all data were written after the last zone reset, with ascending stamps.
 * A finished zone stays finished. Lost units have no known stamp.
 */
static void check_durable_zone(struct durable_device *durable, u32 zone)
{
	u32 unit = zone * aftl_geometry(durable->device.ftl)->zone_units;
	enum aftl_zone_state state;
	u32 written;
	u32 last = 0;
	u32 i;

	state = aftl_zone_state(durable->device.ftl, zone, &written);
	CHECK_MSG(state >= AFTL_ZONE_CLOSED || state == AFTL_ZONE_EMPTY ||
		  durable->recovery.closed, "zone %u is open after a crash", zone);
	CHECK_MSG(state >= AFTL_ZONE_FULL || durable->finished[zone] != DURABLE_STAYS_FINISHED,
		  "zone %u was finished and is in state %u", zone, state);
	for (i = unit; i < unit + written && !tap_failure_count(); i++) {
		if (durable->units[i].lost)
			continue;
		CHECK_MSG(durable->units[i].covered != durable->units[i].zeroed,
			  "unit %u is below the write pointer, %u, and not written", i, written);
		CHECK_MSG(durable->units[i].covered > last,
			  "unit %u, of stamp %u, follows one of stamp %u", i,
			  durable->units[i].covered, last);
		last = durable->units[i].covered;
	}
	durable->finished[zone] = state == AFTL_ZONE_FULL ? durable->finished[zone] : 0;
}

void durable_check_all_data(struct durable_device *durable)
{
	u32 i;

	durable->lost_units = 0;
	for (i = 0; i < durable->unit_count; i++)
		check_durable_unit(durable, i);
	for (i = 0; i < aftl_geometry(durable->device.ftl)->zones; i++)
		check_durable_zone(durable, i);
}

/* Find the ppn of @unit, and allow the loss of its data; return false if @unit has no ppn. */
static bool expect_unit_may_be_lost(struct durable_device *durable, u32 unit, aftl_ppn_t *ppn)
{
	u32 class;

	*ppn = aftl_lookup(durable->device.ftl, to_lpn(unit), &class);
	return *ppn != AFTL_NO_PPN && !aftl_lpn_is_lost(durable->device.ftl, to_lpn(unit)) &&
	       !find_pending_op_of_ppn(durable, *ppn) &&
	       read_write_stamp_at_ppn(durable, unit, *ppn, 0, &durable->units[unit].hurt);
}

bool durable_damage_sector(struct durable_device *durable, u32 unit, u32 sector)
{
	aftl_ppn_t ppn;

	if (!expect_unit_may_be_lost(durable, unit, &ppn))
		return false;
	durable->disk.unreadable[get_offset_of_ppn(durable, ppn) / DISK_SECTOR + sector] = true;
	return true;
}

bool durable_fail_unit(struct durable_device *durable, u32 unit)
{
	aftl_ppn_t ppn;

	return expect_unit_may_be_lost(durable, unit, &ppn) &&
	       !aftl_fail_unit(durable->device.ftl, to_lpn(unit));
}

/* Return the newest write stamp of @unit's data outside the write buffer. */
static u32 find_newest_stamp_outside_buffer(const struct durable_device *durable, u32 unit)
{
	const struct aftl *ftl = durable->device.ftl;
	u32 newest = durable->units[unit].newest;
	struct aftl_buffered_lpn what;
	u32 i;

	for (i = 0; i < aftl_count_buffer_tags(ftl); i++)
		if (durable->tags[i].held && durable->tags[i].unit == unit &&
		    aftl_get_buffered_write(ftl, i, &what))
			newest = min(newest, durable->tags[i].stamp - 1);
	return newest;
}

static void allow_loss_of_unit_on_dead_die(struct durable_device *durable, u32 unit)
{
	struct durable_unit *mine = &durable->units[unit];

	mine->hurt = find_newest_stamp_outside_buffer(durable, unit);
	if (mine->covered <= mine->hurt)
		mine->covered = 0;
}

int durable_fail_die(struct durable_device *durable, u32 lun)
{
	const struct aftl_geometry *geo = aftl_geometry(durable->device.ftl);
	bool *there = require_durable_memory(calloc(durable->unit_count, sizeof(*there)));
	u32 class;
	u32 i;
	int ret;

	for (i = 0; i < durable->unit_count; i++) {
		aftl_ppn_t ppn = aftl_lookup(durable->device.ftl, to_lpn(i), &class);

		there[i] = ppn != AFTL_NO_PPN &&
			   from_ppn(ppn) / geo->block_ppns / geo->blocks_per_lun == lun;
	}
	ret = aftl_fail_lun(durable->device.ftl, lun);
	for (i = 0; i < durable->unit_count; i++)
		if (there[i])
			allow_loss_of_unit_on_dead_die(durable, i);
	free(there);
	return ret;
}

/* Start and stop */

static void register_durable_listener(struct durable_device *durable)
{
	durable->listener = (struct test_listener){
		.submitted = record_submitted_durable_io,
		.complete = complete_durable_request,
		.accept = record_accepted_durable_unit,
		.program = queue_durable_program_op,
		.copy = queue_durable_copy_op,
		.programmed = queue_durable_program_record_op,
		.unstored = queue_persist_of_unflushable_write,
		.release = release_durable_tag,
		.unmap = queue_durable_unmap_op,
		.zone = queue_durable_zone_state_op,
		.erase = queue_durable_erase_op,
		.retire = queue_durable_retire_ops,
		.read = check_durable_read,
	};
	test_device_add_listener(&durable->device, &durable->listener);
}

static void set_volume_policy_name(struct aftl_volume_header *super, const char *policy)
{
	memset(super->policy, 0, sizeof(super->policy));
	memcpy(super->policy, policy, strlen(policy));
}

int durable_open(struct durable_device *durable, const struct aftl_config *config,
		 const char *policy)
{
	return durable_open_with_extents(durable, config, policy, false);
}

int durable_open_with_extents(struct durable_device *durable, const struct aftl_config *config,
			      const char *policy, bool stretches)
{
	struct aftl_error error = { "" };
	struct aftl_geometry geo;

	*durable = (struct durable_device){
		.super = { .config = *config, .lazy_tables = stretches },
	};
	set_volume_policy_name(&durable->super, policy);
	memcpy(durable->super.profile, "demo", 5);
	memcpy(durable->super.uuid, "0123456789abcdef", AFTL_UUID_BYTES);
	if (aftl_volume_header_set_layout(&durable->super, &geo, &error))
		return -EINVAL;
	test_device_init(&durable->device, "demo");
	durable->device.level = AFTL_LEVELS;
	lying_disk_open(&durable->disk, durable->super.layout.frames * AFTL_FRAME_BYTES);
	durable->unit_count = geo.units;
	durable->slots = geo.ppns;
	durable->units = require_durable_memory(calloc(geo.units, sizeof(*durable->units)));
	durable->buffered = require_durable_memory(calloc(geo.units, sizeof(*durable->buffered)));
	durable->finished = require_durable_memory(calloc(geo.units, 1));
	durable->bytes = require_durable_memory(calloc(1, geo.unit_bytes));
	durable->late.bytes = require_durable_memory(calloc(1, geo.unit_bytes));
	durable->disk.before_flush = remap_unit_of_late_failed_write;
	durable->disk.watcher = durable;
	durable->lost = require_durable_memory(calloc(geo.ppns, sizeof(*durable->lost)));
	return 0;
}

void durable_close(struct durable_device *durable)
{
	durable_stop(durable);
	lying_disk_close(&durable->disk);
	free(durable->units);
	free(durable->buffered);
	free(durable->finished);
	free(durable->bytes);
	free(durable->late.bytes);
	free(durable->lost);
}

/* After a format no earlier write has to be durable. */
static void drop_durability_promises_after_format(struct durable_device *durable)
{
	durable->formatting = false;
	memset(durable->units, 0, durable->unit_count * sizeof(*durable->units));
	memset(durable->finished, 0, durable->unit_count);
}

int durable_format(struct durable_device *durable)
{
	int ret;

	durable->super.uuid[AFTL_UUID_BYTES - 1]++;
	durable->formatting = true;
	ret = aftl_volume_format(&durable->disk.medium, &durable->super, &durable->device.error);
	if (!ret)
		drop_durability_promises_after_format(durable);
	return ret;
}

/* Return true if the open volume is the one that the last attempt to format made. */
static bool was_volume_made_by_last_format(const struct durable_device *durable)
{
	return !memcmp(aftl_volume_get_header(durable->volume)->uuid, durable->super.uuid,
		       AFTL_UUID_BYTES);
}

static int load_durable_device(struct durable_device *durable, const struct aftl_policy_type *type,
			       bool scan)
{
	struct test_device *device = &durable->device;

	return aftl_volume_load(durable->volume, type, &device->config, &device->ops, device, scan,
				&device->ftl, &durable->recovery, &device->error);
}

/* Restore the persisted write buffer. */
static int restore_persisted_buffer(struct durable_device *durable)
{
	struct aftl_buffered_lpn what;
	u32 slot = 0;
	u64 offset;

	memset(durable->buffered, 0, durable->unit_count * sizeof(*durable->buffered));
	while (aftl_volume_get_next_persisted_lpn(durable->volume, &slot, &what, &offset)) {
		u32 tag = aftl_restore_buffered_write(durable->device.ftl, &what);
		u32 unit = from_lpn(what.lpn);
		u32 stamp;
		int ret;

		if (!CHECK_MSG(tag < aftl_count_buffer_tags(durable->device.ftl),
			       "unit %u does not get back into the buffer", unit))
			return -EIO;
		ret = lying_disk_read(&durable->disk, offset, durable->bytes,
				      get_unit_size(durable));
		if (ret || !recognise_unit_pattern(durable, unit, &stamp))
			return ret;
		durable->buffered[unit] = stamp;
		durable->tags[tag] = (struct durable_tag){
			.unit = unit, .stamp = stamp, .held = true, .kept = true,
		};
		aftl_volume_set_plp_slot_of_tag(durable->volume, slot, tag);
	}
	return 0;
}

int durable_load_device(struct durable_device *durable, const char *policy, bool scan)
{
	struct test_device *device = &durable->device;
	int ret = aftl_volume_open(&durable->volume, &durable->disk.medium, &device->error);

	if (ret)
		return ret;
	if (durable->formatting && was_volume_made_by_last_format(durable))
		drop_durability_promises_after_format(durable);
	if (durable->ignore_damage)
		aftl_volume_ignore_damage(durable->volume);
	device->config = durable->super.config;
	register_durable_listener(durable);
	ret = load_durable_device(durable, aftl_policy_find(policy), scan);
	if (ret) {
		durable_stop(durable);
		return ret;
	}
	durable->tags = require_durable_memory(calloc(aftl_count_buffer_tags(device->ftl),
						      sizeof(*durable->tags)));
	ret = restore_persisted_buffer(durable);
	if (ret)
		durable_stop(durable);
	return ret;
}

static void retire_remapped_blocks(struct durable_device *durable)
{
	u32 block = aftl_volume_find_next_remapped_block(durable->volume, 0);

	for (; block != U32_MAX;
	     block = aftl_volume_find_next_remapped_block(durable->volume, block + 1))
		CHECK_EQ(aftl_fail_block(durable->device.ftl, block), 0);
}

int durable_start_device(struct durable_device *durable, const char *policy, bool scan)
{
	struct test_device *device = &durable->device;
	int ret = durable_load_device(durable, policy, scan);

	if (ret)
		return ret;
	test_audit_device(device);
	durable_check_all_data(durable);
	aftl_volume_set_time(durable->volume, aftl_device_time_ns(device->ftl),
			     aftl_get_device_age_ns(device->ftl),
			     aftl_get_policy_state_word(device->ftl));
	ret = aftl_volume_mark_in_use(durable->volume, aftl_policy_find(policy), &device->config);
	if (ret)
		durable_stop(durable);
	else
		retire_remapped_blocks(durable);
	return ret;
}

void durable_stop(struct durable_device *durable)
{
	struct test_device *device = &durable->device;

	while (durable->ops)
		drop_oldest_queued_op(durable);
	drop_waiting_persist_ops(durable, NO_TAG);
	while (durable->promises)
		drop_oldest_durability_promise(durable);
	drop_submitted_flushes(durable);
	aftl_volume_free(durable->volume);
	durable->volume = NULL;
	free(durable->tags);
	durable->tags = NULL;
	memset(durable->lost, 0, durable->slots * sizeof(*durable->lost));
	/* Requests that are in progress at a crash never complete. */
	test_device_close(device);
	device->pending = 0;
	durable->late.pending = false;
	durable->ret = 0;
}

u32 durable_count_buffered_units(const struct durable_device *durable)
{
	u32 units = 0;
	u32 i;

	for (i = 0; i < durable->unit_count; i++)
		units += durable->buffered[i] != 0;
	return units;
}

int durable_drain_all_ops(struct durable_device *durable)
{
	struct test_device *device = &durable->device;

	test_drain_requests(device);
	return durable_execute_ops(durable, U32_MAX);
}

static int close_durable_volume(struct durable_device *durable)
{
	struct test_device *device = &durable->device;
	int ret = test_execute_request(device, AFTL_OP_FLUSH, 0, 0, 0, NULL);

	if (ret && !aftl_buffer_is_lost(device->ftl))
		return ret;
	if (is_write_buffer_persistent(durable)) {
		aftl_set_drain_mode(device->ftl, true);
		while (aftl_has_pending_work(device->ftl) && test_process_event(device))
			;
	}
	aftl_quiesce(device->ftl);
	queue_persist_ops_of_partial_pages(durable);
	ret = durable_execute_ops(durable, U32_MAX);
	if (!ret)
		ret = aftl_volume_close(durable->volume, device->ftl, &device->error);
	return ret;
}

int durable_close_cleanly(struct durable_device *durable)
{
	int ret = durable_drain_all_ops(durable);

	if (!ret)
		ret = close_durable_volume(durable);
	if (!ret) {
		durable->digest = aftl_compute_device_digest(durable->device.ftl);
		durable->snapshot_bytes = aftl_volume_state(durable->volume)->snapshot_bytes;
	}
	durable_stop(durable);
	return ret;
}

void durable_crash(struct durable_device *durable, enum disk_crash crash,
		   struct aftl_random *random)
{
	durable_stop(durable);
	lying_disk_crash(&durable->disk, crash, random);
}
