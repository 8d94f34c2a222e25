// SPDX-License-Identifier: GPL-2.0-only
/*
 * CRC-32C: with the processor's instruction, else by table.
 */
#include "core/base/encoding.h"

/*
 * remainders[N][v] is the CRC-32C remainder of the half byte v followed by N zero half bytes. The
 * sixteen lookups for eight bytes of data do not depend on each other, so they overlap.
 */
static const u32 remainders[16][16] = {
	{
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
		0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
		0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	},
	{
		0x00000000, 0xf26b8303, 0xe13b70f7, 0x1350f3f4,
		0xc79a971f, 0x35f1141c, 0x26a1e7e8, 0xd4ca64eb,
		0x8ad958cf, 0x78b2dbcc, 0x6be22838, 0x9989ab3b,
		0x4d43cfd0, 0xbf284cd3, 0xac78bf27, 0x5e133c24,
	},
	{
		0x00000000, 0x3fc5f181, 0x7f8be302, 0x404e1283,
		0xff17c604, 0xc0d23785, 0x809c2506, 0xbf59d487,
		0xfbc3faf9, 0xc4060b78, 0x844819fb, 0xbb8de87a,
		0x04d43cfd, 0x3b11cd7c, 0x7b5fdfff, 0x449a2e7e,
	},
	{
		0x00000000, 0x13a29877, 0x274530ee, 0x34e7a899,
		0x4e8a61dc, 0x5d28f9ab, 0x69cf5132, 0x7a6dc945,
		0x9d14c3b8, 0x8eb65bcf, 0xba51f356, 0xa9f36b21,
		0xd39ea264, 0xc03c3a13, 0xf4db928a, 0xe7790afd,
	},
	{
		0x00000000, 0x70a27d8a, 0xe144fb14, 0x91e6869e,
		0xc76580d9, 0xb7c7fd53, 0x26217bcd, 0x56830647,
		0x8b277743, 0xfb850ac9, 0x6a638c57, 0x1ac1f1dd,
		0x4c42f79a, 0x3ce08a10, 0xad060c8e, 0xdda47104,
	},
	{
		0x00000000, 0xa541927e, 0x4f6f520d, 0xea2ec073,
		0x9edea41a, 0x3b9f3664, 0xd1b1f617, 0x74f06469,
		0x38513ec5, 0x9d10acbb, 0x773e6cc8, 0xd27ffeb6,
		0xa68f9adf, 0x03ce08a1, 0xe9e0c8d2, 0x4ca15aac,
	},
	{
		0x00000000, 0xe964b13d, 0xd725148b, 0x3e41a5b6,
		0xaba65fe7, 0x42c2eeda, 0x7c834b6c, 0x95e7fa51,
		0x52a0c93f, 0xbbc47802, 0x8585ddb4, 0x6ce16c89,
		0xf90696d8, 0x106227e5, 0x2e238253, 0xc747336e,
	},
	{
		0x00000000, 0xdd45aab8, 0xbf672381, 0x62228939,
		0x7b2231f3, 0xa6679b4b, 0xc4451272, 0x1900b8ca,
		0xf64463e6, 0x2b01c95e, 0x49234067, 0x9466eadf,
		0x8d665215, 0x5023f8ad, 0x32017194, 0xef44db2c,
	},
	{
		0x00000000, 0x8f2261d3, 0x1ba8b557, 0x948ad484,
		0x37516aae, 0xb8730b7d, 0x2cf9dff9, 0xa3dbbe2a,
		0x6ea2d55c, 0xe180b48f, 0x750a600b, 0xfa2801d8,
		0x59f3bff2, 0xd6d1de21, 0x425b0aa5, 0xcd796b76,
	},
	{
		0x00000000, 0x38116fac, 0x7022df58, 0x4833b0f4,
		0xe045beb0, 0xd854d11c, 0x906761e8, 0xa8760e44,
		0xc5670b91, 0xfd76643d, 0xb545d4c9, 0x8d54bb65,
		0x2522b521, 0x1d33da8d, 0x55006a79, 0x6d1105d5,
	},
	{
		0x00000000, 0xc00c303e, 0x85f4168d, 0x45f826b3,
		0x0e045beb, 0xce086bd5, 0x8bf04d66, 0x4bfc7d58,
		0x1c08b7d6, 0xdc0487e8, 0x99fca15b, 0x59f09165,
		0x120cec3d, 0xd200dc03, 0x97f8fab0, 0x57f4ca8e,
	},
	{
		0x00000000, 0xef306b19, 0xdb8ca0c3, 0x34bccbda,
		0xb2f53777, 0x5dc55c6e, 0x697997b4, 0x8649fcad,
		0x6006181f, 0x8f367306, 0xbb8ab8dc, 0x54bad3c5,
		0xd2f32f68, 0x3dc34471, 0x097f8fab, 0xe64fe4b2,
	},
	{
		0x00000000, 0x9c5bfaa6, 0x3d5b83bd, 0xa100791b,
		0x7ab7077a, 0xe6ecfddc, 0x47ec84c7, 0xdbb77e61,
		0xf56e0ef4, 0x6935f452, 0xc8358d49, 0x546e77ef,
		0x8fd9098e, 0x1382f328, 0xb2828a33, 0x2ed97095,
	},
	{
		0x00000000, 0x68032cc8, 0xd0065990, 0xb8057558,
		0xa5e0c5d1, 0xcde3e919, 0x75e69c41, 0x1de5b089,
		0x4e2dfd53, 0x262ed19b, 0x9e2ba4c3, 0xf628880b,
		0xebcd3882, 0x83ce144a, 0x3bcb6112, 0x53c84dda,
	},
	{
		0x00000000, 0x847609b4, 0x0d006599, 0x89766c2d,
		0x1a00cb32, 0x9e76c286, 0x1700aeab, 0x9376a71f,
		0x34019664, 0xb0779fd0, 0x3901f3fd, 0xbd77fa49,
		0x2e015d56, 0xaa7754e2, 0x230138cf, 0xa777317b,
	},
	{
		0x00000000, 0x493c7d27, 0x9278fa4e, 0xdb448769,
		0x211d826d, 0x6821ff4a, 0xb3657823, 0xfa590504,
		0x423b04da, 0x0b0779fd, 0xd043fe94, 0x997f83b3,
		0x632686b7, 0x2a1afb90, 0xf15e7cf9, 0xb86201de,
	},
};

/* CRC-32C remainder of @bytes, the first in the lowest bits, followed by @after zero half bytes. */
static inline u32 compute_crc32c_of_four_bytes(u32 bytes, u32 after)
{
	const u32 (*at)[16] = &remainders[after];

	return at[7][bytes & 15] ^ at[6][bytes >> 4 & 15] ^ at[5][bytes >> 8 & 15] ^
	       at[4][bytes >> 12 & 15] ^ at[3][bytes >> 16 & 15] ^ at[2][bytes >> 20 & 15] ^
	       at[1][bytes >> 24 & 15] ^ at[0][bytes >> 28];
}

u32 aftl_crc32c_by_table(u32 crc, const void *bytes, size_t size)
{
	const u8 *byte = bytes;

	for (; size >= 8; size -= 8, byte += 8)
		crc = compute_crc32c_of_four_bytes(crc ^ aftl_get_le32(byte), 8) ^
		      compute_crc32c_of_four_bytes(aftl_get_le32(byte + 4), 0);
	for (; size; size--, byte++) {
		crc = crc >> 4 ^ remainders[0][(crc ^ *byte) & 15];
		crc = crc >> 4 ^ remainders[0][(crc ^ *byte >> 4) & 15];
	}
	return crc;
}

#ifdef __x86_64__
/* crc32q uses general registers only, so that the kernel need not save vector registers. */
static u32 crc32c_by_instruction(u32 crc, const u8 *byte, size_t size)
{
	u64 sum = crc;

	for (; size >= 8; size -= 8, byte += 8)
		__asm__("crc32q %1, %0" : "+r" (sum) : "r" (aftl_get_le(byte, 8)));
	for (; size; size--, byte++)
		__asm__("crc32b %1, %k0" : "+r" (sum) : "qm" (*byte));
	return (u32)sum;
}
#else
#define crc32c_by_instruction aftl_crc32c_by_table
#endif

u32 aftl_crc32c(u32 crc, const void *bytes, size_t size)
{
	return aftl_cpu_has_crc32c() ? crc32c_by_instruction(crc, bytes, size) :
				       aftl_crc32c_by_table(crc, bytes, size);
}
