/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Array time of a page read: one sensing with as many levels as the error rate needs, repeated for
 * each read retry.
 */
#ifndef AFTL_SENSE_H
#define AFTL_SENSE_H

#include "core/nand/read-retry.h"

/**
 * struct aftl_read_timing - read times of one device
 * @cell: error model
 * @mode_ns: time of one sensing by program mode
 * @level_ns: time of one sensing by the number of levels, if times depend on them
 * @first_ns: time of one sensing of the first page of a word line
 * @last_ns: time of one sensing of the last page of a word line
 * @by_levels: the time depends on the sensing levels
 * @by_page: the time depends on more than the program mode
 * @further_ns: time of each extra level that ECC needs
 */
struct aftl_read_timing {
	const struct aftl_cell *cell;
	u64 mode_ns[AFTL_MODES];
	u64 level_ns[AFTL_SENSE_LEVELS];
	u64 first_ns;
	u64 last_ns;
	bool by_levels;
	bool by_page;
	u64 further_ns;
};

/**
 * struct aftl_read_result - array time and retries of a page read
 * @ns: array time, without extra levels for ECC
 * @retries: failed sensings, included in @ns
 * @shift: reference shift that worked
 */
struct aftl_read_result {
	u64 ns;
	u32 retries;
	u32 shift;
};

void aftl_read_timing_init(struct aftl_read_timing *sense, const struct aftl_cell *cell,
			   const struct aftl_config *config);

/* Time of one sensing if it depends on the page position or the sensing levels. */
u64 aftl_page_sense_ns(const struct aftl_read_timing *sense, const struct aftl_block *block,
		       u32 page, u64 hour);

static inline u64 aftl_read_sense_ns(const struct aftl_read_timing *sense,
				     const struct aftl_block *block, u32 page, u64 hour)
{
	const struct aftl_media *media = sense->cell->media;

	if (unlikely(sense->by_page))
		return aftl_page_sense_ns(sense, block, page, hour);
	return sense->mode_ns[aftl_page_mode(aftl_block_page_attr(media, block, page))];
}

/**
 * aftl_read_page_timing() - time and retries of a read of @page
 * @sense: read times of the device
 * @block: block of the page
 * @page: page of the block, programmed
 * @start: reference shift of the first sensing
 * @hour: device age in hours
 */
static inline struct aftl_read_result aftl_read_page_timing(const struct aftl_read_timing *sense,
							    const struct aftl_block *block,
							    u32 page, u32 start, u64 hour)
{
	u32 shift = aftl_best_read_ref_shift(sense->cell, block, page, hour);
	u32 retries = shift > start ? shift - start : start - shift;

	return (struct aftl_read_result){
		.ns = aftl_read_sense_ns(sense, block, page, hour) * (1 + retries),
		.retries = retries,
		.shift = shift,
	};
}

#endif
