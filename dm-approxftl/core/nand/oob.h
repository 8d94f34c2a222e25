/* SPDX-License-Identifier: GPL-2.0-only */
/* Out-of-band (OOB) metadata of pages: attributes, lpns, quality levels. */
#ifndef AFTL_OOB_H
#define AFTL_OOB_H

#include "core/base/address.h"
#include "core/nand/media.h"
#include "core/nand/page-attr.h"

/* Out-of-line part of aftl_oob_entry(), for pages beyond the first chunk. */
void *aftl_oob_entry_beyond_first_chunk(const struct aftl_media *media, u32 page);

static inline void *aftl_oob_entry(const struct aftl_media *media, u32 page)
{
	if (page < media->oob_layout.near)
		return (u8 *)media->oob.chunk[0] + (size_t)page * media->oob_layout.bytes;
	return aftl_oob_entry_beyond_first_chunk(media, page);
}

/* The attributes in @record, the OOB record of a page. */
static inline u16 *aftl_oob_record_attr(const struct aftl_media *media, void *record)
{
	return (u16 *)record + media->oob_layout.attr;
}

/* Address of the OOB attributes of @page, which is numbered through the device. */
static inline u16 *aftl_page_attr_ptr(const struct aftl_media *media, u32 page)
{
	return aftl_oob_record_attr(media, aftl_oob_entry(media, page));
}

/* Flash page of @ppn, numbered through the device. */
static inline u32 aftl_page_of_ppn(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return from_ppn(ppn) >> media->geo->page_unit_shift;
}

/* Position of @ppn in its flash page. */
static inline u32 aftl_ppn_in_page(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return from_ppn(ppn) & (media->geo->page_units - 1);
}

/* The stored word of @ppn: the lpn in the low bits, level of approximate data minus 1 above. */
static inline aftl_lpn_t *aftl_oob_lpn_word(const struct aftl_media *media, aftl_ppn_t ppn)
{
	u32 page = aftl_page_of_ppn(media, ppn);

	return (aftl_lpn_t *)aftl_oob_entry(media, page) + aftl_ppn_in_page(media, ppn);
}

static inline aftl_lpn_t aftl_lpn_word_lpn(aftl_lpn_t word)
{
	return from_lpn(word) >> AFTL_PPN_BITS == AFTL_LEVELS - 1 ?
		       AFTL_NO_LPN : to_lpn(from_lpn(word) & AFTL_PPN_MASK);
}

static inline aftl_lpn_t aftl_lpn_word(aftl_lpn_t lpn, u32 level)
{
	return to_lpn(from_lpn(lpn) |
		      (level > AFTL_APPROX ? level - AFTL_APPROX : 0) << AFTL_PPN_BITS);
}

/* Quality level of the data of an lpn word in a page with these attributes. */
static inline u32 aftl_get_quality_level_of_oob_lpn_word(aftl_lpn_t word, u16 attr)
{
	return aftl_page_class(attr) + (from_lpn(word) >> AFTL_PPN_BITS);
}

/* Return true if a page with these attributes can hold this lpn word; checks stored data. */
static inline bool aftl_can_page_hold_oob_lpn_word(aftl_lpn_t word, u16 attr)
{
	return word == AFTL_NO_LPN || !attr ||
	       from_lpn(word) >> AFTL_PPN_BITS < (aftl_page_class(attr) ? AFTL_LEVELS - 1 : 1);
}

/* The lpn in @ppn; AFTL_NO_LPN if @ppn holds padding. */
static inline aftl_lpn_t aftl_ppn_lpn(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return aftl_lpn_word_lpn(*aftl_oob_lpn_word(media, ppn));
}

static inline u16 aftl_ppn_attr(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return *aftl_page_attr_ptr(media, aftl_page_of_ppn(media, ppn));
}

/* Quality level of the data in @ppn, which is programmed. */
static inline u32 aftl_ppn_quality_level(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return aftl_get_quality_level_of_oob_lpn_word(*aftl_oob_lpn_word(media, ppn),
						      aftl_ppn_attr(media, ppn));
}

static inline bool aftl_has_error_model(const struct aftl_media *media)
{
	return media->models_errors;
}

static inline u32 aftl_block_index(const struct aftl_media *media, const struct aftl_block *block)
{
	return block - media->blocks;
}

/* Number of @page of @block, counted through the device. */
static inline u32 aftl_page_number_in_device(const struct aftl_media *media,
					     const struct aftl_block *block, u32 page)
{
	return aftl_block_index(media, block) * media->geo->pages + page;
}

static inline aftl_ppn_t aftl_page_ppn(const struct aftl_media *media,
				       const struct aftl_block *block, u32 page)
{
	return to_ppn(aftl_page_number_in_device(media, block, page) * media->geo->page_units);
}

static inline u16 aftl_block_page_attr(const struct aftl_media *media,
				       const struct aftl_block *block, u32 page)
{
	return *aftl_page_attr_ptr(media, aftl_page_number_in_device(media, block, page));
}

static inline struct aftl_block *aftl_block_of_ppn(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return &media->blocks[aftl_block_number_of_page(media->geo,
							aftl_page_of_ppn(media, ppn))];
}

static inline bool aftl_page_is_programmed(const struct aftl_media *media,
					   const struct aftl_block *block, u32 page)
{
	return aftl_block_page_attr(media, block, page) & AFTL_PAGE_PROGRAMMED;
}

/* Compute the layout of the OOB records of @media, whose geo and models_errors are set. */
void aftl_oob_layout_init(struct aftl_media *media);

/*
 * Reset the state of @block, which has no valid data, as an erase does, except for its extra data.
 */
void aftl_block_clear_oob(struct aftl_media *media, struct aftl_block *block);

#endif
