/* SPDX-License-Identifier: GPL-2.0-only */
/* The medium of a volume: a block device or a file. */
#ifndef AFTL_MEDIUM_FILE_H
#define AFTL_MEDIUM_FILE_H

#include "progress.h"
#include "core/persist/volume.h"

/**
 * struct medium_file - an open medium
 * @medium: interface for the core
 * @whole: the medium that this medium is a part of, or this medium itself; only in @whole are
 *	@progress, @moved and @write_failure used
 * @path: as typed, for error messages
 * @progress: progress of @moved bytes, if the caller has begun one
 * @moved: bytes read and written
 * @size: size of the medium, not necessarily a multiple of AFTL_FRAME_BYTES
 * @base: offset of the volume on the medium
 * @sector: smallest transfer of a block device; 1 for a file
 * @write_failure: result of the last write or flush: 0 or a negative error number
 * @fd: descriptor
 * @device: the medium is a block device
 * @made: the file was created
 */
struct medium_file {
	struct aftl_backing medium;
	struct medium_file *whole;
	const char *path;
	struct progress progress;
	u64 moved;
	u64 size;
	u64 base;
	u32 sector;
	int write_failure;
	int fd;
	bool device;
	bool made;
};

/**
 * medium_file_open() - open a medium
 * @file: receives the medium
 * @path: an unused block device, or a file
 * @write: open for writing, too
 * @error: receives the error message
 *
 * Reads and writes return -EINTR after Ctrl-C, see interruption_catch_stop_signals().
 *
 * Return: 0 or a negative error number; -ENOENT if @path does not exist.
 */
int __must_check medium_file_open(struct medium_file *file, const char *path, bool write,
				  struct aftl_error *error);

/* Create an empty file, which must not exist, and open it as a medium. */
int __must_check medium_file_create(struct medium_file *file, const char *path,
				    struct aftl_error *error);

/* Set the size of an empty file. */
int __must_check medium_file_extend(struct medium_file *file, u64 bytes,
				    struct aftl_error *error);

/*
 * Make @part a medium that begins at @base of @whole. Close only @whole, after the last use of
 * @part.
 */
void medium_file_init_part_at_offset(struct medium_file *part, const struct medium_file *whole,
				     u64 base);

/* Read or write @size bytes at @offset of the volume. Return: 0 or a negative error number. */
int __must_check medium_file_transfer_bytes(struct medium_file *file, u64 offset, void *bytes,
					    u32 size, bool write);

void medium_file_close(struct medium_file *file);

#endif
