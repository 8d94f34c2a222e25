/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several devices that are one to the host: what it sees of them, taken together.
 */
#ifndef SIM_SUMS_H
#define SIM_SUMS_H

#include "run.h"

/**
 * sim_sum_geometry() - the shape of several devices that are one
 * @sum: takes it; units and slots, which may be more than it can tell, are those of each
 * @one: shape of each
 * @count: of them
 *
 * Return: false if all blocks are more than can be counted.
 */
bool __must_check sim_sum_geometry(struct aftl_geometry *sum, const struct aftl_geometry *one,
				   u32 count);

/**
 * sim_sum_device() - add one of them to the result
 * @result: has the geometry of all; slots are added up
 * @ftl: device
 * @index: its number
 *
 * All that the flash does; the times of requests and the digest are left to the caller.
 */
void sim_sum_device(struct sim_result *result, const struct aftl *ftl, u32 index);

#endif
