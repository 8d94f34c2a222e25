/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A look at a volume from front to back: what is read next is on its way while the processor is
 * busy with what is there.
 */
#ifndef AFTL_VOLUME_READER_H
#define AFTL_VOLUME_READER_H

#include "core/persist/volume-private.h"

/* Frames that are read together. */
#define AFTL_READER_CHUNK_FRAMES 128
/* Parts in memory, a power of two. Half of them may be under way. */
#define AFTL_READER_CHUNKS 8

/**
 * struct aftl_reader_chunk - frames that are read together
 * @number: which part of what is read
 * @frames: how many frames it has; 0: none is there, or on its way
 * @begun: what the medium calls the read that is under way; NULL if none is
 * @read: it has been tried to read all of it; else it is to be, or is under way
 * @there: bit by frame: it has been read
 * @sound: bit by sector: its checksum was right
 */
struct aftl_reader_chunk {
	u64 number;
	u32 frames;
	void *begun;
	bool read;
	u64 there[AFTL_READER_CHUNK_FRAMES / 64];
	u64 sound[AFTL_READER_CHUNK_FRAMES * AFTL_FRAME_SECTORS / 64];
};

/**
 * struct aftl_volume_reader - the look
 * @volume: at which
 * @first: frame that it begins with
 * @end: frame behind the last one
 * @parts: in memory at a time: AFTL_READER_CHUNKS, or one where there is no memory for more
 * @bytes: their frames; NULL if it is not open
 * @part: they, by the rest of their number
 */
struct aftl_volume_reader {
	const struct aftl_volume *volume;
	u64 first;
	u64 end;
	u32 parts;
	u8 *bytes;
	struct aftl_reader_chunk *part;
};

/* Memory for it; frames from @first to @end are read. Return: 0 or -ENOMEM. */
int __must_check aftl_volume_reader_open(struct aftl_volume_reader *look,
					 const struct aftl_volume *volume, u64 first, u64 end);

/* Waits for what is under way. One of zeroes that has its volume is fine. */
void aftl_volume_reader_close(struct aftl_volume_reader *look);

/*
 * The bytes of a frame, until another part of the volume is looked at; NULL, an error code in @ret
 * and a sentence if there are none.
 */
const u8 *aftl_volume_reader_frame(struct aftl_volume_reader *look, u64 number, int *ret,
				   struct aftl_error *error);

/*
 * The same of a sector of the tables, whose checksum is right. Where nothing has been written yet
 * it is zeroes.
 */
const u8 *aftl_volume_reader_sector(struct aftl_volume_reader *look, u64 sector, int *ret,
				    struct aftl_error *error);

#endif
