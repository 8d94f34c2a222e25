/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of a replay, with the outcome of each request; described in approxftl-replay(1).
 *
 * A header of 4096 bytes, laid out like that of a record file (record.c) except for the magic
 * number and the numbers from byte 32 on, is followed by entries of 72 bytes in the order of
 * completion, until the end of the file. If a replay is killed, the header says 0 entries; the
 * entries then extend to the end of the file.
 *
 * Header:
 *
 *	offset  size  content
 *	     0     8  magic 89 41 46 4c 0d 0a 1a 0a
 *	     8     2  format version, major: 1
 *	    10     2  format version, minor: 0
 *	    12     4  bytes of the header: 4096
 *	    16     4  bytes of an entry: 72
 *	    20     4  nanoseconds of a clock tick: 1
 *	    24     4  bytes of a sector: 512
 *	    28     4  number of fields in an entry: 16
 *	    32     8  number of entries, 0: as many as follow
 *	    40     8  number of requests in the stream
 *	    48     4  number of tag classes, 1 .. 16
 *	    52     4  requests that were kept under way, 0: open loop
 *	    56     4  most requests that could be under way
 *	    60     4  zero
 *	    64   512  field table, as in a record file
 *	   576   512  class names, as in a record file
 *	  1088    64  text: engine
 *	  1152    64  text: the program that wrote the file, and its version
 *	  1216  2876  text: a JSON object with stream, target, seed and the like
 *	  4092     4  CRC32C of bytes 0 .. 4091
 *
 * Entry:
 *
 *	offset  size  name             content
 *	     0     8  due_ns           when it should begin; times count from the begin
 *	     8     8  submit_ns        when it began
 *	    16     8  complete_ns      when its end was seen
 *	    24     8  off_sect         first sector, on the target
 *	    32     4  nsect            sectors
 *	    36     1  op               as in a record file
 *	    37     1  class            as in a record file
 *	    38     2                   zero
 *	    40     8  sequence         number in the stream, from 1
 *	    48     2  error            error number, 0: none
 *	    50     2  lost             units that were read, and cannot be recognised
 *	    52     2  misplaced        units that hold another unit's data
 *	    54     2  stale            units that hold what had been overwritten
 *	    56     4  precise_units    precise units that were recognised
 *	    60     4  precise_flips    bits flipped in them
 *	    64     4  approx_units     the same of approximate ones
 *	    68     4  approx_flips
 */
#ifndef AFTL_REPLAY_LOG_H
#define AFTL_REPLAY_LOG_H

#include <stdio.h>

#include "data-tags.h"
#include "core/persist/record.h"

#define REPLAY_LOG_HEADER_BYTES 4096
#define REPLAY_LOG_ENTRY_BYTES 72
#define REPLAY_LOG_FIELDS 16

/* Flag in an entry's operation: the write was a FUA write. */
#define REPLAY_LOG_FUA 0x80

/**
 * struct replay_log_header - properties of all entries
 * @entries: number of entries; 0: up to the end of the file
 * @planned: number of requests of the stream
 * @classes: number of classes
 * @closed_depth: number of requests kept in flight; 0: open loop
 * @limit: maximum number of requests in flight
 * @class_names: class names of the stream
 * @engine: name of the engine
 * @tool_version: version of the program that wrote the file
 * @about: a JSON object, or empty
 */
struct replay_log_header {
	u64 entries;
	u64 planned;
	u32 classes;
	u32 closed_depth;
	u32 limit;
	char class_names[AFTL_RECORD_CLASSES][AFTL_RECORD_NAME_SIZE];
	char engine[AFTL_RECORD_TEXT_SIZE];
	char tool_version[AFTL_RECORD_TEXT_SIZE];
	char about[AFTL_RECORD_PROVENANCE_SIZE];
};

/**
 * struct replay_log_entry - a completed request; its members are the fields of a log entry
 * @units: number of units with data that the replay has written, by kind of data
 * @flips: flipped bits in these units, by kind of data
 */
struct replay_log_entry {
	u64 due_ns;
	u64 submit_ns;
	u64 complete_ns;
	u64 off_sect;
	u32 nsect;
	u8 op;
	u8 class;
	u64 sequence;
	u16 error;
	u16 lost;
	u16 misplaced;
	u16 stale;
	u32 units[DATA_CLASSES];
	u32 flips[DATA_CLASSES];
};

struct replay_log;

/* Create the log of a replay; an existing file is replaced. */
int __must_check replay_log_create(struct replay_log **out, const char *path,
				   const struct replay_log_header *header,
				   struct aftl_error *error);

/* Append an entry to the log; replay_log_finish() reports failed writes. */
void replay_log_write_entry(struct replay_log *log, const struct replay_log_entry *entry);

/* Pass buffered entries to the kernel, so that they survive if this process is killed. */
void replay_log_flush(struct replay_log *log);

/* Complete the log and free it, even after a failure; do nothing for NULL. */
int __must_check replay_log_finish(struct replay_log *log, struct aftl_error *error);

int __must_check replay_log_open(struct replay_log **out, const char *path,
				 struct replay_log_header *header, struct aftl_error *error);

/* Read an entry of the log. Return: 1, 0 at the end, or a negative error number with a message. */
int __must_check replay_log_next_entry(struct replay_log *log, struct replay_log_entry *entry,
				       struct aftl_error *error);

/* Return the number of bytes of the log's incomplete last entry; 0 unless the replay was killed. */
u32 replay_log_count_unread_entries(const struct replay_log *log);

void replay_log_close(struct replay_log *log);

#endif
