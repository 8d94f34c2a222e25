/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threshold voltages: how those of the cells of a page are spread, by the model that the core's
 * tables of error rates were computed from (userspace/physics/aftl_physics/cell.py).
 */
#ifndef AFTL_VOLTAGES_H
#define AFTL_VOLTAGES_H

#include "cell-states.h"

/* Bin i is about (i + VOLTAGE_FIRST) * CELL_BIN_UV. */
#define VOLTAGE_FIRST (-2048)
#define VOLTAGE_BINS 8192

/**
 * struct condition - what decides where the voltages are
 * @curve: enum aftl_rber_curve
 * @disturb_mv: shift by neighbours that were programmed later
 * @cycles: of the block
 * @hours: since the page was programmed
 */
struct condition {
	u32 curve;
	u32 disturb_mv;
	u32 cycles;
	u32 hours;
};

/**
 * struct crossing - between a state and the next one
 * @reference: bins from this one on are read as the higher state; the best place
 * @low_high: part of the lower state that is there
 * @high_low: part of the higher state that is below
 */
struct crossing {
	u32 reference;
	double low_high;
	double high_low;
};

/**
 * struct voltages - the states of a cell
 * @count: states; 0 where the model of the curve has no voltages
 * @mass: part of the cells of a state in each bin
 * @crossings: one fewer than states
 */
struct voltages {
	u32 count;
	double mass[CELL_STATES_MOST][VOLTAGE_BINS];
	struct crossing crossings[CELL_STATES_MOST];
};

/* The same one for the same condition, which stays until another is asked for. */
const struct voltages *voltages_of(const struct condition *condition);

/* Bits that are misread, of all: equally many cells in each state, and one bit for a crossing. */
double voltages_rber(const struct voltages *voltages);

#endif
