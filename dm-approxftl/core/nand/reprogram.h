/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reprogrammed word lines (ReSSD).
 *
 * A word line in MLC mode holds two pages: page 0 in the least significant bits (LSB), page 1 in
 * the most significant bits (MSB). A reprogram replaces the data of one page and keeps the other
 * readable. Threshold voltages can only rise, so each reprogram changes the encoding; the number of
 * reprograms of each page determines which one. Voltages are not simulated here; userspace/physics
 * derives the encodings.
 */
#ifndef AFTL_REPROGRAM_H
#define AFTL_REPROGRAM_H

#include "core/nand/oob.h"

/* Pages of a word line in MLC mode, and the bit mask that stands for both pages. */
#define AFTL_MLC_PAGES 2
#define AFTL_MLC_VALID 3U

/* Bits per cell of the word lines that can be reprogrammed. */
#define AFTL_REPROGRAM_BITS 3

enum { AFTL_LSB, AFTL_MSB };

/**
 * struct aftl_word_line - state of a word line in MLC mode
 * @reprograms: 0 .. AFTL_REPROGRAMS_MAX
 * @id: encoding: 0 uses the states P1 to P4, 3 uses P4 to P7; 0 as well before any reprogram
 * @valid: bit mask of the pages with valid data
 *
 * Derived from the attributes of the pages, which survive a power failure; not stored itself.
 */
struct aftl_word_line {
	u8 reprograms;
	u8 id;
	u8 valid;
};

/**
 * aftl_word_line_status() - state of the word line that begins at @page
 * @media: flash array
 * @block: block of the page
 * @page: first page of the word line
 */
struct aftl_word_line aftl_word_line_status(const struct aftl_media *media,
					    const struct aftl_block *block, u32 page);

/* Return true if a reprogram may replace a page of the word line. */
static inline bool aftl_word_line_is_reusable(const struct aftl_word_line *status)
{
	return status->reprograms < AFTL_REPROGRAMS_MAX && status->valid != AFTL_MLC_VALID;
}

/**
 * aftl_encode_voltage_distribution() - encoding of a reprogrammed word line
 * @lsb: number of reprograms of the LSB page
 * @msb: number of reprograms of the MSB page; @lsb + @msb is at most AFTL_REPROGRAMS_MAX
 *
 * The order of the reprograms does not matter.
 */
u32 aftl_encode_voltage_distribution(u32 lsb, u32 msb);

#endif
