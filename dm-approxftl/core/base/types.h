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

/* Invalid command, block or LUN index; the end of a list linked by indices. */
#define AFTL_NIL U32_MAX

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

#endif
