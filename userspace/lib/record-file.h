/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Record files as streams. The format itself is in record.h.
 */
#ifndef AFTL_RECORD_FILE_H
#define AFTL_RECORD_FILE_H

#include <stdio.h>

#include "core/persist/record.h"

struct record_reader;
struct record_writer;

/**
 * record_open() - open a record file and check its header
 * @path: "-" is stdin
 * @error: the sentence on failure; it names the file
 *
 * Return: 0, or a negative error number: -EINVAL if the content is wrong.
 */
int record_open(struct record_reader **out, const char *path, struct aftl_error *error);

const struct aftl_record_header *record_header(const struct record_reader *reader);

/**
 * record_next() - the next record, checked
 *
 * Return: 1, 0 at the end, or a negative error number; the sentence in @error then
 * names the file and the offset of the byte where the trouble begins.
 */
int record_next(struct record_reader *reader, struct aftl_record *record,
		struct aftl_error *error);

/* Back to the first record; -ESPIPE for what can be read only once. */
int record_rewind(struct record_reader *reader);

/* NULL is fine. */
void record_close(struct record_reader *reader);

/**
 * record_create() - begin a record file
 * @path: "-" is stdout; an existing file is replaced
 * @name: what sentences call it
 * @header: the number of records is filled in at the end if the file can be rewound
 */
int record_create(struct record_writer **out, const char *path, const char *name,
		  const struct aftl_record_header *header, struct aftl_error *error);

/* Times must not go backwards. */
int record_put(struct record_writer *writer, const struct aftl_record *record,
	       struct aftl_error *error);

/* Put into the provenance, which says so for good; a pipe, whose header is gone, cannot take it. */
#define RECORD_INTERRUPTED_KEY "\"interrupted\": true"
#define RECORD_INTERRUPTED "{" RECORD_INTERRUPTED_KEY "}"

/* What is recorded did not get to its end. */
void record_was_interrupted(struct record_writer *writer);

/**
 * record_finish() - complete the file
 *
 * @writer is gone afterwards, with or without success. NULL is fine.
 */
int record_finish(struct record_writer *writer, struct aftl_error *error);

#endif
