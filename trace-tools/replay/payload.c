// SPDX-License-Identifier: GPL-2.0-only
#include <endian.h>

#include "payload.h"
#include "core/base/random.h"

#define COPIES 3
#define HEAD_WORDS 2
#define BODY (COPIES * HEAD_WORDS)

#define MAGIC 0x41465452ULL
#define UNIT_BITS 56
#define UNIT_MASK ((1ULL << UNIT_BITS) - 1)

static void make_payload_head(u64 head[HEAD_WORDS], const struct payload *what)
{
	head[0] = MAGIC << 32 | what->sequence;
	head[1] = (u64)what->class << UNIT_BITS | (what->unit & UNIT_MASK);
}

static u64 payload_body_key(u64 seed, const struct payload *what)
{
	return aftl_hash64_pair(aftl_hash64_pair(seed, what->unit), what->sequence);
}

/* Return word @i of a unit's data: three copies of the identity precede pseudorandom words. */
static u64 payload_word_at(u32 i, const u64 head[HEAD_WORDS], u64 key)
{
	return htole64(i < BODY ? head[i % HEAD_WORDS] : aftl_hash64(key + i));
}

void payload_fill(void *data, u32 bytes, u64 seed, const struct payload *what)
{
	u64 key = payload_body_key(seed, what);
	u64 head[HEAD_WORDS];
	u64 *words = data;

	make_payload_head(head, what);
	for (u32 i = 0; i < bytes / sizeof(u64); i++)
		words[i] = payload_word_at(i, head, key);
}

u32 payload_count_flips(const void *data, u32 bytes, u64 seed, const struct payload *what)
{
	u64 key = payload_body_key(seed, what);
	const u64 *words = data;
	u64 head[HEAD_WORDS];
	u32 i, flips = 0;

	make_payload_head(head, what);
	for (i = 0; i < bytes / sizeof(u64); i++) {
		u64 wrong = words[i] ^ payload_word_at(i, head, key);

		/* Skip the bit count, which is expensive, for words without wrong bits. */
		if (wrong)
			flips += (u32)__builtin_popcountll(wrong);
	}
	return flips;
}

/* Return a word of a unit's identity by majority vote over each bit of its three copies. */
static u64 compute_majority_of_payload_heads(const u64 *words, unsigned int word)
{
	u64 a = le64toh(words[word]);
	u64 b = le64toh(words[word + HEAD_WORDS]);
	u64 c = le64toh(words[word + 2 * HEAD_WORDS]);

	return (a & b) | (a & c) | (b & c);
}

bool payload_read_head(const void *data, u32 bytes, u64 seed, struct payload *what, u32 *flips)
{
	u64 first = compute_majority_of_payload_heads(data, 0);
	u64 second = compute_majority_of_payload_heads(data, 1);

	if (first >> 32 != MAGIC)
		return false;
	what->sequence = (u32)first;
	what->unit = second & UNIT_MASK;
	what->class = second >> UNIT_BITS;
	*flips = payload_count_flips(data, bytes, seed, what);
	return is_payload_recognised(bytes, *flips);
}
