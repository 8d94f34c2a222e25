/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flash array: blocks, pages, out-of-band (OOB) metadata, valid bits. This layer does not know
 * time, queues or policies.
 */
#ifndef AFTL_MEDIA_H
#define AFTL_MEDIA_H

#include "core/base/chunks.h"
#include "core/base/geometry.h"
#include "core/nand/page-attr.h"

/**
 * struct aftl_block - one erase block
 * @prev: previous block in the free list or in the victim list of its valid count
 * @next: next block in the same list
 * @valid: ppns that hold the current version of their lpn
 * @valid_approx: those of them that are approximate
 * @programmed: pages programmed since the erase
 * @frontier: position of the program order in the block, see aftl_order_allows_program()
 * @erases: completed erases
 * @wear: sum of the wear of its erases, in 1/10000 of a full erase
 * @reads: sensings of its pages since the erase
 * @first_hour: device age in hours at the first program since the erase
 * @opened_ns: time of the first program since the erase, or of aftl_policy_reset_block_age()
 * @extra: NULL if all of it is 0, which is so for most blocks. For each page the hours from the
 *	first program of the block to its own, if the OOB record has no room for them; then for each
 *	ppn the inherited errors, see struct aftl_origin
 * @state: enum aftl_block_state
 * @order: enum aftl_order, set when the block is opened
 * @kind: the policy's use of the block; index of the names in its type
 * @bits: bits per cell, if the block uses fewer than its cells can hold; 0: all of them
 * @flip: colour of the checkerboard that is programmed first; survives erases. A block keeps the
 *	value that it was begun with, see aftl_first_checkerboard_colour()
 * @begun_flip: @flip at the first program
 * @approx_only: all pages programmed so far are approximate
 * @between: some pages allow only approximate neighbours from now on
 * @failing: the block is retired as soon as it has no valid data
 * @listed: the block is in the free list or in a victim list
 * @parity: used by the core for the parity of a superblock
 * @extra_used: @extra may contain values other than 0
 * @handle: placement handle that owns the block; 0: the default one
 * @note: state of the policy; an erase clears it
 *
 * Policies may read all fields and write only @note and @flip. The OOB area of the first page of a
 * block stores @kind, @bits, @order, @flip and @note.
 */
struct aftl_block {
	u32 prev;
	u32 next;
	u32 valid;
	u32 valid_approx;
	u32 programmed;
	u32 frontier;
	u32 erases;
	u32 wear;
	u32 reads;
	u32 first_hour;
	s64 opened_ns;
	u16 *extra;
	u8 state;
	u8 order;
	u8 kind;
	u8 bits;
	u8 flip : 1;
	u8 begun_flip : 1;
	u8 approx_only : 1;
	u8 between : 1;
	u8 failing : 1;
	u8 listed : 1;
	u8 parity : 1;
	u8 extra_used : 1;
	u8 handle;
	u16 note;
};

/**
 * struct aftl_origin - write generation and inherited errors of the data in a ppn
 * @generation: identifies the host write; relocation keeps it
 * @inherited: bit errors that the data had when it was relocated here
 *
 * The lpn, the seed and the write generation determine the sequence of bit positions that flip. The
 * first @inherited positions are wrong even before the errors of this page.
 */
struct aftl_origin {
	u16 generation;
	u16 inherited;
};

/* Inherited errors of data that was unreadable when it was relocated: its reads fail. */
#define AFTL_INHERITED_LOST 0xffff

/**
 * struct aftl_oob_layout - layout of the OOB record of a page, in 16-bit numbers
 * @bytes: size of the record
 * @near: pages whose records are in the first chunk
 * @attr: offset of the attributes, see aftl_page_attr(); the lpn words precede them
 * @generation: offset of the write generations, one for each unit, if errors are modelled
 * @hours: offset of the hours; 0: there is no room, and they are in the extra data of the block
 * @extra: size of the extra data of a block; 0: there is none
 */
struct aftl_oob_layout {
	u32 bytes;
	u32 near;
	u32 attr;
	u32 generation;
	u32 hours;
	u32 extra;
};

/**
 * struct aftl_media - state of the flash array
 * @geo: geometry
 * @blocks: by block number
 * @oob: OOB records by page of the device, see struct aftl_oob_layout
 * @oob_layout: layout of these records
 * @models_errors: errors are modelled, so that write generations are stored
 * @valid: by ppn, one bit
 * @lost: by ppn, one bit: valid, but the host has lost the data
 */
struct aftl_media {
	const struct aftl_geometry *geo;
	struct aftl_block *blocks;
	struct aftl_chunks oob;
	struct aftl_oob_layout oob_layout;
	bool models_errors;
	u64 *valid;
	u64 *lost;
};

/* Out-of-line part of aftl_oob_entry(), for pages beyond the first chunk. */
void *aftl_oob_entry_beyond_first_chunk(const struct aftl_media *media, u32 page);

static inline void *aftl_oob_entry(const struct aftl_media *media, u32 page)
{
	if (page < media->oob_layout.near)
		return (u8 *)media->oob.chunk[0] + (size_t)page * media->oob_layout.bytes;
	return aftl_oob_entry_beyond_first_chunk(media, page);
}

/* Address of the OOB attributes of @page, which is numbered through the device. */
static inline u16 *aftl_page_attr_ptr(const struct aftl_media *media, u32 page)
{
	return (u16 *)aftl_oob_entry(media, page) + media->oob_layout.attr;
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

/* Write generation of the data in @ppn, if errors are modelled. */
static inline u16 *aftl_oob_write_generation_ptr(const struct aftl_media *media, aftl_ppn_t ppn)
{
	u32 page = aftl_page_of_ppn(media, ppn);

	return (u16 *)aftl_oob_entry(media, page) + media->oob_layout.generation +
	       aftl_ppn_in_page(media, ppn);
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

/* Number of page ages at the start of a block's extra OOB data; inherited errors follow these. */
static inline u32 aftl_count_program_timestamps_in_extra_oob(const struct aftl_media *media)
{
	return media->oob_layout.hours ? 0 : media->geo->pages;
}

/* Address of the hours from the first program of @block to that of @page; NULL: all are zero. */
static inline u16 *aftl_get_program_timestamp_ptr_of_page(const struct aftl_media *media,
							  const struct aftl_block *block, u32 page)
{
	if (media->oob_layout.hours)
		return (u16 *)aftl_oob_entry(media,
					     aftl_page_number_in_device(media, block, page)) +
		       media->oob_layout.hours;
	return unlikely(block->extra_used) ? block->extra + page : NULL;
}

/* Hours from the first program of @block to the program of its @page. */
static inline u16 aftl_get_program_timestamp_of_page(const struct aftl_media *media,
						     const struct aftl_block *block, u32 page)
{
	const u16 *at = aftl_get_program_timestamp_ptr_of_page(media, block, page);

	return unlikely(at) ? *at : 0;
}

/* Where the inherited errors of @ppn are stored; NULL if the block has none. */
static inline u16 *aftl_oob_inherited_errors_ptr(const struct aftl_media *media,
						 const struct aftl_block *block, aftl_ppn_t ppn)
{
	return likely(!block->extra_used) ?
		       NULL :
		       block->extra + aftl_count_program_timestamps_in_extra_oob(media) +
			       from_ppn(ppn) -
			       aftl_block_index(media, block) * media->geo->block_ppns;
}

/* Return the origin of the data in @ppn; all 0 if errors are not modelled. */
static inline struct aftl_origin aftl_oob_origin(const struct aftl_media *media,
						 const struct aftl_block *block, aftl_ppn_t ppn)
{
	struct aftl_origin origin = { 0 };
	const u16 *at;

	if (!aftl_has_error_model(media))
		return origin;
	at = aftl_oob_inherited_errors_ptr(media, block, ppn);
	origin.generation = *aftl_oob_write_generation_ptr(media, ppn);
	origin.inherited = unlikely(at) ? *at : 0;
	return origin;
}

static inline struct aftl_block *aftl_block_of_ppn(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return &media->blocks[aftl_block_number_of_page(media->geo,
							aftl_page_of_ppn(media, ppn))];
}

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

/* Age in hours of the data in @page at device age @hour. */
static inline u64 aftl_page_age_hours(const struct aftl_media *media,
				      const struct aftl_block *block, u32 page, u64 hour)
{
	u64 written =
		(u64)block->first_hour + aftl_get_program_timestamp_of_page(media, block, page);

	return hour > written ? hour - written : 0;
}

static inline bool aftl_page_is_programmed(const struct aftl_media *media,
					   const struct aftl_block *block, u32 page)
{
	return aftl_block_page_attr(media, block, page) & AFTL_PAGE_PROGRAMMED;
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

/**
 * aftl_oob_layout_init() - compute the layout of the OOB records
 * @media: flash array; geo and models_errors are set
 */
void aftl_oob_layout_init(struct aftl_media *media);

/**
 * aftl_block_clear_oob() - reset the state of @block as an erase does, except for its extra data
 * @media: flash array
 * @block: block, without valid data
 */
void aftl_block_clear_oob(struct aftl_media *media, struct aftl_block *block);

#endif
