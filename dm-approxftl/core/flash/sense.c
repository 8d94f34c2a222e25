// SPDX-License-Identifier: GPL-2.0-only
#include "core/flash/sense.h"

void aftl_sense_init(struct aftl_sense *sense, const struct aftl_cell *cell,
		     const struct aftl_config *config)
{
	u32 mode;

	*sense = (struct aftl_sense){
		.cell = cell,
		.level_ns = { config->read_fine ? : config->read, config->read,
			      config->read_coarse ? : config->read },
		.by_levels = aftl_reads_by_levels(config),
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

/* Approximate pages skip ECC, which alone has a use for more than one level. */
static u32 levels(const struct aftl_cell *cell, const struct aftl_block *block, u32 page, u16 attr,
		  u64 hour)
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

u64 aftl_level_ns(const struct aftl_sense *sense, const struct aftl_block *block, u32 page,
		  u64 hour)
{
	const struct aftl_media *media = sense->cell->media;
	u16 attr = media->attr[aftl_device_page(media, block, page)];

	if (aftl_mode_bits(aftl_page_mode(attr)))
		return sense->mode_ns[aftl_page_mode(attr)];
	return sense->level_ns[levels(sense->cell, block, page, attr, hour)];
}
