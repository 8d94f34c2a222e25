/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sequential reading of a volume's tables or snapshot, with read-ahead: the next chunks are being
 * read while the caller processes one.
 */
#ifndef AFTL_VOLUME_READER_H
#define AFTL_VOLUME_READER_H

#include "core/persist/volume-private.h"

/* Number of frames in a chunk, which is the amount of one read. */
#define AFTL_READER_CHUNK_FRAMES 128
/* Chunks in memory, a power of two. Reads of half of them may be in progress. */
#define AFTL_READER_CHUNKS 8

/**
 * struct aftl_reader_chunk - frames that are read together
 * @number: number of the chunk, counted from the first frame of the reader
 * @frames: number of frames of the chunk; 0: the chunk is not in use
 * @pending: handle of the read in progress, from begin_read(); NULL: none
 * @read: the read of the whole chunk has ended, perhaps with an error
 * @present: bit by frame: the frame has been read
 * @verified: bit by sector: the checksum has been verified
 */
struct aftl_reader_chunk {
	u64 number;
	u32 frames;
	void *pending;
	bool read;
	u64 present[AFTL_READER_CHUNK_FRAMES / 64];
	u64 verified[AFTL_READER_CHUNK_FRAMES * AFTL_FRAME_SECTORS / 64];
};

/**
 * struct aftl_volume_reader - reader of consecutive frames
 * @volume: the volume
 * @first: first frame
 * @end: frame behind the last one
 * @chunks: number of chunks in memory: AFTL_READER_CHUNKS, or 1 if memory is short
 * @bytes: data of the chunks; NULL if the reader is not open
 * @chunk: the chunks, by chunk number modulo @chunks
 */
struct aftl_volume_reader {
	const struct aftl_volume *volume;
	u64 first;
	u64 end;
	u32 chunks;
	u8 *bytes;
	struct aftl_reader_chunk *chunk;
};

/* Open a reader for frames from @first to before @end. Return: 0 or -ENOMEM. */
int __must_check aftl_volume_reader_open(struct aftl_volume_reader *reader,
					 const struct aftl_volume *volume, u64 first, u64 end);

/* Wait for reads in progress and free the memory; does nothing if the reader was never opened. */
void aftl_volume_reader_close(struct aftl_volume_reader *reader);

/*
 * Return the bytes of a frame, valid until the next call; NULL with an error code in @ret and a
 * message if it cannot be read.
 */
const u8 *aftl_volume_reader_get_frame(struct aftl_volume_reader *reader, u64 number, int *ret,
				       struct aftl_error *error);

/*
 * Return the bytes of a sector of the tables after its checksum has been verified. In an extent
 * that is not initialised these are zeroes.
 */
const u8 *aftl_volume_reader_get_sector(struct aftl_volume_reader *reader, u64 sector, int *ret,
					struct aftl_error *error);

#endif
