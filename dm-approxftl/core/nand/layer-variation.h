/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the word lines of a 3D block are like: those of one layer are alike, layers differ, and
 * now and then a word line is not like its layer.
 *
 * All of it follows from seed, block, layer, word line and wear: two looks agree.
 */
#ifndef AFTL_LAYERS_H
#define AFTL_LAYERS_H

#include "core/nand/chip.h"

/**
 * struct aftl_word_line_traits - what a program with default parameters shows
 * @errors: between the erased state and P1, in 1/4096 of their mean on new flash, never 0
 * @early: loops by which the verifies of each state begin too early
 */
struct aftl_word_line_traits {
	u32 errors;
	u32 early;
};

/**
 * aftl_word_line_get_traits() - the traits of a word line
 * @chip: chips of the device
 * @block: block in question
 * @page: any page of the word line
 */
struct aftl_word_line_traits aftl_word_line_get_traits(struct aftl_chip *chip,
						 const struct aftl_block *block, u32 page);

/* Growth of errors where nothing was given up. */
#define AFTL_NO_GROWTH 2560

/**
 * aftl_margin_growth() - of the errors of a word line that has given up @mv of its margins
 * @mv: first voltage raised and last voltage lowered, together
 */
u16 aftl_margin_growth(u32 mv);

#endif
