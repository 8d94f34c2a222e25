// SPDX-License-Identifier: GPL-2.0-only
#include "core/flash/reprogram.h"

#define IDS 4

/*
 * Which values are in the lowest state of a code and in the three above it. Neighbours
 * differ in one bit, so that a misread state is one wrong bit.
 */
struct code {
	u8 lowest;
	u8 values[AFTL_CELL_VALUES];
};

#define NO_CODE { 0, { 0 } }

/* By reprograms and ID; "LM" is what an update of the LSB and then of the MSB leads to. */
static const struct code codes[AFTL_REPROGRAMS_MAX + 1][IDS] = {
	{ { 0, { 3, 1, 0, 2 } }, NO_CODE, NO_CODE, NO_CODE },
	{ /* M */ { 1, { 1, 3, 2, 0 } }, /* L */ { 2, { 0, 2, 3, 1 } }, NO_CODE, NO_CODE },
	{ NO_CODE, /* MM */ { 2, { 3, 1, 0, 2 } }, /* LM and ML */ { 3, { 2, 0, 1, 3 } },
	  /* LL */ { 4, { 3, 1, 0, 2 } } },
};

static const struct code *find_code(u32 reprograms, u32 id)
{
	const struct code *code;

	if (reprograms > AFTL_REPROGRAMS_MAX || id >= IDS)
		return NULL;
	code = &codes[reprograms][id];
	return code->values[0] == code->values[1] ? NULL : code;
}

u32 aftl_distribution_id(u32 lsb, u32 msb)
{
	if (!msb)
		return lsb ? 2 * lsb - 1 : 0;
	return lsb ? 2 : msb - 1;
}

int aftl_cell_state(u32 reprograms, u32 id, u32 value)
{
	const struct code *code = find_code(reprograms, id);
	u32 i;

	for (i = 0; code && i < AFTL_CELL_VALUES; i++)
		if (code->values[i] == value)
			return (int)(code->lowest + i);
	return -EINVAL;
}

int aftl_cell_value(u32 reprograms, u32 id, u32 state)
{
	const struct code *code = find_code(reprograms, id);

	if (!code || state < code->lowest || state >= code->lowest + AFTL_CELL_VALUES)
		return -EINVAL;
	return code->values[state - code->lowest];
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
