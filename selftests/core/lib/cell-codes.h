/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a cell is in after each number of reprograms, by the paper of ReSSD; the models of
 * userspace/physics derive the same from its rule, which selftests/physics compares.
 */
#ifndef CELL_CODES_H
#define CELL_CODES_H

#define CELL_VALUES 4
#define CELL_STATES 8
/* Of a pair of reprograms and distribution ID that no word line has. */
#define NO_CODE { -1, -1, -1, -1 }

/*
 * States (ER = 0, P1 to P7) of the values MSB << 1 | LSB, by reprograms and distribution ID.
 * LSB and then MSB ends as MSB and then LSB.
 */
static const int cell_codes[3][4][CELL_VALUES] = {
	{ { 2, 1, 3, 0 }, NO_CODE, NO_CODE, NO_CODE },
	{ { 4, 1, 3, 2 }, { 2, 5, 3, 4 }, NO_CODE, NO_CODE },
	{ NO_CODE, { 4, 3, 5, 2 }, { 4, 5, 3, 6 }, { 6, 5, 7, 4 } },
};

#endif
