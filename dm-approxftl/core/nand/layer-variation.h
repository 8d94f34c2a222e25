/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Process variation of a 3D NAND block: the word lines of a layer are alike, layers differ, and a
 * few word lines differ from their layer.
 *
 * The traits are a function of seed, block, layer, word line and erase count.
 */
#ifndef AFTL_LAYERS_H
#define AFTL_LAYERS_H

#include "core/nand/chip.h"

/**
 * struct aftl_word_line_traits - monitored values of a program with default ISPP parameters
 * @errors: errors between the erased state and P1, in 1/4096 of their mean on new flash, never 0
 * @early: ISPP loops by which the verifies of each state start too early
 */
struct aftl_word_line_traits {
	u32 errors;
	u32 early;
};

/**
 * aftl_word_line_get_traits() - the traits of a word line
 * @chip: chips of the device
 * @block: block of the page
 * @page: any page of the word line
 */
struct aftl_word_line_traits aftl_word_line_get_traits(struct aftl_chip *chip,
						       const struct aftl_block *block, u32 page);

/* Error growth factor 1, in 1/2560: the program gives up no voltage margin. */
#define AFTL_NO_GROWTH 2560

/**
 * aftl_get_error_factor_of_margin_loss() - error growth if a word line gives up margins, in 1/2560
 * @mv: rise of the first plus reduction of the last program voltage
 */
u16 aftl_get_error_factor_of_margin_loss(u32 mv);

#endif
