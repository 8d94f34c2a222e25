/* SPDX-License-Identifier: GPL-2.0-only */
/* The record file ".aft": a self-describing stream of host requests; record.c has the format. */
#ifndef AFTL_RECORD_H
#define AFTL_RECORD_H

#include "core/base/error.h"
#include "core/ftl/request.h"

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
