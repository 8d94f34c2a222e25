/* SPDX-License-Identifier: GPL-2.0-only */
/* OOB metadata of the bit error model: hours of programs, write generations, inherited errors. */
#ifndef AFTL_OOB_ORIGIN_H
#define AFTL_OOB_ORIGIN_H

#include "core/nand/oob.h"

/* Number of page ages at the start of a block's extra OOB data; inherited errors follow these. */
static inline u32 aftl_count_program_timestamps_in_extra_oob(const struct aftl_media *media)
{
	return media->oob_layout.hours ? 0 : media->geo->pages;
}

/* Address of the hours from the first program of @block to that of @page; NULL: all are zero. */
static inline u16 *aftl_get_program_timestamp_ptr_of_page(const struct aftl_media *media,
							  const struct aftl_block *block, u32 page)
{
	if (media->oob_layout.hours)
		return (u16 *)aftl_oob_entry(media,
					     aftl_page_number_in_device(media, block, page)) +
		       media->oob_layout.hours;
	return unlikely(block->extra_used) ? block->extra + page : NULL;
}

/* Hours from the first program of @block to the program of its @page. */
static inline u16 aftl_get_program_timestamp_of_page(const struct aftl_media *media,
						     const struct aftl_block *block, u32 page)
{
	const u16 *at = aftl_get_program_timestamp_ptr_of_page(media, block, page);

	return unlikely(at) ? *at : 0;
}

/* Where the inherited errors of @ppn are stored; NULL if the block has none. */
static inline u16 *aftl_oob_inherited_errors_ptr(const struct aftl_media *media,
						 const struct aftl_block *block, aftl_ppn_t ppn)
{
	return likely(!block->extra_used) ?
		       NULL :
		       block->extra + aftl_count_program_timestamps_in_extra_oob(media) +
			       from_ppn(ppn) -
			       aftl_block_index(media, block) * media->geo->block_ppns;
}

/* The write generation in @record, an OOB record, of the data at position @unit of its page. */
static inline u16 *aftl_oob_record_generation(const struct aftl_media *media, void *record,
					      u32 unit)
{
	return (u16 *)record + media->oob_layout.generation + unit;
}

/* Write generation of the data in @ppn, if errors are modelled. */
static inline u16 *aftl_oob_write_generation_ptr(const struct aftl_media *media, aftl_ppn_t ppn)
{
	u32 page = aftl_page_of_ppn(media, ppn);

	return aftl_oob_record_generation(media, aftl_oob_entry(media, page),
					  aftl_ppn_in_page(media, ppn));
}

/*
 * Return the origin of the data in @ppn; all 0 if errors are not modelled. @record is the OOB
 * record of its page.
 */
static inline struct aftl_origin aftl_oob_record_origin(const struct aftl_media *media,
							const struct aftl_block *block,
							aftl_ppn_t ppn, void *record)
{
	struct aftl_origin origin = { 0 };
	const u16 *at;

	if (!aftl_has_error_model(media))
		return origin;
	at = aftl_oob_inherited_errors_ptr(media, block, ppn);
	origin.generation =
		*aftl_oob_record_generation(media, record, aftl_ppn_in_page(media, ppn));
	origin.inherited = unlikely(at) ? *at : 0;
	return origin;
}

/* Return the origin of the data in @ppn; all 0 if errors are not modelled. */
static inline struct aftl_origin aftl_oob_origin(const struct aftl_media *media,
						 const struct aftl_block *block, aftl_ppn_t ppn)
{
	return aftl_oob_record_origin(media, block, ppn,
				      aftl_oob_entry(media, aftl_page_of_ppn(media, ppn)));
}

/* Age in hours of the data in @page at device age @hour. */
static inline u64 aftl_page_age_hours(const struct aftl_media *media,
				      const struct aftl_block *block, u32 page, u64 hour)
{
	u64 written =
		(u64)block->first_hour + aftl_get_program_timestamp_of_page(media, block, page);

	return hour > written ? hour - written : 0;
}

#endif
