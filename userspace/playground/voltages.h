/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Distributions of the threshold voltages of a page's cells, by the model from which the core's
 * error-rate tables were computed (userspace/physics/aftl_physics/cell.py).
 */
#ifndef AFTL_VOLTAGES_H
#define AFTL_VOLTAGES_H

#include "cell-states.h"

/* Voltage bin i is centred at (i + VOLTAGE_FIRST) * CELL_BIN_UV. */
#define VOLTAGE_FIRST (-2048)
#define VOLTAGE_BINS 8192

/**
 * struct condition - condition that determines the voltages
 * @curve: enum aftl_rber_curve
 * @disturb_mv: shift caused by neighbours that were programmed later
 * @cycles: program/erase cycles of the block
 * @hours: time since the page was programmed
 */
struct condition {
	u32 curve;
	u32 disturb_mv;
	u32 cycles;
	u32 hours;
};

/**
 * struct crossing - the boundary between a state and the next one
 * @reference: best read reference: bins from here on are read as the higher state
 * @low_high: part of the lower state's cells that are read as the higher state
 * @high_low: part of the higher state's cells that are read as the lower state
 */
struct crossing {
	u32 reference;
	double low_high;
	double high_low;
};

/**
 * struct voltages - distributions of all states of a cell
 * @count: number of states; 0 if the model of the curve has no voltages
 * @mass: part of a state's cells in each bin
 * @crossings: boundaries between adjacent states
 */
struct voltages {
	u32 count;
	double mass[CELL_STATES_MOST][VOLTAGE_BINS];
	struct crossing crossings[CELL_STATES_MOST];
};

/* Return the voltage distributions under a condition, valid until a call with another condition. */
const struct voltages *voltages_compute_distributions(const struct condition *condition);

/*
 * Return: raw bit error rate, with equally many cells in each state and one wrong bit per
 * crossing.
 */
double voltages_compute_rber(const struct voltages *voltages);

#endif
