// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "file-claims.h"
#include "record-file.h"

/* Number of records in a buffer of 128 KiB: large reads amortise the cost of the system call. */
#define BUFFERED 4096

struct record_reader {
	FILE *file;
	const char *name;
	struct aftl_record_header header;
	u64 offset;
	u64 records;
	u64 last_ns;
	size_t begin;
	size_t end;
	u8 buffer[BUFFERED * AFTL_RECORD_BYTES];
};

struct record_writer {
	FILE *file;
	const char *name;
	struct aftl_record_header header;
	u64 records;
	u64 last_ns;
};

static bool is_standard_stream(const char *path)
{
	return !strcmp(path, "-");
}

static int report_record_file_error(const char *name, int code, const char *what,
				    struct aftl_error *error)
{
	return aftl_fail(error, code, "%.120s: %s: %s", name, what, strerror(-code));
}

static int report_invalid_record(const struct record_reader *reader, u64 offset, const char *cause,
				 struct aftl_error *error)
{
	return aftl_fail(error, -EINVAL, "%.80s: byte %llu: %.120s", reader->name,
			 (unsigned long long)offset, cause);
}

/* Report errno; if errno is 0, an earlier call of stdio has failed: report EIO. */
static int report_record_write_error(const struct record_writer *writer, struct aftl_error *error)
{
	return report_record_file_error(writer->name, errno ? -errno : -EIO, "cannot write", error);
}

static int read_record_header(struct record_reader *reader, struct aftl_error *error)
{
	struct aftl_error cause;
	size_t got = fread(reader->buffer, 1, AFTL_RECORD_HEADER_BYTES, reader->file);

	if (ferror(reader->file))
		return report_record_file_error(reader->name, -errno, "cannot read", error);
	if (got < AFTL_RECORD_HEADER_BYTES) {
		scnprintf(cause.text, sizeof(cause.text),
			  "the file ends inside its header of %u bytes", AFTL_RECORD_HEADER_BYTES);
		return report_invalid_record(reader, got, cause.text, error);
	}
	reader->offset = AFTL_RECORD_HEADER_BYTES;
	if (aftl_record_header_decode(&reader->header, reader->buffer, &cause))
		return aftl_fail(error, -EINVAL, "%.80s: %.150s", reader->name, cause.text);
	return 0;
}

int record_open(struct record_reader **out, const char *path, struct aftl_error *error)
{
	struct record_reader *reader;
	int ret = claim_input_file(path, error);

	if (ret)
		return ret;
	reader = memory_alloc_zeroed(1, sizeof(*reader));
	reader->name = is_standard_stream(path) ? "standard input" : path;
	reader->file = is_standard_stream(path) ? stdin : fopen(path, "rb");
	if (!reader->file)
		ret = report_record_file_error(path, -errno, "cannot open", error);
	else
		ret = read_record_header(reader, error);
	if (ret) {
		record_close(reader);
		return ret;
	}
	*out = reader;
	return 0;
}

const struct aftl_record_header *record_header(const struct record_reader *reader)
{
	return &reader->header;
}

/* Move the bytes of an incomplete record to the start of the buffer and fill the rest. */
static int refill_record_buffer(struct record_reader *reader, struct aftl_error *error)
{
	size_t left = reader->end - reader->begin;

	memmove(reader->buffer, reader->buffer + reader->begin, left);
	reader->begin = 0;
	reader->end = left + fread(reader->buffer + left, 1, sizeof(reader->buffer) - left,
				   reader->file);
	if (ferror(reader->file))
		return report_record_file_error(reader->name, -errno, "cannot read", error);
	return 0;
}

/* The file must have as many records as its header says. */
static int check_number_of_records(const struct record_reader *reader, struct aftl_error *error)
{
	char cause[120];

	if (reader->end)
		return report_invalid_record(reader, reader->offset,
					     "the file ends inside a record of 32 bytes", error);
	if (!reader->header.records)
		return 0;
	scnprintf(cause, sizeof(cause), "the file ends after %llu of %llu records",
		  (unsigned long long)reader->records,
		  (unsigned long long)reader->header.records);
	return report_invalid_record(reader, reader->offset, cause, error);
}

int record_read_next(struct record_reader *reader, struct aftl_record *record,
		     struct aftl_error *error)
{
	struct aftl_error cause;

	if (reader->header.records && reader->records == reader->header.records)
		return 0;
	if (reader->end - reader->begin < AFTL_RECORD_BYTES) {
		int ret = refill_record_buffer(reader, error);

		if (ret)
			return ret;
		if (reader->end < AFTL_RECORD_BYTES)
			return check_number_of_records(reader, error);
	}
	if (aftl_record_decode(&reader->header, record, reader->buffer + reader->begin, &cause))
		return report_invalid_record(reader, reader->offset, cause.text, error);
	if (record->t_ns < reader->last_ns)
		return report_invalid_record(reader, reader->offset,
					     "the time is before that of the previous record",
					     error);
	reader->begin += AFTL_RECORD_BYTES;
	reader->offset += AFTL_RECORD_BYTES;
	reader->last_ns = record->t_ns;
	reader->records++;
	return 1;
}

int record_rewind(struct record_reader *reader)
{
	if (fseek(reader->file, AFTL_RECORD_HEADER_BYTES, SEEK_SET))
		return -errno;
	reader->offset = AFTL_RECORD_HEADER_BYTES;
	reader->records = 0;
	reader->last_ns = 0;
	reader->begin = 0;
	reader->end = 0;
	return 0;
}

void record_close(struct record_reader *reader)
{
	if (reader && reader->file && reader->file != stdin)
		fclose(reader->file);
	free(reader);
}

static int write_record_header(struct record_writer *writer, struct aftl_error *error)
{
	u8 bytes[AFTL_RECORD_HEADER_BYTES];
	int ret = aftl_record_header_encode(&writer->header, bytes, error);

	if (ret)
		return ret;
	if (fwrite(bytes, 1, sizeof(bytes), writer->file) < sizeof(bytes))
		return report_record_write_error(writer, error);
	return 0;
}

int record_create(struct record_writer **out, const char *path, const char *name,
		  const struct aftl_record_header *header, struct aftl_error *error)
{
	struct record_writer *writer = memory_alloc_zeroed(1, sizeof(*writer));
	int ret;

	writer->header = *header;
	writer->header.records = 0;
	writer->name = is_standard_stream(path) ? "standard output" : name;
	writer->file = is_standard_stream(path) ? stdout : fopen(path, "wb");
	if (!writer->file)
		ret = report_record_file_error(name, -errno, "cannot create", error);
	else
		ret = write_record_header(writer, error);
	if (ret) {
		if (writer->file && writer->file != stdout)
			fclose(writer->file);
		free(writer);
		return ret;
	}
	*out = writer;
	return 0;
}

int record_append(struct record_writer *writer, const struct aftl_record *record,
		  struct aftl_error *error)
{
	u8 bytes[AFTL_RECORD_BYTES];
	int ret;

	if (record->t_ns < writer->last_ns)
		return aftl_fail(error, -EINVAL,
				 "%.120s: record %llu is older than the previous one; sort by time",
				 writer->name, (unsigned long long)writer->records);
	ret = aftl_record_encode(&writer->header, record, bytes, error);
	if (ret)
		return ret;
	if (fwrite(bytes, 1, sizeof(bytes), writer->file) < sizeof(bytes))
		return report_record_write_error(writer, error);
	writer->last_ns = record->t_ns;
	writer->records++;
	return 0;
}

void record_mark_interrupted(struct record_writer *writer)
{
	scnprintf(writer->header.provenance, sizeof(writer->header.provenance),
		  RECORD_INTERRUPTED);
}

/* Store the number of records. In a pipe's header it stays 0: "records until the end". */
static int complete_record_header(struct record_writer *writer, struct aftl_error *error)
{
	writer->header.records = writer->records;
	if (!writer->records || writer->file == stdout || fseek(writer->file, 0, SEEK_SET))
		return 0;
	return write_record_header(writer, error);
}

int record_finish(struct record_writer *writer, struct aftl_error *error)
{
	int ret;

	if (!writer)
		return 0;
	errno = 0;
	ret = complete_record_header(writer, error);
	if (!ret && (fflush(writer->file) || ferror(writer->file)))
		ret = report_record_write_error(writer, error);
	if (writer->file != stdout && fclose(writer->file) && !ret)
		ret = report_record_write_error(writer, error);
	free(writer);
	return ret;
}
