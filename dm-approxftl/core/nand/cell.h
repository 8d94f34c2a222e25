/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bit error model.
 *
 * The number of bit errors of a ppn is a function of the program that wrote its page, of
 * interference, age and reads since then, and of one draw for each program: two reads agree, and
 * the number never falls. The positions of the errors are a permutation of the bits that the host
 * write determines. The first n positions have flipped; relocation copies n to the new page, whose
 * own errors take the next positions.
 */
#ifndef AFTL_CELL_H
#define AFTL_CELL_H

#include "core/base/program-kinds.h"
#include "core/nand/oob-origin.h"
#include "core/nand/physics-tables.h"

/* Value in mode-list.h for modes with the error curve of a standard program on this device. */
#define AFTL_RBER_STANDARD AFTL_RBER_CURVES

/* Error rates of the constant model: by data class, and for precise pages by ISPP step. */
enum aftl_rate {
	AFTL_RATE_PRECISE,
	AFTL_RATE_APPROX,
	AFTL_RATE_COARSE,
	AFTL_RATE_FINE,
	AFTL_RATES,
};

/**
 * struct aftl_cell - the error model of one device
 * @media: state of the flash array
 * @model: enum aftl_cell_model
 * @seed: seed of all draws
 * @rber_q40: error rates of the constant model, in 2^-40
 * @quantile_q32: expected errors in a unit of the constant model, by rate and quantile
 * @curve: error curve of the voltage model, by program mode
 * @usual: curve of the standard program in the MLC cells for which other ISPP steps were modelled
 * @tvr: retention margins of a precise page with reduced voltage, in sixteenths
 * @correctable: errors of a unit that ECC corrects with one sensing
 * @lent: errors that lent parity corrects in addition
 * @levels: extra sensing levels that the controller may use
 * @clean: no precise page of the constant model ever needs an extra sensing level
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

/**
 * struct aftl_errors - the result of reading one ppn
 * @flips: wrong bits in the data that the host gets
 * @raw: raw bit errors of the page now, before ECC
 * @levels: extra sensing levels that ECC needed
 * @lost: the data cannot be recovered
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
 * @block: block of the page
 * @page: page of the block
 * @hour: device age in hours
 */
u64 aftl_cell_rber_q40(const struct aftl_cell *cell, const struct aftl_block *block, u32 page,
		       u64 hour);

/* Bit errors of @ppn, which is programmed, at device age @hour, in hours. */
struct aftl_errors aftl_cell_read_errors(const struct aftl_cell *cell, aftl_ppn_t ppn, u64 hour);

/* aftl_cell_read_errors() for a caller that knows block, page attributes and origin of the data. */
struct aftl_errors aftl_cell_read_errors_of_data(const struct aftl_cell *cell,
						 const struct aftl_block *block, aftl_ppn_t ppn,
						 u16 attr, struct aftl_origin origin, u64 hour);

/* Compute the extra sensing levels of a page, for devices whose pages may need extra levels. */
u32 aftl_compute_extra_sensing_levels(const struct aftl_cell *cell, const struct aftl_block *block,
				      u32 page, u64 hour);

/* Return true if ECC corrects all errors that a page with these attributes can have at any age. */
static inline bool aftl_cell_ecc_never_fails(const struct aftl_cell *cell, u16 attr)
{
	return cell->clean && aftl_page_class(attr) == AFTL_PRECISE &&
	       !aftl_page_is_overprogrammed(attr) && !aftl_page_is_foggy(attr) &&
	       !aftl_page_is_short_lived(attr);
}

/**
 * aftl_get_extra_sensing_levels_of_page() - extra sensing levels to read the valid data of @page
 * @cell: error model of the device
 * @block: block of the page
 * @page: page of the block
 * @hour: device age in hours
 */
static inline u32 aftl_get_extra_sensing_levels_of_page(const struct aftl_cell *cell,
							const struct aftl_block *block, u32 page,
							u64 hour)
{
	u16 attr = aftl_block_page_attr(cell->media, block, page);

	return likely(cell->clean && !aftl_page_is_overprogrammed(attr) &&
		      !aftl_page_is_short_lived(attr)) ?
		       0 : aftl_compute_extra_sensing_levels(cell, block, page, hour);
}

/**
 * aftl_compute_page_disturbance_mv() - Vth shift of @page by neighbours programmed later
 * @media: flash array
 * @block: block of the page
 * @page: page of the block
 */
u32 aftl_compute_page_disturbance_mv(const struct aftl_media *media, const struct aftl_block *block,
				     u32 page);

/**
 * aftl_poisson_draw() - Poisson variate with mean @lambda_q32 / 2^32
 * @lambda_q32: mean in 2^-32
 * @draw: 64 random bits
 *
 * Non-decreasing in @lambda_q32 for a fixed @draw.
 */
u32 aftl_poisson_draw(u64 lambda_q32, u64 draw);

/* Convert the part of the retention margins that a program keeps (1/10000) to a TVR table index. */
static inline u32 aftl_retention_margin_to_index(u64 margin)
{
	return (u32)(margin * (AFTL_TVR_MARGIN_POINTS - 1) + 5000) / 10000;
}

#endif
