/* SPDX-License-Identifier: GPL-2.0-only */
/* --yardstick: the offline optimum for the stream of a run. */
#ifndef SIM_YARDSTICK_H
#define SIM_YARDSTICK_H

#include "optimum.h"

struct sim_options;
struct sim_result;

/**
 * struct sim_yardstick - the offline optimum for a run
 * @known: whether it was computed
 * @optimum: lower bound and result of the offline collector, in units
 * @bytes: bytes that the host writes
 */
struct sim_yardstick {
	bool known;
	struct optimum optimum;
	u64 bytes;
};

/**
 * sim_find_offline_optimum() - compute the offline optimum for the requests of @result
 * @options: options of the command line
 * @result: a result of sim_run(), whose yardstick is set unless the run was interrupted
 * @error: receives the error message
 *
 * Return: 0 or a negative error number
 */
int sim_find_offline_optimum(const struct sim_options *options, struct sim_result *result,
			     struct aftl_error *error);

/* Return the lower bound of programmed bytes per byte that the host writes, in 1/10000. */
u64 sim_get_min_write_amplification(const struct sim_result *result);

/* Return write amplification by the offline collector; 0 if spare space is too small for it. */
u64 sim_get_offline_gc_amplification(const struct sim_result *result);

#endif
