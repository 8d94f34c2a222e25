// SPDX-License-Identifier: GPL-2.0-only
#include "core/persist/volume-reader.h"

#define READER_CHUNK_BYTES ((size_t)AFTL_READER_CHUNK_FRAMES * AFTL_FRAME_BYTES)

static bool test_bit_of_bitmap(const u64 *bits, u64 bit)
{
	return bits[bit / 64] >> bit % 64 & 1;
}

static void set_bit_of_bitmap(u64 *bits, u64 bit)
{
	bits[bit / 64] |= 1ULL << bit % 64;
}

static size_t reader_memory_bytes(u32 chunks)
{
	return chunks * (READER_CHUNK_BYTES + sizeof(struct aftl_reader_chunk));
}

/* Chunk descriptors of a reader follow its data in one allocation: a kernel stack is too small. */
static bool reader_alloc_chunks(struct aftl_volume_reader *reader, u32 chunks)
{
	const struct aftl_backing *backing = reader->volume->backing;

	reader->chunks = chunks;
	reader->bytes = backing->alloc(backing->host, reader_memory_bytes(chunks));
	if (reader->bytes)
		reader->chunk =
			(struct aftl_reader_chunk *)(reader->bytes + chunks * READER_CHUNK_BYTES);
	return reader->bytes;
}

int aftl_volume_reader_open(struct aftl_volume_reader *reader, const struct aftl_volume *volume,
			    u64 first, u64 end)
{
	*reader = (struct aftl_volume_reader){ .volume = volume, .first = first, .end = end };
	return reader_alloc_chunks(reader, AFTL_READER_CHUNKS) || reader_alloc_chunks(reader, 1) ?
		       0 :
		       -ENOMEM;
}

static struct aftl_reader_chunk *reader_chunk(struct aftl_volume_reader *reader, u64 number)
{
	return &reader->chunk[number & (reader->chunks - 1)];
}

static u64 reader_chunk_first_frame(const struct aftl_volume_reader *reader, u64 number)
{
	return reader->first + number * AFTL_READER_CHUNK_FRAMES;
}

static u8 *reader_chunk_bytes(const struct aftl_volume_reader *reader,
			      const struct aftl_reader_chunk *chunk)
{
	return reader->bytes + (chunk->number & (reader->chunks - 1)) * READER_CHUNK_BYTES;
}

static int reader_wait_for_chunk(const struct aftl_volume_reader *reader,
				 struct aftl_reader_chunk *chunk)
{
	const struct aftl_backing *backing = reader->volume->backing;
	void *pending = chunk->pending;

	chunk->pending = NULL;
	return backing->end_read(backing->host, pending);
}

void aftl_volume_reader_close(struct aftl_volume_reader *reader)
{
	const struct aftl_backing *backing;
	u32 i;

	if (!reader->bytes)
		return;
	for (i = 0; i < reader->chunks; i++)
		if (reader->chunk[i].pending)
			reader_wait_for_chunk(reader, &reader->chunk[i]);
	backing = reader->volume->backing;
	backing->free(backing->host, reader->bytes, reader_memory_bytes(reader->chunks));
}

/* Start to read chunk @number; it takes the memory of a chunk that is not needed any more. */
static void reader_start_chunk_read(struct aftl_volume_reader *reader, u64 number)
{
	const struct aftl_backing *backing = reader->volume->backing;
	struct aftl_reader_chunk *chunk = reader_chunk(reader, number);
	u64 first = reader_chunk_first_frame(reader, number);

	if (chunk->pending)
		reader_wait_for_chunk(reader, chunk);
	*chunk = (struct aftl_reader_chunk){
		.number = number,
		.frames = (u32)min_t(u64, reader->end - first, AFTL_READER_CHUNK_FRAMES),
	};
	if (backing->begin_read)
		chunk->pending = backing->begin_read(backing->host, first * AFTL_FRAME_BYTES,
						     reader_chunk_bytes(reader, chunk),
						     chunk->frames * AFTL_FRAME_BYTES);
}

static bool reader_holds_chunk(struct aftl_volume_reader *reader, u64 number)
{
	const struct aftl_reader_chunk *chunk = reader_chunk(reader, number);

	return chunk->frames && chunk->number == number;
}

/* Return true if a frame of the chunk is in an initialised extent or behind the tables. */
static bool reader_chunk_has_data(const struct aftl_volume_reader *reader, u64 number)
{
	u64 frame = reader_chunk_first_frame(reader, number);
	u64 end = min(reader->end, frame + AFTL_READER_CHUNK_FRAMES);

	if (frame >= reader->volume->header.layout.snapshot)
		return true;
	for (; frame < end; frame++)
		if (aftl_volume_frame_is_initialised(reader->volume, frame))
			return true;
	return false;
}

/* Start the reads of the chunks behind @number. */
static void reader_read_ahead(struct aftl_volume_reader *reader, u64 number)
{
	u64 last = number + reader->chunks / 2;

	while (++number <= last && reader_chunk_first_frame(reader, number) < reader->end)
		if (!reader_holds_chunk(reader, number) && reader_chunk_has_data(reader, number))
			reader_start_chunk_read(reader, number);
}

/* Wait for the read of a chunk. After an error the frames of the chunk are read one by one. */
static void reader_end_chunk_read(struct aftl_volume_reader *reader,
				  struct aftl_reader_chunk *chunk)
{
	const struct aftl_backing *backing = reader->volume->backing;
	int ret;

	if (chunk->pending)
		ret = reader_wait_for_chunk(reader, chunk);
	else
		ret = backing->read(backing->host,
				    reader_chunk_first_frame(reader, chunk->number) *
					    AFTL_FRAME_BYTES,
				    reader_chunk_bytes(reader, chunk),
				    chunk->frames * AFTL_FRAME_BYTES);
	memset(chunk->present, ret ? 0 : 0xff, sizeof(chunk->present));
	chunk->read = true;
}

static int reader_read_frame(const struct aftl_volume_reader *reader,
			     struct aftl_reader_chunk *chunk, u64 number, struct aftl_error *error)
{
	const struct aftl_backing *backing = reader->volume->backing;
	u64 index = number - reader_chunk_first_frame(reader, chunk->number);
	int ret = backing->read(backing->host, number * AFTL_FRAME_BYTES,
				reader_chunk_bytes(reader, chunk) + index * AFTL_FRAME_BYTES,
				AFTL_FRAME_BYTES);

	if (ret)
		return aftl_fail(error, ret, "frame %llu of the volume cannot be read",
				 (unsigned long long)number);
	set_bit_of_bitmap(chunk->present, index);
	return 0;
}

/* Return the chunk of frame @number, with that frame read. */
static struct aftl_reader_chunk *reader_get_chunk(struct aftl_volume_reader *reader, u64 number,
						  int *ret, struct aftl_error *error)
{
	u64 index = (number - reader->first) / AFTL_READER_CHUNK_FRAMES;
	struct aftl_reader_chunk *chunk = reader_chunk(reader, index);

	*ret = 0;
	if (unlikely(!chunk->read || chunk->number != index)) {
		if (!reader_holds_chunk(reader, index))
			reader_start_chunk_read(reader, index);
		reader_read_ahead(reader, index);
		reader_end_chunk_read(reader, chunk);
	}
	if (unlikely(!test_bit_of_bitmap(chunk->present,
					 (number - reader->first) % AFTL_READER_CHUNK_FRAMES)))
		*ret = reader_read_frame(reader, chunk, number, error);
	return *ret ? NULL : chunk;
}

const u8 *aftl_volume_reader_get_frame(struct aftl_volume_reader *reader, u64 number, int *ret,
				       struct aftl_error *error)
{
	const struct aftl_reader_chunk *chunk = reader_get_chunk(reader, number, ret, error);

	return chunk ? reader_chunk_bytes(reader, chunk) + (number - reader->first) %
								   AFTL_READER_CHUNK_FRAMES *
								   AFTL_FRAME_BYTES :
		       NULL;
}

/* Verify a sector's checksum once, not for each of its entries. */
static bool is_reader_sector_sound(const struct aftl_volume_reader *reader,
				   struct aftl_reader_chunk *chunk, const u8 *bytes, u64 sector)
{
	u64 index = sector - reader_chunk_first_frame(reader, chunk->number) * AFTL_FRAME_SECTORS;

	if (test_bit_of_bitmap(chunk->verified, index))
		return true;
	if (!aftl_sector_is_sound(bytes, reader->volume->nonce, sector))
		return false;
	set_bit_of_bitmap(chunk->verified, index);
	return true;
}

const u8 *aftl_volume_reader_get_sector(struct aftl_volume_reader *reader, u64 sector, int *ret,
					struct aftl_error *error)
{
	static const u8 zeroes[AFTL_SECTOR_BYTES] = { 0 };
	struct aftl_reader_chunk *chunk;
	const u8 *bytes;

	*ret = 0;
	if (!aftl_volume_frame_is_initialised(reader->volume, sector / AFTL_FRAME_SECTORS))
		return zeroes;
	chunk = reader_get_chunk(reader, sector / AFTL_FRAME_SECTORS, ret, error);
	if (!chunk)
		return NULL;
	bytes = reader_chunk_bytes(reader, chunk) +
		(sector - reader_chunk_first_frame(reader, chunk->number) * AFTL_FRAME_SECTORS) *
			AFTL_SECTOR_BYTES;
	if (is_reader_sector_sound(reader, chunk, bytes, sector))
		return bytes;
	*ret = aftl_fail(error, -EUCLEAN, "the volume is damaged: sector %llu has a wrong checksum",
			 (unsigned long long)sector);
	return NULL;
}
