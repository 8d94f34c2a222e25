// SPDX-License-Identifier: GPL-2.0-only
#include <endian.h>

#include "block-content.h"
#include "core/base/random.h"

#define MAGIC 0x756e6b64ULL
#define HEAD_WORDS 4
#define CELL_WORDS 8
#define CELL_BYTES (CELL_WORDS * sizeof(u64))
#define STEP 0x9e3779b97f4a7c15ULL

static u64 compute_hash_of_block_identity(const struct block_name *name)
{
	return aftl_hash64_pair(aftl_hash64_pair(name->device, name->unit),
			 (u64)name->seed << 32 | name->generation);
}

static void make_block_head(u64 head[HEAD_WORDS], const struct block_name *name, u64 key)
{
	head[0] = MAGIC << 32 | (u32)key;
	head[1] = name->device;
	head[2] = name->unit;
	head[3] = (u64)name->seed << 32 | name->generation;
}

/* Decode the block name in the head of a 64-byte cell. Return: false if its checksum is wrong. */
static bool decode_block_head(const u64 head[HEAD_WORDS], struct block_name *name)
{
	name->device = head[1];
	name->unit = head[2];
	name->seed = (u32)(head[3] >> 32);
	name->generation = (u32)head[3];
	return head[0] == (MAGIC << 32 | (u32)compute_hash_of_block_identity(name));
}

static inline u64 compute_block_word_at(u32 i, const u64 head[HEAD_WORDS], u64 key)
{
	return htole64(i % CELL_WORDS < HEAD_WORDS ? head[i % CELL_WORDS] : key ^ i * STEP);
}

void block_fill_content(void *data, u32 bytes, const struct block_name *name)
{
	u64 key = compute_hash_of_block_identity(name);
	u64 head[HEAD_WORDS];
	u64 *words = data;

	make_block_head(head, name, key);
	for (u32 i = 0; i < bytes / sizeof(u64); i++)
		words[i] = compute_block_word_at(i, head, key);
}

/* Count the bits that differ from block @name; @where is set to the first byte that differs. */
static u32 count_flipped_bits_of_block(const u64 *words, u32 bytes, const struct block_name *name,
				       u32 *where)
{
	u64 key = compute_hash_of_block_identity(name);
	u64 head[HEAD_WORDS];
	u32 i, flips = 0;

	make_block_head(head, name, key);
	for (i = 0; i < bytes / sizeof(u64); i++) {
		u64 wrong = words[i] ^ compute_block_word_at(i, head, key);

		if (wrong && !flips)
			*where = i * (u32)sizeof(u64);
		if (wrong)
			flips += (u32)__builtin_popcountll(wrong);
	}
	return flips;
}

/* Return word @word of the block name: each bit is the majority of its copies in the block. */
static u64 find_majority_of_word_copies(const u64 *words, u32 cells, u32 word)
{
	u64 value = 0;

	for (u32 bit = 0; bit < 64; bit++) {
		u32 set = 0;

		for (u32 cell = 0; cell < cells; cell++)
			set += le64toh(words[cell * CELL_WORDS + word]) >> bit & 1;
		value |= (u64)(set * 2 > cells) << bit;
	}
	return value;
}

static bool decode_block_identity_by_majority(const u64 *words, u32 bytes, struct block_name *name)
{
	u64 head[HEAD_WORDS];

	for (u32 i = 0; i < HEAD_WORDS; i++)
		head[i] = find_majority_of_word_copies(words, bytes / CELL_BYTES, i);
	return decode_block_head(head, name);
}

static bool decode_block_identity_copy(const u64 *words, u32 cell, struct block_name *name)
{
	u64 head[HEAD_WORDS];

	for (u32 i = 0; i < HEAD_WORDS; i++)
		head[i] = le64toh(words[cell * CELL_WORDS + i]);
	return decode_block_head(head, name);
}

static u32 count_one_bits(const u64 *words, u32 bytes)
{
	u32 i, ones = 0;

	for (i = 0; i < bytes / sizeof(u64); i++)
		ones += (u32)__builtin_popcountll(words[i]);
	return ones;
}

struct block_found block_read(const void *data, u32 bytes, u32 flips)
{
	struct block_found found = { .kind = BLOCK_FOREIGN, .flips = count_one_bits(data, bytes) };

	if (found.flips <= flips) {
		found.kind = BLOCK_ZEROES;
		return found;
	}
	if (!decode_block_identity_copy(data, 0, &found.name) &&
	    !decode_block_identity_by_majority(data, bytes, &found.name))
		return found;
	found.flips = count_flipped_bits_of_block(data, bytes, &found.name, &found.torn_at);
	found.kind = found.flips <= flips ? BLOCK_WHOLE : BLOCK_TORN;
	if (found.kind == BLOCK_TORN)
		found.other_known = decode_block_identity_copy(data, found.torn_at / CELL_BYTES,
							       &found.other);
	return found;
}
