// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records and headers: encode and decode, and the input that the encoder refuses.
 */
#include "core/base/random.h"
#include "core/persist/record.h"
#include "tap.h"

static struct aftl_record_header header;
static u8 bytes[AFTL_RECORD_HEADER_BYTES];

static struct aftl_record random_record(struct aftl_random *random)
{
	struct aftl_record record = {
		.t_ns = aftl_random_next(random),
		.nsect = (u32)aftl_random_next(random) | 1,
		.op = aftl_random_below(random, AFTL_OPS),
		.class = aftl_random_below(random, header.classes),
		.stream = aftl_random_next(random),
		.lat_100ns = aftl_random_next(random),
		.pid = aftl_random_next(random),
	};

	record.off_sect = aftl_random_next(random) % (AFTL_RECORD_SECTORS_MAX - record.nsect);
	if (record.op == AFTL_OP_FLUSH)
		record.nsect = 0;
	if (record.op == AFTL_OP_WRITE) {
		record.fua = aftl_random_below(random, 2);
		record.life = aftl_random_below(random, AFTL_LIFETIMES);
	}
	return record;
}

static bool are_records_equal(const struct aftl_record *a, const struct aftl_record *b)
{
	return a->t_ns == b->t_ns && a->off_sect == b->off_sect && a->nsect == b->nsect &&
	       a->op == b->op && a->fua == b->fua && a->life == b->life && a->class == b->class &&
	       a->stream == b->stream && a->lat_100ns == b->lat_100ns && a->pid == b->pid;
}

TAP_TEST(records_are_decoded_as_encoded)
{
	struct aftl_random random = { 7 };
	struct aftl_error error;
	unsigned int i;

	aftl_record_header_init(&header);
	for (i = 0; i < 10000; i++) {
		struct aftl_record record = random_record(&random);
		struct aftl_record back;

		CHECK(!aftl_record_encode(&header, &record, bytes, &error));
		CHECK(!aftl_record_decode(&header, &back, bytes, &error));
		CHECK(are_records_equal(&record, &back));
	}
}

TAP_TEST(a_record_is_little_endian)
{
	static const u8 right[AFTL_RECORD_BYTES] = {
		1,    2,    3,    4,	5,    6,    7,	  8,	0x11, 0x12, 0x13,
		0x14, 0x15, 0x16, 0x17, 0x00, 0x21, 0x22, 0x23, 0x24, 0x31, 1,
		0x31, 0x32, 0x41, 0x42, 0x43, 0x44, 0x51, 0x52, 0x53, 0x54,
	};
	static const struct aftl_record record = {
		.t_ns = 0x0807060504030201,
		.off_sect = 0x0017161514131211,
		.nsect = 0x24232221,
		.op = AFTL_OP_WRITE,
		.life = AFTL_LIFETIME_MEDIUM,
		.class = 1,
		.stream = 0x3231,
		.lat_100ns = 0x44434241,
		.pid = 0x54535251,
	};
	struct aftl_error error;

	aftl_record_header_init(&header);
	CHECK(!aftl_record_encode(&header, &record, bytes, &error));
	CHECK(!memcmp(bytes, right, sizeof(right)));
}

TAP_TEST(a_header_is_decoded_as_encoded)
{
	static struct aftl_record_header back;
	struct aftl_error error;

	aftl_record_header_init(&header);
	header.minor = AFTL_RECORD_VERSION_MINOR;
	header.records = 0x123456789;
	header.device_bytes = 1ULL << 40;
	header.classes = 3;
	scnprintf(header.class_names[2], AFTL_RECORD_NAME_SIZE, "r\xc3\xa9sum\xc3\xa9");
	scnprintf(header.source_format, AFTL_RECORD_TEXT_SIZE, "blktrace v7");
	scnprintf(header.tool_version, AFTL_RECORD_TEXT_SIZE, "test 1");
	scnprintf(header.provenance, AFTL_RECORD_PROVENANCE_SIZE, "{\"sha256\": \"00\"}");
	CHECK(!aftl_record_header_encode(&header, bytes, &error));
	CHECK(!aftl_record_header_decode(&back, bytes, &error));
	CHECK_EQ(back.minor, AFTL_RECORD_VERSION_MINOR);
	CHECK(!memcmp(&header, &back, sizeof(header)));
}

static void check_header_refused(const char *sentence)
{
	struct aftl_error error = { "" };

	CHECK_EQ(aftl_record_header_encode(&header, bytes, &error), -EINVAL);
	CHECK_CONTAINS(error.text, sentence);
	aftl_record_header_init(&header);
}

TAP_TEST(the_encoder_refuses_unreadable_values)
{
	aftl_record_header_init(&header);
	header.classes = 0;
	check_header_refused("there are 0 tag classes");
	header.classes = AFTL_RECORD_CLASSES + 1;
	check_header_refused("there are 17 tag classes");
	header.classes = 3;
	check_header_refused("tag class 2 has no name");
	header.class_names[5][0] = 'x';
	check_header_refused("tag class 5 has a name, but the header counts");
	header.class_names[1][0] = '\n';
	check_header_refused("not readable text");
	header.class_names[1][0] = '\xff';
	check_header_refused("not readable text");
	header.provenance[0] = '[';
	check_header_refused("not a JSON object");
	memset(header.source_format, 'x', AFTL_RECORD_TEXT_SIZE);
	check_header_refused("the source format has no zero byte at its end");
	/* The check of UTF-8 must not read past the end of a text that ends within a character. */
	memset(header.provenance, '{', AFTL_RECORD_PROVENANCE_SIZE);
	header.provenance[AFTL_RECORD_PROVENANCE_SIZE - 1] = '\xe2';
	check_header_refused("the provenance is not readable text");
}

/* Decoding any bytes ends with success or an error. */
TAP_TEST(damaged_headers_are_refused)
{
	static struct aftl_record_header back;
	struct aftl_random random = { 3 };
	struct aftl_error error;
	unsigned int i, j;

	aftl_record_header_init(&header);
	for (i = 0; i < 1000; i++) {
		CHECK(!aftl_record_header_encode(&header, bytes, &error));
		for (j = 0; j < 1 + i % 8; j++)
			bytes[aftl_random_below(&random, sizeof(bytes))] ^=
				1U << aftl_random_below(&random, 8);
		if (!aftl_record_header_decode(&back, bytes, &error))
			CHECK(!memcmp(&header, &back, sizeof(header)));
	}
}
