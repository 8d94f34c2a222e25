/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of a program: how they are read and written, and which of their data are approximate.
 */
#ifndef AFTL_APPS_APP_FILE_H
#define AFTL_APPS_APP_FILE_H

#include "approxftl.h"
#include "setup.h"

/* What offsets, sizes and buffers are multiples of: good for O_DIRECT, and a unit of flash. */
#define FILE_UNIT 4096

enum app_io {
	APP_IO_BUFFERED,
	APP_IO_DIRECT,
	APP_IO_MMAP,
};

/**
 * struct app_place - where a run keeps its files
 * @folder: descriptor of the directory
 * @path: its name, for a person
 * @tags: by which data are declared approximate; NULL for a precise run
 * @io: how files are read and written
 * @memory_bytes: buffer of each file; 0 for a quarter of its data
 * @force: files that are not of this program are replaced
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
 * @place: where it is
 * @name: in there
 * @fd: descriptor
 * @bytes: its size
 * @kind: of all its data that nobody protects
 * @map: its memory, for APP_IO_MMAP
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
 * A new file of @bytes; all of it is @kind until app_file_protect(). What has its name is replaced
 * if it is of this program. Links are not followed, and nothing is left where this fails.
 */
int __must_check app_file_create(struct app_file *file, const struct app_place *place,
				 const char *name, u64 bytes, enum approxftl_class kind,
				 struct aftl_error *error);

/* One that is there. @kind is for what will be written. */
int __must_check app_file_open(struct app_file *file, const struct app_place *place,
			       const char *name, enum approxftl_class kind,
			       struct aftl_error *error);

/* Says that a range is precise, and writes it. */
int __must_check app_file_protect(struct app_file *file, const void *data, u64 offset,
				  size_t bytes, struct aftl_error *error);

int __must_check app_file_write(struct app_file *file, const void *data, u64 offset,
				size_t bytes, struct aftl_error *error);
int __must_check app_file_read(struct app_file *file, void *data, u64 offset, size_t bytes,
			       struct aftl_error *error);

/* Whether it is at least so long: before memory, or time, is spent on what its header says. */
int __must_check app_file_reaches(const struct app_file *file, u64 bytes, struct aftl_error *error);

/* What the header at the begin of a file says. */
int __must_check app_file_setup(struct app_file *file, struct app_setup *setup,
				struct aftl_error *error);

/* All of it is on the device; what is read from now on is read from there. */
int __must_check app_file_settle(struct app_file *file, struct aftl_error *error);

/* For a file that never was opened, too. */
void app_file_close(struct app_file *file);

/* Zeroed, aligned to FILE_UNIT; to be freed with free(). */
void *file_buffer(size_t bytes);

#endif
