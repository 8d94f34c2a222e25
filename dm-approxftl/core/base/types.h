/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses and small vocabularies of the FTL core.
 *
 * Addresses are sparse types: adding a logical unit to a slot does not compile
 * under C=1. Inside the core a block or a LUN is passed as a pointer, which the
 * compiler tells apart by itself; the integer forms are for tables and lists.
 */
#ifndef AFTL_TYPES_H
#define AFTL_TYPES_H

#include "aftl-host.h"

#define AFTL_HOUR_NS 3600000000000ULL
#define AFTL_DAY_NS (24 * AFTL_HOUR_NS)

/* Mapping unit of the host's address space: 4 KiB up to a whole flash page. */
typedef u32 __bitwise aftl_lpn_t;
/* Place of one unit on the media: (block * pages + page) * units per page + n. */
typedef u32 __bitwise aftl_ppn_t;

#define AFTL_NO_LPN ((__force aftl_lpn_t)U32_MAX)
#define AFTL_NO_PPN ((__force aftl_ppn_t)U32_MAX)

/* The map keeps a slot in 30 bits beside two bits of level, a slot its unit in as many. */
#define AFTL_PPN_BITS 30
#define AFTL_PPN_MASK ((1U << AFTL_PPN_BITS) - 1)
#define AFTL_PPNS_MAX AFTL_PPN_MASK

static inline aftl_lpn_t to_lpn(u32 n)
{
	return (__force aftl_lpn_t)n;
}

static inline u32 from_lpn(aftl_lpn_t lpn)
{
	return (__force u32)lpn;
}

static inline aftl_ppn_t to_ppn(u32 n)
{
	return (__force aftl_ppn_t)n;
}

static inline u32 from_ppn(aftl_ppn_t ppn)
{
	return (__force u32)ppn;
}

/**
 * enum aftl_class - what may happen to the data
 * @AFTL_PRECISE: every bit comes back; the default, and what unknown data is
 * @AFTL_APPROX: the application declared that bits may flip; ECC is skipped
 */
enum aftl_class {
	AFTL_PRECISE,
	AFTL_APPROX,
	AFTL_CLASSES,
};

/*
 * Quality levels: how much the data bear. 0 is precise; of what is approximate 1 bears least, and
 * is what a host means that names none, 3 most. A level belongs to a unit and stays with it; what
 * it is worth on flash is up to the policy.
 */
#define AFTL_LEVELS 4

static inline u32 aftl_quality_level(u32 class, u32 level)
{
	return class && level ? level : class;
}

/* How long the host expects data to live: the numbers of the kernel's enum rw_hint. */
enum aftl_lifetime {
	AFTL_LIFETIME_UNKNOWN,
	AFTL_LIFETIME_ANY,
	AFTL_LIFETIME_SHORT,
	AFTL_LIFETIME_MEDIUM,
	AFTL_LIFETIME_LONG,
	AFTL_LIFETIME_EXTREME,
	AFTL_LIFETIMES,
};

/**
 * struct aftl_hint - what a host says of the data that it writes; zero: nothing
 * @life: enum aftl_lifetime
 * @stream: placement id: data of one number go together; 0: none
 */
struct aftl_hint {
	u8 life;
	u8 stream;
};

/**
 * struct aftl_has_write_buffer - a unit in the write buffer
 * @lpn: which
 * @level: of its data; 0: precise
 * @hint: as the host said
 */
struct aftl_has_write_buffer {
	aftl_lpn_t lpn;
	u8 level;
	struct aftl_hint hint;
};

/* What a policy tells apart, by names of its own. */
#define AFTL_STREAMS 16

/* Placement ids that a host can name: each is a stream, and the policy has at least one. */
#define AFTL_HANDLES_MAX (AFTL_STREAMS - 1)

/* Queues in which requests of the host can wait: one for each byte of their weights. */
#define AFTL_QUEUES_MAX 8
/* What is stored of a block has its handle above its kind. */
#define AFTL_HANDLE_SHIFT 4
#define AFTL_HANDLE_KIND_MASK (BIT(AFTL_HANDLE_SHIFT) - 1)

/* Data of one class and stream wait together, and share pages with no others. */
#define AFTL_WRITE_STREAMS (AFTL_CLASSES * AFTL_STREAMS)

static inline u32 aftl_write_stream(u32 class, u32 stream)
{
	return class * AFTL_STREAMS + stream;
}

/**
 * enum aftl_mode - how a page was programmed; stored with the page
 *
 * mode-list.h has them all, with their times and errors.
 */
enum aftl_mode {
#define MODE(name, word, bits, program, share, read, curve, rate) AFTL_MODE_##name,
#include "core/base/mode-list.h"
#undef MODE
	AFTL_MODES,
};

/* What pages have room for, see aftl_page_attr(). */
static_assert(AFTL_MODES <= 64, "a mode has six bits in a page's attributes");

/**
 * enum aftl_cause - why a unit was programmed; write amplification by cause
 * @AFTL_CAUSE_HOST: a host write
 * @AFTL_CAUSE_GC: valid data moved out of a victim
 * @AFTL_CAUSE_WEAR: cold data moved to level wear
 * @AFTL_CAUSE_REFRESH: data rewritten because of its age
 * @AFTL_CAUSE_PROMOTION: approximate data rewritten as precise while moved
 * @AFTL_CAUSE_REWRITE: data rewritten because a policy wanted another mode
 * @AFTL_CAUSE_RETIRE: data moved out of a block that went bad
 * @AFTL_CAUSE_FOLD: data moved out of the cache of one bit in a cell
 * @AFTL_CAUSE_MAP: a sheet of the map that has changed
 * @AFTL_CAUSE_REBUILD: data of a dead LUN, from the others of its stripe
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
 * enum aftl_order - in which order the pages of an open block may be programmed
 * @AFTL_ORDER_SEQUENTIAL: ascending page numbers without a gap
 * @AFTL_ORDER_TWO_PASS: first the positions of one checkerboard colour,
 *	ascending, then those of the other
 * @AFTL_ORDER_LEADER_FIRST: whole word lines, ascending in each layer; the layers in any order
 * @AFTL_ORDER_SUPER_LAYER: whole word lines, any order inside the two open
 *	layers, which may be reprogrammed; the layer above them may be opened, which
 *	closes the lower one
 * @AFTL_ORDER_FOGGY_FINE: whole word lines, each twice: a first pass in ascending order
 *	and a second one as soon as the word line after it has had its first
 * @AFTL_ORDER_SWITCHED: two layers at a time: one bit into the cells of each of their word
 *	lines, then the rest beside it, both times in ascending order
 *
 * Stored on media: append only. The core refuses a program that its block's order forbids.
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
