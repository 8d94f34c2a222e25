// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stretches of large tables: of a new volume none has been written. Before anything is put into one
 * all of it is, as formatting does elsewhere; the commit that makes the first entry durable flushes
 * that, and then says that the stretch is begun. Until it has said so, whatever of the entries has
 * reached the medium counts for nothing, which is what may become of them anyway.
 */
#include "core/keep/volume-device.h"

#define STRETCH_BYTES ((size_t)AFTL_STRETCH_FRAMES * AFTL_FRAME_BYTES)

static size_t table_bytes(const struct aftl_volume *volume)
{
	return (size_t)volume->super.layout.stretches * AFTL_FRAME_SECTORS * AFTL_PAYLOAD_BYTES;
}

static bool is_set(const u8 *bits, u64 stretch)
{
	return bits[stretch / 8] >> stretch % 8 & 1;
}

bool aftl_volume_begun(const struct aftl_volume *volume, u64 frame)
{
	return !volume->begun ||
	       is_set(volume->begun, aftl_stretch_of(&volume->super.layout, frame));
}

bool aftl_stretches_take(struct aftl_volume *volume)
{
	const struct aftl_medium *medium = volume->medium;

	if (!volume->super.stretches)
		return true;
	volume->begun = medium->alloc(medium->host, table_bytes(volume));
	volume->settled = medium->alloc(medium->host, table_bytes(volume));
	volume->stretch = medium->alloc(medium->host, STRETCH_BYTES);
	return volume->begun && volume->settled && volume->stretch;
}

static void give(const struct aftl_medium *medium, void *memory, size_t bytes)
{
	if (memory)
		medium->free(medium->host, memory, bytes);
}

void aftl_stretches_give(struct aftl_volume *volume)
{
	give(volume->medium, volume->begun, table_bytes(volume));
	give(volume->medium, volume->settled, table_bytes(volume));
	give(volume->medium, volume->stretch, STRETCH_BYTES);
}

void aftl_seal_frames(const struct aftl_volume *volume, u64 number, u32 frames, u8 *bytes)
{
	u64 sector = number * AFTL_FRAME_SECTORS;
	u32 i;

	for (i = 0; i < frames * AFTL_FRAME_SECTORS; i++)
		aftl_sector_seal(bytes + (size_t)i * AFTL_SECTOR_BYTES, volume->nonce, sector + i);
}

/* The table */

static u64 frame_of(const struct aftl_volume *volume, u32 copy, u32 index)
{
	return AFTL_FRAME_TABLES + (u64)copy * volume->super.layout.stretches + index;
}

static u8 *payload_of(u8 *bits, u32 index, u32 sector)
{
	return bits + ((size_t)index * AFTL_FRAME_SECTORS + sector) * AFTL_PAYLOAD_BYTES;
}

static void add_sector(struct aftl_volume *volume, u32 index, u32 sector)
{
	const u8 *from = volume->scratch + (size_t)sector * AFTL_SECTOR_BYTES;
	u8 *to = payload_of(volume->begun, index, sector);
	u32 i;

	for (i = 0; i < AFTL_PAYLOAD_BYTES; i++)
		to[i] |= from[i];
}

/* Adds what a copy of a frame says. Returns which sectors of it are sound. */
static u32 add_copy(struct aftl_volume *volume, u32 copy, u32 index, int *ret)
{
	const struct aftl_medium *medium = volume->medium;
	u64 frame = frame_of(volume, copy, index);
	u32 sound = 0;
	u32 i;

	*ret = medium->read(medium->host, frame * AFTL_FRAME_BYTES, volume->scratch,
			    AFTL_FRAME_BYTES);
	for (i = 0; !*ret && i < AFTL_FRAME_SECTORS; i++) {
		if (!aftl_sector_sound(volume->scratch + (size_t)i * AFTL_SECTOR_BYTES,
				       volume->nonce, frame * AFTL_FRAME_SECTORS + i))
			continue;
		add_sector(volume, index, i);
		sound |= 1U << i;
	}
	return sound;
}

static int load_frame(struct aftl_volume *volume, u32 index, struct aftl_error *error)
{
	u64 frame = frame_of(volume, 0, index);
	int first;
	int second;
	u32 sound = add_copy(volume, 0, index, &first);
	u32 other = add_copy(volume, 1, index, &second);

	if ((first && !aftl_is_damage(first)) || (second && !aftl_is_damage(second)))
		return aftl_fail(error, first && !aftl_is_damage(first) ? first : second,
				 "frame %llu of the volume cannot be read",
				 (unsigned long long)frame);
	if ((sound | other) != (1U << AFTL_FRAME_SECTORS) - 1)
		return aftl_fail(error, -EUCLEAN,
				 "the volume is damaged: frame %llu, and its copy, which tell what has been written of the tables",
				 (unsigned long long)frame);
	for (; sound | other; sound >>= 1, other >>= 1)
		volume->mend_begun += !(sound & other & 1);
	return 0;
}

int aftl_stretches_load(struct aftl_volume *volume, struct aftl_error *error)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < volume->super.layout.stretches; i++)
		ret = load_frame(volume, i, error);
	aftl_stretches_committed(volume);
	return ret;
}

static int write_copy(struct aftl_volume *volume, u32 copy, u32 index)
{
	const struct aftl_medium *medium = volume->medium;
	u64 frame = frame_of(volume, copy, index);
	u32 i;

	memset(volume->scratch, 0, AFTL_FRAME_BYTES);
	for (i = 0; i < AFTL_FRAME_SECTORS; i++)
		memcpy(volume->scratch + (size_t)i * AFTL_SECTOR_BYTES,
		       payload_of(volume->begun, index, i), AFTL_PAYLOAD_BYTES);
	aftl_seal_frames(volume, frame, 1, volume->scratch);
	return medium->write(medium->host, frame * AFTL_FRAME_BYTES, volume->scratch,
			     AFTL_FRAME_BYTES);
}

static bool has_changed(const struct aftl_volume *volume, u32 index)
{
	return memcmp(payload_of(volume->begun, index, 0), payload_of(volume->settled, index, 0),
		      (size_t)AFTL_FRAME_SECTORS * AFTL_PAYLOAD_BYTES) != 0;
}

int aftl_stretches_write(struct aftl_volume *volume, bool all)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < volume->super.layout.stretches; i++) {
		if (!all && !has_changed(volume, i))
			continue;
		ret = write_copy(volume, 0, i);
		if (!ret)
			ret = write_copy(volume, 1, i);
	}
	return ret;
}

void aftl_stretches_committed(struct aftl_volume *volume)
{
	if (volume->begun)
		memcpy(volume->settled, volume->begun, table_bytes(volume));
	volume->begun_dirty = false;
}

/* Use */

static int begin(struct aftl_volume *volume, u64 stretch)
{
	const struct aftl_layout *layout = &volume->super.layout;
	const struct aftl_medium *medium = volume->medium;
	u64 first = layout->erases + stretch * AFTL_STRETCH_FRAMES;
	u32 frames = (u32)min_t(u64, layout->snapshot - first, AFTL_STRETCH_FRAMES);

	memset(volume->stretch, 0, STRETCH_BYTES);
	aftl_seal_frames(volume, first, frames, volume->stretch);
	volume->begun[stretch / 8] |= (u8)(1U << stretch % 8);
	volume->begun_dirty = true;
	return medium->write(medium->host, first * AFTL_FRAME_BYTES, volume->stretch,
			     frames * AFTL_FRAME_BYTES);
}

int aftl_stretches_new(struct aftl_volume *volume, u64 frame, u8 *bytes)
{
	u64 stretch = volume->begun ? aftl_stretch_of(&volume->super.layout, frame) : 0;
	int ret = 0;

	if (!volume->begun || is_set(volume->settled, stretch))
		return 0;
	if (!is_set(volume->begun, stretch))
		ret = begin(volume, stretch);
	memset(bytes, 0, AFTL_FRAME_BYTES);
	aftl_seal_frames(volume, frame, 1, bytes);
	return ret ? ret : 1;
}
