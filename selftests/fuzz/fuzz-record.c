// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record files are refused with a message, or decode and encode to the same bytes. Each input is
 * tried twice: a fuzzer cannot guess a checksum, so the second try corrects it.
 */
#include "lib/fuzz.h"
#include "core/persist/record.h"

static u32 bitwise_crc32c(const u8 *bytes, size_t size)
{
	u32 crc = U32_MAX;
	unsigned int bit;

	while (size--) {
		crc ^= *bytes++;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return ~crc;
}

static void set_header_checksum(u8 *header)
{
	u32 crc = bitwise_crc32c(header, AFTL_RECORD_HEADER_BYTES - 4);
	unsigned int i;

	for (i = 0; i < 4; i++)
		header[AFTL_RECORD_HEADER_BYTES - 4 + i] = crc >> 8 * i & 0xff;
}

static bool decode_and_check_record_header(struct aftl_record_header *header, const u8 *bytes)
{
	u8 again[AFTL_RECORD_HEADER_BYTES];
	struct aftl_error error = { "" };

	if (aftl_record_header_decode(header, bytes, &error)) {
		check_refusal_has_message(&error);
		return false;
	}
	fuzz_assert(!aftl_record_header_encode(header, again, &error));
	/* A record file of another minor version is encoded in the present minor version. */
	fuzz_assert(header->minor != AFTL_RECORD_VERSION_MINOR ||
		    !memcmp(again, bytes, sizeof(again)));
	return true;
}

static void decode_and_check_record(const struct aftl_record_header *header, const u8 *bytes)
{
	struct aftl_error error = { "" };
	struct aftl_record record;
	u8 again[AFTL_RECORD_BYTES];

	if (aftl_record_decode(header, &record, bytes, &error)) {
		check_refusal_has_message(&error);
		return;
	}
	fuzz_assert(record.class < header->classes && record.op < AFTL_OPS);
	fuzz_assert(record.off_sect + record.nsect <= AFTL_RECORD_SECTORS_MAX);
	fuzz_assert(!aftl_record_encode(header, &record, again, &error));
	fuzz_assert(!memcmp(again, bytes, sizeof(again)));
}

static void decode_and_check_all_records(const struct aftl_record_header *header, const u8 *bytes,
					 size_t size)
{
	for (; size >= AFTL_RECORD_BYTES; size -= AFTL_RECORD_BYTES, bytes += AFTL_RECORD_BYTES)
		decode_and_check_record(header, bytes);
}

int fuzz_input(const u8 *data, size_t size)
{
	struct aftl_record_header header;
	u8 bytes[AFTL_RECORD_HEADER_BYTES] = { 0 };
	size_t used = size < sizeof(bytes) ? size : sizeof(bytes);

	memcpy(bytes, data, used);
	if (!decode_and_check_record_header(&header, bytes)) {
		set_header_checksum(bytes);
		if (!decode_and_check_record_header(&header, bytes))
			aftl_record_header_init(&header);
	}
	decode_and_check_all_records(&header, data, size);
	decode_and_check_all_records(&header, data + used, size - used);
	return 0;
}
