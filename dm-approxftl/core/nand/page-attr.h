/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes of a page: class, mode, reprograms. */
#ifndef AFTL_PAGE_ATTR_H
#define AFTL_PAGE_ATTR_H

#include "core/base/program-kinds.h"
#include "core/base/types.h"

/*
 * Attributes of a programmed page. The lower byte has three bits of the mode, the upper byte the
 * others; a volume with at most eight modes stores the lower byte only.
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

/* Largest number of reprograms of one word line between two erases. */
#define AFTL_REPROGRAMS_MAX 2
/* Number of layers that are filled in SLC mode before their other bits are programmed (IPS). */
#define AFTL_SWITCH_LAYERS 2

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
static inline u32 aftl_mode_bits_per_cell(u32 mode)
{
	static const u8 bits[AFTL_MODES] = {
#define MODE(name, word, bits, program, share, read, curve, rate) \
		[AFTL_MODE_##name] = bits,
#include "core/base/mode-list.h"
#undef MODE
	};

	return bits[mode];
}

/* Return true if cells of the page were programmed beyond their target voltage states. */
static inline bool aftl_page_is_overprogrammed(u16 attr)
{
	return attr & AFTL_PAGE_OVERPROGRAMMED;
}

/* Return true if the page has a lower top voltage (ApproxFTL): it disturbs neighbours less. */
static inline bool aftl_does_mode_lower_top_voltage(u32 mode, u32 class)
{
	return (mode == AFTL_MODE_REDUCED || mode == AFTL_MODE_ROUGH) && class == AFTL_APPROX;
}

static inline bool aftl_page_has_low_top_voltage(u16 attr)
{
	return aftl_does_mode_lower_top_voltage(aftl_page_mode(attr), aftl_page_class(attr));
}

/* Return true if the page was programmed without retention margins (TVR). */
static inline bool aftl_page_is_short_lived(u16 attr)
{
	return aftl_page_mode(attr) == AFTL_MODE_REDUCED && aftl_page_class(attr) == AFTL_PRECISE;
}

static inline u32 aftl_get_reprogram_count_of_page(u16 attr)
{
	return (attr & AFTL_PAGE_REPROGRAMS_MASK) >> AFTL_PAGE_REPROGRAMS_SHIFT;
}

/* Return true if a page can have these attributes; used to check stored data. */
static inline bool aftl_page_attr_is_possible(u16 attr)
{
	return !attr || (attr & AFTL_PAGE_PROGRAMMED && aftl_page_class(attr) < AFTL_CLASSES &&
			 aftl_page_mode(attr) < AFTL_MODES &&
			 aftl_get_reprogram_count_of_page(attr) <= AFTL_REPROGRAMS_MAX);
}

/* Return true if the page has had the coarse pass only. */
static inline bool aftl_page_is_foggy(u16 attr)
{
	return aftl_page_mode(attr) == AFTL_MODE_FOGGY;
}

#endif
