/* SPDX-License-Identifier: GPL-2.0-only */
/* Streaming readers and writers of record files. The format is defined in record.c. */
#ifndef AFTL_RECORD_FILE_H
#define AFTL_RECORD_FILE_H

#include <stdio.h>

#include "core/persist/record.h"

struct record_reader;
struct record_writer;

/**
 * record_open() - open a record file and check its header
 * @path: "-" is stdin
 * @error: receives the error message, which names the file
 *
 * Return: 0, or a negative error number: -EINVAL if the content is malformed.
 */
int record_open(struct record_reader **out, const char *path, struct aftl_error *error);

const struct aftl_record_header *record_header(const struct record_reader *reader);

/**
 * record_read_next() - read and check the next record
 *
 * Return: 1, 0 at the end, or a negative error number; the message in @error then names the
 * file and the byte offset of the malformed record.
 */
int record_read_next(struct record_reader *reader, struct aftl_record *record,
		     struct aftl_error *error);

/* Go back to the first record; -ESPIPE if the input is not seekable. */
int record_rewind(struct record_reader *reader);

/* @reader may be NULL. */
void record_close(struct record_reader *reader);

/**
 * record_create() - begin a record file
 * @path: "-" is stdout; an existing file is replaced
 * @name: name of the file in error messages
 * @header: record_finish() fills in the number of records if the file is seekable
 */
int record_create(struct record_writer **out, const char *path, const char *name,
		  const struct aftl_record_header *header, struct aftl_error *error);

/* Write a record. Times must not decrease. */
int record_append(struct record_writer *writer, const struct aftl_record *record,
		  struct aftl_error *error);

/* Text that marks an interrupted recording in a record file's header; a pipe gets no mark. */
#define RECORD_INTERRUPTED_KEY "\"interrupted\": true"
#define RECORD_INTERRUPTED "{" RECORD_INTERRUPTED_KEY "}"

/* Mark the recording as incomplete in the header, which record_finish() writes. */
void record_mark_interrupted(struct record_writer *writer);

/**
 * record_finish() - complete the file
 *
 * Frees @writer, also on failure. @writer may be NULL.
 */
int record_finish(struct record_writer *writer, struct aftl_error *error);

#endif
