/* SPDX-License-Identifier: GPL-2.0-only */
/* Program commands of the flash chip, and their results. */
#ifndef AFTL_PROGRAM_COMMAND_H
#define AFTL_PROGRAM_COMMAND_H

#include "core/nand/media.h"

/**
 * struct aftl_ispp - ISPP parameters of a program relative to the default; all 0: the default
 * @start_mv: rise of the first program voltage
 * @final_mv: reduction of the last program voltage
 * @skip: loops by which the verifies of each state start later
 */
struct aftl_ispp {
	u16 start_mv;
	u16 final_mv;
	u8 skip;
};

static inline bool aftl_ispp_is_default(const struct aftl_ispp *ispp)
{
	return !ispp->start_mv && !ispp->final_mv && !ispp->skip;
}

/**
 * struct aftl_program_command - a program command
 * @block: block, open
 * @page: first page
 * @pages: number of pages
 * @mode: enum aftl_mode
 * @class: enum aftl_class of the data
 * @ispp: ISPP parameters
 * @monitor: report errors and verifies even with default ISPP parameters
 */
struct aftl_program_command {
	const struct aftl_block *block;
	u32 page;
	u32 pages;
	u32 mode;
	u32 class;
	struct aftl_ispp ispp;
	bool monitor;
};

/**
 * struct aftl_program_result - time and result of a program
 * @ns: array time
 * @errors: errors between the erased state and P1, in 1/4096 of their mean on new flash
 * @early: ISPP loops by which verifies started too early with default parameters
 * @overprogrammed: cells were programmed beyond their states because verifies were skipped or
 *	margins were missing; a controller sees only @errors
 */
struct aftl_program_result {
	u64 ns;
	u32 errors;
	u32 early;
	bool overprogrammed;
};

#endif
