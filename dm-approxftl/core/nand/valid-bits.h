/* SPDX-License-Identifier: GPL-2.0-only */
/* Valid and lost ppns. */
#ifndef AFTL_VALID_BITS_H
#define AFTL_VALID_BITS_H

#include "core/nand/oob.h"

static inline bool aftl_ppn_is_valid(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return media->valid[from_ppn(ppn) / 64] >> (from_ppn(ppn) % 64) & 1;
}

static inline void aftl_ppn_set_valid(struct aftl_media *media, aftl_ppn_t ppn)
{
	media->valid[from_ppn(ppn) / 64] |= 1ULL << (from_ppn(ppn) % 64);
}

/* Set @slots valid bits from @ppn on. */
static inline void aftl_set_valid_bits_of_ppns(struct aftl_media *media, aftl_ppn_t ppn, u32 slots)
{
	u32 i = from_ppn(ppn);
	u32 end = i + slots;

	for (; i < end && i % 64; i++)
		aftl_ppn_set_valid(media, to_ppn(i));
	for (; end - i >= 64; i += 64)
		media->valid[i / 64] = ~0ULL;
	for (; i < end; i++)
		aftl_ppn_set_valid(media, to_ppn(i));
}

static inline bool aftl_ppn_is_marked_lost(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return media->lost[from_ppn(ppn) / 64] >> (from_ppn(ppn) % 64) & 1;
}

static inline void aftl_ppn_set_lost(struct aftl_media *media, aftl_ppn_t ppn)
{
	media->lost[from_ppn(ppn) / 64] |= 1ULL << (from_ppn(ppn) % 64);
}

static inline void aftl_ppn_clear_lost(struct aftl_media *media, aftl_ppn_t ppn)
{
	media->lost[from_ppn(ppn) / 64] &= ~(1ULL << (from_ppn(ppn) % 64));
}

static inline void aftl_ppn_clear_valid(struct aftl_media *media, aftl_ppn_t ppn)
{
	media->valid[from_ppn(ppn) / 64] &= ~(1ULL << (from_ppn(ppn) % 64));
}

/**
 * aftl_page_has_valid_data() - return true if a ppn of @page holds the current version of its lpn
 * @media: flash array
 * @block: block of the page
 * @page: page of the block
 */
bool aftl_page_has_valid_data(const struct aftl_media *media, const struct aftl_block *block,
			      u32 page);

/**
 * aftl_page_min_quality_level() - smallest quality level of the valid data in @page
 * @media: flash array
 * @block: block of the page
 * @page: page with valid data
 */
u32 aftl_page_min_quality_level(const struct aftl_media *media, const struct aftl_block *block,
				u32 page);

#endif
