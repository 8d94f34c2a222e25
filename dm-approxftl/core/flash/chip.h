/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The emulated chip: what a command costs and does.
 *
 * Policies propose commands with the parameters that NAND has. Time and wear follow from the
 * command and from what the chip can see: its configuration and the state of the media.
 */
#ifndef AFTL_CHIP_H
#define AFTL_CHIP_H

#include "core/flash/media.h"

/* Wear of an erase with the full voltage. */
#define AFTL_FULL_WEAR 10000U

/**
 * struct aftl_chip - the chips of one device, which are alike
 * @media: their state
 * @config: their constants
 */
struct aftl_chip {
	const struct aftl_media *media;
	const struct aftl_config *config;
};

/**
 * struct aftl_erased - what an erase costs
 * @ns: array time
 * @wear: in 1/AFTL_FULL_WEAR of a full erase
 * @gentle: a lower voltage was enough
 * @residue: it was not: a full erase had to follow
 */
struct aftl_erased {
	u64 ns;
	u32 wear;
	bool gentle;
	bool residue;
};

/**
 * aftl_chip_erase() - what it costs to erase @block
 * @chip: chips of the device
 * @block: as it is before
 * @gentle: with the voltage that removes what was programmed to a lower top voltage
 */
struct aftl_erased aftl_chip_erase(const struct aftl_chip *chip, const struct aftl_block *block,
				   bool gentle);

/**
 * aftl_worn_program_ns() - program time of a block that is no longer new
 * @ns: when it is new
 * @erases: of the block
 */
u64 aftl_worn_program_ns(u64 ns, u32 erases);

#endif
