// SPDX-License-Identifier: GPL-2.0-only
/*
 * State of reprogrammed word lines, derived from the attributes of their pages.
 */
#include "core/nand/reprogram.h"
#include "core/nand/valid-bits.h"

u32 aftl_encode_voltage_distribution(u32 lsb, u32 msb)
{
	if (!msb)
		return lsb ? 2 * lsb - 1 : 0;
	return lsb ? 2 : msb - 1;
}

struct aftl_word_line aftl_word_line_status(const struct aftl_media *media,
					    const struct aftl_block *block, u32 page)
{
	u32 lsb = aftl_get_reprogram_count_of_page(aftl_block_page_attr(media, block, page));
	u32 msb = aftl_get_reprogram_count_of_page(aftl_block_page_attr(media, block, page + 1));

	return (struct aftl_word_line){
		.reprograms = (u8)(lsb + msb),
		.id = (u8)aftl_encode_voltage_distribution(lsb, msb),
		.valid = (u8)(aftl_page_has_valid_data(media, block, page) |
			      aftl_page_has_valid_data(media, block, page + 1) << AFTL_MSB),
	};
}
