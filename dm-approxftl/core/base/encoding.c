// SPDX-License-Identifier: GPL-2.0-only
#include "core/base/encoding.h"

/* Remainders of the sixteen values of half a byte. */
static const u32 remainders[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
	0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

u32 aftl_crc32c(u32 crc, const void *bytes, size_t size)
{
	const u8 *byte = bytes;

	for (; size; size--, byte++) {
		crc = crc >> 4 ^ remainders[(crc ^ *byte) & 15];
		crc = crc >> 4 ^ remainders[(crc ^ *byte >> 4) & 15];
	}
	return crc;
}
