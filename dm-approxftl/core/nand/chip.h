/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The emulated chip: what a command costs and does.
 *
 * Policies propose commands with the parameters that NAND has. Time and wear follow from the
 * command and from what the chip can see: its configuration and the state of the media.
 */
#ifndef AFTL_CHIP_H
#define AFTL_CHIP_H

#include "core/nand/media.h"
#include "core/nand/physics-tables.h"

/* Wear of an erase with the full voltage. */
#define AFTL_FULL_WEAR 10000U

/* Voltage by which a program can be shortened. */
#define AFTL_MARGIN_MAX_MV (AFTL_CUBE_MAX_REMOVED_LOOPS * AFTL_CUBE_STEP_MV)

#define AFTL_LAYER_CACHE_BITS 8

/**
 * struct aftl_layer_traits - what a layer of a block is like, which takes long to work out
 * @number: of the layer in the device, from 1; 0: nothing
 * @erases: of its block when it was looked at
 * @errors: between the erased state and P1, in 1/4096 of their mean on new flash
 * @early: loops by which verifies with default steps begin too early
 * @lines: what its word lines are drawn from, anew after each erase
 */
struct aftl_layer_traits {
	u64 number;
	u32 erases;
	u16 errors;
	u8 early;
	u64 lines;
};

/**
 * struct aftl_chip - the chips of one device, which are alike
 * @media: their state
 * @config: their constants
 * @program_ns: array time of a program with default steps, by enum aftl_mode
 * @plain: neither wear nor the place in a word line changes it, nor how often it is programmed
 * @growth: of errors, by millivolt of margins given up; in 1/2560
 * @seen: layers that are being programmed; nothing depends on which ones are here
 */
struct aftl_chip {
	const struct aftl_media *media;
	const struct aftl_config *config;
	u64 program_ns[AFTL_MODES];
	bool plain;
	u16 growth[AFTL_MARGIN_MAX_MV + 1];
	struct aftl_layer_traits seen[1 << AFTL_LAYER_CACHE_BITS];
};

/* @chip looks at @media and @config from now on; call it again when the latter has changed. */
void aftl_chip_init(struct aftl_chip *chip, const struct aftl_media *media,
		    const struct aftl_config *config);

/**
 * struct aftl_ispp - how a program departs from the default steps; all 0: not at all
 * @start_mv: how much higher the first voltage is
 * @final_mv: how much lower the last one is
 * @skip: loops by which the verifies of each state begin later
 */
struct aftl_ispp {
	u16 start_mv;
	u16 final_mv;
	u8 skip;
};

static inline bool aftl_ispp_default(const struct aftl_ispp *ispp)
{
	return !ispp->start_mv && !ispp->final_mv && !ispp->skip;
}

/**
 * struct aftl_program_command - a program command
 * @block: block
 * @page: first page
 * @pages: how many
 * @mode: enum aftl_mode
 * @class: enum aftl_class of the data
 * @ispp: steps
 * @monitor: errors and verifies are of interest even with default steps
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
 * struct aftl_program_result - what a program has taken and shown
 * @ns: array time
 * @errors: between the erased state and P1, in 1/4096 of their mean on new flash
 * @early: loops by which verifies with default steps begin too early
 * @overprogrammed: cells went past their states, for lack of verifies or of margins; what a
 *	controller can see of it is @errors
 */
struct aftl_program_result {
	u64 ns;
	u32 errors;
	u32 early;
	bool overprogrammed;
};

/**
 * aftl_chip_allows() - would a chip take this command?
 * @chip: chips of the device
 * @program: the command; its block exists, all else may be wrong
 *
 * The order of the block has to allow it. A page programmed with less guard against its
 * neighbours has to be the last of them (AFTER), or its later neighbours must be programmed
 * with a lower top voltage (BETWEEN): what would disturb it is refused.
 */
bool aftl_chip_allows(const struct aftl_chip *chip, const struct aftl_program_command *program);

/**
 * aftl_chip_program() - what a program will take and show
 * @chip: chips of the device
 * @program: a command that it allows
 * @outcome: where that is told
 */
void aftl_chip_program(struct aftl_chip *chip, const struct aftl_program_command *program,
		       struct aftl_program_result *outcome);

/**
 * aftl_chip_monitor() - what a program with default steps shows, but for its time
 * @chip: chips of the device
 * @block: block in question
 * @page: first page of the program
 */
struct aftl_program_result aftl_chip_monitor(struct aftl_chip *chip, const struct aftl_block *block,
				      u32 page);

/**
 * struct aftl_erase_result - what an erase costs
 * @ns: array time
 * @wear: in 1/AFTL_FULL_WEAR of a full erase
 * @shallow: a lower voltage was enough
 * @residue: it was not: a full erase had to follow
 */
struct aftl_erase_result {
	u64 ns;
	u32 wear;
	bool shallow;
	bool residue;
};

/**
 * aftl_chip_erase() - what it costs to erase @block
 * @chip: chips of the device
 * @block: as it is before
 * @shallow: with the voltage that removes what was programmed to a lower top voltage
 */
struct aftl_erase_result aftl_chip_erase(const struct aftl_chip *chip, const struct aftl_block *block,
				   bool shallow);

/**
 * aftl_worn_program_ns() - program time of a block that is no longer new
 * @ns: when it is new
 * @erases: of the block
 */
u64 aftl_worn_program_ns(u64 ns, u32 erases);

#endif
