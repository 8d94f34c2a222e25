// SPDX-License-Identifier: GPL-2.0-only
/*
 * A volume in use: opening, changes of table entries in memory, commits, closing, formatting.
 */
#include "core/ftl/command.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/base/encoding.h"
#include "core/ftl/pending-writes.h"
#include "core/persist/lazy-extents.h"
#include "core/persist/plp-buffer.h"
#include "core/persist/remap.h"
#include "core/persist/snapshot.h"
#include "core/persist/volume-private.h"

#define NONE U32_MAX

/* Opening */

u64 aftl_volume_find_bad_sector(const struct aftl_volume *volume, const u8 *bytes, u64 first,
				u32 count)
{
	u64 sector = first * AFTL_FRAME_SECTORS;
	u64 end = sector + (u64)count * AFTL_FRAME_SECTORS;

	for (; sector < end; sector++, bytes += AFTL_SECTOR_BYTES)
		if (!aftl_sector_is_sound(bytes, volume->nonce, sector))
			return sector;
	return U64_MAX;
}

static int volume_read_frame(const struct aftl_volume *volume, u64 number, void *bytes)
{
	return volume->backing->read(volume->backing->host, number * AFTL_FRAME_BYTES, bytes,
				     AFTL_FRAME_BYTES);
}

static int volume_write_frame(const struct aftl_volume *volume, u64 number, const void *bytes)
{
	return volume->backing->write(volume->backing->host, number * AFTL_FRAME_BYTES, bytes,
				      AFTL_FRAME_BYTES);
}

static int volume_flush(const struct aftl_volume *volume)
{
	return volume->backing->flush(volume->backing->host);
}

static int load_header_copy(struct aftl_volume *volume, u32 copy, struct aftl_volume_header *header,
			    struct aftl_error *error)
{
	int ret = volume_read_frame(volume, AFTL_FRAME_HEADER + copy, volume->scratch);

	/*
	 * Translate -ENODATA of the backing device, a read error: the caller would take -ENODATA
	 * for "no volume".
	 */
	if (ret)
		return aftl_fail(error, ret == -ENODATA ? -EIO : ret,
				 "the volume header cannot be read");
	return aftl_volume_header_decode(header, volume->scratch, error);
}

/*
 * Choose the newer of the two copies of the header. The second one is needed when an update was
 * interrupted or the first one cannot be read. It is not consulted if the first one says that this
 * is no volume, or a volume of another version.
 */
static int choose_newer_header(struct aftl_volume *volume, struct aftl_error *error)
{
	struct aftl_volume_header *copy = (struct aftl_volume_header *)volume->bytes;
	struct aftl_error second;
	int ret = load_header_copy(volume, 0, &volume->header, error);
	int other;

	static_assert(sizeof(*copy) <= AFTL_FRAME_BYTES, "the copy fits a frame");
	if (ret == -ENODATA || ret == -EMEDIUMTYPE || ret == -EINVAL)
		return ret;
	other = load_header_copy(volume, 1, copy, &second);
	volume->repair_headers = ret || other || volume->header.generation != copy->generation;
	volume->write_copy_first = other || (!ret && volume->header.generation > copy->generation);
	if (other || (!ret && volume->header.generation >= copy->generation))
		return ret;
	volume->header = *copy;
	return 0;
}

static int report_bad_volume_state(u64 number, int code, struct aftl_error *error)
{
	return aftl_fail(error, code, code == -EUCLEAN ?
			 "the volume is damaged: the state in frame %llu is wrong" :
			 "frame %llu of the volume cannot be read",
			 (unsigned long long)number);
}

static int load_state_copy(struct aftl_volume *volume, u32 parity, struct aftl_volume_state *state,
			   struct aftl_error *error)
{
	u64 number = AFTL_FRAME_STATE + parity;
	int ret = volume_read_frame(volume, number, volume->scratch);

	if (!ret && !aftl_sector_is_sound(volume->scratch, volume->nonce,
					  number * AFTL_FRAME_SECTORS))
		ret = -EUCLEAN;
	if (!ret)
		ret = aftl_volume_state_decode(state, volume->scratch);
	if (!ret && (state->commit & 1) != parity)
		ret = -EUCLEAN;
	return ret ? report_bad_volume_state(number, ret, error) : 0;
}

/*
 * Only one of the volume's two state records can be read, perhaps the older one. Then device time
 * may go back by one commit, the snapshot may be out of date, and the owner of block kinds is
 * unknown. Everything else is in the tables.
 */
static int use_single_readable_state_record(struct aftl_volume *volume,
					    const struct aftl_volume_state *state)
{
	volume->state = *state;
	volume->state.closed = false;
	memset(volume->state.policy, 0, sizeof(volume->state.policy));
	volume->repair_state = true;
	return 0;
}

/* Choose the newer of the two state records. Each is a sector, so a crash leaves one intact. */
static int choose_newer_volume_state(struct aftl_volume *volume, struct aftl_error *error)
{
	struct aftl_volume_state odd = { 0 };
	struct aftl_error second;
	int ret = load_state_copy(volume, 0, &volume->state, error);
	int other = load_state_copy(volume, 1, &odd, ret ? &second : error);

	if (aftl_is_error_of_damaged_sector(ret) && !other)
		return use_single_readable_state_record(volume, &odd);
	if (!ret && aftl_is_error_of_damaged_sector(other))
		return use_single_readable_state_record(volume, &volume->state);
	if (ret || other)
		return ret ? ret : other;
	if (odd.commit + 1 != volume->state.commit && volume->state.commit + 1 != odd.commit)
		return aftl_fail(error, -EUCLEAN,
				 "the volume is damaged: its states are of commits %llu and %llu",
				 (unsigned long long)volume->state.commit,
				 (unsigned long long)odd.commit);
	if (odd.commit > volume->state.commit)
		volume->state = odd;
	return 0;
}

static int check_backing_size(const struct aftl_backing *backing, const struct aftl_layout *layout,
			      struct aftl_error *error)
{
	u64 needed = layout->frames * AFTL_FRAME_BYTES;

	if (backing->bytes < needed)
		return aftl_fail(error, -ENOSPC, "the volume needs %llu bytes, the device has %llu",
				 (unsigned long long)needed, (unsigned long long)backing->bytes);
	return 0;
}

static int load_volume_metadata(struct aftl_volume *volume, struct aftl_error *error)
{
	int ret = choose_newer_header(volume, error);

	if (!ret)
		ret = check_backing_size(volume->backing, &volume->header.layout, error);
	if (!ret)
		ret = aftl_volume_header_set_layout(&volume->header, &volume->geo, error);
	if (!ret && (!aftl_plp_alloc_slots(volume) || !aftl_extents_alloc(volume)))
		ret = aftl_fail(error, -ENOMEM, "not enough memory to open a volume");
	if (ret)
		return ret;
	volume->nonce = aftl_volume_header_nonce(&volume->header);
	ret = choose_newer_volume_state(volume, error);
	return ret ? ret : aftl_extents_load(volume, error);
}

static struct aftl_volume *alloc_volume(const struct aftl_backing *backing)
{
	struct aftl_volume *volume = backing->alloc(backing->host, sizeof(*volume));
	u32 i;

	if (!volume)
		return NULL;
	volume->backing = backing;
	aftl_remap_init(volume);
	for (i = 0; i < AFTL_VOLUME_FRAMES; i++)
		volume->hash[i] = NONE;
	volume->bytes =
		backing->alloc(backing->host, (size_t)AFTL_VOLUME_FRAMES * AFTL_FRAME_BYTES);
	volume->scratch = backing->alloc(backing->host, AFTL_FRAME_BYTES);
	if (volume->bytes && volume->scratch)
		return volume;
	aftl_volume_free(volume);
	return NULL;
}

u64 aftl_volume_memory_bytes(const struct aftl_geometry *geo)
{
	u64 entries = (u64)geo->plp_entries * (sizeof(struct aftl_plp_slot) + sizeof(u32));

	return sizeof(struct aftl_volume) + (u64)(AFTL_VOLUME_FRAMES + 1) * AFTL_FRAME_BYTES +
	       entries + (u64)geo->blocks * geo->pages * sizeof(u64);
}

void aftl_volume_free(struct aftl_volume *volume)
{
	const struct aftl_backing *backing;

	if (!volume)
		return;
	backing = volume->backing;
	aftl_extents_destroy(volume);
	aftl_plp_destroy(volume);
	if (volume->bytes)
		backing->free(backing->host, volume->bytes,
			      (size_t)AFTL_VOLUME_FRAMES * AFTL_FRAME_BYTES);
	if (volume->scratch)
		backing->free(backing->host, volume->scratch, AFTL_FRAME_BYTES);
	backing->free(backing->host, volume, sizeof(*volume));
}

int aftl_volume_open(struct aftl_volume **out, const struct aftl_backing *backing,
		     struct aftl_error *error)
{
	struct aftl_volume *volume = alloc_volume(backing);
	int ret;

	if (!volume)
		return aftl_fail(error, -ENOMEM, "not enough memory to open a volume");
	ret = load_volume_metadata(volume, error);
	if (ret)
		aftl_volume_free(volume);
	else
		*out = volume;
	return ret;
}

const struct aftl_volume_header *aftl_volume_get_header(const struct aftl_volume *volume)
{
	return &volume->header;
}

const struct aftl_volume_state *aftl_volume_state(const struct aftl_volume *volume)
{
	return &volume->state;
}

const struct aftl_geometry *aftl_volume_geometry(const struct aftl_volume *volume)
{
	return &volume->geo;
}

u64 aftl_volume_data_offset(const struct aftl_volume *volume, aftl_ppn_t ppn)
{
	u64 displaced = volume->remap_count ? aftl_remap_data_offset(volume, ppn) : 0;

	return displaced ? displaced :
			   volume->header.layout.data * AFTL_FRAME_BYTES +
				   (u64)from_ppn(ppn) * volume->geo.unit_bytes;
}

/* Cache of table frames */

static u32 *get_hash_chain_of_cached_frame(struct aftl_volume *volume, u64 number)
{
	return &volume->hash[number & (AFTL_VOLUME_FRAMES - 1)];
}

static u8 *cached_frame_data(const struct aftl_volume *volume, u32 index)
{
	return volume->bytes + (size_t)index * AFTL_FRAME_BYTES;
}

static u32 cache_find_frame(struct aftl_volume *volume, u64 number)
{
	u32 index = *get_hash_chain_of_cached_frame(volume, number);

	while (index != NONE && volume->frames[index].number != number)
		index = volume->frames[index].next;
	return index;
}

static void cache_remove_frame(struct aftl_volume *volume, u32 index)
{
	u32 *link = get_hash_chain_of_cached_frame(volume, volume->frames[index].number);

	while (*link != index)
		link = &volume->frames[*link].next;
	*link = volume->frames[index].next;
	volume->frames[index].used = false;
}

/* Free the entry of a cached frame without changes; if all frames have changes, commit first. */
static int cache_take_clean_frame(struct aftl_volume *volume, u32 *index)
{
	int ret = volume->dirty == AFTL_VOLUME_FRAMES ? aftl_volume_commit(volume) : 0;

	if (ret)
		return ret;
	do {
		*index = volume->hand;
		volume->hand = (volume->hand + 1) % AFTL_VOLUME_FRAMES;
	} while (volume->frames[*index].dirty);
	if (volume->frames[*index].used)
		cache_remove_frame(volume, *index);
	return 0;
}

static void cache_insert_frame(struct aftl_volume *volume, u64 number, u32 index)
{
	u32 *chain = get_hash_chain_of_cached_frame(volume, number);

	volume->frames[index] = (struct aftl_frame){
		.number = number,
		.next = *chain,
		.used = true,
	};
	*chain = index;
}

static int read_checked_frame(const struct aftl_volume *volume, u64 number, u8 *bytes)
{
	int ret = volume_read_frame(volume, number, bytes);

	if (!ret && aftl_volume_find_bad_sector(volume, bytes, number, 1) != U64_MAX)
		ret = -EUCLEAN;
	return ret;
}

static int cache_fetch_frame(struct aftl_volume *volume, u64 number, u32 *index)
{
	int ret = cache_take_clean_frame(volume, index);
	u8 *bytes = cached_frame_data(volume, *index);

	if (!ret)
		ret = aftl_extents_init_extent_of_frame(volume, number, bytes);
	if (ret >= 0)
		ret = ret ? 0 : read_checked_frame(volume, number, bytes);
	if (!ret)
		cache_insert_frame(volume, number, *index);
	return ret;
}

/* Add a damaged frame to the cache, read only if @readable; fail if that would need a commit. */
static int cache_fetch_damaged_frame(struct aftl_volume *volume, u64 number, bool readable,
				     u32 *index, struct aftl_error *error)
{
	int ret;

	if (volume->dirty == AFTL_VOLUME_FRAMES)
		return aftl_fail(error, -EUCLEAN,
				 "the volume is damaged: more than %u frames of its tables",
				 AFTL_VOLUME_FRAMES);
	ret = cache_take_clean_frame(volume, index);
	if (!ret && readable)
		ret = volume_read_frame(volume, number, cached_frame_data(volume, *index));
	if (ret)
		return aftl_fail(error, ret, "frame %llu of the volume cannot be read",
				 (unsigned long long)number);
	cache_insert_frame(volume, number, *index);
	return 0;
}

int aftl_volume_rebuild_sector(struct aftl_volume *volume, u64 sector, bool readable, u8 **bytes,
			       struct aftl_error *error)
{
	u64 number = sector / AFTL_FRAME_SECTORS;
	u32 index = cache_find_frame(volume, number);
	int ret = index == NONE ?
			  cache_fetch_damaged_frame(volume, number, readable, &index, error) :
			  0;

	if (ret)
		return ret;
	volume->dirty += !volume->frames[index].dirty;
	volume->frames[index].dirty |= 1U << sector % AFTL_FRAME_SECTORS;
	*bytes = cached_frame_data(volume, index) + sector % AFTL_FRAME_SECTORS * AFTL_SECTOR_BYTES;
	memset(*bytes, 0, AFTL_SECTOR_BYTES);
	return 0;
}

u8 *aftl_volume_modify_table_entry(struct aftl_volume *volume, struct aftl_place place)
{
	u64 number = place.sector / AFTL_FRAME_SECTORS;
	u32 sector = place.sector % AFTL_FRAME_SECTORS;
	u32 index = cache_find_frame(volume, number);

	if (volume->ret)
		return NULL;
	if (index == NONE)
		volume->ret = cache_fetch_frame(volume, number, &index);
	if (volume->ret)
		return NULL;
	volume->dirty += !volume->frames[index].dirty;
	volume->frames[index].dirty |= 1U << sector;
	return cached_frame_data(volume, index) + (size_t)sector * AFTL_SECTOR_BYTES + place.offset;
}

/* The header */

static int write_header_copy(struct aftl_volume *volume, u32 copy)
{
	int ret;

	aftl_volume_header_encode(&volume->header, volume->scratch);
	ret = volume_write_frame(volume, AFTL_FRAME_HEADER + copy, volume->scratch);
	return ret ? ret : volume_flush(volume);
}

/*
 * Write the older or damaged copy of the volume header first, as a crash may destroy it.
 */
static int write_volume_headers(struct aftl_volume *volume)
{
	int ret;

	volume->header.generation++;
	ret = write_header_copy(volume, volume->write_copy_first);
	return ret ? ret : write_header_copy(volume, !volume->write_copy_first);
}

/* Commits */

static int write_dirty_frame(struct aftl_volume *volume, u32 index)
{
	struct aftl_frame *frame = &volume->frames[index];
	u8 *bytes = cached_frame_data(volume, index);
	u32 i;

	for (i = 0; i < AFTL_FRAME_SECTORS; i++)
		if (frame->dirty >> i & 1)
			aftl_sector_add_crc(bytes + (size_t)i * AFTL_SECTOR_BYTES, volume->nonce,
					    frame->number * AFTL_FRAME_SECTORS + i);
	return volume_write_frame(volume, frame->number, bytes);
}

static int write_all_dirty_frames(struct aftl_volume *volume)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < AFTL_VOLUME_FRAMES; i++)
		if (volume->frames[i].dirty)
			ret = write_dirty_frame(volume, i);
	return ret;
}

/*
 * Write changed zone entries (resets and finishes) before all other changed frames. Otherwise data
 * from before and from after a reset could both be there after a crash.
 */
static int write_dirty_zone_frames(struct aftl_volume *volume)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < AFTL_VOLUME_FRAMES; i++) {
		struct aftl_frame *frame = &volume->frames[i];

		if (!frame->dirty || frame->number < volume->header.layout.discards ||
		    frame->number >= volume->header.layout.plp_table)
			continue;
		ret = write_dirty_frame(volume, i);
		frame->dirty = 0;
		volume->dirty--;
	}
	volume->zones_dirty = false;
	return ret ? ret : volume_flush(volume);
}

static int write_volume_state(struct aftl_volume *volume)
{
	u64 number;

	volume->state.commit++;
	number = AFTL_FRAME_STATE + (volume->state.commit & 1);
	memset(volume->scratch, 0, AFTL_FRAME_BYTES);
	aftl_volume_state_encode(&volume->state, volume->scratch);
	aftl_sector_add_crc(volume->scratch, volume->nonce, number * AFTL_FRAME_SECTORS);
	return volume_write_frame(volume, number, volume->scratch);
}

/* Write the remap table before the volume header mentions it. */
static int commit_remap_table(struct aftl_volume *volume)
{
	int ret = aftl_remap_write(volume);

	if (ret || volume->header.remapped)
		return ret;
	volume->header.remapped = true;
	return write_volume_headers(volume);
}

static int commit_volume_changes(struct aftl_volume *volume)
{
	int ret = volume_flush(volume);

	if (!ret && volume->remaps_dirty)
		ret = commit_remap_table(volume);
	if (!ret && volume->initialised_dirty)
		ret = aftl_extents_write(volume, false);
	if (!ret && volume->zones_dirty)
		ret = write_dirty_zone_frames(volume);
	if (!ret)
		ret = write_all_dirty_frames(volume);
	if (!ret)
		ret = write_volume_state(volume);
	return ret ? ret : volume_flush(volume);
}

int aftl_volume_commit(struct aftl_volume *volume)
{
	u32 i;

	if (!volume->ret && volume->dirty)
		volume->ret = commit_volume_changes(volume);
	if (volume->ret)
		return volume->ret;
	for (i = 0; i < AFTL_VOLUME_FRAMES; i++)
		volume->frames[i].dirty = 0;
	volume->dirty = 0;
	volume->uncommitted = false;
	aftl_extents_mark_committed(volume);
	aftl_plp_free_released_slots(volume);
	return 0;
}

/*
 * The data of a buffered page that waits for a PLP slot are not on the backing device. A crash
 * before it gets a slot goes back to the page's version on flash, which two things could destroy:
 *
 * - A relocation of that version, recorded as hidden because the buffer had a newer one. After a
 *   crash recovery ignores a hidden copy and maps its source, wherever that is: so no block may be
 *   erased and no page reprogrammed.
 * - The death of a LUN (@bad), whose blocks are retired. If the version was in one of them, an
 *   older one may have been erased long ago: so no block may be retired.
 */
bool aftl_volume_awaits_plp_slots(const struct aftl_volume *volume, bool bad)
{
	return volume->plp_waiting && (volume->plp_hides || bad);
}

static int check_that_no_op_awaits_plp_slots(const struct aftl_volume *volume, bool bad)
{
	return !volume->ret && aftl_volume_awaits_plp_slots(volume, bad) ? -EAGAIN : volume->ret;
}

int aftl_volume_commit_if_changed(struct aftl_volume *volume)
{
	int ret = check_that_no_op_awaits_plp_slots(volume, false);

	return !ret && volume->uncommitted ? aftl_volume_commit(volume) : ret;
}

void aftl_volume_set_time(struct aftl_volume *volume, u64 now_ns, u64 age_ns, u64 memory)
{
	volume->state.now_ns = now_ns;
	volume->state.age_ns = age_ns;
	volume->state.memory = memory;
}

/* Changes */

/*
 * Return true if @recorded is of the same program as @spare: the page is recorded again only
 * because data in it were lost since.
 */
static bool do_spare_entries_describe_one_program(const struct aftl_spare *spare,
						  const struct aftl_spare *recorded, u32 units)
{
	return recorded->seq && recorded->erases == spare->erases &&
	       recorded->attr == spare->attr &&
	       !memcmp(recorded->word, spare->word, units * sizeof(*spare->word));
}

int aftl_volume_record_program(struct aftl_volume *volume, u32 page, const struct aftl_spare *spare)
{
	struct aftl_spare entry = *spare;
	struct aftl_spare recorded;
	u8 *bytes = aftl_volume_modify_table_entry(volume, aftl_spare_place(&volume->header.layout,
									    &volume->geo, page));

	if (!bytes)
		return volume->ret;
	volume->plp_hides = volume->plp_waiting && (volume->plp_hides || spare->hidden);
	/*
	 * Keep the sequence number and mapping of the recorded entry: with a new number, logical
	 * pages that later programs or discards superseded would be mapped to this page again after
	 * a crash.
	 */
	if (spare->lost && !aftl_spare_entry_decode(&recorded, &volume->geo, bytes) &&
	    do_spare_entries_describe_one_program(spare, &recorded, volume->geo.page_units)) {
		entry.seq = recorded.seq;
		entry.mapped = recorded.mapped;
		entry.hidden = recorded.hidden;
	} else {
		entry.seq = ++volume->state.seq;
	}
	aftl_spare_entry_encode(&entry, &volume->geo, bytes);
	volume->uncommitted = true;
	return 0;
}

int aftl_volume_record_discard(struct aftl_volume *volume, aftl_lpn_t first, u32 units)
{
	u32 unit = from_lpn(first);
	u64 seq = ++volume->state.seq;

	/* Zones have no discards; aftl_volume_record_zone() records their resets. */
	if (volume->geo.zones)
		return volume->ret;

	for (; units; units--, unit++) {
		struct aftl_place at = aftl_discard_place(&volume->header.layout, unit);
		u8 *bytes = aftl_volume_modify_table_entry(volume, at);

		if (!bytes)
			return volume->ret;
		aftl_put_le(bytes, seq, 8);
		volume->uncommitted = true;
	}
	return 0;
}

int aftl_volume_record_zone(struct aftl_volume *volume, u32 zone, enum aftl_zone_state state)
{
	u8 *bytes = aftl_volume_modify_table_entry(volume,
						   aftl_zone_place(&volume->header.layout, zone));
	struct aftl_zone_entry entry;

	if (!bytes)
		return volume->ret;
	if (aftl_zone_entry_decode(&entry, bytes))
		entry.seq = 0;
	entry.state = (u8)state;
	if (state == AFTL_ZONE_EMPTY)
		entry.seq = ++volume->state.seq;
	aftl_zone_entry_encode(&entry, bytes);
	volume->zones_dirty = true;
	volume->uncommitted = true;
	return 0;
}

/*
 * Find a free PLP slot for @lpn. Return -EAGAIN if there is none and @lpn can wait for one. It
 * cannot wait if an older version of it has an entry, which will be released soon: without a newer
 * entry a crash would go back to the data on flash. In this case commit at once: that frees slots.
 */
static int plp_take_free_slot(struct aftl_volume *volume, aftl_lpn_t lpn, u32 *index)
{
	int ret;

	*index = aftl_plp_find_free_slot(volume);
	if (*index < volume->geo.plp_entries)
		return 0;
	if (!aftl_plp_has_lpn(volume, lpn))
		return -EAGAIN;
	ret = aftl_volume_commit(volume);
	*index = aftl_plp_find_free_slot(volume);
	if (!ret && *index == volume->geo.plp_entries)
		ret = -ENOSPC;
	return ret;
}

/* Find the PLP slot of the buffered write @tag, or allocate one. */
static int plp_find_slot(struct aftl_volume *volume, u32 tag, aftl_lpn_t lpn, u32 *index)
{
	u32 at = volume->plp_slot_of[tag];
	int ret;

	*index = at - 1;
	if (at && at != AFTL_PLP_WAITING)
		return 0;
	ret = plp_take_free_slot(volume, lpn, index);
	volume->plp_waiting += (ret == -EAGAIN) - (at == AFTL_PLP_WAITING);
	volume->plp_slot_of[tag] = ret == -EAGAIN ? AFTL_PLP_WAITING : ret ? 0 : *index + 1;
	return ret;
}

int aftl_volume_persist_unit(struct aftl_volume *volume, u32 tag, struct aftl_plp_entry *entry,
			     u64 *offset)
{
	u32 index;
	int ret = plp_find_slot(volume, tag, entry->what.lpn, &index);
	u8 *bytes;

	if (!entry->seq)
		entry->seq = ++volume->state.seq;
	if (ret)
		return ret;
	bytes = aftl_volume_modify_table_entry(volume,
					       aftl_plp_entry_place(&volume->header.layout, index));
	if (!bytes)
		return volume->ret;
	/* A page persisted again after a wait for a PLP slot keeps the newer sequence number. */
	if (volume->plp_slots[index].state == AFTL_PLP_SLOT_USED)
		entry->seq = max(entry->seq, volume->plp_slots[index].entry.seq);
	volume->plp_slots[index].entry = *entry;
	volume->plp_slots[index].state = AFTL_PLP_SLOT_USED;
	aftl_plp_slot_encode(volume, index, bytes);
	volume->uncommitted = true;
	*offset = aftl_plp_slot_offset(volume, index);
	return 0;
}

static int record_block_erase(struct aftl_volume *volume, u32 block,
			      const struct aftl_erase_entry *entry)
{
	u8 *bytes = aftl_volume_modify_table_entry(volume,
						   aftl_erase_place(&volume->header.layout, block));

	if (!bytes)
		return volume->ret;
	aftl_erase_entry_encode(entry, bytes);
	/* A retired block of a dead LUN may hold data: commit its entry before the next erase. */
	volume->uncommitted |= volume->geo.superblock_luns && entry->bad;
	return 0;
}

int aftl_volume_record_retirement(struct aftl_volume *volume, u32 block,
				  const struct aftl_erase_entry *entry)
{
	int ret = check_that_no_op_awaits_plp_slots(volume, true);

	return ret ? ret : record_block_erase(volume, block, entry);
}

int aftl_volume_record_erase(struct aftl_volume *volume, u32 block,
			     const struct aftl_erase_entry *entry)
{
	int ret = aftl_volume_commit_if_changed(volume);

	return ret ? ret : record_block_erase(volume, block, entry);
}

static void set_policy_name(char policy[AFTL_VOLUME_NAME + 1], const char *name)
{
	memset(policy, 0, AFTL_VOLUME_NAME + 1);
	scnprintf(policy, AFTL_VOLUME_NAME + 1, "%s", name);
}

void aftl_volume_ignore_damage(struct aftl_volume *volume)
{
	volume->ignore_damage = true;
}

/*
 * Return true if a page of the same zone program as @page remains mapped. All pages of such a
 * program must keep their entries: recovery drops a zone program if a page has no entry.
 */
static bool zone_program_remains_mapped(struct aftl_volume *volume, u32 page)
{
	const struct aftl_geometry *geo = &volume->geo;
	u32 first = page - page % geo->pages % geo->program_pages;
	bool mapped = false;
	u32 i;

	for (i = first; geo->zones && !mapped && i < first + geo->program_pages; i++) {
		struct aftl_place at = aftl_spare_place(&volume->header.layout, geo, i);
		const u8 *bytes = aftl_volume_modify_table_entry(volume, at);
		struct aftl_spare spare;

		if (!bytes)
			return false;
		mapped = !aftl_spare_entry_decode(&spare, geo, bytes) && spare.seq &&
			 spare.mapped & ~aftl_volume_get_invalid_ppns_of_page(volume, i);
	}
	return mapped;
}

/*
 * Clear @dropped bits of the page's mapping. An entry that maps nothing is cleared altogether,
 * unless its zone program needs it.
 */
static int invalidate_ppns_in_page(struct aftl_volume *volume, u32 page, u16 dropped)
{
	bool needed = zone_program_remains_mapped(volume, page);
	struct aftl_place at = aftl_spare_place(&volume->header.layout, &volume->geo, page);
	u8 *bytes = aftl_volume_modify_table_entry(volume, at);
	struct aftl_spare spare;

	if (!bytes)
		return volume->ret;
	if (aftl_spare_entry_decode(&spare, &volume->geo, bytes) || !spare.seq)
		return 0;
	spare.mapped &= ~dropped;
	if (spare.mapped || needed)
		aftl_spare_entry_encode(&spare, &volume->geo, bytes);
	else
		memset(bytes, 0, aftl_spare_entry_size(&volume->geo));
	volume->uncommitted = true;
	return 0;
}

static int write_spare_entries_of_invalid_ppns(struct aftl_volume *volume)
{
	u32 pages = volume->geo.blocks * volume->geo.pages;
	int ret = 0;
	u32 i;

	for (i = 0; volume->invalidated && !ret && i < pages; i++) {
		u16 dropped = aftl_volume_get_invalid_ppns_of_page(volume, i);

		if (dropped)
			ret = invalidate_ppns_in_page(volume, i, dropped);
	}
	aftl_volume_free_invalidated_bitmap(volume);
	return ret;
}

int aftl_volume_write_repaired_metadata(struct aftl_volume *volume)
{
	int ret = write_spare_entries_of_invalid_ppns(volume);

	if (!ret)
		ret = aftl_volume_commit(volume);

	if (!ret && volume->repair_headers)
		ret = write_volume_headers(volume);
	if (!ret && volume->repair_extents)
		ret = aftl_extents_write(volume, true);
	if (!ret && volume->repair_state)
		ret = write_volume_state(volume);
	if (!ret && (volume->repair_state || volume->repair_extents))
		ret = volume_flush(volume);
	volume->ret = ret;
	if (ret)
		return ret;
	volume->repair_headers = false;
	volume->repair_state = false;
	volume->repair_extents = 0;
	return 0;
}

/* Record the policy that changes the volume from now on. */
static void volume_state_set_policy(struct aftl_volume_state *state, const char *name)
{
	state->closed = false;
	if (!strcmp(state->policy, name))
		return;
	set_policy_name(state->policy, name);
	state->policy_seq = state->seq;
}

int aftl_volume_mark_in_use(struct aftl_volume *volume, const struct aftl_policy_type *type,
			    const struct aftl_config *config)
{
	struct aftl_volume_header *header = &volume->header;
	/* Rebuilt sectors are durable before a state record says that the volume is in use. */
	int ret = write_spare_entries_of_invalid_ppns(volume);

	if (!ret)
		ret = aftl_volume_commit(volume);
	if (!ret && (strcmp(header->policy, type->name) != 0 ||
		     memcmp(&header->config, config, sizeof(*config)) != 0)) {
		set_policy_name(header->policy, type->name);
		header->config = *config;
		ret = write_volume_headers(volume);
	}
	if (!ret && volume->repair_extents)
		ret = aftl_extents_write(volume, true);
	volume_state_set_policy(&volume->state, type->name);
	if (!ret)
		ret = write_volume_state(volume);
	if (!ret)
		ret = volume_flush(volume);
	volume->ret = ret;
	return ret;
}

/* Closing */

/* Output of a snapshot to the volume, frame by frame. */
struct snapshot_writer {
	struct aftl_volume *volume;
	u64 bytes;
};

static u64 get_snapshot_frame(const struct aftl_volume *volume, u64 bytes)
{
	return volume->header.layout.snapshot + bytes / AFTL_FRAME_BYTES;
}

static int write_snapshot_bytes(void *host, const void *data, size_t size)
{
	struct snapshot_writer *writer = host;
	struct aftl_volume *volume = writer->volume;
	const u8 *bytes = data;
	int ret = 0;

	while (!ret && size) {
		u32 offset = writer->bytes % AFTL_FRAME_BYTES;
		size_t part = min(size, (size_t)(AFTL_FRAME_BYTES - offset));

		memcpy(volume->scratch + offset, bytes, part);
		if (offset + part == AFTL_FRAME_BYTES)
			ret = volume_write_frame(volume, get_snapshot_frame(volume, writer->bytes),
						 volume->scratch);
		writer->bytes += part;
		bytes += part;
		size -= part;
	}
	return ret;
}

static int finish_snapshot_write(struct snapshot_writer *writer)
{
	u32 used = writer->bytes % AFTL_FRAME_BYTES;

	if (!used)
		return 0;
	memset(writer->volume->scratch + used, 0, AFTL_FRAME_BYTES - used);
	return volume_write_frame(writer->volume, get_snapshot_frame(writer->volume, writer->bytes),
				  writer->volume->scratch);
}

/* The snapshot overwrites the remap table, so no header may refer to the table any more. */
static int discard_remap_table(struct aftl_volume *volume, struct aftl_error *error)
{
	int ret;

	if (!volume->header.remapped)
		return 0;
	volume->header.remapped = false;
	ret = write_volume_headers(volume);
	return ret ? aftl_fail(error, ret, "the volume could not be written") : 0;
}

static int save_snapshot(struct aftl_volume *volume, struct aftl *ftl, struct aftl_error *error)
{
	struct snapshot_writer writer = { .volume = volume };
	struct aftl_snapshot_sink sink = { .write = write_snapshot_bytes, .host = &writer };
	int ret = discard_remap_table(volume, error);

	if (!ret)
		ret = aftl_save(ftl, &sink, error);
	if (!ret)
		ret = finish_snapshot_write(&writer);
	if (!ret)
		ret = volume_flush(volume);
	volume->state.snapshot_bytes = writer.bytes;
	return ret;
}

int aftl_volume_close(struct aftl_volume *volume, struct aftl *ftl, struct aftl_error *error)
{
	int ret = aftl_volume_commit(volume);

	if (ret)
		return aftl_fail(error, ret, "the volume could not be written");
	/*
	 * Save no snapshot if there are remapped data, which use its area, or buffered data, which
	 * it would not contain. The next load recovers from the tables, as after a crash.
	 */
	if (volume->remap_count || aftl_plp_count_used_slots(volume))
		return 0;
	ret = save_snapshot(volume, ftl, error);
	if (ret)
		return ret;
	volume->state.closed = true;
	ret = write_volume_state(volume);
	if (!ret)
		ret = volume_flush(volume);
	volume->ret = ret;
	return ret ? aftl_fail(error, ret, "the volume could not be written") : 0;
}

/* Formatting */

/* Bytes of the write buffer for which the volume has slots. */
static u64 plp_buffer_bytes(const struct aftl_config *config)
{
	return config->buffer_safe || config->zoned ? config->buffer : 0;
}

int aftl_volume_config_check(const struct aftl_config *made, const struct aftl_config *wanted,
			     struct aftl_error *error)
{
	int ret = aftl_config_check(made, wanted, error);

	if (ret || plp_buffer_bytes(made) == plp_buffer_bytes(wanted))
		return ret;
	return aftl_fail(error, -EINVAL,
			 "buffer, buffer_safe: a volume has a place for a write buffer that survives a power failure, of %llu bytes; that is as it was formatted",
			 (unsigned long long)plp_buffer_bytes(made));
}

/* Clear both headers first: an interrupted format leaves no volume. */
static int wipe_volume_headers(struct aftl_volume *volume)
{
	u32 copy;
	int ret = 0;

	memset(volume->scratch, 0, AFTL_FRAME_BYTES);
	for (copy = 0; !ret && copy < 2; copy++)
		ret = volume_write_frame(volume, AFTL_FRAME_HEADER + copy, volume->scratch);
	return ret ? ret : volume_flush(volume);
}

/* Clear many frames in one write: a volume of 4 TiB has ten million frames. */
static int clear_volume_tables(struct aftl_volume *volume)
{
	const struct aftl_backing *backing = volume->backing;
	u64 end = volume->header.layout.snapshot;
	u64 number = volume->header.layout.erases;
	int ret = 0;

	if (volume->initialised)
		return aftl_extents_write(volume, true);
	memset(volume->bytes, 0, (size_t)AFTL_VOLUME_FRAMES * AFTL_FRAME_BYTES);
	while (!ret && number < end) {
		u32 frames = (u32)min_t(u64, end - number, AFTL_VOLUME_FRAMES);

		aftl_frames_add_checksums(volume, number, frames, volume->bytes);
		ret = backing->write(backing->host, number * AFTL_FRAME_BYTES, volume->bytes,
				     frames * AFTL_FRAME_BYTES);
		number += frames;
	}
	return ret;
}

/* Record the wear and the bad blocks of a new device. */
static int record_factory_bad_blocks(struct aftl_volume *volume, const struct aftl *ftl)
{
	struct aftl_erase_entry entry;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < volume->geo.blocks; i++) {
		aftl_erase_entry_describe_block(&entry, ftl, i);
		if (entry.erases || entry.wear || entry.bad)
			ret = record_block_erase(volume, i, &entry);
	}
	return ret;
}

/* The header is written last: without it there is no volume. */
static int write_new_volume(struct aftl_volume *volume, const struct aftl *ftl)
{
	int ret = wipe_volume_headers(volume);

	if (!ret)
		ret = clear_volume_tables(volume);
	if (!ret)
		ret = record_factory_bad_blocks(volume, ftl);
	if (!ret)
		ret = aftl_volume_commit(volume);
	if (!ret)
		ret = write_volume_state(volume);
	if (!ret)
		ret = write_volume_state(volume);
	if (!ret)
		ret = volume_flush(volume);
	return ret ? ret : write_volume_headers(volume);
}

static int format_backing_device(struct aftl_volume *volume,
				 const struct aftl_volume_header *header, const struct aftl *ftl)
{
	volume->header = *header;
	volume->geo = ftl->geo;
	if (!aftl_plp_alloc_slots(volume) || !aftl_extents_alloc(volume))
		return -ENOMEM;
	volume->nonce = aftl_volume_header_nonce(header);
	volume->header.generation = 0;
	memcpy(volume->state.policy, header->policy, sizeof(header->policy));
	aftl_volume_set_time(volume, aftl_device_time_ns(ftl), aftl_get_device_age_ns(ftl),
			     aftl_get_policy_state_word(ftl));
	return write_new_volume(volume, ftl);
}

static int check_volume_fits(const struct aftl_backing *backing, struct aftl_volume_header *header,
			     const struct aftl *ftl, struct aftl_error *error)
{
	int ret = aftl_layout_init(&header->layout, &ftl->geo, error);

	if (ret)
		return ret;
	if (header->lazy_tables)
		aftl_layout_add_extents(&header->layout);
	if (header->config.fill)
		return aftl_fail(error, -EINVAL,
				 "fill: a volume holds real data and cannot start filled; write it once instead");
	return check_backing_size(backing, &header->layout, error);
}

/* Create a new device to get its geometry and bad blocks. */
static int create_unused_device(struct aftl **out, const struct aftl_backing *backing,
				const struct aftl_volume_header *header, struct aftl_host_ops *ops,
				struct aftl_error *error)
{
	const struct aftl_policy_type *type = aftl_policy_find(header->policy);
	struct aftl_config own;

	if (!type) {
		aftl_fail(error, -EINVAL, "there is no policy \"%s\"", header->policy);
		return -EINVAL;
	}
	aftl_derive_shard_config(&own, &header->config, header->shard);
	*ops = (struct aftl_host_ops){ .alloc = backing->alloc, .free = backing->free };
	return aftl_create(out, &own, type, ops, backing->host, error);
}

static int create_and_format_volume(const struct aftl_backing *backing,
				    struct aftl_volume_header *header, const struct aftl *ftl,
				    struct aftl_error *error)
{
	struct aftl_volume *volume = alloc_volume(backing);
	int ret;

	if (!volume)
		return aftl_fail(error, -ENOMEM, "not enough memory to make a volume");
	ret = format_backing_device(volume, header, ftl);
	if (ret)
		ret = aftl_fail(error, ret, "the volume could not be written");
	header->generation = volume->header.generation;
	aftl_volume_free(volume);
	return ret;
}

int aftl_volume_format(const struct aftl_backing *backing, struct aftl_volume_header *header,
		       struct aftl_error *error)
{
	struct aftl_host_ops ops;
	struct aftl *ftl;
	int ret = create_unused_device(&ftl, backing, header, &ops, error);

	if (ret)
		return ret;
	ret = check_volume_fits(backing, header, ftl, error);
	if (!ret)
		ret = create_and_format_volume(backing, header, ftl, error);
	aftl_destroy(ftl);
	return ret;
}

/* Return true if the write buffer has a newer version of the page, persisted now or later. */
static bool is_newer_version_of_ppn_buffered(const struct aftl *ftl, aftl_ppn_t ppn)
{
	u32 newest = aftl_pending_find_newest_write(ftl, aftl_ppn_lpn(&ftl->media, ppn));

	return newest != AFTL_NIL &&
	       !(ftl->commands[newest].flags & (AFTL_COMMAND_SUPERSEDED | AFTL_COMMAND_STORED));
}

static bool is_valid_ppn_hidden_by_buffered_write(const struct aftl *ftl, aftl_ppn_t ppn)
{
	return ftl->geo.plp_entries && aftl_ppn_is_valid(&ftl->media, ppn) &&
	       is_newer_version_of_ppn_buffered(ftl, ppn);
}

void aftl_init_spare_entry(struct aftl_spare *spare, const struct aftl *ftl, aftl_ppn_t first)
{
	const struct aftl_media *media = &ftl->media;
	const struct aftl_block *block = aftl_block_of_ppn(media, first);
	u32 page = aftl_page_of_ppn(media, first);
	u32 i;

	*spare = (struct aftl_spare){
		.opened_ns = (u64)block->opened_ns,
		.erases = block->erases,
		.wear = block->wear,
		.first_hour = block->first_hour,
		.hours = aftl_get_program_timestamp_of_page(media, block, page % ftl->geo.pages),
		.note = block->note,
		.attr = *aftl_page_attr_ptr(media, page),
		.order = block->order,
		.kind = block->kind,
		.handle = block->handle,
		.bits = block->bits,
		.flip = aftl_first_checkerboard_colour(block),
		.parity = block->parity,
	};
	for (i = 0; i < ftl->geo.page_units; i++) {
		aftl_ppn_t ppn = to_ppn(from_ppn(first) + i);

		spare->hidden |= is_valid_ppn_hidden_by_buffered_write(ftl, ppn) << i;
		spare->mapped |= aftl_ppn_is_valid(media, ppn) << i;
		spare->lost |= aftl_ppn_is_marked_lost(media, ppn) << i;
		spare->word[i] = *aftl_oob_lpn_word(media, ppn);
		spare->origin[i] = aftl_oob_origin(media, block, ppn);
	}
	spare->mapped &= ~spare->hidden;
}

void aftl_erase_entry_describe_block(struct aftl_erase_entry *entry, const struct aftl *ftl,
				     u32 index)
{
	const struct aftl_block *block = &ftl->media.blocks[index];
	const struct aftl_lun *lun = &ftl->luns[index / ftl->geo.blocks_per_lun];

	*entry = (struct aftl_erase_entry){
		.erases = block->erases,
		.wear = block->wear,
		.bad = block->state == AFTL_BLOCK_BAD,
		.flip = aftl_first_checkerboard_colour(block),
		.dead = aftl_lun_is_dead(lun),
	};
}

u64 aftl_get_policy_state_word(const struct aftl *ftl)
{
	return ftl->type->save_state_word ? ftl->type->save_state_word(ftl->policy) : 0;
}

u64 aftl_get_device_age_ns(const struct aftl *ftl)
{
	return ftl->age_ns;
}
