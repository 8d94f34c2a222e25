/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The record file ".aft": a self-describing stream of host requests.
 *
 * One header of 4096 bytes, then records of 32 bytes until the end of the file. Everything is
 * little-endian on every machine.
 *
 * Header:
 *
 *	offset  size  content
 *	     0     8  magic 89 41 46 54 0d 0a 1a 0a
 *	     8     2  format version, major: 1; readers refuse any other
 *	    10     2  format version, minor: 3; readers accept any
 *	    12     4  bytes of the header: 4096
 *	    16     4  bytes of a record: 32
 *	    20     4  nanoseconds of a clock tick: 1
 *	    24     4  bytes of a sector: 512
 *	    28     4  number of fields in a record: 8
 *	    32     8  number of records, 0: as many as follow
 *	    40     8  bytes of the device that the requests went to, 0: unknown
 *	    48     4  number of tag classes, 1 .. 16
 *	    52    12  zero
 *	    64   512  field table: 16 entries of 32 bytes, unused ones zero
 *	              { char name[16]; u16 offset; u16 size; u32 type; u8 zero[8]; }
 *	              type 1 is an unsigned integer
 *	   576   512  class names: 16 texts of 32 bytes; a record's class is an index
 *	  1088    64  text: the format that the records were converted from
 *	  1152    64  text: the program that wrote the file, and its version
 *	  1216  2876  text: provenance, a JSON object or nothing
 *	  4092     4  CRC32C of bytes 0 .. 4091
 *
 * Texts are UTF-8, end with a zero byte and are followed by zeroes.
 *
 * Record:
 *
 *	offset  size  name       content
 *	     0     8  t_ns       time since the first record or any other fixed point;
 *	                         never smaller than that of the record before
 *	     8     8  off_sect   first sector
 *	    16     4  nsect      sectors; 0 for a flush and for nothing else
 *	    20     1  op         enum aftl_op; since minor version 1 with 0x80 added for a
 *	                         write that is complete only when it is on flash (FUA); since
 *	                         2 with enum aftl_lifetime << 4 added for a write with such a hint
 *	    21     1  class      index into the class names
 *	    22     2  stream     the source's own division of requests, such as a disk; the
 *	                         simulator uses its low byte as the stream hint of a write, and
 *	                         records the host's queue, if there are several, in the high byte
 *	    24     4  lat_100ns  measured latency in 100 ns, 0: unknown
 *	    28     4  pid        process, 0: unknown
 *
 * Class names with a meaning are "precise", "approximate", and "approximate_2" and
 * "approximate_3" for data of those quality levels; data of a class with any other name is
 * to be treated as precise. Before minor version 3 so are the last two.
 */
#ifndef AFTL_RECORD_H
#define AFTL_RECORD_H

#include "core/ftl/ftl.h"

#define AFTL_RECORD_HEADER_BYTES 4096
#define AFTL_RECORD_MAGIC_BYTES 8
#define AFTL_RECORD_BYTES 32
#define AFTL_RECORD_VERSION_MAJOR 1
#define AFTL_RECORD_VERSION_MINOR 3
#define AFTL_RECORD_SECTOR_BYTES 512
#define AFTL_RECORD_SECTOR_SHIFT 9
#define AFTL_RECORD_CLASSES 16
#define AFTL_RECORD_NAME_SIZE 32
#define AFTL_RECORD_TEXT_SIZE 64
#define AFTL_RECORD_PROVENANCE_SIZE 2876

/* Limit of sector numbers, so that byte offsets fit 64 bits. */
#define AFTL_RECORD_SECTORS_MAX (1ULL << (64 - AFTL_RECORD_SECTOR_SHIFT))

/**
 * struct aftl_record_header - the decoded header of a record file
 * @records: number of records, 0 for as many as follow
 * @device_bytes: size of the device that the requests went to, 0 if unknown
 * @classes: number of entries of @class_names in use, at least 1
 * @minor: minor format version; set by the decoder, ignored by the encoder
 * @class_names: meanings of the classes of records
 * @source_format: the format that the records were converted from
 * @tool_version: the program that wrote the file
 * @provenance: a JSON object or an empty text
 */
struct aftl_record_header {
	u64 records;
	u64 device_bytes;
	u32 classes;
	u32 minor;
	char class_names[AFTL_RECORD_CLASSES][AFTL_RECORD_NAME_SIZE];
	char source_format[AFTL_RECORD_TEXT_SIZE];
	char tool_version[AFTL_RECORD_TEXT_SIZE];
	char provenance[AFTL_RECORD_PROVENANCE_SIZE];
};

/**
 * struct aftl_record - one request
 * @t_ns: time of its arrival
 * @off_sect: first sector
 * @nsect: sectors, 0 for a flush
 * @op: enum aftl_op
 * @fua: a write that is complete only when it is on flash
 * @life: enum aftl_lifetime, the host's hint for a write
 * @class: index into the header's class names
 * @stream: a division of the requests that the traced system makes, such as by its disks
 * @lat_100ns: measured latency in 100 ns, 0 if unknown
 * @pid: process, 0 if unknown
 */
struct aftl_record {
	u64 t_ns;
	u64 off_sect;
	u32 nsect;
	u8 op;
	bool fua;
	u8 life;
	u8 class;
	u16 stream;
	u32 lat_100ns;
	u32 pid;
};

/**
 * aftl_record_header_init() - a header with the classes "precise" and "approximate"
 */
void aftl_record_header_init(struct aftl_record_header *header);

/* Names of enum aftl_op. */
extern const char *const aftl_op_names[AFTL_OPS];

/* Names of data classes in record files, by quality level. */
extern const char *const aftl_level_names[AFTL_LEVELS];

/* Name the classes of @header by the quality levels below @levels, in order. */
void aftl_record_header_set_class_names(struct aftl_record_header *header, u32 levels);

/* Look up the quality level of a class name. Return: false, with level 0, for any other name. */
bool aftl_find_quality_level_by_name(const char *name, u8 *level);

/* Return true if @bytes, AFTL_RECORD_MAGIC_BYTES of them, begin a record file. */
bool aftl_record_has_magic(const u8 *bytes);

/**
 * aftl_record_header_encode() - encode a header
 * @header: the header
 * @bytes: takes AFTL_RECORD_HEADER_BYTES; undefined after a failure
 * @error: takes the message on failure
 *
 * Return: 0 or -EINVAL.
 */
int __must_check aftl_record_header_encode(const struct aftl_record_header *header, u8 *bytes,
					   struct aftl_error *error);

/**
 * aftl_record_header_decode() - decode and check a header
 * @header: takes the header
 * @bytes: AFTL_RECORD_HEADER_BYTES of them
 * @error: takes the message on failure
 *
 * Return: 0, or -EINVAL for everything that the encoder would not write, except for a newer minor
 * version.
 */
int __must_check aftl_record_header_decode(struct aftl_record_header *header, const u8 *bytes,
					   struct aftl_error *error);

/**
 * aftl_record_encode() - encode a record
 * @header: header of the file, which limits the class of @record
 * @record: the record
 * @bytes: takes AFTL_RECORD_BYTES, on success only
 * @error: takes the message on failure
 *
 * Return: 0 or -EINVAL.
 */
int __must_check aftl_record_encode(const struct aftl_record_header *header,
				    const struct aftl_record *record, u8 *bytes,
				    struct aftl_error *error);

/**
 * aftl_record_decode() - decode and check a record
 * @header: header of the file, which limits the class of the record
 * @record: takes the record
 * @bytes: AFTL_RECORD_BYTES of them
 * @error: takes the message on failure
 *
 * The caller checks that times do not decrease.
 *
 * Return: 0 or -EINVAL.
 */
int __must_check aftl_record_decode(const struct aftl_record_header *header,
				    struct aftl_record *record, const u8 *bytes,
				    struct aftl_error *error);

#endif
