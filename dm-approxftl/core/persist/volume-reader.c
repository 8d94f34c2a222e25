// SPDX-License-Identifier: GPL-2.0-only
#include "core/persist/volume-reader.h"

#define READER_CHUNK_BYTES ((size_t)AFTL_READER_CHUNK_FRAMES * AFTL_FRAME_BYTES)

static bool reader_test_bit(const u64 *bits, u64 bit)
{
	return bits[bit / 64] >> bit % 64 & 1;
}

static void reader_set_bit(u64 *bits, u64 bit)
{
	bits[bit / 64] |= 1ULL << bit % 64;
}

static size_t reader_bytes(u32 parts)
{
	return parts * (READER_CHUNK_BYTES + sizeof(struct aftl_reader_chunk));
}

/* The descriptors follow the data in one allocation, because a kernel stack is small. */
static bool reader_alloc_chunks(struct aftl_volume_reader *look, u32 parts)
{
	const struct aftl_backing *backing = look->volume->backing;

	look->parts = parts;
	look->bytes = backing->alloc(backing->host, reader_bytes(parts));
	if (look->bytes)
		look->part = (struct aftl_reader_chunk *)(look->bytes + parts * READER_CHUNK_BYTES);
	return look->bytes;
}

int aftl_volume_reader_open(struct aftl_volume_reader *look, const struct aftl_volume *volume,
			    u64 first, u64 end)
{
	*look = (struct aftl_volume_reader){ .volume = volume, .first = first, .end = end };
	return reader_alloc_chunks(look, AFTL_READER_CHUNKS) || reader_alloc_chunks(look, 1) ?
		       0 :
		       -ENOMEM;
}

static struct aftl_reader_chunk *reader_chunk(struct aftl_volume_reader *look, u64 number)
{
	return &look->part[number & (look->parts - 1)];
}

static u64 reader_chunk_first(const struct aftl_volume_reader *look, u64 number)
{
	return look->first + number * AFTL_READER_CHUNK_FRAMES;
}

static u8 *reader_chunk_bytes(const struct aftl_volume_reader *look,
			      const struct aftl_reader_chunk *part)
{
	return look->bytes + (part->number & (look->parts - 1)) * READER_CHUNK_BYTES;
}

static int reader_wait(const struct aftl_volume_reader *look, struct aftl_reader_chunk *part)
{
	const struct aftl_backing *backing = look->volume->backing;
	void *begun = part->begun;

	part->begun = NULL;
	return backing->end_read(backing->host, begun);
}

void aftl_volume_reader_close(struct aftl_volume_reader *look)
{
	const struct aftl_backing *backing;
	u32 i;

	if (!look->bytes)
		return;
	for (i = 0; i < look->parts; i++)
		if (look->part[i].begun)
			reader_wait(look, &look->part[i]);
	backing = look->volume->backing;
	backing->free(backing->host, look->bytes, reader_bytes(look->parts));
}

/* Start to read chunk @number, in place of one that is not needed any more. */
static void reader_start_chunk(struct aftl_volume_reader *look, u64 number)
{
	const struct aftl_backing *backing = look->volume->backing;
	struct aftl_reader_chunk *part = reader_chunk(look, number);
	u64 first = reader_chunk_first(look, number);

	if (part->begun)
		reader_wait(look, part);
	*part = (struct aftl_reader_chunk){
		.number = number,
		.frames = (u32)min_t(u64, look->end - first, AFTL_READER_CHUNK_FRAMES),
	};
	if (backing->begin_read)
		part->begun = backing->begin_read(backing->host, first * AFTL_FRAME_BYTES,
						  reader_chunk_bytes(look, part),
						  part->frames * AFTL_FRAME_BYTES);
}

static bool reader_has_chunk(struct aftl_volume_reader *look, u64 number)
{
	const struct aftl_reader_chunk *part = reader_chunk(look, number);

	return part->frames && part->number == number;
}

/* Return true if the chunk holds anything but extents that are not initialised. */
static bool reader_chunk_initialised(const struct aftl_volume_reader *look, u64 number)
{
	u64 frame = reader_chunk_first(look, number);
	u64 end = min(look->end, frame + AFTL_READER_CHUNK_FRAMES);

	if (frame >= look->volume->header.layout.snapshot)
		return true;
	for (; frame < end; frame++)
		if (aftl_volume_frame_initialised(look->volume, frame))
			return true;
	return false;
}

/* Start the reads of the chunks behind @number. */
static void reader_read_ahead(struct aftl_volume_reader *look, u64 number)
{
	u64 last = number + look->parts / 2;

	while (++number <= last && reader_chunk_first(look, number) < look->end)
		if (!reader_has_chunk(look, number) && reader_chunk_initialised(look, number))
			reader_start_chunk(look, number);
}

/* Wait for the chunk. After an error its frames are read one by one, as they are needed. */
static void reader_finish_chunk(struct aftl_volume_reader *look, struct aftl_reader_chunk *part)
{
	const struct aftl_backing *backing = look->volume->backing;
	int ret;

	if (part->begun)
		ret = reader_wait(look, part);
	else
		ret = backing->read(backing->host,
				    reader_chunk_first(look, part->number) * AFTL_FRAME_BYTES,
				    reader_chunk_bytes(look, part),
				    part->frames * AFTL_FRAME_BYTES);
	memset(part->there, ret ? 0 : 0xff, sizeof(part->there));
	part->read = true;
}

static int reader_read_frame(const struct aftl_volume_reader *look, struct aftl_reader_chunk *part,
			     u64 number, struct aftl_error *error)
{
	const struct aftl_backing *backing = look->volume->backing;
	u64 index = number - reader_chunk_first(look, part->number);
	int ret = backing->read(backing->host, number * AFTL_FRAME_BYTES,
				reader_chunk_bytes(look, part) + index * AFTL_FRAME_BYTES,
				AFTL_FRAME_BYTES);

	if (ret)
		return aftl_fail(error, ret, "frame %llu of the volume cannot be read",
				 (unsigned long long)number);
	reader_set_bit(part->there, index);
	return 0;
}

/* Return the chunk of frame @number, with that frame read. */
static struct aftl_reader_chunk *reader_get_chunk(struct aftl_volume_reader *look, u64 number,
						  int *ret, struct aftl_error *error)
{
	u64 index = (number - look->first) / AFTL_READER_CHUNK_FRAMES;
	struct aftl_reader_chunk *part = reader_chunk(look, index);

	*ret = 0;
	if (unlikely(!part->read || part->number != index)) {
		if (!reader_has_chunk(look, index))
			reader_start_chunk(look, index);
		reader_read_ahead(look, index);
		reader_finish_chunk(look, part);
	}
	if (unlikely(!reader_test_bit(part->there,
				      (number - look->first) % AFTL_READER_CHUNK_FRAMES)))
		*ret = reader_read_frame(look, part, number, error);
	return *ret ? NULL : part;
}

const u8 *aftl_volume_reader_frame(struct aftl_volume_reader *look, u64 number, int *ret,
				   struct aftl_error *error)
{
	const struct aftl_reader_chunk *part = reader_get_chunk(look, number, ret, error);

	return part ? reader_chunk_bytes(look, part) + (number - look->first) %
							       AFTL_READER_CHUNK_FRAMES *
							       AFTL_FRAME_BYTES :
		      NULL;
}

/* Verify a sector's checksum once, however many of its entries are read. */
static bool reader_sector_sound(const struct aftl_volume_reader *look,
				struct aftl_reader_chunk *part, const u8 *bytes, u64 sector)
{
	u64 index = sector - reader_chunk_first(look, part->number) * AFTL_FRAME_SECTORS;

	if (reader_test_bit(part->sound, index))
		return true;
	if (!aftl_sector_sound(bytes, look->volume->nonce, sector))
		return false;
	reader_set_bit(part->sound, index);
	return true;
}

const u8 *aftl_volume_reader_sector(struct aftl_volume_reader *look, u64 sector, int *ret,
				    struct aftl_error *error)
{
	static const u8 nothing[AFTL_SECTOR_BYTES] = { 0 };
	struct aftl_reader_chunk *part;
	const u8 *bytes;

	*ret = 0;
	if (!aftl_volume_frame_initialised(look->volume, sector / AFTL_FRAME_SECTORS))
		return nothing;
	part = reader_get_chunk(look, sector / AFTL_FRAME_SECTORS, ret, error);
	if (!part)
		return NULL;
	bytes = reader_chunk_bytes(look, part) +
		(sector - reader_chunk_first(look, part->number) * AFTL_FRAME_SECTORS) *
			AFTL_SECTOR_BYTES;
	if (reader_sector_sound(look, part, bytes, sector))
		return bytes;
	*ret = aftl_fail(error, -EUCLEAN, "the volume is damaged: sector %llu has a wrong checksum",
			 (unsigned long long)sector);
	return NULL;
}
