/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What became of each request: the log of a replay, described in approxftl-replay(1).
 *
 * One header of 4096 bytes, laid out as that of a record file (record.h) but for its magic
 * and the numbers from byte 32 on; then entries of 72 bytes in the order in which requests
 * ended, until the end of the file. A replay that was killed leaves a log that says 0
 * entries, which means: as many as follow.
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

/* Added to the operation of a write that was to be on flash when it was complete. */
#define REPLAY_LOG_FUA 0x80

/**
 * struct replay_log_header - what is true of all entries
 * @entries: how many, 0: as many as follow
 * @planned: requests of the stream
 * @classes: of them
 * @closed_depth: requests that were kept under way, 0: open loop
 * @limit: most that could be under way
 * @class_names: of the stream
 * @engine: name
 * @tool_version: who wrote the file
 * @about: a JSON object or nothing
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
 * struct replay_log_entry - a request; members as in the file
 * @units: recognised, by kind
 * @flips: in them, by kind
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

/* Replaces a file that is there. */
int __must_check replay_log_create(struct replay_log **out, const char *path,
				   const struct replay_log_header *header,
				   struct aftl_error *error);

/* Failures are told by replay_log_finish(). */
void replay_log_put(struct replay_log *log, const struct replay_log_entry *entry);

/* Hands to the kernel what it does not have yet; a kill does no harm to that. */
void replay_log_flush(struct replay_log *log);

/* NULL is fine. The log is gone, with or without success. */
int __must_check replay_log_finish(struct replay_log *log, struct aftl_error *error);

int __must_check replay_log_open(struct replay_log **out, const char *path,
				 struct replay_log_header *header, struct aftl_error *error);

/* Return: 1, 0 at the end, or a negative error number with a sentence. */
int __must_check replay_log_next(struct replay_log *log, struct replay_log_entry *entry,
				 struct aftl_error *error);

/* Bytes of an entry that has no end: 0 unless the writer was killed. At the end only. */
u32 replay_log_rest(const struct replay_log *log);

void replay_log_close(struct replay_log *log);

#endif
