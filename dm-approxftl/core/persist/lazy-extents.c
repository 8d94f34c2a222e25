// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lazily initialised extents of the metadata tables. Formatting a large volume does not write its
 * tables. A bitmap, in two copies, has a bit for each extent (AFTL_EXTENT_FRAMES frames) that has
 * been initialised; all entries of other extents read as zero, whatever the sectors hold.
 *
 * Before the first entry of an extent changes, all of its frames are written with zeroed entries.
 * The commit that makes the entry durable first flushes these frames and then writes the bit. A
 * crash before that leaves the bit clear, so the entries count as zero: the same as if they had not
 * reached the device.
 */
#include "core/persist/lazy-extents.h"
#include "core/persist/volume-private.h"

#define EXTENT_BYTES ((size_t)AFTL_EXTENT_FRAMES * AFTL_FRAME_BYTES)

static size_t extent_table_bytes(const struct aftl_volume *volume)
{
	return (size_t)volume->header.layout.extent_table_frames * AFTL_FRAME_SECTORS *
	       AFTL_PAYLOAD_BYTES;
}

static bool is_extent_set_in_bitmap(const u8 *bits, u64 extent)
{
	return bits[extent / 8] >> extent % 8 & 1;
}

bool aftl_volume_frame_is_initialised(const struct aftl_volume *volume, u64 frame)
{
	return !volume->initialised ||
	       is_extent_set_in_bitmap(volume->initialised,
				       aftl_extent_of_frame(&volume->header.layout, frame));
}

bool aftl_extents_alloc(struct aftl_volume *volume)
{
	const struct aftl_backing *backing = volume->backing;

	if (!volume->header.lazy_tables)
		return true;
	volume->initialised = backing->alloc(backing->host, extent_table_bytes(volume));
	volume->initialised_committed = backing->alloc(backing->host, extent_table_bytes(volume));
	volume->extent_buffer = backing->alloc(backing->host, EXTENT_BYTES);
	return volume->initialised && volume->initialised_committed && volume->extent_buffer;
}

static void free_extent_memory(const struct aftl_backing *backing, void *memory, size_t bytes)
{
	if (memory)
		backing->free(backing->host, memory, bytes);
}

void aftl_extents_destroy(struct aftl_volume *volume)
{
	free_extent_memory(volume->backing, volume->initialised, extent_table_bytes(volume));
	free_extent_memory(volume->backing, volume->initialised_committed,
			   extent_table_bytes(volume));
	free_extent_memory(volume->backing, volume->extent_buffer, EXTENT_BYTES);
}

void aftl_frames_add_checksums(const struct aftl_volume *volume, u64 number, u32 frames, u8 *bytes)
{
	u64 sector = number * AFTL_FRAME_SECTORS;
	u32 i;

	for (i = 0; i < frames * AFTL_FRAME_SECTORS; i++)
		aftl_sector_add_crc(bytes + (size_t)i * AFTL_SECTOR_BYTES, volume->nonce,
				    sector + i);
}

/* The bitmap */

static u64 get_frame_of_extent_table_copy(const struct aftl_volume *volume, u32 copy, u32 index)
{
	return AFTL_FRAME_TABLES + (u64)copy * volume->header.layout.extent_table_frames + index;
}

static u8 *get_payload_of_extent_table_sector(u8 *bits, u32 index, u32 sector)
{
	return bits + ((size_t)index * AFTL_FRAME_SECTORS + sector) * AFTL_PAYLOAD_BYTES;
}

static void extent_table_merge_sector(struct aftl_volume *volume, u32 index, u32 sector)
{
	const u8 *from = volume->scratch + (size_t)sector * AFTL_SECTOR_BYTES;
	u8 *to = get_payload_of_extent_table_sector(volume->initialised, index, sector);
	u32 i;

	for (i = 0; i < AFTL_PAYLOAD_BYTES; i++)
		to[i] |= from[i];
}

/* Merge one copy of a frame of the extent table. Return a mask of its valid sectors. */
static u32 extent_table_merge_frame_copy(struct aftl_volume *volume, u32 copy, u32 index, int *ret)
{
	const struct aftl_backing *backing = volume->backing;
	u64 frame = get_frame_of_extent_table_copy(volume, copy, index);
	u32 valid = 0;
	u32 i;

	*ret = backing->read(backing->host, frame * AFTL_FRAME_BYTES, volume->scratch,
			     AFTL_FRAME_BYTES);
	for (i = 0; !*ret && i < AFTL_FRAME_SECTORS; i++) {
		if (!aftl_sector_is_sound(volume->scratch + (size_t)i * AFTL_SECTOR_BYTES,
					  volume->nonce, frame * AFTL_FRAME_SECTORS + i))
			continue;
		extent_table_merge_sector(volume, index, i);
		valid |= 1U << i;
	}
	return valid;
}

static int extent_table_load_frame(struct aftl_volume *volume, u32 index, struct aftl_error *error)
{
	u64 frame = get_frame_of_extent_table_copy(volume, 0, index);
	int first;
	int second;
	u32 valid = extent_table_merge_frame_copy(volume, 0, index, &first);
	u32 other = extent_table_merge_frame_copy(volume, 1, index, &second);

	if ((first && !aftl_is_error_of_damaged_sector(first)) ||
	    (second && !aftl_is_error_of_damaged_sector(second)))
		return aftl_fail(error,
				 first && !aftl_is_error_of_damaged_sector(first) ? first : second,
				 "frame %llu of the volume cannot be read",
				 (unsigned long long)frame);
	if ((valid | other) != (1U << AFTL_FRAME_SECTORS) - 1)
		return aftl_fail(error, -EUCLEAN,
				 "the volume is damaged: frame %llu and its copy, which tell what has been written of the tables",
				 (unsigned long long)frame);
	for (; valid | other; valid >>= 1, other >>= 1)
		volume->repair_extents += !(valid & other & 1);
	return 0;
}

int aftl_extents_load(struct aftl_volume *volume, struct aftl_error *error)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < volume->header.layout.extent_table_frames; i++)
		ret = extent_table_load_frame(volume, i, error);
	aftl_extents_mark_committed(volume);
	return ret;
}

static int extent_table_write_frame_copy(struct aftl_volume *volume, u32 copy, u32 index)
{
	const struct aftl_backing *backing = volume->backing;
	u64 frame = get_frame_of_extent_table_copy(volume, copy, index);
	u32 i;

	memset(volume->scratch, 0, AFTL_FRAME_BYTES);
	for (i = 0; i < AFTL_FRAME_SECTORS; i++)
		memcpy(volume->scratch + (size_t)i * AFTL_SECTOR_BYTES,
		       get_payload_of_extent_table_sector(volume->initialised, index, i),
		       AFTL_PAYLOAD_BYTES);
	aftl_frames_add_checksums(volume, frame, 1, volume->scratch);
	return backing->write(backing->host, frame * AFTL_FRAME_BYTES, volume->scratch,
			      AFTL_FRAME_BYTES);
}

static bool extent_table_frame_is_changed(const struct aftl_volume *volume, u32 index)
{
	return memcmp(get_payload_of_extent_table_sector(volume->initialised, index, 0),
		      get_payload_of_extent_table_sector(volume->initialised_committed, index, 0),
		      (size_t)AFTL_FRAME_SECTORS * AFTL_PAYLOAD_BYTES) != 0;
}

int aftl_extents_write(struct aftl_volume *volume, bool all)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < volume->header.layout.extent_table_frames; i++) {
		if (!all && !extent_table_frame_is_changed(volume, i))
			continue;
		ret = extent_table_write_frame_copy(volume, 0, i);
		if (!ret)
			ret = extent_table_write_frame_copy(volume, 1, i);
	}
	return ret;
}

void aftl_extents_mark_committed(struct aftl_volume *volume)
{
	if (volume->initialised)
		memcpy(volume->initialised_committed, volume->initialised,
		       extent_table_bytes(volume));
	volume->initialised_dirty = false;
}

/* Extents */

static int write_zeroed_frames_of_extent(struct aftl_volume *volume, u64 extent)
{
	const struct aftl_layout *layout = &volume->header.layout;
	const struct aftl_backing *backing = volume->backing;
	u64 first = layout->erases + extent * AFTL_EXTENT_FRAMES;
	u32 frames = (u32)min_t(u64, layout->snapshot - first, AFTL_EXTENT_FRAMES);

	memset(volume->extent_buffer, 0, EXTENT_BYTES);
	aftl_frames_add_checksums(volume, first, frames, volume->extent_buffer);
	volume->initialised[extent / 8] |= (u8)(1U << extent % 8);
	volume->initialised_dirty = true;
	return backing->write(backing->host, first * AFTL_FRAME_BYTES, volume->extent_buffer,
			      frames * AFTL_FRAME_BYTES);
}

int aftl_extents_init_extent_of_frame(struct aftl_volume *volume, u64 frame, u8 *bytes)
{
	u64 extent = volume->initialised ? aftl_extent_of_frame(&volume->header.layout, frame) : 0;
	int ret = 0;

	if (!volume->initialised || is_extent_set_in_bitmap(volume->initialised_committed, extent))
		return 0;
	if (!is_extent_set_in_bitmap(volume->initialised, extent))
		ret = write_zeroed_frames_of_extent(volume, extent);
	memset(bytes, 0, AFTL_FRAME_BYTES);
	aftl_frames_add_checksums(volume, frame, 1, bytes);
	return ret ? ret : 1;
}
