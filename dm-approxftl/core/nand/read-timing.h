/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a read of a page takes, whoever asks for it: one sensing, in as many levels as the
 * errors of the page need, and as many retries as its references are off by.
 */
#ifndef AFTL_SENSE_H
#define AFTL_SENSE_H

#include "core/nand/read-retry.h"

/**
 * struct aftl_read_timing - times of one device
 * @cell: what reads meet
 * @mode_ns: one sensing, by program mode
 * @level_ns: one sensing with so many levels, where times depend on them
 * @first_ns: one of the first page of a word line, as it usually is
 * @last_ns: the same of the last page
 * @by_levels: times depend on levels
 * @by_page: times depend on anything but the mode
 * @further_ns: each level that ECC asks for beyond its reach
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
 * struct aftl_read_result - a read of a page
 * @ns: array time, without the levels beyond the reach of ECC
 * @retries: sensings that failed, included in @ns
 * @shift: the references that were right
 */
struct aftl_read_result {
	u64 ns;
	u32 retries;
	u32 shift;
};

void aftl_read_timing_init(struct aftl_read_timing *sense, const struct aftl_cell *cell,
		     const struct aftl_config *config);

/* One sensing of a page, where times depend on its place or on the levels it needs. */
u64 aftl_page_sense_ns(const struct aftl_read_timing *sense, const struct aftl_block *block, u32 page,
		 u64 hour);

static inline u64 aftl_sense_ns(const struct aftl_read_timing *sense, const struct aftl_block *block,
			       u32 page, u64 hour)
{
	const struct aftl_media *media = sense->cell->media;

	if (unlikely(sense->by_page))
		return aftl_page_sense_ns(sense, block, page, hour);
	return sense->mode_ns[aftl_page_mode(aftl_block_page_attr(media, block, page))];
}

/**
 * aftl_read_page() - read a page
 * @sense: times of the device
 * @block: block in question
 * @page: page of the block, programmed
 * @start: steps from the default references to those that it begins with
 * @hour: device age in hours
 */
static inline struct aftl_read_result aftl_read_page(const struct aftl_read_timing *sense,
						  const struct aftl_block *block, u32 page,
						  u32 start, u64 hour)
{
	u32 shift = aftl_best_read_shift(sense->cell, block, page, hour);
	u32 retries = shift > start ? shift - start : start - shift;

	return (struct aftl_read_result){
		.ns = aftl_sense_ns(sense, block, page, hour) * (1 + retries),
		.retries = retries,
		.shift = shift,
	};
}

#endif
