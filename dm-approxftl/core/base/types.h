/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address types and enumerations of the FTL core.
 *
 * Addresses are sparse bitwise types: mixing an lpn with a ppn fails under C=1. Inside the core,
 * blocks and LUNs are passed as pointers; their integer form is for tables and lists.
 */
#ifndef AFTL_TYPES_H
#define AFTL_TYPES_H

#include "aftl-host.h"

#define AFTL_HOUR_NS 3600000000000ULL
#define AFTL_DAY_NS (24 * AFTL_HOUR_NS)

/* Smallest part of a logical page that a request can address; also the sector of a volume. */
#define AFTL_SECTOR_BYTES 512

/* Logical page number: index of a mapping unit (512 bytes to a flash page) of the host. */
typedef u32 __bitwise aftl_lpn_t;
/* Physical page number at mapping granularity: (block * pages + page) * page_units + n. */
typedef u32 __bitwise aftl_ppn_t;

#define AFTL_NO_LPN ((__force aftl_lpn_t)U32_MAX)
#define AFTL_NO_PPN ((__force aftl_ppn_t)U32_MAX)

/*
 * The 32 bits of an L2P entry are a ppn (30 bits) and a quality level, those of an OOB word an lpn
 * and a quality level.
 */
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
 * enum aftl_class - data class
 * @AFTL_PRECISE: data without errors; the default
 * @AFTL_APPROX: the application accepts bit errors; ECC is skipped
 */
enum aftl_class {
	AFTL_PRECISE,
	AFTL_APPROX,
	AFTL_CLASSES,
};

/*
 * Quality levels: 0 is precise, 1 tolerates the fewest errors and is the default of approximate
 * data, 3 tolerates the most. A level is a property of an lpn; its effect on flash is up to the
 * policy.
 */
#define AFTL_LEVELS 4

static inline u32 aftl_normalise_quality_level(u32 class, u32 level)
{
	return class && level ? level : class;
}

/* Write lifetime hints, with the numbers of the kernel's enum rw_hint. */
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
 * struct aftl_hint - hints of a host write; zero: no hint
 * @life: enum aftl_lifetime
 * @stream: placement id: data with one id is written together; 0: none
 */
struct aftl_hint {
	u8 life;
	u8 stream;
};

/**
 * struct aftl_buffered_lpn - a logical page in the write buffer
 * @lpn: logical page
 * @level: quality level; 0: precise
 * @hint: hints of the host write
 */
struct aftl_buffered_lpn {
	aftl_lpn_t lpn;
	u8 level;
	struct aftl_hint hint;
};

/* Limit of the number of streams that a policy can distinguish. */
#define AFTL_STREAMS 16

/* Limit of a host's placement ids: each takes a stream, and one stream is left for the policy. */
#define AFTL_HANDLES_MAX (AFTL_STREAMS - 1)

/* Limit of reclaim groups: a placement id of eight bits names a group and a handle. */
#define AFTL_RECLAIM_GROUPS_MAX 16

/* Limit of zones that are active at a time; each takes a write stream. */
#define AFTL_ACTIVE_ZONES_MAX 128

/* Limit of a host's submission queues: each has one byte of the parameter queue_weights. */
#define AFTL_QUEUES_MAX 8

/*
 * A block's kind and placement handle are stored in one byte: the kind in the lower four bits, the
 * handle in the upper ones. On a zoned device blocks have no kind; the handle, whose number may
 * need eight bits, has its upper four bits in the lower half of the byte.
 */
#define AFTL_HANDLE_SHIFT 4
#define AFTL_HANDLE_KIND_MASK (BIT(AFTL_HANDLE_SHIFT) - 1)

static inline u8 aftl_encode_block_kind(u8 kind, u8 handle)
{
	return (u8)(kind | handle << AFTL_HANDLE_SHIFT | handle >> AFTL_HANDLE_SHIFT);
}

static inline void aftl_decode_block_kind(u8 stored, bool zoned, u8 *kind, u8 *handle)
{
	u8 low = stored & AFTL_HANDLE_KIND_MASK;

	*kind = zoned ? 0 : low;
	*handle = stored >> AFTL_HANDLE_SHIFT | (zoned ? low << AFTL_HANDLE_SHIFT : 0);
}

/* A write stream is a class and a stream of the policy; a program never mixes write streams. */
#define AFTL_WRITE_STREAMS (AFTL_CLASSES * AFTL_STREAMS)

/* Zones have write streams of their own, numbered after those of the policy and of the CMT. */
#define AFTL_WRITE_STREAMS_MAX (AFTL_STREAMS + 1 + AFTL_ACTIVE_ZONES_MAX)

static inline u32 aftl_get_index_of_write_stream(u32 class, u32 stream)
{
	return class * AFTL_STREAMS + stream;
}

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
