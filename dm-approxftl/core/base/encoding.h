/* SPDX-License-Identifier: GPL-2.0-only */
/* Encoding of stored formats: little-endian numbers and the checksum. */
#ifndef AFTL_ENCODING_H
#define AFTL_ENCODING_H

#include "aftl-host.h"

/* Initial value of a checksum. */
#define AFTL_CRC_START U32_MAX

static inline void aftl_put_le(u8 *bytes, u64 value, unsigned int size)
{
	for (; size; size--, value >>= 8)
		*bytes++ = value & 0xff;
}

/* Decode a 32-bit number; compilers turn the four byte accesses into one load. */
static inline u32 aftl_get_le32(const u8 *bytes)
{
	return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (u32)bytes[3] << 24;
}

static inline u64 aftl_get_le(const u8 *bytes, unsigned int size)
{
	u64 value = 0;

	if (size == 8)
		return (u64)aftl_get_le32(bytes + 4) << 32 | aftl_get_le32(bytes);
	if (size == 4)
		return aftl_get_le32(bytes);
	while (size--)
		value = value << 8 | bytes[size];
	return value;
}

/**
 * aftl_crc32c() - continue a CRC-32C (Castagnoli) over @size more bytes
 * @crc: checksum so far, AFTL_CRC_START at first
 * @bytes: data
 * @size: bytes of @bytes
 *
 * The CRC-32C of all data is the complement of the last call's result.
 */
u32 aftl_crc32c(u32 crc, const void *bytes, size_t size);

/* aftl_crc32c() computed by table lookups, without the processor's CRC instruction. */
u32 aftl_crc32c_by_table(u32 crc, const void *bytes, size_t size);

#endif
