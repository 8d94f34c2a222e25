/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A volume's medium: a block device or a file.
 */
#ifndef AFTL_MEDIUM_FILE_H
#define AFTL_MEDIUM_FILE_H

#include "progress.h"
#include "core/persist/volume.h"

/**
 * struct medium_file - an open medium
 * @medium: how the core sees it
 * @whole: what it is a part of, which has @progress, @moved and @write_failure; else itself
 * @path: as it was given, for sentences
 * @progress: of @moved bytes, if the user of it has begun one
 * @moved: bytes read and written
 * @size: of the medium, which may end with a part of a frame
 * @base: where on the medium the volume begins
 * @sector: bytes that a block device reads and writes at least; of a file, 1
 * @write_failure: of the last write or flush: 0 or a negative error number
 * @fd: of the file
 * @device: a block device, not a file
 * @made: it was not there before
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
 * medium_file_open() - open what is at @path
 * @file: takes it
 * @path: of a block device, which nobody may use, or of a file
 * @write: to be written, too
 * @error: takes the sentence on failure
 *
 * Calls of the medium return -EINTR after Ctrl-C, see interruption_catch().
 *
 * Return: 0 or a negative error number; -ENOENT if there is nothing.
 */
int __must_check medium_file_open(struct medium_file *file, const char *path, bool write,
				  struct aftl_error *error);

/* The same for a file that is not there yet: an empty one. */
int __must_check medium_file_make(struct medium_file *file, const char *path,
				  struct aftl_error *error);

/* Give an empty file a size. */
int __must_check medium_file_extend(struct medium_file *file, u64 bytes,
				    struct aftl_error *error);

/*
 * What is on @whole from @base on, as a medium of its own. @whole is what is closed, and not before
 * @part has been used.
 */
void medium_file_part(struct medium_file *part, const struct medium_file *whole, u64 base);

void medium_file_close(struct medium_file *file);

#endif
