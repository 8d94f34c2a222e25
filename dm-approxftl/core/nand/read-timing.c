// SPDX-License-Identifier: GPL-2.0-only
/*
 * Array time of a read by mode, page position and sensing levels.
 */
#include "core/nand/chip.h"
#include "core/nand/read-timing.h"

/* Index in level_ns of the number of sensing levels whose read time is the parameter "read". */
#define ONE_LEVEL 1U

void aftl_read_timing_init(struct aftl_read_timing *sense, const struct aftl_cell *cell,
			   const struct aftl_config *config)
{
	u32 mode;

	*sense = (struct aftl_read_timing){
		.cell = cell,
		.level_ns = { config->read_fine ? : config->read, config->read,
			      config->read_coarse ? : config->read },
		.first_ns = config->read_first ? : config->read,
		.last_ns = config->read_last ? : config->read,
		.by_levels = aftl_read_time_depends_on_errors(config),
		.by_page = aftl_read_time_depends_on_errors(config) || config->read_first ||
			   config->read_last,
		.further_ns = config->ecc_retry,
		.mode_ns = {
#define MODE(name, word, bits, program, share, read, curve, rate) \
			[AFTL_MODE_##name] = config->read,
#include "core/base/mode-list.h"
#undef MODE
		},
	};
	for (mode = 0; mode < AFTL_MODES; mode++)
		sense->mode_ns[mode] = sense->mode_ns[mode] ? : config->read;
}

/* Sensing levels serve the ECC; approximate pages are read without ECC, in the fewest levels. */
static u32 count_sense_levels_needed(const struct aftl_cell *cell, const struct aftl_block *block,
				     u32 page, u16 attr, u64 hour)
{
	u64 rber;
	u32 i = 0;

	if (aftl_page_class(attr) == AFTL_APPROX)
		return 0;
	rber = aftl_cell_rber_q40(cell, block, page, hour);
	while (i < AFTL_SENSE_LEVELS - 1 && rber > aftl_sense_limit_q40[i])
		i++;
	return i;
}

/* The position of a page in its word line determines how many read references it needs. */
static u64 get_sense_ns_by_page_position(const struct aftl_read_timing *sense, u32 page)
{
	const struct aftl_geometry *geo = sense->cell->media->geo;
	u32 bit = page % geo->word_line_pages / geo->planes_wide;

	if (!bit)
		return sense->first_ns;
	return bit == geo->word_line_pages / geo->planes_wide - 1 ? sense->last_ns :
								    sense->level_ns[ONE_LEVEL];
}

u64 aftl_page_sense_ns(const struct aftl_read_timing *sense, const struct aftl_block *block,
		       u32 page, u64 hour)
{
	const struct aftl_media *media = sense->cell->media;
	u16 attr = aftl_block_page_attr(media, block, page);
	u32 level = ONE_LEVEL;

	if (aftl_mode_bits_per_cell(aftl_page_mode(attr)))
		return sense->mode_ns[aftl_page_mode(attr)];
	if (sense->by_levels)
		level = count_sense_levels_needed(sense->cell, block, page, attr, hour);
	return level == ONE_LEVEL ? get_sense_ns_by_page_position(sense, page) :
				    sense->level_ns[level];
}
