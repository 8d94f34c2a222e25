/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flash chip: which program and erase commands it accepts, their time, wear and results.
 *
 * Policies propose commands with the parameters of real NAND. Time and wear follow from the
 * command, the configuration and the state of the flash array, never from the policy.
 */
#ifndef AFTL_CHIP_H
#define AFTL_CHIP_H

#include "core/base/program-kinds.h"
#include "core/nand/program-command.h"
#include "core/nand/physics-tables.h"

/* Wear of an erase at full voltage. */
#define AFTL_FULL_WEAR 10000U

/* Limit in mV by which a program may narrow its voltage range: the physics tables end there. */
#define AFTL_MARGIN_MAX_MV (AFTL_CUBE_MAX_REMOVED_LOOPS * AFTL_CUBE_STEP_MV)

#define AFTL_LAYER_CACHE_BITS 8

/**
 * struct aftl_layer_traits - cached process variation of one layer of one block
 * @number: number of the layer in the device, from 1; 0: the entry is empty
 * @erases: erase count of the block when the entry was computed
 * @errors: errors between the erased state and P1, in 1/4096 of their mean on new flash
 * @early: ISPP loops by which verifies start too early with default parameters
 * @lines: seed of the variation among its word lines, different after each erase
 */
struct aftl_layer_traits {
	u64 number;
	u32 erases;
	u16 errors;
	u8 early;
	u64 lines;
};

/**
 * struct aftl_chip - the flash chips of one device, which are identical
 * @media: state of the flash array
 * @config: parameters of the device
 * @program_ns: array time of a program with default ISPP parameters, by enum aftl_mode
 * @plain: program times depend neither on wear, nor on the page of a word line, nor on passes
 * @growth: factor on the errors by millivolts of margin given up, in 1/2560
 * @seen: direct-mapped cache of layer traits; results do not depend on its contents
 */
struct aftl_chip {
	const struct aftl_media *media;
	const struct aftl_config *config;
	u64 program_ns[AFTL_MODES];
	bool plain;
	u16 growth[AFTL_MARGIN_MAX_MV + 1];
	struct aftl_layer_traits seen[1 << AFTL_LAYER_CACHE_BITS];
};

/* Initialise @chip for @media and @config; call it again after a change of @config. */
void aftl_chip_init(struct aftl_chip *chip, const struct aftl_media *media,
		    const struct aftl_config *config);

/**
 * aftl_chip_allows_program() - return true if the chip accepts the command
 * @chip: chips of the device
 * @program: the command; its block exists, all else may be wrong
 *
 * The program order of the block must allow it. A page programmed with less protection against
 * interference must either be programmed after all its neighbours (AFTER), or before neighbours
 * that have a lower top voltage (BETWEEN): any other later program next to it is refused.
 */
bool aftl_chip_allows_program(const struct aftl_chip *chip,
			      const struct aftl_program_command *program);

/**
 * aftl_chip_program() - compute time and result of a program
 * @chip: chips of the device
 * @program: a command that aftl_chip_allows_program() accepts
 * @outcome: takes the result
 */
void aftl_chip_program(struct aftl_chip *chip, const struct aftl_program_command *program,
		       struct aftl_program_result *outcome);

/**
 * aftl_chip_monitor() - monitored values of a program with default ISPP parameters
 * @chip: chips of the device
 * @block: block of the page
 * @page: first page of the program
 */
struct aftl_program_result aftl_chip_monitor(struct aftl_chip *chip, const struct aftl_block *block,
					     u32 page);

/**
 * struct aftl_erase_result - time and wear of an erase
 * @ns: array time
 * @wear: in 1/AFTL_FULL_WEAR of a full erase
 * @shallow: a lower erase voltage was enough
 * @residue: the lower erase voltage was not enough, and a full erase followed
 */
struct aftl_erase_result {
	u64 ns;
	u32 wear;
	bool shallow;
	bool residue;
};

/**
 * aftl_chip_erase() - compute time and wear of an erase of @block
 * @chip: chips of the device
 * @block: the block before the erase
 * @shallow: use the lower voltage, which erases only pages with a lower top voltage
 */
struct aftl_erase_result aftl_chip_erase(const struct aftl_chip *chip,
					 const struct aftl_block *block, bool shallow);

/**
 * aftl_compute_program_ns_after_wear() - program time of a worn block
 * @ns: program time of a new block
 * @erases: erase count of the block
 */
u64 aftl_compute_program_ns_after_wear(u64 ns, u32 erases);

/* Return true if the time of a read depends on the error rate of its page, as in AGCR. */
static inline bool aftl_read_time_depends_on_errors(const struct aftl_config *config)
{
	return config->read_coarse || config->read_fine;
}

#endif
