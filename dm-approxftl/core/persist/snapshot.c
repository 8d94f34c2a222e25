// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots: the complete state of a device as a stream of bytes.
 *
 * The format; all numbers are little-endian:
 *
 *   8 bytes   magic "AFTLSNAP"
 *   u16, u16  major version: 3 if pages are lost, else 2; minor version: 1, in old snapshots 0;
 *             other versions are refused
 *   16 bytes  policy name, padded with zeroes
 *   u32       number of parameters; for each:
 *               u8 length of the key, the key, u64 value in stored units
 *   u64 x 3   device time and age in ns, sequence number
 *   u64       the policy's word, see its method save_state_word()
 *   u32       position of the next LUN in allocation order; then
 *   per class and stream below 4: u32 LUN, u32 logical pages that still go there
 *   for each block:
 *     u8 state, order, kind, flags (1 checkerboard colour, 2 approximate only, 4 failing,
 *       8 fallback block, 16 has pages between approximate ones, 32 wide, 64 parity)
 *     u16 note; u32 programmed, frontier, erases, wear, reads, first hour; u64 opened
 *     if wide, u8 bits in a cell, 0 for all
 *     if pages are programmed, for each page: u8 attributes, or u16 if wide, u16 hours, and for
 *       each ppn: u8 valid (3: lost), u32 lpn and level, and with error models u16 write
 *       generation, u16 inherited errors
 *   for each LUN:
 *     u8 flags (1 relocation found no free block, 2 below the GC reserve since the policy was
 *       changed, 4 emergency GC since the last erase); u32 erases since the last check of the wear
 *       gap; u32 next block to be searched for old data
 *     since minor version 1, of struct aftl_gc_margin: u32 blocks, u32 unused, u32 erases
 *     u32 count and the numbers of its free blocks, oldest first
 *     u32 count and the numbers of its closed blocks in the order of victim search
 *   for each word of the state of the policy and its parts: u8 1 and u64 word; then u8 0
 *   for each zone: u8 state, enum aftl_zone_state; u32 logical pages below its write pointer
 *   with a cached L2P table: u32 translation pages in memory; for each, least recently used first,
 *     then those that wait at each LUN for their eviction: u32 number, u8 flags
 *   u32       CRC-32C of everything before it
 *
 * The L2P table is not stored: it follows from the valid ppns.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/gc-margin.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun-allocation.h"
#include "core/ftl/lun.h"
#include "core/ftl/oob-extra.h"
#include "core/ftl/pause.h"
#include "core/ftl/placement-handle.h"
#include "core/ftl/policy-instance.h"
#include "core/ftl/read-cache.h"
#include "core/ftl/refresh.h"
#include "core/ftl/relocation.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/slc-cache.h"
#include "core/ftl/superblock.h"
#include "core/ftl/translation-page.h"
#include "core/ftl/write-buffer.h"
#include "core/ftl/zone.h"
#include "core/base/encoding.h"
#include "core/hif/dispatch.h"
#include "core/persist/snapshot.h"

static const u8 magic[8] = { 'A', 'F', 'T', 'L', 'S', 'N', 'A', 'P' };

#define NAME_SIZE 16
#define KEY_SIZE 64
#define BUFFER_SIZE 512

enum { FLAG_FLIP = 1, FLAG_APPROX_ONLY = 2, FLAG_FAILING = 4, FLAG_FALLBACK = 8 };
enum { FLAG_BETWEEN = 16, FLAG_WIDE = 32, FLAG_PARITY = 64 };
enum { FLAG_NO_FREE_BLOCK = 1, FLAG_BELOW_RESERVE = 2, FLAG_EMERGENCY = 4 };
/* Write streams whose next LUN a snapshot stores; other streams get a new LUN after the load. */
#define SAVED_STREAMS 4
#define SAVED_LANES (AFTL_CLASSES * SAVED_STREAMS)

enum { FLAG_VALID = 1, FLAG_LOST = 2 };

/*
 * A snapshot that is being written or read. After the first error nothing more is transferred.
 * @minor: minor version of a snapshot that is being read
 * @same: the loaded device has the policy that saved the snapshot.
 */
struct snapshot_stream {
	const struct aftl_snapshot_sink *sink;
	const struct aftl_snapshot_source *source;
	u32 minor;
	bool same;
	u32 crc;
	int ret;
	size_t used;
	u8 buffer[BUFFER_SIZE];
};

static void snapshot_flush_buffer(struct snapshot_stream *stream)
{
	if (!stream->ret && stream->used)
		stream->ret = stream->sink->write(stream->sink->host, stream->buffer,
						  stream->used);
	stream->crc = aftl_crc32c(stream->crc, stream->buffer, stream->used);
	stream->used = 0;
}

static void snapshot_put_number(struct snapshot_stream *stream, u64 value, unsigned int size)
{
	if (stream->used + size > BUFFER_SIZE)
		snapshot_flush_buffer(stream);
	aftl_put_le(stream->buffer + stream->used, value, size);
	stream->used += size;
}

static void snapshot_put_text(struct snapshot_stream *stream, const char *text, size_t size)
{
	while (size--)
		snapshot_put_number(stream, *text ? *text++ : 0, 1);
}

static void snapshot_get_bytes(struct snapshot_stream *stream, void *bytes, size_t size)
{
	memset(bytes, 0, size);
	if (stream->ret)
		return;
	stream->ret = stream->source->read(stream->source->host, bytes, size);
	stream->crc = aftl_crc32c(stream->crc, bytes, size);
}

static u64 snapshot_get_number(struct snapshot_stream *stream, unsigned int size)
{
	u8 bytes[8];

	snapshot_get_bytes(stream, bytes, size);
	return aftl_get_le(bytes, size);
}

/* Saving */

u64 aftl_snapshot_bytes_max(const struct aftl_geometry *geo)
{
	u64 header = 256 + (u64)aftl_param_count() * (1 + KEY_SIZE + 8);
	u64 page = 4 + (u64)geo->page_units * 9;

	return header + geo->blocks * (49 + geo->pages * page) + 32 * (u64)geo->luns +
	       5 * (u64)geo->zones + 4 + 5 * (u64)geo->trans_pages;
}

static void save_config(struct snapshot_stream *stream, const struct aftl *ftl)
{
	unsigned int i;

	snapshot_put_number(stream, aftl_param_count(), 4);
	for (i = 0; i < aftl_param_count(); i++) {
		size_t length = strlen(aftl_param_at(i)->key);

		snapshot_put_number(stream, length, 1);
		snapshot_put_text(stream, aftl_param_at(i)->key, length);
		snapshot_put_number(stream, aftl_param_get(&ftl->config, i), 8);
	}
}

static u32 get_write_stream_of_saved_index(u32 i)
{
	return aftl_get_index_of_write_stream(i / SAVED_STREAMS, i % SAVED_STREAMS);
}

static void let_unsaved_write_streams_choose_lun(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < AFTL_WRITE_STREAMS_MAX; i++)
		if (i >= AFTL_WRITE_STREAMS || i % AFTL_STREAMS >= SAVED_STREAMS)
			ftl->allocation.lanes[i].left = 0;
	for (i = 0; ftl->allocation.groups && i < ftl->config.placement_groups; i++)
		ftl->allocation.groups[i] = (struct aftl_reclaim_group){ 0 };
}

static void save_snapshot_header(struct snapshot_stream *stream, const struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < sizeof(magic); i++)
		snapshot_put_number(stream, magic[i], 1);
	snapshot_put_number(stream,
			    ftl->lost_units ? AFTL_SNAPSHOT_MAJOR_LOST : AFTL_SNAPSHOT_MAJOR, 2);
	snapshot_put_number(stream, AFTL_SNAPSHOT_MINOR, 2);
	snapshot_put_text(stream, ftl->type->name, NAME_SIZE);
	save_config(stream, ftl);
	snapshot_put_number(stream, ftl->now_ns, 8);
	snapshot_put_number(stream, ftl->age_ns, 8);
	snapshot_put_number(stream, ftl->seq, 8);
	snapshot_put_number(stream,
			    ftl->type->save_state_word ?
				    ftl->type->save_state_word(ftl->policy) : 0, 8);
	snapshot_put_number(stream, ftl->allocation.turn, 4);
	for (i = 0; i < SAVED_LANES; i++) {
		snapshot_put_number(stream,
				    ftl->allocation.lanes[get_write_stream_of_saved_index(i)].lun,
				    4);
		snapshot_put_number(stream,
				    ftl->allocation.lanes[get_write_stream_of_saved_index(i)].left,
				    4);
	}
}

static void save_ppn_state(struct snapshot_stream *stream, const struct aftl_media *media,
			   const struct aftl_block *block, u32 slot)
{
	struct aftl_origin origin = aftl_oob_origin(media, block, to_ppn(slot));

	snapshot_put_number(stream,
			    (aftl_ppn_is_valid(media, to_ppn(slot)) ? FLAG_VALID : 0) |
				    (aftl_ppn_is_marked_lost(media, to_ppn(slot)) ? FLAG_LOST : 0),
			    1);
	snapshot_put_number(stream, from_lpn(*aftl_oob_lpn_word(media, to_ppn(slot))), 4);
	if (!aftl_has_error_model(media))
		return;
	snapshot_put_number(stream, origin.generation, 2);
	snapshot_put_number(stream, origin.inherited, 2);
}

/* True if the block needs the wide format: 16-bit attributes, or fewer bits per cell than usual. */
static bool does_block_need_wide_snapshot_format(const struct aftl_media *media,
						 const struct aftl_block *block)
{
	u32 first = aftl_page_number_in_device(media, block, 0);
	u32 page;

	for (page = first; block->programmed && page < first + media->geo->pages; page++)
		if (*aftl_page_attr_ptr(media, page) >> 8)
			return true;
	return block->bits;
}

static void save_pages_of_block(struct snapshot_stream *stream, const struct aftl_media *media,
				const struct aftl_block *block, bool wide)
{
	u32 first = aftl_page_number_in_device(media, block, 0);
	u32 page;
	u32 i;

	for (page = first; page < first + media->geo->pages; page++) {
		snapshot_put_number(stream, *aftl_page_attr_ptr(media, page), wide ? 2 : 1);
		snapshot_put_number(stream,
				    aftl_get_program_timestamp_of_page(media, block, page - first),
				    2);
		for (i = 0; i < media->geo->page_units; i++)
			save_ppn_state(stream, media, block, page * media->geo->page_units + i);
	}
}

static u8 encode_block_flags(const struct aftl_lun *lun, const struct aftl_block *block)
{
	return (aftl_first_checkerboard_colour(block) ? FLAG_FLIP : 0) |
	       (block->approx_only ? FLAG_APPROX_ONLY : 0) | (block->failing ? FLAG_FAILING : 0) |
	       (block == lun->fallback ? FLAG_FALLBACK : 0) | (block->between ? FLAG_BETWEEN : 0) |
	       (block->parity ? FLAG_PARITY : 0);
}

static void save_block(struct snapshot_stream *stream, const struct aftl_media *media,
		       const struct aftl_lun *lun, const struct aftl_block *block)
{
	bool wide = does_block_need_wide_snapshot_format(media, block);

	snapshot_put_number(stream, block->state, 1);
	snapshot_put_number(stream, block->order, 1);
	snapshot_put_number(stream, aftl_encode_block_kind(block->kind, block->handle), 1);
	snapshot_put_number(stream, encode_block_flags(lun, block) | (wide ? FLAG_WIDE : 0), 1);
	snapshot_put_number(stream, block->note, 2);
	snapshot_put_number(stream, block->programmed, 4);
	snapshot_put_number(stream, block->frontier, 4);
	snapshot_put_number(stream, block->erases, 4);
	snapshot_put_number(stream, block->wear, 4);
	snapshot_put_number(stream, block->reads, 4);
	snapshot_put_number(stream, block->first_hour, 4);
	snapshot_put_number(stream, (u64)block->opened_ns, 8);
	if (wide)
		snapshot_put_number(stream, block->bits, 1);
	if (block->programmed)
		save_pages_of_block(stream, media, block, wide);
}

static void save_block_list(struct snapshot_stream *stream, const struct aftl *ftl, u32 head)
{
	for (; head != AFTL_NIL; head = ftl->media.blocks[head].next)
		snapshot_put_number(stream, head, 4);
}

static void save_lun_state(struct snapshot_stream *stream, const struct aftl *ftl,
			   const struct aftl_lun *lun)
{
	u32 closed = 0;
	u32 index;
	u32 i;

	snapshot_put_number(stream,
			    (lun->out_of_blocks ? FLAG_NO_FREE_BLOCK : 0) |
				    (lun->below_reserve ? FLAG_BELOW_RESERVE : 0) |
				    (lun->margin.emergency ? FLAG_EMERGENCY : 0),
			    1);
	snapshot_put_number(stream, lun->wear.due, 4);
	snapshot_put_number(stream, lun->refresh_block, 4);
	snapshot_put_number(stream, lun->margin.blocks, 4);
	snapshot_put_number(stream, lun->margin.unused, 4);
	snapshot_put_number(stream, lun->margin.erases, 4);
	snapshot_put_number(stream, lun->free_blocks, 4);
	save_block_list(stream, ftl, lun->free_head);
	for (i = 0; i <= ftl->geo.block_ppns; i++)
		for (index = lun->victims[i]; index != AFTL_NIL;
		     index = ftl->media.blocks[index].next)
			closed++;
	snapshot_put_number(stream, closed, 4);
	for (i = 0; i <= ftl->geo.block_ppns; i++)
		save_block_list(stream, ftl, lun->victims[i]);
}

/* Save the words of the policy's state, each after a byte 1; a byte 0 ends the list. */
static void save_state_of_policy(struct snapshot_stream *stream, const struct aftl *ftl)
{
	u64 index = 0;
	u64 word;

	while (aftl_policy_instance_save(ftl->policy, index++, &word)) {
		snapshot_put_number(stream, 1, 1);
		snapshot_put_number(stream, word, 8);
	}
	snapshot_put_number(stream, 0, 1);
}

static void save_zones(struct snapshot_stream *stream, const struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.zones; i++) {
		snapshot_put_number(stream, ftl->zones.all[i].state, 1);
		snapshot_put_number(stream, ftl->zones.all[i].written, 4);
	}
}

static void save_translation_page_list(struct snapshot_stream *stream, const struct aftl *ftl,
				       u32 number, u32 count)
{
	for (; count; count--, number = ftl->cmt.all[number].younger) {
		snapshot_put_number(stream, number, 4);
		snapshot_put_number(stream, ftl->cmt.all[number].flags, 1);
	}
}

/* Save the cached translation pages, least recently used first, then the evictions that wait. */
static void save_translation_pages(struct snapshot_stream *stream, const struct aftl *ftl)
{
	u32 i;

	if (!ftl->geo.trans_pages)
		return;
	snapshot_put_number(stream, ftl->cmt.cached, 4);
	save_translation_page_list(stream, ftl, ftl->cmt.oldest,
				   ftl->cmt.cached - ftl->cmt.evicting);
	for (i = 0; i < ftl->geo.luns; i++)
		save_translation_page_list(stream, ftl, ftl->luns[i].evictions.head,
					   ftl->luns[i].evictions.count);
}

static void save_device(struct snapshot_stream *stream, const struct aftl *ftl)
{
	u32 i;

	save_snapshot_header(stream, ftl);
	for (i = 0; !stream->ret && i < ftl->geo.blocks; i++) {
		save_block(stream, &ftl->media, &ftl->luns[i / ftl->geo.blocks_per_lun],
			   &ftl->media.blocks[i]);
		if (!stream->ret)
			stream->ret = aftl_call_pause_callback(ftl);
	}
	for (i = 0; i < ftl->geo.luns; i++)
		save_lun_state(stream, ftl, &ftl->luns[i]);
	save_state_of_policy(stream, ftl);
	save_zones(stream, ftl);
	save_translation_pages(stream, ftl);
	snapshot_flush_buffer(stream);
	snapshot_put_number(stream, ~stream->crc, 4);
	snapshot_flush_buffer(stream);
}

static bool all_luns_are_idle(const struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		if (ftl->luns[i].work.phase != AFTL_PHASE_IDLE && !aftl_lun_is_dead(&ftl->luns[i]))
			return false;
	return true;
}

bool aftl_quiesce_device_by_slice(struct aftl *ftl)
{
	u32 i;

	if (aftl_scheduler_has_work(ftl)) {
		aftl_start_operations_until_slice_ends(ftl);
		return true;
	}
	ftl->suspending = true;
	if (!all_luns_are_idle(ftl)) {
		aftl_process_next_event(ftl, aftl_next_event_ns(ftl));
		return true;
	}
	for (i = 0; i < ftl->geo.luns; i++)
		aftl_cmt_recache_pages_without_fine_pass(ftl, &ftl->luns[i]);
	for (i = 0; i < ftl->geo.luns; i++)
		if (ftl->luns[i].reloc.kind != AFTL_RELOC_NONE)
			aftl_reloc_cancel_task(ftl, &ftl->luns[i]);
	aftl_superblock_cancel_tasks(ftl);
	aftl_refresh_forget_due_blocks(ftl);
	aftl_read_cache_clear(ftl);
	return false;
}

void aftl_quiesce(struct aftl *ftl)
{
	while (aftl_quiesce_device_by_slice(ftl))
		;
}

void aftl_unquiesce_device(struct aftl *ftl)
{
	u32 i;

	ftl->suspending = false;
	for (i = 0; i < ftl->geo.luns; i++)
		ftl->luns[i].idle_exhausted = false;
	aftl_superblock_queue_all_parity(ftl);
	aftl_wake_all_luns(ftl);
	aftl_refresh_set_daily_event(ftl);
	aftl_start_slice_of_lun_operations(ftl);
}

int aftl_save(struct aftl *ftl, const struct aftl_snapshot_sink *sink, struct aftl_error *error)
{
	struct snapshot_stream stream = { .sink = sink, .crc = AFTL_CRC_START };
	bool parked = ftl->suspending;

	if (ftl->requests || aftl_count_writes_in_flight(ftl))
		return aftl_fail(error, -EBUSY,
				 "requests or buffered writes are under way; flush and wait for them first");
	if (ftl->unflushable)
		return aftl_fail(error, -ENOSPC,
				 "no block is left for what the write buffer holds, and what is saved has no place for it");
	aftl_quiesce(ftl);
	let_unsaved_write_streams_choose_lun(ftl);
	save_device(&stream, ftl);
	if (!parked)
		aftl_unquiesce_device(ftl);
	if (stream.ret)
		return aftl_fail(error, stream.ret, stream.ret == -EINTR ?
				 "interrupted while the device was saved" :
				 "the snapshot could not be written");
	return 0;
}

/* Loading */

static int check_snapshot_magic(struct snapshot_stream *stream, struct aftl_error *error)
{
	u8 bytes[sizeof(magic)];
	u32 major;

	snapshot_get_bytes(stream, bytes, sizeof(bytes));
	if (stream->ret || memcmp(bytes, magic, sizeof(magic)) != 0)
		return aftl_fail(error, -EINVAL, "this is not a snapshot of a device");
	major = (u32)snapshot_get_number(stream, 2);
	stream->minor = (u32)snapshot_get_number(stream, 2);
	if (!stream->ret && ((major != AFTL_SNAPSHOT_MAJOR && major != AFTL_SNAPSHOT_MAJOR_LOST) ||
			     stream->minor > AFTL_SNAPSHOT_MINOR))
		return aftl_fail(error, -EINVAL,
				 "the snapshot has format %u.%u, this program reads formats %u and %u with minor versions up to %u",
				 major, stream->minor, AFTL_SNAPSHOT_MAJOR,
				 AFTL_SNAPSHOT_MAJOR_LOST, AFTL_SNAPSHOT_MINOR);
	return 0;
}

static const struct aftl_policy_type *load_policy(struct snapshot_stream *stream)
{
	char name[NAME_SIZE + 1];

	snapshot_get_bytes(stream, name, NAME_SIZE);
	name[NAME_SIZE] = '\0';
	return aftl_policy_find(name);
}

static int load_config_param(struct snapshot_stream *stream, struct aftl_config *config,
			     struct aftl_error *error)
{
	char key[KEY_SIZE + 1];
	u32 length = (u32)snapshot_get_number(stream, 1);
	int index;
	u64 value;

	if (length > KEY_SIZE)
		return aftl_fail(error, -EUCLEAN, "the snapshot is damaged: a key is too long");
	snapshot_get_bytes(stream, key, length);
	key[length] = '\0';
	value = snapshot_get_number(stream, 8);
	index = aftl_param_find(key);
	if (index < 0)
		return aftl_fail(error, -EINVAL,
				 "the snapshot has a parameter that this program does not know");
	if (value < aftl_param_at(index)->smallest || value > aftl_param_at(index)->largest)
		return aftl_fail(error, -EUCLEAN, "the snapshot is damaged: %s is out of range",
				 aftl_param_at(index)->key);
	*aftl_config_param_ptr(config, index) = value;
	return 0;
}

static int load_config(struct snapshot_stream *stream, struct aftl_config *config,
		       struct aftl_error *error)
{
	u32 count = (u32)snapshot_get_number(stream, 4);
	int ret = 0;

	aftl_config_set_defaults_of_absent_params(config);
	if (count > aftl_param_count())
		return aftl_fail(error, -EINVAL,
				 "the snapshot has %u parameters, but this version has %u", count,
				 (u32)aftl_param_count());
	while (!ret && !stream->ret && count--)
		ret = load_config_param(stream, config, error);
	return ret;
}

static int report_bad_snapshot(struct aftl_error *error, const char *what)
{
	return aftl_fail(error, -EUCLEAN, "the snapshot is damaged: %s", what);
}

static int load_ppn_state(struct snapshot_stream *stream, struct aftl *ftl,
			  struct aftl_block *block, u32 slot, struct aftl_error *error)
{
	u8 flags = (u8)snapshot_get_number(stream, 1);
	aftl_lpn_t word = to_lpn((u32)snapshot_get_number(stream, 4));
	u32 unit = from_lpn(aftl_lpn_word_lpn(word));
	u16 attr = aftl_ppn_attr(&ftl->media, to_ppn(slot));

	*aftl_oob_lpn_word(&ftl->media, to_ppn(slot)) = word;
	if (aftl_has_error_model(&ftl->media)) {
		struct aftl_origin origin = { .generation = (u16)snapshot_get_number(stream, 2) };

		origin.inherited = (u16)snapshot_get_number(stream, 2);
		aftl_oob_store_generation_and_errors(ftl, block, to_ppn(slot), origin);
	}
	if (!aftl_can_page_hold_oob_lpn_word(word, attr))
		return report_bad_snapshot(error, "a unit has an impossible level");
	if (!flags)
		return 0;
	if (unit >= aftl_count_mappable_pages(&ftl->geo) || *aftl_l2p_entry(ftl, unit) ||
	    !(attr & AFTL_PAGE_PROGRAMMED))
		return report_bad_snapshot(error, "a unit is stored twice or nowhere");
	aftl_l2p_update(ftl, aftl_block_lun(ftl, block), block, to_lpn(unit), to_ppn(slot),
			aftl_ppn_quality_level(&ftl->media, to_ppn(slot)));
	if (flags & FLAG_LOST)
		aftl_l2p_mark_ppn_lost(ftl, to_ppn(slot));
	return 0;
}

static int load_pages_of_block(struct snapshot_stream *stream, struct aftl *ftl,
			       struct aftl_block *block, bool wide, struct aftl_error *error)
{
	u32 first = aftl_page_number_in_device(&ftl->media, block, 0);
	u32 programmed = 0;
	u32 page;
	u32 i;

	for (page = first; page < first + ftl->geo.pages; page++) {
		u16 attr = (u16)snapshot_get_number(stream, wide ? 2 : 1);

		if (!aftl_page_attr_is_possible(attr))
			return report_bad_snapshot(error, "a page has impossible attributes");
		programmed += attr != 0;
		*aftl_page_attr_ptr(&ftl->media, page) = attr;
		aftl_oob_set_program_timestamp_of_page(ftl, block, page - first,
						       (u16)snapshot_get_number(stream, 2));
		for (i = 0; i < ftl->geo.page_units; i++)
			if (load_ppn_state(stream, ftl, block, page * ftl->geo.page_units + i,
					   error))
				return -EUCLEAN;
		if (stream->ret)
			return stream->ret;
	}
	if (programmed != block->programmed)
		return report_bad_snapshot(error, "a block's page count is wrong");
	return 0;
}

/* Load a block's fields. Return: true if the block is in the wide format. */
static bool load_block_fields(struct snapshot_stream *stream, struct aftl_lun *lun,
			      struct aftl_block *block, bool zoned)
{
	u8 flags;

	block->state = (u8)snapshot_get_number(stream, 1);
	block->order = (u8)snapshot_get_number(stream, 1);
	aftl_decode_block_kind((u8)snapshot_get_number(stream, 1), zoned, &block->kind,
			       &block->handle);
	flags = (u8)snapshot_get_number(stream, 1);
	aftl_set_first_checkerboard_colour(block, flags & FLAG_FLIP);
	block->approx_only = flags & FLAG_APPROX_ONLY ? 1 : 0;
	block->failing = flags & FLAG_FAILING ? 1 : 0;
	block->between = flags & FLAG_BETWEEN ? 1 : 0;
	block->parity = flags & FLAG_PARITY ? 1 : 0;
	if (flags & FLAG_FALLBACK)
		lun->fallback = block;
	block->note = (u16)snapshot_get_number(stream, 2);
	if (!stream->same) {
		block->kind = 0;
		block->note = 0;
	}
	block->programmed = (u32)snapshot_get_number(stream, 4);
	block->frontier = (u32)snapshot_get_number(stream, 4);
	block->erases = (u32)snapshot_get_number(stream, 4);
	block->wear = (u32)snapshot_get_number(stream, 4);
	block->reads = (u32)snapshot_get_number(stream, 4);
	block->first_hour = (u32)snapshot_get_number(stream, 4);
	block->opened_ns = (s64)snapshot_get_number(stream, 8);
	if (flags & FLAG_WIDE)
		block->bits = (u8)snapshot_get_number(stream, 1);
	return flags & FLAG_WIDE;
}

/* Return true if a program of the block may begin at the loaded position (block->frontier). */
static bool is_loaded_program_position_possible(const struct aftl_geometry *geo,
						const struct aftl_block *block)
{
	return block->frontier <= geo->pages &&
	       block->frontier % geo->word_line_pages < aftl_pages_used_per_word_line(geo, block);
}

static bool loaded_block_order_is_possible(const struct aftl_geometry *geo,
					   const struct aftl_block *block)
{
	bool used = block->state == AFTL_BLOCK_OPEN || block->state == AFTL_BLOCK_CLOSED;

	return block->order < AFTL_ORDERS &&
	       (!used || aftl_is_stored_program_order_valid(geo, block->bits, block->order));
}

static bool are_fields_of_loaded_block_valid(const struct aftl *ftl, const struct aftl_block *block)
{
	return block->state <= AFTL_BLOCK_BAD && loaded_block_order_is_possible(&ftl->geo, block) &&
	       block->kind < AFTL_KINDS_MAX && (!block->parity || ftl->config.rain) &&
	       aftl_may_block_have_bits_per_cell(&ftl->geo, block->bits, block->order) &&
	       block->programmed <= aftl_block_usable_pages(&ftl->geo, block) &&
	       is_loaded_program_position_possible(&ftl->geo, block) &&
	       (block->state != AFTL_BLOCK_FREE || (!block->programmed && !block->handle));
}

static int load_block(struct snapshot_stream *stream, struct aftl *ftl, struct aftl_block *block,
		      struct aftl_error *error)
{
	struct aftl_lun *lun = aftl_block_lun(ftl, block);
	bool wide = load_block_fields(stream, lun, block, ftl->geo.zones);

	if (stream->ret)
		return stream->ret;
	if (!are_fields_of_loaded_block_valid(ftl, block) ||
	    (block == lun->fallback && (block->state != AFTL_BLOCK_OPEN || block->parity)))
		return report_bad_snapshot(error, "a block is in an impossible state");
	lun->good_blocks += block->state != AFTL_BLOCK_BAD && !block->parity;
	lun->failing_blocks += block->failing;
	return block->programmed ? load_pages_of_block(stream, ftl, block, wide, error) : 0;
}

static struct aftl_block *load_listed_block(struct snapshot_stream *stream, struct aftl *ftl,
					    const struct aftl_lun *lun, enum aftl_block_state state)
{
	u32 index = (u32)snapshot_get_number(stream, 4);
	struct aftl_block *block;

	if (stream->ret || index / ftl->geo.blocks_per_lun != lun->index)
		return NULL;
	block = &ftl->media.blocks[index];
	return block->state == state && !block->listed && !block->parity ? block : NULL;
}

static bool load_gc_margin(struct snapshot_stream *stream, const struct aftl *ftl,
			   struct aftl_lun *lun, bool emergency)
{
	lun->margin.blocks = (u32)snapshot_get_number(stream, 4);
	lun->margin.unused = (u32)snapshot_get_number(stream, 4);
	lun->margin.erases = (u32)snapshot_get_number(stream, 4);
	lun->margin.emergency = emergency;
	return stream->ret || aftl_gc_margin_is_possible(ftl, &lun->margin);
}

static int load_free_blocks(struct snapshot_stream *stream, struct aftl *ftl, struct aftl_lun *lun,
			    struct aftl_error *error)
{
	u8 flags = (u8)snapshot_get_number(stream, 1);
	u32 count;

	lun->wear.due = (u32)snapshot_get_number(stream, 4);
	lun->refresh_block = (u32)snapshot_get_number(stream, 4);
	if (stream->minor && !load_gc_margin(stream, ftl, lun, flags & FLAG_EMERGENCY))
		return report_bad_snapshot(error, "idle GC keeps an impossible number of blocks");
	count = (u32)snapshot_get_number(stream, 4);
	for (; count && !stream->ret; count--) {
		struct aftl_block *block = load_listed_block(stream, ftl, lun, AFTL_BLOCK_FREE);

		if (!block)
			return report_bad_snapshot(error, "the list of free blocks is wrong");
		aftl_free_list_add_block(ftl, lun, block);
	}
	lun->out_of_blocks = flags & FLAG_NO_FREE_BLOCK;
	lun->below_reserve = flags & FLAG_BELOW_RESERVE;
	return 0;
}

/* Blocks were added at the head of each victim list: restore the saved order. */
static void reverse_victim_lists(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 i;

	for (i = 0; i <= ftl->geo.block_ppns; i++) {
		u32 index = lun->victims[i];

		lun->victims[i] = AFTL_NIL;
		while (index != AFTL_NIL) {
			u32 next = ftl->media.blocks[index].next;

			aftl_victim_list_add(ftl, lun, &ftl->media.blocks[index]);
			index = next;
		}
	}
}

static int load_closed_blocks(struct snapshot_stream *stream, struct aftl *ftl,
			      struct aftl_lun *lun, struct aftl_error *error)
{
	u32 count = (u32)snapshot_get_number(stream, 4);

	for (; count && !stream->ret; count--) {
		struct aftl_block *block = load_listed_block(stream, ftl, lun, AFTL_BLOCK_CLOSED);

		if (!block)
			return report_bad_snapshot(error, "the list of closed blocks is wrong");
		aftl_victim_list_add(ftl, lun, block);
	}
	reverse_victim_lists(ftl, lun);
	return 0;
}

/*
 * A full block must be closed, as no program would close it later. The fallback block belongs to
 * the FTL, an SLC block to the SLC cache; all others need a policy that adopts them.
 */
static bool loaded_block_stays_open(struct aftl *ftl, struct aftl_lun *lun,
				    struct aftl_block *block, bool same)
{
	if (aftl_block_is_full(&ftl->geo, block))
		return false;
	if (block == lun->fallback)
		return true;
	if (block->bits == 1)
		return aftl_slc_cache_adopt_open_block(ftl, lun, block);
	if (block->handle)
		return aftl_adopt_open_handle_block(ftl, lun, block);
	return same && ftl->type->adopt && ftl->type->adopt(ftl->policy, lun, block);
}

/* Close the open blocks of a loaded LUN that neither the core nor the policy will go on filling. */
static int close_unadopted_blocks(struct aftl *ftl, struct aftl_lun *lun, bool same,
				  struct aftl_error *error)
{
	u32 first = lun->index * ftl->geo.blocks_per_lun;
	u32 i;

	for (i = first; i < first + ftl->geo.blocks_per_lun; i++) {
		struct aftl_block *block = &ftl->media.blocks[i];

		if (block->parity)
			continue;
		if (block->state == AFTL_BLOCK_OPEN) {
			if (loaded_block_stays_open(ftl, lun, block, same))
				continue;
			if (block->handle > ftl->handles)
				block->handle = 0;
			aftl_lun_drop_open_block_pointer(lun, block);
			aftl_block_close(ftl, block);
		} else if (block->state == AFTL_BLOCK_CLOSED && block->bits == 1) {
			if (!block->listed)
				aftl_victim_list_add(ftl, lun, block);
		} else if (block->state != AFTL_BLOCK_BAD && !block->listed) {
			return report_bad_snapshot(error, "a block is in no list");
		}
	}
	return 0;
}

static int load_media(struct snapshot_stream *stream, struct aftl *ftl, struct aftl_error *error)
{
	int ret = 0;
	u32 i;

	aftl_block_manager_clear(ftl);
	for (i = 0; !ret && !stream->ret && i < ftl->geo.blocks; i++) {
		ret = load_block(stream, ftl, &ftl->media.blocks[i], error);
		if (!ret && !stream->ret)
			stream->ret = aftl_call_pause_callback(ftl);
	}
	for (i = 0; !ret && !stream->ret && i < ftl->geo.luns; i++) {
		ret = load_free_blocks(stream, ftl, &ftl->luns[i], error);
		if (!ret)
			ret = load_closed_blocks(stream, ftl, &ftl->luns[i], error);
	}
	return ret ? ret : stream->ret;
}

static int load_device_state(struct snapshot_stream *stream, struct aftl *ftl,
			     struct aftl_error *error)
{
	u64 memory;
	u32 i;

	ftl->now_ns = snapshot_get_number(stream, 8);
	ftl->age_ns = snapshot_get_number(stream, 8);
	ftl->seq = snapshot_get_number(stream, 8);
	memory = snapshot_get_number(stream, 8);
	if (stream->same && ftl->type->restore_state_word)
		ftl->type->restore_state_word(ftl->policy, memory);
	ftl->allocation.turn = (u32)snapshot_get_number(stream, 4);
	for (i = 0; i < SAVED_LANES; i++) {
		struct aftl_lane_lun *bind =
			&ftl->allocation.lanes[get_write_stream_of_saved_index(i)];

		bind->lun = (u32)snapshot_get_number(stream, 4);
		bind->left = (u32)snapshot_get_number(stream, 4);
		if (bind->lun >= ftl->geo.luns)
			return report_bad_snapshot(error, "a stream is bound to no LUN");
	}
	/* The sum of device time and age must not overflow. */
	if (ftl->now_ns > AFTL_TIME_MAX || ftl->age_ns > AFTL_TIME_MAX / 2)
		return report_bad_snapshot(error, "its times are impossible");
	return load_media(stream, ftl, error);
}

static void load_state_of_policy(struct snapshot_stream *stream, struct aftl *ftl)
{
	u64 index = 0;

	while (snapshot_get_number(stream, 1) && !stream->ret) {
		u64 word = snapshot_get_number(stream, 8);

		if (stream->same)
			aftl_policy_instance_restore(ftl->policy, index++, word);
	}
	aftl_policy_instance_finish_load(ftl->policy);
}

static bool are_fields_of_loaded_zone_valid(const struct aftl *ftl, const struct aftl_zone *zone)
{
	return zone->state < AFTL_ZONE_STATES && zone->written <= ftl->geo.zone_capacity &&
	       (zone->state != AFTL_ZONE_EMPTY || !zone->written);
}

static int load_zones(struct snapshot_stream *stream, struct aftl *ftl, struct aftl_error *error)
{
	u32 i;

	for (i = 0; i < ftl->geo.zones; i++) {
		struct aftl_zone *zone = &ftl->zones.all[i];

		zone->state = (u8)snapshot_get_number(stream, 1);
		zone->written = (u32)snapshot_get_number(stream, 4);
		if (!are_fields_of_loaded_zone_valid(ftl, zone))
			return report_bad_snapshot(error, "a zone is in an impossible state");
	}
	return 0;
}

static int load_translation_pages(struct snapshot_stream *stream, struct aftl *ftl,
				  struct aftl_error *error)
{
	u32 count = ftl->geo.trans_pages ? (u32)snapshot_get_number(stream, 4) : 0;

	for (; count && !stream->ret; count--) {
		u32 number = (u32)snapshot_get_number(stream, 4);

		if (!aftl_cmt_restore_trans_page(ftl, number, (u8)snapshot_get_number(stream, 1)))
			return report_bad_snapshot(error,
						   "a translation page is in an impossible state");
	}
	return 0;
}

static int check_snapshot_crc(struct snapshot_stream *stream, struct aftl_error *error)
{
	u32 expected = ~stream->crc;

	if (snapshot_get_number(stream, 4) != expected && !stream->ret)
		return report_bad_snapshot(error, "its checksum is wrong");
	return stream->ret;
}

void aftl_start_loaded_device(struct aftl *ftl)
{
	aftl_slc_cache_recount_blocks(ftl);
	aftl_reset_unknown_handles(ftl);
	aftl_block_manager_finish_load(ftl);
	aftl_reset_stats(ftl);
	aftl_unquiesce_device(ftl);
}

static int load_device_after_header(struct snapshot_stream *stream, struct aftl *ftl,
				    struct aftl_error *error)
{
	int ret = load_device_state(stream, ftl, error);
	u32 i;

	load_state_of_policy(stream, ftl);
	if (!ret)
		ret = load_zones(stream, ftl, error);
	if (!ret)
		ret = load_translation_pages(stream, ftl, error);
	if (!ret)
		ret = check_snapshot_crc(stream, error);
	for (i = 0; !ret && i < ftl->geo.luns; i++)
		ret = close_unadopted_blocks(ftl, &ftl->luns[i], stream->same, error);
	if (!ret && !stream->same)
		aftl_block_manager_ensure_fallback_blocks(ftl);
	if (!ret && !aftl_zone_finish_load(ftl))
		ret = report_bad_snapshot(error, "more zones are open or active than may be");
	if (!ret)
		ret = aftl_audit(ftl, error);
	if (!ret)
		aftl_start_loaded_device(ftl);
	return ret;
}

int aftl_snapshot_check_policy_change(const struct aftl_config *config, struct aftl_error *error)
{
	if (!config->map_cache && !config->superblock)
		return 0;
	return aftl_fail(error, -EINVAL, "%s goes on with the policy that it was saved with",
			 config->map_cache ? "map_cache: a device with a cached map" :
			 "superblock: a device with superblocks");
}

static int load_snapshot_header(struct snapshot_stream *stream, struct aftl_config *config,
				const struct aftl_policy_type **type, struct aftl_error *error)
{
	const struct aftl_policy_type *saved;
	int ret = check_snapshot_magic(stream, error);

	if (ret || stream->ret)
		return ret;
	saved = load_policy(stream);
	if (!*type)
		*type = saved;
	stream->same = saved == *type;
	if (!*type && !stream->ret)
		return aftl_fail(error, -EINVAL,
				 "the snapshot was made with a policy that this program does not have");
	ret = load_config(stream, config, error);
	return ret || stream->ret || stream->same ?
		       ret :
		       aftl_snapshot_check_policy_change(config, error);
}

/*
 * Create an empty device from the header. Not inlined: struct aftl_config is large, and must not
 * stay on the stack while the rest is loaded.
 */
static noinline int create_device(struct snapshot_stream *stream, struct aftl **out,
				  const struct aftl_policy_type *type,
				  const struct aftl_config *config, const struct aftl_host_ops *ops,
				  void *host, struct aftl_error *error)
{
	struct aftl_config saved;
	int ret = load_snapshot_header(stream, &saved, &type, error);

	if (!ret && stream->ret)
		ret = aftl_fail(error, stream->ret, "the snapshot ends too early");
	if (!ret && config)
		ret = aftl_config_check(&saved, config, error);
	return ret ? ret : aftl_create(out, config ? config : &saved, type, ops, host, error);
}

int aftl_load_with_policy_and_params(struct aftl **out, const struct aftl_snapshot_source *source,
				     const struct aftl_policy_type *type,
				     const struct aftl_config *config,
				     const struct aftl_host_ops *ops, void *host,
				     struct aftl_error *error)
{
	struct snapshot_stream stream = { .source = source, .crc = AFTL_CRC_START };
	struct aftl *ftl;
	int ret = create_device(&stream, &ftl, type, config, ops, host, error);

	if (ret)
		return ret;
	*out = ftl;
	ret = load_device_after_header(&stream, ftl, error);
	if (stream.ret)
		ret = aftl_fail(error, stream.ret, stream.ret == -EINTR ?
				"interrupted while the device was loaded" :
				"the snapshot ends too early");
	if (ret) {
		*out = NULL;
		aftl_destroy(ftl);
	}
	return ret;
}

int aftl_load(struct aftl **out, const struct aftl_snapshot_source *source,
	      const struct aftl_host_ops *ops, void *host, struct aftl_error *error)
{
	return aftl_load_with_policy_and_params(out, source, NULL, NULL, ops, host, error);
}
