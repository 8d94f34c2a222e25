/* SPDX-License-Identifier: GPL-2.0-only */
/* Aggregate several devices that the host sees as one. */
#ifndef SIM_SUMS_H
#define SIM_SUMS_H

#include "run.h"

/**
 * sim_compute_total_geometry() - compute the joint geometry of several devices
 * @sum: receives the sum; units and slots are those of one device, because sums could overflow
 * @one: geometry of each device
 * @count: number of devices
 *
 * Return: false if the number of all blocks overflows.
 */
bool __must_check sim_compute_total_geometry(struct aftl_geometry *sum,
					     const struct aftl_geometry *one, u32 count);

/**
 * sim_add_device_statistics() - add a device to the result
 * @result: has the joint geometry; slots are added up
 * @ftl: device
 * @index: number of the device, from 0
 *
 * Adds all flash statistics; the caller adds response times and the digest.
 */
void sim_add_device_statistics(struct sim_result *result, const struct aftl *ftl, u32 index);

#endif
