/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flash array: blocks, pages, out-of-band (OOB) metadata, valid bits, and the program orders.
 * This layer does not know time, queues or policies.
 */
#ifndef AFTL_MEDIA_H
#define AFTL_MEDIA_H

#include "core/base/chunks.h"
#include "core/base/geometry.h"

/**
 * struct aftl_block - one erase block
 * @prev: previous block in the free list or in the victim list of its valid count
 * @next: next block in the same list
 * @valid: ppns that hold the current version of their lpn
 * @valid_approx: those of them that are approximate
 * @programmed: pages programmed since the erase
 * @frontier: position of the program order in the block, see aftl_order_allows()
 * @erases: completed erases
 * @wear: sum of the wear of its erases, in 1/10000 of a full erase
 * @reads: sensings of its pages since the erase
 * @first_hour: device age in hours at the first program since the erase
 * @opened_ns: time of the first program since the erase, or of aftl_policy_restamp_block()
 * @extra: NULL if all of it is 0, which is so for most blocks. For each page the hours from the
 *	first program of the block to its own, if the OOB record has no room for them; then for each
 *	ppn the inherited errors, see struct aftl_origin
 * @state: enum aftl_block_state
 * @order: enum aftl_order, set when the block is opened
 * @kind: the policy's use of the block; index of the names in its type
 * @bits: bits per cell, if the block uses fewer than its cells can hold; 0: all of them
 * @flip: colour of the checkerboard that is programmed first; survives erases. A block keeps the
 *	value that it was begun with, see aftl_block_flip()
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
 * Attributes of a programmed page. Volumes with at most eight modes store the low byte only; the
 * upper bits of the mode are above it.
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

/* Reprograms of one word line between two erases. */
#define AFTL_REPROGRAMS_MAX 2
/* Layers of a block that are open for reprograms. */
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

/* Bits per cell of a page programmed in @mode; 0: all that the cell can hold. */
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

/* Some cells of the page were programmed beyond their states. */
static inline bool aftl_page_overprogrammed(u16 attr)
{
	return attr & AFTL_PAGE_OVERPROGRAMMED;
}

/* The page has a lower top voltage (ApproxFTL), so that it disturbs its neighbours less. */
static inline bool aftl_has_low_top_voltage(u32 mode, u32 class)
{
	return (mode == AFTL_MODE_REDUCED || mode == AFTL_MODE_ROUGH) && class == AFTL_APPROX;
}

static inline bool aftl_page_low_top_voltage(u16 attr)
{
	return aftl_has_low_top_voltage(aftl_page_mode(attr), aftl_page_class(attr));
}

/* The page was programmed without retention margins (TVR). */
static inline bool aftl_page_short_lived(u16 attr)
{
	return aftl_page_mode(attr) == AFTL_MODE_REDUCED && aftl_page_class(attr) == AFTL_PRECISE;
}

static inline u32 aftl_page_reprograms(u16 attr)
{
	return (attr & AFTL_PAGE_REPROGRAMS_MASK) >> AFTL_PAGE_REPROGRAMS_SHIFT;
}

/* Return true if some sequence of programs and erases leaves these attributes; for stored data. */
static inline bool aftl_attr_possible(u16 attr)
{
	return !attr || (attr & AFTL_PAGE_PROGRAMMED && aftl_page_class(attr) < AFTL_CLASSES &&
			 aftl_page_mode(attr) < AFTL_MODES &&
			 aftl_page_reprograms(attr) <= AFTL_REPROGRAMS_MAX);
}

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

/* The data was unreadable when it was relocated: reads fail until the lpn is written again. */
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

/* Out-of-line part of aftl_oob_at(), for pages beyond the first chunk. */
void *aftl_oob_at_slow(const struct aftl_media *media, u32 page);

static inline void *aftl_oob_at(const struct aftl_media *media, u32 page)
{
	if (page < media->oob_layout.near)
		return (u8 *)media->oob.chunk[0] + (size_t)page * media->oob_layout.bytes;
	return aftl_oob_at_slow(media, page);
}

/* @page counts through the device. */
static inline u16 *aftl_page_attr_at(const struct aftl_media *media, u32 page)
{
	return (u16 *)aftl_oob_at(media, page) + media->oob_layout.attr;
}

/* Most pages hold one unit, for which the division is avoided. */
static inline u32 aftl_ppn_page(const struct aftl_media *media, aftl_ppn_t ppn)
{
	u32 units = media->geo->page_units;

	return units == 1 ? from_ppn(ppn) : from_ppn(ppn) / units;
}

/* Write generation of the data in @ppn, if errors are modelled. */
static inline u16 *aftl_oob_generation(const struct aftl_media *media, aftl_ppn_t ppn)
{
	u32 page = aftl_ppn_page(media, ppn);

	return (u16 *)aftl_oob_at(media, page) + media->oob_layout.generation +
	       (from_ppn(ppn) - page * media->geo->page_units);
}

/*
 * The stored lpn word of @ppn: the lpn, and above it the quality level of approximate data minus 1.
 */
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
	return to_lpn(from_lpn(lpn) |
		      (level > AFTL_APPROX ? level - AFTL_APPROX : 0) << AFTL_PPN_BITS);
}

/* Quality level of the data of an lpn word in a page with these attributes. */
static inline u32 aftl_lpn_word_level(aftl_lpn_t word, u16 attr)
{
	return aftl_page_class(attr) + (from_lpn(word) >> AFTL_PPN_BITS);
}

/* Return true if a page with these attributes can hold this lpn word; for stored data. */
static inline bool aftl_lpn_word_possible(aftl_lpn_t word, u16 attr)
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
	return *aftl_page_attr_at(media, aftl_ppn_page(media, ppn));
}

/* Quality level of the data in @ppn, which is programmed. */
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

/* Number of @page of @block, counted through the device. */
static inline u32 aftl_block_device_page(const struct aftl_media *media,
					 const struct aftl_block *block, u32 page)
{
	return aftl_block_index(media, block) * media->geo->pages + page;
}

static inline aftl_ppn_t aftl_page_ppn(const struct aftl_media *media,
				       const struct aftl_block *block, u32 page)
{
	return to_ppn(aftl_block_device_page(media, block, page) * media->geo->page_units);
}

static inline u16 aftl_block_page_attr(const struct aftl_media *media,
				       const struct aftl_block *block, u32 page)
{
	return *aftl_page_attr_at(media, aftl_block_device_page(media, block, page));
}

/* Numbers in the extra data of a block that precede the inherited errors. */
static inline u32 aftl_block_extra_hours(const struct aftl_media *media)
{
	return media->oob_layout.hours ? 0 : media->geo->pages;
}

/* Address of the hours of @page; NULL: they are 0. */
static inline u16 *aftl_hours_at(const struct aftl_media *media, const struct aftl_block *block,
				 u32 page)
{
	if (media->oob_layout.hours)
		return (u16 *)aftl_oob_at(media, aftl_block_device_page(media, block, page)) +
		       media->oob_layout.hours;
	return unlikely(block->extra_used) ? block->extra + page : NULL;
}

/* Hours from the first program of @block to the program of its @page. */
static inline u16 aftl_page_hours_since(const struct aftl_media *media,
					const struct aftl_block *block, u32 page)
{
	const u16 *at = aftl_hours_at(media, block, page);

	return unlikely(at) ? *at : 0;
}

/* Address of the inherited errors of @ppn; NULL: there are none. */
static inline u16 *aftl_inherited_errors_at(const struct aftl_media *media,
					    const struct aftl_block *block, aftl_ppn_t ppn)
{
	return likely(!block->extra_used) ? NULL :
		block->extra + aftl_block_extra_hours(media) +
		from_ppn(ppn) % media->geo->block_ppns;
}

/* All 0 if errors are not modelled. */
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

/* Set @slots valid bits from @ppn on. */
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

/* Age in hours of the data in @page at device age @hour. */
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

/* Return true if a block of this order can use @bits per cell (0: all); for stored data. */
static inline bool aftl_bits_possible(const struct aftl_geometry *geo, u32 bits, u32 order)
{
	return !bits || (bits * geo->planes_wide < geo->word_line_pages &&
			 order == AFTL_ORDER_SEQUENTIAL);
}

/* In-place switching needs word lines of three bits, programmed at once. */
#define AFTL_SWITCH_BITS 3

/* Return true if word lines can hold one bit per cell first and get the other bits later (IPS). */
static inline bool aftl_switch_possible(const struct aftl_geometry *geo)
{
	return geo->word_line_pages == AFTL_SWITCH_BITS * geo->planes_wide &&
	       geo->program_pages == geo->word_line_pages && geo->passes == 1;
}

/*
 * Return true if a block can have @order and @bits; for stored data. With two passes, blocks with
 * all bits use FOGGY_FINE; in-place switching depends on the geometry.
 */
static inline bool aftl_passes_possible(const struct aftl_geometry *geo, u32 bits, u32 order)
{
	return (geo->passes > 1 && !bits) == (order == AFTL_ORDER_FOGGY_FINE) &&
	       (order != AFTL_ORDER_SWITCHED || aftl_switch_possible(geo));
}

/* Mode in which a policy programs @block; the fine pass of FOGGY_FINE is issued by the core. */
static inline u32 aftl_block_program_mode(const struct aftl_block *block)
{
	static const u8 less[] = { AFTL_MODE_NORMAL, AFTL_MODE_SLC, AFTL_MODE_MLC, AFTL_MODE_TLC };

	return unlikely(block->order == AFTL_ORDER_FOGGY_FINE) ? AFTL_MODE_FOGGY :
								   less[block->bits];
}

/*
 * Colour that is programmed first in @block. The policy may change @flip of a block in use, which
 * takes effect after the erase.
 */
static inline bool aftl_block_flip(const struct aftl_block *block)
{
	return block->programmed ? block->begun_flip : block->flip;
}

static inline void aftl_block_set_flip(struct aftl_block *block, bool flip)
{
	block->flip = flip;
	block->begun_flip = flip;
}

/* The page has had the coarse pass only. */
static inline bool aftl_page_foggy(u16 attr)
{
	return aftl_page_mode(attr) == AFTL_MODE_FOGGY;
}

/* Pages of a word line of @block that are used. */
static inline u32 aftl_word_line_used_pages(const struct aftl_geometry *geo,
					    const struct aftl_block *block)
{
	return likely(!block->bits) ? geo->word_line_pages : block->bits * geo->planes_wide;
}

/* Pages that @block can hold with its bits per cell. */
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

/*
 * Return true if the block is programmed from its first page to its last, with all bits per cell.
 */
static inline bool aftl_block_is_sequential(const struct aftl_block *block)
{
	return block->order == AFTL_ORDER_SEQUENTIAL && !block->bits;
}

/* Out-of-line part of aftl_order_allows(). */
bool aftl_any_order_allows(const struct aftl_media *media, const struct aftl_block *block, u32 page,
			   u32 pages);

/**
 * aftl_order_allows() - return true if @pages pages from @page may be programmed now
 * @media: flash array
 * @block: block of the pages
 * @page: page of the block
 * @pages: pages of the program
 *
 * All program constraints are checked here: the order of the block, the limit of reprograms, and
 * that a page is programmed once.
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
 * aftl_order_next() - first page of the next program step that @block allows
 * @media: flash array
 * @block: an open block
 *
 * Return: the page, or the number of pages if the block is full.
 */
u32 aftl_order_next(const struct aftl_media *media, const struct aftl_block *block);

/**
 * aftl_order_advance() - move the frontier past the program step at @page
 * @media: flash array
 * @block: block of the page
 * @page: page of the block
 *
 * Call it after the step has been added to block->programmed.
 */
void aftl_order_advance(const struct aftl_media *media, struct aftl_block *block, u32 page);

/**
 * aftl_switch_next_page() - next program step of a block in the order SWITCHED
 * @geo: geometry
 * @programmed: programmed pages of the block
 * @pages: takes the pages of the step
 *
 * Return: the first page of the step, or the number of pages if the block is full.
 */
u32 aftl_switch_next_page(const struct aftl_geometry *geo, u32 programmed, u32 *pages);

/* Return true if @page of a switched word line is programmed by the first pass (SLC mode). */
static inline bool aftl_is_switch_first_pass(const struct aftl_geometry *geo, u32 page)
{
	return page % geo->word_line_pages < geo->planes_wide;
}

/**
 * aftl_switch_line() - change the pages of the first pass to the mode of a switched word line
 * @media: flash array
 * @block: block of the page
 * @page: any page of the word line
 */
void aftl_switch_line(const struct aftl_media *media, const struct aftl_block *block, u32 page);

/* Word lines of a block that may wait for their fine pass at the same time. */
#define AFTL_FOGGY_WORD_LINES 2

/**
 * aftl_fine_pass_page() - word line whose fine pass is due
 * @media: flash array
 * @block: an open block in the order FOGGY_FINE
 *
 * The fine pass precedes any other program of the block. In a block whose frontier has reached its
 * end the remaining word lines are due in ascending order.
 *
 * Return: the first page of the word line, or the number of pages if no fine pass is due.
 */
u32 aftl_fine_pass_page(const struct aftl_media *media, const struct aftl_block *block);

/* Pages of the first half of a block; of an odd number of program steps it has the greater part. */
static inline u32 aftl_lending_pages(const struct aftl_geometry *geo)
{
	return DIV_ROUND_UP(aftl_block_program_steps(geo), 2) * geo->program_pages;
}

/**
 * aftl_two_pass_next() - next page of a block in the order TWO_PASS, the number of pages if it is
 *	full
 * @media: flash array
 * @block: block, open
 *
 * The first pass programs the positions of colour 0 with respect to the block's flip bit.
 */
u32 aftl_two_pass_next(const struct aftl_media *media, const struct aftl_block *block);

/**
 * aftl_first_pass_pages() - pages of the first pass of a block in the order TWO_PASS
 * @geo: geometry
 * @flip: colour that is programmed first
 */
u32 aftl_first_pass_pages(const struct aftl_geometry *geo, bool flip);

/**
 * aftl_lending_borrower() - page whose parity an approximate page at @page can store
 * @geo: geometry
 * @page: page of a block
 *
 * The borrower is half a block before the lender: a block filled with precise data, then with as
 * much approximate data, has a lender for each precise page.
 *
 * Return: the page, or the number of pages if @page is in the first half.
 */
static inline u32 aftl_lending_borrower(const struct aftl_geometry *geo, u32 page)
{
	u32 half = aftl_lending_pages(geo);

	return page < half ? geo->pages : page - half;
}

/**
 * aftl_page_valid() - return true if a ppn of @page holds the current version of its lpn
 * @media: flash array
 * @block: block of the page
 * @page: page of the block
 */
bool aftl_page_valid(const struct aftl_media *media, const struct aftl_block *block, u32 page);

/**
 * aftl_page_level() - smallest quality level of the valid data in @page
 * @media: flash array
 * @block: block of the page
 * @page: page with valid data
 */
u32 aftl_page_level(const struct aftl_media *media, const struct aftl_block *block, u32 page);

/**
 * aftl_word_line_reprograms() - reprograms of the word line of @page
 * @media: flash array
 * @block: block of the page
 * @page: any page of the word line
 */
u32 aftl_word_line_reprograms(const struct aftl_media *media, const struct aftl_block *block,
			      u32 page);

/**
 * aftl_oob_layout_init() - compute the layout of the OOB records
 * @media: flash array; geo and models_errors are set
 */
void aftl_oob_layout_init(struct aftl_media *media);

/**
 * aftl_block_wipe() - reset the state of @block as an erase does, except for its extra data
 * @media: flash array
 * @block: block, without valid data
 */
void aftl_block_wipe(struct aftl_media *media, struct aftl_block *block);

#endif
