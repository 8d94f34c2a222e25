// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "core/base/encoding.h"
#include "output-file.h"
#include "replay-log.h"

static const u8 magic[8] = { 0x89, 'A', 'F', 'L', '\r', '\n', 0x1a, '\n' };

#define VERSION_MAJOR 1
#define AT_TABLE 64
#define AT_NAMES 576
#define AT_ENGINE 1088
#define AT_TOOL 1152
#define AT_ABOUT 1216
#define AT_CHECKSUM 4092
#define FIELD_BYTES 32
#define FIELD_NAME_SIZE 16
#define FIELD_UNSIGNED 1

struct replay_log {
	FILE *file;
	const char *path;
	struct replay_log_header header;
	u64 entries;
	u32 rest;
};

struct field {
	const char *name;
	u16 offset;
	u16 size;
	size_t member;
};

#define FIELD(name, offset, size) { #name, offset, size, offsetof(struct replay_log_entry, name) }

static const struct field fields[] = {
	FIELD(due_ns, 0, 8),
	FIELD(submit_ns, 8, 8),
	FIELD(complete_ns, 16, 8),
	FIELD(off_sect, 24, 8),
	FIELD(nsect, 32, 4),
	FIELD(op, 36, 1),
	FIELD(class, 37, 1),
	FIELD(sequence, 40, 8),
	FIELD(error, 48, 2),
	FIELD(lost, 50, 2),
	FIELD(misplaced, 52, 2),
	FIELD(stale, 54, 2),
	{ "precise_units", 56, 4, offsetof(struct replay_log_entry, units[DATA_PRECISE]) },
	{ "precise_flips", 60, 4, offsetof(struct replay_log_entry, flips[DATA_PRECISE]) },
	{ "approx_units", 64, 4, offsetof(struct replay_log_entry, units[DATA_APPROXIMATE]) },
	{ "approx_flips", 68, 4, offsetof(struct replay_log_entry, flips[DATA_APPROXIMATE]) },
};

static_assert(ARRAY_SIZE(fields) == REPLAY_LOG_FIELDS, "as the header says");

static u64 get_log_entry_member(const struct replay_log_entry *entry, const struct field *field)
{
	const void *at = (const u8 *)entry + field->member;

	switch (field->size) {
	case 1:
		return *(const u8 *)at;
	case 2:
		return *(const u16 *)at;
	case 4:
		return *(const u32 *)at;
	default:
		return *(const u64 *)at;
	}
}

static void set_log_entry_member(struct replay_log_entry *entry, const struct field *field,
				 u64 value)
{
	void *at = (u8 *)entry + field->member;

	switch (field->size) {
	case 1:
		*(u8 *)at = (u8)value;
		break;
	case 2:
		*(u16 *)at = (u16)value;
		break;
	case 4:
		*(u32 *)at = (u32)value;
		break;
	default:
		*(u64 *)at = value;
	}
}

static int report_log_error(const struct replay_log *log, const char *what,
			    struct aftl_error *error)
{
	int code = errno ? errno : EIO;

	return aftl_fail(error, -code, "%.120s: %s: %s", log->path, what, strerror(code));
}

/* Writing */

/* Store the fields of the log's header that are equal in all logs. */
static void store_constant_fields_of_log_header(u8 *bytes)
{
	u8 *entry;

	memset(bytes, 0, REPLAY_LOG_HEADER_BYTES);
	memcpy(bytes, magic, sizeof(magic));
	aftl_put_le(bytes + 8, VERSION_MAJOR, 2);
	aftl_put_le(bytes + 12, REPLAY_LOG_HEADER_BYTES, 4);
	aftl_put_le(bytes + 16, REPLAY_LOG_ENTRY_BYTES, 4);
	aftl_put_le(bytes + 20, 1, 4);
	aftl_put_le(bytes + 24, AFTL_RECORD_SECTOR_BYTES, 4);
	aftl_put_le(bytes + 28, REPLAY_LOG_FIELDS, 4);
	entry = bytes + AT_TABLE;
	for (unsigned int i = 0; i < REPLAY_LOG_FIELDS; i++, entry += FIELD_BYTES) {
		memcpy(entry, fields[i].name, strlen(fields[i].name));
		aftl_put_le(entry + FIELD_NAME_SIZE, fields[i].offset, 2);
		aftl_put_le(entry + FIELD_NAME_SIZE + 2, fields[i].size, 2);
		aftl_put_le(entry + FIELD_NAME_SIZE + 4, FIELD_UNSIGNED, 4);
	}
}

static void store_log_header(struct replay_log *log)
{
	u8 bytes[REPLAY_LOG_HEADER_BYTES];

	store_constant_fields_of_log_header(bytes);
	aftl_put_le(bytes + 32, log->header.entries, 8);
	aftl_put_le(bytes + 40, log->header.planned, 8);
	aftl_put_le(bytes + 48, log->header.classes, 4);
	aftl_put_le(bytes + 52, log->header.closed_depth, 4);
	aftl_put_le(bytes + 56, log->header.limit, 4);
	memcpy(bytes + AT_NAMES, log->header.class_names, sizeof(log->header.class_names));
	memcpy(bytes + AT_ENGINE, log->header.engine, sizeof(log->header.engine));
	memcpy(bytes + AT_TOOL, log->header.tool_version, sizeof(log->header.tool_version));
	memcpy(bytes + AT_ABOUT, log->header.about, sizeof(log->header.about));
	aftl_put_le(bytes + AT_CHECKSUM, ~aftl_crc32c(AFTL_CRC_START, bytes, AT_CHECKSUM), 4);
	fwrite(bytes, 1, sizeof(bytes), log->file);
}

/*
 * Reopen the output of a log that is no regular file (a device) and so cannot be replaced by
 * rename: its header has been copied there, and entries are appended.
 */
static int reopen_log(struct replay_log *log, const struct output_file *file,
		      struct aftl_error *error)
{
	fclose(log->file);
	log->file = fopen(file->target, "r+e");
	if (log->file && !fseek(log->file, 0, SEEK_END))
		return 0;
	return aftl_fail(error, -errno, "%.120s: cannot write: %s", log->path, strerror(errno));
}

/* Give the log its name once it has a header, so that an aborted replay leaves a readable log. */
static int prefix_error_with_log_path(struct replay_log *log, struct output_file *file,
				      struct aftl_error *error)
{
	int ret;

	if (!fflush(log->file)) {
		ret = output_file_commit(file, error);
		return !ret && file->apart ? reopen_log(log, file, error) : ret;
	}
	log->file = NULL;
	aftl_fail(error, -errno, "%.120s: cannot write: %s", log->path, strerror(errno));
	output_file_abandon(file);
	return -EIO;
}

int replay_log_create(struct replay_log **out, const char *path,
		      const struct replay_log_header *header, struct aftl_error *error)
{
	struct replay_log *log = memory_alloc_zeroed(1, sizeof(*log));
	struct output_file file;
	int ret;

	log->path = path;
	log->header = *header;
	log->header.entries = 0;
	ret = output_file_open(&file, path, "--record", true, error);
	if (!ret) {
		log->file = file.stream;
		store_log_header(log);
		ret = prefix_error_with_log_path(log, &file, error);
	}
	if (ret)
		replay_log_close(log);
	else
		*out = log;
	return ret;
}

void replay_log_write_entry(struct replay_log *log, const struct replay_log_entry *entry)
{
	u8 bytes[REPLAY_LOG_ENTRY_BYTES] = { 0 };

	for (unsigned int i = 0; i < REPLAY_LOG_FIELDS; i++)
		aftl_put_le(bytes + fields[i].offset, get_log_entry_member(entry, &fields[i]),
			    fields[i].size);
	fwrite(bytes, 1, sizeof(bytes), log->file);
	log->entries++;
}

/* Ignore a failed flush: stdio keeps the error, which replay_log_finish() reports. */
void replay_log_flush(struct replay_log *log)
{
	fflush(log->file);
}

int replay_log_finish(struct replay_log *log, struct aftl_error *error)
{
	bool failed;
	int ret = 0;

	if (!log)
		return 0;
	errno = 0;
	/* Store the number of entries, unless the output cannot seek. */
	log->header.entries = log->entries;
	if (log->entries && log->file != stdout && !fseek(log->file, 0, SEEK_SET))
		store_log_header(log);
	failed = ferror(log->file);
	failed = (log->file == stdout ? fflush(stdout) : fclose(log->file)) || failed;
	log->file = NULL;
	if (failed)
		ret = report_log_error(log, "cannot write", error);
	replay_log_close(log);
	return ret;
}

/* Reading */

static int report_bad_log_content(const struct replay_log *log, const char *cause,
				  struct aftl_error *error)
{
	return aftl_fail(error, -EINVAL, "%.120s: %.100s", log->path, cause);
}

static int check_log_header(const struct replay_log *log, const u8 *bytes, struct aftl_error *error)
{
	u8 right[REPLAY_LOG_HEADER_BYTES];

	store_constant_fields_of_log_header(right);
	if (memcmp(bytes, magic, sizeof(magic)) != 0)
		return report_bad_log_content(log, "this is not the log of a replay", error);
	if (memcmp(bytes + 8, right + 8, 2) != 0)
		return report_bad_log_content(log, "this log has a version that is not understood",
					      error);
	if (aftl_get_le(bytes + AT_CHECKSUM, 4) !=
	    (u32)~aftl_crc32c(AFTL_CRC_START, bytes, AT_CHECKSUM))
		return report_bad_log_content(log, "the header is damaged: its checksum is wrong",
					      error);
	if (memcmp(bytes + 12, right + 12, 20) != 0 ||
	    memcmp(bytes + AT_TABLE, right + AT_TABLE, AT_NAMES - AT_TABLE) != 0)
		return report_bad_log_content(log, "its fields are not those of version 1", error);
	return 0;
}

/* Copy a text from the log's header and terminate it. */
static void copy_header_text(char *text, const u8 *bytes, size_t size)
{
	memcpy(text, bytes, size);
	text[size - 1] = '\0';
}

static int decode_log_header(const struct replay_log *log, const u8 *bytes,
			     struct replay_log_header *header, struct aftl_error *error)
{
	int ret = check_log_header(log, bytes, error);
	const u8 *name = bytes + AT_NAMES;

	header->entries = aftl_get_le(bytes + 32, 8);
	header->planned = aftl_get_le(bytes + 40, 8);
	header->classes = aftl_get_le(bytes + 48, 4);
	header->closed_depth = aftl_get_le(bytes + 52, 4);
	header->limit = aftl_get_le(bytes + 56, 4);
	for (u32 i = 0; i < AFTL_RECORD_CLASSES; i++, name += AFTL_RECORD_NAME_SIZE)
		copy_header_text(header->class_names[i], name, AFTL_RECORD_NAME_SIZE);
	copy_header_text(header->engine, bytes + AT_ENGINE, AFTL_RECORD_TEXT_SIZE);
	copy_header_text(header->tool_version, bytes + AT_TOOL, AFTL_RECORD_TEXT_SIZE);
	copy_header_text(header->about, bytes + AT_ABOUT, AFTL_RECORD_PROVENANCE_SIZE);
	if (!ret && (!header->classes || header->classes > AFTL_RECORD_CLASSES))
		ret = report_bad_log_content(log, "the number of classes must be 1 to 16", error);
	return ret;
}

int replay_log_open(struct replay_log **out, const char *path, struct replay_log_header *header,
		    struct aftl_error *error)
{
	struct replay_log *log = memory_alloc_zeroed(1, sizeof(*log));
	u8 bytes[REPLAY_LOG_HEADER_BYTES];
	int ret;

	log->path = path;
	log->file = fopen(path, "rbe");
	if (!log->file)
		ret = report_log_error(log, "cannot open", error);
	else if (fread(bytes, 1, sizeof(bytes), log->file) < sizeof(bytes))
		ret = ferror(log->file) ? report_log_error(log, "cannot read", error) :
		      report_bad_log_content(log, "the file ends inside its header", error);
	else
		ret = decode_log_header(log, bytes, &log->header, error);
	*header = log->header;
	if (ret)
		replay_log_close(log);
	else
		*out = log;
	return ret;
}

static int check_log_entry(const struct replay_log *log, const struct replay_log_entry *entry,
			   struct aftl_error *error)
{
	u8 op = entry->op & ~REPLAY_LOG_FUA;

	if (op < AFTL_OPS && entry->class < log->header.classes)
		return 1;
	return aftl_fail(error, -EINVAL, "%.120s: entry %llu: no such operation or class",
			 log->path, (unsigned long long)log->entries);
}

static int check_end_of_log(const struct replay_log *log, struct aftl_error *error)
{
	if (ferror(log->file))
		return report_log_error(log, "cannot read", error);
	if (log->header.entries && log->entries != log->header.entries)
		return aftl_fail(error, -EINVAL, "%.120s: the file ends after %llu of %llu entries",
				 log->path, (unsigned long long)log->entries,
				 (unsigned long long)log->header.entries);
	return 0;
}

int replay_log_next_entry(struct replay_log *log, struct replay_log_entry *entry,
			  struct aftl_error *error)
{
	u8 bytes[REPLAY_LOG_ENTRY_BYTES];

	log->rest = (u32)fread(bytes, 1, sizeof(bytes), log->file);
	if (log->rest < sizeof(bytes))
		return check_end_of_log(log, error);
	log->entries++;
	log->rest = 0;
	for (unsigned int i = 0; i < REPLAY_LOG_FIELDS; i++)
		set_log_entry_member(entry, &fields[i],
				     aftl_get_le(bytes + fields[i].offset, fields[i].size));
	return check_log_entry(log, entry, error);
}

u32 replay_log_count_unread_entries(const struct replay_log *log)
{
	return log->rest;
}

void replay_log_close(struct replay_log *log)
{
	if (log && log->file)
		fclose(log->file);
	free(log);
}
