/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of a cell for each value after each number of reprograms, from the ReSSD paper.
 * selftests/physics compares them with the models of userspace/physics.
 */
#ifndef CELL_CODES_H
#define CELL_CODES_H

#define CELL_VALUES 4
#define CELL_STATES 8
/* For a combination of reprograms and distribution ID that cannot occur. */
#define NO_CODE { -1, -1, -1, -1 }

/*
 * Cell states (ER = 0, P1 to P7) of the values MSB << 1 | LSB, by number of reprograms and
 * distribution ID. The order of LSB and MSB reprograms makes no difference.
 */
static const int cell_codes[3][4][CELL_VALUES] = {
	{ { 2, 1, 3, 0 }, NO_CODE, NO_CODE, NO_CODE },
	{ { 4, 1, 3, 2 }, { 2, 5, 3, 4 }, NO_CODE, NO_CODE },
	{ NO_CODE, { 4, 3, 5, 2 }, { 4, 5, 3, 6 }, { 6, 5, 7, 4 } },
};

#endif
