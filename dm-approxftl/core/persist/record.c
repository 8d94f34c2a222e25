// SPDX-License-Identifier: GPL-2.0-only
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
#include "core/base/encoding.h"
#include "core/persist/record.h"

static const u8 magic[AFTL_RECORD_MAGIC_BYTES] = { 0x89, 'A', 'F', 'T', '\r', '\n', 0x1a, '\n' };

/* Offsets in the header. */
enum {
	AT_MAGIC = 0,
	AT_MAJOR = 8,
	AT_MINOR = 10,
	AT_HEADER_BYTES = 12,
	AT_RECORD_BYTES = 16,
	AT_TICK = 20,
	AT_SECTOR = 24,
	AT_FIELDS = 28,
	AT_RECORDS = 32,
	AT_DEVICE = 40,
	AT_CLASSES = 48,
	AT_ZERO = 52,
	AT_TABLE = 64,
	AT_NAMES = 576,
	AT_SOURCE = 1088,
	AT_TOOL = 1152,
	AT_PROVENANCE = 1216,
	AT_CHECKSUM = 4092,
};

static_assert(AT_PROVENANCE + AFTL_RECORD_PROVENANCE_SIZE == AT_CHECKSUM, "header is full");

#define FIELD_BYTES 32
#define FIELD_NAME_SIZE 16
#define FIELD_UNSIGNED 1

struct field {
	const char *name;
	u16 offset;
	u16 size;
};

static const struct field fields[] = {
	{ "t_ns", 0, 8 },   { "off_sect", 8, 8 }, { "nsect", 16, 4 },	  { "op", 20, 1 },
	{ "class", 21, 1 }, { "stream", 22, 2 },  { "lat_100ns", 24, 4 }, { "pid", 28, 4 },
};

/* Flags in the operation byte of a record, beside enum aftl_op. */
#define OP_FUA 0x80
#define OP_LIFE 0x70
#define OP_LIFE_SHIFT 4

const char *const aftl_op_names[AFTL_OPS] = {
	[AFTL_OP_READ] = "read",
	[AFTL_OP_WRITE] = "write",
	[AFTL_OP_FLUSH] = "flush",
	[AFTL_OP_DISCARD] = "discard",
	[AFTL_OP_WRITE_ZEROES] = "write_zeroes",
};

const char *const aftl_level_names[AFTL_LEVELS] = {
	"precise", "approximate", "approximate_2", "approximate_3",
};

static u32 record_header_checksum(const u8 *bytes, size_t size)
{
	return ~aftl_crc32c(AFTL_CRC_START, bytes, size);
}

void aftl_record_header_init(struct aftl_record_header *header)
{
	memset(header, 0, sizeof(*header));
	aftl_record_header_set_class_names(header, AFTL_CLASSES);
}

void aftl_record_header_set_class_names(struct aftl_record_header *header, u32 levels)
{
	u32 i;

	header->classes = levels;
	for (i = 0; i < levels; i++)
		scnprintf(header->class_names[i], AFTL_RECORD_NAME_SIZE, "%s", aftl_level_names[i]);
}

bool aftl_find_quality_level_by_name(const char *name, u8 *level)
{
	for (*level = 0; *level < AFTL_LEVELS; ++*level)
		if (!strcmp(name, aftl_level_names[*level]))
			return true;
	*level = AFTL_PRECISE;
	return false;
}

/* Check that a UTF-8 character has all of its @tail continuation bytes. */
static bool has_utf8_continuation(const u8 *bytes, const u8 *end, unsigned int tail)
{
	for (; tail; tail--)
		if (++bytes >= end || (*bytes & 0xc0) != 0x80)
			return false;
	return true;
}

/* Return the length of the UTF-8 character at @bytes; 0 if it is invalid or not printable. */
static unsigned int utf8_character_length(const u8 *bytes, const u8 *end)
{
	unsigned int tail;

	if (*bytes < 0x80)
		return *bytes >= 0x20 && *bytes != 0x7f;
	if (*bytes < 0xc2 || *bytes > 0xf4)
		return 0;
	tail = *bytes < 0xe0 ? 1 : *bytes < 0xf0 ? 2 : 3;
	return has_utf8_continuation(bytes, end, tail) ? tail + 1 : 0;
}

/* Check for printable UTF-8, a zero byte, and zeroes up to the end of the field. */
static int check_record_text(const u8 *bytes, size_t size, const char *what,
			     struct aftl_error *error)
{
	const u8 *end = bytes + size;
	unsigned int length;

	for (; bytes < end && *bytes; bytes += length) {
		length = utf8_character_length(bytes, end);
		if (!length)
			return aftl_fail(error, -EINVAL, "the %s is not readable text", what);
	}
	if (bytes == end)
		return aftl_fail(error, -EINVAL, "the %s has no zero byte at its end", what);
	for (; bytes < end; bytes++)
		if (*bytes)
			return aftl_fail(error, -EINVAL, "the %s has text after its zero byte",
					 what);
	return 0;
}

static int record_check_class_names(const u8 *bytes, struct aftl_error *error)
{
	u32 classes = aftl_get_le(bytes + AT_CLASSES, 4);
	const u8 *name = bytes + AT_NAMES;
	u32 i;

	if (!classes || classes > AFTL_RECORD_CLASSES)
		return aftl_fail(error, -EINVAL, "there are %u tag classes, it must be 1 to %u",
				 classes, AFTL_RECORD_CLASSES);
	for (i = 0; i < AFTL_RECORD_CLASSES; i++, name += AFTL_RECORD_NAME_SIZE) {
		int ret = check_record_text(name, AFTL_RECORD_NAME_SIZE, "name of a tag class",
					    error);

		if (ret)
			return ret;
		if (i < classes && !*name)
			return aftl_fail(error, -EINVAL, "tag class %u has no name", i);
		if (i >= classes && *name)
			return aftl_fail(error, -EINVAL,
					 "tag class %u has a name, but the header counts %u", i,
					 classes);
	}
	return 0;
}

static int check_header_texts(const u8 *bytes, struct aftl_error *error)
{
	int ret =
		check_record_text(bytes + AT_SOURCE, AFTL_RECORD_TEXT_SIZE, "source format", error);

	if (!ret)
		ret = check_record_text(bytes + AT_TOOL, AFTL_RECORD_TEXT_SIZE, "tool version",
					error);
	if (!ret)
		ret = check_record_text(bytes + AT_PROVENANCE, AFTL_RECORD_PROVENANCE_SIZE,
					"provenance", error);
	if (!ret && bytes[AT_PROVENANCE] && bytes[AT_PROVENANCE] != '{')
		ret = aftl_fail(error, -EINVAL, "the provenance is not a JSON object");
	return ret;
}

static void record_put_field_table(u8 *bytes)
{
	u8 *entry = bytes + AT_TABLE;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++, entry += FIELD_BYTES) {
		memcpy(entry, fields[i].name, strlen(fields[i].name));
		aftl_put_le(entry + FIELD_NAME_SIZE, fields[i].offset, 2);
		aftl_put_le(entry + FIELD_NAME_SIZE + 2, fields[i].size, 2);
		aftl_put_le(entry + FIELD_NAME_SIZE + 4, FIELD_UNSIGNED, 4);
	}
}

/* Write the header fields that are the same in every record file of this version. */
static void record_put_constant_fields(u8 *bytes)
{
	memset(bytes, 0, AFTL_RECORD_HEADER_BYTES);
	memcpy(bytes + AT_MAGIC, magic, sizeof(magic));
	aftl_put_le(bytes + AT_MAJOR, AFTL_RECORD_VERSION_MAJOR, 2);
	aftl_put_le(bytes + AT_MINOR, AFTL_RECORD_VERSION_MINOR, 2);
	aftl_put_le(bytes + AT_HEADER_BYTES, AFTL_RECORD_HEADER_BYTES, 4);
	aftl_put_le(bytes + AT_RECORD_BYTES, AFTL_RECORD_BYTES, 4);
	aftl_put_le(bytes + AT_TICK, 1, 4);
	aftl_put_le(bytes + AT_SECTOR, AFTL_RECORD_SECTOR_BYTES, 4);
	aftl_put_le(bytes + AT_FIELDS, ARRAY_SIZE(fields), 4);
	record_put_field_table(bytes);
}

int aftl_record_header_encode(const struct aftl_record_header *header, u8 *bytes,
			      struct aftl_error *error)
{
	int ret;

	record_put_constant_fields(bytes);
	aftl_put_le(bytes + AT_RECORDS, header->records, 8);
	aftl_put_le(bytes + AT_DEVICE, header->device_bytes, 8);
	aftl_put_le(bytes + AT_CLASSES, header->classes, 4);
	memcpy(bytes + AT_NAMES, header->class_names, sizeof(header->class_names));
	memcpy(bytes + AT_SOURCE, header->source_format, AFTL_RECORD_TEXT_SIZE);
	memcpy(bytes + AT_TOOL, header->tool_version, AFTL_RECORD_TEXT_SIZE);
	memcpy(bytes + AT_PROVENANCE, header->provenance, AFTL_RECORD_PROVENANCE_SIZE);
	ret = record_check_class_names(bytes, error);
	if (!ret)
		ret = check_header_texts(bytes, error);
	aftl_put_le(bytes + AT_CHECKSUM, record_header_checksum(bytes, AT_CHECKSUM), 4);
	return ret;
}

/* Check that the number @what at offset @at of the header is @right, its only valid value. */
static int record_check_field(const u8 *bytes, unsigned int at, unsigned int right,
			      const char *what, struct aftl_error *error)
{
	u32 found = aftl_get_le(bytes + at, 4);

	if (found == right)
		return 0;
	return aftl_fail(error, -EINVAL, "the header gives %u as %s, it must be %u", found, what,
			 right);
}

static int record_check_field_layout(const u8 *bytes, struct aftl_error *error)
{
	static const struct {
		unsigned int at;
		unsigned int right;
		const char *what;
	} numbers[] = {
		{ AT_HEADER_BYTES, AFTL_RECORD_HEADER_BYTES, "its own size" },
		{ AT_RECORD_BYTES, AFTL_RECORD_BYTES, "size of a record" },
		{ AT_TICK, 1, "nanoseconds of a clock tick" },
		{ AT_SECTOR, AFTL_RECORD_SECTOR_BYTES, "size of a sector" },
		{ AT_FIELDS, ARRAY_SIZE(fields), "number of fields" },
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(numbers) && !ret; i++)
		ret = record_check_field(bytes, numbers[i].at, numbers[i].right, numbers[i].what,
					 error);
	return ret;
}

static int record_check_field_table(const u8 *bytes, struct aftl_error *error)
{
	u8 right[AT_NAMES] = { 0 };

	record_put_field_table(right);
	if (memcmp(bytes + AT_TABLE, right + AT_TABLE, AT_NAMES - AT_TABLE) != 0)
		return aftl_fail(error, -EINVAL, "the header's field table is not of version %u",
				 AFTL_RECORD_VERSION_MAJOR);
	return 0;
}

static int record_check_reserved_bytes(const u8 *bytes, struct aftl_error *error)
{
	unsigned int i;

	/* A newer minor version may use the reserved bytes of the header. */
	if (aftl_get_le(bytes + AT_MINOR, 2) > AFTL_RECORD_VERSION_MINOR)
		return 0;
	for (i = AT_ZERO; i < AT_TABLE; i++)
		if (bytes[i])
			return aftl_fail(error, -EINVAL, "byte %u of the header must be zero", i);
	return 0;
}

bool aftl_record_has_magic(const u8 *bytes)
{
	return !memcmp(bytes + AT_MAGIC, magic, sizeof(magic));
}

/* Check the magic before the checksum, so that the message says that a file is no record file. */
static int record_check_magic_and_version(const u8 *bytes, struct aftl_error *error)
{
	u32 major = aftl_get_le(bytes + AT_MAJOR, 2);

	if (!aftl_record_has_magic(bytes))
		return aftl_fail(error, -EINVAL,
				 "this is not a record file: the first 8 bytes are wrong");
	if (major != AFTL_RECORD_VERSION_MAJOR)
		return aftl_fail(error, -EINVAL,
				 "the record file has format version %u, only version %u is understood",
				 major, AFTL_RECORD_VERSION_MAJOR);
	if (aftl_get_le(bytes + AT_CHECKSUM, 4) != record_header_checksum(bytes, AT_CHECKSUM))
		return aftl_fail(error, -EINVAL,
				 "the header is damaged: its checksum is %08x, it should be %08x",
				 (u32)aftl_get_le(bytes + AT_CHECKSUM, 4),
				 record_header_checksum(bytes, AT_CHECKSUM));
	return 0;
}

static int record_check_header(const u8 *bytes, struct aftl_error *error)
{
	int ret = record_check_magic_and_version(bytes, error);

	if (!ret)
		ret = record_check_field_layout(bytes, error);
	if (!ret)
		ret = record_check_field_table(bytes, error);
	if (!ret)
		ret = record_check_reserved_bytes(bytes, error);
	if (!ret)
		ret = record_check_class_names(bytes, error);
	return ret ? ret : check_header_texts(bytes, error);
}

int aftl_record_header_decode(struct aftl_record_header *header, const u8 *bytes,
			      struct aftl_error *error)
{
	int ret = record_check_header(bytes, error);

	if (ret)
		return ret;
	header->records = aftl_get_le(bytes + AT_RECORDS, 8);
	header->device_bytes = aftl_get_le(bytes + AT_DEVICE, 8);
	header->classes = aftl_get_le(bytes + AT_CLASSES, 4);
	header->minor = aftl_get_le(bytes + AT_MINOR, 2);
	memcpy(header->class_names, bytes + AT_NAMES, sizeof(header->class_names));
	memcpy(header->source_format, bytes + AT_SOURCE, AFTL_RECORD_TEXT_SIZE);
	memcpy(header->tool_version, bytes + AT_TOOL, AFTL_RECORD_TEXT_SIZE);
	memcpy(header->provenance, bytes + AT_PROVENANCE, AFTL_RECORD_PROVENANCE_SIZE);
	return 0;
}

static int check_record_fields(const struct aftl_record_header *header,
			       const struct aftl_record *record, struct aftl_error *error)
{
	if (record->op >= AFTL_OPS)
		return aftl_fail(error, -EINVAL, "operation %u is unknown, the largest is %u",
				 record->op, AFTL_OPS - 1);
	if (record->fua && record->op != AFTL_OP_WRITE)
		return aftl_fail(error, -EINVAL, "operation %u is marked FUA, which is for writes",
				 record->op);
	if (record->life >= AFTL_LIFETIMES)
		return aftl_fail(error, -EINVAL, "write hint %u is unknown, the largest is %u",
				 record->life, AFTL_LIFETIMES - 1);
	if (record->life && record->op != AFTL_OP_WRITE)
		return aftl_fail(error, -EINVAL,
				 "operation %u has a write hint, which is for writes", record->op);
	if (record->class >= header->classes)
		return aftl_fail(error, -EINVAL, "tag class %u is unknown, the largest is %u",
				 record->class, header->classes - 1);
	if (record->op == AFTL_OP_FLUSH && record->nsect)
		return aftl_fail(error, -EINVAL, "a flush has a length of %u sectors, it must be 0",
				 record->nsect);
	if (record->op != AFTL_OP_FLUSH && !record->nsect)
		return aftl_fail(error, -EINVAL, "a request has a length of 0 sectors");
	if (record->off_sect > AFTL_RECORD_SECTORS_MAX - record->nsect)
		return aftl_fail(error, -EINVAL, "sector %llu is beyond 64-bit byte offsets",
				 (unsigned long long)record->off_sect);
	return 0;
}

int aftl_record_encode(const struct aftl_record_header *header, const struct aftl_record *record,
		       u8 *bytes, struct aftl_error *error)
{
	int ret = check_record_fields(header, record, error);

	if (ret)
		return ret;
	aftl_put_le(bytes, record->t_ns, 8);
	aftl_put_le(bytes + 8, record->off_sect, 8);
	aftl_put_le(bytes + 16, record->nsect, 4);
	bytes[20] = record->op | record->life << OP_LIFE_SHIFT | (record->fua ? OP_FUA : 0);
	bytes[21] = record->class;
	aftl_put_le(bytes + 22, record->stream, 2);
	aftl_put_le(bytes + 24, record->lat_100ns, 4);
	aftl_put_le(bytes + 28, record->pid, 4);
	return 0;
}

int aftl_record_decode(const struct aftl_record_header *header, struct aftl_record *record,
		       const u8 *bytes, struct aftl_error *error)
{
	record->t_ns = aftl_get_le(bytes, 8);
	record->off_sect = aftl_get_le(bytes + 8, 8);
	record->nsect = aftl_get_le(bytes + 16, 4);
	record->op = bytes[20] & ~(OP_FUA | OP_LIFE);
	record->life = (bytes[20] & OP_LIFE) >> OP_LIFE_SHIFT;
	record->fua = bytes[20] & OP_FUA;
	record->class = bytes[21];
	record->stream = aftl_get_le(bytes + 22, 2);
	record->lat_100ns = aftl_get_le(bytes + 24, 4);
	record->pid = aftl_get_le(bytes + 28, 4);
	return check_record_fields(header, record, error);
}
