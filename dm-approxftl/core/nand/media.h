/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The emulated flash: blocks, pages, what each slot holds, and which programs
 * are legal. Nothing here knows about time, queues or policies' opinions.
 */
#ifndef AFTL_MEDIA_H
#define AFTL_MEDIA_H

#include "core/base/chunks.h"
#include "core/base/geometry.h"

/**
 * struct aftl_block - one erase block
 * @prev: neighbour in the free list or in a list of equal valid counts
 * @next: neighbour in the same list
 * @valid: slots that hold the newest version of their unit
 * @valid_approx: those of them that are approximate
 * @programmed: pages programmed since the erase
 * @frontier: where the block's order continues, see aftl_order_allows()
 * @erases: completed erases
 * @wear: sum of the erases' wear, in 1/10000 of a full erase
 * @reads: sensings of its pages since the erase
 * @first_hour: device age in hours at the first program since the erase
 * @opened_ns: time of the first program since the erase, or of what the policy takes
 *	for it, see aftl_policy_restamp_block()
 * @extra: what few blocks have: for each page the hours from the block's first program to its
 *	own, if they are not beside its attributes, then for each slot the errors that its content
 *	had when it was copied there, see struct aftl_origin. NULL: all of it is 0
 * @state: enum aftl_block_state
 * @order: enum aftl_order that the block was opened with
 * @kind: what its policy uses it for; names in the policy's type
 * @bits: what each of its cells holds, if that is less than it can; 0: all
 * @flip: checkerboard colour that comes first; kept over erases. A block that has begun keeps
 *	the one that it began with, see aftl_block_flip()
 * @begun_flip: that one
 * @approx_only: every page programmed so far is approximate
 * @between: has pages whose later neighbours must be approximate
 * @failing: to be retired as soon as nothing valid is left in it
 * @listed: stands in the free list or in a list of victims
 * @parity: the core's, for the parity of its superblock
 * @extra_used: something in @extra may be other than 0
 * @handle: placement handle whose reclaim unit it is; 0: the default one
 * @note: bits that belong to the policy; erasing clears them
 *
 * Policies read everything and write only @note and @flip. @kind, @bits, @order, @flip
 * and @note are what goes into the spare area of the block's first page.
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
	u64 opened_ns;
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

/*
 * What a page remembers of its program. The low byte was all of it while there were eight
 * modes; the upper bits of the mode follow above.
 */
#define AFTL_PAGE_PROGRAMMED 0x01
#define AFTL_PAGE_CLASS_SHIFT 1
#define AFTL_PAGE_CLASS_MASK 0x02
#define AFTL_PAGE_OVERPROGRAMMED 0x04
#define AFTL_PAGE_MODE_SHIFT 3
#define AFTL_PAGE_MODE_MASK 0x38
#define AFTL_PAGE_MODE_BITS 3
#define AFTL_PAGE_REPROGRAMS_SHIFT 6
#define AFTL_PAGE_REPROGRAMS_MASK 0xc0
#define AFTL_PAGE_MODE_HIGH_SHIFT 8

/* Programs of one word line after the first, between two erases. */
#define AFTL_REPROGRAMS_MAX 2
/* Layers whose word lines may be programmed again: the last two that were begun. */
#define AFTL_SUPER_LAYERS 2

static inline u16 aftl_page_attr(u32 class, u32 mode, u32 again)
{
	return AFTL_PAGE_PROGRAMMED | class << AFTL_PAGE_CLASS_SHIFT |
	       (mode << AFTL_PAGE_MODE_SHIFT & AFTL_PAGE_MODE_MASK) |
	       again << AFTL_PAGE_REPROGRAMS_SHIFT |
	       mode >> AFTL_PAGE_MODE_BITS << AFTL_PAGE_MODE_HIGH_SHIFT;
}

static inline u32 aftl_page_class(u16 attr)
{
	return (attr & AFTL_PAGE_CLASS_MASK) >> AFTL_PAGE_CLASS_SHIFT;
}

static inline u32 aftl_page_mode(u16 attr)
{
	return (attr & AFTL_PAGE_MODE_MASK) >> AFTL_PAGE_MODE_SHIFT |
	       attr >> AFTL_PAGE_MODE_HIGH_SHIFT << AFTL_PAGE_MODE_BITS;
}

/* Bits in a cell that was programmed in @mode; 0: all that it can hold. */
static inline u32 aftl_mode_bits(u32 mode)
{
	static const u8 bits[AFTL_MODES] = {
#define MODE(name, word, bits, program, share, read, curve, rate) \
		[AFTL_MODE_##name] = bits,
#include "core/base/mode-list.h"
#undef MODE
	};

	return bits[mode];
}

/* Some of its cells went past their states when it was programmed. */
static inline bool aftl_page_overprogrammed(u16 attr)
{
	return attr & AFTL_PAGE_OVERPROGRAMMED;
}

/* Programmed to a lower top voltage (ApproxFTL): it disturbs its neighbours less. */
static inline bool aftl_has_low_top_voltage(u32 mode, u32 class)
{
	return (mode == AFTL_MODE_REDUCED || mode == AFTL_MODE_ROUGH) && class == AFTL_APPROX;
}

static inline bool aftl_page_low_top_voltage(u16 attr)
{
	return aftl_has_low_top_voltage(aftl_page_mode(attr), aftl_page_class(attr));
}

/* Programmed without margins for years of retention (TVR). */
static inline bool aftl_page_short_lived(u16 attr)
{
	return aftl_page_mode(attr) == AFTL_MODE_REDUCED && aftl_page_class(attr) == AFTL_PRECISE;
}

static inline u32 aftl_page_reprograms(u16 attr)
{
	return (attr & AFTL_PAGE_REPROGRAMS_MASK) >> AFTL_PAGE_REPROGRAMS_SHIFT;
}

/* Is there a program, or an erase, that leaves this? */
static inline bool aftl_attr_possible(u16 attr)
{
	return !attr || (attr & AFTL_PAGE_PROGRAMMED && aftl_page_class(attr) < AFTL_CLASSES &&
			 aftl_page_mode(attr) < AFTL_MODES &&
			 aftl_page_reprograms(attr) <= AFTL_REPROGRAMS_MAX);
}

/**
 * struct aftl_origin - where the errors of a slot's content come from
 * @generation: names the host write that the content stems from; copies keep it
 * @inherited: errors that the content had when it was copied here
 *
 * Together with the unit and the seed the lineage fixes the sequence of bit
 * positions that may flip. The first @inherited of them have flipped for good.
 */
struct aftl_origin {
	u16 generation;
	u16 inherited;
};

/* The content could not be read when it was copied: reads fail until rewritten. */
#define AFTL_INHERITED_LOST 0xffff

/**
 * struct aftl_oob_layout - where what is in what a program leaves of a page, in numbers of 16 bits
 * @bytes: all of it
 * @near: so many pages have theirs in the first chunk
 * @attr: see aftl_page_attr(). Before it are words of its units, see aftl_oob_lpn_word()
 * @generation: of each of its units, if errors are modelled
 * @hours: if there is room for them; 0: they are in the block's extra
 * @extra: numbers of a block's extra; 0: blocks have none
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
 * struct aftl_media - state of the whole flash array
 * @geo: shape
 * @blocks: by block number
 * @oob: by page, what its program has left there, see struct aftl_oob_layout
 * @oob_layout: where what is in one of those
 * @models_errors: errors are modelled: origins mean something
 * @valid: by slot, one bit
 * @lost: by slot, one bit: valid, but the host has lost its bytes
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

/* Of a page that is not among the @near. */
void *aftl_oob_at_slow(const struct aftl_media *media, u32 page);

static inline void *aftl_oob_at(const struct aftl_media *media, u32 page)
{
	if (page < media->oob_layout.near)
		return (u8 *)media->oob.chunk[0] + (size_t)page * media->oob_layout.bytes;
	return aftl_oob_at_slow(media, page);
}

/* Attributes of @page of the device. */
static inline u16 *aftl_page_attr_at(const struct aftl_media *media, u32 page)
{
	return (u16 *)aftl_oob_at(media, page) + media->oob_layout.attr;
}

/* Most pages have one unit, and division takes its time. */
static inline u32 aftl_ppn_page(const struct aftl_media *media, aftl_ppn_t ppn)
{
	u32 units = media->geo->page_units;

	return units == 1 ? from_ppn(ppn) : from_ppn(ppn) / units;
}

/* Lineage of the content of @ppn; there are some if errors are modelled. */
static inline u16 *aftl_oob_generation(const struct aftl_media *media, aftl_ppn_t ppn)
{
	u32 page = aftl_ppn_page(media, ppn);

	return (u16 *)aftl_oob_at(media, page) + media->oob_layout.generation +
	       (from_ppn(ppn) - page * media->geo->page_units);
}

/* What is kept of a slot's unit: its number, and above it by how much its level is beyond 1. */
static inline aftl_lpn_t *aftl_oob_lpn_word(const struct aftl_media *media, aftl_ppn_t ppn)
{
	u32 page = aftl_ppn_page(media, ppn);

	return (aftl_lpn_t *)aftl_oob_at(media, page) +
	       (from_ppn(ppn) - page * media->geo->page_units);
}

static inline aftl_lpn_t aftl_lpn_word_lpn(aftl_lpn_t word)
{
	return from_lpn(word) >> AFTL_PPN_BITS == AFTL_LEVELS - 1 ?
		       AFTL_NO_LPN : to_lpn(from_lpn(word) & AFTL_PPN_MASK);
}

static inline aftl_lpn_t aftl_lpn_word(aftl_lpn_t lpn, u32 level)
{
	return to_lpn(from_lpn(lpn) | (level > AFTL_APPROX ? level - AFTL_APPROX : 0)
						 << AFTL_PPN_BITS);
}

/* Of a unit in a page with these attributes. */
static inline u32 aftl_lpn_word_level(aftl_lpn_t word, u16 attr)
{
	return aftl_page_class(attr) + (from_lpn(word) >> AFTL_PPN_BITS);
}

/* Can this be kept of a unit in a page with these attributes? Of an erased one nothing is. */
static inline bool aftl_lpn_word_possible(aftl_lpn_t word, u16 attr)
{
	return word == AFTL_NO_LPN || !attr ||
	       from_lpn(word) >> AFTL_PPN_BITS < (aftl_page_class(attr) ? AFTL_LEVELS - 1 : 1);
}

/* The unit in @ppn; AFTL_NO_LPN if it was programmed without one. */
static inline aftl_lpn_t aftl_ppn_lpn(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return aftl_lpn_word_lpn(*aftl_oob_lpn_word(media, ppn));
}

/* Attributes of the page of @ppn. */
static inline u16 aftl_ppn_attr(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return *aftl_page_attr_at(media, aftl_ppn_page(media, ppn));
}

/* The level of the unit in @ppn, which is programmed. */
static inline u32 aftl_ppn_level(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return aftl_lpn_word_level(*aftl_oob_lpn_word(media, ppn), aftl_ppn_attr(media, ppn));
}

static inline bool aftl_models_errors(const struct aftl_media *media)
{
	return media->models_errors;
}

static inline u32 aftl_block_index(const struct aftl_media *media, const struct aftl_block *block)
{
	return block - media->blocks;
}

/* Page number in the whole device of @page in @block. */
static inline u32 aftl_block_device_page(const struct aftl_media *media, const struct aftl_block *block,
				   u32 page)
{
	return aftl_block_index(media, block) * media->geo->pages + page;
}

static inline aftl_ppn_t aftl_page_ppn(const struct aftl_media *media,
					 const struct aftl_block *block, u32 page)
{
	return to_ppn(aftl_block_device_page(media, block, page) * media->geo->page_units);
}

/* Attributes of @page of @block. */
static inline u16 aftl_block_page_attr(const struct aftl_media *media, const struct aftl_block *block,
			    u32 page)
{
	return *aftl_page_attr_at(media, aftl_block_device_page(media, block, page));
}

/* Hours that are in a block's extra, before the errors: none, or those of all pages. */
static inline u32 aftl_block_extra_hours(const struct aftl_media *media)
{
	return media->oob_layout.hours ? 0 : media->geo->pages;
}

/* Where hours of @page of @block are; NULL: they are 0. */
static inline u16 *aftl_hours_at(const struct aftl_media *media, const struct aftl_block *block,
				 u32 page)
{
	if (media->oob_layout.hours)
		return (u16 *)aftl_oob_at(media, aftl_block_device_page(media, block, page)) +
		       media->oob_layout.hours;
	return unlikely(block->extra_used) ? block->extra + page : NULL;
}

/* Hours between the first program of @block and that of its @page. */
static inline u16 aftl_page_hours_since(const struct aftl_media *media,
					const struct aftl_block *block, u32 page)
{
	const u16 *at = aftl_hours_at(media, block, page);

	return unlikely(at) ? *at : 0;
}

/* Where the errors of @ppn of @block are that came with a copy; NULL: there are none. */
static inline u16 *aftl_inherited_errors_at(const struct aftl_media *media, const struct aftl_block *block,
				 aftl_ppn_t ppn)
{
	return likely(!block->extra_used) ? NULL :
		block->extra + aftl_block_extra_hours(media) +
		from_ppn(ppn) % media->geo->block_ppns;
}

/* None where errors are not modelled. */
static inline struct aftl_origin aftl_origin(const struct aftl_media *media,
					     const struct aftl_block *block, aftl_ppn_t ppn)
{
	struct aftl_origin origin = { 0 };
	const u16 *at;

	if (!aftl_models_errors(media))
		return origin;
	at = aftl_inherited_errors_at(media, block, ppn);
	origin.generation = *aftl_oob_generation(media, ppn);
	origin.inherited = unlikely(at) ? *at : 0;
	return origin;
}

static inline struct aftl_block *aftl_ppn_block(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return &media->blocks[from_ppn(ppn) / media->geo->block_ppns];
}

static inline bool aftl_ppn_valid(const struct aftl_media *media, aftl_ppn_t ppn)
{
	return media->valid[from_ppn(ppn) / 64] >> (from_ppn(ppn) % 64) & 1;
}

static inline void aftl_ppn_set_valid(struct aftl_media *media, aftl_ppn_t ppn)
{
	media->valid[from_ppn(ppn) / 64] |= 1ULL << (from_ppn(ppn) % 64);
}

/* So many from @ppn on. */
static inline void aftl_ppn_set_valid_range(struct aftl_media *media, aftl_ppn_t ppn, u32 slots)
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

static inline bool aftl_ppn_lost(const struct aftl_media *media, aftl_ppn_t ppn)
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

/* Age of what is in @page at device age @hour, in hours. */
static inline u64 aftl_page_hours(const struct aftl_media *media, const struct aftl_block *block,
				  u32 page, u64 hour)
{
	u64 written = (u64)block->first_hour + aftl_page_hours_since(media, block, page);

	return hour > written ? hour - written : 0;
}

static inline bool aftl_page_programmed(const struct aftl_media *media,
					const struct aftl_block *block, u32 page)
{
	return aftl_block_page_attr(media, block, page) & AFTL_PAGE_PROGRAMMED;
}

/* Can a block of @order have been opened for @bits in a cell? */
static inline bool aftl_bits_possible(const struct aftl_geometry *geo, u32 bits, u32 order)
{
	return !bits || (bits * geo->planes_wide < geo->word_line_pages &&
			 order == AFTL_ORDER_SEQUENTIAL);
}

/* Word lines of three bits in a cell, programmed at once. */
#define AFTL_SWITCH_BITS 3

/* Can a word line hold one bit in a cell first, and get the rest beside it? */
static inline bool aftl_switch_possible(const struct aftl_geometry *geo)
{
	return geo->word_line_pages == AFTL_SWITCH_BITS * geo->planes_wide &&
	       geo->program_pages == geo->word_line_pages && geo->passes == 1;
}

/*
 * Where word lines have two passes, blocks in use have them, but for those with fewer bits; and
 * not each word line can be switched.
 */
static inline bool aftl_passes_possible(const struct aftl_geometry *geo, u32 bits, u32 order)
{
	return (geo->passes > 1 && !bits) == (order == AFTL_ORDER_FOGGY_FINE) &&
	       (order != AFTL_ORDER_SWITCHED || aftl_switch_possible(geo));
}

/* Mode of the programs with which a policy fills @block; a second pass is the core's. */
static inline u32 aftl_block_program_mode(const struct aftl_block *block)
{
	static const u8 less[] = { AFTL_MODE_NORMAL, AFTL_MODE_SLC, AFTL_MODE_MLC, AFTL_MODE_TLC };

	return unlikely(block->order == AFTL_ORDER_FOGGY_FINE) ? AFTL_MODE_FOGGY :
								   less[block->bits];
}

/* The checkerboard colour that comes first in @block, whatever its policy writes meanwhile. */
static inline bool aftl_block_flip(const struct aftl_block *block)
{
	return block->programmed ? block->begun_flip : block->flip;
}

static inline void aftl_block_set_flip(struct aftl_block *block, bool flip)
{
	block->flip = flip;
	block->begun_flip = flip;
}

/* Has @page had the first of two passes only? */
static inline bool aftl_page_foggy(u16 attr)
{
	return aftl_page_mode(attr) == AFTL_MODE_FOGGY;
}

/* Pages of a word line of @block that are in use. */
static inline u32 aftl_word_line_used_pages(const struct aftl_geometry *geo, const struct aftl_block *block)
{
	return likely(!block->bits) ? geo->word_line_pages : block->bits * geo->planes_wide;
}

/* Pages that @block holds: all there are, but for cells that are not used to the full. */
static inline u32 aftl_block_pages(const struct aftl_geometry *geo,
				   const struct aftl_block *block)
{
	return likely(!block->bits) ? geo->pages :
		geo->pages / geo->word_line_pages * aftl_word_line_used_pages(geo, block);
}

/* Pages of one program step of @block. */
static inline u32 aftl_block_step(const struct aftl_geometry *geo, const struct aftl_block *block)
{
	return likely(!block->bits) ? geo->program_pages :
		min(geo->program_pages, aftl_word_line_used_pages(geo, block));
}

/* Is it filled from its first page to its last, with all the bits of its cells? */
static inline bool aftl_block_is_sequential(const struct aftl_block *block)
{
	return block->order == AFTL_ORDER_SEQUENTIAL && !block->bits;
}

/* The same for any order. */
bool aftl_any_order_allows(const struct aftl_media *media, const struct aftl_block *block,
			    u32 page, u32 pages);

/**
 * aftl_order_allows() - may @pages pages from @page be programmed now?
 * @media: flash array
 * @block: block in question
 * @page: page of the block
 * @pages: pages of the program
 *
 * Knows the block's order, the reprogram limit and that a programmed page must
 * not be programmed; the one place where legality is decided.
 */
static inline bool aftl_order_allows(const struct aftl_media *media,
				     const struct aftl_block *block, u32 page, u32 pages)
{
	if (likely(aftl_block_is_sequential(block)))
		return block->state == AFTL_BLOCK_OPEN && pages == media->geo->program_pages &&
		       page == block->frontier && page < media->geo->pages &&
		       !aftl_page_programmed(media, block, page);
	return aftl_any_order_allows(media, block, page, pages);
}

/**
 * aftl_order_next() - first page of a program step that @block allows, or its page count
 * @media: flash array
 * @block: an open block
 */
u32 aftl_order_next(const struct aftl_media *media, const struct aftl_block *block);

/**
 * aftl_order_advance() - move the frontier past the program step at @page
 * @media: flash array
 * @block: block in question
 * @page: page of the block
 *
 * The step is already counted in the block's programmed pages.
 */
void aftl_order_advance(const struct aftl_media *media, struct aftl_block *block, u32 page);

/**
 * aftl_switch_next_page() - where a block in the order SWITCHED goes on
 * @geo: shape of the device
 * @programmed: its programmed pages
 * @pages: takes how many are programmed next
 *
 * Return: the first of them, or the page count of a block that is full.
 */
u32 aftl_switch_next_page(const struct aftl_geometry *geo, u32 programmed, u32 *pages);

/* Is @page of a word line that is switched among those that it had before? */
static inline bool aftl_is_switch_first_pass(const struct aftl_geometry *geo, u32 page)
{
	return page % geo->word_line_pages < geo->planes_wide;
}

/**
 * aftl_switch_line() - its cells hold all bits now: pages that were there are read as the others
 * @media: flash array
 * @block: block in question
 * @page: any page of the word line
 */
void aftl_switch_line(const struct aftl_media *media, const struct aftl_block *block, u32 page);

/* Word lines of a block that can be between their passes. */
#define AFTL_FOGGY_WORD_LINES 2

/**
 * aftl_fine_pass_page() - page of the word line whose second pass is next, or the page count
 * @media: flash array
 * @block: an open block in the order FOGGY_FINE
 *
 * It comes before any other program of the block. Where no more follow, as in a block whose
 * frontier is its end, what is left has its turn, the lowest first.
 */
u32 aftl_fine_pass_page(const struct aftl_media *media, const struct aftl_block *block);

/* Pages of a block's first half, which has the greater part of an odd number of steps. */
static inline u32 aftl_lending_pages(const struct aftl_geometry *geo)
{
	return DIV_ROUND_UP(aftl_block_program_steps(geo), 2) * geo->program_pages;
}

/**
 * aftl_two_pass_next() - next position of a two-pass block, its page count if full
 * @media: flash array
 * @block: block in question
 *
 * The first pass takes the positions of colour 0, given the block's flip bit.
 */
u32 aftl_two_pass_next(const struct aftl_media *media, const struct aftl_block *block);

/**
 * aftl_first_pass_pages() - pages of the first pass of a two-pass block
 * @geo: shape of the device
 * @flip: colour that comes first
 */
u32 aftl_first_pass_pages(const struct aftl_geometry *geo, bool flip);

/**
 * aftl_lending_borrower() - the page to which @page of @block lends if it was programmed to
 * @geo: shape of the device
 * @page: page of the block
 *
 * Half a block before it: a block that is filled in sequence with precise data, then with as much
 * that is approximate, has a lender for each precise page.
 *
 * Return: the page, or the page count of a block if there is none.
 */
static inline u32 aftl_lending_borrower(const struct aftl_geometry *geo, u32 page)
{
	u32 half = aftl_lending_pages(geo);

	return page < half ? geo->pages : page - half;
}

/**
 * aftl_page_valid() - does any slot of @page hold current data?
 * @media: flash array
 * @block: block in question
 * @page: page of the block
 */
bool aftl_page_valid(const struct aftl_media *media, const struct aftl_block *block, u32 page);

/**
 * aftl_page_level() - the most careful level of the current data in @page, which has some
 * @media: flash array
 * @block: block in question
 * @page: page of the block
 */
u32 aftl_page_level(const struct aftl_media *media, const struct aftl_block *block, u32 page);

/**
 * aftl_word_line_reprograms() - programs of the word line of @page after its first
 * @media: flash array
 * @block: block in question
 * @page: any page of the word line
 */
u32 aftl_word_line_reprograms(const struct aftl_media *media, const struct aftl_block *block,
			      u32 page);

/**
 * aftl_oob_layout_init() - lay out what a program leaves of a page
 * @media: flash array, with its shape and whether errors are modelled
 */
void aftl_oob_layout_init(struct aftl_media *media);

/**
 * aftl_block_wipe() - the state changes of an erase, but for the block's extra
 * @media: flash array
 * @block: block in question
 */
void aftl_block_wipe(struct aftl_media *media, struct aftl_block *block);

#endif
