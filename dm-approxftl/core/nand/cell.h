/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bit errors as state.
 *
 * How many bits of a slot have flipped is a function of how its page was
 * programmed, of what happened since (neighbours, age) and of one fixed draw per
 * program; so two reads agree and a count never falls. Which bits they are is a
 * permutation of the slot's bits fixed by the host write: the first n positions
 * have flipped, a copy carries n along, and the copy's own errors take the
 * positions after them.
 */
#ifndef AFTL_CELL_H
#define AFTL_CELL_H

#include "core/nand/media.h"
#include "core/nand/physics-tables.h"

/* Of modes whose errors are those of the device's cells as they are usually used. */
#define AFTL_RBER_STANDARD AFTL_RBER_CURVES

/* Rates of the constant model: by class, and of precise pages by step size. */
enum aftl_rate {
	AFTL_RATE_PRECISE,
	AFTL_RATE_APPROX,
	AFTL_RATE_COARSE,
	AFTL_RATE_FINE,
	AFTL_RATES,
};

/**
 * struct aftl_cell - the error model of one device
 * @media: what was programmed
 * @model: enum aftl_cell_model
 * @seed: of all draws
 * @rber_q40: error rates of the constant model, in 2^-40
 * @quantile_q32: expected errors of the constant model by rate and quantile
 * @curve: error curve by program mode of the voltage model
 * @usual: curve of the standard program of the cells that other steps were modelled for
 * @tvr: margins of a precise page with reduced voltage, in sixteenths
 * @correctable: errors of a slot that ECC corrects with one sensing
 * @lent: errors more that it corrects with parity that another page lends
 * @levels: further sensing levels
 * @clean: no page ever needs one
 */
struct aftl_cell {
	const struct aftl_media *media;
	u32 model;
	u64 seed;
	u64 rber_q40[AFTL_RATES];
	u64 quantile_q32[AFTL_RATES][AFTL_POISSON_COLUMNS];
	u8 curve[AFTL_MODES];
	u8 usual;
	u8 tvr;
	u32 correctable;
	u32 lent;
	u32 levels;
	bool clean;
};

/* Does the time of a read depend on the sensing levels that its page needs, as in AGCR? */
static inline bool aftl_read_time_by_errors(const struct aftl_config *config)
{
	return config->read_coarse || config->read_fine;
}

/**
 * struct aftl_errors - what a read of one slot meets
 * @flips: bits of the host's data that come back wrong
 * @raw: errors that the page itself has now, corrected or not
 * @levels: further sensing levels that the ECC needed
 * @lost: the content cannot be returned
 */
struct aftl_errors {
	u32 flips;
	u32 raw;
	u32 levels;
	bool lost;
};

void aftl_cell_init(struct aftl_cell *cell, const struct aftl_media *media,
		    const struct aftl_config *config);

/**
 * aftl_cell_rber_q40() - raw bit error rate of @page now, in 2^-40
 * @cell: error model of the device
 * @block: block in question
 * @page: page of the block
 * @hour: device age in hours
 */
u64 aftl_cell_rber_q40(const struct aftl_cell *cell, const struct aftl_block *block, u32 page,
		       u64 hour);

/**
 * aftl_cell_read() - the errors that a read of @ppn meets at age @hour
 * @cell: error model of the device
 * @ppn: place on the media
 * @hour: device age in hours
 */
struct aftl_errors aftl_cell_read(const struct aftl_cell *cell, aftl_ppn_t ppn, u64 hour);

/* The same for a device of which some page may need some. */
u32 aftl_page_extra_levels(const struct aftl_cell *cell, const struct aftl_block *block, u32 page,
		     u64 hour);

/* No error of a page of @attr reaches anybody: ECC corrects whatever it has. */
static inline bool aftl_cell_never_fails(const struct aftl_cell *cell, u16 attr)
{
	return cell->clean && aftl_page_class(attr) == AFTL_PRECISE &&
	       !aftl_page_overprogrammed(attr) && !aftl_page_foggy(attr) && !aftl_page_short_lived(attr);
}

/**
 * aftl_cell_extra_levels() - further sensing levels for what is valid in @page
 * @cell: error model of the device
 * @block: block in question
 * @page: page of the block
 * @hour: device age in hours
 */
static inline u32 aftl_cell_extra_levels(const struct aftl_cell *cell, const struct aftl_block *block,
				   u32 page, u64 hour)
{
	u16 attr = aftl_block_page_attr(cell->media, block, page);

	return likely(cell->clean && !aftl_page_overprogrammed(attr) && !aftl_page_short_lived(attr)) ?
		       0 : aftl_page_extra_levels(cell, block, page, hour);
}

/**
 * aftl_flip_position() - which bit of @lpn the flip number @index hits
 * @cell: for the seed and the size of a unit
 * @lpn: logical unit
 * @generation: of the slot's origin
 * @index: below the count of flips
 *
 * Distinct for distinct @index: flips never undo each other.
 */
u32 aftl_flip_position(const struct aftl_cell *cell, aftl_lpn_t lpn, u16 generation, u32 index);

/*
 * The same in two steps: all that it wants of @cell, which parameters change, and the rest,
 * for a host that has the bytes later.
 */
u64 aftl_flip_key(const struct aftl_cell *cell, aftl_lpn_t lpn, u16 generation);
u32 aftl_flip_key_position(const struct aftl_geometry *geo, u64 key, u32 index);

/**
 * aftl_page_disturb_mv() - voltage shift that later-programmed neighbours caused in @page
 * @media: flash array
 * @block: block in question
 * @page: page of the block
 */
u32 aftl_page_disturb_mv(const struct aftl_media *media, const struct aftl_block *block, u32 page);

/**
 * aftl_poisson_draw() - a Poisson variable of mean @lambda_q32 / 2^32 for the draw @draw
 * @lambda_q32: mean in 2^-32
 * @draw: 64 random bits
 *
 * Non-decreasing in @lambda_q32 for a fixed @draw.
 */
u32 aftl_poisson_draw(u64 lambda_q32, u64 draw);

/* Index into the tables by margin, in sixteenths, of a share of margins in 1/10000. */
static inline u32 aftl_tvr_sixteenths(u64 margin)
{
	return (u32)(margin * (AFTL_TVR_MARGIN_POINTS - 1) + 5000) / 10000;
}

#endif
