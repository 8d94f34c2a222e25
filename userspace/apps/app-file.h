/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads and writes the files of a program, and declares which of their data are approximate.
 */
#ifndef AFTL_APPS_APP_FILE_H
#define AFTL_APPS_APP_FILE_H

#include "approxftl.h"
#include "setup.h"

/* Alignment of offsets, sizes and buffers: suits O_DIRECT and the mapping unit of the device. */
#define FILE_UNIT 4096

enum app_io {
	APP_IO_BUFFERED,
	APP_IO_DIRECT,
	APP_IO_MMAP,
};

/**
 * struct app_place - the directory of a run's files
 * @folder: descriptor of the directory
 * @path: path in messages
 * @tags: handle to declare approximate data with; NULL for a precise run
 * @io: how files are read and written
 * @memory_bytes: size of each file's buffer; 0 for a quarter of its data
 * @force: replace files that this program did not write
 */
struct app_place {
	int folder;
	const char *path;
	struct approxftl *tags;
	enum app_io io;
	u64 memory_bytes;
	bool force;
};

/**
 * struct app_file - an open file
 * @place: directory of the file
 * @name: name in the directory
 * @fd: descriptor
 * @bytes: size of the file
 * @kind: class of all data that are not protected
 * @map: mapping of the file, for APP_IO_MMAP
 */
struct app_file {
	const struct app_place *place;
	const char *name;
	int fd;
	u64 bytes;
	enum approxftl_class kind;
	char *map;
};

/*
 * Create a file of @bytes. The file has class @kind, except for the ranges of
 * app_file_write_precise_data(). An existing file is replaced if this program wrote it. Links are
 * not followed. A failure leaves no file.
 */
int __must_check app_file_create(struct app_file *file, const struct app_place *place,
				 const char *name, u64 bytes, enum approxftl_class kind,
				 struct aftl_error *error);

/* Open an existing file of a run. @kind is the class of data that will be written. */
int __must_check app_file_open(struct app_file *file, const struct app_place *place,
			       const char *name, enum approxftl_class kind,
			       struct aftl_error *error);

/* Declare a byte range of the file precise, and write it. */
int __must_check app_file_write_precise_data(struct app_file *file, const void *data, u64 offset,
					     size_t bytes, struct aftl_error *error);

int __must_check app_file_write(struct app_file *file, const void *data, u64 offset,
				size_t bytes, struct aftl_error *error);
int __must_check app_file_read(struct app_file *file, void *data, u64 offset, size_t bytes,
			       struct aftl_error *error);

/* Check that the file has at least @bytes, before the caller trusts sizes in its header. */
int __must_check app_file_has_length(const struct app_file *file, u64 bytes,
				     struct aftl_error *error);

/* Parse the header, with its parameters, at the start of the file. */
int __must_check app_file_parse_header(struct app_file *file, struct app_setup *setup,
				       struct aftl_error *error);

/* Write the file's data to the device, and drop them from the page cache. */
int __must_check app_file_sync(struct app_file *file, struct aftl_error *error);

/* Close the file; do nothing if it was never opened. */
void app_file_close(struct app_file *file);

/* Allocate a zeroed buffer, aligned to FILE_UNIT. The caller frees it with free(). */
void *alloc_file_buffer(size_t bytes);

#endif
