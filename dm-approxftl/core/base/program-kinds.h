/* SPDX-License-Identifier: GPL-2.0-only */
/* How, why and in which order pages are programmed; states of a block. */
#ifndef AFTL_PROGRAM_KINDS_H
#define AFTL_PROGRAM_KINDS_H

#include "aftl-host.h"

/**
 * enum aftl_mode - how a page was programmed; stored with the page
 *
 * All modes are in mode-list.h, with their times and error curves.
 */
enum aftl_mode {
#define MODE(name, word, bits, program, share, read, curve, rate) AFTL_MODE_##name,
#include "core/base/mode-list.h"
#undef MODE
	AFTL_MODES,
};

static_assert(AFTL_MODES <= 64, "a mode has six bits in a page's attributes");

/**
 * enum aftl_cause - why a unit was programmed; write amplification is counted by cause
 * @AFTL_CAUSE_HOST: host write
 * @AFTL_CAUSE_GC: relocated by garbage collection
 * @AFTL_CAUSE_WEAR: relocated by wear levelling
 * @AFTL_CAUSE_REFRESH: rewritten because of age or read disturb
 * @AFTL_CAUSE_PROMOTION: approximate data relocated as precise data
 * @AFTL_CAUSE_REWRITE: rewritten because a policy asked for another mode
 * @AFTL_CAUSE_RETIRE: relocated from a block that went bad
 * @AFTL_CAUSE_FOLD: folded out of the SLC cache
 * @AFTL_CAUSE_MAP: a changed translation page
 * @AFTL_CAUSE_REBUILD: data of a dead LUN, rebuilt from its stripe
 * @AFTL_CAUSE_PARITY: parity of a stripe
 */
enum aftl_cause {
	AFTL_CAUSE_HOST,
	AFTL_CAUSE_GC,
	AFTL_CAUSE_WEAR,
	AFTL_CAUSE_REFRESH,
	AFTL_CAUSE_PROMOTION,
	AFTL_CAUSE_REWRITE,
	AFTL_CAUSE_RETIRE,
	AFTL_CAUSE_FOLD,
	AFTL_CAUSE_MAP,
	AFTL_CAUSE_REBUILD,
	AFTL_CAUSE_PARITY,
	AFTL_CAUSES,
};

/**
 * enum aftl_order - program order of the pages of an open block
 * @AFTL_ORDER_SEQUENTIAL: ascending page numbers without a gap
 * @AFTL_ORDER_TWO_PASS: first the positions of one checkerboard colour, ascending, then those of
 *	the other colour
 * @AFTL_ORDER_LEADER_FIRST: whole word lines, ascending in each layer; the layers in any order
 * @AFTL_ORDER_SUPER_LAYER: whole word lines in any order within the two open layers, which may be
 *	reprogrammed; programming the layer above opens it and closes the lower one
 * @AFTL_ORDER_FOGGY_FINE: whole word lines, each twice: coarse (foggy) passes in ascending order,
 *	the fine pass as soon as the next word line has had its coarse pass
 * @AFTL_ORDER_SWITCHED: two layers at a time: SLC programs of all their word lines, then the
 *	remaining bits of each, both in ascending order
 *
 * Stored on media: append only. The core refuses programs that the order of their block forbids.
 */
enum aftl_order {
	AFTL_ORDER_SEQUENTIAL,
	AFTL_ORDER_TWO_PASS,
	AFTL_ORDER_LEADER_FIRST,
	AFTL_ORDER_SUPER_LAYER,
	AFTL_ORDER_FOGGY_FINE,
	AFTL_ORDER_SWITCHED,
	AFTL_ORDERS,
};

enum aftl_block_state {
	AFTL_BLOCK_FREE,
	AFTL_BLOCK_OPEN,
	AFTL_BLOCK_CLOSED,
	AFTL_BLOCK_BAD,
};

#endif
