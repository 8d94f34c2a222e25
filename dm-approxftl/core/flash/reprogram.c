// SPDX-License-Identifier: GPL-2.0-only
#include "core/flash/physics-tables.h"
#include "core/flash/reprogram.h"

static u32 find_code(u32 reprograms, u32 id)
{
	if (reprograms >= ARRAY_SIZE(aftl_reprogram_decode) ||
	    id >= ARRAY_SIZE(aftl_reprogram_decode[0]))
		return AFTL_CODE_NONE;
	return aftl_reprogram_decode[reprograms][id];
}

u32 aftl_distribution_id(u32 lsb, u32 msb)
{
	if (!msb)
		return lsb ? 2 * lsb - 1 : 0;
	return lsb ? 2 : msb - 1;
}

int aftl_cell_state(u32 reprograms, u32 id, u32 value)
{
	u32 code = find_code(reprograms, id);

	return code < AFTL_CODES && value < AFTL_CELL_VALUES ? aftl_reprogram_state[code][value] :
							       -EINVAL;
}

int aftl_cell_value(u32 reprograms, u32 id, u32 state)
{
	u32 code = find_code(reprograms, id);

	if (code >= AFTL_CODES || state >= ARRAY_SIZE(aftl_reprogram_value[0]) ||
	    aftl_reprogram_value[code][state] == AFTL_CODE_NONE)
		return -EINVAL;
	return aftl_reprogram_value[code][state];
}

struct aftl_word_line aftl_word_line_status(const struct aftl_media *media,
					    const struct aftl_block *block, u32 page)
{
	u32 lsb = aftl_page_again(media->attr[aftl_device_page(media, block, page)]);
	u32 msb = aftl_page_again(media->attr[aftl_device_page(media, block, page + 1)]);

	return (struct aftl_word_line){
		.reprograms = (u8)(lsb + msb),
		.id = (u8)aftl_distribution_id(lsb, msb),
		.valid = (u8)(aftl_page_valid(media, block, page) |
			      aftl_page_valid(media, block, page + 1) << AFTL_MSB),
	};
}
