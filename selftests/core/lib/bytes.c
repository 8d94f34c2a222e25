// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "bytes.h"

static int write_test_bytes(void *host, const void *data, size_t size)
{
	struct test_bytes *bytes = host;

	if (bytes->limit && bytes->size + size > bytes->limit)
		return -EIO;
	while (bytes->size + size > bytes->room) {
		u8 *grown = realloc(bytes->data, 2 * bytes->room + 4096);

		if (!grown)
			return -ENOMEM;
		bytes->data = grown;
		bytes->room = 2 * bytes->room + 4096;
	}
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
	return 0;
}

static int read_test_bytes(void *host, void *data, size_t size)
{
	struct test_bytes *bytes = host;

	if (size > bytes->size - bytes->at)
		return -EIO;
	if (size)
		memcpy(data, bytes->data + bytes->at, size);
	bytes->at += size;
	return 0;
}

struct aftl_snapshot_sink test_bytes_sink(struct test_bytes *bytes)
{
	return (struct aftl_snapshot_sink){ write_test_bytes, bytes };
}

struct aftl_snapshot_source test_bytes_source(struct test_bytes *bytes)
{
	bytes->at = 0;
	return (struct aftl_snapshot_source){ read_test_bytes, bytes };
}

void free_test_bytes(struct test_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct test_bytes){ 0 };
}

u32 compute_reference_crc32c(const u8 *data, size_t size)
{
	u32 crc = U32_MAX;
	unsigned int bit;

	while (size--) {
		crc ^= *data++;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return ~crc;
}

void test_bytes_add_crc(struct test_bytes *bytes)
{
	u32 crc = compute_reference_crc32c(bytes->data, bytes->size - 4);
	unsigned int i;

	for (i = 0; i < 4; i++)
		bytes->data[bytes->size - 4 + i] = crc >> 8 * i & 0xff;
}
