/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Word lines that are programmed with two bits in each cell and then again: what is known
 * about such a word line (ReSSD).
 *
 * A word line in MLC mode holds two pages: page 0 in the least significant bits (LSB),
 * page 1 in the most significant ones (MSB). A reprogram replaces the content of one of
 * them and leaves the other readable. Threshold voltages only rise, so each reprogram
 * moves to another code; how often either page was replaced says which one. Voltages are
 * not emulated, so the codes are not here: userspace/physics derives them.
 */
#ifndef AFTL_REPROGRAM_H
#define AFTL_REPROGRAM_H

#include "core/nand/media.h"

/* Pages of a word line in MLC mode, and what all of them valid is as bits. */
#define AFTL_MLC_PAGES 2
#define AFTL_MLC_VALID 3U

/* Pages of a word line that can take part: three bits in a cell. */
#define AFTL_REPROGRAM_BITS 3

enum { AFTL_LSB, AFTL_MSB };

/**
 * struct aftl_word_line - status of a word line in MLC mode
 * @reprograms: 0 .. AFTL_REPROGRAMS_MAX
 * @id: distribution: 0 is P1 to P4, 3 is P4 to P7; 0 as well before a reprogram
 * @valid: bit by page: it holds current data
 *
 * Six bits. Nothing stores them: the first two follow from what each page remembers of
 * its programs, which survives a power failure with the page.
 */
struct aftl_word_line {
	u8 reprograms;
	u8 id;
	u8 valid;
};

/**
 * aftl_word_line_status() - status of the word line that begins at @page
 * @media: flash array
 * @block: block in question
 * @page: first page of the word line
 */
struct aftl_word_line aftl_word_line_status(const struct aftl_media *media,
					    const struct aftl_block *block, u32 page);

/* May one of its pages be replaced? */
static inline bool aftl_word_line_reusable(const struct aftl_word_line *status)
{
	return status->reprograms < AFTL_REPROGRAMS_MAX && status->valid != AFTL_MLC_VALID;
}

/**
 * aftl_distribution_id() - where a word line's voltages are
 * @lsb: how often its LSB page was replaced
 * @msb: how often its MSB page was replaced; both together AFTL_REPROGRAMS_MAX at most
 *
 * The order of the two does not matter: LSB then MSB ends as MSB then LSB.
 */
u32 aftl_distribution_id(u32 lsb, u32 msb);

#endif
