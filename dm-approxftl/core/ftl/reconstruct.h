/* SPDX-License-Identifier: GPL-2.0-only */
/* State of the reconstruction of a page from its RAIN stripe. */
#ifndef AFTL_RECONSTRUCT_H
#define AFTL_RECONSTRUCT_H

#include "core/base/types.h"

/* Purpose of a reconstruction from a stripe. */
enum aftl_reconstruct_kind {
	AFTL_RECONSTRUCT_NONE,
	AFTL_RECONSTRUCT_READ,
	AFTL_RECONSTRUCT_RELOC,
};

/**
 * struct aftl_reconstruct - reconstruction of a page of this LUN from the rest of its stripe
 * @kind: enum aftl_reconstruct_kind; a LUN reconstructs one page at a time
 * @wanted: ECC fails for the page that the array is reading, so it is reconstructed after the read
 * @block: superblock number
 * @page: page number in each block of the superblock
 * @left: bit mask of the members of the die group whose page has not been read yet
 * @commands: AFTL_RECONSTRUCT_READ: host command that waits for it
 * @units: AFTL_RECONSTRUCT_READ: logical pages to return
 * @service_ns: AFTL_RECONSTRUCT_READ: array and channel time so far
 */
struct aftl_reconstruct {
	u8 kind;
	bool wanted;
	u32 block;
	u32 page;
	u64 left;
	u32 commands;
	u32 units;
	u64 service_ns;
};

#endif
