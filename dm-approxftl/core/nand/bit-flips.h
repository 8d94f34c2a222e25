/* SPDX-License-Identifier: GPL-2.0-only */
/* Positions of the bits that errors flip. */
#ifndef AFTL_BIT_FLIPS_H
#define AFTL_BIT_FLIPS_H

#include "core/nand/cell.h"

/**
 * aftl_get_bit_flip_position() - bit position of flip number @index in the data of @lpn
 * @cell: provides the seed and the size of a unit
 * @lpn: logical page
 * @generation: write generation of the data
 * @index: below the number of flips
 *
 * Different @index give different positions: flips never cancel.
 */
u32 aftl_get_bit_flip_position(const struct aftl_cell *cell, aftl_lpn_t lpn, u16 generation,
			       u32 index);

/*
 * aftl_get_bit_flip_position() in two steps. The key depends on parameters that may change, so a
 * host computes the key when the core reads, and the positions later, when it has the data.
 */
u64 aftl_compute_key_of_bit_flips(const struct aftl_cell *cell, aftl_lpn_t lpn, u16 generation);
u32 aftl_get_bit_flip_position_by_key(const struct aftl_geometry *geo, u64 key, u32 index);

#endif
